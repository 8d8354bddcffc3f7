"""Wherever an interruption comes, what follows it gives what a fresh plan gives.

An algorithm is one line in `ALGORITHMS` of algorithms_list.py.
"""

import gc
import signal
import subprocess
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from algorithms_list import ALGORITHMS, SAME, SOURCES, check, expected, fresh_graph, itself
from clocks import alarms, happens
from interruption import holders, interrupt, places, shared, sites, some

import clgraph as cg
from clgraph import Graph
from clgraph.device import waiting
from clgraph.device.programs import program
from clgraph.device.rendering import renderings
from clgraph.threads import at_work

# A file that was just being opened is closed by its destructor, which says so; what pytest keeps of
# such a warning keeps everything that the interrupted frames held.
# Ctrl-C may also fall into what hypothesis has the collector call, and is lost there.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings(
        "ignore:Exception ignored .*<function gc_cumulative_time"
        ":pytest.PytestUnraisableExceptionWarning"
    ),
]

USUAL_ANSWER_S = 5e-3
MOST_TRIES, MANY = 5, 20
MOST_HELPERS = 2  # one for each thread that waits: divided searches have two


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_run_that_is_interrupted(name, target, chosen, opcodes):
    """A plan finds what a fresh one finds, from another vertex and from the same one."""
    algorithm = ALGORITHMS[name]
    plan = algorithm.make(fresh_graph(), target)
    for place in chosen(lambda: algorithm.outcome(plan, SOURCES[0]), opcodes=opcodes):
        interrupt(lambda: algorithm.outcome(plan, SOURCES[0]), place, opcodes=opcodes)
        check(name, target, plan, 1)
        check(name, target, plan, 0)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_making_a_plan_that_is_interrupted(name, target, chosen, opcodes):
    """Uploads and plans begin anew, on the same graph, and nothing stays on the device."""
    algorithm = ALGORITHMS[name]
    make = lambda graph: algorithm.make(graph, target)  # noqa: E731
    expected(name, target)
    gc.collect()
    used = target.ledger.used_bytes
    for place in chosen(make, fresh_graph, opcodes=opcodes):
        graph = fresh_graph()
        interrupt(lambda g=graph: make(g), place, opcodes=opcodes)
        check(name, target, make(graph), 1)
        del graph
        gc.collect()
        assert target.ledger.used_bytes == used, f"{place}: {holders(Graph)}"


@pytest.mark.rest
@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_first_run_that_is_interrupted(name, target, chosen, opcodes):
    """What a plan makes when it first runs is made anew: where no later run comes to."""
    algorithm = ALGORITHMS[name]
    fresh_plan = lambda: algorithm.make(fresh_graph(), target)  # noqa: E731
    run = lambda plan: algorithm.outcome(plan, SOURCES[0])  # noqa: E731
    expected(name, target)
    plan = fresh_plan()
    run(plan)
    later = sites(partial(run, plan), opcodes=opcodes)
    del plan
    gc.collect()
    used = target.ledger.used_bytes
    for place in chosen(run, fresh_plan, opcodes=opcodes, beyond=later):
        plan = fresh_plan()
        interrupt(lambda p=plan: run(p), place, opcodes=opcodes)
        check(name, target, plan, 1)
        check(name, target, plan, 0)
        del plan
        gc.collect()
        assert target.ledger.used_bytes == used, f"{place}: {holders(Graph)}"


@pytest.mark.parametrize("name", ALGORITHMS)
def test_building_programs_that_is_interrupted(name, target, chosen, opcodes):
    """What a process remembers of kernels is whole: where a plan comes to that finds them built."""
    algorithm = ALGORITHMS[name]

    def first(graph):
        return algorithm.outcome(algorithm.make(graph, target), SOURCES[0])

    def built_anew(graph):
        program._programs.clear()
        renderings._texts.clear()
        return first(graph)

    expected(name, target)
    graph = fresh_graph()
    first(graph)
    known = sites(lambda: first(graph), opcodes=opcodes)
    known |= sites(lambda: first(fresh_graph()), opcodes=opcodes)
    for place in chosen(built_anew, fresh_graph, opcodes=opcodes, beyond=known):
        graph = fresh_graph()
        interrupt(lambda g=graph: built_anew(g), place, opcodes=opcodes)
        check(name, target, algorithm.make(graph, target), 1)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_reading_that_is_interrupted(name, target, chosen, opcodes):
    """A result is copied back whole at the second attempt."""
    algorithm = ALGORITHMS[name]
    if algorithm.read is itself:
        pytest.skip("its results are on the host already")
    plan = algorithm.make(fresh_graph(), target)
    run = lambda: algorithm.run(plan, SOURCES[1])  # noqa: E731
    for place in chosen(algorithm.read, run, opcodes=opcodes, deaf=opcodes):
        result = run()
        interrupt(lambda r=result: algorithm.read(r), place, opcodes=opcodes)
        found = np.array(algorithm.read(result))
        np.testing.assert_allclose(found, expected(name, target)[1], rtol=1e-6, atol=0)


