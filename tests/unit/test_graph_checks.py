"""Graphs are checked before anything else: each flaw gives one clear sentence."""

import array
import threading
import warnings
from collections.abc import Callable

import networkx as nx
import numpy as np
import pytest
import scipy.sparse

import clgraph as cg
import clgraph.graph as cgg
from clgraph.errors import ClgraphError, InvalidArgumentError, InvalidGraphError
from clgraph.graph import Graph


class OnDevice:
    """Pretends to be an array on a GPU."""

    def __dlpack__(self, **_: object) -> object:
        raise RuntimeError("must not be asked")

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0


class OnlyDLPack:
    """Hands out host memory through DLPack alone."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def __dlpack__(self, **options: object) -> object:
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.values.__dlpack_device__()


class OnlyInterface:
    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    @property
    def __array_interface__(self) -> dict[str, object]:
        return self.values.__array_interface__


class Stubborn:
    def __array__(self, *_: object, **__: object) -> np.ndarray:
        raise ZeroDivisionError("no")


FLAWS: dict[str, tuple[Callable[[], object], str]] = {
    "empty indptr": (lambda: Graph([], []), "indptr is empty"),
    "does not start at 0": (lambda: Graph([1, 2], [0]), "starts at 1"),
    "falls": (lambda: Graph([0, 2, 1], [0]), "falls from 2 to 1 at row 1"),
    "negative indptr": (lambda: Graph([0, -1, 1], [0]), "falls from 0 to -1"),
    "too few indices": (lambda: Graph([0, 1, 3], [0, 1]), "ends at 3 but indices has 2"),
    "too many indices": (lambda: Graph([0, 1], [0, 0]), "ends at 1 but indices has 2"),
    "index too large": (lambda: Graph([0, 0, 2], [0, 2]), r"indices\[1\] in row 1 is 2"),
    "index negative": (lambda: Graph([0, 1], [-1]), r"indices\[0\] in row 0 is -1"),
    "index without vertices": (lambda: Graph([0], [0]), "ends at 0 but"),
    "float indices": (lambda: Graph([0, 1], [0.0]), "indices holds float64"),
    "float indptr": (lambda: Graph([0.0, 1.0], [0]), "indptr holds float64"),
    "boolean indices": (lambda: Graph([0, 1], [False]), "indices holds bool"),
    "complex indices": (lambda: Graph([0, 1], [0j]), "indices holds complex"),
    "text": (lambda: Graph([0, 1], ["0"]), "indices holds str"),
    "objects": (lambda: Graph([0, 1], [None]), "indices holds object"),
    "two dimensions": (lambda: Graph([[0, 1]], [0]), "indptr has 2 dimensions"),
    "no dimension": (lambda: Graph([0, 1], 0), "indices has 0 dimensions"),
    "ragged": (lambda: Graph([0, [1]], [0]), "indptr is a list that NumPy cannot read"),
    "beyond 64 bits": (lambda: Graph(np.array([0, 2**64 - 1], np.uint64), [0]), "64-bit"),
    "huge Python integer": (lambda: Graph([0, 10**30], [0]), "indptr"),
    "on a device": (lambda: Graph([0, 1], OnDevice()), "indices lies on a device.*copy it"),
    "raises": (lambda: Graph([0, 1], Stubborn()), "Stubborn that NumPy cannot read"),
    "too few weights": (lambda: Graph([0, 1], [0], [1, 2]), r"shape \(2,\).*\(1,\)"),
    "nan weight": (lambda: Graph([0, 1], [0], [np.nan]), r"weights\[0\] is nan"),
    "infinite weight": (lambda: Graph([0, 1], [0], [-np.inf]), "finite"),
    "complex weight": (lambda: Graph([0, 1], [0], [1j]), "real numbers"),
    "text weight": (lambda: Graph([0, 1], [0], ["heavy"]), "real numbers"),
    "one-way claim": (
        lambda: Graph([0, 1, 1], [1], directed=False),
        "edge 0 -> 1 has no reverse; pass directed=True, or .*symmetrize=True",
    ),
    "unequal multiplicity": (
        lambda: Graph([0, 2, 3], [1, 1, 0], directed=False),
        "edge 0 -> 1 has no reverse",
    ),
    "unequal weights": (
        lambda: Graph([0, 1, 2], [1, 0], [1, 2], directed=False),
        "edge 0 -> 1 weighs something else",
    ),
    "edge lengths": (lambda: cgg.from_edges([0], [1, 2]), "src has 1 entries and dst has 2"),
    "edge negative": (lambda: cgg.from_edges([0, -1], [1, 2]), "edge 1 is -1 -> 2"),
    "edge beyond n": (lambda: cgg.from_edges([0], [5], n=3), "edge 0 is 0 -> 5, but n=3"),
    "edge absurd": (lambda: cgg.from_edges([0], [10**15]), "renumber"),
    "edge overflow": (lambda: cgg.from_edges([0], [2**64 - 1]), "64-bit"),
    "edge weights": (lambda: cgg.from_edges([0], [1], [np.nan]), r"weights\[0\] is nan"),
    "edge list of two minds": (
        lambda: cgg.from_edges([0, 1], [1, 0], [2, 3], directed=False),
        "edge 0 -> 1 weighs something else",
    ),
    "no matrix": (lambda: cgg.from_scipy(np.eye(3)), "ndarray is not"),
    "no graph": (lambda: cgg.as_graph("graph.mtx"), "a str is not a graph here"),
    "no graph of ours": (lambda: cgg.as_graph(nx.Graph()), "a networkx Graph is not a graph here"),
    "no networkx": (lambda: cgg.from_networkx([1]), "list is not a networkx graph"),
    "rectangular": (lambda: cgg.from_scipy(scipy.sparse.csr_matrix((2, 3))), "2 x 3"),
    "nan entry": (lambda: cgg.from_scipy(scipy.sparse.csr_matrix([[np.nan]])), "nan"),
    "complex entry": (lambda: cgg.from_scipy(scipy.sparse.csr_matrix([[1j]])), "real numbers"),
}


@pytest.mark.parametrize("flaw", FLAWS)
def test_flaws_are_named(flaw: str) -> None:
    build, words = FLAWS[flaw]
    with pytest.raises(InvalidGraphError, match=words) as caught:
        build()
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, ClgraphError)


@pytest.mark.parametrize("n", [-1, 2**60, 1.5, "3"])
def test_numbers_of_vertices_are_checked(n: object) -> None:
    with pytest.raises(InvalidArgumentError, match="n="):
        cgg.from_edges([0], [0], n=n)


@pytest.mark.parametrize("labels", [["a"], "ab", 7])
def test_labels_are_checked(labels: object) -> None:
    with pytest.raises(InvalidArgumentError, match="labels"):
        Graph([0, 1, 2], [1, 0], labels=labels)


@pytest.mark.parametrize(
    ("change", "value"),
    [("indptr", [0, 5, 3]), ("indices", [9, 0, 1]), ("indices", [-4, 0, 1])],
)
@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_corrupted_matrices_do_not_crash(kind: str, change: str, value: list[int]) -> None:
    matrix = scipy.sparse.random(2, 2, 1.0, kind, random_state=1)
    setattr(matrix, change, np.array(value, np.int32))
    with pytest.raises(InvalidGraphError, match="inconsistent"):
        cgg.from_scipy(matrix)


def test_corrupted_coordinates_do_not_crash() -> None:
    matrix = scipy.sparse.coo_matrix(([1.0], ([0], [1])), shape=(2, 2))
    matrix.col[0] = 10**6
    with pytest.raises(InvalidGraphError, match="inconsistent"):
        cgg.as_graph(matrix)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_matching_arrays_are_views_and_stay_untouched(dtype: type) -> None:
    indptr, indices = np.array([0, 1, 2], dtype), np.array([1, 0], dtype)
    weights = np.array([2.5, 2.5], np.float32)
    graph = Graph(indptr, indices, weights, directed=False)
    for mine, theirs in (
        (indptr, graph.indptr),
        (indices, graph.indices),
        (weights, graph.weights),
    ):
        assert np.shares_memory(mine, theirs)
        assert mine.flags.writeable
        assert mine.dtype == theirs.dtype
        with pytest.raises(ValueError, match="read-only"):
            theirs[0] = 1


@pytest.mark.parametrize(
    "convert",
    [
        list,
        tuple,
        lambda values: array.array("i", values),
        lambda values: np.array(values, np.uint8),
        lambda values: np.array(values, np.uint64),
        lambda values: np.array(values, ">i4"),
        lambda values: np.repeat(np.array(values, np.int32), 2)[::2],
        lambda values: OnlyDLPack(np.array(values, np.int32)),
        lambda values: OnlyInterface(np.array(values, np.int64)),
        lambda values: memoryview(np.array(values, np.int32)),
    ],
)
def test_all_kinds_of_arrays_are_read(convert: Callable[[list[int]], object]) -> None:
    graph = Graph(convert([0, 2, 2, 3]), convert([1, 2, 0]), convert([7, 8, 9]))
    assert graph.indptr.tolist() == [0, 2, 2, 3]
    assert graph.indices.tolist() == [1, 2, 0]
    assert graph.weights.tolist() == [7, 8, 9]
    for values in (graph.indptr, graph.indices):
        assert values.dtype in (np.int32, np.int64)
        assert values.dtype.isnative
        assert values.flags.c_contiguous


def test_threads_that_read_arrays_at_once_leave_warnings_as_they_were() -> None:
    """The filters of warnings are the process's: who puts them back last may put back others'."""
    filters = warnings.filters
    reading = threading.Event()

    class First:
        def __array__(self, *_: object, **__: object) -> np.ndarray:
            other.start()
            assert reading.wait(60)
            return np.arange(3)

    class Second:
        def __array__(self, *_: object, **__: object) -> np.ndarray:
            reading.set()
            ended.wait(60)  # until the first has been read
            return np.arange(3)

    ended = threading.Event()
    other = threading.Thread(target=cg.from_edges, args=([0, 1, 2], Second()))
    cg.from_edges([0, 1, 2], First())
    ended.set()
    other.join()
    assert warnings.filters is filters


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (np.int8, np.int32), (np.uint16, np.int32), (np.bool_, np.int32), (np.uint32, np.uint32),
        (np.uint64, np.int64), (np.float16, np.float32), (np.float32, np.float32),
        (np.float64, np.float64), (np.longdouble, np.float64), (">f8", np.float64),
    ],
)  # fmt: skip
def test_weights_of_all_types(given: object, kept: object) -> None:
    graph = Graph([0, 1], [0], np.ones(1, given))
    assert graph.weights.dtype == kept
    assert graph.weights[0] == 1


def test_graphs_cannot_be_changed() -> None:
    graph = Graph([0, 1], [0])
    for name in ("n", "m", "indptr", "indices", "weights", "directed", "labels", "degrees"):
        with pytest.raises((AttributeError, ValueError)):
            setattr(graph, name, 1) if name != "degrees" else graph.degrees.__setitem__(0, 1)
