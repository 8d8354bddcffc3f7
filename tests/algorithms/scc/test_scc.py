"""Strongly connected components: whole results against scipy."""

import dataclasses
import json
from functools import cache

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
from clocks import Work
from digraphs import (
    MILLION,
    SMALL,
    chain_of_cycles,
    check_components,
    comb,
    cycle,
    dag,
    different_presets,
    million,
    oracle,
    path,
    random_digraph,
    small,
)
from graphs import bundled_graphs, graphs, shared_graphs
from hypothesis import given, settings
from searches import EMULATED_RUNTIMES, MIXED, MIXED_ONE_WAY

import clgraph as cg
from clgraph.algorithms.scc import plan as module
from clgraph.algorithms.scc import signatures
from clgraph.algorithms.scc import stages as scc_stages
from clgraph.device.hardware.measured import Constant
from clgraph.engine.choose import resolve
from clgraph.engine.launcher import FLAG_STEPPED

on_both = pytest.mark.runtimes("pocl", "intel")
REAL = {**dict(shared_graphs()), **dict(bundled_graphs())}
METHODS = ("sequential", "signatures")
QUICK = ("cycle-shuffled", "path-backward", "chain-of-4-cycles", "star-out")


def slow(name):
    return pytest.param(name, marks=pytest.mark.slow)


@cache
def real_graph(name):
    return REAL[name]()


@on_both
@pytest.mark.parametrize("preset", METHODS)
def test_awkward_shapes(preset, device):
    """Scc checklist 1: the same partition as scipy's, on every awkward shape."""
    for name in SMALL:
        check_components(small(name), cg.scc(small(name), config=preset, device=device))


def test_signatures_with_emulated_lanes(intel):
    graph = small("nested-cycles")
    result = cg.scc(graph, config="signatures", device=intel.emulating(8))
    check_components(graph, result)
    assert result.stats.mode == "stepped"


@pytest.mark.slow  # PoCL compiles emulated lanes for minutes
@pytest.mark.runtimes(*EMULATED_RUNTIMES)
@pytest.mark.parametrize("preset", ["signatures", "multistep"])
def test_emulated_lanes_of_pocl(preset, device):
    for name in ("mixed-one-way", "comb", "grid"):
        check_components(small(name), cg.scc(small(name), config=preset, device=device))


@on_both
@given(graph=graphs(max_vertices=60, directed=True))
@settings(max_examples=60)
@pytest.mark.parametrize("preset", METHODS)
def test_random_digraphs(device, preset, graph):
    check_components(graph, cg.scc(graph, config=preset, device=device))


@on_both
@pytest.mark.parametrize("name", REAL)
def test_real_graphs(name, device):
    graph = real_graph(name)
    plan = cg.SCC(graph, device=device)
    for _ in range(2):
        check_components(graph, plan.run())


@pytest.mark.parametrize("name", [name if name in QUICK else slow(name) for name in MILLION])
def test_a_million_vertices(name, pocl):
    """Scc checklist 21: long paths and cycles end, in time linear in their size."""
    graph, work = million(name), Work()
    result = cg.scc(graph, device=pocl)
    assert work.seconds() < 60
    check_components(graph, result)


def check_a_million(name, preset, device):
    """Scc checklist 21: no preset takes time quadratic in the size of a shape."""
    graph, work = million(name), Work()
    result = cg.scc(graph, config=preset, device=device)
    assert work.seconds() < 200  # hours if it were; signatures are a method for GPUs
    check_components(graph, result)


@pytest.mark.slow
@pytest.mark.parametrize("preset", different_presets())
@pytest.mark.parametrize("name", MILLION)
def test_a_million_vertices_by_every_preset(name, preset, pocl):
    check_a_million(name, preset, pocl)


@pytest.mark.slow
@pytest.mark.parametrize("preset", different_presets(rounds=False))
@pytest.mark.parametrize("name", MILLION)
def test_a_million_vertices_on_lanes(name, preset, intel):
    """The host counts rounds: of presets that differ in nothing else, lanes need only one."""
    check_a_million(name, preset, intel)


