"""BFS-4K: its features as dimensions of a search, its knobs and the rules that set them."""

import dataclasses
import logging

import numpy as np
import pytest
from configs import bfs_config, changed, dynamic_width
from graphs import SHAPES
from searches import MIXED, MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES, MIXED_SOURCES, check_search

import clgraph as cg
from clgraph.algorithms.bfs.presets.bfs_4k import (
    degree_threshold,
    hash_entries,
    knobs_of,
    level_log,
    usual_knobs,
)

BOTH = ((MIXED, MIXED_SOURCES), (MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES))


# Whatever the graph, one and the same rendering.
COMMON = {"k1": 4, "k2": 0, "k4": 1}


def common(graph, device, **more):
    return changed(cg.BFSConfig.bfs_4k(graph, device.traits, **COMMON), **more)


def check(device, **knobs):
    plans = []
    for graph, sources in BOTH:
        config = cg.BFSConfig.bfs_4k(graph, device.traits, **{**COMMON, **knobs})
        plan = cg.BFS(graph, predecessors=True, config=config, device=device)
        for source in sources:
            check_search(graph, source, plan.run(source))
        plans.append(plan)
    return plans


@pytest.mark.runtimes("pocl", "intel")
def test_the_preset(device):
    """bfs-4k checklist 1, and the preset by its name."""
    plan = cg.BFS(MIXED, predecessors=True, config="bfs-4k", device=device)
    for source in MIXED_SOURCES:
        check_search(MIXED, source, plan.run(source))
    assert plan.config.asked.rules == "bfs-4k"
    assert plan.config.balance.name == "dyn_vwarp"


@pytest.mark.parametrize("name", SHAPES)
def test_awkward_shapes(name, any_device):
    """bfs-4k checklist 2: isolated sources, one vertex, loops, parallel and one-way edges."""
    graph = SHAPES[name]
    config = common(graph, any_device)
    plan = cg.BFS(graph, predecessors=True, config=config, device=any_device)
    for source in {0, graph.n // 2, graph.n - 1}:
        check_search(graph, source, plan.run(source))


# Each is one feature on, off or at its limit; each has a rendering of its own.
FEATURES = {
    "F4 one lane at least": {"k1": 1, "k4": 0, "k5": 0},
    "F4 and F8 all lanes": {"k1": 32, "k4": 0, "k5": 0, "k7": 0},
    "F5 hubs and virtual groups": {"k2": 0.02, "k4": 0, "k5": 0, "k3": 2},
    "F5 hubs and edges": {"k2": 0.02, "k4": 2, "k3": 5, "k7": 1},
    "F6 mostly": {"k4": 1, "k1": 32, "k5": 0},
    "F7 off, F4 and F5 only": {"k5": 0, "k4": 0, "k2": 0.01},
    "F7 much": {"k5": 4},
}


@pytest.mark.parametrize("name", FEATURES)
def test_every_feature(name, pocl):
    check(pocl, **FEATURES[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", FEATURES)
def test_every_feature_on_lanes(name, intel):
    check(intel, **FEATURES[name])


@pytest.mark.slow
@pytest.mark.parametrize("k1", [1, 2, 4, 8, 16, 32])
@pytest.mark.parametrize("k4", [0, 1, 2, 4])
def test_every_width_and_switch(k1, k4, intel):
    check(intel, k1=k1, k4=k4, k5=0)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"hash_size": 1}, marks=pytest.mark.slow),
        pytest.param({"duplicates": "keep"}, marks=pytest.mark.slow),
        pytest.param({"induced_by": "width", "induced": 8}, marks=pytest.mark.slow),
        pytest.param(
            {"scan": "shuffle", "induced": 0, "balance": "dyn_vwarp", "extended": False},
            marks=pytest.mark.slow,
        ),
        pytest.param({"synchronisation": "stepped", "group_size": 64}, marks=pytest.mark.slow),
        pytest.param({"update": "registers", "register_queue": 12}, marks=pytest.mark.slow),
    ],
)
def test_single_dimensions_of_the_preset(changes, intel):
    """bfs-4k F9 with one slot and without a table, F8 by the other reading, F3 and EXT off."""
    config = bfs_config(rules="bfs-4k", **changes)
    for graph, sources in BOTH:
        plan = cg.BFS(graph, predecessors=True, config=config, device=intel)
        for source in sources:
            check_search(graph, source, plan.run(source))


