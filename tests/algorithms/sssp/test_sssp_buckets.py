"""Shortest paths by buckets, without steps: whole results against scipy, and what may go wrong."""

import dataclasses

import numpy as np
import pytest
from configs import changed, sssp_config
from graphs import SHAPES, graphs
from hypothesis import given, settings
from hypothesis import strategies as st
from paths import DTYPES, check_paths, weighted
from searches import MIXED, MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES, MIXED_SOURCES, SEARCH_RUNTIMES

import clgraph as cg
from clgraph.algorithms.sssp import buckets as sssp_buckets
from clgraph.algorithms.sssp import plan as sssp_module
from clgraph.algorithms.sssp.weights import Weights

# Intel's compiler takes ten seconds over one of these kernels: it sees the default rendering only.
pytestmark = pytest.mark.runtimes("pocl")
on_both = pytest.mark.runtimes(*SEARCH_RUNTIMES)

BUCKETS = sssp_config(method="asynchronous")


@on_both
def test_awkward_shapes(device):
    """Issue 4, asynchronous: whole results and trees, unreached vertices."""
    for shape in SHAPES.values():
        graph = weighted(shape)
        plan = cg.SSSP(graph, predecessors=True, config=BUCKETS, device=device)
        for source in sorted({0, 1 % graph.n, graph.n // 2, graph.n - 1}):
            check_paths(graph, source, plan.run(source, verify=True))


@pytest.mark.parametrize("dtype", DTYPES)
def test_types_of_weights(dtype, device):
    for graph, sources in ((MIXED, MIXED_SOURCES), (MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES)):
        costly = weighted(graph, dtype, 0, 40)
        plan = cg.SSSP(costly, predecessors=True, config=BUCKETS, device=device)
        for source in sources:
            check_paths(costly, source, plan.run(source, verify=True))


@st.composite
def cases(draw):
    """A graph with few and small weights, and a width of buckets."""
    graph = draw(graphs(max_vertices=60, max_edges=200))
    low = draw(st.sampled_from((0, 1)))
    costly = weighted(graph, np.int32, low, low + draw(st.sampled_from((1, 3, 1000))), 1)
    return costly, draw(st.sampled_from((None, 1, 7, 10**6)))


@on_both
@given(cases(), st.data())
@settings(max_examples=60)
def test_random_graphs(device, case, data):
    graph, delta = case
    source = data.draw(st.integers(0, graph.n - 1))
    config = changed(BUCKETS, delta=delta)
    result = cg.sssp(graph, source, predecessors=True, config=config, device=device, verify=True)
    check_paths(graph, source, result)


def test_any_width(device):
    """Widths from 1 to beyond the longest path, and gaps that no bucket lies in."""
    for delta in (1, 7, 60, 500, 10**7):
        config = changed(BUCKETS, delta=delta)
        for graph in (weighted(MIXED, np.int32, 1, 90), weighted(cg.generate.grid2d(40, 30))):
            check_paths(graph, 0, cg.sssp(graph, 0, config=config, device=device))
        apart = cg.from_edges([0, 1, 2], [1, 2, 3], np.array([1, 2**29, 3], np.int32))
        result = cg.sssp(apart, 0, config=config, device=device)
        assert result.distances.tolist() == [0, 1, 2**29 + 1, 2**29 + 4]


@on_both
def test_several_sources(device):
    graph = weighted(MIXED_ONE_WAY, np.int32, 0, 50)
    plan = cg.SSSP(graph, predecessors=True, config=BUCKETS, device=device)
    rng = np.random.default_rng(2)
    for count in (1, 2, 40, graph.n):
        sources = rng.choice(graph.n, count, replace=False).tolist()
        result = plan.run([*sources, sources[0]], verify=True)
        check_paths(graph, sources, result)


@on_both
def test_max_distance_and_target(device):
    """Searches that end early leave entries behind, which the next search must not find."""
    graph = weighted(cg.generate.grid2d(40, 25), np.int32, 1, 60)
    plan = cg.SSSP(graph, predecessors=True, config=BUCKETS, device=device)
    for limit in (0, 1, 59, 300, 301.5, 10**12):
        result = plan.run(7, max_distance=limit, verify=True)
        check_paths(graph, 7, result, max_distance=limit)
    for target in (7, 8, 400, 999):
        result = plan.run(7, target=target, verify=True)
        check_paths(graph, 7, result, target=target)
        check_paths(graph, 7, plan.run(7, verify=True))


def test_a_near_target_stops_early(device):
    graph = weighted(cg.generate.grid2d(150, 150), np.int32, 1, 60)
    plan = cg.SSSP(graph, config=BUCKETS, device=device)
    near, all_of_it = plan.run(0, target=3), plan.run(0)
    assert near.stats.relaxations < all_of_it.stats.relaxations / 10


def test_zero_weights_make_trees(device):
    rng = np.random.default_rng(5)
    for share in (0.5, 1.0):
        src, dst = rng.integers(0, 300, (2, 1500))
        costs = np.where(rng.random(1500) < share, 0, rng.integers(1, 9, 1500)).astype(np.int32)
        graph = cg.from_edges(src, dst, costs, n=300)
        result = cg.sssp(graph, 0, predecessors=True, config=BUCKETS, device=device, verify=True)
        check_paths(graph, 0, result)


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64])
def test_paths_too_long_for_their_type(dtype, device):
    half = np.iinfo(dtype).max // 2
    costs = np.array([half, half, 2, 5], dtype)
    plan = cg.SSSP(
        cg.from_edges([0, 1, 2, 0], [1, 2, 3, 4], costs, n=6), config=BUCKETS, device=device
    )
    with pytest.raises(OverflowError, match=r"edge 2 -> 3 is longer than"):
        plan.run(0)
    assert plan.run(0, max_distance=half).distances[1] == half
    assert plan.run(2).distances[3] == 2


