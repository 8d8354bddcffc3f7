"""Minimum spanning forests: whole edge lists against Kruskal, weights against two libraries."""

import itertools
import pickle

import igraph
import networkx as nx
import numpy as np
import pytest
from graphs import SHAPES, bundled_graphs, graphs
from hypothesis import given, settings
from searches import EMULATED_RUNTIMES

import clgraph as cg
from clgraph.algorithms.spanning_forest.keys import band_limits, order_keys
from clgraph.algorithms.spanning_forest.verify import verify_spanning_forest

on_both = pytest.mark.runtimes("pocl", "intel")
CONFIGS = (*cg.SpanningForestConfig.presets(), cg.SpanningForestConfig(bands=5, light=1))
KINDS = ("int32", "uint32", "float32", "int64", "float64")


def kruskal(graph):
    """Places of the forest's edges, the first of equal weights before others; and trees."""
    weights = np.zeros(graph.m) if graph.weights is None else graph.weights
    sources = np.repeat(np.arange(graph.n), graph.degrees)
    above = list(range(graph.n))

    def root(v):
        while above[v] != v:
            above[v] = above[above[v]]
            v = above[v]
        return v

    chosen = []
    for edge in np.argsort(weights, kind="stable").tolist():
        u, v = root(int(sources[edge])), root(int(graph.indices[edge]))
        if u != v:
            above[max(u, v)] = min(u, v)
            chosen.append(edge)
    return sorted(chosen), graph.n - len(chosen)


def weighted(graph, kind, distinct=50):
    """Weights that are the same in both directions, many of them equal."""
    sources = np.repeat(np.arange(graph.n), graph.degrees)
    low, high = np.minimum(sources, graph.indices), np.maximum(sources, graph.indices)
    weights = (low * 7919 + high * 104729) % distinct
    if np.dtype(kind).kind != "u":
        weights -= distinct // 3
    weights = weights.astype(kind)
    if np.dtype(kind).itemsize == 8:  # more than 32 bits tell apart
        weights *= np.array(2**40 + 1, kind)
        weights += (low % 3).astype(kind)
    return cg.Graph(graph.indptr, graph.indices, weights, directed=graph.directed)


def check(graph, result):
    edges, trees = kruskal(graph)
    np.testing.assert_array_equal(result.edges, edges)
    assert result.edges.dtype == np.int64
    assert result.count == trees
    labels = cg.connected_components(graph, device="cpu").labels
    np.testing.assert_array_equal(result.labels, labels)
    assert result.mask.sum() == len(edges)


@on_both
@pytest.mark.parametrize("name", SHAPES)
def test_shapes_without_weights(name, device):
    check(SHAPES[name], cg.minimum_spanning_forest(SHAPES[name], device=device, verify=True))


@on_both
@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_every_configuration_finds_the_same_forest(config, device):
    for shape in ("power-law", "one-way-random", "parallel-edges"):
        graph = weighted(SHAPES[shape], "int32")
        plan = cg.SpanningForest(graph, config=config, device=device)
        for _ in range(2):
            check(graph, plan.run())


@pytest.mark.runtimes(*EMULATED_RUNTIMES)
@pytest.mark.parametrize("config", ["filtered", "stepwise"])
def test_emulated_lanes(config, device):
    graph = weighted(SHAPES["power-law"], "float32")
    check(graph, cg.minimum_spanning_forest(graph, config=config, device=device))
    hub = SHAPES["hub"]
    check(hub, cg.minimum_spanning_forest(hub, config=config, device=device))


@pytest.mark.parametrize("kind", KINDS)
def test_weights_of_every_type_against_two_libraries(kind, any_device):
    graph = weighted(SHAPES["power-law"], kind, distinct=2000)
    result = cg.minimum_spanning_forest(graph, device=any_device, verify=True)
    check(graph, result)
    sources, targets, weights = graph.listed_edges()
    theirs = igraph.Graph(n=graph.n, edges=np.column_stack([sources, targets]))
    tree = theirs.spanning_tree(weights=weights.astype(float).tolist(), return_tree=False)
    assert result.weight == pytest.approx(float(weights.astype(float)[tree].sum()))
    other = nx.Graph()
    other.add_weighted_edges_from(
        zip(sources.tolist(), targets.tolist(), weights.tolist(), strict=True)
    )
    expected = sum(data["weight"] for *_, data in nx.minimum_spanning_edges(other, data=True))
    assert result.weight == pytest.approx(expected)
    if np.dtype(kind).kind in "iu":
        assert type(result.weight) is int
        assert result.weight == expected


