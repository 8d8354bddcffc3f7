"""Checked renderings: rewriting a kernel's text so that every access to global memory is bounded.

A text is rewritten after it was rendered, so that templates know nothing of checks and nobody can
forget one. ``array[i]`` becomes ``array[CHECKED(array, i)]``, and where ``array + i`` is handed to
a function or dereferenced, ``i`` becomes ``CHECKED(array, i)``, with the check of
``templates/memory/checked.mako``. Each kernel, and each function that needs it, gets one more
parameter: the table that `clgraph.device.checks` makes and reads, where kernels write the
addresses of their arguments first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from clgraph.device.sources import render

__all__ = ["TABLE", "CheckedSource", "checked_source"]

# Words of the table: what the first bad access was, a place for what bad accesses read and write,
# then the sizes of a kernel's arguments in bytes, and their addresses, which the kernel writes.
TABLE = {"taken": 0, "line": 1, "array": 2, "index": 3, "bound": 4, "waste": 16, "sizes": 32}

_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'"""
    r"|[A-Za-z_]\w*|\.?\d[\w.]*|\n|(?:(?!\n)\s)+|.",
    re.DOTALL,
)
_POINTER = r"[^;,(){}=\[\]]*\*(?:\s|const\b|restrict\b|volatile\b)*"
_POINTER_MACRO = re.compile(rf"^#define (\w+) +__global\b{_POINTER}$", re.MULTILINE)
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_IN_PLACES = frozenset("+-*/%&|()[].")
_NO_ACCESS = frozenset({"prefetch_global", "sizeof"})
_NO_TYPES = frozenset({"return", "else", "case"})
_WORD = re.compile(r"[A-Za-z_]\w*")


class CheckedSource(NamedTuple):
    """A rewritten text and what it takes to explain what its checks find.

    Attributes
    ----------
    text : str
        OpenCL C.
    extra_lines : int
        How many lines come before the first of the rendered source.
    arrays : int
        Arguments that a table has room for.
    arguments : dict of str to tuple of str
        The names of each kernel's own parameters.
    """

    text: str
    extra_lines: int
    arrays: int
    arguments: dict[str, tuple[str, ...]]


def checked_source(source: str) -> CheckedSource:
    """Rewrite a rendered source so that its accesses to global memory are checked.

    Parameters
    ----------
    source : str
        OpenCL C.

    Returns
    -------
    CheckedSource
        The same program with checks, line by line; line directives are blanked.
    """
    text = _Text(re.sub(r"^#line .*$", "", source, flags=re.MULTILINE))
    functions = text.functions()
    arguments = {
        function.name: text.parameters(function) for function in functions if function.is_kernel
    }
    arrays = max(map(len, arguments.values()), default=0)
    prelude = render("memory/checked.mako", {"arrays": arrays, "table": TABLE})
    edits = _edits(text, functions, arguments)
    return CheckedSource(prelude + edits.applied(text), prelude.count("\n"), arrays, arguments)


@dataclass(frozen=True, slots=True)
class _Function:
    """A function of a source; its numbers are places in the list of tokens."""

    name: str
    is_kernel: bool
    opening: int
    closing: int
    body: range


@dataclass(slots=True)
class _Edits:
    """What to put before and after tokens."""

    before: dict[int, str] = field(default_factory=dict)
    after: dict[int, str] = field(default_factory=dict)

    def around(self, place: int, before: str = "", after: str = "") -> None:
        self.before[place] = self.before.get(place, "") + before
        self.after[place] = after + self.after.get(place, "")

    def applied(self, text: _Text) -> str:
        return "".join(
            self.before.get(place, "") + piece + self.after.get(place, "")
            for place, piece in enumerate(text.tokens)
        )


