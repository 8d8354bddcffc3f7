"""Waiting for the device without going deaf to Ctrl-C."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from clgraph.device.lazy import cl
from clgraph.errors import ClgraphError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["wait"]

SPIN_S = 50e-6
BUSY_S = 1e-3  # yielding costs up to 50 us on a virtual machine
YIELD_S = 20e-3  # a pause costs a GPU search up to its length; until then only yield
FIRST_PAUSE_S = 20e-6
PAUSE_SHARE = 1 / 16  # of the time waited so far
LONGEST_PAUSE_S = 1e-3


def wait(events: cl.Event | Iterable[cl.Event]) -> None:
    """Wait until commands have finished, answering Ctrl-C meanwhile.

    Parameters
    ----------
    events : pyopencl.Event or iterable of them
        What to wait for; their queues are flushed first.

    Raises
    ------
    ClgraphError
        If the driver reports that a command failed.
    KeyboardInterrupt
        On Ctrl-C; the commands themselves run on.

    Notes
    -----
    Python delivers no signal inside ``finish()`` or ``Event.wait()``, so this polls: some 50 us
    without a pause, within which most searches end; then, for a GPU, up to 1 ms more of the same
    and up to 20 ms yielding the processor between polls; then with pauses of a sixteenth of the
    time waited, up to 1 ms.
    """
    if isinstance(events, cl.Event):
        events.command_queue.flush()
        _finish(events)
        return
    pending = list(events)
    for event in pending:
        event.command_queue.flush()
    for event in pending:
        _finish(event)


def _finish(event: cl.Event) -> None:
    status = int(event.command_execution_status)
    if status > 0:
        status = _poll(event)
    if status < 0:
        raise ClgraphError(
            f"the device gave up on a command with OpenCL error {status}; what it was to write is "
            "not valid, and the device may need a new process."
        )


def _poll(event: cl.Event) -> int:
    clock = time.perf_counter
    start = clock()
    while (elapsed := clock() - start) < SPIN_S:
        status = int(event.command_execution_status)
        if status <= 0:
            return status
    # A CPU device computes on the very cores that polling would take.
    patient = bool(event.command_queue.device.type & cl.device_type.CPU)
    while (status := int(event.command_execution_status)) > 0:
        elapsed = clock() - start
        if patient or elapsed > YIELD_S:
            time.sleep(min(max(elapsed * PAUSE_SHARE, FIRST_PAUSE_S), LONGEST_PAUSE_S))
        elif elapsed > BUSY_S:
            time.sleep(0)
    return status