@pytest.mark.parametrize("fields", [{"reach": 0}, {"reach": 3, "buckets": 4, "keep": 1}])
def test_dimensions(fields, device):
    graph = weighted(cg.generate.kron(9, 16, seed=3), np.int32, 0, 100)
    config = changed(BUCKETS, delta=9, **fields)
    check_paths(graph, 1, cg.sssp(graph, 1, predecessors=True, config=config, device=device))


def test_stepped_gives_the_same(device):
    graph = weighted(MIXED, np.int32, 0, 30)
    config = changed(BUCKETS, synchronisation="stepped")
    result = cg.sssp(graph, 5, predecessors=True, config=config, device=device)
    assert result.stats.mode == "stepped"
    check_paths(graph, 5, result)


@pytest.fixture
def plan_with(monkeypatch):
    """Make plans some of whose decisions are others."""
    resolve = sssp_module.resolve_paths

    def make(graph, device, **changes):
        def changed(*args):
            return dataclasses.replace(resolve(*args), **changes)

        monkeypatch.setattr(sssp_module, "resolve_paths", changed)
        return cg.SSSP(graph, predecessors=True, config=BUCKETS, device=device)

    return make


@on_both
def test_rings_that_are_full_cost_time_only(device, monkeypatch, plan_with):
    """Everyone who was reached is expanded anew, again and again, until the rings suffice."""
    monkeypatch.setattr(sssp_buckets, "LEAST_QUEUE", 2)
    monkeypatch.setattr(sssp_buckets, "ROOM", 0)
    for graph in (weighted(cg.generate.kron(9, 16, seed=3)), weighted(cg.generate.grid2d(30, 30))):
        plan = plan_with(graph, device, delta=5.0)
        for source in (1, graph.n // 2):
            result = plan.run(source, verify=True)
            check_paths(graph, source, result)
            assert "far" in result.stats.per_level["direction"]


def test_groups_that_leave_and_come_back(device, plan_with):
    """A stage that is over before the search is hands everything on; a launch may pause there."""
    graph = weighted(cg.generate.grid2d(60, 60), np.int32, 0, 60)
    plan = plan_with(graph, device, iteration_limit=32, spin_rounds=4, launch_work=3000)
    for source in (0, graph.n // 2):
        result = plan.run(source, verify=True)
        check_paths(graph, source, result)
        assert result.stats.levels > 2
        assert result.stats.launches > 2


@pytest.mark.rest
@pytest.mark.parametrize("dtype", [np.int32, np.float64])
def test_buckets_become_wider_and_narrower_in_a_search(dtype, device, plan_with):
    """Issue 4: delta adapted while running; a target keeps the order that it needs."""
    graph = weighted(cg.generate.grid2d(70, 60), dtype, 0, 60)
    for least, most in ((0, 0), (101, 102)):  # always wider, always narrower
        plan = plan_with(graph, device, period=2, idle_least=least, idle_most=most, delta=40.0)
        for source in (0, graph.n // 2):
            check_paths(graph, source, plan.run(source, verify=True))
            for target in (1, 30):
                result = plan.run(source, target=target, verify=True)
                check_paths(graph, source, result, target=target)


def test_who_is_searched_by_buckets(pocl):
    """Where groups go on together and it was seen to pay: few edges per vertex, and no hub."""
    other = dataclasses.replace(pocl.traits, grid_barrier=True, lanes=32, is_cpu=False)
    wide = dataclasses.replace(other, compute_capability=(9, 0))
    sparse, dense = weighted(cg.generate.grid2d(20, 10)), weighted(cg.generate.kron(9, 32, seed=1))
    hub = weighted(cg.generate.star(3000))

    def method(graph, traits=wide, **fields):
        config = sssp_config(**fields)
        return sssp_module.resolve_paths(config, traits, graph, Weights(graph)).method.name

    assert method(sparse) == method(sparse, synchronisation="stepped") == "asynchronous"
    assert method(sparse, other) == method(dense, other) == method(hub, other) == "near-far"
    assert method(sparse, pocl.traits) == method(sparse, delta=3) == "near-far"
    assert "asynchronous" not in {method(dense), method(hub)}
    assert method(hub, method="asynchronous") == "near-far"
    assert method(hub, method="asynchronous", adapt=True) == "near-far"
    for graph, fields in ((hub, {"keep": 8}), (dense, {})):
        assert method(graph, method="asynchronous", **fields) == "asynchronous"
    for fields, adapts in (({}, False), ({"method": "asynchronous", "adapt": True}, True)):
        config = sssp_config(**fields)
        resolved = sssp_module.resolve_paths(config, wide, sparse, Weights(sparse))
        assert bool(resolved.period) == adapts
    leaning = cg.from_edges([0, 1], [1, 2], np.array([1, -4], np.int32))
    assert method(leaning) == "bellman-ford"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"buckets": 12}, "buckets=12 is not a power of two"),
        ({"buckets": 2}, "buckets=2 is out of range"),
        ({"reach": 32}, "reach=32 is out of range"),
        ({"keep": 0}, "keep=0 is out of range"),
        ({"method": "asynchronous", "adapt": 3}, "adapt=3 is neither True nor False"),
        (
            {"method": "near-far", "adapt": True},
            "method.adapt is of asynchronous, and method is 'near-far'",
        ),
        ({"method": "near-far", "keep": 3}, "method.keep is of asynchronous"),
    ],
)
def test_illegal_dimensions(fields, words):
    with pytest.raises(cg.InvalidArgumentError, match=words):
        sssp_config(**{"method": "asynchronous", **fields})


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"balance": "dyn_vwarp"}, "choose one of item_thread, vwarp"),
    ],
)
def test_unfit_dimensions(fields, words, intel):
    with pytest.raises(TypeError, match="claims"):
        cg.method.Asynchronous(claims="packed")  # by stages, of which it has none
    with pytest.raises(cg.InvalidArgumentError, match=words):
        cg.SSSP(weighted(MIXED), config=changed(BUCKETS, **fields), device=intel)
