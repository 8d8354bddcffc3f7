"""Instrumented renderings: rewriting a kernel's text so that it counts what it does.

A text is rewritten after it was rendered, so that templates and kernels know nothing of profiling,
the plain build is untouched, and every kernel of every plan can be profiled. What is put in are
words of ``templates/profile/profile.mako``: at each access to global and local memory, at the
beginning of each basic block, around each barrier, and where a kernel begins and ends. Which of
them become instructions says the bit mask that the vocabulary is rendered with.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntFlag
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from clgraph.device.source_text import WORD, Edits, Function, Text
from clgraph.device.sources import render

if TYPE_CHECKING:
    from clgraph.device import DeviceTraits

__all__ = ["SITE_WORDS", "SPREAD", "Flavour", "Instrumented", "Mask", "Site", "flavour_of"]

Flavour: TypeAlias = Literal["counters", "trace"]
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

SITE_WORDS = 5  # of a site: requests, lanes, bytes, lines or passes, sectors or passes at best
SPREAD = 64  # copies of the counters, so that atomics of different work-groups rarely meet
HEADER = 16  # words before everything else, see templates/profile/profile.mako
RECORD_WORDS = 8


class Mask(IntFlag):
    """What a rendering counts."""

    NONE = 0
    TIME = 1
    DIV = 2
    GMEM = 4
    LMEM = 8
    SYNC = 16
    MIX = 32


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


class Instrumented(NamedTuple):
    """A rewritten text and its sites.

    Attributes
    ----------
    text : str
        OpenCL C.
    sites : tuple of Site
        By number.
    flavour : {"counters", "trace"}
        Whether lanes are counted while they run, or accesses are written down for the host.
    """

    text: str
    sites: tuple[Site, ...]
    flavour: Flavour


# Words whose first argument is a pointer that they access, and what they do. Where templates
# define them is not looked into: an access counts where it is asked for.
_ACCESS = re.compile(
    r"(?P<load>load_\w+)|(?P<store>store_\w+)|(?P<atomic>(?:atomic|atom)_\w+)|vload\d+|vstore\d+"
)
_VECTOR = re.compile(r"v(load|store)(\d+)")
# What stands for the hardware, or for a hint.
_NOT_INSTRUMENTED = re.compile(
    r"(?:lane_\w*|lanemask_\w+|prefetch_global|spin_hint|fence_device|barrier_of_waves|word_\w+|prof_\w+)$"
)
_ASSIGNED = re.compile(
    r"\s*(?:\.\s*\w+\s*)*(?:(?P<set>=(?!=))|(?P<both>(?:<<|>>|[-+*/%&|^])=|\+\+|--))"
)
_UNARY_AFTER = frozenset("(,=;{}+-!&|?:<>*[") | {"return"}
_OPERATORS = frozenset("+-*/%&|^<>=!?[(")
_SETUP = re.compile(r"[A-Z]+_SETUP$")


def flavour_of(traits: DeviceTraits) -> Flavour:
    """Tell how a device is observed: lanes that can be asked who is active, or a trace."""
    if traits.memory_ops == "ptx" and (traits.compute_capability or (0, 0)) >= (7, 0):
        return "counters"
    return "trace"


def instrumented(
    source: str, mask: Mask, traits: DeviceTraits, flavour: Flavour | None = None
) -> Instrumented:
    """Rewrite a rendered source so that it counts.

    Parameters
    ----------
    source : str
        OpenCL C.
    mask : Mask
        What to count; with `Mask.NONE` the text is given back as it is.
    traits : DeviceTraits
        Of the device that it was rendered for.
    flavour : {"counters", "trace"}, optional
        Default is what suits the device.

    Returns
    -------
    Instrumented
        The same program, line by line, below the vocabulary of profiling.
    """
    flavour = flavour or flavour_of(traits)
    if not mask:
        return Instrumented(source, (), flavour)
    rewriter = _Rewriter(Text(re.sub(r"^#line .*$", "", source, flags=re.MULTILINE)))
    body = rewriter.rewritten()
    prelude = render(
        "profile/profile.mako",
        {
            "traits": traits,
            "profile": int(mask),
            "flavour": flavour,
            "sites": max(len(rewriter.sites), 1),
            "spread": SPREAD,
            "header": HEADER,
            "site_words": SITE_WORDS,
            "record_words": RECORD_WORDS,
            "bits": {bit.name: bit.value for bit in Mask if bit},
        },
    )
    return Instrumented(prelude + body, tuple(rewriter.sites), flavour)


class _Rewriter:
    """One pass over the tokens of a source."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.sites: list[Site] = []
        self._edits = Edits()
        self._lines = _line_numbers(text)
        self._macros = {
            name: (body, set(names))
            for name, (body, names) in text.macros().items()
            if not _NOT_INSTRUMENTED.match(name)
        }
        self._functions = [f for f in text.functions() if not _skipped(f.name)]
        self._waiting = {f.name for f in self._functions if _waits(text, f)}
        self._local = _local_names(text)
        self._calls = {name: _callee_kind(text, body) for name, (body, _) in self._macros.items()}

    def rewritten(self) -> str:
        """Put everything in."""
        needing = {
            name
            for name, (body, names) in self._macros.items()
            # Another name for an access counts where it is used.
            if self._calls[name] is None and self._accesses(body, self.text.pointers | names)
        }
        helpers = [f for f in self._functions if not f.is_kernel]
        kernels = [f for f in self._functions if f.is_kernel]
        for function in self._functions:
            if function.name in self._waiting:
                continue
            if self._accesses(function.body, self.text.pointers):
                needing.add(function.name)
        needing = self._reaching(needing)
        self._pass_on(needing, {f.name for f in helpers})
        for function in helpers:
            if function.name in needing:
                self._edits.around(function.closing, before=" PROF_PARAMETER")
                if function.name not in self._waiting:
                    self._blocks(function)
        for function in kernels:
            self._edits.around(function.closing, before=" PROF_PARAMETER")
            self._returns(function)
            # The last token of a kernel's body is the brace after it.
            self._edits.around(function.body.stop, before=" PROF_END ")
            self._blocks(function)
            self._edits.around(function.body.start - 1, after=" PROF_BEGIN")
        return self._edits.applied(self.text)

    def _site(self, kind: SiteKind, place: int, text: str = "", weight: int = 0) -> int:
        self.sites.append(Site(kind, self._lines[place], " ".join(text.split())[:80], weight))
        return len(self.sites) - 1

    def _reaching(self, needing: set[str]) -> set[str]:
        """Add everything that calls what needs the counters."""
        text = self.text
        bodies = {name: body for name, (body, _) in self._macros.items()}
        bodies |= {f.name: f.body for f in self._functions}
        while True:
            more = {
                name
                for name, body in bodies.items()
                if name not in needing and any(text.at(place) in needing for place in body)
            }
            if not more:
                return needing
            needing |= more

    def _pass_on(self, needing: set[str], helpers: set[str]) -> None:
        text = self.text
        bodies = [body for body, _ in self._macros.values()] + [f.body for f in self._functions]
        for body in bodies:
            for place in body:
                after = text.step(place)
                if text.at(place) in helpers & needing and text.at(after) == "(":
                    self._edits.around(text.partner[after], before=" PROF_ARGUMENT")

    # Accesses.

    def _accesses(self, body: range, names: set[str]) -> bool:
        """Count the accesses and barriers of some text, and tell whether there were any."""
        text, before = self.text, len(self.sites)
        known = names | self._local
        for place in body:
            piece = text.at(place)
            if piece == "[" and place in text.partner:
                self._subscript(place, names)
            elif piece == "(" and (callee := text.step(place, -1)) >= 0:
                name = text.at(callee)
                if name == "barrier":
                    site = self._site("barrier", callee)
                    self._edits.around(callee, after="")
                    text.tokens[callee] = "PROF_BARRIER"
                    self._edits.around(place, after=f"{site}, ")
                elif name in self._waiting:
                    site = self._site("wait", callee)
                    self._edits.around(callee, before=f"(PROF_WAIT({site}) ")
                    self._edits.around(text.partner[place], after=")")
                elif (kind := self._kind(name)) is not None:
                    self._argument(place, kind, name, known)
            elif piece == "*":
                self._dereference(place, known)
        return len(self.sites) > before

    def _kind(self, callee: str) -> SiteKind | None:
        """Tell what a word does with the memory that its first argument points to."""
        if callee in self._calls:
            return self._calls[callee]
        return _access_kind(callee)

    def _space(self, pointer: str, kind: SiteKind) -> SiteKind:
        if pointer in self._local and pointer not in self.text.pointers:
            local: dict[str, SiteKind] = {
                "load": "local_load",
                "store": "local_store",
                "atomic": "local_atomic",
            }
            return local[kind]
        return kind

    def _word(self, name: str) -> str:
        is_local = name in self._local and name not in self.text.pointers
        return "PROF_LOCAL" if is_local else "PROF_GLOBAL"

    def _at(self, site: int, name: str) -> str:
        return f" + {self._word(name)}({site}, {name}, 0, sizeof(*{name})))"

    def _subscript(self, place: int, names: set[str]) -> None:
        """Count ``array[i]``, unless its address is taken for something that is no access."""
        text = self.text
        name_at = text.step(place, -1)
        pointer = text.pointer_before(place, names)
        name = text.at(name_at) if text.at(name_at) in names else _last_word(pointer)
        if not pointer:
            name = text.at(name_at)
            if name not in self._local or text.declares(name_at):
                return
            pointer = name
        first = name_at if text.at(name_at) != ")" else text.partner[name_at]
        kind = self._use(first, text.partner[place])
        if kind is None:
            return
        closing = text.partner[place]
        what = pointer + text.between(place, closing + 1)
        for each in ("load", "store") if kind == "both" else (kind,):
            site = self._site(self._space(name, each), place, what)
            word = self._word(name)
            self._edits.around(place, after=f"{word}({site}, {pointer}, ")
            self._edits.around(closing, before=f", sizeof(*({pointer})))")

    def _use(self, first: int, last: int) -> SiteKind | Literal["both"] | None:
        """Tell what happens to the element that the tokens from `first` to `last` name."""
        text = self.text
        before = text.step(first, -1)
        if text.at(before) == "&" and text.at(text.step(before, -1)) in _UNARY_AFTER | {")"}:
            owner = text.step(before, -1)
            while text.at(owner) == ")" and owner in text.partner:  # a cast
                owner = text.step(text.partner[owner], -1)
            if text.at(owner) != "(":
                return None  # a second argument, or an address that is kept
            return self._kind(text.at(text.step(owner, -1)))
        if text.at(before) in {"+", "-"} and text.at(before - 1) == text.at(before):
            return "both"
        found = _ASSIGNED.match("".join(text.tokens[last + 1 : last + 12]))
        if found is None:
            return "load"
        return "both" if found["both"] else "store"

    def _argument(self, opening: int, kind: SiteKind, callee: str, known: set[str]) -> None:
        """Count what an accessing word is handed as ``pointer`` or ``pointer + i``."""
        text = self.text
        if vector := _VECTOR.fullmatch(callee):
            self._vector(opening, vector[1], int(vector[2]), known)
            return
        begin = text.step(opening)
        while text.at(begin) == "(" and begin in text.partner:
            inside = text.between(begin, text.partner[begin])
            begin = text.step(text.partner[begin] if _is_cast(inside) else begin)
        self._plus(
            begin, kind, 8 if callee.endswith("_ulong") or callee[:5] == "atom_" else 0, known
        )

    def _plus(self, name_at: int, kind: SiteKind, size: int, known: set[str]) -> None:
        text = self.text
        name = text.at(name_at)
        if name not in known:
            return
        after = text.step(name_at)
        where, kind = self._word(name), self._space(name, kind)
        bytes_here = f"{size}u" if size else f"sizeof(*{name})"
        if text.at(after) in {",", ")"}:
            site = self._site(kind, name_at, name)
            self._edits.around(name_at, after=f" + {where}({site}, {name}, 0, {bytes_here})")
        elif text.at(after) == "+":
            begin = text.step(after)
            end = text.end_of_place(begin)
            if end >= 0:
                site = self._site(kind, name_at, text.between(name_at, end))
                self._edits.around(begin, before=f"{where}({site}, {name}, ")
                self._edits.around(end, before=f", {bytes_here})")

    def _vector(self, opening: int, way: str, width: int, known: set[str]) -> None:
        """Count ``vload4(i, p)`` and ``vstore4(x, i, p)``."""
        text = self.text
        places = _arguments(text, opening)
        begin, end = places[-2], places[-1]
        name = text.between(end, text.partner[opening]).strip()
        if name not in known:
            return
        kind = self._space(name, "load" if way == "load" else "store")
        site = self._site(kind, opening, text.between(opening, text.partner[opening] + 1))
        comma = text.step(end, -1)
        self._edits.around(begin, before=f"{self._word(name)}_VECTOR({site}, {name}, ")
        self._edits.around(comma, before=f", {width})")

    def _dereference(self, place: int, known: set[str]) -> None:
        """Count ``*pointer`` and ``*(pointer + i)``, with a cast or without."""
        text = self.text
        before = text.step(place, -1)
        if not (text.at(before) in _UNARY_AFTER or text.at(before) == ")"):
            return
        opening = text.partner.get(before, -1)
        if text.at(before) == ")" and not _is_cast(text.between(opening, before)):
            return  # a product
        begin = text.step(place)
        last = begin
        wide = 0
        while text.at(begin) == "(" and begin in text.partner:
            closing = text.partner[begin]
            inside = text.between(begin, closing)
            is_cast = _is_cast(inside)
            wide = 8 if is_cast and "ulong" in inside else wide
            last = max(last, closing) if not is_cast else text.step(closing)
            begin = text.step(closing if is_cast else begin)
        last = text.partner.get(last, last) if text.at(last) == "(" else last
        kind = self._use(place, last)
        if kind is None or text.at(begin) not in known:
            return
        after = text.step(begin)
        if begin == text.step(place) and text.at(after) in {"[", "(", "."}:
            return
        single: SiteKind = "store" if kind == "store" else "load"
        if text.at(after) == "+" and begin == text.step(place):
            # *p + x
            site = self._site(self._space(text.at(begin), single), begin, "*" + text.at(begin))
            self._edits.around(begin, before="(", after=self._at(site, text.at(begin)))
        elif text.at(after) in {"+", ")"} and begin != text.step(place):
            self._plus(begin, single, wide, known)
        else:
            site = self._site(self._space(text.at(begin), single), begin, "*" + text.at(begin))
            self._edits.around(begin, before="(", after=self._at(site, text.at(begin)))

    # Blocks.

    def _returns(self, function: Function) -> None:
        text = self.text
        for place in function.body:
            if text.at(place) == "return" and text.at(text.step(place)) == ";":
                self._edits.around(place, before="{ PROF_END ")
                self._edits.around(text.step(place), after=" }")

    def _blocks(self, function: Function) -> None:
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
        site = self._site("block", place, weight=weight)
        self._edits.around(place, before="")
        self._edits.before[place] = f"PROF_BLOCK({site}, {weight}) " + self._edits.before[place]

    def _statement_at(self, place: int) -> int:
        """Find where the statement after a token begins: behind directives and bare macros."""
        text = self.text
        place = text.step(place)
        while place >= 0:
            if text.at(place) == "#":
                place = _end_of_directive(text, place)
            elif not _SETUP.match(text.at(place)):
                return place
            place = text.step(place)
        return len(text.tokens)

    def _statement(self, place: int) -> tuple[int, int, bool]:
        """Give the last token of a statement, what it weighs, and whether it branches."""
        text = self.text
        piece = text.at(place)
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
        site = self._site("block", place, weight=max(cost + head, 1))
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