def trimming_of(graph, device):
    """Rounds of trimming, and how many edges are left for signatures."""
    result = cg.scc(graph, config="signatures", device=device)
    check_components(graph, result)
    steps = {step["step"]: step for step in reversed(result.stats.steps)}
    rounds = steps["trim"]["rounds"] if "trim" in steps else 0
    return rounds, steps["propagate"]["items"] if "propagate" in steps else 0


@on_both
def test_signatures_follow_what_is_live_after_trimming(device):
    """Issue 5, auto: degrees decide whether edges are trimmed, what is left after it how often."""
    assert trimming_of(dag(5_000, 4, 3), device)[1] == 0  # nothing is left for signatures
    assert trimming_of(cycle(500, shuffle=3), device) == (0, 500)  # all degrees are one
    assert trimming_of(path(500), device) == (0, 497)  # one edge in 500 goes
    rounds, left = trimming_of(random_digraph(5_000, 1, 4), device)
    assert rounds > 2
    assert left < 2_000


def test_what_scans_leave_is_found_by_the_sequential_search(intel):
    graph = small("comb")
    result = cg.scc(graph, config=cg.SCCConfig(finish="signatures", scan_budget=1), device=intel)
    check_components(graph, result)
    assert result.stats.steps[-1]["step"] == "sequential"


@on_both
@pytest.mark.parametrize("preset", [*METHODS, "multistep", "devshatwar"])
def test_a_hundred_repeats_agree(preset, device):
    """Scc checklist 20."""
    graph = random_digraph(300, 2, 11)
    plan = cg.SCC(graph, config=preset, device=device)
    for _ in range(100):
        check_components(graph, plan.run())


@pytest.mark.parametrize("preset", ["sequential", "signatures", "coloring", "forward-backward"])
def test_labels_are_in_the_order_of_smallest_members(preset, intel):
    """Numbered by other kernels than small graphs are, whose vertices one work-item counts."""
    graph = chain_of_cycles(5000, 4, shuffle=1)
    assert graph.n > 16_384
    config = cg.SCCConfig(finish=preset, trim=0 if preset == "sequential" else None)
    check_components(graph, cg.scc(graph, config=config, device=intel))


def test_undirected_graphs_have_their_connected_components(any_device):
    """Scc checklist 22."""
    result = cg.scc(MIXED, device=any_device)
    check_components(MIXED, result, "weak")
    assert result.stats.method == "hooking"
    for preset in ("sequential", "signatures", "multistep"):
        check_components(MIXED, cg.scc(MIXED, config=preset, device=any_device), "weak")


@on_both
@pytest.mark.parametrize("synchronisation", ["persistent", "stepped"])
def test_ways_to_run(synchronisation, device):
    config = cg.SCCConfig(finish="signatures", schedule=synchronisation)
    result = cg.scc(MIXED_ONE_WAY, config=config, device=device)
    check_components(MIXED_ONE_WAY, result)
    assert result.stats.mode == synchronisation


@on_both
@pytest.mark.parametrize("preset", ["signatures", "multistep", "devshatwar"])
def test_a_launch_pauses_and_the_next_goes_on(preset, device, monkeypatch):
    def impatient(*args, **kwargs):
        return dataclasses.replace(resolve(*args, **kwargs), launch_work=1)

    monkeypatch.setattr(scc_stages, "resolve", impatient)
    for name in ("grid", "comb"):
        result = cg.scc(small(name), config=preset, device=device)
        check_components(small(name), result)
        assert result.stats.mode == "persistent"
        assert result.stats.launches >= result.stats.levels


def rounds_of(stats):
    """Rounds of signatures that look at all edges, and stages of SIMD groups by themselves."""
    taken = {"signatures": 0, "relay": 0}
    for step in stats.steps:
        if step["step"] == "propagate":
            taken[step["phase"]] += step["rounds"]
    return taken["signatures"], taken["relay"]


NO_RELAYS = {"RELAY_SHARE": 2**31}  # which follow where that many edges tell of one change
# Whose rounds are as many each time: several groups race, and see more of a round or less.
ONE_GROUP = dataclasses.replace(
    cg.SCCConfig.preset("signatures"), schedule=cg.schedule.Persistent(groups=1)
)


