"""The fully configurable search (bfs-helix): its checklist by number.

Elsewhere: scans (20) in test_primitives_group.py and test_primitives_lanes.py, balancers (2 to 8,
10, 12) in test_primitives_expand.py and test_bfs_balance.py, leaves (8) and atomics (15) in
test_bfs_counters.py, every configuration (1) in test_bfs_space.py, formats (23) in tests/formats,
the report and command line (24, 25) in tests/cli, studies of features and searches to compare with
(19, 26) in tests/bench/test_variants.py.
"""

import dataclasses
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
from clgraph.algorithms.bfs.presets.helix import are_labels_random, helix_choice
from clgraph.engine.choose import resolve

ONE_RUNTIME = pytest.mark.runtimes("pocl")  # whose builds are the quickest
SLOW = pytest.mark.slow

# Mean degree, Gini coefficient, largest degree and whether labels are random, of the graphs that
# the table was published with; what it says: balance, gathering by lanes, groups and bins, queue,
# synchronisation, update, duplicates, mask.
PUBLISHED = {
    "asia_osm": (2.1, 0.08, 9, False, "node-4", "---", "vertex single ballot group", False),
    "europa_osm": (2.1, 0.09, 13, False, "node-4", "---", "vertex single ballot group", False),
    "USA-road-d.USA": (2.4, 0.21, 9, False, "node-1", "---", "edge single ballot group", False),
    "hugebubbles": (3.0, 0.0, 3, False, "node-4", "---", "vertex single ballot group", False),
    "rgg_n.2.23": (15.1, 0.14, 40, False, "scan", "W--", "vertex single ballot lanes", False),
    "delaunay_n24": (6.0, 0.12, 26, False, "scan", "---", "vertex single ballot lanes", False),
    "channel-500": (17.8, 0.01, 18, False, "scan", "---", "vertex single ballot lanes", False),
    "ldoor": (49.9, 0.13, 78, False, "node-16s", "W--", "vertex multi local group", False),
    "nlpkkt160": (28.5, 0.02, 29, False, "scan", "---", "vertex multi ballot lanes", False),
    "audikw_1": (83.3, 0.23, 346, False, "node-32s", "WB-", "vertex multi local group", False),
    "circuit5M": (10.7, 0.52, 1290501, False, "scan", "WBS", "vertex single ballot lanes", False),
    "FullChip": (8.9, 0.35, 2312481, False, "scan", "WBS", "vertex single ballot lanes", False),
    "cage15": (19.2, 0.17, 47, True, "scan", "W--", "vertex single ballot lanes", True),
    "indochina": (26.2, 0.74, 6985, False, "scan", "WB-", "vertex multi ballot lanes", False),
    "LiveJournal1": (14.2, 0.72, 20293, False, "scan", "WBS", "vertex multi ballot lanes", False),
    "pokec": (37.5, 0.62, 20518, False, "scan", "WBS", "vertex multi local lanes", False),
    "er-fact1.5": (23.9, 0.12, 53, True, "scan", "W--", "vertex multi ballot lanes", True),
    "hollywood": (100.9, 0.73, 11469, False, "scan", "WB-", "vertex multi local lanes", False),
    "kron_g500": (86.8, 0.92, 213906, True, "scan", "WBS", "vertex multi ballot lanes", True),
}


def searched(graph, source, device, *, predecessors=False, **config):
    config = bfs_config(**config)
    plan = cg.BFS(graph, predecessors=predecessors, config=config, device=device)
    result = plan.run(source)
    check_search(graph, source, result)
    return result