@pytest.mark.rest
@pytest.mark.parametrize("name", ["bfs", "sssp"])
def test_interrupted_for_want_of_memory(name, target, chosen, opcodes, monkeypatch):
    """Results that give way to a search are read whole, and no two share a buffer."""
    algorithm = ALGORITHMS[name]
    plan = algorithm.make(fresh_graph(), target)
    algorithm.outcome(plan, SOURCES[0])
    expected(name, target)
    kept = []
    monkeypatch.setenv("CLGRAPH_MEMORY_LIMIT", str(target.ledger.used_bytes + 10_000))

    def run():
        kept[:] = [algorithm.run(plan, SOURCES[0])]
        kept.append(algorithm.run(plan, SOURCES[1]))

    for place in chosen(run, opcodes=opcodes):
        interrupt(run, place, opcodes=opcodes)
        for turn, result in enumerate(kept):
            np.testing.assert_array_equal(algorithm.read(result), expected(name, target)[turn])


def seconds(call):
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


@pytest.mark.parametrize("name", ALGORITHMS)
def test_interruptions_at_random_moments(name, target, effort, record_property):
    """Signals, as Ctrl-C sends them: answered soon, and no thread stays behind."""
    waiting._idle_helpers.clear()  # of tests that waited in more threads, before this one
    algorithm = ALGORITHMS[name]
    plan = algorithm.make(fresh_graph(), target)
    check(name, target, plan, 0)
    takes = min(seconds(lambda: algorithm.outcome(plan, SOURCES[0])) for _ in range(3))
    rng = np.random.default_rng(effort("seed"))
    delays = []
    wanted, turn = effort("moments"), 0

    def press(*_):
        raise KeyboardInterrupt

    with alarms(press):
        # What ends before its signal comes is tried again.
        while len(delays) < wanted and turn < MOST_TRIES * wanted:
            turn += 1
            try:
                wait = max(takes * rng.random(), 1e-5)
                due = time.perf_counter() + wait
                signal.setitimer(signal.ITIMER_REAL, wait)
                algorithm.outcome(plan, SOURCES[turn % 2])
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                delays.append(time.perf_counter() - due)
            check(name, target, plan, turn + 1)
    gc.collect()
    record_property("interruptions", len(delays))
    assert delays or wanted < MANY  # of a few none may have come
    if delays:
        record_property("worst_ms", 1e3 * max(delays))
        record_property("median_ms", 1e3 * float(np.median(delays)))
        record_property("below_5_ms", sum(delay < USUAL_ANSWER_S for delay in delays))
    # Those that were interrupted end once what they wait for has, as soon as they are given a core.
    assert happens(lambda: at_work().count(waiting.THREAD) <= MOST_HELPERS)


def test_places_are_shared_out_and_each_site_comes_before_another_turn():
    found = [((name, 1), turn) for name in "abcdefgh" for turn in range(1, 6)]
    parts = [shared(found, (which, 4)) for which in range(1, 5)]
    assert sorted(place for part in parts for place in part) == found
    assert max(map(len, parts)) < len(found)
    rng = np.random.default_rng(1)
    assert sorted(some(found, 0, rng)) == found
    assert {site for site, _ in some(found, 0, rng)[:8]} == {site for site, _ in found}
    assert len(some(found, 4, rng)) == 4


def test_the_first_call_of_a_process_is_followed_by_opcodes():
    """As it is not by Python 3.12 and 3.13 unless they are asked in the right order."""
    program = "from interruption import places; print(len(places(lambda: [abs(-1)], opcodes=True)))"
    folder = Path(__file__).parents[1]
    command = [sys.executable, "-c", program]
    told = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    assert int(told.stdout) > 0


def test_where_a_function_begins_and_a_generator_goes_on_signals_are_answered():
    """With nothing called before: the line of `leaf`, and what follows each `yield`."""

    def leaf():
        return None

    def each():
        yield
        yield

    def call():
        leaf()
        list(each())

    found = Counter(code.name.rpartition(".")[2] for (code, _), _ in places(call, opcodes=True))
    assert found["leaf"] == 1
    assert found["each"] >= 2  # Python 3.12 begins a generator under handlers of its own


def test_each_place_is_reached_and_no_other_code_is_followed():
    """Each turn of what is called in loops, by recursion, and of generators that go on."""
    followed = []

    def leaf(depth):
        followed.append(sys._getframe().f_trace is not None)
        return depth and leaf(depth - 1)

    def each():
        for depth in range(3):
            yield leaf(depth)

    def call():
        for _ in range(2):
            sum(each())
        followed.append(False)

    for opcodes in (False, True):
        found = places(call, opcodes=opcodes)
        assert len({code for (code, _), _ in found}) >= 3
        for place in found:
            assert interrupt(call, place, opcodes=opcodes), place
    last = [place for place in places(call) if place[0][0].name.endswith(".call")][-1]
    followed.clear()
    assert interrupt(call, last)
    assert followed
    assert not any(followed)


def test_what_others_have_the_collector_call_is_not_interrupted():
    """Hypothesis has a function called at each collection, where an interruption is lost."""
    called = []

    def others(phase, _):
        called.append(phase)

    gc.callbacks.append(others)
    try:
        assert not places(gc.collect)
        assert not called
        gc.collect()
        assert called == ["start", "stop"]
    finally:
        gc.callbacks.remove(others)


def test_every_plan_is_interrupted(target):
    """A new kind of plan gets a line in algorithms_list.py, or is one of these under a flag."""
    made = {type(algorithm.make(fresh_graph(), target)) for algorithm in ALGORITHMS.values()}
    for name, like in SAME.items():
        kind, other = getattr(cg, name), getattr(cg, like)
        assert other in made
        assert kind.run is other.run
        made.add(kind)
    plans = {getattr(cg, name) for name in cg.__all__ if hasattr(getattr(cg, name), "run")}
    assert plans <= made
