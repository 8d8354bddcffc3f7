"""Instrumented renderings: where basic blocks begin, and what they weigh."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clgraph.device.rendering.source_text import Edits, Function, Text
    from clgraph.profile.instrument.sites import Sites

__all__ = ["Blocks"]

_OPERATORS = frozenset("+-*/%&|^<>=!?[(")
_LOOPS = frozenset({"for", "while", "do"})
_SETUP = re.compile(r"[A-Z]+_SETUP$")


class Blocks:
    """Marks the basic blocks of functions.

    Parameters
    ----------
    text, edits, sites
        As `clgraph.profile.instrument.accesses.Accesses`.
    polling : mapping of int to int
        First and last tokens of loops that wait for other work-groups: no blocks are marked in
        there.
    """

    def __init__(self, text: Text, edits: Edits, sites: Sites, polling: Mapping[int, int]) -> None:
        self.text = text
        self._edits = edits
        self._sites = sites
        self._polling = polling
        # Where a directive begins that must stand right before its loop.
        self._directives: dict[int, int] = {}

    def mark(self, function: Function) -> None:
        """Mark those of a function."""
        self._run_of_statements(function.body.start, function.body.stop)

    def _run_of_statements(self, place: int, end: int, head: int = 0) -> None:
        """Mark the basic blocks of statements in a row; `head` is what a loop's head weighs."""
        place = self._statement_at(place - 1)
        open_at, weight = place, head
        while 0 <= place < end:
            past, cost, branches = self._statement(place)
            weight += cost
            place = self._statement_at(past)
            if branches:
                self._mark(open_at, weight)
                open_at, weight = place, 0
        if 0 <= open_at < end or weight:
            self._mark(open_at if 0 <= open_at < end else end, weight)

    def _mark(self, place: int, weight: int) -> None:
        weight = max(weight, 1)
        site = self._sites.add("block", place, weight=weight)
        mark, directive = f"PROF_BLOCK({site}, {weight}) ", self._directives.get(place)
        if directive is not None:
            place, mark = directive, f"{mark}\n"
        self._edits.around(place, before="")
        self._edits.before[place] = mark + self._edits.before[place]

    def _statement_at(self, place: int) -> int:
        """Find where the statement after a token begins: behind directives and bare macros."""
        text, directive = self.text, None
        place = text.step(place)
        while place >= 0:
            if text.at(place) == "#":
                is_pragma = text.at(text.step(place)) == "pragma"
                directive = (place if directive is None else directive) if is_pragma else None
                place = _end_of_directive(text, place)
            elif not _SETUP.match(text.at(place)):
                if directive is not None and text.at(place) in _LOOPS:
                    self._directives[place] = directive
                return place
            place = text.step(place)
        return len(text.tokens)

    def _statement(self, place: int) -> tuple[int, int, bool]:
        """Give the last token of a statement, what it weighs, and whether it branches."""
        text = self.text
        piece = text.at(place)
        if place in self._polling:
            return self._polling[place], 0, True
        if piece == "{":
            closing = text.partner[place]
            self._run_of_statements(place + 1, closing)
            return closing, 0, True
        if piece in {"if", "for", "while", "switch"}:
            opening = text.step(place)
            closing = text.partner[opening]
            cost = self._weight(opening, closing)
            looping = piece in {"for", "while"}
            past = self._body(self._statement_at(closing), cost if looping else 0)
            other = text.step(past)
            if piece == "if" and text.at(other) == "else":
                past = self._body(self._statement_at(other), 0)
            return past, cost, True
        if piece == "do":
            past = self._body(self._statement_at(place), 0)
            opening = text.step(text.step(past))
            return (
                text.step(text.partner[opening]),
                self._weight(opening, text.partner[opening]),
                True,
            )
        last = self._end_of_expression(place)
        return last, self._weight(place, last), piece in {"return", "goto"}

    def _body(self, place: int, head: int) -> int:
        """Mark the statement below a condition; give its last token."""
        text = self.text
        if text.at(place) == "{":
            self._run_of_statements(place + 1, text.partner[place], head)
            return text.partner[place]
        if text.at(place) == ";":
            return place
        past, cost, _ = self._statement(place)
        site = self._sites.add("block", place, weight=max(cost + head, 1))
        mark = f"{{ PROF_BLOCK({site}, {max(cost + head, 1)}) "
        self._edits.before[place] = mark + self._edits.before.get(place, "")
        self._edits.after[past] = self._edits.after.get(past, "") + " }"
        return past

    def _end_of_expression(self, place: int) -> int:
        text = self.text
        while place < len(text.tokens):
            piece = text.at(place)
            if piece == ";":
                return place
            if piece in {"(", "[", "{"} and place in text.partner:
                place = text.partner[place]
            place += 1
        return len(text.tokens) - 1

    def _weight(self, begin: int, end: int) -> int:
        return sum(self.text.at(place) in _OPERATORS for place in range(begin, end))


def _end_of_directive(text: Text, place: int) -> int:
    while place < len(text.tokens) and text.at(place) != "\n":
        place += 1
    return place
