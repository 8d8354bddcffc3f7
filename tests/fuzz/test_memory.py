"""Every allocation fails once, and nothing grows with plans and runs."""

import gc
import mmap
import time
from pathlib import Path

import numpy as np
import pytest
from algorithms_list import ALGORITHMS, SOURCES, check, expected, fresh_graph, tiny_graph

import clgraph as cg
from clgraph.device import Memory

PAGE_BYTES = 4096
# Of the host's memory in the second half. Python's table of interned names doubles once in some
# thousand plans, by 0.9 MiB, and keeps that size; its allocator takes memory by the mebibyte.
SLACK_BYTES = 3 << 20
STRETCHES, MANY = 10, 1000
TRIES = 5
FIRST_HALF = 0.47  # of the time, so that a little is left
FEWEST = 2


def host_bytes():
    """What of this process is in memory."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * PAGE_BYTES


QUICK = ("bfs", "components")


def quick_first(names):
    """Few by default; all take minutes."""
    slow = pytest.mark.slow
    return [name if name in QUICK else pytest.param(name, marks=slow) for name in names]


@pytest.mark.parametrize("name", quick_first(ALGORITHMS))
def test_each_allocation_fails_once(name, target, monkeypatch, record_property):
    """The error is the one for memory, nothing stays, and the next attempt succeeds."""
    algorithm = ALGORITHMS[name]
    expected(name, target)
    gc.collect()
    before = target.ledger.used_bytes
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
            plan = algorithm.make(graph, target)
            algorithm.outcome(plan, SOURCES[0])
        except cg.DeviceMemoryError as error:
            refused = str(error)
            assert "a test wants it so" in refused
        monkeypatch.setattr(Memory, "allocate", allocate)
        check(name, target, algorithm.make(graph, target), 1)
        del graph, plan
        gc.collect()
        assert target.ledger.used_bytes == before, f"allocation {place}"
        if seen <= place:
            break
        place += 1
    record_property("allocations", place)
    assert place > 2


def growth(most, do, ends=float("inf")):
    """What each of ten stretches adds to the host's memory in use, after as many turns before.

    What is lost is lost each time. Allocators of several threads, and a system that makes pages
    larger, take more at times as well: where it is too much, the turns are done anew.

    Returns
    -------
    tuple
        How many turns each half had, fewer than `most` where time was short, and the bytes.
    """
    gc.collect()
    gc.freeze()  # what is there already, so that collections cost next to nothing
    begun = time.time()
    half = begun + (ends - begun) * FIRST_HALF
    turns = 0
    try:
        while turns < min(most, FEWEST) or (turns < most and time.time() < half):
            do()
            turns += 1
        takes = time.time() - begun
        for _ in range(TRIES):
            added = added_by(turns, do)
            if stays(added, turns) or time.time() + takes > ends:
                break
    finally:
        gc.unfreeze()
    return turns, added


def added_by(turns, do):
    gc.collect()
    known = [host_bytes()]
    for stretch in np.array_split(np.arange(turns), STRETCHES):
        for _ in stretch:
            do()
        gc.collect()
        known.append(host_bytes())
    return np.diff(known)


def stays(added, turns):
    """Nothing grows with every turn; what grows by steps, as Python's tables do, stays small."""
    return added.sum() < SLACK_BYTES and (turns < MANY or np.median(added) < PAGE_BYTES)


@pytest.mark.parametrize("name", quick_first(ALGORITHMS))
def test_plans_leave_nothing(name, target, effort, ends, record_property):
    """In the second half neither memory grows."""
    algorithm = ALGORITHMS[name]
    graph = tiny_graph()
    algorithm.outcome(algorithm.make(graph, target), SOURCES[0])
    gc.collect()
    used = target.ledger.used_bytes
    half = effort("plans") // 2
    again = lambda: algorithm.outcome(algorithm.make(graph, target), SOURCES[0])  # noqa: E731
    half, added = growth(half, again, ends)
    record_property("plans", 2 * half)
    record_property("growth_bytes", int(added.sum()))
    assert target.ledger.used_bytes == used
    assert stays(added, half), added


@pytest.mark.parametrize("name", quick_first(ALGORITHMS))
def test_runs_leave_nothing(name, target, effort, ends, record_property):
    algorithm = ALGORITHMS[name]
    plan = algorithm.make(tiny_graph(), target)
    algorithm.outcome(plan, SOURCES[0])
    gc.collect()
    used = target.ledger.used_bytes
    half, added = growth(effort("runs") // 2, lambda: algorithm.outcome(plan, SOURCES[0]), ends)
    gc.collect()
    record_property("runs", 2 * half)
    record_property("growth_bytes", int(added.sum()))
    # What follows changes of a graph gives memory back when that shrinks.
    assert target.ledger.used_bytes <= used
    assert stays(added, half), added


def test_growth_that_is_seen_and_growth_that_is_not():
    """A page a turn is a leak though it is below the bar; a step that is not repeated is none."""
    kept = []
    turns = SLACK_BYTES // PAGE_BYTES // 2

    def leak():
        kept.append(mmap.mmap(-1, PAGE_BYTES))
        kept[-1][0] = 1

    def step():
        if len(kept) == turns + turns // 2:
            page = mmap.mmap(-1, turns * PAGE_BYTES)
            page[::PAGE_BYTES] = bytes(turns)
            kept.append(page)
        kept.append(None)

    assert not stays(growth(turns, leak)[1], MANY)
    kept.clear()
    _, added = growth(turns, step)
    assert added.max() >= turns * PAGE_BYTES // 2
    assert stays(added, MANY)
