"""Processes that were forked after OpenCL was used, in which any call to a driver may hang."""

import os

from clgraph.errors import DeviceNotFoundError

__all__ = ["check_process", "watch_forks"]

FORKED = (
    "this process was forked from one that had used OpenCL, whose drivers do not survive that: "
    "they hang. Have workers started afresh, by multiprocessing.get_context('spawn') or "
    "'forkserver', or fork before anything asks for a device."
)
# Whether a process is watched for forks, and whether it is the child of one.
_process = {"watched": False, "forked": False}


def watch_forks() -> None:
    """Have children that are forked from now on know that they are; called before OpenCL is."""
    if not _process["watched"] and hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: _process.update(forked=True))
    _process["watched"] = True


def check_process() -> None:
    """Refuse to use drivers in a process that was forked after they were.

    Raises
    ------
    DeviceNotFoundError
        Where any call might never end.
    """
    if _process["forked"]:
        raise DeviceNotFoundError(FORKED)
