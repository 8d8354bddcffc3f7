"""Large arrays go to a device through pinned memory, piece by piece."""

import numpy as np
import pytest

from clgraph.device import Memory
from clgraph.device.memory import allocation as memory
from clgraph.device.memory import staging
from clgraph.device.memory.staging import Staging

COUNT = 100_003


@pytest.fixture
def source():
    return np.random.default_rng(4).integers(0, 1 << 30, COUNT, dtype=np.int32)


def test_every_byte_arrives(pocl, source):
    held = Memory(pocl).allocate("held", COUNT, np.int32)
    told = []
    Staging(pocl, 4096).write(held.buffer, source.view(np.uint8), told.append)
    np.testing.assert_array_equal(held.read(), source)
    assert told
    assert max(told) <= source.nbytes


def test_write_goes_through_it_where_there_is_one(pocl, source, monkeypatch):
    monkeypatch.setattr(pocl, "staging", Staging(pocl, 4096))
    monkeypatch.setattr(memory, "PIECE_BYTES", 1 << 16)
    done = []
    held = Memory(pocl).allocate("held", COUNT, np.int32)
    held.write(source, progress=lambda here, *_: done.append(here))
    np.testing.assert_array_equal(held.read(), source)
    assert done[-1] == source.nbytes
    assert len(done) > 2


@pytest.mark.parametrize("where", [0, 5])
def test_a_failure_ends_every_thread(pocl, source, monkeypatch, where):
    calls = []
    real = staging.finish_copy

    def interrupted(*events):
        calls.append(None)
        if len(calls) == where + 1:
            raise KeyboardInterrupt
        real(*events)

    monkeypatch.setattr(staging, "finish_copy", interrupted)
    held = Memory(pocl).allocate("held", COUNT, np.int32)
    through = Staging(pocl, 4096)
    with pytest.raises(KeyboardInterrupt):
        through.write(held.buffer, source.view(np.uint8), int)
    monkeypatch.undo()
    through.write(held.buffer, source.view(np.uint8), int)
    np.testing.assert_array_equal(held.read(), source)