def test_entries_of_all_frontiers(intel):
    """bfs-4k F1: each vertex once, and duplicates beside it; nothing that was visited before."""
    (plan, _) = check(intel)
    result = plan.run(MIXED_SOURCES[1])
    queued = result.stats._hops.levels[: result.depth + 1, 0].astype(np.int64)
    needed = np.bincount(result.distances[result.distances >= 0])
    assert (queued >= needed).all()
    assert queued.sum() <= plan.config.limits.queue_percent * MIXED.n // 100


def test_an_overflow_is_noticed_and_recovered(intel, caplog):
    """bfs-4k F1: too little room for a frontier; the search is repeated with atomic claims."""
    hub = SHAPES["hub"]
    config = common(hub, intel, queue_percent=1)
    plan = cg.BFS(hub, predecessors=True, config=config, device=intel)
    with caplog.at_level(logging.WARNING, logger="clgraph"):
        check_search(hub, 0, plan.run(0))
    assert "overflowed the queues" in caplog.text


def test_the_threshold_of_hubs():
    """bfs-4k F5: at most a share K2 above it, the smallest such degree, monotone; 0 is none."""
    degrees = SHAPES["power-law"].degrees
    before = None
    for share in (0.0001, 0.0015, 0.01, 0.1, 0.5, 1.0):
        threshold = degree_threshold(degrees, share)
        assert np.count_nonzero(degrees > threshold) <= share * degrees.size
        if threshold:
            assert np.count_nonzero(degrees > threshold - 1) > share * degrees.size
        assert before is None or threshold <= before
        before = threshold
    assert degree_threshold(degrees, 0) is None


def test_hubs_of_a_graph_are_few(intel):
    """bfs-4k F5: K2 = 0 disables, else at most K2 * V vertices are set apart."""
    config = cg.BFSConfig.bfs_4k(MIXED, intel.traits, k2=0.01)
    apart = np.count_nonzero(MIXED.degrees >= config.frontier.hubs.degree)
    assert 0 < apart <= 0.01 * MIXED.n
    assert cg.BFSConfig.bfs_4k(MIXED, intel.traits, k2=0).frontier.hubs.degree == 0
    assert cg.BFSConfig.bfs_4k(MIXED, intel.traits, k3=5).frontier.hubs.batch == 6


def test_one_group_runs_many_levels_in_one_launch(intel):
    """bfs-4k F7: a path takes one launch, whose levels are all its group's; K5 = 0 has none."""
    path = SHAPES["long-path"]
    config = common(path, intel)
    result = cg.BFS(path, predecessors=True, config=config, device=intel).run(0)
    check_search(path, 0, result)
    assert result.stats.launches == 1
    assert config.schedule.single_group
    assert not cg.BFSConfig.bfs_4k(path, intel.traits, k5=0).schedule.single_group


def test_a_frontier_that_outgrows_the_one_group(intel):
    """bfs-4k F7: a star of two levels spills from local memory into the queue and goes on."""
    hub = SHAPES["hub"]
    plan = cg.BFS(hub, predecessors=True, config=common(hub, intel), device=intel)
    for source in (0, 17, hub.n - 1):
        check_search(hub, source, plan.run(source))
    log = level_log(plan.run(17))
    assert set(log["kernel"]) == {"single", "virtual"}
    assert (log["frontier"][log["kernel"] == "virtual"] > 1024).all()


@pytest.mark.parametrize("found", [104, 105])
def test_one_group_writes_no_more_than_a_queue_holds(found, intel, caplog):
    """bfs-4k F7: a level that it finds alone may fill the queue; with one more it is noticed."""
    wide = np.arange(1, found + 1)
    tails = np.r_[0, 2000, 2001, np.full(found, 2002), np.repeat(wide, 10)]
    heads = np.r_[2000, 2001, 2002, wide, np.repeat(2000 + wide % 3, 10)]  # found before: no races
    graph = cg.from_edges(tails, heads, n=4000, directed=True)
    narrow = {"visited": "plain", "direction": "push", "queue_percent": 1, "single_group": True}
    config = bfs_config(queue="vertex", single_group_capacity=64, **narrow)
    plan = cg.BFS(graph, config=config, device=intel)
    held = plan._stages.table["queue_even"].count
    assert held == 104 * {"vertex": 1, "row": 2, "full": 4}[plan.config.entry]
    with caplog.at_level(logging.WARNING, logger="clgraph"):
        check_search(graph, 0, plan.run(0))
    assert ("overflowed the queues" in caplog.text) == (found > 104)