@pytest.mark.runtimes("pocl")
@pytest.mark.parametrize("name", SHAPES)
def test_checklist_1_preset_on_degenerate_graphs(name, device):
    """The rules choose as they like: sources without neighbours, loops, repeats, stars, paths."""
    graph = SHAPES[name]
    plan = cg.BFS(graph, config="helix", device=device)
    for source in {0, graph.n // 2, graph.n - 1}:
        check_search(graph, source, plan.run(source))


@pytest.mark.parametrize("width", [2, *(pytest.param(w, marks=SLOW) for w in (1, 8, 16))])
def test_checklist_2_and_3_lanes_for_a_vertex(width, intel):
    for source in MIXED_SOURCES[:3]:
        searched(MIXED, source, intel, balance="vwarp", virtual_warp=width, direction="push")


@pytest.mark.parametrize("width", [2, 16, *(pytest.param(w, marks=SLOW) for w in (1, 4, 8, 32))])
@pytest.mark.parametrize(
    "more", [{"shuffle": True}, {"shuffle": True, "gather": 17}, {"gather": 9}]
)
def test_checklist_3_lanes_pass_their_vertices_on(width, more, intel):
    """Loaded side by side and shuffled within virtual groups; long rows gathered before."""
    config = bfs_config(balance="vwarp", virtual_warp=width, direction="push", **more)
    for graph, sources in ((MIXED, MIXED_SOURCES), (MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES)):
        plan = cg.BFS(graph, predecessors=True, config=config, device=intel)
        for source in sources[:3]:
            check_search(graph, source, plan.run(source))


@pytest.mark.runtimes("pocl", "pocl+lanes32")
def test_checklist_3_on_other_lanes(device):
    """One lane, and 32 that are emulated: what a table of 32 lanes says of ldoor."""
    config = bfs_config(balance="vwarp", virtual_warp=16, shuffle=True, gather=33, direction="push")
    check_search(MIXED, 0, cg.bfs(MIXED, 0, config=config, device=device))


# A ring in which each vertex has so many neighbours, next to it.
def ring_of(degree, n=400):
    steps = np.arange(1, degree // 2 + 1)
    edge_sources = np.repeat(np.arange(n), steps.size)
    return cg.from_edges(edge_sources, (edge_sources + np.tile(steps, n)) % n, n=n, symmetrize=True)


@pytest.mark.parametrize(("degree", "width"), [(40, 16), (80, 32)])
def test_checklist_21_node_and_shuffle_of_the_table(degree, width, intel):
    """Checklist 3 and 21: regular graphs of such degrees, as ldoor and audikw_1 are."""
    graph, lanes = ring_of(degree), intel.traits.lanes
    counted = {"rules": "helix", "counts": True, "synchronisation": "stepped", "groups": 1}
    plan = cg.BFS(graph, config=bfs_config(**counted), device=intel)
    balance = plan.config.balance
    assert (balance.name, balance.shuffle, balance.gather) == ("vwarp", True, 33)
    assert balance.width == min(width, lanes)
    result = plan.run(5)
    check_search(graph, 5, result)
    # Each vertex is expanded once or, queued twice, more often; every row is long here.
    assert result.stats.counters["LANE_ROWS"] >= graph.n
    plain = cg.BFS(graph, config=bfs_config(**counted, shuffle=False), device=intel).run(5)
    assert result.stats.counters["BROADCASTS"] > plain.stats.counters["BROADCASTS"] == 0
    without = cg.BFS(graph, config=bfs_config(**counted, gather=0), device=intel).run(5)
    assert without.stats.counters["LANE_ROWS"] == 0
    for other in (plain, without):
        check_search(graph, 5, other)


@pytest.mark.parametrize("gather", [{"balance": "cws"}, pytest.param({"wide": 17}, marks=SLOW)])
def test_checklist_4_5_9_and_10_scans_with_gathering(gather, intel):
    """Rows longer than a SIMD group, and than a work-group, are walked by all of it."""
    for source in MIXED_SOURCES[:3]:
        searched(MIXED, source, intel, direction="push", group_size=32, **gather)


@pytest.mark.parametrize("degree", [63, 64, 65])
def test_checklist_11_vertices_apart(degree, intel):
    """Vertices of 2**6 edges and more are spread over the grid; the same levels on either side."""
    graph = roots_of([degree] * 3)
    config = {"hub_degree": 64, "single_group": False, "visited": "mask", "direction": "push"}
    result = searched(graph, 0, intel, **config)
    assert result.stats.expanded_edges.tolist() == [3, 3 * degree, 0]


def roots_of(degrees):
    """A source, a vertex of each degree below it, and their leaves."""
    roots = np.arange(1, len(degrees) + 1)
    leaves = np.arange(sum(degrees)) + len(degrees) + 1
    src = np.concatenate([np.zeros_like(roots), np.repeat(roots, degrees)])
    return cg.from_edges(src, np.concatenate([roots, leaves]), n=int(leaves[-1]) + 1)


def test_checklist_11_bins(intel):
    """Degrees of 2**k - 1, 2**k and 2**k + 1 are in the right bin, with two edges an item."""
    degrees = [d + k for d in (64, 128, 256) for k in (-1, 0, 1)]
    graph, lanes = roots_of(degrees), intel.traits.lanes
    config = {"hub_degree": 64, "hub_bins": True, "direction": "push", "counts": True}
    config["group_size"] = 512  # so that more than 256 work-items are resident
    plan = cg.BFS(graph, config=bfs_config(**config), device=intel)
    assert (plan.config.hub_bins, plan.config.hub_bits) == (3, 6)
    check_search(graph, 0, plan.run(0, max_depth=1), max_depth=1)
    held = plan._stages.table
    begins = held["bin_begins"].read()
    words = {"vertex": 1, "row": 2, "full": 4}[plan.config.entry]
    rows = held["hubs_odd"].read().reshape(-1, words)
    for bin_, expected in enumerate(([64, 65, 127], [128, 129, 255], [256, 257])):
        found = rows[begins[bin_] :][: len(expected)]
        assert sorted(found[:, 1].tolist()) == expected
    # Whoever finds such a vertex reserves its place, at the same time as others.
    places = "bin_begins[bin] + atomic_inc(state + NEXT_BIN_0 + bin + slot * SLOT_STRIDE)"
    assert places in plan._stages.program.source
    result = plan.run(0)
    check_search(graph, 0, result)
    # A SIMD group takes two edges of a vertex a lane, once: 2**k / lanes of them for each.
    taken = sum(2 ** (d.bit_length() - 1) // lanes for d in degrees if d >= 64)
    assert plan.config.wide_batch == 2
    assert result.stats.counters["HUB_ROUNDS"] == taken


def test_checklist_11_the_last_bin_begins_at_the_resident_work_items(intel):
    """It goes round; and a degree that is no power of two is rounded up, 0 is no bins."""
    small = dataclasses.replace(intel.traits, compute_units=1, threads_per_unit=256)

    def bins(traits, hub_degree, max_degree):
        wanted = bfs_config(hub_degree=hub_degree, hub_bins=True)
        known = {"max_degree": max_degree, "predecessors": False}
        config = resolve(wanted, traits, m=10**6, **known)
        return config.hub_degree, config.hub_bins

    assert bins(small, 64, 10**5) == (64, 3)  # 64, 128, and 256 and more
    assert bins(small, 100, 10**5) == (128, 2)
    assert bins(small, 64, 70) == (64, 1)
    assert bins(small, 0, 10**5) == (0, 0)
    assert bins(small, 64, 60) == (0, 0)
    graph = roots_of([1000, 70, 3])
    config = bfs_config(hub_degree=16, hub_bins=True, groups=1, group_size=intel.traits.lanes)
    for source in (0, 1):
        check_search(graph, source, cg.bfs(graph, source, config=config, device=intel))


@pytest.mark.parametrize("synchronisation", ["persistent", pytest.param("stepped", marks=SLOW)])
def test_checklist_11_bins_of_whole_graphs(synchronisation, intel):
    """Pushed and pulled, exact and not, where hubs find hubs."""
    for graph, sources in ((MIXED, MIXED_SOURCES), (MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES)):
        for more in ({"alpha": 2**20, "pull_floor": 64}, {"visited": "mask"}):
            config = {
                "hub_degree": 16,
                "hub_bins": True,
                "synchronisation": synchronisation,
                **more,
            }
            plan = cg.BFS(graph, predecessors=True, config=bfs_config(**config), device=intel)
            for source in sources:
                check_search(graph, source, plan.run(source))


@ONE_RUNTIME
def test_checklist_13_traffic_of_queues(device):
    """Without duplicates about V entries of vertices, E of candidates, and both in two phases."""
    source = MIXED_SOURCES[1]
    for queue in ("vertex", "edge", "two_phase"):
        result = searched(MIXED, source, device, queue=queue, visited="bitmap", direction="push")
        # As the kernel recorded them; stats know the edges of exact claims from the distances.
        entries, candidates = result._found.levels[: result.depth + 1, :2].T
        assert entries.sum() == result.reached
        if queue != "vertex":
            assert candidates.sum() == result.stats.edges_traversed


@ONE_RUNTIME
@pytest.mark.parametrize("synchronisation", ["persistent", "stepped"])
def test_checklist_14_one_kernel_or_many(synchronisation, device):
    config = bfs_config(queue="edge", synchronisation=synchronisation)
    result = cg.bfs(MIXED, MIXED_SOURCES[0], config=config, device=device)
    check_search(MIXED, MIXED_SOURCES[0], result)
    assert result.stats.mode == synchronisation
    assert (result.stats.launches > 1) == (synchronisation == "stepped")


@ONE_RUNTIME
@pytest.mark.parametrize(
    "update",
    [
        {"update": "ballot"},
        {"update": "registers"},
        pytest.param({"register_queue": 16}, marks=SLOW),
    ],
)
def test_checklist_15_ways_into_a_queue(update, device):
    config = {"update": "registers", **update, "direction": "push", "single_group": False}
    for source in MIXED_SOURCES[:4]:
        searched(MIXED, source, device, predecessors=True, **config)


@pytest.mark.parametrize("rounds", [pytest.param(1, marks=SLOW), 4])
@pytest.mark.parametrize(
    "place",
    [
        "load_lanes",
        "lookup_group",
        *(pytest.param(p, marks=SLOW) for p in ("load_group", "lookup_lanes")),
    ],
)
def test_checklist_16_duplicates_by_hashing(place, rounds, intel):
    """Two places, two scopes, any number of rounds: no vertex is ever lost."""
    config = bfs_config(
        duplicates=place, hash_rounds=rounds, hash_size=2, visited="plain", group_size=32
    )
    for graph, sources in ((MIXED, MIXED_SOURCES), (MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES)):
        plan = cg.BFS(graph, config=config, device=intel)
        for source in sources[:4]:
            check_search(graph, source, plan.run(source))

    @settings(max_examples=15)
    @given(graph=graphs(max_vertices=12, max_edges=100))
    def search(graph):
        check_search(graph, 0, cg.bfs(graph, 0, config=config, device=intel))

    search()


@pytest.mark.parametrize("place", ["load", "lookup"])
@pytest.mark.parametrize("scope", ["lanes", "group"])
def test_checklist_16_where_and_among_whom_duplicates_are_sought(place, scope, intel):
    """As text: before rows are read or behind it, in a table of a SIMD group or of all."""
    config = bfs_config(
        duplicates=f"{place}_{scope}",
        hash_size=8,
        hash_rounds=1,
        visited="plain",
        direction="push",
        group_size=2 * intel.traits.lanes,
        single_group=False,
    )
    text = cg.BFS(MIXED, config=config, device=intel)._stages.program.source
    kernel = text[text.index("void bfs(") :]
    before, after = kernel.split("indices[e", maxsplit=1)
    drop = "duplicate_slot = duplicate_slots + place"
    assert (drop in before, drop in after) == (place == "load", place == "lookup")
    of_lanes = scope == "lanes"
    assert f"duplicate_slots[{8 * (1 + of_lanes)}];" in kernel
    assert kernel.count(drop) == kernel.count(f"{drop};") + of_lanes * kernel.count(
        f"{drop} + LANE_GROUP * 8u;"
    )
    assert (f"{drop};" in kernel) == (not of_lanes)


@ONE_RUNTIME
@pytest.mark.parametrize("visited", ["labels", "bitmap"])
def test_checklist_17_exact_look_ups(visited, device):
    """Claimed by an atomic, a vertex enters a queue once: the sizes add up to what is reached."""
    result = searched(
        MIXED, MIXED_SOURCES[1], device, visited=visited, direction="push", single_group=False
    )
    assert result._found.levels[: result.depth + 1, 0].sum() == result.reached


@ONE_RUNTIME
def test_checklist_18_a_set_bit_is_true(device):
    """See test_bfs_merrill.py for the bits themselves: here they change nothing but the reads."""
    for visited in ("mask", "plain"):
        searched(MIXED, MIXED_SOURCES[2], device, visited=visited)


@ONE_RUNTIME
@pytest.mark.parametrize("queue", ["vertex", "edge"])
def test_checklist_19_begin_and_end_of_rows(queue, device):
    """CSR-M: a pair for each vertex, on graphs of which either end may be empty."""
    for graph in (MIXED, SHAPES["last-vertex-only"], SHAPES["no-edges"], SHAPES["one-vertex"]):
        searched(graph, graph.n - 1, device, queue=queue, rows="pairs", direction="push")


@pytest.mark.parametrize("name", PUBLISHED)
def test_checklist_21_decision_table(name):
    mean, gini, most, scattered, balance, gather, rest, mask = PUBLISHED[name]
    choice = helix_choice(mean, gini, most, random_labels=scattered)
    node = f"node-{choice.width}{'s' if choice.shuffle else ''}"
    assert (node if choice.balance == "node" else "scan") == balance
    flags = (choice.gather_lanes, choice.gather_group, choice.bins)
    assert "".join(c if flag else "-" for c, flag in zip("WBS", flags, strict=True)) == gather
    single = "single" if choice.single else "multi"
    assert f"{choice.queue} {single} {choice.update} {choice.duplicates}" == rest
    assert choice.mask == mask
    balancer = choice.strategies(32, 256, 32768, 256)["balance"]
    cg.BFSConfig(**choice.strategies(32, 256, 32768, 256))
    if choice.balance == "node" and choice.width > 1:
        gathered = 33 if choice.gather_lanes else 0
        wanted = cg.balance.Vwarp(width=choice.width, shuffle=choice.shuffle, gather=gathered)
        assert balancer == wanted


@pytest.mark.parametrize(
    ("mean", "gini", "expected"),
    [
        (4.99, 0.2, ("node", 1)),
        (4.99, 0.19, ("node", 4)),
        (5.0, 0.1, ("scan", 0)),
        (32.0, 0.1, ("scan", 0)),
        (32.1, 0.29, ("node", 16)),
        (32.1, 0.3, ("scan", 0)),
        (64.1, 0.29, ("node", 32)),
    ],
)
def test_checklist_21_where_rules_meet(mean, gini, expected):
    choice = helix_choice(mean, gini, 20, random_labels=False)
    assert (choice.balance, choice.width) == expected


def test_checklist_21_statistics_decide_and_users_override(intel):
    """The library computes what the table needs; a dimension that is given stays as it is."""
    decided = bfs_config(rules="helix").completed(MIXED, intel.traits)
    statistics = MIXED.statistics()
    choice = helix_choice(
        statistics.mean_degree,
        statistics.gini,
        statistics.max_degree,
        random_labels=are_labels_random(MIXED),
    )
    assert decided.frontier.visited == ("mask" if choice.mask else "plain")
    mine = bfs_config(rules="helix", update="registers", queue="vertex", rows="csr")
    completed = mine.completed(MIXED, intel.traits)
    frontier = completed.frontier
    assert (frontier.update.name, frontier.name, frontier.rows) == ("registers", "vertex", "csr")
    assert frontier.duplicates == decided.frontier.duplicates
    with pytest.raises(cg.InvalidArgumentError, match="candidates on; choose pull='never'"):
        bfs_config(rules="helix", direction="switching", queue="edge")


def test_random_labels_are_told_from_natural_ones():
    rng = np.random.default_rng(2)
    grid = cg.generate.grid2d(50, 50)
    src = np.repeat(np.arange(grid.n), grid.degrees)
    names = rng.permutation(grid.n)
    assert not are_labels_random(grid)
    assert are_labels_random(cg.from_edges(names[src], names[grid.indices], n=grid.n))
    assert not are_labels_random(cg.from_edges([], [], n=5))


@ONE_RUNTIME
def test_checklist_22_overflow_is_recovered_from(device, caplog):
    """Duplicates beyond the room: the search is run again with exact look-ups, and says so."""
    plan = cg.BFS(
        MIXED, config=bfs_config(rules="helix", queue_percent=1, queue="vertex"), device=device
    )
    with caplog.at_level(logging.WARNING, logger="clgraph"):
        check_search(MIXED, MIXED_SOURCES[1], plan.run(MIXED_SOURCES[1]))
    assert "atomic claims" in caplog.text


def test_a_clash_with_what_the_rules_chose_says_who_chose(intel):
    """The complaint is about frontier='edge', which the caller never named."""
    config = bfs_config(rules="helix", single_group=True)
    with pytest.raises(cg.InvalidArgumentError, match=r"rules='helix' chose .* frontier='vertex'"):
        config.completed(cg.from_edges([0, 1], [1, 2]), intel.traits)
