"""Scalable traversal by prefix sums (bfs-merrill): its checklist by number.

Elsewhere: several devices in test_bfs_divided.py (19) and tests/cluster/test_exchanges.py (20, 21),
scans (3) in test_primitives_group.py, gathering (5 to 7) on made-up sizes too in
test_primitives_expand.py, the benchmark (22) in tests/bench.
"""

import logging

import numpy as np
import pytest
from configs import bfs_config
from graphs import SHAPES, graphs
from hypothesis import given, settings
from searches import (
    MIXED,
    MIXED_ONE_WAY,
    MIXED_ONE_WAY_SOURCES,
    MIXED_SOURCES,
    check_search,
)

import clgraph as cg
from clgraph.algorithms.bfs.buffers import table_of
from clgraph.algorithms.bfs.stages import kernel_parameters, stages_of
from clgraph.device.rendering.sources import render
from clgraph.engine.choose import resolve

STRATEGIES = [name for name in cg.BFSConfig.presets() if name.startswith("merrill")]
SLOW = pytest.mark.slow
ONE_RUNTIME = pytest.mark.runtimes("pocl")  # whose builds are the quickest
QUEUES = ("vertex", "edge", "two_phase", "hybrid")
# The example of the paper: its frontiers are listed there.
EXAMPLE = cg.from_edges(
    [0, 0, 1, 1, 1, 3, 2, 4, 5, 5, 7], [1, 3, 0, 2, 4, 4, 5, 7, 6, 8, 8], n=9, directed=True
)


def searched(graph, source, device, *, predecessors=False, **config):
    config = bfs_config(**config)
    plan = cg.BFS(graph, predecessors=predecessors, config=config, device=device)
    result = plan.run(source)
    check_search(graph, source, result)
    return result


def rendered(config, device, **more):
    decided = resolve(bfs_config(**config), device.traits, m=100, predecessors=False, **more)
    parameters = kernel_parameters(decided, stages_of(decided), predecessors=False)
    parameters["arguments"] = table_of(MIXED, decided, device, lambda: 1, predecessors=False).rows
    return render("bfs/bfs.cl", {"traits": device.traits, "check": False, **parameters})


@ONE_RUNTIME
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_checklist_1_and_14_distances_and_trees(strategy, device):
    """Every strategy on directed, disconnected graphs with loops; parents are carried."""
    for graph, sources in ((MIXED, MIXED_SOURCES), (MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES)):
        plan = cg.BFS(graph, predecessors=True, config=strategy, device=device)
        for source in sources:
            check_search(graph, source, plan.run(source))


