"""Rewriting a kernel's text so that it counts what it does.

A text is rewritten after it was rendered, so that templates and kernels know nothing of profiling,
the plain build is untouched, and every kernel of every plan can be profiled. What is put in are
words of ``templates/profile/profile.mako``: at each access to global and local memory, at the
beginning of each basic block, around each barrier, and where a kernel begins and ends. Which of
them become instructions says the bit mask that the vocabulary is rendered with.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from clgraph.device.rendering.source_text import WORD, Edits, Function, Text
from clgraph.device.rendering.sources import render
from clgraph.profile.instrument.accesses import ACCESS, Accesses, AccessKind, access_kind
from clgraph.profile.instrument.blocks import Blocks
from clgraph.profile.instrument.sites import Site, Sites
from clgraph.profile.instrument.words import (
    HEADER,
    HOT_WORDS,
    MOST_RECORDS,
    NEAR_SECTORS,
    NEAR_UNITS,
    SITE_WORDS,
    SPREAD,
    STAGE_WORDS,
    STAGES,
    Flavour,
    Mask,
    record_words,
    words_at_sites,
    words_beside,
)

if TYPE_CHECKING:
    from clgraph.device import DeviceTraits

__all__ = ["Instrumented", "flavour_of", "instrumented"]

POLL = "spin_hint"  # once in each turn of a loop that waits


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
    waits : bool
        Whether work-groups wait for one another somewhere in it.
    """

    text: str
    sites: tuple[Site, ...]
    flavour: Flavour
    waits: bool = False


# What stands for the hardware, or for a hint.
_NOT_INSTRUMENTED = re.compile(
    r"(?:lane_\w*|lanemask_\w+|prefetch_global|spin_hint|fence_device|barrier_of_waves|word_\w+|prof_\w+)$"
)


def flavour_of(traits: DeviceTraits) -> Flavour:
    """Report how a device is observed: lanes that can be asked who is active, or a trace."""
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
    sites = max(len(rewriter.sites.found), 1)
    stages_at = HEADER + words_at_sites(mask, sites)
    prelude = render(
        "profile/profile.mako",
        {
            "traits": traits,
            "profile": int(mask),
            "flavour": flavour,
            "sites": sites,
            "spread": SPREAD,
            "header": HEADER,
            "site_words": SITE_WORDS,
            "record_words": record_words(mask),
            "most_records": MOST_RECORDS,
            "stages": STAGES,
            "stage_words": STAGE_WORDS,
            "hot_words": HOT_WORDS,
            "near_units": NEAR_UNITS,
            "near_sectors": NEAR_SECTORS,
            "stages_at": stages_at,
            "records_at": stages_at + words_beside(mask, flavour),
            "one_item": _has_groups_of_one(source),
            "bits": {bit.name: bit.value for bit in Mask if bit},
        },
    )
    return Instrumented(prelude + body, tuple(rewriter.sites.found), flavour, rewriter.waits)