@on_both
def test_few_changes_are_relayed_by_simd_groups(device, monkeypatch):
    """Most rounds of deep graphs change little; without, all groups do several times as many."""
    share = signatures.RELAY_SHARE
    for graph in (comb(200, 4, 6), chain_of_cycles(1000, 2, 3)):
        taken = []
        for told in (share, NO_RELAYS["RELAY_SHARE"]):
            monkeypatch.setattr(signatures, "RELAY_SHARE", told)
            result = cg.scc(graph, config="signatures", device=device)
            check_components(graph, result)
            taken.append(rounds_of(result.stats))
        (by_all, relays), (without, none) = taken
        assert 0 < relays < by_all
        assert without > 2 * by_all
        assert none == 0


@pytest.mark.parametrize(
    "limits",
    [
        {"RELAY_ROOM": 8},
        {"CPU_TURNS": 1},
        {"MOST_LINKS": 1},
        {"RELAY_EVERY": 1, "RELAY_LEAST": 0, "RELAY_SHARE": 1},
    ],
    ids=lambda limits: "-".join(limits).lower(),
)
@on_both
def test_what_relays_have_no_room_for_is_left_to_all(limits, device, monkeypatch):
    """Whether signatures that wait are too many, or turns too few, or rows too long."""
    for name, value in limits.items():
        monkeypatch.setattr(signatures, name, value)
    relays = 0
    for name in ("comb", "grid", "random", "chain-of-2-cycles", "star-out", "mixed-one-way"):
        result = cg.scc(small(name), config="signatures", device=device)
        check_components(small(name), result)
        relays += rounds_of(result.stats)[1]
    assert relays


@pytest.mark.parametrize(
    "graph", [cycle(20_000, 1), path(20_000, 1), comb(1000, 5, 4)], ids=["cycle", "path", "comb"]
)
def test_a_relay_in_vain_is_not_repeated(graph, pocl, monkeypatch):
    """A round of all is next, and later relays have fewer turns until some repetitions ended."""
    turns = 1024
    monkeypatch.setattr(signatures, "CPU_TURNS", turns)
    result = cg.scc(graph, config="signatures", device=pocl)
    check_components(graph, result)
    vain, tried = 0, 0
    for step in result.stats.steps:
        if step["step"] == "remove":
            vain = max(vain - 1, 0)
        elif (step["phase"], step["step"]) == ("relay", "propagate"):
            assert step["items"] == turns >> vain
            if step["found"]:
                assert step["rounds"] == 1
                vain, tried = min(vain + 1, signatures.RELAY_VAIN), tried + 1
    assert tried > signatures.RELAY_VAIN


def modelled_ms(stats):
    """What stages take on a card: a barrier of all or of one group, and a look at each edge."""
    took = 0.0
    for step in stats.steps:
        relay = step["phase"] == "relay" and step["step"] == "propagate"
        took += step["rounds"] * (0.4 if relay else 5e-3 + 16 * step["items"] / 3e9)
    return took


@pytest.mark.parametrize("teeth", [10**4, slow(10**5)], ids=["small", "million"])
def test_a_comb_is_contracted_to_a_path(teeth, pocl):
    """Issue 17: a comb of a million vertices in 50 ms, which the sequential search took 1,200 for.

    Its cycles hide one another from priorities that come from afar.
    """
    result = cg.scc(comb(teeth, 5, 4), config=ONE_GROUP, device=pocl)
    assert result.count == 2 * teeth
    assert result.stats.steps[-1]["phase"] != "sequential"
    assert modelled_ms(result.stats) < (50 if teeth > 10**4 else 10)


def without_relays(monkeypatch, **limits):
    for name, value in (NO_RELAYS | limits).items():
        monkeypatch.setattr(signatures, name, value)


@on_both
def test_near_repetitions_spare_a_comb_rounds(device, monkeypatch):
    graph, taken = comb(1000, 5, 4), []
    for begin in (2, 100):
        without_relays(monkeypatch, NEAR_FROM=begin)
        result = cg.scc(graph, config="signatures", device=device)
        check_components(graph, result)
        taken.append(rounds_of(result.stats)[0])
        assert trims(result.stats) == (begin == 2)
    assert taken[1] > 2 * taken[0]


