"""Published searches do what their papers say: a table of presets and their mechanisms.

Each row says which mechanism of its paper a preset switches on, by what that is switched off, and a
figure that differs then. Of every row a test shows both: the kernels that are rendered differ, and
so does the figure. Figures are what kernels counted or recorded, and the room that is taken.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from configs import bfs_config, changed
from searches import MIXED, MIXED_SOURCES, check_search

import clgraph as cg
from clgraph.algorithms.bfs.presets.bfs_4k import hash_entries, level_log
from clgraph.algorithms.bfs.presets.helix import helix_choice
from clgraph.algorithms.bfs.stages import TALLY_WORDS, kernel_parameters, stages_of
from clgraph.device.rendering.sources import render

DENSE = cg.generate.kron(9, edge_factor=24, seed=5)
HUB = int(np.argmax(DENSE.degrees))
# Six vertices, each at the end of very many parallel edges of the first.
REPEATED = cg.from_edges(np.zeros(384, int), np.repeat(np.arange(1, 7), 64), n=7)
# Degrees alike, between one and two SIMD groups of 32 lanes.
REGULAR = cg.from_edges(
    np.repeat(np.arange(300), 20),
    (np.repeat(np.arange(300), 20) + np.tile(np.arange(1, 21), 300)) % 300,
    symmetrize=True,
)
# Of two hubs the second level holds one, which by its edges is worth a pull.
HALF_HUBS = cg.from_edges(
    np.r_[0, 1, np.repeat([1, 2], 20)], np.r_[1, 2, np.arange(3, 43)], symmetrize=True
)
# Every fifth of a ring has more edges than a SIMD group has lanes; labels of neighbours are near.
RING = np.arange(600)
WIDE = cg.from_edges(
    np.r_[RING, np.repeat(RING[::5], 40)],
    np.r_[(RING + 1) % 600, (np.repeat(RING[::5], 40) + np.tile(np.arange(2, 42), 120)) % 600],
    symmetrize=True,
)


def counted(name):
    return lambda _, result: result.stats.counters[name]


def queued(_plan, result):
    """Entries of the queue behind the first level, as the kernel counted them."""
    return int(result._found.levels[1, 0])


def tallied(name):
    return lambda _, result: result.stats.tallies[name]


def stages(_plan, result):
    return set(result.stats.stages)


def launches(_plan, result):
    return result.stats.launches > 1


def classes(plan, _result):
    """Classes that held vertices in the last queue."""
    held = plan._stages.table
    return np.count_nonzero(held["tallies"].read()[TALLY_WORDS["SIZES"] :][:8].reshape(2, 4), 0)


def room(plan):
    """Entries of each array."""
    table = plan._stages.table
    return {name: table[name].count for name in table.sizes}


def logged(name):
    """What kernels recorded of their levels."""
    return lambda _, result: (
        None if result.stats.shares is None else set(level_log(result)[name].tolist())
    )


@dataclass(frozen=True)
class Row:
    """A mechanism of a preset."""

    preset: str
    mechanism: str
    off: dict[str, Any]
    figure: Any
    graph: Any = REPEATED
    source: int = 0
    more: dict[str, Any] = field(default_factory=dict)
    same_kernels: bool = False
    lockstep: bool = False

    @property
    def param(self):
        """Duplicates are found by lanes in lockstep, which only optimised kernels have on a CPU."""
        marks = pytest.mark.optimised if self.lockstep else ()
        return pytest.param(self, marks=marks, id=f"{self.preset}: {self.mechanism}")


MERRILL = [name for name in cg.BFSConfig.presets() if name.startswith("merrill")]
ONE_GROUP = {"groups": 1, "group_size": 32}
CULLING = [
    *(Row(name, "duplicates in a SIMD group are dropped", {"duplicates": "keep"},
          counted("DROPPED"), more={"counts": True, **ONE_GROUP}, lockstep=True)
      for name in MERRILL),
    # Of few slots, most of which hold another vertex by and by.
    *(Row(name, "what a work-group let pass does not pass again", {"history": 0},
          counted("CONFLICTS"), graph=DENSE, source=HUB,
          more={"counts": True, "duplicates": "keep", "history": 16}) for name in MERRILL),
    *(Row(name, "a bitmap is looked at first", {"visited": "plain"},
          lambda plan, _: room(plan)["visited_even"], graph=DENSE, source=HUB) for name in MERRILL),
    *(Row(name, "rows are gathered by group, SIMD group and scan", {"balance": "item_thread"},
          counted("SCAN_ROUNDS"), graph=DENSE, source=HUB, more={"counts": True})
      for name in MERRILL),
    *(Row(name, "its queues", {"queue": "edge" if name != "merrill-contract-expand" else "vertex"},
          stages, graph=DENSE, source=HUB) for name in MERRILL),
]  # fmt: skip
BFS_4K = [
    Row("bfs-4k", "K1: widths of virtual SIMD groups follow the frontier", {"balance": "vwarp"},
        logged("width"), graph=WIDE, more={"discover": 0, "single_group": False, "groups": 2}),
    Row("bfs-4k", "F3: a ballot numbers registers of one vertex", {"scan": "shuffle"},
        counted("BINARY_RANKS"), graph=WIDE, more={"counts": True, "single_group": False}),
    Row("bfs-4k", "F8: full registers are stored side by side", {"induced": 0},
        counted("INDUCED_STORES"), graph=cg.generate.star(3000),
        more={"counts": True, "single_group": False, "groups": 1, "hub_degree": 0, "induced": 2}),
    Row("bfs-4k", "K2: long rows are the grid's", {"hub_degree": 0},
        lambda plan, _: room(plan)["hubs_even"], graph=cg.generate.star(3000),
        more={"hub_degree": 100, "single_group": False}),
    Row("bfs-4k", "K4: lanes look for edges", {"discover": 0}, counted("SEARCHES"), graph=WIDE,
        more={"counts": True, "discover": 1, "groups": 64, "single_group": False}),
    Row("bfs-4k", "K5: one group runs small frontiers", {"single_group": False}, logged("kernel"),
        graph=WIDE),
    Row("bfs-4k", "F9: a table in local memory drops duplicates", {"duplicates": "keep"},
        counted("DROPPED"),
        more={"counts": True, "single_group": False, "min_virtual_warp": 16, "discover": 0,
              **ONE_GROUP},
        lockstep=True),
    Row("bfs-4k", "no atomics claim vertices", {"visited": "bitmap"}, queued,
        more={"duplicates": "keep", "single_group": False, "min_virtual_warp": 16, "discover": 0,
              "queue_percent": 8000, **ONE_GROUP}, lockstep=True),
]  # fmt: skip
HELIX = [
    Row("helix", "CSR-M: both ends of a row side by side", {"rows": "csr"},
        lambda plan, _: plan._stages.table["indptr"].count, graph=WIDE),
    Row("helix", "duplicates are dropped as entries are taken", {"duplicates": "keep"},
        counted("CONFLICTS"), graph=DENSE, source=HUB, more={"counts": True}),
    Row("helix", "long rows are gathered", {"wide": 0, "balance": "warp_search"},
        counted("LANE_ROWS"), graph=WIDE, more={"counts": True}),
    Row("helix", "node + shuffle: lanes pass their vertices on", {"shuffle": False},
        counted("BROADCASTS"), graph=REGULAR, more={"counts": True}),
    Row("helix", "node + shuffle: long rows are gathered", {"gather": 0},
        counted("LANE_ROWS"), graph=REGULAR, more={"counts": True}),
    Row("helix", "one launch or many", {"synchronisation": "stepped"}, launches,
        graph=cg.generate.grid2d(20, 20), same_kernels=True),
]  # fmt: skip
ENTERPRISE = [
    Row("enterprise", "a status array makes the queue", {"generation": "none", "classes": 1},
        lambda plan, _: "write" in stages_of(plan.config), graph=DENSE, source=HUB),
    Row("enterprise", "four classes of vertices by degree", {"classes": 1},
        lambda plan, result: tuple(classes(plan, result) > 0), graph=DENSE, source=HUB),
    Row("enterprise", "hubs decide when to pull", {"switching": "edges", "gamma": None},
        tallied("switches"), graph=HALF_HUBS, more={"gamma": 50, "hub_floor": 10}),
    Row("enterprise", "hubs are cached", {"hub_cache": 0}, tallied("hits"), graph=DENSE, source=HUB,
        more={"gamma": 1, "hub_floor": 60}),
]  # fmt: skip
ROWS = [*CULLING, *BFS_4K, *HELIX, *ENTERPRISE]


def rendered(plan):
    parameters = kernel_parameters(plan.config, stages_of(plan.config), predecessors=False)
    parameters["arguments"] = plan._stages.table.rows
    return render("bfs/bfs.cl", {"traits": plan.device.traits, "check": False, **parameters})


def test_every_published_preset_is_in_the_table():
    assert {row.preset for row in ROWS} == set(cg.BFSConfig.presets()) - {"auto"}


@pytest.mark.parametrize("row", [row.param for row in ROWS])
def test_every_mechanism_is_there(row, intel):
    """By the source that is rendered, and by a figure that differs when it is off."""
    preset = cg.BFSConfig.preset(row.preset)
    assert changed(preset, **row.off) != preset  # before anything is changed for the figure
    plans = []
    for off in ({}, row.off):
        wanted = changed(cg.BFSConfig.preset(row.preset), **row.more)
        plans.append(cg.BFS(row.graph, config=changed(wanted, **off), device=intel))
    assert (rendered(plans[0]) == rendered(plans[1])) == row.same_kernels
    figures = []
    for plan in plans:
        result = plan.run(row.source)
        check_search(row.graph, row.source, result)
        figures.append(row.figure(plan, result))
    assert figures[0] != figures[1]


@pytest.mark.parametrize("queue", ["vertex"])
def test_history_alone_culls_what_comes_again(queue, intel, monkeypatch):
    """bfs-merrill 10: a lane that has several edges at a time, with and beside the other filter."""
    # Whether anything comes again is up to the lanes' order; optimised, most often nothing does.
    monkeypatch.setenv("CLGRAPH_NO_OPTIMISING", "1")

    def entries(**config):
        base = {"queue": queue, "direction": "push", "visited": "plain", "single_group": False}
        config = bfs_config(**base, **ONE_GROUP, balance="warp_search", **config)
        result = cg.BFS(REPEATED, config=config, device=intel).run(0)
        check_search(REPEATED, 0, result)
        return queued(None, result)

    assert 6 <= entries(history=64) < entries(history=0)
    lanes_alone = entries(history=0, duplicates="lookup_lanes")
    assert 6 <= entries(history=64, duplicates="lookup_lanes") < lanes_alone


def test_helix_says_how_it_is_launched_and_among_whom_duplicates_are_sought():
    """bfs-helix 14, 16 and 21: what the table decides reaches the configuration."""
    choices = [
        helix_choice(mean, gini, 100, random_labels=False)
        for mean, gini in ((2.1, 0.08), (100.9, 0.73), (26.2, 0.74), (2.4, 0.21))
    ]
    for choice in choices:
        wanted = choice.strategies(32, 256, 32768, 256)
        assert ("persistent" if choice.single else "stepped") == wanted["schedule"].NAME
        assert wanted["frontier"].duplicates == f"load_{choice.duplicates}"
    assert {choice.single for choice in choices} == {True, False}
    assert {choice.duplicates for choice in choices} == {"lanes", "group"}


@pytest.mark.parametrize("k6", [64, 128])
@pytest.mark.parametrize("k3", [2, 6, 16])
def test_bfs_4k_knobs_reach_the_configuration(k3, k6, intel):
    """bfs-4k F7, F9 and K3: tables as large as the formula, tiles as long as K3."""
    config = cg.BFSConfig.bfs_4k(MIXED, intel.traits, k3=k3, k6=k6, k2=0.02)
    assert config.frontier.hubs.batch == k3
    queue_bytes = 16 * config.limits.single_group_capacity
    slots = hash_entries(intel.traits.local_bytes, 1, 1, queue_bytes)
    assert config.frontier.hash_size == min(slots, 4096)
    assert config.frontier.hash_size > 16
    plan = cg.BFS(MIXED, config=config, device=intel)
    assert plan.config.hub_batch == k3
    check_search(MIXED, MIXED_SOURCES[0], plan.run(MIXED_SOURCES[0]))
    text = rendered(plan)
    assert f"{config.frontier.hash_size - 1}u" in text
    # A SIMD group takes so many edges a lane of a long row before it turns to the next.
    assert f"my_rounds = my_degree / {k3 * intel.traits.lanes}u" in text


def status_plan(graph, device, **config):
    return cg.BFS(graph, config=bfs_config(queue="status", **config), device=device)


@pytest.mark.runtimes("pocl", "intel")
def test_a_share_of_hubs_must_be_exceeded(device):
    """bfs-enterprise 13: half of the hubs in a frontier are not more than 50 percent of them."""
    switches = {
        gamma: status_plan(HALF_HUBS, device, gamma=gamma, hub_floor=10).run(0).stats
        for gamma in (49, 50)
    }
    switches = {gamma: stats.tallies["switches"] for gamma, stats in switches.items()}
    assert switches == {49: 1, 50: 0}


@pytest.mark.runtimes("pocl", "intel")
def test_a_hub_has_more_edges_than_the_floor(device):
    """bfs-enterprise 15: one of exactly so many is none."""
    graph = cg.from_edges(np.repeat([0, 1], [9, 7]), np.arange(1, 17), symmetrize=True)
    degrees = graph.degrees
    floors = sorted({int(d) for d in degrees})
    for floor in floors:
        plan = status_plan(graph, device, gamma=0, hub_cache=16, hub_floor=floor)
        stats = plan.run(0).stats
        assert stats.tallies["hubs"] == np.count_nonzero(degrees > floor)
        # With gamma=0 the first level that holds a hub is the last that is pushed.
        found = cg.bfs(graph, 0, device=device).distances
        levels = found[(degrees > floor) & (found > 0)]
        expected = int(levels.size > 0 and levels.min() < found.max() + 1)
        assert stats.tallies["switches"] == expected


@pytest.mark.runtimes("pocl", "intel")
@pytest.mark.parametrize("hub_cache", [0, 16])
def test_the_first_visited_neighbour_ends_an_inspection(hub_cache, device):
    """bfs-enterprise 14: exactly as many in-neighbours are looked at as lie before it, and it."""
    graph = cg.generate.random(400, 8, seed=6)
    assert graph.degrees.max() < 32  # so that each row is one work-item's
    plan = status_plan(
        graph, device, hub_cache=hub_cache, switching="edges", alpha=2**30, pull_floor=2**30
    )
    result = plan.run(0)
    check_search(graph, 0, result)
    expected = 0
    for level in range(2, result.depth + 2):
        for v in np.flatnonzero((result.distances >= level) | (result.distances < 0)):
            before = result.distances[graph.indices[graph.indptr[v] : graph.indptr[v + 1]]]
            visited = np.flatnonzero((before >= 0) & (before < level))
            expected += visited[0] + 1 if visited.size else before.size
        if not (result.distances == level).any():
            break
    assert result.stats.tallies["pulled_edges"] == expected


def test_a_hit_in_the_hub_cache_saves_the_read_of_a_status(intel):
    """bfs-enterprise 16: the status is only read where the cache did not tell; hits are told."""
    plan = status_plan(DENSE, intel, hub_cache=256, gamma=1, hub_floor=60)
    text = rendered(plan)
    reads = [line.strip() for line in text.splitlines() if "hit = (uint)STATUS_OF(w)" in line]
    assert reads
    before = text.split("hit = (uint)STATUS_OF(w)")[:-1]
    guards = [part.rsplit("if (", 1)[1].strip() for part in before]
    assert all("!hit" in guard or "active" in guard for guard in guards)
    assert sum("!hit" in guard for guard in guards) >= 2
    assert text.count("if (!lane_any(hit)) {") == 1  # a SIMD group reads none if a lane had one
    result = plan.run(HUB)
    check_search(DENSE, HUB, result)
    stats = result.stats.tallies
    assert 0 < stats["hits"] <= stats["looks"]


def test_virtual_groups_that_run_alone_are_as_wide_as_one_group_allows(intel):
    """bfs-4k F4 within F7: the one group's work-items are all there are."""
    config = cg.BFSConfig.bfs_4k(WIDE, intel.traits, k1=1, k4=0, k5=1)
    text = rendered(cg.BFS(WIDE, config=config, device=intel))
    widths = [line.split("<=")[1] for line in text.splitlines() if "virtual_width * 2u *" in line]
    assert sum("(GROUP_SIZE)" in width for width in widths) == 1
    assert len(widths) == 2


def test_a_set_bit_of_a_mask_spares_the_look_at_a_label(intel):
    """bfs-merrill 8: whether a lane may claim is asked of the mask."""
    text = rendered(cg.BFS(MIXED, config="merrill-expand-contract", device=intel))
    looks = [line for line in text.splitlines() if "const int may_claim" in line]
    assert looks
    assert all("the_visited" in line for line in looks)
