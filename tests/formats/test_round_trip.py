"""What is written is read back exactly, in every format as far as it can say it."""

import struct
from pathlib import Path

import graphs
import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings

import clgraph.graph as cgg
from clgraph.errors import InvalidArgumentError
from clgraph.graph import Graph, csr
from clgraph.graph.formats import files

# What a reader has to be told because the format cannot say it.
UNTOLD = {
    "dimacs9": lambda g: {"directed": g.directed, "weighted": g.weights is not None},
    "metis": lambda g: {"directed": g.directed},
    "el": lambda g: {"directed": g.directed},
    "wel": lambda g: {"directed": g.directed, "weighted": g.weights is not None},
    "wsg": lambda g: {"weighted": g.weights is not None},
}
WITHOUT_WEIGHTS = {"el", "sg"}
WITHOUT_LAST_ISOLATED = {"el", "wel"}
INT32_WEIGHTS = {"wsg"}


def equal(first: Graph, second: Graph) -> None:
    assert first.directed == second.directed
    np.testing.assert_array_equal(first.indptr, second.indptr)
    np.testing.assert_array_equal(first.indices, second.indices)
    if not first.m:
        return  # most formats tell weights by the columns of their edges
    assert (first.weights is None) == (second.weights is None)
    if first.weights is not None:
        assert first.weights.dtype.kind == second.weights.dtype.kind
        sort = [
            np.lexsort((g.weights, g.indices, np.repeat(np.arange(g.n), g.degrees)))
            for g in (first, second)
        ]
        np.testing.assert_array_equal(first.weights[sort[0]], second.weights[sort[1]])


def storable(graph: Graph, name: str) -> Graph | None:
    """As much of a graph as the format holds; None if that is nothing."""
    weights = graph.weights
    if name in WITHOUT_WEIGHTS:
        weights = None
    if name in INT32_WEIGHTS and weights is not None and weights.dtype != np.int32:
        weights = (weights != 0).astype(np.int32)
    n = graph.n
    if name in WITHOUT_LAST_ISOLATED:
        if not graph.m:
            return None
        n = int(max(graph.indices.max(), np.flatnonzero(graph.degrees).max())) + 1
    return Graph(graph.indptr[: n + 1], graph.indices, weights, directed=graph.directed)


def there_and_back(graph: Graph, path: Path, name: str) -> Graph:
    cgg.write(graph, path, format=name)
    return cgg.read(path, format=name, **UNTOLD.get(name, lambda _: {})(graph))


@pytest.mark.parametrize("name", cgg.FORMATS)
@pytest.mark.parametrize("shape", graphs.SHAPES)
def test_shapes(tmp_path: Path, name: str, shape: str) -> None:
    graph = storable(graphs.SHAPES[shape], name)
    if graph is not None:
        equal(there_and_back(graph, tmp_path / "graph", name), graph)


@pytest.mark.long
@pytest.mark.parametrize("name", cgg.FORMATS)
@settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(graph=graphs.graphs(weighted=None))
@example(graph=cgg.from_edges([0] * 5, [0] * 5, symmetrize=True))
def test_random_graphs(tmp_path_factory: pytest.TempPathFactory, name: str, graph: Graph) -> None:
    stored = storable(graph, name)
    if stored is not None:
        equal(there_and_back(stored, tmp_path_factory.mktemp("there") / "graph", name), stored)


@pytest.mark.parametrize("name", sorted(set(cgg.FORMATS) - {"npz", "sg", "wsg", "el"}))
def test_floats_keep_every_bit(tmp_path: Path, name: str) -> None:
    rng = np.random.default_rng(1)
    weights = np.concatenate(
        [
            rng.integers(0, 2**63, 3000).view(np.float64),
            rng.random(3000),
            [0.0, -0.0, 5e-324, -1.7976931348623157e308, 0.1, 1.0, 1e22, 123456789012345678.0],
        ]
    )
    weights = weights[np.isfinite(weights)]
    graph = cgg.from_edges(np.arange(len(weights)), np.arange(1, len(weights) + 1), weights)
    read = there_and_back(graph, tmp_path / "graph", name)
    np.testing.assert_array_equal(read.weights.view(np.int64), graph.weights.view(np.int64))


@pytest.mark.parametrize("name", cgg.FORMATS)
@pytest.mark.parametrize("extension", ["", ".gz", ".bz2", ".xz", ".zst"])
def test_compressed_files(tmp_path: Path, name: str, extension: str) -> None:
    graph = cgg.generate.kron(8, weights=(1, 9))
    if name in WITHOUT_WEIGHTS:
        graph = Graph(graph.indptr, graph.indices, directed=False)
    path = tmp_path / f"graph{cgg.FORMATS[name].extensions[0]}{extension}"
    cgg.write(graph, path)
    equal(cgg.read(path, **UNTOLD.get(name, lambda _: {})(graph)), storable(graph, name))
    if extension:  # recognised by what is in it, whatever it is called
        bare = path.rename(tmp_path / f"renamed{cgg.FORMATS[name].extensions[0]}")
        equal(cgg.read(bare, **UNTOLD.get(name, lambda _: {})(graph)), storable(graph, name))