@pytest.mark.parametrize("graph", [cycle(30_000, 1), path(30_000, 1)], ids=["cycle", "path"])
def test_near_repetitions_are_for_what_keeps_many_priorities(graph, pocl, monkeypatch):
    """Issue 17: on a long way alone, few are left after some rounds, and the next will do."""
    taken = []
    for roots in (signatures.NEAR_ROOTS, 2**31):
        without_relays(monkeypatch, NEAR_ROOTS=roots)
        result = cg.scc(graph, config=ONE_GROUP, device=pocl)
        check_components(graph, result)
        taken.append(rounds_of(result.stats)[0])
        assert trims(result.stats) == (roots == 2**31)
    assert taken[1] > taken[0]


def trims(stats):
    """Whether edges were trimmed once repetitions had begun."""
    return any(step["step"] == "trim" for step in stats.steps[3:])


@pytest.mark.parametrize("begin", [1, 2])
def test_near_repetitions_of_awkward_shapes(begin, intel, monkeypatch):
    """One round, over and over, among repetitions of few rounds."""
    rounds = Constant("", "", neutral=1)
    without_relays(monkeypatch, NEAR_FROM=begin, NEAR_ROOTS=2**31, SIGNATURE_ROUNDS=rounds)
    trimmed = 0
    mixed = [random_digraph(n, 2, n) for n in (2, 3, 10, 1000)]
    for graph in [*map(small, SMALL), *mixed]:
        result = cg.scc(graph, config="signatures", device=intel)
        check_components(graph, result)
        trimmed += trims(result.stats)
    assert trimmed > 5


@pytest.mark.parametrize("stages", [1, 3, 9, 30, 60])
@pytest.mark.parametrize("preset", ["signatures", "multistep", "devshatwar"])
def test_what_is_given_up_anywhere_begins_anew(preset, stages, intel):
    """A launch in which a group waited in vain leaves any state behind; stepped launches follow."""
    graph = small("grid")
    config = dataclasses.replace(cg.SCCConfig.preset(preset), trim=0)
    plan = cg.SCC(graph, config=config, device=intel)
    driver = (plan._signatures or plan._steps)._stages

    def given_up(given, beside=None):
        args, driver._is_initial = [*driver.table.bind(given), *driver._own], False
        for launch in range(stages):
            driver._launch(args, launch, np.uint32(FLAG_STEPPED))
        return args, None, driver._mirror.ask(beside), None

    driver.start, driver._persistent = given_up, lambda *_: False
    result = plan.run()
    check_components(graph, result)
    assert result.stats.mode == "stepped"


def test_stats(any_device):
    """Scc checklist 13, 15 and 16: memory, shares, steps, launches and edges per second."""
    result = cg.scc(MIXED_ONE_WAY, config="signatures", device=any_device)
    stats = result.stats
    sizes = np.bincount(oracle(MIXED_ONE_WAY))
    assert result.largest_share == sizes.max() / MIXED_ONE_WAY.n
    assert result.trivial_share == np.count_nonzero(sizes == 1) / MIXED_ONE_WAY.n
    assert stats.edges_traversed == MIXED_ONE_WAY.m
    assert 0 < stats.kernel_ms <= stats.total_ms
    assert stats.teps == pytest.approx(1e3 * MIXED_ONE_WAY.m / stats.kernel_ms)
    assert stats.launches >= 3
    assert stats.levels == sum(step["rounds"] for step in stats.steps)
    assert [step["step"] for step in stats.steps][:3] == ["prepare", "list", "propagate"]
    assert stats.device_bytes > 16 * MIXED_ONE_WAY.m
    assert stats.method == "signatures"
    assert (stats.config["finish"], stats.config["trim"]) == ("signatures", 0)
    assert stats.energy is None
    assert str(result) == f"SCCResult(count={sizes.size})"
    json.dumps(stats.steps)


