"""Threads are whole or never begun wherever Ctrl-C comes, and nothing starts them otherwise."""

import ast
import threading

import pytest
from clocks import happens
from interruption import interrupt, places
from runtimes import ROOT

from clgraph.threads import Latch, Worker, at_work

NAME = "made-up"
# What a thread is started with, or waits with, and which Ctrl-C can break.
BREAKABLE = {"Thread", "Event", "Condition", "Semaphore", "BoundedSemaphore", "Barrier", "Timer"}


@pytest.mark.parametrize("opcodes", [False, True])
def test_a_worker_that_is_interrupted_while_it_starts(opcodes):
    """What is raised is KeyboardInterrupt; the call is over, or never comes, once it is ended."""

    def start_and_wait():
        workers.append(Worker(NAME, lambda: calls.append("begun") or calls.append("over")))
        workers[-1].start()
        workers[-1].wait()

    workers, calls = [], []
    tried = places(start_and_wait, opcodes=opcodes)
    assert tried
    interrupted = 0
    for place in tried:
        workers.clear()
        calls.clear()
        interrupted += interrupt(start_and_wait, place, opcodes=opcodes)
        for worker in workers:
            worker.end()
            assert worker.has_ended
            worker.end()  # it may be asked for again
        assert calls in ([], ["begun", "over"])
        assert NAME not in at_work()
    assert interrupted > len(tried) / 2  # a thread that was quick is waited for in fewer steps


@pytest.mark.parametrize("opcodes", [False, True])
def test_ending_a_worker_that_is_interrupted(opcodes):
    """It can be ended again, and does not hang."""
    gate = threading.Lock()

    def end():
        try:
            worker.end()
        finally:
            if gate.locked():
                gate.release()

    def begin():
        gate.acquire()
        made = Worker(NAME, lambda: gate.acquire(timeout=60))
        made.start()
        assert happens(lambda: NAME in at_work())
        return made

    worker = begin()
    gate.release()
    tried = places(end, opcodes=opcodes)
    for place in tried:
        worker = begin()
        gate.release()
        interrupt(end, place, opcodes=opcodes)
        worker.end()
        assert NAME not in at_work()
        gate = threading.Lock()


def test_what_was_ended_before_it_began_is_never_called():
    calls = []
    worker = Worker(NAME, lambda: calls.append(1))
    worker.end()
    worker.start()  # as a thread that the system was slow to begin
    assert worker.has_ended
    assert worker.wait()
    assert not calls
    assert NAME not in at_work()


@pytest.mark.parametrize("opcodes", [False, True])
def test_a_latch_that_is_interrupted_lets_all_go(opcodes):
    def use():
        latches.append(Latch())
        latches[-1].set()
        assert latches[-1].wait()

    latches = []
    for place in places(use, opcodes=opcodes):
        latches.clear()
        interrupt(use, place, opcodes=opcodes)
        for latch in latches:
            if not latch.is_set:
                latch.set()
            assert latch.wait()
            assert latch.wait(0.0)


def test_a_latch_is_waited_for_so_long():
    latch = Latch()
    assert not latch.wait(0.0)
    assert not latch.wait(0.01)
    threading.Timer(0.02, latch.set).start()
    assert latch.wait(60)


def test_what_ctrl_c_can_break_starts_no_thread():
    """threading.Thread.start and what waits by a Condition are used nowhere in the package."""
    found = []
    for path in sorted((ROOT / "clgraph").rglob("*.py")):
        text = path.read_text("utf-8")
        if "threading" not in text and "concurrent" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                name = node.attr if node.value.id == "threading" else ""
            elif isinstance(node, ast.ImportFrom) and node.module == "threading":
                name = next((one.name for one in node.names if one.name in BREAKABLE), "")
            elif isinstance(node, ast.ImportFrom):
                name = "Thread" if (node.module or "").startswith("concurrent") else ""
            else:
                continue
            if name in BREAKABLE:
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}: {name}")
    assert not found
