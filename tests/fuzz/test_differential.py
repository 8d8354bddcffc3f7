"""Hostile graphs: what algorithms find is what two other libraries find."""

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csgraph

import clgraph as cg

SHAPES = ("random", "parallel", "star", "path", "cycles", "clique", "loops", "lone", "layers")


def hostile(shape, rng):
    """A graph that is awkward in one way, with weights that are small, equal or far apart."""
    n = int(rng.integers(1, 40))
    m = int(rng.integers(0, 4 * n))
    src, dst = rng.integers(0, n, (2, m))
    if shape == "parallel":
        src, dst = np.repeat(src, 3), np.repeat(dst, 3)
    elif shape == "star":
        src = np.where(rng.random(m) < 0.9, 0, src)
    elif shape == "path":
        src, dst = np.arange(n - 1), np.arange(1, n)
    elif shape == "cycles":
        src = np.arange(n)
        dst = (src // 4) * 4 + (src + 1) % 4
        src, dst = src[dst < n], dst[dst < n]
    elif shape == "clique":
        src, dst = np.nonzero(np.ones((min(n, 12),) * 2))
    elif shape == "loops":
        dst = np.where(rng.random(m) < 0.5, src, dst)
    elif shape == "lone":
        n += 30
    elif shape == "layers":
        dst = np.minimum(src // 5 * 5 + 5 + dst % 5, n - 1)
    kinds = ([1], [1, 2, 3], [1, 2**20], [0, 1, 5])
    weights = rng.choice(kinds[rng.integers(len(kinds))], src.size).astype(
        rng.choice(["i4", "i8", "f4", "f8"])
    )
    return cg.from_edges(src, dst, weights, n=n)


def in_networkx(graph):
    found = nx.DiGraph()
    found.add_nodes_from(range(graph.n))
    src, dst, weights = graph.listed_edges()
    for u, v, w in zip(src.tolist(), dst.tolist(), weights.tolist(), strict=True):
        if not found.has_edge(u, v) or found[u][v]["weight"] > w:
            found.add_edge(u, v, weight=w)
    return found


def simple(graph):
    """For scipy: one entry for parallel edges, the least weight, and none that is zero."""
    least = {}
    src, dst, weights = graph.listed_edges()
    for u, v, w in zip(src.tolist(), dst.tolist(), weights.tolist(), strict=True):
        least[u, v] = min(w, least.get((u, v), w))
    matrix = np.zeros((graph.n, graph.n))
    for u, v in least:
        matrix[u, v] = 1
    return matrix


def same_parts(labels, other):
    """Whether two labelings part the vertices alike."""
    pairs = {(a, b) for a, b in zip(labels.tolist(), np.asarray(other).tolist(), strict=True)}
    return len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


@pytest.mark.parametrize("shape", SHAPES)
def test_two_oracles_agree_with_it(shape, target, effort, record_property):
    rng = np.random.default_rng([effort("seed"), SHAPES.index(shape)])
    calls = 0
    for turn in range(effort("graphs")):
        graph = hostile(shape, rng)
        what = f"graph {turn} of {shape}: {graph!r}"
        there, matrix = in_networkx(graph), simple(graph)
        source = int(rng.integers(graph.n))
        hops = cg.bfs(graph, source, device=target, verify=True).distances
        known = csgraph.shortest_path(matrix, unweighted=True, indices=source)
        np.testing.assert_array_equal(hops, np.where(np.isinf(known), -1, known), err_msg=what)
        known = nx.single_source_shortest_path_length(there, source)
        assert {v: d for v, d in enumerate(hops.tolist()) if d >= 0} == dict(known), what
        found = cg.sssp(graph, source, device=target, verify=True)
        lengths = nx.single_source_dijkstra_path_length(there, source)
        reached = found.distances != cg.SSSP(graph, device=target).unreached
        assert set(np.flatnonzero(reached).tolist()) == set(lengths), what
        for vertex, length in lengths.items():
            assert found.distances[vertex] == pytest.approx(length, rel=1e-6), what
        strong = cg.scc(graph, device=target)
        assert same_parts(
            strong.labels, csgraph.connected_components(matrix, connection="strong")[1]
        )
        assert strong.count == nx.number_strongly_connected_components(there), what
        weak = cg.connected_components(graph, device=target)
        _, known = csgraph.connected_components(matrix, connection="weak")
        assert same_parts(weak.labels, known), what
        assert weak.count == nx.number_weakly_connected_components(there), what
        calls += 4
    record_property("calls", calls)
