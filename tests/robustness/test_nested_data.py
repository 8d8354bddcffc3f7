"""Data nested deeper than Python's stack is damaged data: no reader ends in a RecursionError."""

import importlib
import struct

import pytest

from clgraph.algorithms.invariants import expressions
from clgraph.device.cache import BinaryCache, CachedBinary
from clgraph.device.hardware import amd
from clgraph.errors import InvalidArgumentError
from clgraph.profile.microbenchmarks import suite
from clgraph.profile.quality import Weights

# The package gives the function of that name.
module = importlib.import_module("clgraph.profile.characterise")
DEPTH = 100_000
JSON = {"lists": "[" * DEPTH, "objects": '{"a":' * DEPTH}


@pytest.fixture(params=JSON.values(), ids=JSON)
def nested(request):
    return request.param


def test_a_program_that_is_cached(nested, tmp_path, caplog):
    """It is built again, with a line in the log."""
    cache = BinaryCache(tmp_path / "programs")
    cache.store("key", CachedBinary(b"binary", ""), {})
    assert cache.load("key") is not None
    (tmp_path / "programs" / "key.json").write_text(nested)
    assert cache.load("key") is None
    assert "program cache entry key.json is not used and is rebuilt" in caplog.text


def test_microbenchmarks_of_a_device(nested, pocl, tmp_path, monkeypatch):
    """They count as not there."""
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path))
    kept = suite.store({"schema": suite.SCHEMA, "results": []}, pocl)
    assert suite.characterisation(pocl) is not None
    kept.write_text(nested)
    assert suite.characterisation(pocl) is None


def test_ceilings_of_a_device(nested, pocl, tmp_path, monkeypatch):
    """They are measured anew: what is kept is passed over."""
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path))
    words = ("dram.load",)
    kept = module._file(pocl, words)
    kept.parent.mkdir(parents=True)
    kept.write_text(f'{{"schema": "{suite.SCHEMA}", "results": []}}')
    assert module._kept(pocl, words) is not None
    kept.write_text(nested)
    assert module._kept(pocl, words) is None


def test_weights_of_criteria(nested, tmp_path):
    path = tmp_path / "weights.json"
    path.write_text(nested)
    with pytest.raises(InvalidArgumentError, match=r"weights\.json holds no weights of schema"):
        Weights.load(path)


def test_notes_of_a_code_object():
    """A compiler's notes that are lists within lists name no kernels."""
    deep = b"\x91" * DEPTH  # of MessagePack: a list of one
    name = b"AMDGPU\0\0"
    note = struct.pack("<III", len(name), len(deep), amd.METADATA_NOTE) + name + deep
    head = bytearray(64)
    head[:4] = amd.ELF
    struct.pack_into("<Q", head, 40, 64)  # where the table of sections begins
    struct.pack_into("<HH", head, 58, 64, 1)
    section = bytearray(64)
    struct.pack_into("<IQQQQ", section, 4, amd.NOTE_SECTION, 0, 0, 128, len(note))
    binary = bytes(head + section) + note
    assert amd._metadata(binary) == deep
    assert amd.parse_binary(binary) == {}


def test_a_template_of_an_invariant():
    """Short enough to be read, and too deep to be quoted in the complaint."""
    with pytest.raises(InvalidArgumentError, match="it is not an expression") as refused:
        expressions.parse("+" * 990 + "a", "numeric")
    assert isinstance(refused.value.__cause__, RecursionError)
