"""Shortest paths: whole results against scipy, trees against what makes one right."""

from itertools import pairwise, product

import numpy as np
import pytest
import scipy.sparse
from configs import changed, sssp_config
from graphs import SHAPES, bundled_graphs, graphs, shared_graphs
from hypothesis import given, settings
from hypothesis import strategies as st
from paths import DTYPES, check_paths, expected_lengths, unreached, weighted
from searches import MIXED, MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES, MIXED_SOURCES, SEARCH_RUNTIMES

import clgraph as cg

# PoCL builds one of these kernels in a second or two, Intel's compiler in five.
pytestmark = pytest.mark.runtimes("pocl")
on_both = pytest.mark.runtimes(*SEARCH_RUNTIMES)

PRESETS = ("h-bf", "near-far", "delta-stepping", "asynchronous")
REAL = {**dict(shared_graphs()), **dict(bundled_graphs())}


@on_both
@pytest.mark.parametrize("preset", PRESETS)
def test_awkward_shapes(preset, device):
    """sssp-hbf checklist 1 and 18, sssp-self-tuning 1: whole results, unreached vertices."""
    for shape in SHAPES.values():
        graph = weighted(shape)
        plan = cg.SSSP(graph, predecessors=True, config=preset, device=device)
        for source in sorted({0, 1 % graph.n, graph.n // 2, graph.n - 1}):
            check_paths(graph, source, plan.run(source, verify=True))


@pytest.mark.parametrize("dtype", DTYPES)
def test_types_of_weights(dtype, device):
    """sssp-hbf checklist 20, sssp-self-tuning 25: each type, and distances in it."""
    for graph, sources in ((MIXED, MIXED_SOURCES), (MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES)):
        costly = weighted(graph, dtype, 0, 40)
        plan = cg.SSSP(costly, predecessors=True, device=device)
        for source in sources:
            check_paths(costly, source, plan.run(source, verify=True))


@pytest.mark.parametrize(
    "more", [{}, {"groups": 1}, {"single_group_edges": 1 << 20}, {"single_group": False}]
)
def test_cores_alone_and_together(more, device):
    """What one core does by itself and what all share, and each after the other: the same."""
    graph = weighted(MIXED, np.int32, 0, 40)
    plan = cg.SSSP(graph, predecessors=True, config=sssp_config(**more), device=device)
    assert (plan.config.limits.single_group_edges > graph.m) == (
        "single_group" not in more and more != {}
    )
    for source in MIXED_SOURCES:
        check_paths(graph, source, plan.run(source))


@st.composite
def cases(draw):
    """A graph with few and small weights, so that ties, zeros and repeats abound."""
    graph = draw(graphs(max_vertices=60, max_edges=200))
    low = draw(st.sampled_from((0, 1)))
    return weighted(graph, np.int32, low, low + draw(st.sampled_from((1, 3, 1000))), 1)


@on_both
@given(cases(), st.sampled_from(PRESETS), st.data())
@settings(max_examples=60)
def test_random_graphs(device, graph, preset, data):
    source = data.draw(st.integers(0, graph.n - 1))
    result = cg.sssp(graph, source, predecessors=True, config=preset, device=device, verify=True)
    check_paths(graph, source, result)


@pytest.mark.parametrize("delta", [1, 7, 60, 500, 10**7])
def test_any_delta(delta, device):
    """sssp-self-tuning checklist 1, 5: from 1 to beyond the diameter, gaps between bands."""
    for graph in (weighted(MIXED, np.int32, 1, 90), weighted(cg.generate.grid2d(40, 30))):
        for method in ("near-far", "delta-stepping"):
            config = sssp_config(method=method, delta=delta)
            check_paths(graph, 0, cg.sssp(graph, 0, config=config, device=device))
    apart = cg.from_edges([0, 1, 2], [1, 2, 3], np.array([1, 2**29, 3], np.int32))
    result = cg.sssp(apart, 0, config=sssp_config(delta=delta), device=device)
    assert result.distances.tolist() == [0, 1, 2**29 + 1, 2**29 + 4]
    assert result.stats.levels < 20


@pytest.mark.parametrize("preset", PRESETS)
def test_several_sources(preset, device):
    """sssp-hbf checklist 24: one plan, many starts; the nearest source counts."""
    graph = weighted(MIXED_ONE_WAY, np.int32, 0, 50)
    plan = cg.SSSP(graph, predecessors=True, config=preset, device=device)
    rng = np.random.default_rng(2)
    for count in (1, 2, 40, graph.n):
        sources = rng.choice(graph.n, count, replace=False).tolist()
        result = plan.run([*sources, sources[0]], verify=True)
        assert result.source == (*sources, sources[0])
        check_paths(graph, sources, result)
    check_paths(graph, 3, plan.run(3))


@pytest.mark.parametrize("preset", PRESETS)
def test_zero_weights_make_trees(preset, device):
    """sssp-hbf checklist 3, 23, sssp-self-tuning 16, 24: zero cycles end, and a tree."""
    rng = np.random.default_rng(5)
    for share in (0.5, 1.0):
        src, dst = rng.integers(0, 300, (2, 1500))
        costs = np.where(rng.random(1500) < share, 0, rng.integers(1, 9, 1500)).astype(np.int32)
        graph = cg.from_edges(src, dst, costs, n=300)
        result = cg.sssp(graph, 0, predecessors=True, config=preset, device=device, verify=True)
        check_paths(graph, 0, result)
    path = cg.generate.path(500)
    flat = cg.Graph(path.indptr, path.indices, np.zeros(path.m), directed=False)
    check_paths(flat, 250, cg.sssp(flat, 250, predecessors=True, config=preset, device=device))


def test_absorbed_weights_make_trees(device):
    """Weights below the rounding of a float32 distance are as good as zero."""
    rng = np.random.default_rng(6)
    costs = np.where(rng.random(2000) < 0.5, 1e-6, 1e6).astype(np.float32)
    graph = cg.from_edges(*rng.integers(0, 250, (2, 2000)), costs, n=250)
    for delta in (None, 1e-7, 1e5):
        for method in ("near-far", "delta-stepping"):
            config = sssp_config(method=method, delta=delta)
            check_paths(graph, 0, cg.sssp(graph, 0, config=config, device=device))
    result = cg.sssp(graph, 0, predecessors=True, device=device, verify=True)
    check_paths(graph, 0, result)


@pytest.mark.parametrize("preset", PRESETS)
def test_max_distance_and_target(preset, device):
    graph = weighted(cg.generate.grid2d(40, 25), np.int32, 1, 60)
    plan = cg.SSSP(graph, predecessors=True, config=preset, device=device)
    for limit in (0, 1, 59, 300, 301.5, 10**12):
        result = plan.run(7, max_distance=limit, verify=True)
        check_paths(graph, 7, result, max_distance=limit)
    for target in (7, 8, 400, 999):
        result = plan.run(7, target=target, verify=True)
        check_paths(graph, 7, result, target=target)
        path = result.path()
        assert (path[0], path[-1]) == (7, target)
        steps = [graph.to_scipy()[u, v] for u, v in pairwise(path)]
        assert sum(steps) == result.distances[target]
    lone = weighted(MIXED)
    result = cg.sssp(lone, MIXED_SOURCES[0], target=MIXED_SOURCES[-1], device=device)
    check_paths(lone, MIXED_SOURCES[0], result)  # no way there: everything else is found


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_max_distance_without_a_tree(dtype, preset, device):
    """Distances that are right where they are searched have no last stage, which would cut them.

    On devices with lanes those of 64 bits are: beside a round, as others are kept, is no room.
    """
    ends = np.random.default_rng(4).integers(0, 300, (2, 900))
    graph = weighted(cg.from_edges(*ends, n=300), dtype, 1, 60)
    source = int(np.argmax(graph.degrees))
    plan = cg.SSSP(graph, config=preset, device=device)
    lengths = expected_lengths(graph, source)
    for limit in (0, 40, 90):
        check_paths(graph, source, plan.run(source, max_distance=limit), max_distance=limit)
    # Leaves, which have a stage of their own, lie one edge behind what is within a limit.
    beyond = (graph.degrees == 0) & (lengths > limit) & (lengths <= limit + 60)
    assert graph.to_scipy()[lengths <= limit][:, beyond].nnz > 0


def test_a_limit_spares_what_is_beyond_it(device):
    graph = weighted(cg.generate.grid2d(150, 150), np.int32, 1, 60)
    plan = cg.SSSP(graph, device=device)
    near, all_of_it = plan.run(0, max_distance=300), plan.run(0)
    assert near.stats.relaxations < all_of_it.stats.relaxations / 10


def test_a_near_target_stops_early(device):
    graph = weighted(cg.generate.grid2d(150, 150), np.int32, 1, 60)
    plan = cg.SSSP(graph, device=device)
    near, all_of_it = plan.run(0, target=3), plan.run(0)
    assert near.stats.relaxations < all_of_it.stats.relaxations / 10
    assert near.stats.levels < all_of_it.stats.levels / 4


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64])
def test_paths_too_long_for_their_type(dtype, device):
    """sssp-hbf checklist 20, sssp-self-tuning 25: OverflowError, never a wrapped sum."""
    most = np.iinfo(dtype).max
    half = most // 2
    costs = np.array([half, half, 2, 5], dtype)
    graph = cg.from_edges([0, 1, 2, 0], [1, 2, 3, 4], costs, n=6)
    plan = cg.SSSP(graph, device=device)
    with pytest.raises(OverflowError, match=r"edge 2 -> 3 is longer than"):
        plan.run(0)
    assert plan.run(0, max_distance=half).distances.tolist() == [0, half, most, most, 5, most]
    assert plan.run(0, target=1).distances[1] == half
    assert plan.run(2).distances.tolist() == [most, most, 0, 2, most, most]
    detour = cg.from_edges([0, 1, 2, 0], [1, 2, 3, 3], costs, n=4)
    assert cg.sssp(detour, 0, device=device).distances.tolist() == [0, half, 2 * half, 5]


