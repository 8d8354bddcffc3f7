"""Places in a rendered source at which something is counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from clgraph.device.rendering.source_text import Text

__all__ = ["Site", "SiteKind", "Sites"]

SiteKind: TypeAlias = Literal[
    "block",
    "barrier",
    "wait",
    "load",
    "store",
    "atomic",
    "local_load",
    "local_store",
    "local_atomic",
]
LONGEST_TEXT = 80


@dataclass(frozen=True, slots=True)
class Site:
    """A place in a rendered source at which something is counted.

    Attributes
    ----------
    kind : str
        "block", "barrier", "wait" (for other work-groups), "load", "store", "atomic", or the last
        three with "local_" before.
    line : int
        Of the rendered source, from 1.
    text : str
        The access; empty for blocks.
    weight : int
        Of a block: its operators, accesses and calls.
    """

    kind: SiteKind
    line: int
    text: str = ""
    weight: int = 0


class Sites:
    """The places of one source, numbered as they are found."""

    def __init__(self, text: Text) -> None:
        self.found: list[Site] = []
        self._lines = _line_numbers(text)

    def add(self, kind: SiteKind, place: int, text: str = "", weight: int = 0) -> int:
        """Take note of one at a token; gives its number."""
        shown = " ".join(text.split())[:LONGEST_TEXT]
        self.found.append(Site(kind, self._lines[place], shown, weight))
        return len(self.found) - 1


def _line_numbers(text: Text) -> list[int]:
    numbers, line = [], 1
    for piece in text.tokens:
        numbers.append(line)
        line += piece.count("\n")
    return [*numbers, line]
