"""Plans that do not fit leave nothing behind; plans that do are reused, by any thread, for ever."""

import gc
import importlib
import re
import threading

import numpy as np
import pytest
from searches import MIXED, MIXED_SOURCES, check_search, expected_distances

import clgraph as cg
from clgraph.device import Memory
from clgraph.primitives import Expand

RUNS = 300
THREADS = 4
RUNS_OF_A_THREAD = 40
TRIES = 7
LIMIT = "CLGRAPH_MEMORY_LIMIT"
MESSAGE = re.compile(r"'(\w+)' needs (\d+) bytes on .+, where (\d+) are free: .+\.")


@pytest.fixture
def used_bytes(any_device):
    """Give the bytes in use by what is alive."""

    def count():
        gc.collect()
        return any_device.ledger.used_bytes

    return count


def one_way_graph():
    rng = np.random.default_rng(9)
    return cg.from_edges(rng.integers(0, 3000, 9000), rng.integers(0, 3000, 9000), n=3000)


def test_every_allocation_may_fail(any_device, used_bytes, monkeypatch):
    """Whatever the array for which there is no room, the error names it and nothing is kept."""
    graph = one_way_graph()
    cg.BFS(graph, device=any_device, predecessors=True)  # compiled once, and freed with its graph
    del graph
    before = used_bytes()
    refused = {}
    extra = 0
    for _ in range(100):  # each time there is room for what was refused, and for nothing else
        graph = one_way_graph()
        monkeypatch.setenv(LIMIT, str(before + extra))
        free = Memory(any_device).free_bytes
        try:
            plan = cg.BFS(graph, device=any_device, predecessors=True, memory="device")
        except cg.DeviceMemoryError as error:
            name, asked, left = MESSAGE.fullmatch(str(error)).groups()
            assert int(left) < int(asked)
            assert int(left) <= free
            refused[name] = int(asked)
            extra += int(asked) - int(left)
        else:
            assert plan.run(0).reached > 0
            del plan
            break
        finally:
            monkeypatch.delenv(LIMIT)
        del graph
        assert used_bytes() == before
    else:
        pytest.fail("the plan never fitted")
    assert refused["indptr"] == 3001 * 4
    assert refused["indices"] == 9000 * 4
    assert refused["distances"] == 3000 * 4
    assert {"state", "queue_even", "queue_odd"} <= set(refused)


WORK = {
    "sssp": lambda graph, device: cg.SSSP(graph, device=device).run(0).reached,
    "scc": lambda graph, device: cg.SCC(graph, device=device, config="multistep").run().count,
    "components": lambda graph, device: cg.connected_components(graph, device=device).count,
    "apsp": lambda graph, device: cg.apsp(graph, [0, 1], device=device).shape,
    "closeness": lambda graph, device: cg.closeness_centrality(graph, [0, 1], device=device).shape,
    "betweenness": lambda graph, device: cg.betweenness_centrality(graph, [0], device=device).shape,
    "expand": lambda graph, device: Expand(graph.degrees, device=device).run().units,
}


@pytest.mark.parametrize("name", WORK)
def test_nothing_is_kept_of_what_did_not_fit(name, any_device, used_bytes, monkeypatch):
    """Wherever room ends, there is one kind of error, and afterwards all is as before."""
    weights = np.arange(1, 9001)
    edges = np.random.default_rng(9).integers(0, 3000, (2, 9000))
    expected = WORK[name](cg.from_edges(*edges, weights, n=3000), any_device)
    before = used_bytes()
    refusals = []
    for extra in np.geomspace(1e3, 30e6, TRIES):
        graph = cg.from_edges(*edges, weights, n=3000)
        monkeypatch.setenv(LIMIT, str(before + int(extra)))
        try:
            assert WORK[name](graph, any_device) == expected
        except cg.DeviceMemoryError as error:
            refusals.append(str(error))
        monkeypatch.delenv(LIMIT)
        del graph
        assert used_bytes() == before
    assert 0 < len(refusals) < TRIES
    assert all(re.search(r"\d+ bytes.* free", text) for text in refusals), refusals


def test_buffers_that_an_interrupt_loses_are_taken_again(any_device, used_bytes):
    plan = cg.BFS(MIXED, device=any_device)
    plan.run(0)
    before = used_bytes()
    pool = plan._pool
    for _ in range(10):
        pool.take()  # and Ctrl-C comes before it is known to whom they belong
    assert used_bytes() == before
    check_search(MIXED, MIXED_SOURCES[0], plan.run(MIXED_SOURCES[0]))
    assert used_bytes() == before


