"""Distances and centralities by weight, against networkx."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from searches import SEARCH_RUNTIMES

import clgraph as cg

pytestmark = pytest.mark.runtimes(*SEARCH_RUNTIMES)


def weighted(n, m, *, directed, dtype, seed):
    rng = np.random.default_rng(seed)
    ring = np.arange(n)
    src = np.concatenate([ring, rng.integers(0, n, m)])
    dst = np.concatenate([(ring + 1) % n, rng.integers(0, n, m)])
    weights = rng.integers(1, 30, src.size).astype(dtype)
    return cg.from_edges(src, dst, weights, symmetrize=not directed, dedup=True)


@pytest.mark.parametrize("dtype", [np.int32, np.float64])
@pytest.mark.parametrize("directed", [False, True])
def test_like_networkx(directed, dtype, device):
    graph = weighted(24, 40, directed=directed, dtype=dtype, seed=3)
    other = graph.to_networkx()
    options = {"weighted": True, "device": device}
    lengths = dict(nx.all_pairs_dijkstra_path_length(other))
    expected = np.array([[lengths[u][v] for v in range(24)] for u in range(24)])
    found = cg.apsp(graph, **options)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected)
    for sources, distances in cg.apsp_blocks(graph, [3, 4, 5], block=2, **options):
        np.testing.assert_allclose(distances, expected[sources])
    far = list(nx.eccentricity(other, weight="weight").values())
    np.testing.assert_allclose(cg.eccentricity(graph, **options), far)
    assert cg.diameter(graph, **options) == pytest.approx(max(far))
    mean = nx.average_shortest_path_length(other, weight="weight")
    assert cg.average_shortest_path_length(graph, **options) == pytest.approx(mean)
    near = nx.closeness_centrality(other, distance="weight").values()
    np.testing.assert_allclose(cg.closeness_centrality(graph, **options), list(near))
    sums = nx.harmonic_centrality(other, distance="weight").values()
    np.testing.assert_allclose(cg.harmonic_centrality(graph, **options), list(sums))


def test_what_is_not_reached(any_device):
    graph = cg.from_edges([0, 2], [1, 3], np.array([5, 7], np.int32), n=5)
    options = {"weighted": True, "device": any_device}
    found = cg.apsp(graph, [0, 4], **options)
    largest = np.iinfo(np.int32).max
    assert found.tolist() == [[0, 5, *[largest] * 3], [*[largest] * 4, 0]]
    assert cg.eccentricity(graph, disconnected="ignore", **options).tolist() == [5, 0, 7, 0, 0]
    with pytest.raises(cg.InvalidGraphError, match="reaches only 2 of 5"):
        cg.eccentricity(graph, **options)


@pytest.mark.parametrize("dtype", [np.int32, np.float64])
@pytest.mark.parametrize("directed", [False, True])
def test_betweenness_like_networkx(directed, dtype, device):
    graph = weighted(24, 40, directed=directed, dtype=dtype, seed=3)
    for one in (graph, of_few_lengths(graph)):
        check_betweenness(one, device)


@pytest.mark.runtimes("pocl")
@pytest.mark.parametrize("dtype", [np.uint32, np.int64, np.float32])
def test_betweenness_by_other_types_of_weights(dtype, device):
    for directed in (False, True):
        graph = weighted(24, 40, directed=directed, dtype=dtype, seed=3)
        check_betweenness(of_few_lengths(graph), device)


def of_few_lengths(graph):
    """Give a graph whose paths tie."""
    lengths = graph.weights % 4 + 1
    return cg.Graph(graph.indptr, graph.indices, lengths, directed=graph.directed)


def check_betweenness(graph, device):
    other = graph.to_networkx()
    edge_sources = np.repeat(np.arange(graph.n), graph.degrees).tolist()
    options = {"weighted": True, "device": device}
    for normalized in (True, False):
        expected = nx.betweenness_centrality(other, weight="weight", normalized=normalized)
        found = cg.betweenness_centrality(graph, normalized=normalized, **options)
        values = np.array([expected[v] for v in range(graph.n)])
        np.testing.assert_allclose(found, values, rtol=1e-6, atol=1e-12)
        by_edge = nx.edge_betweenness_centrality(other, weight="weight", normalized=normalized)
        if not graph.directed:
            by_edge |= {(b, a): value for (a, b), value in by_edge.items()}
        found = cg.edge_betweenness_centrality(graph, normalized=normalized, **options)
        values = np.array(
            [by_edge[ends] for ends in zip(edge_sources, graph.indices.tolist(), strict=True)]
        )
        np.testing.assert_allclose(found, values, rtol=1e-6, atol=1e-12)


@given(st.data(), st.booleans())
@settings(max_examples=20, deadline=None)
def test_betweenness_of_random_graphs(any_device, data, directed):
    n = data.draw(st.integers(1, 16))
    ends = st.integers(0, n - 1)
    edges = data.draw(st.lists(st.tuples(ends, ends, st.integers(1, 3)), max_size=40))
    src, dst, weights = np.array(edges, np.int32).reshape(-1, 3).T
    graph = cg.from_edges(src, dst, weights, n=n, symmetrize=not directed, dedup=True)
    check_betweenness(graph, any_device)


def test_parallel_edges_count_with_the_lightest(any_device):
    """As networkx has it: among parallel edges the lightest share what passes."""
    src, dst = np.array([0, 0, 0, 1, 2]), np.array([1, 1, 1, 2, 3])
    graph = cg.from_edges(src, dst, np.array([5, 2, 2, 1, 1], np.int32))
    options = {"weighted": True, "device": any_device}
    found = cg.edge_betweenness_centrality(graph, normalized=False, **options)
    assert found.tolist() == [3 / 2 if w == 2 else 0 for w in graph.weights[:3]] + [4, 3]
    found = cg.betweenness_centrality(graph, normalized=False, **options)
    expected = nx.betweenness_centrality(graph.to_networkx(), normalized=False, weight="weight")
    np.testing.assert_allclose(found, [expected[v] for v in range(4)])


def test_sampled_betweenness_in_blocks(any_device, monkeypatch):
    graph = weighted(30, 60, directed=False, dtype=np.int32, seed=5)
    some = [3, 4, 9, 17, 20]
    options = {"weighted": True, "normalized": False, "device": any_device}
    whole = cg.betweenness_centrality(graph, some, **options)
    monkeypatch.setattr("clgraph.algorithms.centrality.weighted.MOST_BLOCK", 2)
    calls = []
    blocks = cg.betweenness_centrality(graph, some, progress=lambda *a: calls.append(a), **options)
    np.testing.assert_allclose(blocks, whole)
    done = [call[0] for call in calls]
    assert done == sorted(done)
    assert {1, 2, 3, 4, 5} <= set(done)
    assert calls[-1] == (5, 5, "searches")


def test_weights_that_paths_cannot_be_counted_by(any_device):
    zero = cg.from_edges([0, 1], [1, 2], np.array([1, 0], np.int32))
    with pytest.raises(cg.InvalidArgumentError, match="not positive"):
        cg.betweenness_centrality(zero, weighted=True, device=any_device)
    lost = cg.from_edges([0, 1, 2], [1, 2, 3], np.array([1e20, 1.0, 1e20]))
    with pytest.raises(cg.ClgraphError, match="lost"):
        cg.betweenness_centrality(lost, weighted=True, device=any_device)
    with pytest.raises(cg.InvalidArgumentError, match="method='shared'"):
        cg.betweenness_centrality(lost, weighted=True, method="shared", device=any_device)
    with pytest.raises(cg.InvalidArgumentError, match="weights"):
        cg.edge_betweenness_centrality(cg.generate.path(3), weighted=True, device=any_device)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"method": "best"}, "method='best' is not one of"),
        ({"method": "bit-parallel"}, "is not for weights"),
        ({"config": "best"}, "config='best' is not a preset"),
        ({"dtype": np.int16}, "dtype=int16 is for distances in hops"),
    ],
)
def test_what_is_not_for_weights_is_refused_and_not_ignored(options, complaint, any_device):
    graph = weighted(10, 20, directed=True, dtype=np.int32, seed=1)
    functions = [cg.apsp, cg.closeness_centrality, cg.harmonic_centrality, cg.eccentricity]
    for function in functions[:1] if "dtype" in options else functions:
        with pytest.raises(cg.InvalidArgumentError, match=complaint):
            function(graph, weighted=True, device=any_device, **options)
    if "config" not in options:
        with pytest.raises(cg.InvalidArgumentError, match=complaint):
            cg.apsp_blocks(graph, weighted=True, device=any_device, **options)


def test_weights_are_needed(any_device):
    with pytest.raises(cg.InvalidArgumentError, match="weights"):  # before the first block
        cg.apsp_blocks(cg.generate.path(3), weighted=True, device=any_device)
    with pytest.raises(cg.InvalidArgumentError, match="weights"):
        cg.apsp(cg.generate.path(3), weighted=True, device=any_device)