def test_an_edge_beyond_the_longest_path_does_not_wrap(device):
    """sssp-hbf checklist 20: a path of n - 1 edges fits the type, the edge that closes it not."""
    half = np.iinfo(np.uint32).max // 2
    graph = cg.from_edges([0, 1, 2], [1, 2, 1], np.array([half, half, half], np.uint32))
    assert cg.sssp(graph, 0, device=device).distances.tolist() == [0, half, 2 * half]


def test_limits_of_every_kind_of_number(device):
    big = 2**53 + 1
    graph = cg.from_edges([0, 1, 2], [1, 2, 3], np.array([big, 1, 2**63 - 5], np.int64))
    plan = cg.SSSP(graph, device=device)
    far = plan.unreached
    for limit in (np.int64(big), big, np.array(big), np.uint64(big)):
        assert plan.run(0, max_distance=limit).distances.tolist() == [0, big, far, far]
    for limit in (np.inf, 10**400, 2**63 - 1):
        with pytest.raises(OverflowError, match="edge 2 -> 3 is longer than"):
            plan.run(0, max_distance=limit)
    assert plan.run(0, max_distance=2**63 - 2).distances.tolist() == [0, big, big + 1, far]
    real = cg.from_edges([0, 1], [1, 2], np.array([1, 1], np.float32))
    assert cg.sssp(real, 0, max_distance=10**400, device=device).reached == 3
    falling = cg.SSSP(cg.from_edges([0, 1], [1, 2], np.array([-1, 1], np.int32)), device=device)
    assert falling.run(0, max_distance=-np.inf).reached == 0
    assert falling.run(0, max_distance=-(10**400)).reached == 0
    assert falling.run(0, max_distance=-0.5).distances.tolist()[1] == -1
    falling = cg.SSSP(cg.from_edges([0, 1], [1, 2], np.array([-1, 1], np.float32)), device=device)
    assert falling.run(0, max_distance=-(10**400)).reached == 0


