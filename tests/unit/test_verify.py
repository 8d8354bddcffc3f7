"""The checks of results: right ones pass, and each rule has a wrong one that breaks it alone."""

import numpy as np
import pytest
from graphs import SHAPES, graphs, reference_distances
from hypothesis import given, settings
from hypothesis import strategies as st

import clgraph as cg
from clgraph import verify
from clgraph.errors import VerificationError


def reference_tree(graph, hops, source):
    """Some predecessor one level nearer for each reached vertex."""
    sources = np.repeat(np.arange(graph.n), graph.degrees)
    tree = np.full(graph.n, -1)
    one_on = (hops[sources] >= 0) & (hops[graph.indices] == hops[sources] + 1)
    tree[graph.indices[one_on]] = sources[one_on]
    tree[source] = source
    return tree


@pytest.mark.parametrize("shape", SHAPES)
def test_right_results_pass(shape):
    graph = SHAPES[shape]
    for source in {0, graph.n // 2, graph.n - 1}:
        hops = reference_distances(graph, source)
        verify.distances(graph, source, hops)
        verify.shortest_path_tree(graph, source, hops, reference_tree(graph, hops, source))


@given(graphs(), st.data())
@settings(max_examples=60, deadline=None)
def test_any_single_wrong_distance_is_found(graph, data):
    source = data.draw(st.integers(0, graph.n - 1))
    hops = reference_distances(graph, source)
    verify.distances(graph, source, hops)
    vertex = data.draw(st.integers(0, graph.n - 1))
    wrong = hops.copy()
    wrong[vertex] = data.draw(st.integers(-2, graph.n + 1).filter(lambda d: d != hops[vertex]))
    with pytest.raises(VerificationError):
        verify.distances(graph, source, wrong)


@given(graphs(max_vertices=12, max_edges=20), st.data())
@settings(max_examples=60, deadline=None)
def test_any_wrong_predecessor_is_found(graph, data):
    source = data.draw(st.integers(0, graph.n - 1))
    hops = reference_distances(graph, source)
    tree = reference_tree(graph, hops, source)
    vertex = data.draw(st.integers(0, graph.n - 1))
    tree[vertex] = data.draw(st.integers(-2, graph.n))
    matrix = graph.to_scipy()
    u = tree[vertex]
    right = u == source if vertex == source else u == -1 if hops[vertex] < 0 else False
    if 0 <= u < graph.n and vertex != source and hops[vertex] >= 0:
        in_graph = vertex in matrix.indices[matrix.indptr[u] : matrix.indptr[u + 1]]
        right = in_graph and hops[u] == hops[vertex] - 1
    if right:
        verify.shortest_path_tree(graph, source, hops, tree)
    else:
        with pytest.raises(VerificationError):
            verify.shortest_path_tree(graph, source, hops, tree)


# A path 0-1-2-3-4-5, a chord 1-4 and a lone vertex 6.
LADDER = cg.from_edges([0, 1, 2, 3, 4, 1], [1, 2, 3, 4, 5, 4], n=7, symmetrize=True)
HOPS = [0, 1, 2, 3, 2, 3, -1]
TREE = [0, 0, 1, 2, 1, 4, -1]


def test_the_example_is_right():
    verify.distances(LADDER, 0, HOPS)
    verify.shortest_path_tree(LADDER, 0, HOPS, TREE)


@pytest.mark.parametrize(
    ("hops", "complaint"),
    [
        ([1, 1, 2, 3, 2, 3, -1], "the source 0 is at distance 1, not at 0"),
        ([-1, -1, -1, -1, -1, -1, -1], "the source 0 is at distance -1, not at 0"),
        ([0, 1, 2, 3, 2, 3, 0], "vertex 6 is at distance 0, but only the source 0 is"),
        ([0, 1, 2, 3, 2, 3, -2], "vertex 6 is at distance -2, which is neither -1 nor in"),
        ([0, 1, 2, 3, 2, 7, -1], "vertex 5 is at distance 7, which is neither -1 nor in"),
        ([0, 1, 2, 3, 2, 4, -1], "vertex 5 is at distance 4, but edge 4 -> 5 reaches it at 3"),
        ([0, 1, 2, 3, 2, -1, -1], "vertex 5 is unreached, but edge 4 -> 5 reaches it at 3"),
        ([0, 1, 2, 2, 2, 3, -1], "vertex 3 is at distance 2, but no edge leads to it from a"),
        ([0, 1, 2, 3, 2, 3, 4], "vertex 6 is at distance 4, but no edge leads to it from a"),
    ],
)
def test_distances_that_break_a_rule(hops, complaint):
    with pytest.raises(VerificationError, match=complaint):
        verify.distances(LADDER, 0, hops)


@pytest.mark.parametrize(
    ("hops", "tree", "complaint"),
    [
        (HOPS, [1, 0, 1, 2, 1, 4, -1], "the source 0 has predecessor 1; it must be its own"),
        (HOPS, [0, 0, 3, 2, 1, 4, -1], "vertex 2 run in a cycle"),
        (HOPS, [0, 0, 2, 2, 1, 4, -1], "vertex 2 run in a cycle"),
        (HOPS, [0, 0, 1, 4, 1, 3, -1], "tree edge 3 -> 5 leads from distance 3 to 3"),
        (HOPS, [0, 0, 1, 1, 1, 4, -1], "tree edge 1 -> 3 leads from distance 1 to 3"),
        (HOPS, [0, 0, 1, 6, 1, 4, -1], "tree edge 6 -> 3 leads from distance -1 to 3"),
        ([0, 1, 2, 3, 4, 5, -1], [0, 0, 1, 2, 3, 4, -1], "edge 1 -> 4 reaches it at 2"),
        ([0, 1, 2, 3, 2, -1, -1], [0, 0, 1, 2, 1, -1, -1], "edge 4 -> 5 reaches it at 3"),
        (HOPS, [0, 0, 1, 2, 1, -1, -1], "vertex 5 is at distance 3 with predecessor -1"),
        (HOPS, [0, 0, 1, 2, 1, 4, 4], "vertex 6 is at distance -1 with predecessor 4"),
        (HOPS, [0, 0, 1, 2, 1, 7, -1], "vertex 5 has predecessor 7"),
        (HOPS, [0, 0, 1, 2, 1, 2, -1], "tree edge 2 -> 5 is not an edge of the graph"),
        ([0, 1, 2, 3, 2, 3, 1], [0, 0, 1, 2, 1, 4, 0], "tree edge 0 -> 6 is not an edge"),
    ],
)
def test_trees_that_break_a_rule(hops, tree, complaint):
    with pytest.raises(VerificationError, match=complaint):
        verify.shortest_path_tree(LADDER, 0, hops, tree)


def test_edges_of_a_directed_graph_hold_one_way_only():
    back = cg.from_edges([0, 1, 2, 3], [1, 2, 0, 0], n=4)
    verify.distances(back, 0, [0, 1, 2, -1])
    verify.shortest_path_tree(back, 0, [0, 1, 2, -1], [0, 0, 1, -1])
    with pytest.raises(VerificationError, match="no edge leads to it"):
        verify.distances(back, 0, [0, 1, 2, 1])


def test_blocks_of_edges_hide_nothing(monkeypatch):
    monkeypatch.setattr(verify, "BLOCK", 7)
    for shape in ("hub", "power-law", "one-way-random", "self-loops"):
        graph = SHAPES[shape]
        hops = reference_distances(graph, 0)
        tree = reference_tree(graph, hops, 0)
        verify.shortest_path_tree(graph, 0, hops, tree)
        pieces = list(verify._blocks(graph))
        sources = np.concatenate([piece.sources for piece in pieces])
        np.testing.assert_array_equal(sources, np.repeat(np.arange(graph.n), graph.degrees))
        assert max(piece.targets.size for piece in pieces) <= 7
        for vertex in np.flatnonzero(hops > 1)[-3:]:
            hops[vertex] += 1
            with pytest.raises(VerificationError):
                verify.distances(graph, 0, hops)
            hops[vertex] -= 1


def test_a_search_that_stopped_early():
    cut = [0, 1, -1, -1, -1, -1, -1]
    verify.distances(LADDER, 0, cut, max_depth=1)
    verify.shortest_path_tree(LADDER, 0, cut, [0, 0, *cut[2:]], max_depth=1)
    verify.distances(LADDER, 0, HOPS, max_depth=100)
    with pytest.raises(VerificationError, match="vertex 2 is unreached"):
        verify.distances(LADDER, 0, cut, max_depth=2)
    with pytest.raises(VerificationError, match="vertex 2 is at distance 2, which is neither"):
        verify.distances(LADDER, 0, HOPS, max_depth=1)


def test_a_result_and_a_matrix_do_as_well(any_device):
    result = cg.bfs(LADDER, 0, predecessors=True, device=any_device)
    verify.distances(LADDER, 0, result)
    verify.shortest_path_tree(LADDER.to_scipy(), 0, result)
    without = cg.bfs(LADDER, 0, device=any_device)
    with pytest.raises(cg.InvalidArgumentError, match="predecessors=True"):
        verify.shortest_path_tree(LADDER, 0, without)


@pytest.mark.parametrize(
    ("source", "hops", "complaint"),
    [
        (7, HOPS, r"source=7 is not a vertex of this graph"),
        (-1, HOPS, "source=-1 is not a vertex"),
        (0.0, HOPS, r"source=0\.0 is not a vertex"),
        (0, HOPS[:6], r"shape \(6,\); it must hold 7 integers"),
        (0, [HOPS], r"shape \(1, 7\); it must hold 7"),
        (0, [float(d) for d in HOPS], "an array of float64"),
        (0, ["a"] * 7, "distances is an array of <U1"),
    ],
)
def test_arguments_that_make_no_sense(source, hops, complaint):
    with pytest.raises(cg.InvalidArgumentError, match=complaint):
        verify.distances(LADDER, source, hops)
    with pytest.raises(cg.InvalidArgumentError, match=complaint):
        verify.shortest_path_tree(LADDER, source, hops, hops)
