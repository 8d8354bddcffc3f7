"""A search over all NVIDIA devices there are, or over one that is named twice: whole results."""

import numpy as np
import pytest
from configs import bfs_config
from searches import (
    MIXED,
    MIXED_ONE_WAY,
    MIXED_ONE_WAY_SOURCES,
    MIXED_SOURCES,
    check_search,
    check_what_each_refuses,
)

import clgraph as cg
from clgraph.algorithms.bfs import sharing
from clgraph.cluster import mailboxes

pytestmark = pytest.mark.gpu

GRAPHS = {
    "kron-18": lambda: cg.generate.kron(18, seed=2),
    "rmat-directed": lambda: cg.generate.rmat(14, seed=3),
    "grid": lambda: cg.generate.grid2d(150, 150),
    "star": lambda: cg.generate.star(100_000),
    "random": lambda: cg.generate.random(50_000, 8, seed=4),
    "no-edges": lambda: cg.from_edges([], [], n=5000),
}
FORMS = {
    "merrill": "merrill-two-phase",
    "exact-bins": bfs_config(queue="vertex"),
    "nothing-culled": bfs_config(queue="vertex", visited="plain"),
    "auto": "auto",
}


@pytest.fixture(scope="module")
def devices(gpu):
    """Every NVIDIA device, or the only one twice."""
    found = [device for device in cg.devices() if device.vendor == gpu.vendor and device.is_gpu]
    return found if len(found) > 1 else [gpu, gpu]


@pytest.mark.parametrize("form", FORMS)
def test_whole_results(form, devices):
    for graph, sources in ((MIXED, MIXED_SOURCES), (MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES)):
        plan = cg.DividedBFS(graph, devices, predecessors=True, config=FORMS[form])
        for source in sources:
            check_search(graph, source, plan.run(source))


