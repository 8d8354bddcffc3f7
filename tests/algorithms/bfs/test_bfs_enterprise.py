"""A status array with queues out of it (bfs-enterprise): its checklist by number.

Elsewhere: several devices (22) in test_bfs_divided.py and tests/cluster/test_exchanges.py, the
benchmark and generators (23 to 25).
"""

import logging
import re

import numpy as np
import pytest
from configs import bfs_config
from graphs import SHAPES
from searches import (
    MIXED,
    MIXED_ONE_WAY,
    MIXED_ONE_WAY_SOURCES,
    MIXED_SOURCES,
    check_search,
)

import clgraph as cg
from clgraph.algorithms.bfs.buffers import table_of
from clgraph.algorithms.bfs.hubs import hub_floor
from clgraph.algorithms.bfs.stages import TALLY_WORDS, kernel_parameters, stages_of
from clgraph.device.rendering.sources import render
from clgraph.engine.choose import resolve

ONE_RUNTIME = pytest.mark.runtimes("pocl")  # whose builds are the quickest
SLOW = pytest.mark.slow
# Every level but the first pulls, whatever is in it.
ALWAYS_PULL = {"switching": "edges", "alpha": 2**30, "pull_floor": 2**30}


def plan_for(graph, device, *, predecessors=False, **config):
    config = bfs_config(queue="status", **config)
    return cg.BFS(graph, predecessors=predecessors, config=config, device=device)


def searched(graph, source, device, **config):
    result = plan_for(graph, device, **config).run(source)
    check_search(graph, source, result)
    return result


def last_queue(plan, depth):
    """The queue of the last level that was written, class by class, after a search of `depth`."""
    held = plan._stages.table
    odd = depth % 2
    sizes = held["tallies"].read()[TALLY_WORDS["SIZES"] + 4 * odd :][:4]
    words = held["queue_odd" if odd else "queue_even"].read()
    return np.split(words[: sizes.sum()], np.cumsum(sizes)[:-1])


@ONE_RUNTIME
@pytest.mark.parametrize("predecessors", [pytest.param(False, marks=SLOW), True])
def test_checklist_1_levels_and_parents(predecessors, device):
    """By pushing and pulling, on directed and disconnected graphs with loops and repeats."""
    for graph, sources in ((MIXED, MIXED_SOURCES), (MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES)):
        plan = plan_for(graph, device, predecessors=predecessors, hub_cache=16, **ALWAYS_PULL)
        for source in sources:
            check_search(graph, source, plan.run(source))


