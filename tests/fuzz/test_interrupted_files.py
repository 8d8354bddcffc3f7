"""Ctrl-C at any line of reading, writing and generating leaves files and descriptors as they were.

What is on disk is the file that was there, or the new one, and nothing beside it.
"""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from interruption import interrupt, places, some

import clgraph as cg
from clgraph.graph.formats import seam
from clgraph.graph.formats.registry import FORMATS

# A file that was just being opened is closed by its destructor, which says so.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

ENDINGS = {name: entry.extensions[0] for name, entry in FORMATS.items()}
KINDS = [*ENDINGS.values(), ".mtx.gz", ".mtx.bz2", ".mtx.xz", ".npz.xz"]
GENERATED = {
    "path": lambda: cg.generate.path(9),
    "grid": lambda: cg.generate.grid2d(3, 4),
    "kron": lambda: cg.generate.kron(4, 4, seed=2),
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
def tried(effort, record_property):
    """Interrupt a call at chosen lines, and see to it what is so afterwards."""
    rng = np.random.default_rng(effort("seed"))

    def each(call, afterwards):
        call()  # what is done once a process
        found = some(places(call), effort("interruptions"), rng)
        before = open_files()
        for place in found:
            interrupt(call, place)
            # No object can own the descriptor of a folder, which is open for a line or two.
            assert open_files() - before <= (place[0][0].name == "_sync_folder"), place
            before = open_files()
            afterwards(place)
        record_property("interruptions", len(found))

    return each


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


@pytest.mark.parametrize("name", GENERATED)
def test_generating(name, tried):
    make = GENERATED[name]
    expected = facts(make())

    def afterwards(place):
        assert facts(make()) == expected, place

    tried(make, afterwards)


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


def test_nothing_is_written_in_place():
    package = Path(cg.__file__).parent
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if IN_PLACE.search(path.read_text(encoding="utf-8"))
    }
    assert found <= set(MAY), found - set(MAY)
