"""Configurations change speed, never results: each dimension, and combinations."""

import dataclasses

import numpy as np
import pytest
from configs import bfs_config, mode_of
from searches import (
    MIXED,
    MIXED_ONE_WAY,
    MIXED_ONE_WAY_SOURCES,
    MIXED_SOURCES,
    SEARCH_RUNTIMES,
    check_search,
)

import clgraph as cg
from clgraph import pull
from clgraph.engine.choose import resolve

# The others have tests of their own: test_bfs_balance.py.
BALANCERS = ("item_thread", "vwarp", "warp_search")
ALWAYS_PULL = {"alpha": 2**30, "pull_floor": 2**30}

# Each needs a program of its own; group_lanes is the group size in units of the device's lanes.
VARIANTS = {
    "default": {},
    **{f"{name}": {"balance": name} for name in BALANCERS},
    **{f"{name}-groups": {"balance": name, "group_lanes": 4} for name in BALANCERS},
    "push": {"direction": "push"},
    "push-in-groups": {"direction": "push", "group_lanes": 4},
    "pull": ALWAYS_PULL,
    "pull-in-groups": {**ALWAYS_PULL, "group_lanes": 4, "single_group": False},
    "pull-early-and-late": {"alpha": 2**20, "pull_floor": 1, "pull_probes": 64},
    "never-single_group": {"single_group": False},
    "barely-single_group": {"single_group_capacity": 1, "single_group_edges": 4},
    "bitmap": {"visited": "bitmap"},
    "static": {"distribution": "static", "single_group": False},
    "claimed": {"distribution": "claimed", "single_group": False},
    "no-hubs": {"hub_degree": 0, "group_lanes": 4},
    "every-vertex-a-hub": {"hub_degree": 1, "group_lanes": 4},
    "many-hubs": {"hub_degree": 8, "balance": "item_thread"},
    "large-groups": {"group_lanes": 16},
    "eager": {"eager_limit": 2**31 - 1},
    "eager-wide": {"eager_limit": 2**31 - 1, "balance": "warp_search", "wide": 1},
    "lazy": {"eager_limit": 0, "single_group_edges": 0},
    "lazy-narrow": {
        "eager_limit": 0,
        "single_group_edges": 0,
        "balance": "warp_search",
        "wide": 2**31 - 1,
    },
}
DEVICE_SEARCHES = pytest.mark.runtimes(*SEARCH_RUNTIMES)


def config_of(variant, device, **more):
    chosen = {**variant, **more}
    lanes = chosen.pop("group_lanes", None)
    if lanes is not None:
        if lanes > 1 and device.traits.lanes == 1:
            pytest.skip("PoCL compiles such groups for minutes; Intel runs them")
        chosen["group_size"] = lanes * device.traits.lanes
    return bfs_config(**chosen)


def check_everywhere(config, device, *, predecessors=True):
    for graph, sources in (
        (MIXED, MIXED_SOURCES),
        (MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES),
    ):
        plan = cg.BFS(graph, predecessors=predecessors, config=config, device=device)
        for source in sources:
            result = plan.run(source)
            check_search(graph, source, result)
            assert result.stats.mode == mode_of(config)


@DEVICE_SEARCHES
@pytest.mark.parametrize("synchronisation", ["persistent", "stepped"])
@pytest.mark.parametrize("name", VARIANTS)
def test_every_dimension(name, synchronisation, device):
    config = config_of(VARIANTS[name], device, synchronisation=synchronisation)
    check_everywhere(config, device)


@pytest.mark.runtimes("pocl")
@pytest.mark.parametrize("visited", ["labels", "bitmap"])
@pytest.mark.parametrize("direction", ["push", "switching"])
def test_where_a_cpu_looks_up_who_was_reached(visited, direction, device):
    pulling = ALWAYS_PULL if direction == "switching" else {}
    config = bfs_config(visited=visited, direction=direction, single_group=False, **pulling)
    check_everywhere(config, device, predecessors=False)


