"""Edges, matrices and graphs of other libraries become the same graph here, and go back."""

import copy
import re
from pathlib import Path

import graphs
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import clgraph.graph as cgg
from clgraph.errors import InvalidArgumentError, InvalidGraphError
from clgraph.graph import Graph, csr

EDGES = st.integers(1, 25).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.lists(st.tuples(*[st.integers(0, n - 1)] * 2, st.integers(-9, 9)), max_size=80),
    )
)


def triples(graph: Graph) -> list[tuple[int, int, float]]:
    weights = [0] * graph.m if graph.weights is None else graph.weights.tolist()
    sources = np.repeat(np.arange(graph.n), graph.degrees).tolist()
    return sorted(zip(sources, graph.indices.tolist(), weights, strict=True))


def plain(edges: list[tuple[int, int, int]], *, symmetrize: bool, dedup: bool, self_loops: bool):
    """The same by loops and dictionaries."""
    listed = [edge for edge in edges if self_loops or edge[0] != edge[1]]
    if symmetrize:
        listed = listed + [(v, u, w) for u, v, w in listed if u != v]
    if dedup:
        least: dict[tuple[int, int], int] = {}
        for u, v, w in listed:
            least[u, v] = min(w, least.get((u, v), w))
        listed = [(u, v, w) for (u, v), w in least.items()]
    return sorted(listed)


@given(EDGES, st.booleans(), st.booleans(), st.booleans())
def test_edge_lists(given_edges, symmetrize: bool, dedup: bool, self_loops: bool) -> None:
    n, edges = given_edges
    src, dst, weights = np.array(edges, np.int64).reshape(-1, 3).T
    graph = cgg.from_edges(
        src, dst, weights, n=n, symmetrize=symmetrize, dedup=dedup, self_loops=self_loops
    )
    expected = plain(edges, symmetrize=symmetrize, dedup=dedup, self_loops=self_loops)
    assert triples(graph) == expected
    assert graph.n == n
    assert graph.directed != symmetrize
    Graph(graph.indptr, graph.indices, graph.weights, directed=graph.directed)


@given(graphs.graphs(weighted=None))
def test_constructor_accepts_what_builders_build(graph: Graph) -> None:
    again = Graph(graph.indptr, graph.indices, graph.weights, directed=graph.directed)
    assert triples(again) == triples(graph)


@given(graphs.graphs(directed=True, weighted=None))
def test_the_claim_of_symmetry_is_checked_exactly(graph: Graph) -> None:
    forward = triples(graph)
    symmetric = forward == sorted((v, u, w) for u, v, w in forward)
    try:
        Graph(graph.indptr, graph.indices, graph.weights, directed=False)
        accepted = True
    except InvalidGraphError as error:
        accepted = False
        u, v = map(int, re.search(r"but edge (\d+) -> (\d+)", str(error)).groups())
        arcs = [(a, b) for a, b, _ in forward]
        assert (u, v) in arcs
        if "no reverse" in str(error):
            assert arcs.count((u, v)) > arcs.count((v, u))
    assert accepted == symmetric


@given(graphs.graphs(weighted=None))
def test_transposes(graph: Graph) -> None:
    transpose = graph.transpose()
    assert transpose is graph.transpose()
    assert (transpose is graph) == (not graph.directed)
    assert triples(transpose) == sorted((v, u, w) for u, v, w in triples(graph))
    Graph(transpose.indptr, transpose.indices)


@given(graphs.graphs(weighted=None))
def test_symmetrized(graph: Graph) -> None:
    result = graph.symmetrized()
    if not graph.directed:
        assert result is graph
        return
    expected = plain(triples(graph), symmetrize=True, dedup=True, self_loops=True)
    assert triples(result) == expected
    Graph(result.indptr, result.indices, result.weights, directed=False)


@given(graphs.graphs(weighted=None))
def test_through_scipy(graph: Graph) -> None:
    matrix = graph.to_scipy()
    assert not np.shares_memory(matrix.indices, graph.indices)
    again = cgg.from_scipy(matrix, directed=graph.directed, weighted=graph.weights is not None)
    assert triples(again) == triples(graph)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
@pytest.mark.parametrize("container", [scipy.sparse.coo_matrix, scipy.sparse.coo_array])
def test_every_scipy_format(kind: str, container: type) -> None:
    matrix = container(scipy.sparse.random(30, 30, density=0.1, random_state=3))
    graph = cgg.from_scipy(matrix.asformat(kind))
    assert (abs(graph.to_scipy() - matrix.tocsr()) > 0).nnz == 0
    assert cgg.as_graph(matrix.asformat(kind)).m == graph.m


