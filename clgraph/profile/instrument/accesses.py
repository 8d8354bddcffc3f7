"""Instrumented renderings: accesses to memory, barriers, and waiting for other work-groups."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, TypeAlias

from clgraph.device.rendering.source_text import WORD

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from clgraph.device.rendering.source_text import Edits, Function, Text
    from clgraph.profile.instrument.sites import SiteKind, Sites

__all__ = ["ACCESS", "AccessKind", "Accesses", "access_kind"]

# "far" is a load that goes past the nearest cache.
AccessKind: TypeAlias = Literal["load", "far", "store", "atomic"]

# Words whose first argument is a pointer that they access, and what they do. Where templates
# define them is not looked into: an access counts where it is asked for.
ACCESS = re.compile(
    r"(?P<load>load_\w+)|(?P<store>store_\w+)|(?P<atomic>(?:atomic|atom)_\w+)|vload\d+|vstore\d+"
)
_VECTOR = re.compile(r"v(load|store)(\d+)")
_FAR = ("load_relaxed", "load_acquire")
_VOLATILE = re.compile(
    r"\b(?:volatile\s+__global|__global\s+volatile)\b[^;,(){}=\[\]]*\*(?:\s|const\b|restrict\b)*\b(\w+)"
)
_ASSIGNED = re.compile(
    r"\s*(?:\.\s*\w+\s*)*(?:(?P<set>=(?!=))|(?P<both>(?:<<|>>|[-+*/%&|^])=|\+\+|--))"
)
_QUALIFIERS = frozenset({"const", "restrict", "volatile"})
_UNARY_AFTER = frozenset("(,=;{}+-!&|?:<>*[") | {"return"}


class Accesses:
    """Finds accesses in stretches of a source, and puts in what counts them.

    Parameters
    ----------
    text : Text
        The source; calls of ``barrier`` are renamed in it.
    edits : Edits
        What is put in.
    sites : Sites
        Where they are numbered.
    calls : mapping of str to str or None
        What macros do that are other names for an access.
    waiting : set of str
        Functions that wait for other work-groups.
    polling : set of int
        Tokens of loops that do: what happens in there says nothing about the work.
    """

    def __init__(  # one for each thing that is found before accesses are
        self,
        text: Text,
        edits: Edits,
        sites: Sites,
        calls: Mapping[str, AccessKind | None],
        waiting: AbstractSet[str],
        polling: AbstractSet[int],
    ) -> None:
        self.text = text
        self._edits = edits
        self._sites = sites
        self._calls = calls
        self._waiting = waiting
        self._polling = polling
        # What names mean where accesses are being counted: in macros, what they mean anywhere.
        self._local = self._anywhere = _local_names(text.bare(0, len(text.tokens)))
        self._volatile = self._any_volatile = set(_VOLATILE.findall(text.bare(0, len(text.tokens))))
        self._names: set[str] = set()

    def count_in(self, function: Function) -> bool:
        """Count the accesses and barriers of a function, and report whether there were any."""
        text = self.text
        bare = text.bare(function.opening, function.body.stop)
        self._local, self._volatile = _local_names(bare), set(_VOLATILE.findall(bare))
        found = self.count(function.body, text.pointers_in(function) | _further(text, function))
        self._local, self._volatile = self._anywhere, self._any_volatile
        return found

    def count(self, body: range, names: set[str]) -> bool:
        """Count the accesses and barriers of some text, and report whether there were any."""
        text, before = self.text, len(self._sites.found)
        self._names, known = names, names | self._local
        for place in body:
            if place in self._polling:
                if place - 1 not in self._polling:
                    site = self._sites.add("wait", place)
                    self._edits.around(place, before=f"PROF_WAIT({site}) (void)0; ")
                continue
            piece = text.at(place)
            if piece == "[" and place in text.partner:
                self._subscript(place, names)
            elif piece == "(" and (callee := text.step(place, -1)) >= 0:
                name = text.at(callee)
                if name == "barrier":
                    site = self._sites.add("barrier", callee)
                    self._edits.around(callee, after="")
                    text.tokens[callee] = "PROF_BARRIER"
                    self._edits.around(place, after=f"{site}, ")
                elif name in self._waiting:
                    site = self._sites.add("wait", callee)
                    self._edits.around(callee, before=f"(PROF_WAIT({site}) ")
                    self._edits.around(text.partner[place], after=")")
                elif (kind := self._kind(name)) is not None:
                    self._argument(place, kind, name, known)
            elif piece == "*":
                self._dereference(place, known)
        return len(self._sites.found) > before

    def _kind(self, callee: str) -> AccessKind | None:
        """Report what a word does with the memory that its first argument points to."""
        if callee in self._calls:
            return self._calls[callee]
        return access_kind(callee)

    def _space(self, pointer: str, kind: AccessKind) -> SiteKind:
        known: Literal["load", "store", "atomic"] = "load" if kind == "far" else kind
        if self._is_local(pointer):
            local: dict[str, SiteKind] = {
                "load": "local_load",
                "store": "local_store",
                "atomic": "local_atomic",
            }
            return local[known]
        return known

    def _word(self, name: str, kind: AccessKind) -> str:
        if self._is_local(name):
            return "PROF_LOCAL_STORE" if kind == "store" else "PROF_LOCAL"
        if kind == "load" and name in self._volatile:
            kind = "far"
        return "PROF_GLOBAL" if kind == "load" else f"PROF_GLOBAL_{kind.upper()}"

    def _is_local(self, name: str) -> bool:
        return name in self._local and name not in self._names

    def _at(self, site: int, name: str, kind: AccessKind) -> str:
        return f" + {self._word(name, kind)}({site}, {name}, 0, sizeof(*{name})))"

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
        both: tuple[AccessKind, ...] = ("load", "store")
        for each in both if kind == "both" else (kind,):
            site = self._sites.add(self._space(name, each), place, what)
            word = self._word(name, each)
            self._edits.around(place, after=f"{word}({site}, {pointer}, ")
            self._edits.around(closing, before=f", sizeof(*({pointer})))")

    def _use(self, first: int, last: int) -> AccessKind | Literal["both"] | None:
        """Report what happens to the element that the tokens from `first` to `last` name."""
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

    def _argument(self, opening: int, kind: AccessKind, callee: str, known: set[str]) -> None:
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

    def _plus(self, name_at: int, use: AccessKind, size: int, known: set[str]) -> None:
        text = self.text
        name = text.at(name_at)
        if name not in known:
            return
        after = text.step(name_at)
        where, kind = self._word(name, use), self._space(name, use)
        bytes_here = f"{size}u" if size else f"sizeof(*{name})"
        if text.at(after) in {",", ")"}:
            site = self._sites.add(kind, name_at, name)
            self._edits.around(name_at, after=f" + {where}({site}, {name}, 0, {bytes_here})")
        elif text.at(after) == "+":
            begin = text.step(after)
            end = text.end_of_place(begin)
            if end >= 0:
                site = self._sites.add(kind, name_at, text.between(name_at, end))
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
        kind: AccessKind = "load" if way == "load" else "store"
        what = text.between(opening, text.partner[opening] + 1)
        site = self._sites.add(self._space(name, kind), opening, what)
        comma = text.step(end, -1)
        self._edits.around(begin, before=f"{self._word(name, kind)}_VECTOR({site}, {name}, ")
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
        if kind is None or text.at(begin) not in known or _declares_another(text, place):
            return
        after = text.step(begin)
        if begin == text.step(place) and text.at(after) in {"[", "(", "."}:
            return
        is_sum = text.at(after) == "+" and begin == text.step(place)  # *p + x
        both: tuple[AccessKind, ...] = ("load", "store")
        for each in both if kind == "both" else ("load" if kind == "atomic" else kind,):
            if text.at(after) in {"+", ")"} and begin != text.step(place) and not is_sum:
                self._plus(begin, each, wide, known)
                continue
            name = text.at(begin)
            site = self._sites.add(self._space(name, each), begin, "*" + name)
            self._edits.around(begin, before="(", after=self._at(site, name, each))


def _further(text: Text, function: Function) -> set[str]:
    """Name the pointers to global memory that are declared behind another one."""
    found = set()
    for place in function.body:
        if text.at(place) == "*" and _declares_another(text, place):
            name = text.step(place)
            while text.at(name) in _QUALIFIERS:
                name = text.step(name)
            found.add(text.at(name))
    return found


def _declares_another(text: Text, star: int) -> bool:
    """Report whether a star declares one more pointer to global memory in a declaration."""
    place = text.step(star, -1)
    if text.at(place) != ",":
        return False
    while place >= 0 and text.at(place) not in {";", "{", "}", "(", "["}:
        if text.at(place) == "__global":
            return True
        place = text.step(text.partner[place] if text.at(place) in {")", "]"} else place, -1)
    return False


def access_kind(callee: str) -> AccessKind | None:
    """Report what a word does with the memory of its first argument; None if nothing."""
    if callee.startswith(_FAR):
        return "far"
    if vector := _VECTOR.fullmatch(callee):
        return "load" if vector[1] == "load" else "store"
    found = ACCESS.fullmatch(callee)
    if found is None:
        return None
    kinds: tuple[AccessKind, ...] = ("load", "store", "atomic")
    return next(kind for kind in kinds if found[kind])


def _is_cast(inside: str) -> bool:
    """Report whether what stands between brackets is a type of pointers."""
    return inside.rstrip().endswith("*")


def _last_word(pointer: str) -> str:
    words = WORD.findall(pointer)
    return words[-1] if words else ""


def _local_names(source: str) -> set[str]:
    """Name the arrays of local memory and the pointers to it."""
    names: set[str] = set()
    for declaration in re.findall(r"\b__local\b([^;(){}]*)", source):
        declared = declaration.split("=")[0]
        names |= set(re.findall(r"(\w+)\s*\[", declared))
        names |= set(re.findall(r"\*\s*(?:const\s+|restrict\s+|volatile\s+)*(\w+)", declared))
    return names


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