def rows_of_any_length(extra):
    """Rows around every length that one core treats differently, the last ones of the array too."""
    rng = np.random.default_rng(8)
    lengths = [*range(71), 255, 256, 257, 319, 320, 321, 336, 1000, *range(70, 0, -1)]
    n = 1010 + extra
    ends = [rng.choice(n, length, replace=False) for length in lengths]
    first = rng.choice(n, n // 2)  # so that most of them are reached
    return cg.from_edges(
        np.concatenate([np.repeat(n - len(lengths) + np.arange(len(lengths)), lengths), first]),
        np.concatenate([*ends, rng.choice(n, n // 2)]),
        n=n,
    )


@pytest.mark.runtimes("pocl")
@pytest.mark.parametrize("predecessors", [False, True])
@pytest.mark.parametrize("visited", ["labels", "bitmap"])
def test_one_core_alone_takes_rows_of_any_length(visited, predecessors, device):
    """In batches: four neighbours at once, or sixteen where rows are long in the mean."""
    config = bfs_config(visited=visited, direction="push", groups=1, single_group_edges=2**30)
    for extra in (0, 9000):
        graph = rows_of_any_length(extra)
        assert (graph.mean_degree >= 8) == (extra == 0)
        plan = cg.BFS(graph, predecessors=predecessors, config=config, device=device)
        for source in (graph.n - 65, graph.n - 74, graph.n - 1, 3):
            check_search(graph, source, plan.run(source, verify=True))


@pytest.mark.runtimes("pocl")
def test_one_core_alone_looks_at_bits_where_rows_are_long(device):
    for graph, visited in (
        (cg.generate.grid2d(9, 9), "labels"),
        (cg.generate.complete(30), "bitmap"),
    ):
        assert cg.BFS(graph, device=device).config.frontier.visited == visited
        filtered = bfs_config(duplicates="lookup_lanes")
        assert cg.BFS(graph, config=filtered, device=device).config.frontier.visited == "mask"


@DEVICE_SEARCHES
@pytest.mark.parametrize("patience", [0, 1, 10_000])
@pytest.mark.parametrize("groups", [1, 2, 3, 7, 200])
def test_membership_open_to_any_number_of_groups(groups, patience, device):
    config = bfs_config(membership="open", groups=groups, patience=patience, single_group=False)
    plan = cg.BFS(MIXED, config=config, device=device)
    for source in MIXED_SOURCES:
        result = plan.run(source)
        check_search(MIXED, source, result)
        assert result.stats.mode == "persistent"


@pytest.mark.runtimes("pocl")
@pytest.mark.parametrize("single_group", [True, False])
def test_membership_fixed_where_all_are_resident(single_group, device):
    config = bfs_config(
        membership="fixed", groups=device.traits.compute_units, single_group=single_group
    )
    check_everywhere(config, device)


def _combinations(count, seed):
    """Points anywhere in the space: one value of each dimension, or its default."""
    rng = np.random.default_rng(seed)
    values = {
        "balance": [*BALANCERS],
        "direction": ["push", "switching"],
        "membership": ["open"],
        "single_group": [True, False],
        "distribution": ["static", "claimed"],
        "group_lanes": [1, 4, 8],
        "groups": [1, 5],
        "hub_degree": [0, 3, 100],
        "wide": [1, 40],
        "alpha": [1, 2**30],
        "pull_floor": [1, 2**30],
        "pull_probes": [4, 32],
        "single_group_capacity": [1, 20],
        "single_group_edges": [10, 10**6],
        "eager_limit": [0, 10, 10**6],
    }
    for _ in range(count):
        chosen = {
            name: options[rng.integers(len(options))]
            for name, options in values.items()
            if rng.random() < 0.7
        }
        if "wide" in chosen:
            chosen["balance"] = "warp_search"
        yield chosen


@DEVICE_SEARCHES
@pytest.mark.parametrize("number", range(6))
def test_combinations(number, device):
    combination = list(_combinations(6, seed=11))[number]
    if combination.get("distribution") == "claimed":
        combination.pop("hub_degree", None)
    for synchronisation in ("persistent", "stepped"):
        if synchronisation == "stepped":
            combination.pop("membership", None)
        config = config_of(combination, device, synchronisation=synchronisation)
        check_everywhere(config, device, predecessors=number % 2 == 0)


@DEVICE_SEARCHES
def test_pulling_at_every_level_is_what_happens(device):
    config = bfs_config(single_group=False, **ALWAYS_PULL)
    stats = cg.bfs(MIXED, MIXED_SOURCES[1], config=config, device=device).stats
    # The first expansion pushes: a bitmap of one vertex is not worth reading.
    assert stats.per_level["direction"][0] == "push"
    assert set(stats.per_level["direction"][1:-1]) == {"pull"}
    never = bfs_config(single_group=False, direction="push")
    stats = cg.bfs(MIXED, MIXED_SOURCES[1], config=never, device=device).stats
    assert set(stats.per_level["direction"][:-1]) == {"push"}


@pytest.mark.runtimes("pocl", "intel")
def test_pulling_has_to_be_worth_its_tries(device):
    """A frontier with many edges, all of which lead back, beside vertices that none leads to."""
    near, far = np.arange(1, 301), np.arange(301, 3301)
    src = np.concatenate([np.zeros_like(near), np.repeat(near, 10), np.repeat(far, 10)])
    shifts = np.tile(np.arange(1, 11), far.size)
    back = np.tile(np.arange(10), near.size)
    dst = np.concatenate([near, back, 301 + (np.repeat(far, 10) - 301 + shifts) % far.size])
    graph = cg.from_edges(src, dst, n=3301)

    def ways(**config):
        config = bfs_config(single_group=False, direction="switching", **config)
        result = cg.bfs(graph, 0, config=config, device=device)
        check_search(graph, 0, result)
        return set(result.stats.per_level["direction"])

    assert "pull" in ways(pull_gain=0)
    assert "pull" not in ways()
    assert "pull" in ways(alpha=14)  # who sets the rule of edges has that alone


@pytest.mark.runtimes("intel")
def test_what_is_looked_at_has_a_price(device):
    """Of a frontier of 640 edges, 2,000 unvisited vertices and 8,000 edges out of these."""
    near, far = np.arange(1, 65), np.arange(65, 2065)
    ring = [(far, 65 + (far - 65 + shift) % far.size) for shift in (1, 2)]
    src = np.concatenate([np.zeros_like(near), np.repeat(near, 9), *(ends[0] for ends in ring)])
    dst = np.concatenate([near, 65 + 3 * np.arange(9 * near.size), *(ends[1] for ends in ring)])
    graph = cg.from_edges(src, dst, n=2065, symmetrize=True)

    def way(**costs):
        rule = pull.ByEdges(floor=2**30, **costs)
        schedule = cg.schedule.Schedule(single_group=False)
        config = cg.BFSConfig(pull=rule, schedule=schedule)
        result = cg.bfs(graph, 0, config=config, device=device)
        check_search(graph, 0, result)
        assert result.stats.per_level["edges"][1] == 640
        return str(result.stats.per_level["direction"][1])

    assert way(looks=100, gain=1000) == "pull"
    assert way(looks=3, gain=1000) == "push"
    assert way(looks=100, gain=20) == "push"


def shrinking(sizes, apart):
    """A search from 0 that finds so many at each distance, and a path of some others apart."""
    begins = np.cumsum([0, *sizes])
    src, dst = [begins[-1] + np.arange(apart - 1)], [begins[-1] + np.arange(1, apart)]
    for level in range(1, len(sizes)):
        src.append(begins[level - 1] + np.arange(sizes[level]) % sizes[level - 1])
        dst.append(np.arange(begins[level], begins[level + 1]))
    n = int(begins[-1]) + apart
    return cg.from_edges(np.concatenate(src), np.concatenate(dst), n=n, symmetrize=True)


@pytest.mark.runtimes("pocl", "intel")
def test_pulling_goes_on_where_a_frontier_shrinks_fast(device):
    """To an eighth, with few edges left, on SIMD groups; else the few are gathered and pushed.

    With very few left, and likely parents, what is pulled is listed as well, and pushed then.
    """
    for sizes, apart, likely, on_lanes in (
        ((1, 40, 4000, 300, 20, 2), 60, 1, "push pull pull pull pull pull"),
        ((1, 40, 4000, 300, 20, 3), 60, 1, "push pull pull pull pull push"),
        ((1, 40, 4000, 600, 20, 2), 60, 1, "push pull pull push push push"),
        ((1, 40, 4000, 300, 20, 2), 900, 1, "push pull pull push push push"),
        ((1, 40, 4000, 20, 2, 1), 2, 1, "push pull pull pull push push"),  # and in the queue, too
        ((1, 40, 4000, 20, 2, 1), 2, 0, "push pull pull pull pull push"),
    ):
        graph = shrinking(sizes, apart)
        rule = pull.ByEdges(alpha=8, floor=5, gain=16, likely=likely)
        config = bfs_config(single_group=False, direction="switching", hub_degree=0)
        config = dataclasses.replace(config, pull=rule)
        result = cg.bfs(graph, 0, config=config, device=device)
        check_search(graph, 0, result)
        expected = on_lanes if device.traits.lanes > 1 else "push pull pull push push push"
        assert " ".join(result.stats.per_level["direction"]) == expected, (sizes, apart)


def test_a_gpu_searches_where_degrees_say(intel):
    """In local memory where edges are few or the grid shares hubs; only where that was measured."""
    unknown = dataclasses.replace(intel.traits, is_cpu=False)
    gpu = dataclasses.replace(unknown, compute_capability=(9, 0))

    def chosen(traits, mean_degree, max_degree, **config):
        known = {"mean_degree": mean_degree, "max_degree": max_degree}
        resolved = resolve(bfs_config(**config), traits, m=10**6, predecessors=False, **known)
        return resolved.balance.name

    for mean_degree, max_degree, expected in (
        (2.6, 9, "warp_search_local"),
        (30, 10**5, "warp_search_local"),
        (13, 40, "warp_search"),
        (None, None, "warp_search"),
    ):
        assert chosen(gpu, mean_degree, max_degree) == expected
        for other in (intel.traits, unknown):
            assert chosen(other, mean_degree, max_degree) == "warp_search"
    assert chosen(gpu, 2.6, 9, queue="edge") == "warp_search"
    assert chosen(gpu, 2.6, 9, balance="cws") == "cws"


@DEVICE_SEARCHES
def test_stats_name_the_configuration_that_ran(device):
    config = config_of({"balance": "vwarp", "group_lanes": 4, "virtual_warp": 2}, device)
    ran = cg.bfs(MIXED, 0, config=config, device=device).stats.config
    assert ran.balance == cg.balance.Vwarp(width=min(2, device.traits.lanes))
    assert ran.group_size == 4 * device.traits.lanes
    # What was asked for is told, and the strategies that were chosen, in one line.
    assert config.as_dict().items() <= ran.as_dict().items()
    assert {"frontier", "balance", "pull", "schedule"} <= set(ran.as_dict())
    assert repr(ran).startswith("BFSConfig(frontier='vertex', balance=Vwarp(width=2), pull=")
    assert len(repr(ran)) <= 200
    for strategy in (
        ran.frontier.filled(cg.frontier.VertexQueue(hubs=cg.frontier.Hubs())),
        ran.limits,
    ):
        assert all(getattr(strategy, name) is not None for name in strategy.parameters())


def test_presets(any_device):
    assert "auto" in cg.BFSConfig.presets()
    for name in cg.BFSConfig.presets():
        preset = cg.BFSConfig.preset(name)
        assert isinstance(preset, cg.BFSConfig)
        by_name, by_value = (
            cg.bfs(MIXED, MIXED_SOURCES[0], config=config, device=any_device)
            for config in (name, preset)
        )
        check_search(MIXED, MIXED_SOURCES[0], by_name)
        assert by_name.stats.config == by_value.stats.config


@pytest.mark.parametrize("queue", ["vertex", "edge", "status"])
def test_split_kernels_are_launched_one_by_one(queue, intel):
    """Persistent, the first of them took the others' stages for done and found the source alone."""
    config = bfs_config(queue=queue, kernels="split")
    result = cg.BFS(MIXED, config=config, device=intel).run(MIXED_SOURCES[0])
    check_search(MIXED, MIXED_SOURCES[0], result)
    assert (result.stats.mode, result.stats.config.kernels) == ("stepped", "split")