def test_float_sums_beyond_the_type_are_refused(device):
    """They would be infinite, which stands for no path."""
    costs = np.array([2e38, 2e38, 1], np.float32)
    with pytest.raises(OverflowError, match=r"edge 1 -> 2 is longer than float32 holds"):
        cg.sssp(cg.from_edges([0, 1, 2], [1, 2, 3], costs), 0, device=device)


def test_the_longest_lengths_a_type_holds(device):
    for dtype in (np.int32, np.uint32, np.int64):
        last = np.iinfo(dtype).max - 1
        graph = cg.from_edges([0, 1], [1, 2], np.array([last, 0], dtype))
        assert cg.sssp(graph, 0, device=device).distances.tolist() == [0, last, last]


@pytest.mark.parametrize("name", [name for name in REAL if "road" in name or "wiki" in name])
def test_real_graphs(name, device):
    graph = REAL[name]()
    if graph.weights is None:
        graph = weighted(graph, np.int32)
    plan = cg.SSSP(graph, predecessors=True, device=device)
    check_paths(graph, 0, plan.run(0, verify=True))


def test_stats_tell_what_was_done(device):
    """sssp-self-tuning checklist 7, as far as fixed delta goes; API.md's stats."""
    graph = weighted(cg.generate.grid2d(60, 60), np.int32, 1, 60)
    stats = cg.sssp(graph, 0, device=device).stats
    table = stats.per_level
    assert len(table) == stats.levels
    assert set(table["direction"]) == {"near", "far"}
    near = table[table["direction"] == "near"]
    assert near["edges"].sum() == stats.relaxations >= graph.m
    assert near["frontier"][0] == 1
    assert near["frontier"].sum() >= graph.n
    assert stats.edges_traversed == graph.m
    assert stats.kernel_ms > 0
    assert stats.total_ms > 0
    assert stats.teps == pytest.approx(1e3 * graph.m / stats.kernel_ms)
    assert stats.config.method.name == "near-far"
    assert stats.mode == "persistent"


