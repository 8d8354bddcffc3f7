"""Betweenness, closeness and harmonic centrality against networkx and igraph."""

import random
from functools import lru_cache

import igraph
import networkx as nx
import numpy as np
import pytest
from graphs import SHAPES, bundled_graphs, graphs
from hypothesis import given, settings
from searches import SEARCH_RUNTIMES

import clgraph as cg
from clgraph.algorithms.centrality.ordered import OrderedBetweenness
from clgraph.algorithms.centrality.sums import LIMITS

pytestmark = pytest.mark.runtimes(*SEARCH_RUNTIMES)

SMALL = [name for name, graph in SHAPES.items() if graph.n <= 300]
SKEWED = SHAPES["power-law"]
ONE_WAY = SHAPES["one-way-random"]
METHODS = ("multi-search", "bit-parallel")
ALONE = ("multi-search", "ordered")  # betweenness by searches of their own


def draw():
    return random.Random(3)  # noqa: S311 - networkx draws its sample with it


def listed(values, n):
    return np.array([values[v] for v in range(n)])


def edge_values(nx_graph, graph, values):
    """What networkx says of every stored edge; loops are on no path."""
    edge_sources = np.repeat(np.arange(graph.n), graph.degrees).tolist()
    known = {}
    for key, value in values.items():
        known[key[:2]] = value
        if not nx_graph.is_directed():
            known[key[1], key[0]] = value
    return np.array(
        [known[ends] for ends in zip(edge_sources, graph.indices.tolist(), strict=True)]
    )


@lru_cache(maxsize=256)
def by_networkx(graph, normalized):
    return listed(nx.betweenness_centrality(graph.to_networkx(), normalized=normalized), graph.n)


@lru_cache(maxsize=256)
def edges_by_networkx(graph, normalized):
    nx_graph = graph.to_networkx()
    values = nx.edge_betweenness_centrality(nx_graph, normalized=normalized)
    return edge_values(nx_graph, graph, values)


@lru_cache(maxsize=256)
def closeness_by_networkx(graph, improved):
    nx_graph = graph.to_networkx()
    return listed(nx.closeness_centrality(nx_graph, wf_improved=improved), graph.n)


@lru_cache(maxsize=256)
def harmonic_by_networkx(graph):
    return listed(nx.harmonic_centrality(graph.to_networkx()), graph.n)


def check_betweenness(graph, device, **options):
    for normalized in (True, False):
        found = cg.betweenness_centrality(graph, normalized=normalized, device=device, **options)
        expected = by_networkx(graph, normalized)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def check_edges(graph, device, **options):
    for normalized in (True, False):
        found = cg.edge_betweenness_centrality(
            graph, normalized=normalized, device=device, **options
        )
        expected = edges_by_networkx(graph, normalized)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("shape", SMALL)
def test_betweenness_of_awkward_shapes(shape, device):
    graph = SHAPES[shape]
    for method in ALONE[: 1 if graph.directed else 2]:
        check_betweenness(graph, device, method=method)