def _skipped(name: str) -> bool:
    return bool(_NOT_INSTRUMENTED.match(name) or _ACCESS.fullmatch(name))


def _waits(text: Text, function: Function) -> bool:
    """Tell whether a function polls: what it does while it waits says nothing about the work."""
    return not function.is_kernel and any(text.at(place) == "spin_hint" for place in function.body)


def _access_kind(callee: str) -> SiteKind | None:
    if vector := _VECTOR.fullmatch(callee):
        return "load" if vector[1] == "load" else "store"
    found = _ACCESS.fullmatch(callee)
    if found is None:
        return None
    kinds: tuple[SiteKind, ...] = ("load", "store", "atomic")
    return next(kind for kind in kinds if found[kind])


def _callee_kind(text: Text, body: range) -> SiteKind | None:
    """Give what a macro does with its first argument where it is another name for an access."""
    first = text.step(body.start - 1)
    return _access_kind(text.at(first)) if first in body else None


def _is_cast(inside: str) -> bool:
    """Tell whether what stands between brackets is a type of pointers."""
    return inside.rstrip().endswith("*")


def _last_word(pointer: str) -> str:
    words = WORD.findall(pointer)
    return words[-1] if words else ""


def _local_names(text: Text) -> set[str]:
    """Name the arrays of local memory and the pointers to it."""
    source = re.sub(r"//[^\n]*|/\*.*?\*/", "", "".join(text.tokens), flags=re.DOTALL)
    names: set[str] = set()
    for declaration in re.findall(r"\b__local\b([^;(){}]*)", source):
        declared = declaration.split("=")[0]
        names |= set(re.findall(r"(\w+)\s*\[", declared))
        names |= set(re.findall(r"\*\s*(?:const\s+|restrict\s+|volatile\s+)*(\w+)", declared))
    return names


def _line_numbers(text: Text) -> list[int]:
    numbers, line = [], 1
    for piece in text.tokens:
        numbers.append(line)
        line += piece.count("\n")
    return [*numbers, line]


def _end_of_directive(text: Text, place: int) -> int:
    while place < len(text.tokens) and text.at(place) != "\n":
        place += 1
    return place


def _arguments(text: Text, opening: int) -> list[int]:
    """Give where each argument of a call begins."""
    places = [text.step(opening)]
    place = opening + 1
    while place < text.partner[opening]:
        if text.at(place) in {"(", "[", "{"}:
            place = text.partner[place]
        elif text.at(place) == ",":
            places.append(text.step(place))
        place += 1
    return places
