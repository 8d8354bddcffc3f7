"""What a search counts of its balancer, queues and filters (``counts=True``).

The lines of checklists that ask for a counter: bfs-helix 8 and 15, bfs-4k F3, F6, F8 and F9.
"""

import numpy as np
import pytest
from configs import bfs_config
from paths import weighted
from searches import (
    MIXED,
    MIXED_ONE_WAY,
    MIXED_ONE_WAY_SOURCES,
    MIXED_SOURCES,
    check_search,
)

import clgraph as cg

DENSE = cg.generate.kron(11, edge_factor=32, seed=3)
BUSIEST = int(np.argmax(DENSE.degrees))
# One work-group, whose order is the same each time: of several, who claims a vertex differs.
PUSH = {"direction": "push", "single_group": False, "counts": True, "groups": 1}


def counters(graph, source, device, **config):
    plan = cg.BFS(graph, config=bfs_config(**{**PUSH, **config}), device=device)
    first, second = (plan.run(source) for _ in range(2))
    for result in (first, second):
        check_search(graph, source, result)
    # Every search counts from 0, whether or not the one before left its state behind.
    assert second.stats.counters == first.stats.counters
    return second.stats.counters


def test_registers_take_the_fewest_atomics(intel):
    """bfs-helix 15: atomics are counted; local queues issue fewer where the mean degree is high."""
    assert DENSE.mean_degree > 32
    taken = {
        update: counters(DENSE, BUSIEST, intel, update=update)["RESERVATIONS"]
        for update in ("ballot", "buffer", "registers")
    }
    assert taken["registers"] < taken["buffer"] < taken["ballot"]
    deep = counters(DENSE, BUSIEST, intel, update="registers", register_queue=16)
    assert deep["RESERVATIONS"] < taken["registers"]