@pytest.mark.parametrize("more", [{}, {"single_group": False, "min_virtual_warp": 2}])
def test_the_log_of_levels(more, intel):
    """bfs-4k F4, F6, knobs: kernel and width of each level, recorded, are as the formulas say."""
    hub = SHAPES["hub"]
    plan = cg.BFS(hub, predecessors=True, config=common(hub, intel, **more), device=intel)
    result = plan.run(17)
    log = level_log(result)
    assert log.size == result.stats.levels
    assert ("single" in log["kernel"]) == (not more)
    least = more.get("min_virtual_warp", 4)
    plan.run(0, max_depth=1)  # writes over what the device has of the other search
    np.testing.assert_array_equal(level_log(result), log)
    group, resident = plan.config.group_size, plan.groups * plan.config.group_size
    for size, kernel, width in log.tolist():
        items = group if kernel == "single" else resident
        assert width == dynamic_width(items, size, least, plan.config.lanes) or size < items
        assert kernel != "edges" or (more and size < items) or 1024 < size < items
        assert (width == 0) == (size < items)  # K4 = 1: edges are discovered below the resident


def test_the_log_of_one_lane(pocl):
    """bfs-4k F4: a work-item alone; K1 and K7 are about lanes, of which it has one."""
    plan = cg.BFS(MIXED, config=common(MIXED, pocl), device=pocl)
    log = level_log(plan.run(MIXED_SOURCES[0]))
    assert (log["width"][log["kernel"] != "edges"] == 1).all()
    assert (log["frontier"] > 0).all()


def test_knobs_about_lanes_of_one_lane_are_told(pocl, caplog):
    """Their renderings are the same there, which is said where they are given."""
    with caplog.at_level(logging.INFO, logger="clgraph"):
        configs = [cg.BFSConfig.bfs_4k(MIXED, pocl.traits, k1=k1, k7=1) for k1 in (4, 32)]
    assert caplog.text.count("k1 and k7 say what lanes do together") == 2
    hashes = {cg.BFS(MIXED, config=config, device=pocl).source_hash for config in configs}
    assert len(hashes) == 1


@pytest.mark.parametrize(
    "off",
    [
        pytest.param({"k1": 16}, id="K1"),
        pytest.param({"k7": 0}, id="K7"),
        pytest.param({"scan": "shuffle"}, id="F3"),
        pytest.param({"register_queue": 12}, id="LQ"),
        pytest.param({"induced_by": "width"}, id="F8"),
    ],
)
def test_features_of_lanes_are_in_the_kernel(off, intel):
    """bfs-4k F3, F4, F8: with lanes each is another text, on a processor too."""
    knobs = {name: value for name, value in off.items() if name.startswith("k")}
    rest = {name: value for name, value in off.items() if name not in knobs}
    texts = set()
    for chosen, more in (({}, {}), (knobs, rest)):
        config = changed(cg.BFSConfig.bfs_4k(MIXED, intel.traits, **COMMON | chosen), **more)
        texts.add(cg.BFS(MIXED, config=config, device=intel).source_hash)
    assert len(texts) == 2


def test_the_table_of_the_one_group(intel):
    """bfs-4k F7: on a processor, beside the two queues of the group that runs alone."""
    small = dataclasses.replace(intel.traits, local_bytes=16 << 10)  # fewer than are ever taken
    config = cg.BFSConfig.bfs_4k(MIXED, small, k5=1)
    capacity = config.limits.single_group_capacity
    beside = hash_entries(small.local_bytes, 1, 1, queue_bytes=16 * capacity)
    assert config.frontier.hash_size == beside
    without = cg.BFSConfig.bfs_4k(MIXED, small, k5=0).frontier.hash_size
    assert without == hash_entries(small.local_bytes, 1, 1) > beside
    assert cg.BFSConfig.bfs_4k(MIXED, intel.traits, k5=1).frontier.hash_size == 4096
    gpu = dataclasses.replace(intel.traits, is_cpu=False, threads_per_unit=2048)
    shared = cg.BFSConfig.bfs_4k(MIXED, gpu, k6=128).frontier.hash_size
    assert shared == hash_entries(gpu.local_bytes, 128, 2048)