@pytest.mark.parametrize("lanes", [4, 8, 32])
def test_searches_that_keep_their_order_on_emulated_lanes(lanes, intel):
    """Rows of many edges, short ones, and vertices of one, two and more parents."""
    for graph in (SHAPES["hub"], cg.generate.grid3d(5), cg.generate.kron(7, seed=2)):
        some = np.arange(0, graph.n, max(graph.n // 20, 1))
        expected = cg.betweenness_centrality(graph, some, method="multi-search", device=intel)
        found = cg.betweenness_centrality(
            graph, some, method="ordered", device=intel.emulating(lanes)
        )
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_searches_that_keep_their_order_by_several_simd_groups(intel):
    for graph in (SHAPES["hub"], cg.generate.kron(9, seed=2), cg.generate.grid2d(40)):
        some = np.arange(0, graph.n, max(graph.n // 20, 1))
        for dtype in (np.float64, np.float32):
            plan = OrderedBetweenness(graph, intel, np.dtype(dtype), group_size=64)
            found, overflowed = plan.run(some, LIMITS[np.dtype(dtype).name])
            expected = OrderedBetweenness(graph, intel, np.dtype(np.float64)).run(
                some, LIMITS["float64"]
            )[0]
            assert not overflowed
            np.testing.assert_allclose(found, expected, rtol=1e-9 if dtype == np.float64 else 1e-4)


@pytest.mark.parametrize("shape", [name for name in SMALL if SHAPES[name].m])
def test_betweenness_in_a_shared_traversal(shape, device):
    check_betweenness(SHAPES[shape], device, method="shared")


@pytest.mark.rest
def test_a_shared_traversal_with_rows_in_parts_and_few_levels(intel, monkeypatch):
    hub = SHAPES["hub"]
    some = np.arange(0, hub.n, 150)
    expected = cg.betweenness_centrality(hub, some, method="multi-search", device=intel)
    for device in (intel, intel.emulating(8)):
        found = cg.betweenness_centrality(hub, some, method="shared", device=device)
        np.testing.assert_allclose(found, expected, rtol=1e-9)
    single = cg.betweenness_centrality(hub, some, method="shared", dtype=np.float32, device=intel)
    np.testing.assert_allclose(single, expected, rtol=1e-4)
    monkeypatch.setattr("clgraph.algorithms.centrality.sums._sharing_pays", lambda *_: True)
    deep = cg.generate.path(700)  # too deep to share: searched singly after all
    found = cg.betweenness_centrality(deep, [0, 300], False, device=intel)
    expected = cg.betweenness_centrality(deep, [0, 300], False, method="multi-search", device=intel)
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("shape", [name for name in SMALL if SHAPES[name].m < 2500])
def test_edge_betweenness_of_awkward_shapes(shape, device):
    check_edges(SHAPES[shape], device)


@given(graphs(max_vertices=30))
@settings(max_examples=15)
def test_random_graphs(device, graph):
    for method in ALONE[: 1 if graph.directed else 2]:
        check_betweenness(graph, device, method=method)
    check_edges(graph, device)
    for method in METHODS:
        check_closeness(graph, device, method=method)


@pytest.mark.parametrize("config", ["hybrid", "warp-based"])
def test_betweenness_with_other_configurations(config, device):
    """Multi-search checklist 17: betweenness made of snippets equals the reference."""
    check_betweenness(SKEWED, device, config=config)
    check_edges(SHAPES["clique"], device, config=config)


def test_betweenness_in_single_precision(device):
    expected = cg.betweenness_centrality(SKEWED, device=device)
    found = cg.betweenness_centrality(SKEWED, dtype=np.float32, device=device)
    assert (expected.dtype, found.dtype) == (np.float64, np.float32)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-8)


@pytest.mark.parametrize("graph", [SKEWED, ONE_WAY], ids=["both", "one-way"])
@pytest.mark.parametrize("normalized", [True, False])
def test_sampled_betweenness(graph, normalized, any_device):
    nx_graph = graph.to_networkx()
    sample = draw().sample(list(nx_graph.nodes()), 20)
    options = {"k": 20, "normalized": normalized}
    found = cg.betweenness_centrality(graph, sample, normalized, device=any_device)
    expected = nx.betweenness_centrality(nx_graph, seed=draw(), **options)
    np.testing.assert_allclose(found, listed(expected, graph.n), rtol=1e-9)
    found = cg.edge_betweenness_centrality(graph, sample, normalized, device=any_device)
    values = nx.edge_betweenness_centrality(nx_graph, seed=draw(), **options)
    np.testing.assert_allclose(found, edge_values(nx_graph, graph, values), rtol=1e-9)


def test_a_sample_is_drawn_by_its_seed(any_device):
    one, other = (
        cg.betweenness_centrality(SKEWED, 30, seed=seed, device=any_device) for seed in (1, 1)
    )
    np.testing.assert_allclose(one, other, rtol=1e-12)
    with pytest.raises(cg.InvalidArgumentError, match="cannot be drawn"):
        cg.betweenness_centrality(SKEWED, SKEWED.n + 1, device=any_device)


@pytest.mark.parametrize("name", [name for name, _ in bundled_graphs()])
def test_betweenness_of_real_graphs(name, any_device):
    graph = dict(bundled_graphs())[name]()
    if graph.n > 50_000:
        pytest.skip("one of the larger graphs, which take igraph minutes")
    thin = graph.to_networkx() if graph.n < 200 else None
    if thin is not None:
        check_betweenness(graph, any_device)
        return
    edge_sources, edge_targets, _ = graph.listed_edges()
    other = igraph.Graph(
        graph.n, np.stack([edge_sources, edge_targets], axis=1).tolist(), directed=graph.directed
    ).simplify()
    sources = np.arange(0, graph.n, max(graph.n // 50, 1))
    found = cg.betweenness_centrality(graph, sources, normalized=False, device=any_device)
    expected = np.array(other.betweenness(sources=sources.tolist(), targets=None, directed=True))
    seen = np.full(graph.n, sources.size)
    seen[sources] -= 1
    paths = found * seen / (graph.n - 1)
    np.testing.assert_allclose(paths, expected, rtol=1e-6, atol=1e-6)


def squares(count):
    """A chain of squares, which has 2 ** count shortest paths from end to end."""
    links = np.arange(count) * 3
    src = np.concatenate([links, links, links + 1, links + 2])
    dst = np.concatenate([links + 1, links + 2, links + 3, links + 3])
    return cg.from_edges(src, dst, symmetrize=True)


@pytest.mark.parametrize("method", ALONE)
@pytest.mark.parametrize(("count", "dtype"), [(1500, np.float64), (160, np.float32)])
def test_more_paths_than_numbers_count(count, dtype, method, device):
    """The end of the chain is as far from 1 as a number can be; only ratios count."""
    chain = squares(count)
    options = {"dtype": dtype, "method": method, "device": device}
    found = cg.betweenness_centrality(chain, [0], False, **options)
    seen = found[3:-1:3] * 2 / (chain.n - 1)  # joints, each before all that follow
    np.testing.assert_allclose(seen, 3 * (count - np.arange(1, count)), rtol=1e-5)
    arms = found[1::3] * 2 / (chain.n - 1)
    np.testing.assert_allclose(arms, (3 * (count - np.arange(count)) - 2) / 2, rtol=1e-5)


@pytest.mark.parametrize("method", ALONE)
@pytest.mark.parametrize(("count", "dtype"), [(2200, np.float64), (300, np.float32)])
def test_too_many_paths_are_not_counted_wrong(count, dtype, method, any_device):
    """Beside a chain of squares a plain path of the same depth, whose single path gets lost."""
    chain = squares(count)
    edge_sources, edge_targets, _ = chain.listed_edges()
    path = chain.n + np.arange(2 * count)
    both = cg.from_edges(
        np.concatenate([edge_sources, [0], path[:-1]]),
        np.concatenate([edge_targets, path[:1], path[1:]]),
        symmetrize=True,
    )
    with pytest.raises(cg.ClgraphError, match=f"more shortest paths than {np.dtype(dtype)}"):
        cg.betweenness_centrality(both, [0], dtype=dtype, method=method, device=any_device)


def check_closeness(graph, device, **options):
    for improved in (True, False):
        found = cg.closeness_centrality(graph, wf_improved=improved, device=device, **options)
        np.testing.assert_allclose(found, closeness_by_networkx(graph, improved), rtol=1e-12)
    found = cg.harmonic_centrality(graph, device=device, **options)
    np.testing.assert_allclose(found, harmonic_by_networkx(graph), rtol=1e-12)
    some = np.arange(graph.n)[::3][::-1]
    found = cg.closeness_centrality(graph, some, device=device, **options)
    np.testing.assert_allclose(found, closeness_by_networkx(graph, True)[some], rtol=1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape", SMALL)
def test_closeness_of_awkward_shapes(shape, method, device):
    check_closeness(SHAPES[shape], device, method=method)


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda d: cg.betweenness_centrality(SKEWED, [-1], device=d), "sources"),
        (lambda d: cg.betweenness_centrality(SKEWED, dtype=int, device=d), "float64"),
        (lambda d: cg.betweenness_centrality(ONE_WAY, method="ordered", device=d), "undirected"),
        (lambda d: cg.closeness_centrality(SKEWED, [10**6], device=d), "sources"),
        (lambda d: cg.closeness_centrality(SKEWED, method="bits", device=d), "method='bits'"),
    ],
)
def test_arguments_that_cannot_be(call, complaint, any_device):
    with pytest.raises(cg.InvalidArgumentError, match=complaint):
        call(any_device)
