"""Every load balancer as a dimension of a search: same distances, whatever control flow it needs.

load-balancing common 1, on a frontier instead of a list of sizes; item_thread, vwarp at full width
and warp_search are also varied by test_bfs_config.py.
"""

import dataclasses

import numpy as np
import pytest
from configs import bfs_config, changed, mode_of
from graphs import SHAPES
from searches import (
    MIXED,
    MIXED_ONE_WAY,
    MIXED_ONE_WAY_SOURCES,
    MIXED_SOURCES,
    SEARCH_RUNTIMES,
    check_search,
)

import clgraph as cg
from clgraph.algorithms.bfs import plan as module
from clgraph.algorithms.bfs.buffers import table_of
from clgraph.algorithms.bfs.stages import kernel_parameters, stages_of
from clgraph.device import Memory
from clgraph.device.rendering.sources import render
from clgraph.engine.choose import resolve
from clgraph.engine.strategies.balance import BALANCERS

QUICK = ("cws", "multi_phase")  # compilers take seconds over each; the others are marked slow
OTHERS = [name for name in BALANCERS if name not in ("item_thread", "vwarp", "warp_search")]
# Into single-group mode and out of it, by way of a pull and of gathering, within one search.
EVERY_STAGE = {"alpha": 2**20, "pull_floor": 64, "single_group_edges": 200}


def check(config, device, *, predecessors=True):
    for graph, sources in ((MIXED, MIXED_SOURCES), (MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES)):
        plan = cg.BFS(graph, predecessors=predecessors, config=config, device=device)
        for source in sources:
            result = plan.run(source)
            check_search(graph, source, result)
            assert result.stats.mode == mode_of(config)
    return plan


def config_of(name, device, **more):
    hubs = {} if BALANCERS[name].SCOPE == "grid" else {"hub_degree": 60}
    lanes = device.traits.lanes
    return bfs_config(
        balance=name, group_size=4 * lanes if lanes > 1 else None, **EVERY_STAGE, **hubs, **more
    )


@pytest.mark.parametrize(
    "name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in OTHERS]
)
def test_in_groups_of_several_lane_groups(name, intel):
    """With single-group mode, hubs, pull and gathering; persistent, and a launch for each stage."""
    plan = check(config_of(name, intel), intel)
    directions = set(plan.run(MIXED_ONE_WAY_SOURCES[0]).stats.per_level["direction"])
    assert directions == {"push", "pull"}
    check(config_of(name, intel, synchronisation="stepped"), intel)


@pytest.mark.parametrize(
    "name",
    [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in ("vwarp", *OTHERS)],
)
def test_on_groups_of_one_lane(name, pocl):
    check(bfs_config(balance=name, single_group=False), pocl)


@pytest.mark.parametrize(
    "name",
    ["direct", *(pytest.param(n, marks=pytest.mark.slow) for n in ("cws", "two_phase"))],
)
def test_work_that_groups_claim(name, intel):
    config = changed(config_of(name, intel), hub_degree=0)
    check(changed(config, distribution="claimed"), intel)


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.slow) for n in OTHERS],
)
def test_by_emulated_lanes(name, intel):
    config = bfs_config(balance=name, kernels="fused", synchronisation="persistent")
    check(config, intel.emulating(8))


