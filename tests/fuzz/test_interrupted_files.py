"""Ctrl-C at any line of reading, writing and generating leaves files and descriptors as they were.

What is on disk is the file that was there, or the new one, and nothing beside it.
"""

import importlib
import os
import re
import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from interruption import interrupt

import clgraph as cg
from clgraph.device.cache import BinaryCache, CachedBinary
from clgraph.graph.formats import seam
from clgraph.graph.formats.registry import FORMATS

# A file that was just being opened is closed by its destructor, which says so.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

ENDINGS = {name: entry.extensions[0] for name, entry in FORMATS.items()}
KINDS = [*ENDINGS.values(), ".mtx.gz", ".mtx.bz2", ".mtx.xz", ".npz.xz"]
# Sizes of what is generated: large enough that there are edges.
GENERATED = {
    "path": (9,),
    "star": (9,),
    "complete": (5,),
    "grid2d": (3, 4),
    "grid3d": (2, 3, 2),
    "kron": (4, 4),
    "rmat": (4, 4),
    "random": (9, 3),
    "geometric": (20,),
    "mesh": (3, 4),
    "road": (3, 4),
}


def small(seed):
    """A graph that every format can say: symmetric, with whole weights."""
    rng = np.random.default_rng(seed)
    src, dst = rng.integers(0, 12, (2, 20))
    once = src < dst
    weights = rng.integers(1, 9, int(once.sum()))
    return cg.from_edges(
        src[once], dst[once], weights.astype(np.int32), n=12, symmetrize=True, dedup=True
    )


def facts(graph):
    weights = None if graph.weights is None else graph.weights.tolist()
    return graph.indptr.tolist(), graph.indices.tolist(), weights, graph.directed


def open_files():
    """How many descriptors this process has; none where the system does not tell."""
    return len(list(Path("/proc/self/fd").iterdir())) if sys.platform == "linux" else 0


@pytest.fixture
def tried(chosen, opcodes):
    """Interrupt a call at chosen places, and see to it what is so afterwards."""

    def each(call, afterwards, *ready):
        for place in chosen(call, *ready, opcodes=opcodes):
            given = [make() for make in ready]
            before = open_files()
            interrupt(partial(call, *given), place, opcodes=opcodes)
            # No object can own the descriptor of a folder, which is open for a line or two.
            assert open_files() - before <= (place[0][0].name == "_sync_folder"), place
            afterwards(place)

    return each


@pytest.mark.rest
@pytest.mark.parametrize("kind", KINDS)
def test_reading(kind, tried, tmp_path):
    path = tmp_path / f"graph{kind}"
    cg.write(small(1), path)
    expected = facts(cg.read(path))

    def afterwards(place):
        assert facts(cg.read(path)) == expected, place

    tried(lambda: cg.read(path), afterwards)


@pytest.mark.parametrize("kind", [".mtx", ".txt.gz"])
def test_reading_by_pyarrow(kind, tried, tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(seam, "LEAST_BYTES", 0)
    monkeypatch.setattr(seam, "BLOCK_BYTES", 64)
    path = tmp_path / f"graph{kind}"
    cg.write(small(1), path)
    expected = facts(cg.read(path))

    def afterwards(place):
        assert facts(cg.read(path)) == expected, place

    tried(lambda: cg.read(path), afterwards)


@pytest.mark.skipif(sys.platform != "linux", reason="files that are pipes have names there")
def test_reading_a_pipe(tried, tmp_path, monkeypatch):
    """What is kept of it on the disk meanwhile is gone."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    data = b"0 1 5\n1 2 6\n"
    pipes = []

    def pipe():
        for end in pipes:
            os.close(end)
        pipes[:] = os.pipe()
        os.write(pipes[1], data)
        os.close(pipes.pop())
        return f"/dev/fd/{pipes[0]}"

    read = partial(cg.read, format="wel")

    def afterwards(place):
        assert list(tmp_path.iterdir()) == [], place
        assert read(pipe()).m == 2, place

    tried(read, afterwards, pipe)
    os.close(pipes[0])


@pytest.mark.rest
@pytest.mark.parametrize("kind", KINDS)
def test_writing_over_another(kind, tried, tmp_path):
    path = tmp_path / f"graph{kind}"
    graphs = [small(1), small(2)]
    contents = []
    for graph in graphs:
        cg.write(graph, path)
        contents.append(facts(cg.read(path)))
    assert contents[0] != contents[1]

    def call():
        cg.write(graphs[1], path)

    def afterwards(place):
        assert facts(cg.read(path)) in contents, place
        assert list(tmp_path.iterdir()) == [path], place
        call()
        assert facts(cg.read(path)) == contents[1], place
        cg.write(graphs[0], path)

    tried(call, afterwards)


@pytest.mark.rest
@pytest.mark.parametrize("name", GENERATED)
def test_generating(name, tried):
    make = partial(getattr(cg.generate, name), *GENERATED[name], seed=2, weights=(1, 9))
    assert make().m
    expected = facts(make())

    def afterwards(place):
        assert facts(make()) == expected, place

    tried(make, afterwards)


def test_keeping_a_program(tried, tmp_path):
    """What was built is kept whole, or not at all, and nothing beside it."""
    folder = tmp_path / "kept"
    built = CachedBinary(b"what the driver built", "what it said")

    def call():
        cache = BinaryCache(folder)
        cache.store("key", built, {})
        assert cache.load("key") == built

    def afterwards(place):
        assert BinaryCache(folder).load("key") in {None, built}, place
        assert {path.suffix for path in folder.glob("*")} <= {".bin", ".json"}, place
        call()
        shutil.rmtree(folder)

    tried(call, afterwards)


def test_every_generator_is_interrupted():
    module = importlib.import_module("clgraph.graph.generate")
    assert set(GENERATED) == set(module.__all__)


# What writes where the old file stands: a full disk or Ctrl-C would leave half of the new one.
IN_PLACE = re.compile(
    r"\.write_(text|bytes)\(|open\([^)]*[\"'][wx]b?[\"']|np\.save(z\w*)?\(|np\.savetxt\((?!text)"
    r"|\.to_csv\([^)i]"
)
MAY = {
    "device/drivers.py": "in a folder that is renamed when all of it is there",
    "device/folders.py": "is what caches call",
    "graph/formats/writing.py": "is what all others call; only devices and pipes are written to",
    "graph/formats/archive.py": "in memory",
    "interop/networkx/table.py": "is for developers",
}


# What gives a descriptor that nobody owns, or a name that nobody knows, until the next line.
UNOWNED = re.compile(r"\bos\.(open|pipe|dup)\(|fdopen\(|mk[sd]temp\(")
MAY_HAVE = {
    "graph/formats/writing.py": "a folder, which no object can own",
    "cli/main.py": "at the end of the process",
    "device/programs/builderror.py": "a folder that is kept, for the user to look into",
}


@pytest.mark.parametrize(("written", "may"), [(IN_PLACE, MAY), (UNOWNED, MAY_HAVE)])
def test_files_are_opened_where_that_is_done_right(written, may):
    package = Path(cg.__file__).parent
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if written.search(path.read_text(encoding="utf-8"))
    }
    assert found <= set(may), found - set(may)
