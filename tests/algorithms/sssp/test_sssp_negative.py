"""Negative weights, edge classes and cycles: the method of Bellman and Ford by a frontier."""

import numpy as np
import pytest
from configs import sssp_config
from graphs import graphs
from hypothesis import given, settings
from hypothesis import strategies as st
from paths import check_paths, expected_lengths, weighted
from searches import MIXED, MIXED_ONE_WAY, SEARCH_RUNTIMES

import clgraph as cg
from clgraph.algorithms.sssp.weights import Weights

pytestmark = pytest.mark.runtimes("pocl")

CLASSES = ("self", "in-degree-1", "leaf", "source")


def h_bf(*classes):
    return sssp_config(method="bellman-ford", edge_classes=classes)


def leaning(graph, dtype=np.int32, seed=3):
    """Weights of which many are negative, though no cycle is: small ones moved by potentials."""
    rng = np.random.default_rng(seed)
    potentials = rng.integers(-40, 40, graph.n)
    sources = np.repeat(np.arange(graph.n), graph.degrees)
    costs = rng.integers(0, 30, graph.m) + potentials[graph.indices] - potentials[sources]
    return cg.Graph(graph.indptr, graph.indices, costs.astype(dtype), directed=True)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
def test_negative_weights(dtype, device):
    """sssp-hbf checklist 1, 9 and 20: as Bellman-Ford on a processor, in every signed type."""
    for seed, shape in enumerate((MIXED_ONE_WAY, MIXED)):
        graph = leaning(shape, dtype, seed)
        assert (graph.weights < 0).sum() > graph.m / 5
        for config in ("h-bf", None):
            result = cg.sssp(graph, 2, predecessors=True, config=config, device=device, verify=True)
            check_paths(graph, 2, result)


@pytest.mark.runtimes(*SEARCH_RUNTIMES)
@given(graphs(max_vertices=30, max_edges=60, directed=True), st.data())
@settings(max_examples=80)
def test_random_signs(device, graph, data):
    """sssp-hbf checklist 1, 5 and 17: right distances, or a cycle that is one."""
    values = data.draw(st.lists(st.integers(-6, 20), min_size=graph.m, max_size=graph.m))
    costs = np.array(values, np.int32)
    graph = cg.Graph(graph.indptr, graph.indices, costs)
    if expected_lengths(graph, 0) is not None:
        check_paths(graph, 0, cg.sssp(graph, 0, predecessors=True, config="h-bf", device=device))
        return
    with pytest.raises(cg.NegativeCycleError) as caught:
        cg.sssp(graph, 0, predecessors=True, config="h-bf", device=device)
    check_cycle(graph, caught.value.cycle)


def check_cycle(graph, cycle):
    total, matrix = 0, {}
    sources = np.repeat(np.arange(graph.n), graph.degrees)
    for u, v, cost in zip(sources, graph.indices, graph.weights, strict=True):
        matrix[u, v] = min(cost, matrix.get((u, v), cost))
    for u, v in zip(cycle, (*cycle[1:], cycle[0]), strict=True):
        total += matrix[u, v]
    assert total < 0
    assert len(set(cycle)) == len(cycle)


def test_a_negative_cycle_is_named(device):
    """sssp-hbf checklist 5 and 17: also far away, also a self-loop, never one out of reach."""
    ring = np.arange(400)
    costs = np.full(400, 3, np.int32)
    costs[[397, 398, 399]] = 5, -9, 3
    src, dst = np.append(ring, 399), np.append(np.append(ring[1:], 397), 397)
    graph = cg.from_edges(src, dst, np.append(costs, 100), n=500)
    with pytest.raises(cg.NegativeCycleError, match=r"cycle 39\d -> 39\d -> 39\d -> 39\d, whose"):
        cg.sssp(graph, 0, device=device)
    own = cg.from_edges([0, 1, 1, 2], [1, 1, 2, 3], np.array([2, -1, 4, 4], np.int32))
    with pytest.raises(cg.NegativeCycleError, match="cycle 1 -> 1, whose") as caught:
        cg.sssp(own, 0, config="h-bf", device=device)
    assert isinstance(caught.value, ValueError)
    assert caught.value.cycle == (1,)
    result = cg.sssp(own, 2, config="h-bf", device=device)
    assert result.distances.tolist()[2:] == [0, 4]


