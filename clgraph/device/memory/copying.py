"""Copies between a device and host memory that may be interrupted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clgraph.device.waiting import wait

if TYPE_CHECKING:
    from collections.abc import Callable

    from clgraph.device.lazy import cl

__all__ = ["copied", "finish_copy", "report_copies_to"]

# Who takes note of copies while a profile is taken, see `clgraph.device.observing`.
_noting: Callable[[cl.Event, int], object] | None = None
# Copies that were interrupted. Letting go of one would wait for it, deaf to Ctrl-C.
_interrupted: list[cl.Event] = []


def report_copies_to(noting: Callable[[cl.Event, int], object] | None) -> None:
    """Have every copy of this process reported, or none any more."""
    global _noting  # noqa: PLW0603 - the process has one
    _noting = noting


def copied(event: cl.Event, size_bytes: int) -> cl.Event:
    """Report a copy between host and device to who is watching; give its event back."""
    noting = _noting
    if noting is not None:
        noting(event, size_bytes)
    return event


def finish_copy(*events: cl.Event, queue: cl.CommandQueue | None = None) -> None:
    """Wait for copies to or from host memory; if interrupted, keep them until they are done.

    Parameters
    ----------
    *events : pyopencl.Event
        Of copies that do not block. Dropping one unfinished would block until it is done.
    queue : pyopencl.CommandQueue, optional
        As for `wait`.
    """
    try:
        wait(events[0] if len(events) == 1 else events, queue=queue)
    except BaseException:
        _interrupted[:] = [old for old in _interrupted if old.command_execution_status > 0]
        _interrupted.extend(events)
        raise