def test_scipy_details() -> None:
    ones = scipy.sparse.csr_matrix(np.array([[0, 1], [1, 1]]))
    assert cgg.from_scipy(ones).weights is None
    assert cgg.from_scipy(ones, weighted=True).weights.tolist() == [1, 1, 1]
    assert cgg.from_scipy(ones * 2).weights.tolist() == [2, 2, 2]
    assert cgg.from_scipy(ones * 2, weighted=False).weights is None
    assert cgg.from_scipy(ones.astype(bool)).weights is None
    graph = cgg.from_scipy(ones, directed=False)
    assert np.shares_memory(graph.indices, ones.indices)
    unsorted = scipy.sparse.csr_matrix(
        (np.array([5, 6]), np.array([1, 0]), np.array([0, 2, 2])), shape=(2, 2)
    )
    assert triples(cgg.from_scipy(unsorted)) == [(0, 0, 6), (0, 1, 5)]
    assert unsorted.indices.tolist() == [1, 0]
    unsorted.has_sorted_indices = True  # a lie, as after changing arrays by hand
    assert triples(cgg.from_scipy(unsorted)) == [(0, 0, 6), (0, 1, 5)]
    assert cgg.as_graph(graph) is graph


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
@pytest.mark.parametrize("weighted", [False, True])
def test_through_networkx(kind: type, weighted: bool) -> None:
    source = kind()
    source.add_nodes_from(["a", ("b", 2), 3, "d", "alone"])
    for u, v in (("a", ("b", 2)), (("b", 2), 3), (3, "a"), ("a", ("b", 2)), ("d", "d")):
        source.add_edge(u, v, **({"weight": 2.5} if weighted else {}))
    graph = cgg.from_networkx(source)
    assert list(graph.labels) == list(source.nodes)
    assert graph.directed == source.is_directed()
    assert (graph.weights is not None) == weighted
    again = graph.to_networkx()
    assert list(again.nodes) == list(source.nodes)

    def counted(one: nx.Graph) -> list[str]:
        undirected = not one.is_directed()
        ends = [
            sorted(map(str, edge)) if undirected else list(map(str, edge)) for edge in one.edges()
        ]
        return sorted(map(str, ends))

    assert counted(again) == counted(source)
    if weighted:
        assert {cost for _, _, cost in again.edges(data="weight")} == {2.5}
    Graph(graph.indptr, graph.indices, graph.weights, directed=graph.directed)


def test_networkx_weights() -> None:
    source = nx.path_graph(3)
    source.edges[0, 1]["cost"] = 7
    assert cgg.from_networkx(source).weights is None
    assert cgg.from_networkx(source, weight=None).weights is None
    assert cgg.from_networkx(source, weight="cost").weights.tolist() == [7, 7, 1, 1]
    assert cgg.from_networkx(nx.empty_graph(0)).n == 0
    source.edges[0, 1]["cost"] = "dear"
    with pytest.raises(InvalidGraphError, match="real numbers"):
        cgg.from_networkx(source, weight="cost")


def test_tables_of_pandas() -> None:
    table = pd.DataFrame({"source": [0, 1, 4], "target": [1, 4, 0], "km": [1.5, 2.0, 3.5]})
    graph = cgg.from_pandas(table, weight="km")
    assert triples(graph) == [(0, 1, 1.5), (1, 4, 2.0), (4, 0, 3.5)]
    assert graph.labels is None
    both = cgg.from_pandas(table, directed=False)
    assert (both.m, both.directed, both.weights) == (6, False, None)
    named = pd.DataFrame({"a": ["x", "y"], "b": ["y", "z"]})
    graph = cgg.from_pandas(named, "a", "b")
    assert graph.labels.tolist() == ["x", "y", "z"]
    assert triples(graph) == [(0, 1, 0), (1, 2, 0)]
    negative = cgg.from_pandas(pd.DataFrame({"source": [-5, 3], "target": [3, 9]}))
    assert negative.labels.tolist() == [-5, 3, 9]
    with pytest.raises(InvalidArgumentError, match="no column 'target'"):
        cgg.from_pandas(named, "a")
    with pytest.raises(InvalidArgumentError, match="no column"):
        cgg.from_pandas([1, 2])
    with pytest.raises(InvalidGraphError, match="missing"):
        cgg.from_pandas(pd.DataFrame({"source": ["x", None], "target": ["y", "z"]}))


def test_undirected_edges_are_listed_once_or_both_ways() -> None:
    expected = [(0, 1, 5), (1, 0, 5), (1, 2, 6), (2, 1, 6), (2, 2, 7)]
    once = cgg.from_edges([0, 2, 2], [1, 1, 2], [5, 6, 7], directed=False)
    both = cgg.from_edges([0, 2, 2, 1, 1], [1, 1, 2, 0, 2], [5, 6, 7, 5, 6], directed=False)
    for graph in (once, both):
        assert triples(graph) == expected
        assert not graph.directed
    twice = cgg.from_edges([0, 1], [1, 0], [5, 6], symmetrize=True)
    assert triples(twice) == [(0, 1, 5), (0, 1, 6), (1, 0, 5), (1, 0, 6)]


