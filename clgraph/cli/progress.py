"""Progress of long steps, on standard error and only when a person can see it."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, Self

from clgraph.cli.text import printable
from clgraph.graph.modules import module

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Progress"]

QUIET_SECONDS = 0.5  # steps that are over sooner show nothing
REDRAW_SECONDS = 0.1


class Progress:
    """A context in which ``callback`` draws a bar, by tqdm where that is installed.

    Parameters
    ----------
    what : str
        What is shown at once, for a step that does not know how far it is; empty for nothing.

    Attributes
    ----------
    callback : callable or None
        Called with done, total and what; None where standard error is not a terminal.
    """

    def __init__(self, what: str = "") -> None:
        self._first = what
        self.callback: Callable[[int, int, str], None] | None = None
        self._bar: Any = None
        self._what = ""
        self._began = self._drawn = 0.0
        self._width = 0

    def __enter__(self) -> Self:
        """Look whether anybody is watching."""
        if sys.stderr is not None and sys.stderr.isatty():
            self.callback = self._show
            if self._first:
                self._write(f"{self._first} ...")
        return self

    def __exit__(self, *_: object) -> None:
        """Leave a clean line behind."""
        self._clear()

    def _show(self, done: int, total: int, what: str) -> None:
        now = time.monotonic()
        what = printable(what)
        if what != self._what:
            self._clear()
            self._what, self._began, self._drawn = what, now, 0.0
        if now - self._began < QUIET_SECONDS or now - self._drawn < REDRAW_SECONDS:
            return
        self._drawn = now
        try:
            tqdm = module("tqdm").tqdm
        except ImportError:
            self._draw(done, total, what)
            return
        if self._bar is None:
            self._bar = tqdm(
                total=total or None,
                desc=what,
                initial=done,
                leave=False,
                unit="",
                unit_scale=True,
                mininterval=0,
                file=sys.stderr,
            )
        self._bar.update(done - self._bar.n)

    def _draw(self, done: int, total: int, what: str) -> None:
        share = f"{100 * done / total:3.0f} %" if total else f"{done}"
        self._write(f"{what}: {share}")

    def _write(self, text: str) -> None:
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)

    def _clear(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
            self._width = 0
