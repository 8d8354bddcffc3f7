"""Waiting for the device without going deaf to Ctrl-C."""

from __future__ import annotations

import threading
import time
import weakref
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, cast

from clgraph.device.lazy import cl
from clgraph.device.native import wait_for_event
from clgraph.errors import ClgraphError, KernelTimeoutError
from clgraph.threads import LONGEST_DEAFNESS_S, Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["keep_the_interpreter", "share_the_interpreter", "wait", "wait_for_word"]

SPIN_S = 50e-6
# A pause costs a GPU search up to its length; yielding instead cost 35 us of a search of 2 to 14 ms
# on a virtual machine with an H200. So it polls on for as long as most searches take.
BUSY_S = 20e-3
PAUSE_SHARE = 1 / 16  # of the time waited so far
LONGEST_PAUSE_S = 1e-3
LOOKS = 1024  # at a word, between two flushes, each of which takes as long as some 50: some 60 us
# A loop that does nothing else leaves the caches to whoever shares them: some 30 us of a run beside
# its kernel were 37 after 1 ms of it and 140 after 10, on virtual machines with an H200.
KEPT_WARM_S = 250e-6
THREAD = "clgraph-wait"
# One for each part of this process that has threads of Python at work beside the one that waits.
# Nothing stays of what is gone, wherever Ctrl-C came: that is done by a callback that is no Python.
_sharing: set[weakref.ref[object]] = set()


def share_the_interpreter(own: object) -> None:
    """Have every wait leave the interpreter to other threads, until `keep_the_interpreter`.

    A loop that polls gives it up every 5 ms only, and a thread that fills pinned memory asks for it
    several times for each piece.

    Parameters
    ----------
    own : object
        Who asks for it, for no longer than there is such; asking again changes nothing.
    """
    _sharing.add(weakref.ref(own, _sharing.discard))


def keep_the_interpreter(own: object) -> None:
    """Have waits poll again, unless somebody else has threads at work."""
    _sharing.discard(weakref.ref(own))


def wait(
    events: cl.Event | Iterable[cl.Event],
    limit_s: float | None = None,
    *,
    queue: cl.CommandQueue | None = None,
) -> None:
    """Wait until commands have finished, answering Ctrl-C meanwhile.

    Parameters
    ----------
    events : pyopencl.Event or iterable of them
        What to wait for; their queues are flushed first.
    limit_s : float, optional
        How long to wait for each of them.
    queue : pyopencl.CommandQueue, optional
        That of all of them, where it is known; to ask an event for it takes as long as to flush it.

    Raises
    ------
    ClgraphError
        If the driver reports that a command failed.
    KernelTimeoutError
        If one has not ended within `limit_s`; it runs on.
    KeyboardInterrupt
        On Ctrl-C; the commands themselves run on.

    Notes
    -----
    Python delivers no signal inside ``finish()`` or ``Event.wait()``, so this polls: some 50 us
    without a pause, within which many commands end; then, for a GPU, up to 20 ms of the same, and
    after that with pauses of a sixteenth of the time waited, up to 1 ms. A CPU device computes on
    the very cores that polling would take, and some drivers lend it the thread that blocks in
    them: there, and while `share_the_interpreter` holds, a thread of its own then blocks in the
    driver.
    """
    if isinstance(events, cl.Event):
        (queue or events.command_queue).flush()
        _finish(events, limit_s)
        return
    pending = list(events)
    for event in pending:
        (queue or event.command_queue).flush()
    for event in pending:
        _finish(event, limit_s)


def wait_for_word(
    words: memoryview,
    place: int,
    value: int,
    queue: cl.CommandQueue,
    meanwhile: Callable[[], object] | None = None,
) -> bool:
    """Poll a word of host memory that a kernel writes, answering Ctrl-C meanwhile.

    Parameters
    ----------
    words : memoryview
        Of host memory.
    place, value : int
        Which word, and what it becomes.
    queue : pyopencl.CommandQueue
        Where the launch is, of which the driver may not have thought yet.
    meanwhile : callable, optional
        Called now and then where the word does not come soon, to keep in the caches what follows;
        it takes some microseconds.

    Returns
    -------
    bool
        False if it is not there after as long as `wait` polls, or if the interpreter is to be left
        to others.
    """
    if _sharing:
        return False
    clock = time.perf_counter
    start = warmed = clock()
    while True:
        for _ in range(LOOKS):
            if words[place] == value:
                return True
        now = clock()
        if now - start > BUSY_S:
            return False
        queue.flush()
        if meanwhile is not None and now - warmed > KEPT_WARM_S:
            meanwhile()
            warmed = clock()


def _finish(event: cl.Event, limit_s: float | None) -> None:
    try:
        status = int(event.command_execution_status)
        if status > 0:
            status = _poll(event, limit_s)
    except cl.Error as error:  # so NVIDIA's driver tells of a context that is lost
        status = int(error.code)
    if status > 0:
        raise KernelTimeoutError(
            f"a command has not ended within {limit_s:g} s; it runs on, and the device may need a "
            "new process."
        )
    if status < 0:
        raise ClgraphError(
            f"the device gave up on a command with OpenCL error {status}; what it was to write is "
            "not valid, and the device may need a new process."
        )


def _poll(event: cl.Event, limit_s: float | None) -> int:
    clock = time.perf_counter
    start = clock()
    while (elapsed := clock() - start) < SPIN_S:
        status = int(event.command_execution_status)
        if status <= 0:
            return status
    if _sharing or event.command_queue.device.type & cl.device_type.CPU:
        _block(event, limit_s)  # until the command has ended, or the driver gave up waiting
    while (status := int(event.command_execution_status)) > 0:
        elapsed = clock() - start
        if limit_s is not None and elapsed > limit_s:
            break
        if elapsed > BUSY_S:
            time.sleep(min(elapsed * PAUSE_SHARE, LONGEST_PAUSE_S))
    return status


class _Helper:
    """A thread that blocks in the driver, so that the one it helps can be interrupted.

    The thread ends when this is gone, wherever an exception came from, once what it waits for has
    ended.
    """

    def __init__(self) -> None:
        self._events: SimpleQueue[object] = SimpleQueue()
        self._ended = threading.Lock()
        self._ended.acquire()
        # What the queue is given when this is gone is no event.
        self._end = weakref.ref(self, self._events.put)
        Worker(THREAD, partial(_serve, self._events, self._ended, self._end)).start()

    def block(self, event: cl.Event, limit_s: float | None) -> bool:
        self._events.put(event)
        start = time.perf_counter()
        # Not every system interrupts a lock that is waited for without a limit.
        while not self._ended.acquire(timeout=LONGEST_DEAFNESS_S):
            if limit_s is not None and time.perf_counter() - start > limit_s:
                return False
        return True


def _serve(events: SimpleQueue[object], ended: threading.Lock, end: object) -> None:
    while (event := events.get()) is not end:
        wait_for_event(cast("cl.Event", event).int_ptr)
        del event
        ended.release()


# Each is waited for by one thread at a time, and none that was left before its end.
_idle_helpers: list[_Helper] = []


def _block(event: cl.Event, limit_s: float | None) -> None:
    try:
        helper = _idle_helpers.pop()
    except IndexError:
        helper = _Helper()
    if helper.block(event, limit_s):
        _idle_helpers.append(helper)
