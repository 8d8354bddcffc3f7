"""What the user asked for, as failed builds say it.

Kernels are rendered from configurations that rules have completed, often long after the user's own
was read, and by classes that never see it. Calls that take a ``config`` therefore leave it where
`clgraph.device.programs.program` finds it.
"""

from __future__ import annotations

import functools
import inspect
from contextvars import ContextVar, copy_context
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from clgraph.device.programs.builderror import differences

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["asking", "what_was_asked"]

P = ParamSpec("P")
R = TypeVar("R")
NOTHING = (None, "auto")
_KEPT, _NOTHING_KEPT = "_asked", (None,)

_asked: ContextVar[tuple[object] | None] = ContextVar("asked", default=None)


def asking(call: Callable[P, R]) -> Callable[P, R]:
    """Say in errors of builds below this call what its ``config`` was.

    Parameters
    ----------
    call : callable
        A function that takes ``config``; an ``__init__`` that does; or another method of that
        class, for what is built later.

    Returns
    -------
    callable
        The same. Among nested calls, the outermost is the user's.
    """
    names = list(inspect.signature(call).parameters)
    place = names.index("config") if "config" in names else None
    makes = call.__name__ == "__init__"

    def config_of(args: tuple[Any, ...], given: dict[str, Any]) -> tuple[object]:
        if place is None:
            kept: tuple[object] = vars(args[0]).get(_KEPT, _NOTHING_KEPT)
            return kept
        config = (args[place] if len(args) > place else given.get("config"),)
        if makes:
            vars(args[0])[_KEPT] = config
        return config

    def outermost(args: tuple[Any, ...], given: dict[str, Any]) -> R:
        _asked.set(config_of(args, given))
        return call(*args, **given)

    @functools.wraps(call)
    def asked(*args: P.args, **given: P.kwargs) -> R:
        if _asked.get() is not None:
            if makes:
                config_of(args, given)
            return call(*args, **given)
        # A context of its own ends with the call, wherever Ctrl-C comes: nothing is put back.
        return copy_context().run(outermost, args, given)

    return asked


def what_was_asked() -> str:
    """Say on less than a line what differs from the defaults in the config of the user's call."""
    asked = _asked.get()
    if asked is None or asked[0] in NOTHING:
        return ""
    return differences({"config": asked[0]})
