"""Distances and centralities by weight, against networkx."""

import networkx as nx
import numpy as np
import pytest
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


def test_weights_are_needed(any_device):
    with pytest.raises(cg.InvalidArgumentError, match="weights"):
        cg.apsp(cg.generate.path(3), weighted=True, device=any_device)