class _Text:
    """The tokens of a source, with partners of brackets and the names of pointers."""

    def __init__(self, source: str) -> None:
        self.tokens = _TOKEN.findall(source)
        self.solid = [
            not piece.isspace() and piece[:2] not in {"//", "/*"} for piece in self.tokens
        ]
        self.partner = self._partners()
        kinds = "|".join(["__global", *_POINTER_MACRO.findall(source)])
        bare = re.sub(r"//[^\n]*|/\*.*?\*/", "", source, flags=re.DOTALL)
        self.pointers = set(re.findall(rf"\b(?:{kinds})\b(?:{_POINTER}|\s+)\b(\w+)", bare))
        self.pointers -= set(re.findall(rf"\b(?:__local|__private)\b{_POINTER}\b(\w+)", bare))
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

    def step(self, place: int, by: int = 1) -> int:
        """Find the next token that is neither space nor comment, or the one before; -1 for none."""
        place += by
        while 0 <= place < len(self.tokens) and not self.solid[place]:
            place += by
        return place if 0 <= place < len(self.tokens) else -1

    def at(self, place: int) -> str:
        return self.tokens[place] if place >= 0 else ""

    def between(self, begin: int, end: int) -> str:
        return "".join(self.tokens[begin:end])

    def functions(self) -> list[_Function]:
        """List the functions that are defined in the text."""
        found: list[_Function] = []
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
                    found.append(_Function(self.at(name), is_kernel, opening, closing, body))
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

    def parameters(self, function: _Function) -> tuple[str, ...]:
        """Give the names of a function's parameters."""
        solid = "".join(
            piece if keep else " "
            for piece, keep in zip(
                self.tokens[function.opening + 1 : function.closing],
                self.solid[function.opening + 1 : function.closing],
                strict=True,
            )
        )
        return tuple(re.findall(r"(\w+)\s*(?:,|$)", solid))

    def pointer_before(self, place: int, names: set[str]) -> str:
        """Give the pointer to global memory that a subscript belongs to, empty if it is no such."""
        last = self.step(place, -1)
        if self.at(last) in names:
            return self.at(last)
        opening = self.partner.get(last, -1)
        is_call = bool(_WORD.fullmatch(self.at(self.step(opening, -1))))
        if self.at(opening) == "(" and not is_call and self.at(self.step(last, -1)) in names:
            return self.between(opening, last + 1)
        return ""

    def declares(self, name: int) -> bool:
        """Tell whether a name before a subscript is that of an array which is declared there."""
        before = self.step(name, -1)
        if self.at(before) == ",":
            closing = self.step(before, -1)
            return self.at(closing) == "]" and self.declares(self.step(self.partner[closing], -1))
        return bool(_WORD.fullmatch(self.at(before))) and self.at(before) not in _NO_TYPES

    def arrays(self) -> set[str]:
        """Name the arrays of local and private memory; not those that are elsewhere pointers."""
        named = {
            self.at(place)
            for place, piece in enumerate(self.tokens)
            if _WORD.fullmatch(piece) and self.at(self.step(place)) == "[" and self.declares(place)
        }
        return named - self.pointers - set(re.findall(rf"{_POINTER}\b(\w+)", "".join(self.tokens)))

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


def _edits(
    text: _Text,
    functions: list[_Function],
    arguments: dict[str, tuple[str, ...]],
) -> _Edits:
    """Decide what is put where."""
    edits = _Edits()
    macros = text.macros()
    needing = {
        name
        for name, (body, names) in macros.items()
        if _check_accesses(text, body, text.pointers | set(names), edits)
    }
    helpers = {function.name for function in functions if not function.is_kernel}
    needing |= {
        function.name
        for function in functions
        if _check_accesses(text, function.body, text.pointers, edits)
    }
    bodies = {name: body for name, (body, _) in macros.items()}
    bodies |= {function.name: function.body for function in functions}
    while True:
        more = {
            name
            for name, body in bodies.items()
            if name not in needing and any(text.at(place) in needing for place in body)
        }
        if not more:
            break
        needing |= more
    for body in bodies.values():
        for place in body:
            after = text.step(place)
            if text.at(place) in helpers & needing and text.at(after) == "(":
                edits.around(text.partner[after], before=", CHECKED_ARGUMENT")
    for function in functions:
        if function.is_kernel:
            stores = "".join(
                f" CHECKED_BEGIN({index}, {name});"
                for index, name in enumerate(arguments[function.name])
                if name in text.pointers
            )
            edits.around(function.body.start - 1, after=stores)
        if function.is_kernel or function.name in needing:
            edits.around(function.closing, before=", CHECKED_PARAMETER")
    return edits


def _check_accesses(text: _Text, body: range, names: set[str], edits: _Edits) -> bool:
    """Add the checks of some text, and tell whether there were any."""
    found = False
    callees: dict[int, str] = {}
    inside: list[int] = []
    for place in body:
        piece = text.at(place)
        if piece == "[" and place in text.partner:
            name = text.step(place, -1)
            pointer = text.pointer_before(place, names)
            if pointer or (text.at(name) in text.fixed and not text.declares(name)):
                found = True
                check = f"CHECKED({pointer}, " if pointer else f"CHECKED_IN({text.at(name)}, "
                edits.around(place, after=check)
                edits.around(text.partner[place], before=")")
        if piece == "(":
            inside.append(place)
            callees[place] = text.at(text.step(place, -1))
        if piece in {"(", ","} and inside and callees[inside[-1]] not in _NO_ACCESS:
            plus, pointer = text.pointer_from(text.step(place), names)
            begin = text.step(plus) if text.at(plus) == "+" else -1
            end = text.end_of_place(begin)
            if pointer and end >= 0:
                found = True
                edits.around(begin, before=f"CHECKED({pointer}, ")
                edits.around(end, before=")")
        if piece == ")" and inside:
            inside.pop()
    return found
