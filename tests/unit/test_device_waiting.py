"""Waiting: Ctrl-C is answered, failures are told, and little time is lost."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from clocks import happens
from runtimes import LIMIT_S, clean_environment

from clgraph.device import Memory, wait, waiting
from clgraph.device.lazy import cl
from clgraph.device.programs.program import build
from clgraph.errors import ClgraphError, KernelTimeoutError
from clgraph.threads import at_work

SPIN = """
__kernel void spin(volatile __global uint *out, const uint rounds) {
    uint x = out[0];
    for (uint i = 0; i < rounds; ++i) { x = x * 1664525u + out[1]; }
    out[2] = x + 1u;
}
"""


@pytest.fixture
def spin(any_device):
    kernel = build(any_device, SPIN, label="spin.cl").kernel("spin")
    out = Memory(any_device).upload("out", np.zeros(4, np.uint32))
    return lambda rounds: kernel.launch(1, 1, out, np.uint32(rounds))


def test_wait_until_the_command_has_finished(spin):
    event = spin(2_000_000)
    wait(event)
    assert event.command_execution_status == cl.command_execution_status.COMPLETE


def test_wait_for_several_and_for_none(spin):
    events = [spin(100_000) for _ in range(5)]
    wait(iter(events))
    assert all(event.command_execution_status == 0 for event in events)
    wait([])


def test_events_carry_times(spin):
    event = spin(1_000_000)
    wait(event)
    assert event.profile.end > event.profile.start > 0


class FakeEvent:
    """An event that passes through the given states, one each time it is asked."""

    def __init__(self, *states, kind=cl.device_type.GPU):
        self.states = list(states)
        self.flushed = False
        self.device = SimpleNamespace(type=kind)

    @property
    def command_queue(self):
        self.flushed = True
        return self

    def flush(self):
        pass

    @property
    def command_execution_status(self):
        assert self.flushed, "asked before the queue was flushed: it may never finish"
        state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        if isinstance(state, Exception):
            raise state
        return state


@pytest.mark.parametrize("states", [(-5,), (3, 2, -36), (*[1] * 200, -9999)])
def test_failure_is_told(states):
    with pytest.raises(ClgraphError, match=f"OpenCL error {states[-1]};"):
        wait([FakeEvent(*states)])


@pytest.mark.parametrize("before", [(), (3, 2), [1] * 200])
def test_a_lost_context_is_told(before):
    """Of which NVIDIA's driver tells where an event is asked for its status."""
    lost = cl.LogicError(cl._cl._ErrorRecord("clGetEventInfo", -9999, ""))
    with pytest.raises(ClgraphError, match="OpenCL error -9999;"):
        wait([FakeEvent(*before, lost)])


def test_what_does_not_end_in_time_is_told(fake_time):
    with pytest.raises(KernelTimeoutError, match="not ended within 3 s"):
        wait([FakeEvent(1)], 3.0)
    assert 3.0 < fake_time.now < 3.1
    wait([FakeEvent(*[1] * 100, 0)], 3.0)


def test_a_processor_that_does_not_end_in_time_is_told(any_device):
    queue = any_device.beside().queue
    gate = cl.UserEvent(any_device.context)  # so that it ends when it is told to
    event = cl.enqueue_barrier(queue, wait_for=[gate])
    queue.flush()
    try:
        with pytest.raises(KernelTimeoutError, match=r"not ended within 0\.001 s"):
            wait(event, 1e-3)
    finally:
        gate.set_status(cl.command_execution_status.COMPLETE)
    wait(event, 60.0)
    assert event.command_execution_status == 0


def test_a_driver_that_gives_up_waiting_is_asked_on(monkeypatch):
    """As where it has no resources left: what is not over is waited for all the same."""
    calls = []
    monkeypatch.setattr(waiting, "wait_for_event", calls.append)
    monkeypatch.setattr(waiting, "SPIN_S", 0.0)
    event = FakeEvent(*[1] * 50, 0, kind=cl.device_type.CPU)
    event.int_ptr = 7
    wait([event])
    assert calls == [7]
    assert event.states == [0]


class FakeTime:
    """A clock that a look moves by a microsecond and sleeping by what it says."""

    def __init__(self):
        self.now = 0.0
        self.pauses = []

    def perf_counter(self):
        self.now += 1e-6
        return self.now

    def sleep(self, pause):
        self.pauses.append((self.now, pause))
        self.now += pause


@pytest.fixture
def fake_time(monkeypatch):
    fake = FakeTime()
    monkeypatch.setattr(waiting, "time", fake)
    return fake


def test_a_gpu_is_polled_before_anyone_pauses(fake_time):
    """A pause costs a search on a GPU up to its own length."""
    wait([FakeEvent(*[1] * 25_000, 0)])
    moments, pauses = zip(*fake_time.pauses, strict=True)
    assert moments[0] == pytest.approx(waiting.BUSY_S, rel=0.01)
    assert min(pauses) == max(pauses) == pytest.approx(1e-3)


def test_short_command_is_waited_for_without_a_pause(fake_time):
    wait([FakeEvent(3, 2, 1, 0)])
    assert not fake_time.pauses


