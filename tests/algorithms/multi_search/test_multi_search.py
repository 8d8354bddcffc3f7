"""Many searches at once: the checklist of the multi-search specification, by number."""

import math

import numpy as np
import pytest
import scipy.sparse.csgraph
from graphs import SHAPES, graphs, reference_distances
from hypothesis import given, settings
from hypothesis import strategies as st
from searches import MIXED, MIXED_ONE_WAY, MIXED_SOURCES, SEARCH_RUNTIMES, expected_distances

import clgraph as cg
from bench.studies.recorded import H200
from clgraph.algorithms.multi_search.config import auto_threshold

pytestmark = pytest.mark.runtimes(*SEARCH_RUNTIMES)

DISTANCES = {
    "state": {"hops": cg.State("int32", fill=-1)},
    "init": "if (lid == 0) hops[src] = 0;",
    "visit": "if (FIRST(v)) { hops[v] = level + 1; ENQ(v); }",
}
CONFIGS = {name: name for name in cg.MultiSearchConfig.presets()} | {
    "by-degrees": cg.MultiSearchConfig(threshold="auto"),
    "threshold-4-warp-search": cg.MultiSearchConfig(threshold=4, balance="warp_search"),
    "vwarp": cg.MultiSearchConfig(threshold=math.inf, balance="vwarp"),
}
# Every level alternates between one vertex of many edges and one of few.
SPINE = np.arange(40)
LEAVES = 40 + np.arange(20 * 30)
ALTERNATING = cg.from_edges(
    np.concatenate([SPINE[:-1], np.repeat(SPINE[::2], 30)]),
    np.concatenate([SPINE[1:], LEAVES]),
    symmetrize=True,
)


def check(graph, sources, **options):
    plan = cg.MultiSearch(graph, **{**DISTANCES, **options})
    result = plan.run(sources)
    found = result["hops"]
    assert found.shape == (len(sources), graph.n)
    for row, source in zip(found, sources, strict=True):
        np.testing.assert_array_equal(row, expected_distances(graph, int(source)))
    return plan, result


@pytest.mark.parametrize("config", CONFIGS)
def test_checklist_2_6_8_9_23_every_variant_gives_what_serial_searches_give(config, device):
    for graph in (MIXED, MIXED_ONE_WAY, ALTERNATING):
        check(
            graph,
            [0, *MIXED_SOURCES[:4]][: 5 if graph.n > 1000 else 1],
            config=CONFIGS[config],
            device=device,
        )


