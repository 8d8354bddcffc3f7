"""Breadth-first search: whole results against scipy, trees against the Graph500 rules."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse
from graphs import SHAPES, bundled_graphs, facts, graphs, shared_facts, shared_graphs
from hypothesis import given, settings
from hypothesis import strategies as st
from searches import (
    MIXED,
    MIXED_ONE_WAY,
    MIXED_ONE_WAY_SOURCES,
    MIXED_SOURCES,
    SEARCH_RUNTIMES,
    check_search,
)

import clgraph as cg
from clgraph import verify

pytestmark = pytest.mark.runtimes(*SEARCH_RUNTIMES)

REAL = {**dict(shared_graphs()), **dict(bundled_graphs())}
KNOWN = {**shared_facts(), **facts()}


@pytest.mark.parametrize("shape", SHAPES)
def test_awkward_shapes(shape, device):
    graph = SHAPES[shape]
    plan = cg.BFS(graph, predecessors=True, device=device)
    for source in sorted({0, 1 % graph.n, graph.n // 2, graph.n - 1}):
        check_search(graph, source, plan.run(source))


@pytest.mark.rest
@given(graphs(max_vertices=80), st.data())
@settings(max_examples=200)
def test_random_graphs(device, graph, data):
    source = data.draw(st.integers(0, graph.n - 1))
    depth = data.draw(st.none() | st.integers(0, 5))
    with_tree = data.draw(st.booleans())
    result = cg.bfs(graph, source, predecessors=with_tree, max_depth=depth, device=device)
    assert (result.predecessors is not None) == with_tree
    check_search(graph, source, result, depth)


@cache
def real_graph(name):
    return REAL[name]()


@pytest.mark.parametrize("name", REAL)
def test_real_graphs(name, device):
    graph = real_graph(name)
    plan = cg.BFS(graph, predecessors=True, device=device)
    for source in (int(np.argmax(graph.degrees)), 0, graph.n - 1):
        check_search(graph, source, plan.run(source))
    for kind, source in (("bfs0", 0), ("bfshub", KNOWN[name].get("hub"))):
        if f"{kind}_depth" in KNOWN[name]:
            result = plan.run(source)
            found = result.depth, result.reached, int(result.distances[result.distances > 0].sum())
            known = [KNOWN[name].get(f"{kind}_{what}") for what in ("depth", "reached", "sum")]
            assert all(k in (None, f) for k, f in zip(known, found, strict=True)), (known, found)


@pytest.mark.parametrize("predecessors", [False, True])
@pytest.mark.parametrize(
    ("graph", "sources"),
    [(MIXED, MIXED_SOURCES), (MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES)],
    ids=["undirected", "directed"],
)
def test_sources_of_every_kind(graph, sources, predecessors, device):
    plan = cg.BFS(graph, predecessors=predecessors, device=device)
    for source in sources:
        check_search(graph, source, plan.run(source))


@pytest.mark.parametrize("max_depth", [0, 1, 2, 3, 10, 149, 10**6, 2**40, None])
@pytest.mark.parametrize("graph", [MIXED, MIXED_ONE_WAY], ids=["undirected", "directed"])
def test_max_depth(graph, max_depth, device):
    plan = cg.BFS(graph, predecessors=True, device=device)
    for source in MIXED_SOURCES:
        check_search(graph, source, plan.run(source, max_depth=max_depth), max_depth)


def test_a_lone_source(device):
    source = MIXED_SOURCES[-1]
    result = cg.bfs(MIXED, source, predecessors=True, device=device)
    assert np.flatnonzero(result.distances >= 0).tolist() == [source]
    assert result.predecessors[source] == source
    assert (result.depth, result.reached, result.stats.levels) == (0, 1, 1)
    assert result.stats.edges_traversed == 0


def test_loops_and_repeats_change_nothing(device):
    edge_sources = np.repeat(np.arange(MIXED.n), MIXED.degrees)
    edge_targets = MIXED.indices
    loops = np.arange(0, MIXED.n, 3)
    more = cg.from_edges(
        np.concatenate([edge_sources, edge_sources, loops]),
        np.concatenate([edge_targets, edge_targets, loops]),
        n=MIXED.n,
    )
    assert more.m == 2 * MIXED.m + loops.size
    source = MIXED_SOURCES[0]
    plain, doubled = (cg.bfs(g, source, device=device) for g in (MIXED, more))
    np.testing.assert_array_equal(doubled.distances, plain.distances)
    reached_loops = np.count_nonzero(plain.distances[loops] >= 0)
    assert doubled.stats.edges_traversed == 2 * plain.stats.edges_traversed + reached_loops


@pytest.mark.parametrize("kind", ["csr_matrix", "coo_array", "csc_matrix"])
def test_scipy_matrices_are_graphs(kind, device):
    source = MIXED_ONE_WAY_SOURCES[0]
    matrix = getattr(scipy.sparse, kind)(MIXED_ONE_WAY.to_scipy())
    result = cg.bfs(matrix, source, predecessors=True, device=device)
    np.testing.assert_array_equal(
        result.distances, cg.bfs(MIXED_ONE_WAY, source, device=device).distances
    )
    verify.shortest_path_tree(matrix, source, result)


def test_weights_are_ignored(device):
    weighted = cg.Graph(
        MIXED.indptr, MIXED.indices, np.linspace(1, 9, MIXED.m, dtype=np.float32), directed=True
    )
    check_search(MIXED, MIXED_SOURCES[0], cg.bfs(weighted, MIXED_SOURCES[0], device=device))


@pytest.mark.parametrize("source", [np.int32(3), np.uint64(3), np.array(3)])
def test_a_source_of_any_integer_kind(source, device):
    result = cg.bfs(MIXED, source, device=device)
    check_search(MIXED, int(source), result)
    assert result.source == int(source)