@pytest.mark.parametrize(
    "name",
    [n if n == "multi_phase" else pytest.param(n, marks=pytest.mark.slow) for n in OTHERS],
)
def test_awkward_shapes(name, any_device):
    for graph in SHAPES.values():
        config = config_of(name, any_device)
        plan = cg.BFS(graph, predecessors=True, config=config, device=any_device)
        for source in {0, graph.n // 2, graph.n - 1}:
            check_search(graph, source, plan.run(source))
            check_search(graph, source, plan.run(source, max_depth=2), 2)


@pytest.mark.slow
def test_virtual_groups_of_four_lanes(intel):
    check(config_of("vwarp", intel, virtual_warp=4), intel)


def test_a_launch_that_pauses_after_every_stage(intel, monkeypatch):
    """Also between giving a queue prefix sums and expanding it."""
    monkeypatch.setattr(
        module,
        "resolve",
        lambda *args, **more: dataclasses.replace(resolve(*args, **more), launch_work=1),
    )
    config = config_of("multi_phase", intel)
    plan = cg.BFS(MIXED, predecessors=True, config=config, device=intel)
    for source in MIXED_SOURCES:
        result = plan.run(source)
        check_search(MIXED, source, result)
        assert result.stats.launches > 1 or result.depth == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("single_group", [True, False])
@pytest.mark.runtimes(*SEARCH_RUNTIMES)
def test_without_predecessors(name, single_group, device):
    check(bfs_config(balance=name, single_group=single_group), device, predecessors=False)


def test_synonyms():
    others = ((name, kind) for kind in BALANCERS.values() for name in kind.SYNONYMS)
    for name, kind in others:
        assert bfs_config(balance=name).balance == kind()


@pytest.mark.parametrize(
    ("bad", "complaint"),
    [
        ({"balance": "direct", "queue": "edge"}, "hands out a few at a time"),
        ({"balance": "dyn_vwarp", "queue": "hybrid"}, "hands out a few at a time"),
        (
            {"balance": "direct", "duplicates": "load_lanes", "visited": "mask"},
            "drops vertices while they are shared out",
        ),
        ({"balance": "multi_phase", "hub_degree": 9}, "over the whole grid anyway"),
        ({"balance": "two_phase", "unit_batch": 0}, "unit_batch=0 is out of range"),
    ],
)
def test_what_cannot_be_combined(bad, complaint):
    with pytest.raises(cg.InvalidArgumentError, match=complaint):
        bfs_config(**bad)


def test_an_algorithm_says_which_balancers_it_takes():
    class Small(cg.BFSConfig):
        SCOPES = ("lanes",)

    with pytest.raises(cg.InvalidArgumentError, match=r"a whole group's work at once.*dyn_vwarp"):
        Small(balance="cws")


def test_sums_of_degrees_have_32_bits(intel):
    for name in ("direct", "two_phase", "multi_phase", "block_search"):
        config = bfs_config(balance=name)
        resolve(config, intel.traits, m=2**31 - 1, predecessors=False)
        with pytest.raises(cg.InvalidArgumentError, match="in 32 bits, but the graph has"):
            resolve(config, intel.traits, m=2**31, predecessors=False)
    resolve(bfs_config(balance="cws"), intel.traits, m=2**33, predecessors=False)


def test_sums_of_duplicates_have_32_bits_too(intel):
    """Beyond, a sum wraps before it exceeds what there is room for, and nobody would know."""
    config = bfs_config(balance="two_phase", visited="mask", queue_percent=300)
    for m, is_right in ((2**30, True), (2**31 - 1, False)):
        if is_right:
            resolve(config, intel.traits, m=m, predecessors=False)
        else:
            with pytest.raises(cg.InvalidArgumentError, match="queue_percent=300 has room"):
                resolve(config, intel.traits, m=m, predecessors=False)


@pytest.mark.parametrize("visited", ["bitmap", "mask"])
def test_chunks_take_no_more_memory_than_edges_do(visited, intel):
    """However many edges one group may have: bfs-4k's setting took 8 GB for a path on PoCL."""
    config = bfs_config(balance="two_phase", visited=visited, single_group_edges=2**31 - 1)
    resolved = resolve(config, intel.traits, m=MIXED.m, predecessors=False)
    table = table_of(MIXED, resolved, intel, lambda: 2, predecessors=False)
    table.allocate(Memory(intel))
    assert table["chunk_items"].count <= 2 * MIXED.m // resolved.chunks.step


def test_what_auto_chooses_is_unchanged(intel, pocl):
    assert (
        resolve(cg.BFSConfig(), intel.traits, m=10, predecessors=False).balance.name
        == "warp_search"
    )
    assert (
        resolve(cg.BFSConfig(), pocl.traits, m=10, predecessors=False).balance.name == "item_thread"
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["direct", "multi_phase"])
@pytest.mark.parametrize("percent", [1, 60, 130])
def test_more_duplicates_than_there_is_room_for(name, percent, intel):
    """Vertices that are queued twice bring edges twice: prefix sums have room for a share only."""
    config = bfs_config(
        balance=name,
        visited="mask",
        direction="push",
        queue_percent=percent,
        group_size=4 * intel.traits.lanes,
    )
    check(config, intel)


def beside_a_hub(device, degree):
    """A hub at 0 and, two hops from it, a vertex of `degree` edges, which is given as well."""
    hub = 64 * device.traits.lanes
    leaves = hub + degree
    edge_sources = [0] * hub + [leaves] * degree
    graph = cg.from_edges(
        edge_sources, [*range(1, hub + 1), *range(hub, leaves)], n=leaves + 1, symmetrize=True
    )
    return graph, leaves


def test_a_source_is_spread_over_groups_with_fewer_edges_than_a_hub(intel):
    """From four edges a lane on, where there are hubs; tiles of a given size are for hubs alone."""
    lanes = intel.traits.lanes
    for more, edges in (
        ({}, 4 * lanes),
        ({"hub_degree": 3}, 3),
        ({"hub_batch": 4}, 64 * lanes),
        ({"hub_degree": 0}, 2**32),
    ):
        graph, _ = beside_a_hub(intel, 4 * lanes)
        plan = cg.BFS(graph, config=bfs_config(**more), device=intel)
        parameters = kernel_parameters(plan.config, stages_of(plan.config), predecessors=False)
        parameters["arguments"] = plan._stages.table.rows
        text = render("bfs/bfs.cl", {"traits": intel.traits, "check": False, **parameters})
        assert f"hubs = edges >= {edges}ul;" in text


def test_a_source_beside_the_threshold_is_searched_whole(intel):
    for degree in (4 * intel.traits.lanes - 1, 4 * intel.traits.lanes, 64 * intel.traits.lanes - 1):
        graph, source = beside_a_hub(intel, degree)
        plan = cg.BFS(graph, predecessors=True, config="auto", device=intel)
        for start in (source, 0, source):
            check_search(graph, start, plan.run(start))


def long_rows(rows, degree):
    """A source beside a hub and `rows` vertices of `degree` edges or one or two more."""
    degrees = np.r_[8 * degree, degree + np.arange(rows) % 3]
    owners = np.repeat(np.arange(1, rows + 2), degrees)
    n = 2 + rows + owners.size
    edge_sources = np.r_[np.zeros(rows + 1, np.int64), owners]
    edge_targets = np.arange(1, n)
    names = np.random.default_rng(rows).permutation(n)
    graph = cg.from_edges(names[edge_sources], names[edge_targets], n=n, symmetrize=True)
    return graph, int(names[0])


@pytest.mark.parametrize(("rows", "groups"), [(3, 64), (40, 2), (700, 3)])
@pytest.mark.parametrize("batch", [None, 2, 7])
def test_every_edge_of_many_hubs_is_visited(rows, groups, batch, intel):
    """More than there are lanes, so that rounds go on from a batch of rows to the next."""
    lanes = intel.traits.lanes
    graph, source = long_rows(rows, 5 * lanes)
    more = {} if batch is None else {"hub_batch": batch}
    config = bfs_config(
        groups=groups, group_size=4 * lanes, hub_degree=3 * lanes, pull="never", **more
    )
    plan = cg.BFS(graph, predecessors=True, config=config, device=intel)
    assert plan.config.hub_degree == 3 * lanes
    for start in (source, graph.n - 1, source):
        check_search(graph, start, plan.run(start))


@pytest.mark.parametrize("rows", [1, 3, 9])
@pytest.mark.parametrize("balance", ["vwarp", "warp_search", "warp_search_local"])
def test_one_group_alone_shares_long_rows(balance, rows, intel):
    """Of fewer vertices than half of its SIMD groups several are at each, else one."""
    lanes = intel.traits.lanes
    graph, source = long_rows(rows, 5 * lanes)
    for group in (4, 6, 16):
        config = bfs_config(
            balance=balance,
            group_size=group * lanes,
            hub_degree=8 * lanes,
            single_group_edges=2**14,
            pull="never",
        )
        plan = cg.BFS(graph, predecessors=True, config=config, device=intel)
        assert plan.config.single_group
        for start in (source, graph.n - 1, source):
            check_search(graph, start, plan.run(start))


def test_how_many_are_at_a_row_in_single_group_mode(intel):
    """The rule as it is rendered; without hubs rows are short, and there is none."""
    for hub_degree, expected in ((60, True), (0, False)):
        graph, _ = long_rows(3, 5 * intel.traits.lanes)
        config = bfs_config(hub_degree=hub_degree, group_size=4 * intel.traits.lanes)
        plan = cg.BFS(graph, config=config, device=intel)
        parameters = kernel_parameters(plan.config, stages_of(plan.config), predecessors=False)
        parameters["arguments"] = plan._stages.table.rows
        text = render("bfs/bfs.cl", {"traits": intel.traits, "check": False, **parameters})
        rule = "while (max(now.length, 1u) * parts * 2u <= GROUP_LANES) parts *= 2u;"
        assert (rule in text) == expected


@pytest.mark.usefixtures("pocl")
def test_rounds_of_a_scan_stay_within_their_array(monkeypatch):
    """What a work-item had put down was in a word that PoCL, not optimising, loses at barriers."""
    monkeypatch.setenv("CLGRAPH_CHECK", "1")
    graph = cg.generate.kron(6, 6, seed=2)
    config = cg.BFSConfig(frontier=cg.frontier.VertexQueue(), balance="cws", pull="never")
    plan = cg.BFS(graph, config=config, device="pocl+lanes32")
    for source in np.flatnonzero(graph.degrees)[::5].tolist():
        check_search(graph, source, plan.run(source))