def test_what_parts_do_not_exchange_is_refused(devices):
    with pytest.raises(cg.ClgraphError, match="'enterprise' has it"):
        cg.DividedBFS(MIXED, devices, config="enterprise")


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("form", ["exact-bins", "merrill", "auto"])
def test_large_graphs(name, form, devices):
    graph = GRAPHS[name]()
    plan = cg.DividedBFS(graph, devices, predecessors=True, config=FORMS[form])
    for source in (0, graph.n // 2, int(np.argmax(graph.degrees))):
        check_search(graph, source, plan.run(source))


@pytest.mark.parametrize("transfers", [None, "host"])
def test_three_parts_and_a_processor(transfers, devices):
    """Parts that share a device copy directly, the others through the host."""
    parts = [devices[0], devices[0], devices[-1], "cpu"]
    for form in ("exact-bins", "merrill"):
        plan = cg.DividedBFS(
            MIXED, parts, predecessors=True, config=FORMS[form], transfers=transfers
        )
        for source in MIXED_SOURCES:
            check_search(MIXED, source, plan.run(source))


def test_a_hundred_repeats_agree(devices):
    graph = GRAPHS["kron-18"]()
    source = int(np.argmax(graph.degrees))
    expected = cg.bfs(graph, source, device=devices[0]).distances
    for form in ("exact-bins", "merrill"):
        plan = cg.DividedBFS(graph, devices, config=FORMS[form])
        for _ in range(50):
            np.testing.assert_array_equal(plan.run(source).distances, expected)


def test_many_searches(devices):
    graph = GRAPHS["random"]()
    declared = {
        "state": {"hops": cg.State("int32", fill=-1), "reached": cg.State("uint32", per="run")},
        "init": "if (lid == 0) { hops[src] = 0; ADD(reached, src, 1u); }",
        "visit": "if (FIRST(v)) { hops[v] = level + 1; ADD(reached, v, 1u); ENQ(v); }",
    }
    plan = cg.DividedSearches(graph, devices, totals={"reached": np.add}, **declared)
    sources = np.arange(0, graph.n, 500)
    result = plan.run(sources)
    single = cg.BFS(graph, device=devices[0])
    for source, hops in zip(sources, result["hops"], strict=True):
        np.testing.assert_array_equal(hops, single.run(int(source)).distances)
    np.testing.assert_array_equal(result["reached"], (result["hops"] >= 0).sum(axis=0))


@pytest.mark.parametrize("form", ["exact-bins", "merrill"])
def test_no_kernel_spills(form, devices):
    plan = cg.DividedBFS(MIXED, devices, predecessors=True, config=FORMS[form])
    for part in plan.parts:
        for kernel in part.kernels:
            assert not kernel.spill_bytes, f"{kernel.name} spills {kernel.spill_bytes} bytes"


@pytest.mark.parametrize("pull", [cg.pull.ByEdges(), cg.pull.ByHubs(), cg.pull.Never()])
def test_cards_meet_in_host_memory(pull, devices):
    """Two cards search without the host, as it would have them."""
    if len({device.cl.int_ptr for device in devices}) < 2:
        pytest.skip("one card")
    config = cg.BFSConfig(frontier="status", pull=pull)
    for name in ("kron-18", "rmat-directed", "grid", "star", "no-edges"):
        graph = GRAPHS[name]()
        plan = cg.DividedBFS(
            graph, devices, predecessors=True, config=config, transfers="mailboxes"
        )
        host = cg.DividedBFS(graph, devices, config=config, transfers="host")
        for source in (0, int(np.argmax(graph.degrees)), graph.n - 1):
            result, expected = plan.run(source, verify=True), host.run(source)
            check_search(graph, source, result)
            assert not any(exchange.host_runs for exchange in plan._exchanges)
            for field in ("frontier", "direction"):
                table, other = result.stats.per_level[field], expected.stats.per_level[field]
                np.testing.assert_array_equal(table, other)


def test_numbers_of_levels_are_used_up(devices):
    """As after millions of searches: cards go on meeting, by numbers that begin anew."""
    if len({device.cl.int_ptr for device in devices}) < 2:
        pytest.skip("one card")
    graph = GRAPHS["kron-18"]()
    config = cg.BFSConfig(frontier="status")
    plan = cg.DividedBFS(graph, devices, config=config, transfers="mailboxes")
    for exchange in plan._exchanges:
        exchange._stamp = mailboxes.LAST_STAMP - 3 * mailboxes.LEVELS_A_LAUNCH
    for source in range(5):
        check_search(graph, source, plan.run(source))
    assert plan._exchanges[0]._stamp < 5 * (mailboxes.LEVELS_A_LAUNCH + 1)
    assert not any(exchange.host_runs for exchange in plan._exchanges)


def test_two_cards_hold_what_neither_does(devices, monkeypatch):
    if devices[0] is devices[1]:
        pytest.skip("there is one card")
    check_what_each_refuses(cg.generate.kron(20, 16), devices[:2], monkeypatch)


def copies(graph, devices, monkeypatch):
    """Have the whole graph on two cards, or twice on one for halves of it; and a plan for one."""
    monkeypatch.setattr(sharing, "SHARE_FROM", 0)
    one = cg.BFS(graph, device=devices[0])
    halves = len({device.cl.int_ptr for device in devices}) < 2
    config = cg.BFSConfig(schedule=cg.schedule.Persistent(groups=one.groups // 2))
    plan = cg.DividedBFS(
        graph,
        devices[:2],
        predecessors=True,
        config=config if halves else None,
        partition="copies",
        transfers="mailboxes",
    )
    return plan, one


def check_copies(plan, one, source):
    """Check a search by its result and frontiers; give the bytes sent, and whether all was alone.

    All search alone where a card is so busy that one waits for the other in vain.
    """
    result = plan.run(source, verify=True)
    check_search(plan.graph, source, result)
    table, expected = result.stats.per_level, one.run(source).stats.per_level
    np.testing.assert_array_equal(table["frontier"], expected["frontier"])
    alone = {exchange.stepped for exchange in plan._exchanges}
    assert len(alone) == 1
    return int(table["sent_bytes"].sum()), alone.pop()


@pytest.mark.parametrize("name", GRAPHS)
def test_copies_share_wide_levels(name, devices, monkeypatch):
    """Two cards, or halves of one, each with the whole graph; also while others have the card."""
    graph = GRAPHS[name]()
    plan, one = copies(graph, devices, monkeypatch)
    sent = 0
    for source in (0, int(np.argmax(graph.degrees)), graph.n - 1):
        for _ in range(5):
            sent_now, alone = check_copies(plan, one, source)
            sent += sent_now + alone
    assert sent > 0 or name not in {"kron-18", "random"}


@pytest.mark.gpu(alone=True)
@pytest.mark.parametrize("name", ["kron-18", "random"])
def test_copies_do_not_wait_in_vain(name, devices, monkeypatch):
    graph = GRAPHS[name]()
    plan, one = copies(graph, devices, monkeypatch)
    for source in np.flatnonzero(graph.degrees)[:20].tolist():
        sent, alone = check_copies(plan, one, source)
        assert sent > 0
        assert not alone


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("name", ["kron-18", "rmat-directed", "random"])
def test_all_copies_search_alone_if_one_gives_up(name, rank, devices, monkeypatch):
    """One that waits for no more than a few polls gives up at some meeting or other."""
    graph = GRAPHS[name]()
    plan, one = copies(graph, devices, monkeypatch)
    tables, gave_up = [part.plan.driver.table for part in plan.parts], 0
    for source in np.flatnonzero(graph.degrees)[:10].tolist():
        for polls in (1, 3, 10, 30):
            tables[1 - rank]["box_polls"] = np.uint32(1 << 14)
            tables[rank]["box_polls"] = np.uint32(polls)
            gave_up += check_copies(plan, one, source)[1]
    assert gave_up
