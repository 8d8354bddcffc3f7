"""Rendered OpenCL C as tokens: functions, macros, and which names are pointers to global memory.

For rewritings that put words before and after tokens: `clgraph.device.rendering.checked` and
`clgraph.profile.instrument`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["POINTER", "WORD", "Edits", "Function", "Text"]

_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'"""
    r"|[A-Za-z_]\w*|\.?\d[\w.]*|\n|(?:(?!\n)\s)+|.",
    re.DOTALL,
)
POINTER = r"[^;,(){}=\[\]]*\*(?:\s|const\b|restrict\b|volatile\b)*"
_POINTER_MACRO = re.compile(rf"^#define (\w+) +__global\b{POINTER}$", re.MULTILINE)
_ELSEWHERE = re.compile(rf"\b(?:__local|__private)\b{POINTER}\b(\w+)")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_IN_PLACES = frozenset("+-*/%&|()[].")
_NO_TYPES = frozenset({"return", "else", "case"})
WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a source; its numbers are places in the list of tokens."""

    name: str
    is_kernel: bool
    opening: int
    closing: int
    body: range


@dataclass(slots=True)
class Edits:
    """What to put before and after tokens."""

    before: dict[int, str] = field(default_factory=dict)
    after: dict[int, str] = field(default_factory=dict)

    def around(self, place: int, before: str = "", after: str = "") -> None:
        """Put text around a token, inside what was put there already."""
        self.before[place] = self.before.get(place, "") + before
        self.after[place] = after + self.after.get(place, "")

    def applied(self, text: Text) -> str:
        """Give the text with everything that was put in."""
        return "".join(
            self.before.get(place, "") + piece + self.after.get(place, "")
            for place, piece in enumerate(text.tokens)
        )


class Text:
    """The tokens of a source, with partners of brackets and the names of pointers.

    ``pointers`` are those to global memory in any function, for the bodies of macros.
    """

    def __init__(self, source: str) -> None:
        self.tokens = _TOKEN.findall(source)
        self.solid = [
            not piece.isspace() and piece[:2] not in {"//", "/*"} for piece in self.tokens
        ]
        self.partner = self._partners()
        kinds = "|".join(["__global", *_POINTER_MACRO.findall(source)])
        self._pointer = re.compile(rf"\b(?:{kinds})\b(?:{POINTER}|\s+)\b(\w+)")
        self.pointers = self._pointers(0, len(self.tokens))
        self.fixed = self.arrays()

    def _partners(self) -> dict[int, int]:
        partner: dict[int, int] = {}
        waiting: list[int] = []
        for place, piece in enumerate(self.tokens):
            if piece in _CLOSING:
                waiting.append(place)
            elif waiting and _CLOSING[self.tokens[waiting[-1]]] == piece:
                partner[place] = waiting.pop()
                partner[partner[place]] = place
        return partner

    def bare(self, begin: int, end: int) -> str:
        """Give the text of some tokens without comments."""
        return "".join(
            piece if keep else " "
            for piece, keep in zip(self.tokens[begin:end], self.solid[begin:end], strict=True)
        )

    def _pointers(self, begin: int, end: int) -> set[str]:
        """Name the pointers to global memory that some tokens declare."""
        bare = self.bare(begin, end)
        return set(self._pointer.findall(bare)) - set(_ELSEWHERE.findall(bare))

    def pointers_in(self, function: Function) -> set[str]:
        """Name the pointers to global memory of a function, where alone a name means that."""
        return self._pointers(function.opening, function.body.stop)

    def step(self, place: int, by: int = 1) -> int:
        """Find the next token that is neither space nor comment, or the one before; -1 for none."""
        place += by
        while 0 <= place < len(self.tokens) and not self.solid[place]:
            place += by
        return place if 0 <= place < len(self.tokens) else -1

    def at(self, place: int) -> str:
        """Give a token; nothing where there is none."""
        return self.tokens[place] if place >= 0 else ""

    def between(self, begin: int, end: int) -> str:
        """Give the text of some tokens."""
        return "".join(self.tokens[begin:end])

    def functions(self) -> list[Function]:
        """List the functions that are defined in the text."""
        found: list[Function] = []
        place, last = 0, -1
        while place < len(self.tokens):
            if self.at(place) == "{":
                closing = self.step(place, -1)
                opening = self.partner.get(closing, -1) if self.at(closing) == ")" else -1
                name = self.step(opening, -1) if opening >= 0 else -1
                end = self.partner[place]
                if name >= 0 and self.at(name) != "__attribute__":
                    words = self.tokens[last + 1 : name]
                    is_kernel = any(word.removeprefix("__") == "kernel" for word in words)
                    body = range(place + 1, end)
                    found.append(Function(self.at(name), is_kernel, opening, closing, body))
                place = last = end
            place += 1
        return found

    def macros(self) -> dict[str, tuple[range, tuple[str, ...]]]:
        """Give the body and the parameters of each macro."""
        found: dict[str, tuple[range, tuple[str, ...]]] = {}
        for place, piece in enumerate(self.tokens):
            if piece != "#" or self.at(place + 1) != "define":
                continue
            name = self.step(place + 1)
            end = next((p for p in range(name, len(self.tokens)) if self.at(p) == "\n"), name)
            begin, names = name + 1, ""
            if self.at(begin) == "(":
                names = self.between(begin + 1, self.partner[begin])
                begin = self.partner[begin] + 1
            found[self.at(name)] = (range(begin, end), tuple(re.findall(r"\w+", names)))
        return found

    def reaching(self, names: set[str], bodies: Mapping[str, range]) -> set[str]:
        """Give these names, and those of all bodies that have one of them, or of such a body."""
        found = set(names)
        while more := {
            name
            for name, body in bodies.items()
            if name not in found and any(self.at(place) in found for place in body)
        }:
            found |= more
        return found

    def loops_around(self, word: str) -> dict[int, int]:
        """Give the first and last tokens of the innermost loops that have a word in them."""
        loops = {
            place: self._end_of_statement(place)
            for place, piece in enumerate(self.tokens)
            if piece in {"for", "while", "do"}
        }
        found = {}
        for place, piece in enumerate(self.tokens):
            around = [first for first, last in loops.items() if first < place <= last]
            if piece == word and around:
                found[max(around)] = loops[max(around)]
        return found

    def _end_of_statement(self, place: int) -> int:
        """Find the last token of a statement."""
        piece = self.at(place)
        if piece == "{":
            return self.partner[place]
        if piece in {"if", "for", "while", "switch"}:
            past = self._end_of_statement(self.step(self.partner[self.step(place)]))
            other = self.step(past)
            if piece == "if" and self.at(other) == "else":
                return self._end_of_statement(self.step(other))
            return past
        if piece == "do":
            return self._end_of_statement(self.step(self._end_of_statement(self.step(place))))
        while self.at(place) != ";" and place >= 0:
            place = self.step(self.partner[place] if self.at(place) in _CLOSING else place)
        return place

    def parameters(self, function: Function) -> tuple[str, ...]:
        """Give the names of a function's parameters."""
        solid = self.bare(function.opening + 1, function.closing)
        return tuple(re.findall(r"(\w+)\s*(?:,|$)", solid))

    def pointer_before(self, place: int, names: set[str]) -> str:
        """Give the pointer to global memory that a subscript belongs to, empty if it is no such."""
        last = self.step(place, -1)
        if self.at(last) in names:
            return self.at(last)
        opening = self.partner.get(last, -1)
        is_call = bool(WORD.fullmatch(self.at(self.step(opening, -1))))
        if self.at(opening) == "(" and not is_call and self.at(self.step(last, -1)) in names:
            return self.between(opening, last + 1)
        return ""

    def declares(self, name: int) -> bool:
        """Report whether a name before a subscript is that of an array which is declared there."""
        before = self.step(name, -1)
        if self.at(before) == ",":
            closing = self.step(before, -1)
            return self.at(closing) == "]" and self.declares(self.step(self.partner[closing], -1))
        return bool(WORD.fullmatch(self.at(before))) and self.at(before) not in _NO_TYPES

    def arrays(self) -> set[str]:
        """Name the arrays of local and private memory; not those that are elsewhere pointers."""
        named = {
            self.at(place)
            for place, piece in enumerate(self.tokens)
            if WORD.fullmatch(piece) and self.at(self.step(place)) == "[" and self.declares(place)
        }
        return named - self.pointers - set(re.findall(rf"{POINTER}\b(\w+)", "".join(self.tokens)))

    def pointer_from(self, place: int, names: set[str]) -> tuple[int, str]:
        """Give the pointer that begins here, perhaps with a cast, and the token after it."""
        begin = place
        if self.at(place) == "(" and place in self.partner:
            kind = self.between(place, self.partner[place])
            if not ("__global" in kind and kind.rstrip().endswith("*")):
                return -1, ""
            place = self.step(self.partner[place])
        if self.at(place) not in names:
            return -1, ""
        return self.step(place), self.between(begin, place + 1)

    def end_of_place(self, place: int) -> int:
        """Find the comma or bracket that ends a sum of places, -1 if it is something else."""
        while place >= 0:
            piece = self.at(place)
            if piece in {",", ")"}:
                return place
            if piece in {"(", "["}:
                place = self.partner.get(place, -1)
            elif not (piece in _IN_PLACES or re.fullmatch(r"\w+", piece)):
                return -1
            place = self.step(place)
        return -1