@pytest.mark.parametrize("shape", SHAPES)
def test_checklist_13_awkward_shapes(shape, device):
    graph = SHAPES[shape]
    sources = sorted({0, graph.n // 2, graph.n - 1})
    for config in ("auto", "hybrid"):
        check(graph, sources, config=config, device=device)


@given(graphs(max_vertices=60), st.data())
@settings(max_examples=20)
def test_checklist_13_random_graphs(device, graph, data):
    sources = data.draw(st.lists(st.integers(0, graph.n - 1), min_size=1, max_size=9))
    check(graph, sources, config=data.draw(st.sampled_from(["auto", "hybrid"])), device=device)


@pytest.mark.parametrize("groups", [1, 2, 5])
def test_checklist_2_fewer_as_many_and_more_searches_than_groups(groups, device):
    config = cg.MultiSearchConfig(groups=groups)
    for count in (1, groups, 3 * groups + 1):
        sources = [MIXED_SOURCES[j % len(MIXED_SOURCES)] for j in range(count)]
        _, result = check(MIXED, sources, config=config, device=device)
        assert result.stats.launches == 1
        assert result.stats.searches == count
        assert result.stats.groups == min(groups, count)


def test_checklist_3_sources_of_few_many_and_no_edges(device):
    hub = cg.from_edges(np.zeros(30, int), np.arange(1, 31), n=40, symmetrize=True)
    check(hub, [0, 1, 39], config=cg.MultiSearchConfig(threshold=16), device=device)


@pytest.mark.parametrize("threshold", [0, 2, 30, 33, math.inf])
def test_checklist_4_levels_that_alternate_between_the_queues(threshold, device):
    sources = [0, 1, 39, 40, ALTERNATING.n - 1]
    check(ALTERNATING, sources, config=cg.MultiSearchConfig(threshold=threshold), device=device)


def test_checklist_16_repeated_sources_have_results_of_their_own(device):
    check(MIXED, [MIXED_SOURCES[1]] * 4, device=device)


@pytest.mark.parametrize("config", ["auto", "edge-parallel"])
def test_checklist_1_every_snippet_is_called_as_often_as_it_should_be(config, device):
    count = "if (lid == 0) calls[{}] += 1;"
    plan = cg.MultiSearch(
        MIXED,
        state={"calls": cg.State("int32", size=4), "visits": cg.State("int32", size=1)},
        init=count.format(0) + "GROUP_BARRIER();",
        prior=count.format(1),
        visit="ADD(visits, 0, 1); if (FIRST(v)) ENQ(v);",
        post="GROUP_BARRIER();" + count.format(2),
        finalize=count.format(3),
        config=config,
        device=device,
    )
    result = plan.run(MIXED_SOURCES)
    for row, visits, source in zip(result["calls"], result["visits"], MIXED_SOURCES, strict=True):
        hops = expected_distances(MIXED, source)
        levels = hops.max() + 1
        assert row.tolist() == [1, levels, levels, 1]
        assert visits[0] == MIXED.degrees[hops >= 0].sum()


def test_checklist_1_no_snippet_at_all(device):
    result = cg.MultiSearch(MIXED, state={"x": cg.State("int8", fill=7)}, device=device).run([0, 1])
    assert (result["x"] == 7).all()


def test_names_in_scope(device):
    state = {
        "seen": cg.State("int64", size=8),
        "found": cg.State("int32", size=3),
        "shared": cg.State("uint32", size=2, per="run", fill=5),
        "own": cg.State("float32", per="group", fill=2.5),
    }
    result = cg.MultiSearch(
        MIXED,
        state=state,
        arguments={"add": 3, "table": np.arange(5, dtype=np.int16)},
        init=(
            "if (lid == 0) { seen[0] = i; seen[1] = src; seen[2] = n; seen[3] = m; seen[4] = k;"
            "seen[5] = add + table[4]; seen[6] = (long)(own[n - 1] * 2); seen[7] = WG; }"
        ),
        visit="if (e < indptr[u] || e >= indptr[u + 1] || indices[e] != v) found[0] = 1;"
        "if (FIRST(v)) ENQ(v);",
        post="if (lid == 0) found[1] += frontier_size;",
        finalize="if (lid == 0) { found[2] = level; ADD(shared, 1, 2); }",
        device=device,
    ).run(MIXED_SOURCES)
    for j, source in enumerate(MIXED_SOURCES):
        seen = result["seen"][j].tolist()
        assert seen[:7] == [j, source, MIXED.n, MIXED.m, len(MIXED_SOURCES), 7, 5]
        assert seen[7] == device.traits.lanes
        hops = expected_distances(MIXED, source)
        assert result["found"][j].tolist() == [0, (hops > 0).sum(), hops.max() + 1]
    assert result["shared"].tolist() == [5, 5 + 2 * len(MIXED_SOURCES)]
    assert "own" not in list(result)


@pytest.mark.parametrize("config", ["auto", "edge-parallel"])
def test_states_may_have_names_that_the_kernel_has_too(config, any_device):
    names = ["queues", "offsets", "visited", "stamps"]
    plan = cg.MultiSearch(
        MIXED,
        state={name: cg.State("int32", fill=-1) for name in names},
        init="if (lid == 0) queues[src] = offsets[src] = visited[src] = stamps[src] = 0;",
        visit="""
            if (FIRST(v)) {
                queues[v] = offsets[v] = visited[v] = stamps[v] = level + 1;
                ENQ(v);
            }
        """,
        config=config,
        device=any_device,
    )
    source = int(MIXED_SOURCES[0])
    found = plan.run([source])
    for name in names:
        np.testing.assert_array_equal(found[name][0], expected_distances(MIXED, source))


def test_arrays_of_another_byte_order_and_fills_between_two_numbers(any_device):
    plan = cg.MultiSearch(
        MIXED,
        state={"seen": cg.State(">f4", size=2, fill=0.1)},
        arguments={"some": np.array([1.5, 2.5], ">f8"), "one": np.array([7], ">i2")[0]},
        init="if (lid == 0) seen[0] = (float)some[1] + one;",
        device=any_device,
    )
    np.testing.assert_array_equal(plan.run([3])["seen"], np.float32([[9.5, 0.1]]))
    given = {"some": np.array([0.5, 1], ">f8")}
    assert plan.run([3], arguments=given)["seen"][0, 0] == 8


def test_arguments_of_one_run(any_device):
    plan = cg.MultiSearch(
        cg.generate.path(4),
        state={"found": cg.State("int32", size=1)},
        arguments={"add": 3, "table": np.arange(2, dtype=np.int32)},
        init="if (lid == 0) found[0] = table[i] + add;",
        device=any_device,
    )
    ten = np.arange(10, 13, dtype=np.int32)
    assert plan.run([0, 1])["found"].tolist() == [[3], [4]]
    assert plan.run([0, 1, 2], arguments={"table": ten})["found"].tolist() == [[13], [14], [15]]
    assert plan.run([0], arguments={"add": 5})["found"].tolist() == [[5]]
    assert plan.run([0, 1])["found"].tolist() == [[3], [4]]
    for wrong, complaint in (
        ({"tables": ten}, "no argument 'tables'"),
        ({"table": ten.astype(np.int64)}, "array of int in the plan; an array of long"),
        ({"table": 3}, "array of int in the plan; a number of int"),
    ):
        with pytest.raises(cg.InvalidArgumentError, match=complaint):
            plan.run([0], arguments=wrong)


@pytest.mark.parametrize("config", ["auto", "hybrid"])
def test_levels_are_kept_for_finalize(config, device):
    result = cg.MultiSearch(
        MIXED,
        state={
            "sizes": cg.State("uint32"),
            "wrong": cg.State("int32", size=1),
            "hops": cg.State("int32", fill=-1),
        },
        init=DISTANCES["init"],
        visit=DISTANCES["visit"],
        finalize=(
            "for (uint l = lid; l < levels; l += WG) {"
            "  sizes[l] = LEVEL_SIZE(l);"
            "  for (uint j = 0; j < LEVEL_SIZE(l); ++j)"
            "    if (hops[LEVEL_VERTEX(l, j)] != (int)l) wrong[0] = 1;"
            "}"
        ),
        keep_levels=True,
        config=config,
        device=device,
    ).run(MIXED_SOURCES)
    assert not result["wrong"].any()
    for row, source in zip(result["sizes"], MIXED_SOURCES, strict=True):
        hops = expected_distances(MIXED, source)
        np.testing.assert_array_equal(row, np.bincount(hops[hops >= 0], minlength=MIXED.n))


@pytest.mark.parametrize("config", ["auto", "hybrid", "warp-based"])
def test_a_sweep_back_sums_over_the_edges_of_every_vertex(config, device):
    """Sizes of the subtrees of a tree, from its leaves to the source."""
    tree = SHAPES["tree"]
    result = cg.MultiSearch(
        tree,
        **{**DISTANCES, "state": {**DISTANCES["state"], "sizes": cg.State("float32")}},
        back="if (hops[v] == (int)level + 1) SUM(sizes[v]);",
        back_vertex="sizes[u] = 1 + sum;",
        config=config,
        device=device,
    ).run([0])
    sizes = result["sizes"][0]
    assert sizes[:7].tolist() == [511, 255, 255, 127, 127, 127, 127]


def test_max_levels_ends_a_search_quietly(device):
    hops = cg.MultiSearch(MIXED, **DISTANCES, max_levels=2, device=device).run(MIXED_SOURCES)[
        "hops"
    ]
    for row, source in zip(hops, MIXED_SOURCES, strict=True):
        expected = expected_distances(MIXED, source)
        np.testing.assert_array_equal(row, np.where(expected > 2, -1, expected))


def test_label_correcting_searches_may_enqueue_again(device):
    grid = SHAPES["grid"]
    weights = np.random.default_rng(1).integers(1, 9, grid.m).astype(np.int32)
    plan = cg.MultiSearch(
        grid,
        state={"cost": cg.State("int32", fill=2**30), "queued": cg.State("int32", fill=-1)},
        arguments={"weights": weights},
        init="if (lid == 0) cost[src] = 0;",
        visit=(
            "const int c = cost[u] + weights[e];"
            "if (atomic_min(&cost[v], c) > c && atomic_xchg(&queued[v], (int)level) != (int)level)"
            "    ENQ(v);"
        ),
        device=device,
    )
    matrix = cg.Graph(grid.indptr, grid.indices, weights).to_scipy()
    expected = scipy.sparse.csgraph.dijkstra(matrix, indices=[0, 50])
    np.testing.assert_array_equal(plan.run([0, 50])["cost"], expected)


@pytest.mark.parametrize("lanes", [8, 32])
def test_emulated_lanes(lanes, intel):
    device = intel.emulating(lanes)
    for config in ("hybrid", "warp-based", CONFIGS["threshold-4-warp-search"]):
        check(MIXED, MIXED_SOURCES, config=config, device=device)
        check(ALTERNATING, [0, 1], config=config, device=device)


def test_several_simd_groups_share_a_search(intel):
    config = cg.MultiSearchConfig(group_size=4 * intel.traits.lanes, threshold=8)
    check(MIXED, MIXED_SOURCES, config=config, device=intel)
    check(ALTERNATING, [0, 1], config=config, device=intel)


def test_checklist_24_the_threshold_follows_the_degrees():
    assert auto_threshold(np.full(1000, 3), H200) == math.inf
    assert auto_threshold(np.full(1000, 500), H200) == 0
    skewed = cg.generate.kron(12, seed=3).degrees
    assert 0 <= auto_threshold(skewed, H200) <= 64
    mixed = np.concatenate([np.full(10_000, 2), np.full(100, 5000)])
    assert auto_threshold(mixed, H200) in (4, 8, 16, 32, 64)
    assert auto_threshold(np.zeros(5, int), H200) == math.inf
    # Two queues cost more than they save where no row is long.
    assert auto_threshold(cg.generate.geometric(2000, seed=1).degrees, H200) == math.inf


def test_checklist_24_rows_that_are_alike_have_a_lane_each(intel):
    """On any device with lanes: a lattice has a row for each lane, others share their edges."""
    chosen = {
        name: cg.MultiSearch(graph, **DISTANCES, device=intel.emulating(8)).config.balance.name
        for name, graph in (
            ("lattice", cg.generate.grid2d(100)),
            ("road", cg.generate.road(60, seed=1)),
            ("power law", cg.generate.kron(8, seed=1)),
            ("nothing", cg.from_edges([], [], n=4)),
        )
    }
    assert chosen.pop("lattice") == "item_thread"
    assert chosen.pop("nothing") == "item_thread"
    assert set(chosen.values()) == {"warp_search"}


WHOLE_GROUP = "for (uint entry_index = tile_begin; entry_index < (tile_end); ++entry_index)"
ONE_LANE = "for (uint entry_index = tile_begin + lane_id();"


def rendered(intel, **options):
    config = cg.MultiSearchConfig(group_size=4 * intel.traits.lanes, **options)
    return cg.MultiSearch(MIXED, **DISTANCES, config=config, device=intel)._source


def test_checklist_6_9_a_dead_half_is_not_rendered(intel):
    both = rendered(intel, threshold=16)
    none = rendered(intel, threshold=0)
    every = rendered(intel, threshold=math.inf, balance="item_thread")
    found = [(WHOLE_GROUP in text, ONE_LANE in text) for text in (both, none, every)]
    assert found == [(True, True), (True, False), (False, True)]


def test_checklist_5_7_8_11_12_how_the_queues_are_read(intel):
    text = rendered(intel, threshold=16)
    kernel = text[text.index("void multi_search(") :]
    # 5: rows of at least `threshold` edges are long, others short.
    assert "indptr[(source) + 1] - indptr[source] >= threshold" in kernel
    # 7: neighbouring lanes read neighbouring entries. 8: one claim for a SIMD group and a vertex.
    assert "edge_begin + first + lane_id()" in kernel
    assert "if (lane_id() == 0) tile_claimed = atomic_add(&taken_long[turn], 1u);" in kernel
    # 11: no barrier of the work-group inside the loop over a row, which ends with the push.
    row = kernel[kernel.index("tile_claimed = atomic_add(&taken_long") :]
    assert "barrier" not in row[: row.index("tile_claimed = atomic_add(&taken_short")]
    # 12: no work-group waits for another.
    assert "grid_barrier" not in text
    assert "spin" not in kernel
    # 10: what is only read is declared so, which lets a compiler use the path for it.
    assert "__global const uint *restrict indices" in kernel


@pytest.mark.parametrize("method", ["frontier", "all-edges"])
@pytest.mark.parametrize("cache", ["streaming", "read-only"])
def test_checklist_10_loads_that_need_not_be_coherent(cache, method, device):
    """They are chosen, for offsets and neighbours; results are the same."""
    config = cg.MultiSearchConfig(method=method, cache=cache)
    plan, _ = check(MIXED_ONE_WAY, MIXED_SOURCES[:2], config=config, device=device)
    kernel = plan._source[plan._source.index("void multi_search(") :]
    word = {"streaming": "load_streaming", "read-only": "load_read_only"}[cache]
    assert f"{word}(indices + e" in kernel
    assert "indices[e0]" not in kernel
    if cache == "read-only" and method == "frontier":
        assert "load_read_only(indptr + (" in plan._source


def test_shapes_of_nothing(device):
    plan = cg.MultiSearch(MIXED, **DISTANCES, device=device)
    assert plan.run(np.zeros(0, int))["hops"].shape == (0, MIXED.n)
    empty = cg.from_edges([], [], n=0)
    assert cg.MultiSearch(empty, **DISTANCES, device=device).run([])["hops"].shape == (0, 0)


def test_reference_is_what_others_say():
    np.testing.assert_array_equal(reference_distances(MIXED, 0), expected_distances(MIXED, 0))
