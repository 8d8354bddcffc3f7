"""Copies between a device and host memory that may be interrupted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clgraph.device.waiting import wait

if TYPE_CHECKING:
    from clgraph.device.lazy import cl

__all__ = ["finish_copy"]

# Copies that were interrupted. Letting go of one would wait for it, deaf to Ctrl-C.
_interrupted: list[cl.Event] = []


def finish_copy(*events: cl.Event) -> None:
    """Wait for copies to or from host memory; if interrupted, keep them until they are done.

    Parameters
    ----------
    *events : pyopencl.Event
        Of copies that do not block. Dropping one unfinished would block until it is done.
    """
    try:
        wait(events)
    except BaseException:
        _interrupted[:] = [old for old in _interrupted if old.command_execution_status > 0]
        _interrupted.extend(events)
        raise
