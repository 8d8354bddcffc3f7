"""Every allocation fails once, and nothing grows with plans and runs."""

import gc
from pathlib import Path

import pytest
from algorithms_list import ALGORITHMS, SOURCES, check, expected, fresh_graph

import clgraph as cg
from clgraph.device import Memory

PAGE_BYTES = 4096
TRIES = 5
SLACK_BYTES = 1 << 20  # of the host's memory, which its allocator does not give back at once


def host_bytes():
    """What of this process is in memory."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * PAGE_BYTES


QUICK = ("bfs", "components")


def quick_first(names):
    """Few by default; all take minutes."""
    slow = pytest.mark.slow
    return [name if name in QUICK else pytest.param(name, marks=slow) for name in names]


@pytest.mark.parametrize("name", quick_first(ALGORITHMS))
def test_each_allocation_fails_once(name, pocl, monkeypatch, record_property):
    """The error is the one for memory, nothing stays, and the next attempt succeeds."""
    algorithm = ALGORITHMS[name]
    expected(name, pocl)
    gc.collect()
    before = pocl.ledger.used_bytes
    allocate = Memory.allocate
    place = 0
    while True:
        seen = 0

        def fail_once(memory, what, count, dtype, place=place):
            nonlocal seen
            seen += 1
            if seen == place + 1:
                memory._refuse(what, count, "a test wants it so")
            return allocate(memory, what, count, dtype)

        graph = fresh_graph()
        monkeypatch.setattr(Memory, "allocate", fail_once)
        plan = None
        try:
            plan = algorithm.make(graph, pocl)
            algorithm.outcome(plan, SOURCES[0])
        except cg.DeviceMemoryError as error:
            refused = str(error)
            assert "a test wants it so" in refused
        monkeypatch.setattr(Memory, "allocate", allocate)
        check(name, pocl, algorithm.make(graph, pocl), 1)
        del graph, plan
        gc.collect()
        assert pocl.ledger.used_bytes == before, f"allocation {place}"
        if seen <= place:
            break
        place += 1
    record_property("allocations", place)
    assert place > 2


def growth(turns, do, most):
    """How much more of the host's memory is in use after as many turns again.

    What is lost is lost each time. Allocators of several threads, and a system that makes pages
    larger, take more at times as well: where it is more than `most`, the turns are done anew.
    """
    for _ in range(turns):
        do()
    for _ in range(TRIES):
        gc.collect()
        before = host_bytes()
        for _ in range(turns):
            do()
        gc.collect()
        grown = host_bytes() - before
        if grown < most:
            break
    return grown


@pytest.mark.parametrize("name", quick_first(ALGORITHMS))
def test_plans_leave_nothing(name, pocl, effort, record_property):
    """In the second half neither memory grows."""
    algorithm = ALGORITHMS[name]
    graph = fresh_graph()
    algorithm.outcome(algorithm.make(graph, pocl), SOURCES[0])
    gc.collect()
    used = pocl.ledger.used_bytes
    half = effort("plans") // 2
    most = SLACK_BYTES + 200 * half
    grown = growth(half, lambda: algorithm.outcome(algorithm.make(graph, pocl), SOURCES[0]), most)
    record_property("plans", 2 * half)
    record_property("growth_bytes_of_a_plan", grown / half)
    assert pocl.ledger.used_bytes == used
    assert grown < most


@pytest.mark.parametrize("name", quick_first(ALGORITHMS))
def test_runs_leave_nothing(name, pocl, effort, record_property):
    algorithm = ALGORITHMS[name]
    plan = algorithm.make(fresh_graph(), pocl)
    algorithm.outcome(plan, SOURCES[0])
    gc.collect()
    used = pocl.ledger.used_bytes
    half = effort("runs") // 2
    if algorithm.run.__name__.startswith("called"):
        half = min(half, effort("plans") // 2)  # each makes its plans
    most = SLACK_BYTES + 20 * half
    grown = growth(half, lambda: algorithm.outcome(plan, SOURCES[0]), most)
    record_property("runs", 2 * half)
    record_property("growth_bytes_of_a_run", grown / half)
    assert pocl.ledger.used_bytes == used
    assert grown < most