@pytest.mark.runtimes("pocl")
@pytest.mark.parametrize("strategy", ["merrill-hybrid"])
def test_checklist_1_on_degenerate_graphs(strategy, device):
    for graph in SHAPES.values():
        plan = cg.BFS(graph, config=strategy, device=device)
        for source in {0, graph.n // 2, graph.n - 1}:
            check_search(graph, source, plan.run(source))


@ONE_RUNTIME
@pytest.mark.parametrize("queue", QUEUES)
def test_checklist_2_frontiers_of_the_example(queue, device):
    """Vertex frontiers 0, 13, 24, 57, 68; edge frontiers of 2, 4, 2, 3 and 0 without culling."""
    result = searched(EXAMPLE, 0, device, queue=queue, visited="bitmap", direction="push")
    frontiers = [set(np.flatnonzero(result.distances == d)) for d in range(5)]
    assert frontiers == [{0}, {1, 3}, {2, 4}, {5, 7}, {6, 8}]
    assert result.stats.expanded_edges.tolist() == [2, 4, 2, 3, 0]
    assert result.stats.per_level["frontier"].tolist() == [1, 2, 2, 2, 2]
    if queue != "vertex":  # as the kernel recorded them; stats know them from the distances
        assert result._found.levels[:5, 1].tolist() == [2, 4, 2, 3, 0]


@ONE_RUNTIME
@pytest.mark.parametrize("queue", ["edge", "two_phase"])
def test_checklist_4_candidates_lie_without_gaps(queue, device):
    """Room is reserved for a tile with one atomic: the queue holds each edge of a level once."""
    hub = MIXED_SOURCES[0]
    plan = cg.BFS(MIXED, config=bfs_config(queue=queue, balance="warp_search"), device=device)
    plan.run(hub, max_depth=1)
    table = plan._stages.table
    queues = [table[name] for name in table.sizes if name.startswith("candidates")]
    neighbours = np.sort(MIXED.indices[MIXED.indptr[hub] : MIXED.indptr[hub + 1]])
    assert any(
        np.array_equal(np.sort(held.read()[: neighbours.size]), neighbours) for held in queues
    )
    text = rendered({"queue": queue, "balance": "warp_search"}, device)
    body = text[text.index("void bfs(") :]
    reservations = body.count("atom_add((volatile __global ulong *)(state + NEXT + slot")
    assert 1 <= reservations <= 4  # a tile of candidates, two of found vertices, arriving


@pytest.mark.runtimes("intel")
@pytest.mark.parametrize("balance", ["item_thread", "vwarp", "warp_search", "cws"])
def test_checklist_5_ways_to_gather(balance, device):
    """Lists of every length around a SIMD group and a work-group, by each way the same levels."""
    group = 2 * device.traits.lanes
    sizes = sorted({0, 1, 2, *(max(x + d, 0) for x in (16, 32, 64) for d in (-1, 0, 1)), 300})
    roots = np.arange(1, len(sizes) + 1)
    leaf = np.arange(sum(sizes)) + len(sizes) + 1
    src = np.concatenate([np.zeros_like(roots), np.repeat(roots, sizes)])
    graph = cg.from_edges(src, np.concatenate([roots, leaf]), n=int(leaf[-1]) + 1)
    result = searched(graph, 0, device, queue="two_phase", balance=balance, group_size=group)
    assert result.stats.expanded_edges.tolist() == [len(sizes), sum(sizes), 0]


@ONE_RUNTIME
def test_checklist_8_mask(device):
    """Set bits are visited vertices, none is set by an atomic, and distances decide otherwise."""
    config = {"queue": "edge", "visited": "mask"}
    plan = cg.BFS(MIXED, config=bfs_config(**config), device=device)
    for source in MIXED_SOURCES:
        result = plan.run(source)
        mask = plan._stages.table["visited_even"]
        bits = np.unpackbits(mask.read().view(np.uint8), bitorder="little")[: MIXED.n]
        assert not (bits.astype(bool) & (result.distances < 0)).any()
        assert bits.sum() > 0
    assert "WORD_OR(&" not in rendered(config, device)


def repeated_edges(copies, vertices):
    """A source with `copies` parallel edges to each of `vertices` others, next to one another."""
    edge_targets = np.repeat(np.arange(1, vertices + 1), copies)
    return cg.from_edges(np.zeros_like(edge_targets), edge_targets, n=vertices + 1)


def queued(graph, device, **config):
    """What the first level put in a queue, by one work-group."""
    result = searched(graph, 0, device, groups=1, visited="plain", single_group=False, **config)
    return int(result._found.levels[1, 0])


@pytest.mark.optimised  # lanes in lockstep
@pytest.mark.parametrize("vertices", ["equal", "different"])
def test_checklist_9_warp_culling(vertices, intel):
    """Of equal vertices on lanes of a SIMD group one stays; a collision culls nothing."""
    lanes = intel.traits.lanes
    base = {"balance": "vwarp", "queue": "vertex", "direction": "push"}
    if vertices == "equal":
        graph = repeated_edges(2 * lanes, 3)
        assert queued(graph, intel, **base) == 3 * lanes
        assert queued(graph, intel, duplicates="lookup_lanes", **base) == 3
        return
    graph = repeated_edges(1, 3 * lanes)
    for size in (1, 128):
        found = queued(graph, intel, duplicates="lookup_lanes", hash_size=size, **base)
        assert found == 3 * lanes


@pytest.mark.optimised  # lanes in lockstep
@pytest.mark.parametrize("vertices", ["equal", "different"])
def test_checklist_10_history_culling(vertices, intel):
    """What a group let pass goes when it comes again; a collision culls nothing."""
    lanes = intel.traits.lanes
    if vertices == "different":
        graph = repeated_edges(1, 3 * lanes)
        assert queued(graph, intel, history=1, queue="vertex", direction="push") == 3 * lanes
        return
    ends = [(0, v) for v in range(1, 2 * lanes + 1)]
    ends += [(v, 2 * lanes + 1) for v in range(1, 2 * lanes + 1)]
    graph = cg.from_edges(*np.array(ends).T, n=2 * lanes + 2)
    base = {"balance": "item_thread", "queue": "edge", "groups": 1}

    def twice(**more):
        result = searched(graph, 0, intel, **base, **more)
        return int(result._found.levels[2, 0])

    assert twice(visited="plain") > 1
    assert twice(visited="plain", duplicates="lookup_lanes", history=64) == 1
    assert twice(visited="plain", history=1) >= 1


@pytest.mark.parametrize(
    "culling",
    [
        {},
        {"duplicates": "lookup_lanes"},
        {"history": 512},
        {"duplicates": "lookup_lanes", "history": 512},
    ],
)
def test_checklist_11_each_filter_alone(culling, intel):
    """Results are the same; the redundant expansion factor is at least 1 and falls with filters."""
    grid = cg.generate.grid2d(60, 60)
    config = {"queue": "vertex", "visited": "plain", "balance": "warp_search", **culling}
    result = searched(grid, 1830, intel, **config)
    redundancy = result.stats.redundancy
    assert redundancy.shape == (result.depth + 1,)
    assert (redundancy >= 1).all()
    if len(culling) == 2:  # filters are a work-group's own: what several find twice stays
        assert searched(grid, 1830, intel, groups=1, **config).stats.redundancy.max() <= 1.5


def test_checklist_11_redundancy_is_what_was_expanded_over_what_had_to_be(pocl):
    """Level by level, out of what the kernel recorded: of three times as many edges it is 3."""
    stats = searched(cg.generate.grid2d(8, 8), 0, pocl, queue="vertex", visited="plain").stats
    stats._hops.levels[2, 1] *= 3
    assert stats.redundancy.tolist() == [3.0 if level == 2 else 1.0 for level in range(15)]


@pytest.mark.parametrize("spec", ["pocl", pytest.param("intel", marks=SLOW)])
def test_checklist_12_no_vertex_is_lost(spec, request):
    """Random graphs, tiny tables, each filter at each place."""
    device = request.getfixturevalue(spec)
    configs = [
        bfs_config(
            queue=queue,
            visited=visited,
            duplicates=duplicates,
            hash_size=size,
            history=size,
            group_size=2 * device.traits.lanes if device.traits.lanes > 1 else 1,
        )
        for queue, visited, duplicates, size in (
            ("vertex", "plain", "lookup_lanes", 1),
            ("edge", "mask", "load_group", 2),
            ("two_phase", "plain", "lookup_group", 2),
        )
    ]

    @settings(max_examples=20)
    @given(graph=graphs())
    def search(graph):
        for config in configs:
            result = cg.bfs(graph, 0, predecessors=True, config=config, device=device)
            check_search(graph, 0, result)

    search()


@ONE_RUNTIME
def test_checklist_13_storage_and_traffic(device):
    """Queues have the room that is stated, and levels expand about as many edges as there are."""
    m, n = MIXED.m, MIXED.n
    room = {"vertex": (n, 0), "edge": (0, 2 * m), "two_phase": (n, m), "hybrid": (n, 2 * m)}
    for queue, (vertices, candidates) in room.items():
        config = bfs_config(queue=queue, direction="push", visited="bitmap")
        plan = cg.BFS(MIXED, config=config, device=device)
        table = plan._stages.table
        held = {name: table[name].count for name in table.sizes}
        entry = {"vertex": 1, "row": 2, "full": 4}[plan.config.entry]
        even = held["queue_even"] // entry
        assert vertices <= even <= vertices + 64
        total = held.get("candidates_even", 0) + held.get("candidates_odd", 0)
        assert candidates <= total <= candidates + 4
        result = plan.run(MIXED_SOURCES[0])
        recorded = result._found.levels[: result.depth + 1, 1].sum()
        assert recorded == (0 if queue == "vertex" else result.stats.edges_traversed)


@ONE_RUNTIME
@pytest.mark.parametrize(("limit", "stages"), [(0, {"contract"}), (2**31 - 1, {"contract_expand"})])
def test_checklist_15_hybrid_thresholds(limit, stages, device):
    result = searched(MIXED, MIXED_SOURCES[1], device, queue="hybrid", hybrid_limit=limit)
    assert set(result.stats.stages) == stages


@ONE_RUNTIME
def test_checklist_15_hybrid_switches_by_the_number_of_candidates(device):
    result = searched(MIXED, MIXED_SOURCES[1], device, queue="hybrid", hybrid_limit=100)
    candidates = [1, *result.stats.expanded_edges[:-1]]
    expected = ["contract" if count > 100 else "contract_expand" for count in candidates]
    assert list(result.stats.stages) == expected
    assert {"contract", "contract_expand"} <= set(expected)


@ONE_RUNTIME
@pytest.mark.parametrize("queue", ["edge", "two_phase", pytest.param("hybrid", marks=SLOW)])
def test_checklist_16_overflow_is_an_error(queue, device):
    config = bfs_config(queue=queue, visited="bitmap", queue_percent=10)
    plan = cg.BFS(MIXED, config=config, device=device)
    for _ in range(2):
        with pytest.raises(cg.ClgraphError, match="queues of 10 percent can hold; choose"):
            plan.run(MIXED_SOURCES[0])
    # A search that stays within the room is right after that.
    check_search(MIXED, MIXED_SOURCES[5], plan.run(MIXED_SOURCES[5]))


@ONE_RUNTIME
@pytest.mark.parametrize("queue", ["edge", "two_phase"])
@pytest.mark.parametrize("leaves", [11, 12])
def test_checklist_16_a_level_may_fill_a_queue_and_no_more(queue, leaves, device):
    """A quarter of 40 edges and one are 11 places: as many candidates fit, one more does not."""
    ends = np.arange(1, leaves + 1)
    apart = np.arange(30, 70 - leaves)  # of a vertex that no search comes to
    src = np.concatenate([np.zeros_like(ends), np.full_like(apart, 20)])
    graph = cg.from_edges(src, np.concatenate([ends, apart]), n=80, directed=True)
    config = bfs_config(queue=queue, visited="bitmap", direction="push", queue_percent=25)
    plan = cg.BFS(graph, config=config, device=device)
    assert plan._stages.table["candidates_even"].count == 11
    if leaves == 11:
        check_search(graph, 0, plan.run(0))
        return
    with pytest.raises(cg.ClgraphError, match="queues of 25 percent can hold"):
        plan.run(0)


@ONE_RUNTIME
def test_checklist_16_duplicates_that_overflow_are_searched_again(device, caplog):
    plan = cg.BFS(
        MIXED,
        predecessors=True,
        config=bfs_config(queue="vertex", visited="plain", queue_percent=1),
        device=device,
    )
    with caplog.at_level(logging.WARNING, logger="clgraph"):
        for source in MIXED_SOURCES:
            check_search(MIXED, source, plan.run(source))
    assert sum("overflowed" in message for message in caplog.messages) == 1


@ONE_RUNTIME
def test_checklist_17_work_is_linear(device):
    for graph in (cg.generate.kron(9, seed=4), cg.generate.grid2d(40, 40)):
        # Of one work-group: what several find twice, is expanded twice.
        config = cg.BFSConfig.preset("merrill-hybrid").with_values({"schedule.groups": 1})
        plan = cg.BFS(graph, config=config, device=device)
        source = int(np.argmax(graph.degrees))
        assert plan.run(source).stats.expanded_edges.sum() <= 1.1 * graph.m
    path = cg.generate.path(100_000)
    stats = cg.BFS(path, config="merrill-hybrid", device=device).run(0).stats
    assert stats.levels == 100_000
    assert stats.expanded_edges.max() <= 2


@pytest.mark.parametrize("distribution", ["static", "claimed"])
@pytest.mark.parametrize("queue", ["edge", "hybrid"])
def test_checklist_18_tiles_by_position_or_taken(queue, distribution, intel):
    """More groups than run at once, each with its share, or tiles taken from a counter."""
    result = searched(
        MIXED, MIXED_SOURCES[2], intel, queue=queue, distribution=distribution, groups=20
    )
    assert result.stats.config.distribution == distribution
    text = rendered({"queue": queue, "distribution": distribution}, intel)
    body = text[text.index("void bfs(") :]
    assert ("tile_claimed = atomic_add(state + CLAIM" in body) == (distribution == "claimed")
    assert ("tile_first += (ulong)(GROUP_LANES * now.members)" in body) == (
        distribution == "static"
    )


def test_checklist_23_lattices():
    """The paper's lattices have an edge of each vertex to itself: from_edges keeps such edges."""
    grid = cg.generate.grid2d(5, 4)
    loops = np.arange(grid.n)
    src = np.concatenate([np.repeat(loops, grid.degrees), loops])
    assert cg.from_edges(src, np.concatenate([grid.indices, loops]), n=grid.n).m == grid.m + grid.n