class _Rewriter:
    """One pass over the tokens of a source."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.sites = Sites(text)
        self._edits = Edits()
        self._macros = {
            name: (body, set(names))
            for name, (body, names) in text.macros().items()
            if not _NOT_INSTRUMENTED.match(name)
        }
        self._functions = [f for f in text.functions() if not _skipped(f.name)]
        waiting = {f.name for f in self._functions if _waits(text, f)}
        # What waits in a function is not looked into; in a kernel it is only the loop that polls.
        polling = text.loops_around(POLL)
        self.waits = bool(waiting or polling)
        self._waiting = waiting
        calls = {name: _callee_kind(text, body) for name, (body, _) in self._macros.items()}
        self._calls = calls
        inside = {place for first, last in polling.items() for place in range(first, last + 1)}
        self._accesses = Accesses(text, self._edits, self.sites, calls, waiting, inside)
        self._blocks = Blocks(text, self._edits, self.sites, polling)

    def rewritten(self) -> str:
        """Put everything in."""
        needing = {
            name
            for name, (body, names) in self._macros.items()
            # Another name for an access counts where it is used.
            if self._calls[name] is None and self._accesses.count(body, self.text.pointers | names)
        }
        helpers = [f for f in self._functions if not f.is_kernel]
        kernels = [f for f in self._functions if f.is_kernel]
        for function in self._functions:
            if function.name in self._waiting:
                continue
            if self._accesses.count_in(function):
                needing.add(function.name)
        needing = self._reaching(needing, {f.name for f in helpers})
        self._pass_on(needing, {f.name for f in helpers})
        for function in helpers:
            if function.name in needing:
                self._edits.around(function.closing, before=" PROF_PARAMETER")
                if function.name not in self._waiting:
                    self._blocks.mark(function)
        for function in kernels:
            self._edits.around(function.closing, before=" PROF_PARAMETER")
            self._returns(function)
            # The last token of a kernel's body is the brace after it.
            self._edits.around(function.body.stop, before=" PROF_END ")
            self._blocks.mark(function)
            self._edits.around(function.body.start - 1, after=" PROF_BEGIN")
        return self._edits.applied(self.text)

    def _reaching(self, needing: set[str], helpers: set[str]) -> set[str]:
        """Add everything that calls what needs the counters."""
        text = self.text
        bodies = {name: body for name, (body, _) in self._macros.items()}
        pasted = {
            text.at(place) for body in bodies.values() for place in body if self._pastes(place)
        }
        bodies |= {f.name: f.body for f in self._functions}
        while True:
            # A call of a name that is pasted together hands the counters to whatever it calls.
            for start in pasted:
                family = {name for name in helpers if name.startswith(start)}
                needing |= family | {start} if family & needing else set()
            more = text.reaching(needing, bodies)
            if more == needing:
                return needing
            needing = more

    def _pass_on(self, needing: set[str], helpers: set[str]) -> None:
        text = self.text
        bodies = [body for body, _ in self._macros.values()] + [f.body for f in self._functions]
        for body in bodies:
            for place in body:
                after = text.step(place)
                if self._pastes(place) and text.at(place) in needing:
                    after = self._behind_pasted(place)
                elif text.at(place) not in helpers & needing:
                    continue
                if text.at(after) == "(":
                    self._edits.around(text.partner[after], before=" PROF_ARGUMENT")

    def _pastes(self, place: int) -> bool:
        """Report whether a name begins there that is pasted together of two and called."""
        text = self.text
        return (
            text.at(text.step(place)) == "#"
            and WORD.fullmatch(text.at(place)) is not None
            and text.at(self._behind_pasted(place)) == "("
        )

    def _behind_pasted(self, place: int) -> int:
        """Find the token after ``name##parameter``."""
        for _ in range(4):
            place = self.text.step(place)
        return place

    def _returns(self, function: Function) -> None:
        text = self.text
        for place in function.body:
            if text.at(place) == "return" and text.at(text.step(place)) == ";":
                self._edits.around(place, before="{ PROF_END ")
                self._edits.around(text.step(place), after=" }")


def _has_groups_of_one(source: str) -> bool:
    """Report whether every kernel declares groups of one work-item."""
    sizes = set(re.findall(r"\breqd_work_group_size\((\d+)", source))
    return sizes == {"1"} and not re.search(r"\b(__)?kernel\s+void\b", source)


def _skipped(name: str) -> bool:
    return bool(_NOT_INSTRUMENTED.match(name) or ACCESS.fullmatch(name))


def _waits(text: Text, function: Function) -> bool:
    """Report whether a function polls: what it does while it waits says nothing about the work."""
    return not function.is_kernel and any(text.at(place) == POLL for place in function.body)


def _callee_kind(text: Text, body: range) -> AccessKind | None:
    """Give what a macro does with its first argument where it is another name for an access."""
    first = text.step(body.start - 1)
    return access_kind(text.at(first)) if first in body else None