@pytest.mark.runtimes("pocl")
def test_checklist_1_on_degenerate_graphs(device):
    for graph in SHAPES.values():
        plan = plan_for(graph, device, gamma=0, hub_cache=16)
        for source in {0, graph.n // 2, graph.n - 1}:
            check_search(graph, source, plan.run(source))


FLAGS = {
    "BL": {"generation": "none", "classes": 1, "hub_cache": 0},
    "TS": {"classes": 1, "hub_cache": 0},
    "WB": {"classes": 4, "hub_cache": 0},
    "HC": {"classes": 4, "hub_cache": 256},
}


@pytest.mark.parametrize("flags", FLAGS)
def test_checklist_2_and_3_cumulative_variants(flags, intel):
    """BL has a work-group for each vertex and no queue; the others add to it one by one."""
    group_size = 2 * intel.traits.lanes
    for source in MIXED_SOURCES:
        result = searched(
            MIXED, source, intel, group_size=group_size, **FLAGS[flags], **ALWAYS_PULL
        )
    assert "write" not in result.stats.stages


def kernel(device, **config):
    """The kernel as it is rendered, from its arguments on."""
    wanted = bfs_config(queue="status", **config)
    decided = resolve(wanted, device.traits, m=100, predecessors=True)
    parameters = kernel_parameters(decided, stages_of(decided), predecessors=True)
    parameters["arguments"] = table_of(MIXED, decided, device, lambda: 1, predecessors=True).rows
    text = render("bfs/bfs.cl", {"traits": device.traits, "check": False, **parameters})
    return text[text.index("void bfs(") :]


def test_checklist_4_no_atomic_on_distances_or_queues(intel):
    lines = kernel(intel).splitlines()
    calls = [line for line in lines if "atomic_" in line or "atom_" in line]
    assert calls
    for line in calls:
        assert any(name in line for name in ("tallies", "TALLY_", "state", "group_sums")), line


@ONE_RUNTIME
@pytest.mark.parametrize("generation", ["bins"])
def test_checklist_5_and_9_queue_is_the_frontier(generation, device):
    """As a set, without duplicates; counting twice and bins give the same queues."""
    queues = {}
    for kind in {"recount", generation}:
        plan = plan_for(MIXED, device, generation=kind, direction="push", groups=3)
        for source in MIXED_SOURCES[:3]:
            result = plan.run(source)
            queue = np.concatenate(last_queue(plan, result.depth))
            frontier = np.flatnonzero(result.distances == result.depth)
            np.testing.assert_array_equal(np.sort(queue), frontier)
            queues.setdefault(source, []).append(queue)
    for both in queues.values():
        np.testing.assert_array_equal(both[0], both[-1])
    # Bins are copied; who looks at the vertices a second time needs none.
    texts = {kind: kernel(device, generation=kind) for kind in ("bins", "recount")}
    copies = "queue_to[places[c] + k] = bins["
    assert {kind: copies in text for kind, text in texts.items()} == {
        "bins": True,
        "recount": False,
    }


def test_checklist_6_pushed_queues_are_interleaved(pocl):
    """Ten vertices and two work-items: the even ones come before the odd ones."""
    graph = cg.from_edges([0, 0], [1, 4], n=10)
    plan = plan_for(graph, pocl, groups=2, group_size=1)
    assert plan.run(0).depth == 1
    assert np.concatenate(last_queue(plan, 1)).tolist() == [4, 1]


@ONE_RUNTIME
def test_checklist_7_queues_at_the_switch_are_sorted(device):
    plan = plan_for(MIXED, device, gamma=0, groups=3)
    result = plan.run(MIXED_SOURCES[1], max_depth=2)
    check_search(MIXED, MIXED_SOURCES[1], result, max_depth=2)
    assert result.stats.tallies["switches"] == 1
    queues = last_queue(plan, 1)
    for queue in queues:
        assert (np.diff(queue.astype(np.int64)) > 0).all()
    expected = np.flatnonzero((result.distances < 0) | (result.distances > 1))
    np.testing.assert_array_equal(np.sort(np.concatenate(queues)), expected)


@ONE_RUNTIME
def test_checklist_8_pulled_queues_shrink_in_order(device):
    plan = plan_for(MIXED, device, groups=3, **ALWAYS_PULL)
    source, before = MIXED_SOURCES[1], None
    for depth in range(2, 6):
        result = plan.run(source, max_depth=depth)
        queues = last_queue(plan, depth - 1)
        left = set(np.flatnonzero((result.distances < 0) | (result.distances == depth)))
        assert set(np.concatenate(queues)) == left
        for which, queue in enumerate(queues):
            if before is not None:
                kept = [v for v in before[which] if v in left]
                np.testing.assert_array_equal(queue, kept)
        before = queues


@pytest.mark.parametrize(
    ("degree", "expected"),
    [(31, 0), (32, 1), (255, 1), (256, 2), (65_535, 2), (65_536, 3)],
)
def test_checklist_10_edges_of_the_classes(degree, expected, pocl):
    plan = plan_for(cg.generate.star(degree + 1), pocl)
    plan.run(0, max_depth=0)
    sizes = [queue.size for queue in last_queue(plan, 0)]
    assert sizes == [int(k == expected) for k in range(4)]


# In-degrees of a class each, and how many in-neighbours lie before the one that is visited first.
ROWS = {20: 5, 100: 37, 300: 170, 70_000: 40_000}
LOW, HIGH = 69_999, 70_000  # never reached, by number before the one that is, and behind it


def pulled_rows(rows):
    """A source, its only neighbour, and behind that vertices of such in-degrees."""
    first, source = LOW, LOW + 1 + HIGH
    tails, heads = [source], [first]
    for k, (degree, before) in enumerate(rows.items()):
        row = [*range(before), first, *range(first + 1, first + degree - before)]
        tails += row
        heads += [source + 1 + k] * degree
    return cg.from_edges(tails, heads, n=source + 1 + len(rows), directed=True), source


def inspected(degree, before, width):
    """Edges that so many work-items look at, as many at a time, until one is accepted."""
    return min(degree, width * (before // width + 1))


@pytest.mark.parametrize("flags", FLAGS)
def test_checklist_3_and_11_each_class_has_its_own_work_items(flags, intel):
    """One, a SIMD group or a work-group, by the edges that are pulled: they are whole rounds."""
    graph, source = pulled_rows(ROWS)
    lanes = intel.traits.lanes
    group = 2 * lanes
    result = searched(
        graph, source, intel, group_size=group, groups=1, **FLAGS[flags], **ALWAYS_PULL
    )
    by_class = [1, lanes, group, group] if FLAGS[flags]["classes"] == 4 else [group] * 4
    expected = [inspected(*row, width) for row, width in zip(ROWS.items(), by_class, strict=True)]
    assert len(set(expected)) == 4
    assert result.stats.tallies["pulled_edges"] == sum(expected)


def test_checklist_11_pushing_has_the_same_work_items(intel):
    """As text: what is pushed is counted alike, whoever walks a row."""
    steps = re.findall(r"\+ part \* GROUP_SIZE \+ lid;|\+ lane_id\(\); e < past;", kernel(intel))
    assert steps == ["+ part * GROUP_SIZE + lid;", "+ lane_id(); e < past;"]


def test_checklist_12_the_largest_rows_are_every_groups(intel):
    """Of two groups the one that cannot find it looks at a round of its part all the same."""
    graph, source = pulled_rows({70_000: 0})
    config = {"group_size": 2 * intel.traits.lanes, "synchronisation": "stepped"}
    looked_at = [
        searched(graph, source, intel, groups=groups, **config, **ALWAYS_PULL).stats.tallies
        for groups in (1, 2)
    ]
    assert looked_at[0]["pulled_edges"] == config["group_size"]
    assert looked_at[1]["pulled_edges"] >= 2 * config["group_size"]


@ONE_RUNTIME
def test_checklist_11_and_12_a_hub_is_everybodys(device):
    """More than 65,536 leaves go through the last class, pushed and pulled, beside the others."""
    leaves = np.arange(70_000) + 2
    src = np.concatenate([[0], np.ones_like(leaves), leaves[:500]])
    dst = np.concatenate([[1], leaves, leaves[:500] + 70_000])
    graph = cg.from_edges(src, dst, symmetrize=True)
    plan = plan_for(graph, device)
    for source in (1, 0, 2):
        check_search(graph, source, plan.run(source))
    # Pulling from the second level on finds the hub itself among its leaves.
    far = int(leaves[499]) + 70_000
    plan = plan_for(graph, device, hub_cache=16, **ALWAYS_PULL)
    result = plan.run(far)
    check_search(graph, far, result)
    assert result.distances[1] == 2
    assert result.stats.tallies["pulled_edges"] > 70_000


@ONE_RUNTIME
def test_checklist_13_one_switch_by_hubs(device):
    """Where the frontier holds more than gamma percent of the hubs; never where there are none."""
    graph = cg.generate.kron(10, seed=5)
    floor = hub_floor(graph.degrees, 1024)
    hubs = graph.degrees > floor
    plan = plan_for(graph, device, gamma=30)
    for source in (int(np.argmax(graph.degrees)), int(np.flatnonzero(graph.degrees == 1)[0])):
        result = plan.run(source)
        check_search(graph, source, result)
        share = [
            100 * np.count_nonzero(hubs & (result.distances == d)) / np.count_nonzero(hubs)
            for d in range(result.depth + 1)
        ]
        first = next(d for d, percent in enumerate(share) if d and percent > 30)
        ways = result.stats.per_level["direction"][: result.depth]
        assert list(ways) == ["push"] * first + ["pull"] * (result.depth - first)
        assert result.stats.tallies["switches"] == 1
        assert result.stats.tallies["returns"] == 0
    grid = cg.generate.grid2d(20, 20)
    stats = searched(grid, 0, device).stats
    assert stats.tallies["hubs"] == 0
    assert set(stats.stages) <= {"push", "end"}


@ONE_RUNTIME
def test_option_pushing_again(device):
    """The way back that the paper leaves out, as an option."""
    for source in MIXED_SOURCES:
        result = searched(MIXED, source, device, beta=8, **ALWAYS_PULL)
    result = searched(MIXED, MIXED_SOURCES[3], device, beta=8, **ALWAYS_PULL)
    assert result.stats.tallies["returns"] >= 1
    assert result.stats.tallies["switches"] >= result.stats.tallies["returns"]


@ONE_RUNTIME
def test_checklist_14_and_18_edges_are_counted(device):
    """By direction; pulling stops at the first visited neighbour."""
    graph = cg.generate.kron(10, seed=5)
    source = int(np.argmax(graph.degrees))
    pushed = searched(graph, source, device, direction="push").stats
    assert pushed.tallies["pushed_edges"] == pushed.edges_traversed
    assert pushed.tallies["pulled_edges"] == 0
    for rule in ({"switching": "edges"}, {"switching": "hubs", "gamma": 10}):
        pulled = searched(graph, source, device, **rule).stats
        unvisited = graph.degrees.sum() - graph.degrees[source]
        assert 0 < pulled.tallies["pulled_edges"] < unvisited


def test_checklist_15_hub_floor():
    """One less than the degree of the last of the vertices with a tenth of the edges."""
    degrees = np.array([1] * 900 + [100] * 5 + [50] * 5)
    assert hub_floor(degrees, 1024) == 99
    assert hub_floor(degrees, 1) == 99
    assert hub_floor(np.full(100, 4), 1024) == 4
    assert hub_floor(np.zeros(5, np.int64), 1024) == 0
    assert hub_floor(np.array([], np.int64), 1024) == 0


@ONE_RUNTIME
@pytest.mark.parametrize("size", [1, 16, pytest.param(1024, marks=SLOW)])
def test_checklist_16_and_17_hub_caches(size, device):
    """Of any size give the same levels; hits end inspections and are told, and hubs may be set."""
    graph = cg.generate.kron(10, seed=5)
    source = int(np.argmax(graph.degrees))
    without = searched(graph, source, device, hub_cache=0, gamma=10)
    assert without.stats.hub_cache_hit_rate is None
    cached = searched(graph, source, device, hub_cache=size, gamma=10, hub_floor=50)
    assert cached.stats.tallies["hubs"] == np.count_nonzero(graph.degrees > 50)
    assert 0 <= cached.stats.hub_cache_hit_rate <= 1
    assert size == 1 or cached.stats.tallies["hits"] > 0


@pytest.mark.parametrize(("size", "kept"), [(1, 1), (2, 2), (4, 4), (16, 4)])
def test_checklist_17_a_cache_has_so_many_places(size, kept, pocl):
    """Of four hubs with consecutive numbers as many are found in it as it has places for."""
    leaves = 5 + np.arange(200)
    tails, heads = np.r_[0, 0, 0, 0, 1 + np.arange(200) % 4], np.r_[1, 2, 3, 4, leaves]
    graph = cg.from_edges(tails, heads, symmetrize=True)
    result = searched(graph, 0, pocl, hub_cache=size, hub_floor=40, gamma=1)
    assert result.stats.tallies["hubs"] == 4
    assert result.stats.tallies["looks"] == 200
    assert result.stats.tallies["hits"] == 50 * kept


@ONE_RUNTIME
def test_checklist_19_pulling_takes_in_edges(device):
    graph = cg.from_edges([0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 5], n=6)
    result = searched(graph, 0, device, **ALWAYS_PULL)
    assert result.depth == 5
    assert searched(graph, 5, device, **ALWAYS_PULL).reached == 1


@pytest.mark.parametrize("predecessors", [False, pytest.param(True, marks=SLOW)])
def test_checklist_20_status_of_a_byte(predecessors, intel):
    """The same levels out of bytes, pushed and pulled; the results are made of them at the end."""
    for graph, sources in ((MIXED, MIXED_SOURCES), (MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES)):
        plan = plan_for(
            graph, intel, predecessors=predecessors, status_bits=8, hub_cache=16, **ALWAYS_PULL
        )
        for source in (*sources, sources[0]):
            check_search(graph, source, plan.run(source))
            check_search(graph, source, plan.run(source, max_depth=2), max_depth=2)
            check_search(graph, source, plan.run(source, max_depth=0), max_depth=0)


@ONE_RUNTIME
def test_checklist_20_deeper_than_a_byte(device, caplog):
    """254 levels are told, and what max_depth ends at; more are searched again with 32 bits."""
    path = cg.generate.path(300)
    plan = plan_for(path, device, status_bits=8)
    with caplog.at_level(logging.WARNING, logger="clgraph"):
        check_search(path, 46, plan.run(46))  # 253 hops to the far end
        check_search(path, 0, plan.run(0, max_depth=254), max_depth=254)
        assert not caplog.messages
        for source in (45, 0):
            check_search(path, source, plan.run(source))
        check_search(path, 150, plan.run(150))
    assert sum("deeper than bits=8" in message for message in caplog.messages) == 1
    with pytest.raises(cg.InvalidArgumentError, match="bits=16 is not one of 8, 32"):
        bfs_config(queue="status", status_bits=16)
    with pytest.raises(TypeError, match="bits"):
        cg.frontier.VertexQueue(bits=8)


@ONE_RUNTIME
def test_checklist_21_ends_beside_unreachable_vertices(device):
    graph = cg.from_edges([0, 1, 2, 10, 11], [1, 2, 3, 11, 12], n=40, symmetrize=True)
    result = searched(graph, 0, device, **ALWAYS_PULL)
    assert result.reached == 4
    assert "pull" in result.stats.stages