def test_a_graph_that_did_not_fit_does_later(any_device, used_bytes, monkeypatch):
    graph = one_way_graph()
    before = used_bytes()
    monkeypatch.setenv(LIMIT, str(before + 60_000))
    with pytest.raises(cg.DeviceMemoryError):
        cg.BFS(graph, device=any_device, memory="device")
    monkeypatch.delenv(LIMIT)
    plan = cg.BFS(graph, device=any_device)
    # Not check_search, which would keep the graph.
    np.testing.assert_array_equal(plan.run(5).distances, expected_distances(graph, 5))
    del plan, graph
    assert used_bytes() == before


def test_results_give_way_when_memory_is_short(any_device, used_bytes, monkeypatch):
    """Living results are copied to the host rather than refusing a search."""
    plan = cg.BFS(MIXED, device=any_device, predecessors=True)
    monkeypatch.setenv(LIMIT, str(used_bytes()))
    results = [(source, plan.run(source)) for source in MIXED_SOURCES]
    for source, result in results:
        check_search(MIXED, source, result)


@pytest.mark.parametrize("make", [cg.BFS, cg.SSSP])
def test_others_do_not_want_what_is_being_verified(make, any_device, used_bytes, monkeypatch):
    """Another thread's search, which finds no room, waits for the memory of one that is checked."""
    graph = cg.generate.grid2d(40, 50, weights=(1, 9))
    plan = make(graph, device=any_device)
    module = importlib.import_module(make.__module__)
    name = "verify_search" if make is cg.BFS else "verify_paths"
    verify, others, found = getattr(module, name), [], []

    def meanwhile(*args, **given):
        others.append(threading.Thread(target=lambda: found.append(plan.run(1999))))
        others[0].start()
        others[0].join(timeout=0.5)  # when it has long ended, if it need not wait
        verify(*args, **given)

    plan.run(0, verify=True)
    monkeypatch.setattr(module, name, meanwhile)
    # Room for what checks take beside the weights once more, but not for another result.
    room = 0 if make is cg.BFS else 4 * graph.m
    monkeypatch.setenv(LIMIT, str(used_bytes() + room + 18 * graph.n))
    first = plan.run(0, verify=True)
    others[0].join()
    monkeypatch.delenv(LIMIT)
    monkeypatch.setattr(module, name, verify)
    for source, result in ((0, first), (1999, found[0])):
        np.testing.assert_array_equal(result.distances, make(graph).run(source).distances)


def test_threads_share_a_plan(any_device):
    plan = cg.BFS(MIXED, device=any_device, predecessors=True)
    expected = {source: expected_distances(MIXED, source) for source in MIXED_SOURCES}
    failures = []
    start = threading.Barrier(THREADS)

    def search(first):
        start.wait(timeout=100)
        try:
            for number in range(first, first + RUNS_OF_A_THREAD):
                source = MIXED_SOURCES[number % len(MIXED_SOURCES)]
                result = plan.run(source)
                np.testing.assert_array_equal(result.distances, expected[source])
                assert result.predecessors[source] == source
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=search, args=(first,)) for first in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_threads_with_plans_of_their_own(any_device):
    """One graph, uploaded by whoever comes first, and one queue."""
    graph = cg.generate.grid2d(40, 40)
    expected = expected_distances(graph, 3)
    failures = []
    start = threading.Barrier(THREADS)

    def search():
        start.wait(timeout=100)
        try:
            for _ in range(5):
                plan = cg.BFS(graph, device=any_device)
                np.testing.assert_array_equal(plan.run(3).distances, expected)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=search) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_many_runs_need_no_more_memory_than_few(any_device, used_bytes):
    plan = cg.BFS(MIXED, device=any_device, predecessors=True)
    for source in MIXED_SOURCES:
        plan.run(source).detach()
    before = used_bytes()
    for number in range(RUNS):
        result = plan.run(MIXED_SOURCES[number % len(MIXED_SOURCES)])
        if number % 10 == 0:
            assert result.distances[result.source] == 0
    held = any_device.ledger.used_bytes
    assert held - before <= MIXED.n * 8 + 16 * (MIXED.n + 1)  # at most what one result holds
    del result
    assert used_bytes() - before <= held - before
