"""Distances, reachability, eccentricities and diameters from many sources, against scipy."""

import networkx as nx
import numpy as np
import pytest
from graphs import SHAPES, bundled_graphs, facts, graphs, shared_facts, shared_graphs
from hypothesis import given, settings
from scipy.sparse.csgraph import connected_components, shortest_path
from searches import MIXED, MIXED_ONE_WAY, SEARCH_RUNTIMES

import clgraph as cg
from clgraph.algorithms.multi_search.bounds import MutualBounds
from clgraph.algorithms.multi_search.eccentricity_directed import DirectedBounds

pytestmark = pytest.mark.runtimes(*SEARCH_RUNTIMES)

METHODS = ("multi-search", "bit-parallel")
SMALL = [name for name, graph in SHAPES.items() if graph.n <= 450 and name != "grid"]
REAL = {**dict(shared_graphs()), **dict(bundled_graphs())}
KNOWN = {**shared_facts(), **facts()}


def all_distances(graph):
    found = shortest_path(graph.to_scipy(), unweighted=True)
    return np.where(np.isinf(found), -1, found).astype(np.int32)


def check(graph, device, method):
    options = {"device": device, "method": method}
    expected = all_distances(graph)
    everyone = np.arange(graph.n)
    np.testing.assert_array_equal(cg.apsp(graph, **options), expected)
    np.testing.assert_array_equal(cg.reachable(graph, everyone, **options), expected >= 0)
    farthest = cg.eccentricity(graph, disconnected="ignore", **options)
    np.testing.assert_array_equal(farthest, expected.max(axis=1))
    assert cg.diameter(graph, disconnected="ignore", device=device) == expected.max()
    connected = (expected >= 0).all()
    if connected:
        mean = expected.sum() / max(graph.n * (graph.n - 1), 1)
        assert cg.average_shortest_path_length(graph, **options) == pytest.approx(mean, rel=1e-14)
        assert cg.diameter(graph, device=device) == expected.max()
    else:
        for refused in (cg.eccentricity, cg.average_shortest_path_length):
            with pytest.raises(cg.InvalidGraphError, match="reaches only"):
                refused(graph, **options)
        with pytest.raises(cg.InvalidGraphError, match="infinite"):
            cg.diameter(graph, device=device)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape", SMALL)
def test_awkward_shapes(shape, method, device):
    check(SHAPES[shape], device, method)


@given(graphs(max_vertices=40))
@settings(max_examples=15)
def test_random_graphs(device, graph):
    for method in METHODS:
        check(graph, device, method)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("graph", [MIXED, MIXED_ONE_WAY], ids=["both", "one-way"])
def test_some_sources_and_targets(graph, method, device):
    options = {"device": device, "method": method}
    expected = all_distances(graph)
    sources, targets = np.array([5, 900, 5, 1499]), [0, 7, 1450]
    np.testing.assert_array_equal(cg.apsp(graph, sources, **options), expected[sources])
    found = cg.reachable(graph, sources, targets, **options)
    np.testing.assert_array_equal(found, expected[np.ix_(sources, targets)] >= 0)
    many = np.arange(graph.n)[::-7]
    np.testing.assert_array_equal(cg.apsp(graph, many, **options), expected[many])
    farthest = cg.eccentricity(graph, many, disconnected="ignore", **options)
    np.testing.assert_array_equal(farthest, expected[many].max(axis=1))


def test_blocks_of_sources(any_device):
    expected = all_distances(MIXED)
    told = []
    blocks = list(
        cg.apsp_blocks(
            MIXED,
            block=400,
            dtype=np.int16,
            device=any_device,
            progress=lambda *words: told.append(words),
        )
    )
    assert [sources.size for sources, _ in blocks] == [400, 400, 400, 300]
    assert told[-1] == (1500, 1500, "searches")
    for sources, distances in blocks:
        assert distances.dtype == np.int16
        np.testing.assert_array_equal(distances, expected[sources])


@pytest.mark.parametrize("weighted", [False, True])
def test_progress_is_told_within_a_block(weighted, any_device):
    """A block can take many seconds: it may have 4,096 searches of a large graph."""
    graph = cg.generate.grid2d(30, 20, weights=(1, 5))
    told = []
    options = {
        "device": any_device,
        "progress": lambda *words: told.append(words),
        "method": "single",
    }
    expected = [(done, 600, "searches") for done in range(1, 601)]
    assert len(list(cg.apsp_blocks(graph, block=400, weighted=weighted, **options))) == 2
    assert told == expected
    if not weighted:
        told.clear()
        cg.reachable(graph, np.arange(600), **options)
        assert told == expected