@pytest.mark.parametrize(
    ("name", "mean", "deviation", "largest", "expected"),
    [
        ("roadNet-CA", 2.8, 1.0, 12, {"k1": 4, "k2": 0}),
        ("web-Google", 5.6, 6.5, 456, {"k1": 4, "k4": 1}),
        ("kkt_power", 6.3, 7.5, 95, {"k1": 4, "k4": 1}),
        ("com-youtube", 5.2, 50.2, 28_754, {"k1": 32, "k4": 2, "k2": 0.0015}),
        ("Gen-ForestFire", 7.3, 38.3, 2416, {"k4": 2}),
        ("as-skitter", 12.1, 136.9, 35_455, {"k2": 0.0015, "k4": 0}),
        ("random.2Mv.128Me", 64.0, 10.6, 183, {"k1": 32, "k2": 0, "k4": 0, "k5": 0}),
        ("rmat.2Mv.128Me", 64.0, 136.8, 8785, {"k2": 0.0015, "k4": 0, "k5": 0}),
    ],
)
def test_the_rules_of_the_knobs(name, mean, deviation, largest, expected):
    """bfs-4k knobs: what the table of published graphs says of each."""
    knobs = usual_knobs(mean, deviation, largest)
    for knob, value in expected.items():
        assert getattr(knobs, knob) == value, (name, knob)
    assert (knobs.k3, knobs.k6, knobs.k7) == (16, 128, 10)


def test_where_the_rules_of_the_knobs_turn():
    """bfs-4k knobs: K2 by the largest degree, K4 by mean and deviation, K5 by the mean."""
    assert [usual_knobs(5, 5, largest).k2 for largest in (2048, 2049)] == [0, 0.0015]
    assert [usual_knobs(5, deviation, 99).k4 for deviation in (31, 32)] == [1, 2]
    assert [usual_knobs(mean, 32, 99).k4 for mean in (11, 12)] == [2, 0]
    assert [usual_knobs(mean, 5, 99).k4 for mean in (31, 32)] == [1, 0]
    assert [usual_knobs(mean, 5, 99).k5 for mean in (31, 32)] == [1, 0]
    assert [usual_knobs(wide, 5, 99).k1 for wide in (3, 8, 15, 16, 99)] == [4, 8, 8, 16, 32]


def test_knobs_are_settable(intel):
    chosen = {"k1": 8, "k2": 0.5, "k3": 4, "k4": 2, "k5": 0, "k6": 64, "k7": 3}
    knobs = knobs_of(MIXED, chosen)
    assert {name: getattr(knobs, name) for name in chosen} == chosen
    gpu = dataclasses.replace(intel.traits, is_cpu=False)
    config = cg.BFSConfig.bfs_4k(MIXED, gpu, **chosen)
    assert (config.balance.width, config.balance.discover) == (8, 2)
    assert (config.frontier.hubs.batch, config.frontier.update.induced) == (4, 3)
    assert config.schedule == cg.schedule.Schedule(group_size=64, single_group=False)
    of_numpy = {name: np.array(value)[()] for name, value in chosen.items()}
    assert knobs_of(MIXED, of_numpy) == knobs


@pytest.mark.parametrize(
    ("bad", "complaint"),
    [
        ({"k8": 1}, "'k8' is not a knob"),
        ({"k1": 3}, "k1=3 is not one of 1, 2, 4"),
        ({"k1": 4.0}, r"k1=4\.0 is not one of 1, 2, 4"),
        ({"k1": [4]}, r"k1=\[4\] is not one of 1, 2, 4"),
        ({"k2": float("nan")}, "k2=nan is not a share"),
        ({"k2": 2}, "k2=2 is not a share"),
        ({"k2": "x"}, "k2='x' is not a share"),
        ({"k3": 0}, "k3=0 is out of range; it must be at least 1"),
        ({"k4": 1.5}, "k4=1.5 is not an integer"),
        ({"k5": -1}, "k5=-1 is out of range; it must be at least 0"),
        ({"k5": 2**30}, "k5=1073741824 is out of range"),
        ({"k6": "a"}, "k6='a' is not an integer"),
    ],
)
def test_knobs_that_are_none(bad, complaint, intel):
    with pytest.raises(cg.InvalidArgumentError, match=complaint):
        cg.BFSConfig.bfs_4k(MIXED, intel.traits, **bad)


@pytest.mark.parametrize("k6", [256, 512, 1024])
def test_tables_of_large_groups_are_no_larger_than_may_be(k6, intel):
    """bfs-4k K6: by the formula alone these had 8,192 slots and more, which is not legal."""
    config = cg.BFSConfig.bfs_4k(MIXED, intel.traits, k6=k6)
    assert config.schedule.group_size == k6
    assert config.frontier.hash_size <= 4096
