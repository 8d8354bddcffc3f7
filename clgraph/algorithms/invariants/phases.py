"""One pass over the traces for each family of templates, and what passes send each other."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.invariants.dictionary import batches
from clgraph.algorithms.invariants.expressions import NUMERIC
from clgraph.algorithms.invariants.inference import (
    ALWAYS,
    ARE_EQUAL,
    ARE_OPPOSITE,
    EQUAL,
    FREE,
    IS_FALSE,
    IS_TRUE,
    MINE,
    OPPOSITE,
    UNRELATED,
    Facts,
)
from clgraph.algorithms.invariants.ranges import verdicts
from clgraph.algorithms.invariants.sweep import Scratch, Sweeper, Work
from clgraph.algorithms.invariants.trace import MOST_VARIABLES, WORD_BITS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from clgraph.algorithms.invariants.chunk import Chunk
    from clgraph.algorithms.invariants.chunks import Chunks
    from clgraph.algorithms.invariants.ranges import Ranges
    from clgraph.algorithms.invariants.reading import KnownRanges
    from clgraph.algorithms.invariants.templates import Family, Template

    Found = dict[Template, NDArray[np.uint32]]
    # Tuples of which something is alive, what is, and which ranges alone do not decide.
    Left = tuple[NDArray[np.uint32], NDArray[np.bool_], NDArray[np.bool_]]

__all__ = ["Phase", "mine_booleans"]

GROWTH = 16  # of the part of the first chunk that is tried between two looks at what is alive
# Of a variable: tuples of the same tiles of variables follow each other, so that rows stay cached.
TILE_BITS = 2
VARIABLE_BITS = (MOST_VARIABLES - 1).bit_length()
MULTIPLE = 64
RANGES_PAY = 2  # times as many rows looked at for tuples as there are
SHORT_CHUNK = 1 << 12  # elements, of which ranges are not worth a launch
MOST_CLASS_ROUNDS = 3  # of looking for classes, before all pairs that are left are mined at once


class Phase:
    """One family on the traces.

    Parameters
    ----------
    family : Family
        What to try.
    sweeper : Sweeper
        Its kernels.
    chunks : Chunks
        The rows.
    report : callable
        Called with the instants looked at so far.
    scratch : Scratch
        Device memory to use.
    known : KnownRanges, optional
        Where to ask for the ranges of numeric variables; without it all tuples are mined.

    Attributes
    ----------
    mined, survivors : int
        Tuples that were looked at, and those of the last pass that satisfy some template.
    instants : int
        That were looked at before nothing was left alive.
    work : Work
        Launches and their time.
    """

    def __init__(
        self,
        family: Family,
        sweeper: Sweeper,
        chunks: Chunks,
        report: Callable[[int], None],
        scratch: Scratch,
        known: KnownRanges | None = None,
    ) -> None:
        self.family = family
        self.mined = self.survivors = self.instants = 0
        self.work = Work()
        self._sweeper = sweeper
        self._chunks = chunks
        self._report = report
        self._scratch = scratch
        self._known = known
        self._masks = np.array(family.masks, np.uint32)
        self._decisive: Ranges | None = None  # within which all that is alive holds

    def mine(
        self,
        tuples: Iterable[NDArray[np.uint32]],
        wanted: Callable[[NDArray[np.uint32]], NDArray[np.bool_]] | None = None,
        *,
        probe: bool = False,
    ) -> Found:
        """Find which templates hold at every instant.

        Parameters
        ----------
        tuples : iterable of numpy.ndarray
            uint32 [count, arity] each: parts of the dictionary.
        wanted : callable, optional
            For such a part which of the templates to try, bool [count, templates]; default all.
        probe : bool
            Whether to stop after a first, short look.

        Returns
        -------
        dict
            Template to the tuples that satisfy it, uint32 [count, arity].
        """
        instants, kept, alive = 0, self._nothing(), self._none_alive()
        self._decisive = None
        started = False

        def needed() -> NDArray[np.bool_]:
            if not started:
                return np.ones(self._chunks.variables, bool)
            return _used(kept, self._chunks.variables)

        # Closed here: in a finalizer Ctrl-C would be lost.
        with closing(self._chunks.parts(needed)) as parts:
            for chunk in parts:
                for begin, end in self._parts(chunk, first=not started):
                    if not started:
                        kept, alive, undecided = self._first_look(chunk, begin, end, tuples, wanted)
                        started = True
                        if len(kept) and not probe:
                            chunk.copy_ahead()
                    else:
                        kept, alive, undecided = self._look(chunk, begin, end, kept, alive)
                    instants += (end - begin) * (1 if self.family.kind == NUMERIC else WORD_BITS)
                    self._report(instants)
                    if probe or not len(kept):
                        break
                if probe or not len(kept):
                    break
                if not chunk.number and self._known is not None:
                    # What ranges decide in all of this part they most often decide in the others.
                    looked_at = _used(kept[undecided], self._chunks.variables)
                    self._chunks.read_only(_used(kept, self._chunks.variables) & ~looked_at)
        self.instants = max(self.instants, instants)
        self.survivors = len(kept)
        return {template: kept[alive[:, i]] for i, template in enumerate(self.family.templates)}

    def _nothing(self) -> NDArray[np.uint32]:
        return np.empty((0, self.family.arity), np.uint32)

    def _none_alive(self) -> NDArray[np.bool_]:
        return np.empty((0, len(self._masks)), bool)

    def _parts(self, chunk: Chunk, *, first: bool) -> Iterator[tuple[int, int]]:
        probe = max(self._sweeper.config.probe // MULTIPLE, 1) * MULTIPLE
        if self.family.kind != NUMERIC:
            probe = max(probe // WORD_BITS // MULTIPLE, 1) * MULTIPLE
        begin, end = 0, probe
        while first and end < chunk.elements:
            yield begin, end
            begin, end = end, end * GROWTH
            if self._chunks.in_place and end > probe * GROWTH:
                break  # kernels stop early by themselves, and there are no copies to spare
        yield begin, chunk.elements

    def _first_look(
        self,
        chunk: Chunk,
        begin: int,
        end: int,
        tuples: Iterable[NDArray[np.uint32]],
        wanted: Callable[[NDArray[np.uint32]], NDArray[np.bool_]] | None,
    ) -> Left:
        found = [(self._nothing(), self._none_alive(), np.empty(0, bool))]
        for part in tuples:
            alive = np.ones((len(part), len(self._masks)), bool) if wanted is None else wanted(part)
            some = alive.any(axis=1)
            self.mined += int(np.count_nonzero(some))
            found.append(self._look(chunk, begin, end, part[some], alive[some]))
            self._decisive = None  # of that part of the dictionary only
        kept, alive, undecided = (np.concatenate(parts) for parts in zip(*found, strict=True))
        order = np.argsort(_by_tiles(kept))
        return kept[order], alive[order], undecided[order]

    def _look(
        self,
        chunk: Chunk,
        begin: int,
        end: int,
        tuples: NDArray[np.uint32],
        alive: NDArray[np.bool_],
    ) -> Left:
        if not len(tuples):
            return tuples, alive, np.empty(0, bool)
        open_here = alive
        ranges = None
        if self._known is not None and self._worth_ranges(chunk, begin, end, tuples):
            ranges = self._known.of(chunk, tuples, self.work, self._scratch)
            if self._decisive is not None and ranges.within(self._decisive, tuples):
                return tuples, alive, np.zeros(len(tuples), bool)
            alive, open_here = self._by_ranges(ranges, tuples, alive)
        wanted = np.zeros(len(tuples), np.uint32)
        for i, mask in enumerate(self._masks):
            wanted |= open_here[:, i] * mask
        asked = wanted != 0
        failed = np.zeros(len(tuples), np.uint32)
        if asked.any():
            to_try, conditions = _rows(asked, tuples, wanted)
            chunk.bring(to_try)
            failed[asked] = self._sweeper.failed(
                chunk, begin, end, to_try, conditions, self.work, self._scratch
            )
        if failed.any():
            alive = alive & ~(open_here & ((failed[:, None] & self._masks) != 0))
        left = np.logical_or.reduce(alive.T.copy(), axis=0)
        tuples, alive, asked = _rows(left, tuples, alive, asked)
        self._decisive = None if asked.any() else ranges
        return tuples, alive, asked

    def _worth_ranges(self, chunk: Chunk, begin: int, end: int, tuples: NDArray[np.uint32]) -> bool:
        """Whether finding the ranges of their variables is less than looking at all tuples."""
        if chunk.lacks(tuples):
            return True
        if end - begin <= chunk.elements // 2 or chunk.elements <= SHORT_CHUNK:
            return False
        rows = np.count_nonzero(_used(tuples, self._chunks.variables))
        return bool(tuples.size > RANGES_PAY * rows)

    def _by_ranges(
        self, ranges: Ranges, tuples: NDArray[np.uint32], alive: NDArray[np.bool_]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Report what is alive, and what of it is still open, by the ranges of a part."""
        assert self._known is not None  # noqa: S101 (for mypy: the caller has looked)
        alive = alive.copy()
        open_here = alive.copy()
        for i, template in enumerate(self.family.templates):
            always, never = verdicts(template.node, ranges, tuples, self._known.tolerance)
            alive[:, i] &= ~never
            open_here[:, i] &= ~(always | never)
        return alive, open_here


