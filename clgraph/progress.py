"""Reports of how far a long call is: to a callable of the caller's, or on a bar of tqdm."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from typing import Any, TypeAlias

from clgraph.errors import InvalidArgumentError

__all__ = ["Progress", "check_progress", "part_of", "report_progress"]

Progress: TypeAlias = Callable[[int, int, str], object] | bool

_shown = threading.local()


def check_progress(progress: Any) -> None:
    """Refuse for ``progress=`` what nothing can be reported to.

    Raises
    ------
    InvalidArgumentError
        If it is neither None, True or False nor callable.
    """
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise InvalidArgumentError(
            f"progress, a {type(progress).__name__}, is neither True nor a callable (done, total, "
            "what)."
        )


def report_progress(progress: Progress | None, done: int, total: int, what: str) -> None:
    """Say that `done` of `total` is done.

    Parameters
    ----------
    progress : callable or bool, optional
        What a caller passed as ``progress=``: called with the other three; True shows a bar of
        tqdm on a terminal, if that is installed; None and False get no report.
    done, total : int
        In whatever unit; the bar goes when they are equal.
    what : str
        What is being done.

    Raises
    ------
    InvalidArgumentError
        If `progress` is something else.
    """
    if progress is None or progress is False:
        return
    check_progress(progress)
    if progress is True:
        _show(done, total, what)
    else:
        progress(done, total, what)


def part_of(progress: Progress | None, before: int, share: float, total: int) -> Progress | None:
    """Give a part of a call what it reports its own progress to.

    Parameters
    ----------
    progress : callable or bool, optional
        As in `report_progress`, of the whole call.
    before : int
        What the whole had done when this part began.
    share : float
        How much of the whole one unit of this part is.
    total : int
        Of the whole.

    Returns
    -------
    callable, bool or None
        For ``progress=`` of the part.
    """
    if progress is None or progress is False:
        return progress

    def report(done: int, _total: int, what: str) -> None:
        report_progress(progress, before + int(share * done), total, what)

    return report


def _show(done: int, total: int, what: str) -> None:
    bar = getattr(_shown, "bar", None) or _new_bar()
    if bar is None:
        return
    bar.total = total
    bar.set_description(what, refresh=False)
    bar.update(done - bar.n)
    _shown.bar = bar
    if done >= total:
        _shown.bar = None
        bar.close()


def _new_bar() -> Any:
    """Give a bar that is silent where there is no terminal; None where tqdm is not installed."""
    try:
        tqdm = importlib.import_module("tqdm").tqdm
    except ImportError:
        return None
    return tqdm(unit_scale=True, disable=None, leave=False)