def test_a_cpu_device_keeps_its_cores(spin, monkeypatch):
    """Neither polls nor pauses take them once a command turns out to be long; best of some."""
    monkeypatch.setattr(waiting.time, "sleep", lambda _: pytest.fail("slept"))
    monkeypatch.setattr(waiting, "SPIN_S", 0.0)
    spent = []
    while len(spent) < 5 and min(spent, default=1.0) >= 5e-3:  # beside others it takes more
        before = time.thread_time()
        event = spin(100_000_000)
        wait(event)
        spent.append(time.thread_time() - before)
        assert event.command_execution_status == 0
        assert event.profile.end - event.profile.start > 10e6
    assert min(spent) < 5e-3, spent


def test_threads_may_wait_together(spin, monkeypatch):
    """Each needs a helper of its own, and gives it back."""
    monkeypatch.setattr(waiting, "THREAD", "those that wait together")
    monkeypatch.setattr(waiting, "_idle_helpers", [])
    events = [spin(20_000_000) for _ in range(4)]
    waiters = [threading.Thread(target=wait, args=(event,)) for event in events]
    for waiter in waiters:
        waiter.start()
    for waiter in waiters:
        waiter.join()
    assert all(event.command_execution_status == 0 for event in events)
    assert at_work().count(waiting.THREAD) == len(waiting._idle_helpers) <= 4


def test_interrupted_helper_leaves(any_device, monkeypatch):
    class Interrupted(BaseException):
        pass

    class Lock:
        def acquire(self, **_):
            raise Interrupted

    monkeypatch.setattr(waiting, "THREAD", "one that is interrupted")
    helper = waiting._Helper()
    assert happens(lambda: waiting.THREAD in at_work())
    helper._ended = Lock()
    monkeypatch.setattr(waiting, "_idle_helpers", [helper])
    del helper
    monkeypatch.setattr(waiting, "SPIN_S", 0.0)
    gate = cl.UserEvent(any_device.context)  # or what is waited for might have ended before
    queue = any_device.beside().queue
    event = cl.enqueue_barrier(queue, wait_for=[gate])
    try:
        with pytest.raises(Interrupted):
            wait(event)
    finally:
        gate.set_status(cl.command_execution_status.COMPLETE)
    assert waiting._idle_helpers == []
    gc.collect()  # the traceback
    assert happens(lambda: waiting.THREAD not in at_work())
    assert event.command_execution_status == 0


INTERRUPTED = """
import sys, time
import numpy as np
from clgraph.device import device as find_device, Memory, wait
from clgraph.device.programs.program import build
device = find_device(sys.argv[1])
kernel = build(device, sys.argv[2], label="spin.cl").kernel("spin")
out = Memory(device).upload("out", np.zeros(4, np.uint32))
event = kernel.launch(1, 1, out, np.uint32(4_000_000_000))
try:
    print("started", flush=True)
    wait(event) if sys.argv[3] == "wait" else out.read()
except KeyboardInterrupt:
    print("interrupted", event.command_execution_status > 0, flush=True)
    import os
    os._exit(7)
"""


@pytest.mark.parametrize("call", ["wait", "read"])
@pytest.mark.parametrize("runtime", ["pocl", "intel"])
def test_ctrl_c_is_answered_while_a_kernel_runs(runtime, call, pocl, intel):
    assert pocl
    assert intel
    child = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, runtime, SPIN, call],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=clean_environment(),
    )
    try:
        assert child.stdout.readline() == "started\n", child.stderr.read()
        time.sleep(0.2)
        os.kill(child.pid, signal.SIGINT)
        said, errors = child.communicate(timeout=LIMIT_S)
    finally:
        child.kill()
    assert said == "interrupted True\n", errors  # while the kernel has seconds to go
    assert child.returncode == 7


@pytest.mark.runtimes("pocl", "intel")
def test_waiting_costs_the_host_little(device):
    """A few us beyond the kernel, in the best of many launches: others may use the machine."""
    kernel = build(device, SPIN, label="spin.cl").kernel("spin")
    out = Memory(device).upload("out", np.zeros(4, np.uint32))
    beyond = []
    for _ in range(1000):
        start = time.perf_counter()
        event = kernel.launch(1, 1, out, np.uint32(1))
        wait(event)
        total = time.perf_counter() - start
        beyond.append(total - (event.profile.end - event.profile.start) * 1e-9)
    assert min(beyond) < 300e-6


def test_what_follows_is_gone_through_while_a_word_is_awaited_for_long(monkeypatch):
    words, calls = np.zeros(2, np.uint32).data, []
    queue = SimpleNamespace(flush=lambda: None)

    def meanwhile():
        calls.append(words[1])
        words[1] = len(calls) == 3

    monkeypatch.setattr(waiting, "BUSY_S", 60.0)
    monkeypatch.setattr(waiting, "KEPT_WARM_S", 0.0)
    assert waiting.wait_for_word(words, 1, 1, queue, meanwhile)
    assert calls == [0, 0, 0]
    # Not where it is short.
    monkeypatch.setattr(waiting, "KEPT_WARM_S", 60.0)
    monkeypatch.setattr(waiting, "BUSY_S", 1e-3)
    assert not waiting.wait_for_word(words, 1, 2, queue, meanwhile)
    assert calls == [0, 0, 0]
