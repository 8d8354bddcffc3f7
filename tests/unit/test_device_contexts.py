"""Contexts that a thread makes: given once, to everybody, and refused in the driver's words."""

import os
import subprocess
import sys
import threading

import pytest
from runtimes import LIMIT_S, clean_environment

from clgraph.device import contexts, discovery
from clgraph.device.lazy import cl
from clgraph.threads import at_work


@pytest.fixture
def fresh(pocl):
    """A device of which nobody has asked for a context."""
    return discovery.Device(pocl.cl, pocl.index)


def test_a_context_on_its_way_is_the_device_s(fresh):
    fresh.is_gpu = True
    fresh.make_context()
    coming = fresh._coming
    fresh.make_context()
    assert fresh._coming is coming, "a second one was begun"
    assert fresh.context.devices == [fresh.cl]
    assert fresh.context is coming.take() is coming.take()
    assert cl.CommandQueue(fresh.context).device == fresh.cl
    assert contexts.THREAD not in at_work()


def test_modes_of_a_device_share_what_comes(fresh):
    fresh.is_gpu = True
    emulating = fresh.emulating(8)
    emulating.make_context()
    assert emulating._coming is None
    assert fresh._coming is not None
    assert emulating.context is fresh.context


def test_processors_have_theirs_at_once(fresh):
    fresh.make_context()
    assert fresh._coming is None


def test_none_is_begun_where_there_is_one(fresh):
    fresh.is_gpu = True
    assert fresh.context is not None
    fresh.make_context()
    assert fresh._coming is None


def test_several_threads_take_the_same(fresh, monkeypatch):
    gate = threading.Event()
    make = contexts.new_context
    monkeypatch.setattr(contexts, "new_context", lambda at: gate.wait(30) and make(at))
    coming = contexts.ComingContext(fresh.cl)
    taken = []
    threads = [threading.Thread(target=lambda: taken.append(coming.take())) for _ in range(4)]
    for thread in threads:
        thread.start()
    gate.set()
    for thread in threads:
        thread.join(30)
    assert len(taken) == 4
    assert len({id(context) for context in taken}) == 1


def broken(_):
    raise OSError("no such function")


@pytest.mark.parametrize("refusing", [lambda _: 0, broken])
def test_a_driver_that_refuses_is_asked_again_for_its_reason(fresh, monkeypatch, refusing):
    monkeypatch.setattr(contexts, "new_context", refusing)
    assert contexts.ComingContext(fresh.cl).take().devices == [fresh.cl]

    def refuse(_):
        raise cl.RuntimeError("clCreateContext failed: OUT_OF_RESOURCES")

    monkeypatch.setattr(cl, "Context", refuse)
    with pytest.raises(cl.RuntimeError, match="OUT_OF_RESOURCES"):
        contexts.ComingContext(fresh.cl).take()


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_without_a_thread_it_is_made_by_who_takes_it(fresh, monkeypatch, error):
    """Also where Ctrl-C came before the thread was begun, whose end nobody then waits for."""

    def none_left(_):
        raise error

    registered = []
    monkeypatch.setattr(contexts.atexit, "register", registered.append)
    monkeypatch.setattr(contexts.Worker, "start", none_left)
    if error is RuntimeError:
        assert contexts.ComingContext(fresh.cl).take().devices == [fresh.cl]
    else:
        with pytest.raises(KeyboardInterrupt):
            contexts.ComingContext(fresh.cl)
    (wait,) = registered
    wait()


END = """
import os, threading, time
from clgraph.device import contexts, devices
make, begun = contexts.new_context, threading.Event()
def slow(at):
    begun.set()
    time.sleep(0.5)
    print("made", flush=True)
    return make(at)
contexts.new_context = slow
coming = contexts.ComingContext(devices()[0].cl)
begun.wait()
if os.environ["THEN"] == "fork" and os.fork() == 0:
    raise SystemExit(0)  # by its own way out, where no thread will ever make anything
"""


@pytest.mark.parametrize("then", ["end", "fork"])
def test_a_process_ends_after_its_driver_is_done(then):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", END],
        env=clean_environment() | {"THEN": then, "PYTHONPATH": os.environ.get("PYTHONPATH", "")},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "made\n"), done.stderr
