"""Launches that only note times: nobody waits between them, and each has a table of its own."""

import numpy as np
import pytest

import clgraph as cg
from clgraph.device import Memory, wait
from clgraph.device.observing import observed_by
from clgraph.device.programs.program import build
from clgraph.errors import DeviceMemoryError
from clgraph.profile.instrument.words import Mask
from clgraph.profile.passes import tables, watching
from clgraph.profile.passes.watching import Counting

ADDING = """
__kernel void adding(volatile __global uint *out, const uint rounds) {
    uint x = out[0];
    for (uint i = 0; i < rounds; ++i) { x = x * 1664525u + out[1]; }
    out[2] = x + 1u;
}
"""


@pytest.fixture
def waits(monkeypatch):
    """How many launches a pass had waited for whenever it waited for one."""
    waited = []

    def noted(event, limit_s):
        waited.append(len(waited))
        return wait(event, limit_s)

    monkeypatch.setattr(watching, "wait", noted)
    return waited


@pytest.fixture
def adding(pocl):
    """Launches a kernel that adds up what it has read, so many times, one after the other."""
    kernel = build(pocl, ADDING, label="adding.cl").kernel("adding")
    out = Memory(pocl).upload("out", np.zeros(4, np.uint32))

    def run(*groups):
        for one in groups:
            kernel.launch(8 * one, 8, out, np.uint32(1))

    return run


def test_nobody_waits_between_launches_that_note_times(adding, waits):
    """A kernel that starts when the host has looked at the one before runs as after a pause."""
    counting = Counting(Mask.TIME)
    with observed_by(counting):
        adding(3, 5, 4)
        assert not waits
        (found,) = counting.found.values()
        assert len(waits) == 3
        assert found.residency.records == 3 + 5 + 4
        taken = found.times_ns
        assert taken > 0
        adding(3, 5, 4)
    assert next(iter(counting.found.values())) is found
    assert found.residency.records == 2 * (3 + 5 + 4)
    assert found.times_ns > taken
    counting.release()


def test_what_counts_is_read_after_each_launch(adding, waits):
    counting = Counting(Mask.DIV)
    with observed_by(counting):
        adding(3, 5)
        assert len(waits) == 2
    counting.release()


def test_each_launch_that_is_not_read_has_a_table_and_a_second_run_the_same_ones(adding, waits):
    counting, taken = Counting(Mask.TIME), []
    take = counting._tables.take
    counting._tables.take = lambda *given: taken.append(take(*given)) or taken[-1]
    with observed_by(counting):
        adding(3, 5, 4)
        counting.start_again()
        adding(3, 5, 4)
    assert taken[3:] == taken[:3]
    assert len(set(map(id, taken))) == 3
    assert not waits
    (found,) = counting.found.values()
    assert found.residency.records == 3 + 5 + 4
    counting.release()
    with pytest.raises(cg.InvalidArgumentError, match="released"):
        _ = taken[0].buffer


@pytest.mark.parametrize("limit", ["bytes", "budget"])
def test_where_there_is_no_other_table_launches_are_read_first(limit, adding, waits, monkeypatch):
    counting, allocate = Counting(Mask.TIME), Memory.allocate
    most = 2 * tables.WORD_BYTES * tables.LEAST_WORDS
    if limit == "bytes":
        monkeypatch.setattr(tables, "MOST_BYTES", most)
    with observed_by(counting):
        adding(1, 1)  # which builds it
        counting.finish()
        waits.clear()
        if limit == "budget":
            monkeypatch.setattr(Memory, "allocate", refuse)
        adding(3, 5, 4, 6)
        assert len(waits) == 2
        adding(1)
        assert len(waits) == 4
        if limit == "bytes":
            adding(tables.LEAST_WORDS)  # it needs a longer one than any, and gets it
            assert len(waits) == 5
    (found,) = counting.found.values()
    records = 2 + 3 + 5 + 4 + 6 + 1 + (limit == "bytes") * tables.LEAST_WORDS
    assert found.residency.records == records
    monkeypatch.setattr(Memory, "allocate", allocate)
    counting.release()


def refuse(*_):
    raise DeviceMemoryError("none")


def test_a_first_table_that_does_not_fit_is_an_error(adding, monkeypatch):
    monkeypatch.setattr(Memory, "allocate", refuse)
    counting = Counting(Mask.TIME)
    with observed_by(counting), pytest.raises(DeviceMemoryError, match="none"):
        adding(1)
    counting.release()