@on_both
@given(graph=graphs(max_vertices=40, weighted=True))
@settings(max_examples=40)
def test_random_graphs(device, graph):
    check(graph, cg.minimum_spanning_forest(graph, device=device))


@on_both
@pytest.mark.parametrize("name", [name for name, _ in bundled_graphs()][:3])
def test_real_graphs(name, device):
    graph = weighted(dict(bundled_graphs())[name](), "float64", distinct=10**6)
    check(graph, cg.minimum_spanning_forest(graph, device=device))


def test_keys_are_in_the_order_of_weights():
    for kind in KINDS:
        for weights in (
            np.array([0, 3, 1, 3, 2], kind),
            np.array([2**31 + 5, 7, 0], kind) if kind in {"int64", "float64"} else [],
            np.array([-0.0, 0.0, -1.5, 1e-40, 1e30], kind) if kind[0] == "f" else [],
            np.array([-(2**62), 5, 2**62], kind) if kind == "int64" else [],
            np.array([0.1, 1e300, -1e300, 0.1 + 1e-16], kind) if kind == "float64" else [],
        ):
            values = np.asarray(weights, kind)
            keys = order_keys(values)
            assert keys.dtype == np.uint32
            less, equal = values[:, None] < values, values[:, None] == values
            np.testing.assert_array_equal(keys[:, None] < keys, less)
            np.testing.assert_array_equal(keys[:, None] == keys, equal)


@pytest.mark.parametrize("keys", [None, np.arange(1000) ** 2 % 177, np.zeros(1000, int)])
def test_bands_have_every_edge_once(keys):
    keys = None if keys is None else keys.astype(np.uint32)
    for count in (1, 2, 7):
        bands = band_limits(keys, 1000, count, 0.05)
        assert len(bands) <= count
        assert sum(edges for *_, edges in bands) == 1000
        assert bands[0][0] == 0
        assert bands[-1][1] == 2**32 - 1
        for before, after in itertools.pairwise(bands):
            assert after[0] == before[1] + 1
        for least, most, edges in bands:
            those = np.arange(1000) if keys is None else keys
            assert edges == ((those >= least) & (those <= most)).sum() > 0


def test_results_outlive_the_next_run_and_are_copied(any_device):
    graph = weighted(SHAPES["power-law"], "int32")
    plan = cg.SpanningForest(graph, device=any_device)
    told = []
    first = plan.run(progress=lambda *what: told.append(what))
    second = plan.run()
    copy = pickle.loads(pickle.dumps(first))  # noqa: S301
    np.testing.assert_array_equal(first.edges, second.edges)
    np.testing.assert_array_equal(copy.edges, second.edges)
    np.testing.assert_array_equal(copy.labels, second.labels)
    assert copy.weight == second.weight == graph.weights[second.edges].sum()
    assert told[-1] == (1, 1, "joining")
    assert told[0][1:] == (graph.n, "joining")
    stats = second.stats
    assert stats.kernel_ms > 0
    assert stats.launches > 2 * stats.levels > 0
    assert stats.device_bytes >= 28 * graph.n
    tree = first.to_graph()
    assert tree.m == 2 * first.edges.size
    again = cg.minimum_spanning_forest(tree, device=any_device)
    assert (again.weight, again.count) == (first.weight, first.count)