def test_distances_too_long_for_int16(any_device):
    path = cg.generate.path(40_000)
    with pytest.raises(cg.InvalidArgumentError, match="distance of 39999 does not fit"):
        cg.apsp(path, [0], dtype=np.int16, device=any_device)
    assert cg.apsp(path, [20_000], dtype=np.int16, device=any_device).max() == 20_000


@pytest.mark.parametrize("name", [name for name in REAL if KNOWN[name].get("diameter")])
def test_known_diameters(name, any_device):
    graph = REAL[name]()
    assert cg.diameter(graph, disconnected="ignore", device=any_device) == KNOWN[name]["diameter"]


@pytest.mark.parametrize("name", ["road", "geometric"])
def test_a_diameter_by_few_searches(name, any_device):
    road = name == "road"
    graph = cg.generate.road(50, seed=3) if road else cg.generate.geometric(1200, seed=1)
    labels = connected_components(graph.to_scipy())[1]
    bounds = MutualBounds(graph, any_device, labels)
    expected = max(cg.eccentricity(graph, disconnected="ignore", device=any_device))
    assert bounds.narrow(None) == expected
    assert bounds.searches < 100


def test_strongly_connected_digraphs(any_device):
    rng = np.random.default_rng(5)
    ring = np.arange(500)
    src = np.concatenate([ring, rng.integers(0, 500, 300)])
    dst = np.concatenate([(ring + 1) % 500, rng.integers(0, 500, 300)])
    graph = cg.from_edges(src, dst)
    assert cg.diameter(graph, device=any_device) == nx.diameter(nx.DiGraph(graph.to_networkx()))


@given(graphs(max_vertices=60))
@settings(max_examples=40)
def test_longest_finite_distance_of_digraphs(any_device, graph):
    """Where not all reach one another, against all distances that there are."""
    lengths = nx.all_pairs_shortest_path_length(graph.to_networkx())
    longest = max(max(row.values()) for _, row in lengths)
    assert cg.diameter(graph, disconnected="ignore", device=any_device) == longest


def test_a_digraph_of_many_components_takes_few_searches(any_device, monkeypatch):
    graph = cg.generate.rmat(11, 3, seed=5)
    count, labels = connected_components(graph.to_scipy(), connection="strong")
    assert 100 < count < graph.n
    bounds = DirectedBounds(graph, any_device, labels)
    expected = all_distances(graph).max()
    assert bounds.narrow(None) == expected
    assert bounds.searches < 60
    monkeypatch.setattr("clgraph.algorithms.multi_search.eccentricity_directed.ROUNDS", 1)
    assert DirectedBounds(graph, any_device, labels).narrow(None) == expected  # by batches


def test_a_digraph_whose_bounds_are_loose(any_device):
    """A long chain of components of every size, where slack adds up: batches must end it."""
    rng = np.random.default_rng(4)
    edge_sources = rng.integers(0, 800, 2400)
    edge_targets = np.minimum(edge_sources + rng.integers(1, 40, edge_sources.size), 799)
    back = rng.random(edge_sources.size) < np.where(edge_sources // 13 % 3 == 0, 0.4, 0)
    graph = cg.from_edges(
        np.where(back, edge_targets, edge_sources),
        np.where(back, edge_sources, edge_targets),
        n=800,
    )
    found = cg.diameter(graph, disconnected="ignore", device=any_device)
    assert found == all_distances(graph).max()


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda d: cg.apsp(MIXED, [-1], device=d), "sources"),
        (lambda d: cg.apsp(MIXED, dtype=np.int8, device=d), "neither int32 nor int16"),
        (lambda d: cg.apsp(MIXED, method="slow", device=d), "method='slow'"),
        (lambda d: cg.apsp_blocks(MIXED, block=0, device=d), "block=0"),
        (lambda d: cg.reachable(MIXED, [0], [-1], device=d), "targets"),
        (lambda d: cg.eccentricity(MIXED, disconnected="no", device=d), "disconnected='no'"),
        (lambda d: cg.diameter(MIXED, disconnected="no", device=d), "disconnected='no'"),
        (lambda d: cg.diameter(cg.from_edges([], [], n=0), device=d), "without vertices"),
    ],
)
def test_arguments_that_cannot_be(call, complaint, any_device):
    with pytest.raises(ValueError, match=complaint):
        call(any_device)
