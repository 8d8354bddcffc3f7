"""Where benchmark graphs come from, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest
from graphs import DATA, reference_distances

import clgraph as cg
from bench import graphs
from bench.graphs import Pinned, UnavailableError, checksum, find, read_bcsr

GRID = cg.generate.grid2d(30, 20)


def write_bcsr(folder: Path, name: str, graph: cg.Graph, **changes: object) -> Path:
    path = folder / f"{name}.bcsr"
    weights = np.ones(graph.m, np.int32)
    with path.open("wb") as file:
        for array, dtype in (
            ([graph.n, graph.m], "<i8"),
            (graph.indptr, "<i4"),
            (graph.indices, "<i4"),
            (weights, "<i4"),
        ):
            np.asarray(array, dtype).tofile(file)
    about = {"n": graph.n, "m": graph.m, "directed": graph.directed} | changes
    path.with_suffix(".json").write_text(json.dumps(about))
    return path


def test_bcsr_round_trip(tmp_path):
    for graph in (GRID, cg.generate.rmat(6, 4, seed=1), cg.from_edges([], [], n=3)):
        found = read_bcsr(write_bcsr(tmp_path, "g", graph))
        assert found.directed == graph.directed
        np.testing.assert_array_equal(found.indptr, graph.indptr)
        np.testing.assert_array_equal(found.indices, graph.indices)


@pytest.mark.parametrize(
    ("place", "value"), [(0, 2**40), (0, -1), (8, 2**62), (8, 5), (20, -7), (16 + 4 * 601, 600)]
)
def test_damaged_bcsr_is_refused(tmp_path, place, value):
    path = write_bcsr(tmp_path, "g", GRID)
    raw = bytearray(path.read_bytes())
    width = 8 if place < 16 else 4
    raw[place : place + width] = int(value).to_bytes(width, "little", signed=True)
    path.write_bytes(raw)
    with pytest.raises(UnavailableError, match=r"g\.bcsr"):
        read_bcsr(path)


def test_truncated_empty_and_foreign_bcsr_are_refused(tmp_path):
    path = write_bcsr(tmp_path, "g", GRID)
    raw = path.read_bytes()
    for content in (raw[:-1], raw[:10], b""):
        path.write_bytes(content)
        with pytest.raises(UnavailableError):
            read_bcsr(path)
    with pytest.raises(UnavailableError, match="another graph"):
        read_bcsr(write_bcsr(tmp_path, "other", GRID, n=7))
    (tmp_path / "other.json").unlink()
    with pytest.raises(UnavailableError, match="cannot be read"):
        read_bcsr(tmp_path / "other.bcsr")


def test_a_given_folder_comes_before_generating(tmp_path, monkeypatch):
    pinned = Pinned("grid2d", (30, 20), "grid2d:30,20", {"generated": checksum(GRID)})
    monkeypatch.setitem(graphs.GRAPHS, "tiny", pinned)
    made = find("tiny")
    assert (made.origin, made.pinned) == ("generated", True)
    write_bcsr(tmp_path, "tiny", cg.generate.path(5))
    given = find("tiny", graphs=tmp_path)
    assert (given.origin, given.pinned, given.graph.n) == ("bcsr", None, 5)
    cg.write(cg.generate.path(9), tmp_path / "tiny.mtx")
    assert find("tiny", data=tmp_path).graph.n == 9


def test_a_graph_that_differs_from_the_pinned_one_is_marked(monkeypatch):
    monkeypatch.setitem(graphs.GRAPHS, "tiny", Pinned("path", (5,), "", {"generated": "0" * 16}))
    assert find("tiny").pinned is False


def test_quick_graphs_are_the_ones_on_record():
    assert find("grid500").pinned is True
    assert find("road500").pinned is True


def test_checksum_ignores_the_width_of_integers_but_no_edge():
    wide = cg.Graph(GRID.indptr.astype(np.int64), GRID.indices.astype(np.int64), directed=False)
    assert checksum(wide) == checksum(GRID)
    assert checksum(cg.generate.grid2d(20, 30)) != checksum(GRID)


def test_gap_encoded_files_are_read():
    for name in ("as-caida20071105", "wiki-vote", "classic-karate"):
        loaded = find(name, data=DATA)
        assert loaded.origin == "file"
        assert loaded.pinned in {True, None}
        facts = json.loads((DATA / "facts.json").read_text())[f"{name}.npz.xz"]
        assert loaded.graph.n == facts["V"]
        assert reference_distances(loaded.graph, 0).max() == facts["bfs0_depth"]


def test_what_cannot_be_had_says_why(tmp_path):
    with pytest.raises(UnavailableError, match="no folder of graphs was given"):
        find("usa-road-nw")
    with pytest.raises(UnavailableError, match="not in"):
        find("usa-road-nw", data=tmp_path)
    (tmp_path / "usa-road-nw.npz.xz").write_bytes(b"rubbish")
    with pytest.raises(UnavailableError, match="usa-road-nw"):
        find("usa-road-nw", data=tmp_path)
    (tmp_path / "road.mtx").write_text("rubbish")
    with pytest.raises(UnavailableError, match=r"road\.mtx"):
        find("road", data=tmp_path)