def test_vertex_numbers_from_edges() -> None:
    assert cgg.from_edges([], []).n == 0
    assert cgg.from_edges([3], [1]).n == 4
    assert cgg.from_edges([3], [1], n=9).n == 9
    assert cgg.from_edges(np.array([3], np.uint8), [1]).indices.dtype == np.int32
    big = cgg.from_edges([0], [1], n=5_000_000)
    assert big.n == 5_000_000


def test_parallel_edges_keep_their_order() -> None:
    graph = cgg.from_edges([1, 0, 0, 0], [0, 1, 1, 0], [9, 5, 3, 7])
    assert graph.indices.tolist() == [0, 1, 1, 0]
    assert graph.weights.tolist() == [7, 5, 3, 9]


@given(EDGES)
def test_edges_in_order_become_rows_as_they_are(given_edges) -> None:
    """The same as by two bucket sorts, types and all, and in arrays of their own."""
    n, edges = given_edges
    edges = sorted(edges, key=lambda edge: edge[:2])
    src, dst, weights = np.array(edges, np.int32).reshape(-1, 3).T.copy()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csr, "module", lambda name: pytest.fail(f"{name} sorts"))
        straight = csr.edges_to_csr(n, src, dst, weights)
        given = csr.edges_to_csr(n, src, dst, weights, copy=False)
    assert given[1] is dst
    assert given[2] is weights
    np.testing.assert_array_equal(given[0], straight[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csr, "_pointers_in_order", lambda *_: None)
        patch.setattr(csr, "_FEW", -1)
        sorted_twice = csr.edges_to_csr(n, src, dst, weights)
    for one, other, own in zip(straight, sorted_twice, (src, dst, weights), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
        assert not np.shares_memory(one, own)


@given(EDGES)
def test_a_few_edges_are_sorted_as_many_are(given_edges) -> None:
    """The same rows and columns as by scipy, which is not imported for them."""
    n, edges = given_edges
    src, dst, weights = np.array(edges, np.int32).reshape(-1, 3).T.copy()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csr, "module", lambda name: pytest.fail(f"{name} sorts"))
        few = csr.edges_to_csr(n, src, dst, weights)
        few += csr.transpose_csr(few[0].astype(np.int64), *few[1:])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csr, "_FEW", -1)
        many = csr.edges_to_csr(n, src, dst, weights)
        many += csr.transpose_csr(many[0].astype(np.int64), *many[1:])
    for one, other in zip(few, many, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("place", [0, 1, 65534, 65535, 65536, 65537, 99998])
def test_an_edge_out_of_order_is_seen_wherever_it_is(place: int, threads: int, monkeypatch) -> None:
    monkeypatch.setattr(csr, "threads_for", lambda _: threads)
    src, dst = np.divmod(np.arange(100_000, dtype=np.int32), 500)
    indptr = csr._pointers_in_order(200, src, dst)
    np.testing.assert_array_equal(indptr, 500 * np.arange(201))
    dst[[place, place + 1]] = dst[[place + 1, place]]
    src[[place, place + 1]] = src[[place + 1, place]]
    assert csr._pointers_in_order(200, src, dst) is None


def test_edges_in_no_order_start_no_threads(monkeypatch) -> None:
    monkeypatch.setattr(csr, "share_out", lambda *_: pytest.fail("threads are started"))
    assert csr._pointers_in_order(9, np.tile(np.int32([1, 0]), 200_000), np.zeros(400_000)) is None


def test_copies_leave_the_device_behind() -> None:
    graph = Graph([0, 1, 2], [1, 0], [2, 2], directed=False, labels=["a", "b"]).reordered("degree")
    graph.kept["device"] = object()
    again = copy.deepcopy(graph)
    assert triples(again) == triples(graph)
    assert again.labels.tolist() == graph.labels.tolist()
    assert again.permutation.tolist() == graph.permutation.tolist()
    assert not again.directed
    assert not again.kept
    assert not again.indices.flags.writeable
    assert not np.shares_memory(again.indices, graph.indices)


def test_repr_and_examples() -> None:
    assert repr(Graph([0, 1, 2], [1, 0], directed=False)) == "Graph(n=2, m=2, undirected)"
    assert repr(Graph([0, 0], [], [])) == "Graph(n=1, m=0, directed, weights float64)"


def test_modules_stay_small() -> None:
    for path in Path(cgg.__file__).parent.rglob("*.py"):
        assert len(path.read_text().splitlines()) <= 400, path


def test_arrays_of_pyopencl_are_copied(any_device, caplog):
    arrays = pytest.importorskip("pyopencl.array")
    indptr, indices, weights = (
        arrays.to_device(any_device.queue, np.array(values, kind))
        for values, kind in (([0, 2, 2], np.int64), ([0, 1], np.int32), ([0.5, 2], np.float32))
    )
    with caplog.at_level("INFO", logger="clgraph"):
        graph = Graph(indptr, indices, weights)
    assert (graph.m, graph.weights.tolist()) == (2, [0.5, 2.0])
    assert caplog.text.count("is copied to host memory") == 3
    with pytest.raises(InvalidGraphError, match="copy it to host memory first"):
        Graph(indptr, indices[::-1])