@pytest.mark.parametrize("name", ["snap", "csv", "npz"])
def test_integer_labels(tmp_path: Path, name: str) -> None:
    path = tmp_path / "sparse.txt"
    path.write_text("1000 7\n7 20\n20 3000000\n")
    graph = cgg.read(path)
    assert graph.labels.tolist() == [7, 20, 1000, 3000000]
    read = there_and_back(graph, tmp_path / "again", name)
    equal(read, graph)
    assert read.labels.tolist() == graph.labels.tolist()


def test_archives_keep_types_and_texts(tmp_path: Path) -> None:
    for dtype in (np.int32, np.int64, np.float32, np.float64):
        graph = Graph(
            np.array([0, 1, 2], np.int64), [1, 0], np.array([3, 4], dtype), labels=["a", "ü"]
        )
        read = there_and_back(graph, tmp_path / "graph.npz", "npz")
        assert read.weights.dtype == dtype
        assert read.indptr.dtype == np.int64
        assert read.labels.tolist() == ["a", "ü"]


def test_an_archive_of_scipy_is_read(tmp_path: Path) -> None:
    scipy_sparse = pytest.importorskip("scipy.sparse")
    graph = cgg.generate.kron(6, weights=(0.0, 1.0))
    scipy_sparse.save_npz(tmp_path / "matrix.npz", graph.to_scipy())
    equal(cgg.read(tmp_path / "matrix.npz", directed=False), graph)


def test_many_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of several blocks, with ids of all lengths, agree with the graph they came from."""
    monkeypatch.setattr(files, "_BLOCK_BYTES", 1 << 16)
    graph = cgg.generate.rmat(14, 5, weights=(-50, 10**9), seed=3)
    for name in ("mtx", "snap", "dimacs9", "metis", "koblenz", "edges", "csv", "wel"):
        path = tmp_path / "graph"
        cgg.write(graph, path, format=name)
        assert path.stat().st_size > 3 << 16
        equal(cgg.read(path, format=name, directed=True), graph)


@pytest.mark.parametrize("name", ["sg", "wsg", "npz"])
def test_sorted_rows_are_not_sorted_again(tmp_path: Path, monkeypatch, name: str) -> None:
    graph = cgg.from_edges([3, 0, 0, 2], [1, 2, 1, 2], [7, 8, 9, 6], n=5)
    path = tmp_path / f"graph.{name}"
    cgg.write(graph, path)
    for sorting in ("edges_to_csr", "sorted_rows"):
        monkeypatch.setattr(csr, sorting, lambda *_: pytest.fail("rows are sorted"))
    again = cgg.read(path)
    assert again.indptr.tolist() == graph.indptr.tolist()
    assert again.indices.tolist() == [1, 2, 2, 1]


def test_unsorted_rows_of_a_serialised_graph_are_sorted(tmp_path: Path) -> None:
    path = tmp_path / "graph.sg"
    offsets, targets = np.array([0, 3, 3, 4], "<i8"), np.array([2, 0, 1, 1], "<i4")
    path.write_bytes(struct.pack("<Bqq", 0, 4, 3) + offsets.tobytes() + targets.tobytes())
    graph = cgg.read(path, directed=True)
    assert graph.indices.tolist() == [0, 1, 2, 1]


def test_a_failing_write_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "graph.mtx.gz"
    cgg.write(cgg.generate.path(5), target)

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cgg.write(cgg.generate.path(9), target, progress=fail)
    assert cgg.read(target).n == 5
    assert [path.name for path in tmp_path.iterdir()] == ["graph.mtx.gz"]
    with pytest.raises(FileNotFoundError):
        cgg.write(cgg.generate.path(9), tmp_path / "nowhere" / "graph.mtx")
    cgg.write(cgg.generate.path(9), "/dev/null", format="mtx")


def test_what_cannot_be_stored_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "old.wsg"
    target.write_text("still here")
    with pytest.raises(InvalidArgumentError, match="int32"):
        cgg.write(Graph([0, 1, 1], [1], [1.5]), target)
    with pytest.raises(InvalidArgumentError, match="labels"):
        cgg.write(Graph([0, 1, 1], [1], labels=[("a",), 2]), tmp_path / "graph.npz")
    for name in ("edges.el", "edges.wel"):
        with pytest.raises(InvalidArgumentError, match="no edges"):
            cgg.write(Graph([0, 0], []), tmp_path / name)
        assert not (tmp_path / name).exists()
    with pytest.raises(InvalidArgumentError, match="the name does not say"):
        cgg.write(Graph([0], []), tmp_path / "graph.doc")
    with pytest.raises(InvalidArgumentError, match="format"):
        cgg.write(Graph([0], []), tmp_path / "graph.mtx", format="docx")
    with pytest.raises(ValueError, match="not a graph"):
        cgg.write([1, 2], tmp_path / "graph.mtx")
    assert target.read_text() == "still here"