@pytest.mark.parametrize(("preset", "single_group"), list(product(PRESETS, [True, False])))
def test_stepped_gives_the_same(preset, single_group, device):
    graph = weighted(MIXED, np.int32, 0, 30)
    config = changed(
        cg.SSSPConfig.preset(preset), synchronisation="stepped", single_group=single_group
    )
    result = cg.sssp(graph, 5, predecessors=True, config=config, device=device)
    assert result.stats.mode == "stepped"
    check_paths(graph, 5, result)


@pytest.mark.parametrize("claims", ["packed", "stamped"])
def test_both_ways_of_claiming(claims, device):
    """sssp-hbf checklist 9 and 10: whichever way, a frontier holds a vertex once."""
    graph = weighted(cg.generate.kron(9, 16, seed=3), np.int32, 1, 100)
    for method in ("near-far", "bellman-ford"):
        config = sssp_config(method=method, claims=claims)
        result = cg.sssp(graph, 1, predecessors=True, config=config, device=device)
        check_paths(graph, 1, result)
        near = result.stats.per_level
        assert near["frontier"][near["direction"] == "near"].max() <= graph.n


@pytest.mark.parametrize("claims", ["packed", "stamped", "none"])
def test_a_key_decreases_by_one_atomic(claims, intel):
    """sssp-hbf checklist 9 and 10, in the text: races of two lanes are rare.

    Packed, the key and the stage are one word of 64 bits; else a stamp is exchanged, or none is.
    """
    graph = weighted(MIXED, np.int32, 1, 9)
    config = sssp_config(method="bellman-ford", claims=claims)
    text = cg.SSSP(graph, config=config, device=intel)._stages.program.source
    kernel = text[text.index("now.mode == RELAX") :]
    found = {
        word: word in kernel
        for word in (
            "was0 = atom_min((volatile __global ulong *)cells + target0, CELL(to0, now.level))",
            "was0 = ATOMIC_MIN_KEY((volatile __global key_t *)cells + target0, to0)",
            "(atomic_xchg(stamps + target0, now.level) != now.level)",
        )
    }
    packed = claims == "packed"
    assert list(found.values()) == [packed, not packed, claims == "stamped"]
    assert ("CELL(key_, stage_) ((ulong)(key_) << 32 | (stage_))" in text) == packed


@pytest.mark.parametrize(
    ("graph", "config", "words"),
    [
        (MIXED, None, "the graph has no weights; use bfs"),
        (
            cg.from_edges([0, 1], [1, 2], np.array([1, -4], np.int32)),
            "near-far",
            "edge 1 -> 2 has -4; use config='h-bf'",
        ),
        (
            cg.from_edges([0, 1], [1, 2], [1, -4], symmetrize=True),
            None,
            "edge 1 - 2 of this undirected graph has weight -4",
        ),
        (
            cg.Graph.trusted(
                (np.array([0, 1, 2, 2]), np.array([1, 2]), np.array([1, np.nan])), directed=True
            ),
            None,
            "edge 1 -> 2 has weight nan",
        ),
    ],
)
def test_unfit_weights(graph, config, words, pocl):
    """sssp-hbf checklist 19: the edge is named before anything runs."""
    with pytest.raises(cg.InvalidArgumentError, match=words):
        cg.sssp(graph, 0, config=config, device=pocl)


