"""Waiting for the device without going deaf to Ctrl-C."""

from __future__ import annotations

import time
from collections.abc import Iterable

from clgraph.device.opencl import cl
from clgraph.errors import ClgraphError

__all__ = ["wait"]

SPIN_S = 50e-6
FIRST_SLEEP_S = 20e-6
LONGEST_SLEEP_S = 1e-3


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
    Python delivers no signal inside ``finish()`` or ``Event.wait()``. So this polls: about 50 us without
    sleeping, because most searches end within that, then with sleeps that grow from 20 us to 1 ms.
    """
    pending = [events] if isinstance(events, cl.Event) else list(events)
    for event in pending:
        event.command_queue.flush()
    for event in pending:
        status = event.command_execution_status
        if status > 0:
            status = _poll(event)
        if status < 0:
            raise ClgraphError(
                f"the device reported error {status} ({_status_name(status)}) for a command that had "
                "been accepted; the results in its buffers are not valid."
            )


def _poll(event: cl.Event) -> int:
    clock = time.perf_counter
    spin_until = clock() + SPIN_S
    while clock() < spin_until:
        status = event.command_execution_status
        if status <= 0:
            return int(status)
    pause = FIRST_SLEEP_S
    while (status := event.command_execution_status) > 0:
        time.sleep(pause)
        pause = min(pause * 1.25, LONGEST_SLEEP_S)
    return int(status)


def _status_name(status: int) -> str:
    return str(cl.status_code.to_string(status, "unknown code %d"))