@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_a_long_way_with_negative_weights_is_no_cycle(dtype, device):
    """sssp-hbf checklist 17: many rounds; looking for a cycle in vain is not quadratic."""
    n = 60_000
    path = cg.generate.path(n)
    costs = np.where(np.repeat(np.arange(n), path.degrees) < path.indices, -2, 3)
    graph = cg.Graph(path.indptr, path.indices, costs.astype(dtype))
    result = cg.sssp(graph, 0, predecessors=True, device=device, verify=True)
    np.testing.assert_array_equal(result.distances, -2 * np.arange(n))
    np.testing.assert_array_equal(result.predecessors, np.r_[0, : n - 1])


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32])
def test_a_cycle_of_many_edges_is_named(dtype, device):
    """sssp-hbf checklist 17: found where the search has been around it, not edge by edge."""
    n = 20_000
    ring, costs = np.arange(n), np.ones(n, dtype)
    costs[n // 3] = -n
    graph = cg.from_edges(ring, (ring + 1) % n, costs, n=n)
    with pytest.raises(cg.NegativeCycleError) as caught:
        cg.sssp(graph, 5, device=device)
    assert len(caught.value.cycle) == n
    check_cycle(graph, caught.value.cycle)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("least", [0, -1])
def test_lengths_are_what_keys_were_made_of(dtype, least):
    graph = cg.from_edges([0, 1, 1], [1, 0, 1], np.array([least, 7, 0], dtype))
    weights = Weights(graph)
    lengths = np.array([0, 1, 2.5, 1000, *([-1, -0.5, -77] if least else [])]).astype(dtype)
    lengths = np.append(lengths, weights.unreached)
    keys = np.array([weights.key(length) for length in lengths], f"u{lengths.itemsize}")
    np.testing.assert_array_equal(weights.lengths(keys), lengths)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounding_around_a_cycle_of_weight_zero_is_no_negative_cycle(dtype, device):
    """sssp-hbf checklist 17 and 20: each edge has its opposite, so every cycle adds up to zero."""
    n = 600
    costs = np.random.default_rng(1).normal(size=n - 1).astype(dtype)
    ends = np.arange(n - 1), np.arange(1, n)
    graph = cg.from_edges(np.r_[ends], np.r_[ends[::-1]], np.r_[costs, -costs], n=n)
    with pytest.raises(cg.ClgraphError, match="add up to nearly zero"):
        cg.sssp(graph, 0, device=device)
    exact = cg.from_edges([0, 1, 2], [1, 2, 0], np.array([0.3, -0.1, -0.2]))
    with pytest.raises(cg.NegativeCycleError) as caught:  # by 2.8e-17
        cg.sssp(exact, 0, device=device)
    check_cycle(exact, caught.value.cycle)


def test_a_tree_that_rounding_breaks_is_refused(device):
    """sssp-hbf checklist 23: a + w - w is less than a by rounding, and no path is so short."""
    first, there = next(
        (a, w)
        for a, w in zip(*np.random.default_rng(0).random((2, 100)) * [[1], [1000]], strict=True)
        if (a + w) - w < a and ((a + w) - w) + w == a + w
    )
    graph = cg.from_edges([0, 1, 2], [1, 2, 1], np.array([first, there, -there]))
    assert cg.sssp(graph, 0, device=device).reached == 3
    with pytest.raises(cg.ClgraphError, match="vertex 1 is on or behind a cycle whose weights"):
        cg.sssp(graph, 0, predecessors=True, device=device)


def test_sums_below_the_type(device):
    """sssp-hbf checklist 20: OverflowError downwards too."""
    low = np.iinfo(np.int32).min // 2
    graph = cg.from_edges([0, 1, 2], [1, 2, 3], np.array([low, low, -9], np.int32))
    with pytest.raises(OverflowError, match="shorter than int32 holds"):
        cg.sssp(graph, 0, device=device)


def test_negative_weights_and_max_distance(device):
    """A path may rise above the limit and come back."""
    graph = cg.from_edges([0, 1, 2, 0], [1, 2, 3, 3], np.array([90, -85, 1, 50], np.int32))
    result = cg.sssp(graph, 0, max_distance=10, device=device)
    last = np.iinfo(np.int32).max
    assert result.distances.tolist() == [0, last, 5, 6]
    plan = cg.SSSP(graph, predecessors=True, device=device)
    to_two = plan.run(0, target=2, verify=True)
    assert to_two.distances.tolist() == [0, 90, 5, 6]
    assert to_two.path() == [0, 1, 2]
    with pytest.raises(cg.InvalidArgumentError, match="so there is no tree to give"):
        plan.run(0, max_distance=10)


def test_a_source_on_a_cycle_that_only_one_edge_enters(device):
    """sssp-hbf checklist 2: its distance stays zero, and the search ends."""
    ring = np.arange(50)
    graph = cg.from_edges(ring, (ring + 1) % 50, np.full(50, 2, np.int32))
    for classes in ((), ("in-degree-1",), CLASSES):
        result = cg.sssp(graph, 7, config=h_bf(*classes), device=device)
        assert result.distances.tolist() == (2 * ((ring - 7) % 50)).tolist()


def test_parallel_edges_from_the_source(device):
    """sssp-hbf checklist 4: the lighter of two counts, whatever their order."""
    for costs in ([9, 2], [2, 9]):
        src, dst = np.zeros(2000, int), np.repeat(np.arange(1, 1001), 2)
        graph = cg.from_edges(src, dst, np.tile(np.array(costs, np.int32), 1000))
        result = cg.sssp(graph, 0, config="h-bf", device=device)
        assert (result.distances[1:] == 2).all()


@pytest.mark.parametrize("directed", [True, False])
def test_classes_change_work_and_not_results(directed, device):
    """sssp-hbf checklist 5, 6, 7, 8 and 21: each on its own, all, and none."""
    shape = MIXED_ONE_WAY if directed else MIXED
    sources = np.repeat(np.arange(shape.n), shape.degrees)
    loops = np.arange(0, shape.n, 4)
    leaves = np.arange(shape.n, shape.n + 300)
    src = np.concatenate([sources, loops, leaves - shape.n])
    dst = np.concatenate([shape.indices, loops, leaves])
    grown = cg.from_edges(src, dst, n=shape.n + 310, symmetrize=not directed)
    graph, alike = weighted(grown, np.int32, 0, 50), weighted(grown, np.int32, 3, 4)
    work = {}
    # Skipped edges are counted as they are walked; what shrinks is how many vertices are queued: of
    # weights that are alike once each, whoever comes first.
    for classes in ((), *((name,) for name in CLASSES), CLASSES):
        plan = cg.SSSP(graph, predecessors=True, config=h_bf(*classes), device=device)
        for source in (0, int(leaves[5]), graph.n - 1):
            result = plan.run(source, verify=True)
            check_paths(graph, source, result)
        result = cg.sssp(alike, 0, config=h_bf(*classes), device=device)
        work[classes] = result.stats.per_level["frontier"].sum()
    assert work["leaf",] == work[CLASSES] < work[()] == result.reached
    assert work["self",] == work["in-degree-1",] == work["source",] == work[()]


def test_a_star_of_many_leaves(device):
    """sssp-hbf checklist 14: its hub is beyond one group's, with the leaves left in."""
    graph = weighted(cg.generate.star(30000), np.int32)
    for classes in ((), CLASSES):
        config = sssp_config(
            method="bellman-ford", edge_classes=classes, hub_degree=4096, balance="dyn_vwarp"
        )
        check_paths(graph, 3, cg.sssp(graph, 3, config=config, device=device))


def test_frontiers_hold_nobody_twice(device):
    """sssp-hbf checklist 10: never more than n, and of a clique each vertex once a round."""
    graph = weighted(cg.generate.complete(60), np.int32)
    levels = cg.sssp(graph, 0, config=h_bf(), device=device).stats.per_level
    assert levels["frontier"].max() <= 60
    assert levels["frontier"][1] == 59