def test_numbers_and_matrices_of_other_libraries(pocl):
    """A mean of float32 weights is a float32; a matrix of ones has weights here."""
    graph = weighted(MIXED, np.float32)
    expected = expected_lengths(graph, 0)
    for delta in (graph.weights.mean(), np.int64(30)):
        config = sssp_config(method="near-far", delta=delta)
        found = cg.sssp(graph, 0, config=config, device=pocl).distances
        np.testing.assert_allclose(found, expected, rtol=1e-5)
    ones = scipy.sparse.csr_array(np.triu(np.ones((4, 4)), 1))
    assert cg.sssp(ones, 0, device=pocl).distances.tolist() == [0, 1, 1, 1]
    assert cg.SSSP(ones.astype(bool), device=pocl).run(1).distances[2:].tolist() == [1, 1]


def test_unfit_arguments(pocl):
    graph = weighted(MIXED)
    plan = cg.SSSP(graph, device=pocl)
    for call, words in (
        (lambda: plan.run(graph.n), "source=1500 is not a vertex"),
        (lambda: plan.run([]), "source is empty"),
        (lambda: plan.run([0, -1]), "source=-1 is not a vertex"),
        (lambda: plan.run(0.5), "source=0.5 is not a vertex number"),
        (lambda: plan.run(0, target=1500), "target=1500 is not a vertex"),
        (lambda: plan.run(0, max_distance=-1), "max_distance=-1 must be"),
        (lambda: plan.run(0, max_distance=np.nan), "max_distance=nan must be"),
        (lambda: plan.run(0).path(3), "labelled no tree"),
        (lambda: sssp_config(method="dijkstra"), "method='dijkstra' is not one of"),
        (lambda: sssp_config(delta=0), "delta=0 must be positive"),
        (lambda: sssp_config(delta="wide"), "delta='wide' is not a number"),
        (lambda: sssp_config(method="bellman-ford", delta=3), "method.delta is of near-far"),
        (
            lambda: sssp_config(synchronisation="persistent", group_resident=True),
            "is about searches in hops",
        ),
        (
            lambda: sssp_config(method="near-far", heavy="push"),
            "method.heavy is of delta-stepping",
        ),
        (lambda: sssp_config(drift=-1), "drift=-1 is out of range"),
        (lambda: sssp_config(drift=3, claims="packed"), "needs claims='stamped'"),
        (
            lambda: sssp_config(method="near-far", edge_classes=("self",)),
            "method.edge_classes is of bellman-ford",
        ),
        (lambda: sssp_config(edge_classes="self"), "edge_classes='self' is not a tuple"),
        (lambda: sssp_config(edge_classes=5), "edge_classes=5 is not a tuple of names"),
        (
            lambda: sssp_config(method="bellman-ford", edge_classes=("own",)),
            "'own', which is not one of",
        ),
        (
            lambda: cg.sssp(weighted(MIXED, np.int64), 0, config=sssp_config(claims="packed")),
            "half a word",
        ),
    ):
        with pytest.raises(cg.InvalidArgumentError, match=words):
            call()


def test_results_of_one_plan_are_apart(device):
    graph = weighted(MIXED)
    plan = cg.SSSP(graph, predecessors=True, device=device)
    results = [plan.run(source) for source in MIXED_SOURCES]
    for source, result in zip(MIXED_SOURCES, results, strict=True):
        check_paths(graph, source, result)
    results[0].detach()
    assert results[0].distances[MIXED_SOURCES[0]] == 0


def test_no_vertices_and_no_edges(pocl):
    lone = cg.Graph([0, 0], [], np.zeros(0, np.float32))
    result = cg.sssp(lone, 0, predecessors=True, device=pocl)
    assert (result.distances.tolist(), result.predecessors.tolist()) == ([0.0], [0])
    with pytest.raises(cg.InvalidArgumentError, match="it has 0 vertices"):
        cg.sssp(cg.Graph([0], [], np.zeros(0)), 0, device=pocl)


def test_oracle_of_these_tests():
    graph = weighted(MIXED_ONE_WAY, np.float64, 0, 9)
    lengths = expected_lengths(graph, [0, 5])
    assert np.array_equal(lengths, np.minimum(*(expected_lengths(graph, s) for s in (0, 5))))
    assert unreached(np.uint32) == 2**32 - 1