@pytest.mark.parametrize("graph", [MIXED, MIXED_ONE_WAY], ids=["undirected", "directed"])
@pytest.mark.parametrize("preset", ["auto", "sequential", "multistep", "signatures"])
def test_levels_of_every_runtime(preset, graph, device):
    """API.md: stats have levels, a row each, and a mode, whatever finds the components."""
    stats = cg.scc(graph, config=preset, device=device).stats
    rows = stats.per_level
    assert stats.mode in {"persistent", "stepped"}
    assert stats.levels == rows["rounds"].sum() > 0
    assert {"frontier", "edges", "direction", "microseconds"} <= set(rows.dtype.names)
    assert rows["direction"].tolist() == [step["step"] for step in stats.steps]
    assert (rows["frontier"] >= -1).all()
    assert ((rows["edges"] == graph.m) | (rows["edges"] == -1)).all()
    if preset == "sequential" or (preset == "auto" and device.traits.is_cpu):
        assert rows["frontier"][-1] == -1 or rows["frontier"].max() == graph.n


@pytest.mark.parametrize("kind", ["csr_matrix", "coo_array", "csc_matrix"])
def test_scipy_matrices_are_graphs(kind, any_device):
    matrix = getattr(scipy.sparse, kind)(MIXED_ONE_WAY.to_scipy())
    check_components(MIXED_ONE_WAY, cg.scc(matrix, device=any_device))


@pytest.mark.parametrize("name", ["mixed-one-way", "dag", "grid", "no-vertices", "no-edges"])
def test_condensation(name, any_device):
    graph = small(name)
    dag = cg.condensation(graph, device=any_device, verify=True)
    labels = oracle(graph)
    np.testing.assert_array_equal(dag.membership, labels)
    sources, targets, _ = graph.listed_edges()
    if not graph.directed:
        sources, targets = sources[:0], targets[:0]
    pairs = {(labels[u], labels[v]) for u, v in zip(sources, targets, strict=True)}
    pairs = {(a, b) for a, b in pairs if a != b}
    assert set(zip(*(end.tolist() for end in dag.listed_edges()[:2]), strict=True)) == pairs
    assert (dag.n, dag.m, dag.directed) == (len(set(labels.tolist())), len(pairs), True)
    assert nx.is_directed_acyclic_graph(dag.to_networkx())
    for component in range(min(dag.n, 5)):
        np.testing.assert_array_equal(dag.members(component), np.flatnonzero(labels == component))
    with pytest.raises(cg.InvalidArgumentError, match=f"component={dag.n} is not a vertex of this"):
        dag.members(dag.n)


def test_condensation_tells_progress_and_checks(any_device, monkeypatch):
    """API.md: long calls take progress= and verify=."""
    told, checked = [], []
    monkeypatch.setattr(module, "verify_components", lambda *_, **how: checked.append(how))
    edges = MIXED_ONE_WAY.listed_edges()[:2]
    for verify in (False, True):
        graph = cg.from_edges(*edges, n=MIXED_ONE_WAY.n)  # not on the device yet
        cg.condensation(
            graph, device=any_device, progress=lambda *how: told.append(how), verify=verify
        )
    assert checked == [{"strong": True}]
    assert told


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"finish": "magic"}, "finish='magic' is not one of"),
        ({"schedule.group_size": 0}, "group_size=0 is out of range"),
        ({"schedule.groups": True}, "groups=True is not an integer"),
        ({"scan_budget": -1}, "scan_budget=-1"),
        ({"schedule": "never"}, "schedule='never'"),
    ],
)
def test_what_is_refused(arguments, said):
    with pytest.raises(cg.InvalidArgumentError, match=said):
        cg.SCCConfig().with_values(arguments)


def test_more_edges_than_a_list_numbers_are_refused(monkeypatch, any_device):
    """With the way out; nobody makes a graph of 2**32 edges to see it."""
    monkeypatch.setattr(signatures, "MOST_EDGES", MIXED_ONE_WAY.m)
    with pytest.raises(cg.InvalidArgumentError, match="use finish='coloring'"):
        cg.scc(MIXED_ONE_WAY, config="signatures", device=any_device)
    monkeypatch.setattr(signatures, "MOST_EDGES", MIXED_ONE_WAY.m + 1)
    assert cg.scc(MIXED_ONE_WAY, config="signatures", device=any_device).count > 1


@pytest.mark.parametrize("config", ["no-such-preset", 3])
def test_unknown_configurations_are_refused(config, any_device):
    with pytest.raises(cg.InvalidArgumentError, match="preset"):
        cg.scc(MIXED_ONE_WAY, config=config, device=any_device)