def test_candidates_take_one_atomic_a_tile(intel):
    """bfs-merrill 4: each reservation is for the edges of all that a SIMD group has claimed."""
    config = {**PUSH, "queue": "edge", "single_group": None}
    plan = cg.BFS(MIXED, config=bfs_config(**config), device=intel)
    result = plan.run(MIXED_SOURCES[0])
    taken = [1, *result._found.levels[: result.depth + 1, 1]]  # candidates of each level
    tiles = sum(-(-int(count) // intel.traits.lanes) for count in taken)
    assert 0 < result.stats.counters["RESERVATIONS"] <= tiles < result.reached / 2


def test_ballots_number_registers_where_lanes_hold_one(intel):
    """bfs-4k F3: on a path no lane ever holds two; on a dense graph lanes do; same results."""
    registers = {"update": "registers", "register_queue": 8, "groups": 1}
    path = cg.generate.path(60)
    by_ballot = counters(path, 0, intel, scan="binary", **registers)
    by_scan = counters(path, 0, intel, scan="shuffle", **registers)
    assert by_ballot["BINARY_RANKS"] >= by_ballot["RESERVATIONS"] == 59
    assert by_scan["BINARY_RANKS"] == 0
    assert by_scan["RESERVATIONS"] == 59
    # A source with eight edges a lane fills every lane's registers: no ballot for that flush.
    lanes = intel.traits.lanes
    star = cg.generate.star(8 * lanes + 1)
    full = counters(star, 0, intel, scan="binary", group_size=lanes, **registers)
    assert full["RESERVATIONS"] == 1
    assert full["BINARY_RANKS"] < by_ballot["BINARY_RANKS"]


def test_long_queues_are_stored_side_by_side(intel):
    """bfs-4k F8: with as many vertices a lane as K7 says, never below; by either reading of K7."""
    lanes = intel.traits.lanes
    star = cg.generate.star(8 * lanes + 1)
    base = {"update": "registers", "register_queue": 8, "groups": 1, "group_size": lanes}
    assert counters(star, 0, intel, induced=8, **base)["INDUCED_STORES"] == 1
    assert counters(star, 0, intel, induced=9, **base)["INDUCED_STORES"] == 0
    assert counters(star, 0, intel, induced=0, **base)["INDUCED_STORES"] == 0
    by_width = {"induced_by": "width", "balance": "dyn_vwarp", **base}
    assert counters(star, 0, intel, induced=32, **by_width)["INDUCED_STORES"] >= 1


def test_extension_lowers_the_searches(intel):
    """bfs-4k F6: EXT on and off give the same levels; on spares searches at degrees above 32."""
    searches = [
        counters(DENSE, BUSIEST, intel, balance="warp_search", extended=extended, wide=0)[
            "SEARCHES"
        ]
        for extended in (False, True)
    ]
    assert searches[1] < 0.9 * searches[0]


@pytest.mark.parametrize(
    "sizes", [{"balance": "two_phase"}, {"balance": "multi_phase", "iterations": 3}]
)
def test_chunks_are_cut_for_each_level(sizes, intel):
    """bfs-helix 8: all work-items get units of small frontiers, and of large ones all they hold."""
    groups, size, batch = 1, 2 * intel.traits.lanes, 8
    most = batch * sizes.get("iterations", 1)
    config = {"groups": groups, "group_size": size, "unit_batch": batch, **sizes}
    targets = np.arange(1, 5461)
    tree = cg.from_edges((targets - 1) // 4, targets)
    expected, chunks = 0, []
    for level in range(6):
        units = 4 ** (level + 1)
        of_each = min(-(-units // (groups * size)), most)
        run = -(-of_each // -(-of_each // batch))
        whole, rest = divmod(units, of_each * size)
        expected += whole * -(-of_each * size // run) + -(-rest // run)
        chunks.append(of_each)
    assert len({*chunks}) > 2
    assert max(chunks) == most
    assert counters(tree, 0, intel, **config)["SEARCHES"] == expected


@pytest.mark.parametrize("balance", ["two_phase", "multi_phase"])
def test_one_lane_knows_the_edges_that_it_cuts(balance, pocl):
    """It took every edge for a chunk, of which there was room for a few: large graphs crashed."""
    clique = cg.generate.complete(40)
    config = {"balance": balance, "unit_batch": 8, "groups": 1}
    if balance == "multi_phase":
        config["iterations"] = 1
    searches = counters(clique, 0, pocl, **config)["SEARCHES"]
    assert searches == -(-39 // 8) - (-39 * 39 // 8)


@pytest.mark.parametrize("balance", ["two_phase", pytest.param("direct", marks=pytest.mark.slow)])
def test_leaves_are_discarded(balance, intel):
    """bfs-helix 8: a vertex whose only edge leads back gets a distance and is not expanded.

    In directed graphs only those without an edge are; with other balancers it is refused.
    """
    source = int(np.flatnonzero(MIXED.degrees == 1)[0])  # a leaf itself: it is expanded
    for begin in (MIXED_SOURCES[0], source):
        found = cg.bfs(MIXED, begin, device=intel).distances
        leaves = np.count_nonzero((MIXED.degrees == 1) & (found > 0) & (found < found.max()))
        last = np.count_nonzero((MIXED.degrees == 1) & (found == found.max()) & (found > 0))
        told = counters(MIXED, begin, intel, balance=balance, leaves="discard")["LEAVES"]
        assert leaves <= told <= leaves + last
        assert counters(MIXED, begin, intel, balance=balance)["LEAVES"] == 0
    one_way = counters(
        MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES[0], intel, balance=balance, leaves="discard"
    )
    assert one_way["LEAVES"] == 0
    with pytest.raises(cg.InvalidArgumentError, match=r"balance\.leaves is of direct, two"):
        bfs_config(balance="cws", leaves="discard")


def parallel(copies, vertices):
    targets = np.repeat(np.arange(1, vertices + 1), copies)
    return cg.from_edges(np.zeros_like(targets), targets, n=vertices + 1)


@pytest.mark.rest
@pytest.mark.optimised  # lanes in lockstep
@pytest.mark.parametrize("scope", [pytest.param("lanes", marks=pytest.mark.slow), "group"])
def test_tables_find_duplicates(scope, intel):
    """bfs-4k F9: on lanes in step a table drops what would be queued twice; conflicts keep it."""
    lanes = intel.traits.lanes
    graph = parallel(lanes // 4, 12)  # four vertices on the lanes at a time, each on a quarter
    base = {"visited": "plain", "balance": "vwarp", "groups": 1, "group_size": lanes}

    def searched(**config):
        plan = cg.BFS(graph, config=bfs_config(**{**PUSH, **base, **config}), device=intel)
        result = plan.run(0)
        check_search(graph, 0, result)
        return int(result._found.levels[1, 0]), result.stats.counters

    off, _ = searched(duplicates="keep")
    assert off == graph.m
    found = {}
    for size in (1, 4, 1024):
        found[size] = searched(duplicates=f"lookup_{scope}", hash_size=size, hash_rounds=1)
    for queued, counted in found.values():
        assert queued == off - counted["DROPPED"] < off
        assert queued >= 12  # no vertex is lost, with one slot either
    assert found[1024][0] == 12
    conflicts = [counted["CONFLICTS"] for _, counted in found.values()]
    assert conflicts == sorted(conflicts, reverse=True)
    assert conflicts[0] > conflicts[-1] == 0
    missed = [queued - 12 for queued, _ in found.values()]
    assert missed[0] > missed[-1] == 0


def test_nothing_is_counted_unless_asked(intel):
    assert cg.bfs(MIXED, 0, device=intel).stats.counters is None
    graph = weighted(MIXED)
    assert cg.sssp(graph, 0, device=intel).stats.counters is None