def _by_tiles(tuples: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """Keys by which tuples of the same few variables follow each other, the last kept longest."""
    keys = np.zeros(len(tuples), np.uint64)
    for column in tuples.T[::-1]:
        keys = keys << np.uint64(VARIABLE_BITS - TILE_BITS) | column >> TILE_BITS
    for column in tuples.T[::-1]:
        keys = keys << np.uint64(TILE_BITS) | column & ((1 << TILE_BITS) - 1)
    return keys


def _used(tuples: NDArray[np.uint32], variables: int) -> NDArray[np.bool_]:
    """Which variables some tuple has, bool [variables]."""
    return np.bincount(tuples.reshape(-1), minlength=variables) > 0


def _rows(wanted: NDArray[np.bool_], *arrays: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Rows of some arrays: the arrays themselves where all are wanted, as most often."""
    return arrays if wanted.all() else tuple(array.compress(wanted, axis=0) for array in arrays)


def mine_booleans(phases: list[Phase], n: int, found: Found) -> None:
    """Mine Boolean families in the order of their arity, each with what the ones before taught.

    Parameters
    ----------
    phases : list of Phase
        Fewer variables first.
    n : int
        Boolean variables.
    found : dict
        To add to: template to tuples.
    """
    facts = Facts(n)
    for phase in phases:
        result = _with_facts(phase, facts, n)
        found.update(result)
        meaning = {template.canonical(): template for template in phase.family.templates}
        if IS_TRUE in meaning and IS_FALSE in meaning:
            facts.learn_constants(found[meaning[IS_TRUE]][:, 0], found[meaning[IS_FALSE]][:, 0])


def _with_facts(phase: Phase, facts: Facts, n: int) -> Found:
    family = phase.family
    meaning = {template.canonical() for template in family.templates}
    if {ARE_EQUAL, ARE_OPPOSITE} <= meaning and family.symmetry:
        _find_classes(phase, facts, n)
    inferred: dict[Template, list[NDArray[np.uint32]]] = {t: [] for t in family.templates}

    def wanted(tuples: NDArray[np.uint32]) -> NDArray[np.bool_]:
        verdicts = facts.decide(family.templates, tuples)
        for i, template in enumerate(family.templates):
            inferred[template].append(tuples[verdicts[:, i] == ALWAYS])
        result: NDArray[np.bool_] = verdicts == MINE
        return result

    mined = phase.mine(batches(n, family), wanted)
    return {t: np.concatenate([*inferred[t], mined[t]]) for t in family.templates}


def _find_classes(phase: Phase, facts: Facts, n: int) -> None:
    """Find which variables are equal or opposite to which, mining a few pairs of each class.

    A first, short look at all pairs refutes most. Then, in each round, the first variable of those
    that may be related to it is tried with the others of them, which settles its class. Whatever is
    not known after the last round is left to be mined.
    """
    templates = phase.family.templates
    places = [
        next(i for i, t in enumerate(templates) if t.canonical() == wanted)
        for wanted in (ARE_EQUAL, ARE_OPPOSITE)
    ]
    chosen = np.zeros(len(templates), bool)
    chosen[places] = True

    def relate(pairs: NDArray[np.uint32], *, probe: bool) -> None:
        found = phase.mine([pairs], lambda part: np.tile(chosen, (len(part), 1)), probe=probe)
        related = {}
        for place, relation in zip(places, (EQUAL, OPPOSITE), strict=True):
            related.update(dict.fromkeys(map(tuple, found[templates[place]].tolist()), relation))
        for a, b in pairs.tolist():
            relation = related.get((a, b), UNRELATED)
            if relation == UNRELATED or not probe:
                facts.relate(a, b, relation)

    relate(_open_pairs(facts), probe=True)
    for _ in range(MOST_CLASS_ROUNDS):
        pairs = _stars(facts, n)
        if not len(pairs):
            return
        relate(pairs, probe=False)


def _open_pairs(facts: Facts) -> NDArray[np.uint32]:
    return np.argwhere(np.triu(facts.relations == FREE, 1)).astype(np.uint32)


def _stars(facts: Facts, n: int) -> NDArray[np.uint32]:
    """Pair the first variable of each set that may be related with the others of the set."""
    left = np.ones(n, bool)
    pairs = []
    for a in range(n):
        others = np.flatnonzero((facts.relations[a] == FREE) & left)
        if left[a] and len(others):
            pairs += [(a, int(b)) for b in others if b > a]
            left[others] = False
        left[a] = False
    return np.array(pairs, np.uint32).reshape(-1, 2)