@on_both
@pytest.mark.parametrize("config", ["boruvka", "stepwise"])
def test_the_tree_of_a_hub_makes_no_offers(config, device):
    """The hub's lightest edge leads to a vertex that has a lighter one, and waits for its tree."""
    leaves = np.arange(3, 40)
    src = np.concatenate([[0, 1], np.zeros_like(leaves)])
    dst = np.concatenate([[1, 2], leaves])
    weights = np.concatenate([[2, 1], leaves])
    graph = cg.from_edges(src, dst, weights, symmetrize=True)
    found = cg.SpanningForest(graph, config=config, device=device).run(verify=True)
    assert found.edges.size == graph.n - 1
    assert found.stats.rounds == [graph.m // 2, 1]


def test_a_plan_launches_as_many_rounds_as_it_needed(pocl):
    """The first run looks after 4 and 8 more, and numbers trees twice; the next looks once."""
    graph = cg.generate.path(3000)
    weights = np.random.default_rng(4).permutation(3000)
    sources = np.repeat(np.arange(graph.n), graph.degrees)
    weights = weights[np.minimum(sources, graph.indices)].astype(np.int32)
    graph = cg.Graph(graph.indptr, graph.indices, weights, directed=False)
    plan = cg.SpanningForest(graph, config="boruvka", device=pocl)
    first, second = plan.run(), plan.run()
    for found in (first, second):
        check(graph, found)
        assert found.stats.rounds == first.stats.rounds
    rounds = len(first.stats.rounds)
    assert 4 < rounds < 12
    ends = 2  # roots of all, and their numbers
    assert first.stats.launches == 1 + 2 * 12 + 2 * ends
    assert second.stats.launches == 1 + 2 * (rounds + 1) + ends


def test_a_hub_makes_the_first_band_light(any_device):
    star = cg.generate.star(300)
    assert cg.SpanningForest(star, device=any_device).config.light == 1
    even = cg.generate.complete(20)
    assert cg.SpanningForest(even, device=any_device).config.light == 4
    asked = cg.SpanningForestConfig(light=9)
    assert cg.SpanningForest(star, config=asked, device=any_device).config.light == 9


def test_verification_finds_what_is_wrong(any_device):
    cycle = cg.from_edges([0, 1, 2], [1, 2, 0], [1, 2, 3], symmetrize=True)
    result = cg.minimum_spanning_forest(cycle, device=any_device, verify=True)
    assert result.weight == 3
    right, labels = result.edges, result.labels
    heaviest = int(np.flatnonzero(cycle.weights == 3)[0])
    for edges, words in (
        ([right[0], heaviest], "left out"),
        ([right[0], right[0]], "cannot join"),
        ([right[0]], "cannot join"),
        ([right[0], cycle.m - 1 - right[0]], "close a cycle|left out"),
    ):
        result._edges._values, result._labels._values = np.sort(np.array(edges)), labels
        vars(result).pop("mask", None)
        with pytest.raises(cg.VerificationError, match=words):
            verify_spanning_forest(cycle, result, any_device)
    result._edges._values, result._labels._values = right, np.array([0, 0, 1], np.int32)
    with pytest.raises(cg.VerificationError, match="components"):
        verify_spanning_forest(cycle, result, any_device)


def test_what_is_refused(any_device):
    indptr = np.broadcast_to(np.int64(0), 2**31 + 1)
    huge = cg.Graph.trusted((indptr, np.zeros(0, np.int32), None), directed=True)
    with pytest.raises(cg.InvalidGraphError, match="fewer than"):
        cg.minimum_spanning_forest(huge, device=any_device)
    path = cg.generate.path(4)
    for wrong, words in (({"bands": 0}, "bands"), ({"minimum": "least"}, "minimum")):
        with pytest.raises(cg.InvalidArgumentError, match=words):
            cg.SpanningForestConfig(**wrong)
    with pytest.raises(cg.InvalidArgumentError, match="preset"):
        cg.SpanningForest(path, config="kruskal", device=any_device)


def test_without_vertices_or_edges(any_device):
    for n in (0, 1, 5):
        graph = cg.Graph(np.zeros(n + 1, int), [], directed=False)
        result = cg.minimum_spanning_forest(graph, device=any_device, verify=True)
        assert (result.count, result.edges.size, result.weight) == (n, 0, 0)
        assert result.labels.tolist() == list(range(n))
