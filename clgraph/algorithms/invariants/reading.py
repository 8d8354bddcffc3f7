"""Ranges of numbers: those that are known, and reading them where the numbers are.

What ranges decide needs no numbers on the device: on most hosts threads read them faster than they
could copy them into pinned memory, let alone send them.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from clgraph.algorithms.invariants.expressions import NUMERIC
from clgraph.algorithms.invariants.ranges import RangeFinder, Ranges
from clgraph.device.memory.staging import SMALL_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from clgraph.algorithms.invariants.chunk import Chunk, Span
    from clgraph.algorithms.invariants.sweep import Scratch, Work
    from clgraph.algorithms.invariants.trace import Trace
    from clgraph.device.memory.staging import Job, Pieces, Staging

    Ends = tuple[np.float32, np.float32]

__all__ = ["KnownRanges", "Reading"]

ELEMENT_BYTES = 4
UNKNOWN = np.float32(np.nan), np.float32(np.nan)


class KnownRanges:
    """Ranges of the numeric variables in each part of a trace, found when first asked for.

    Parameters
    ----------
    finder : RangeFinder
        That finds them.
    variables : int
        How many there are.
    tolerance : int
        Units in the last place within which numbers are equal.
    """

    def __init__(self, finder: RangeFinder, variables: int, tolerance: int) -> None:
        self.tolerance = tolerance
        self._finder = finder
        self._variables = variables
        self._found: dict[int, tuple[Ranges, NDArray[np.bool_]]] = {}

    def of(self, chunk: Chunk, tuples: NDArray[np.uint32], work: Work, scratch: Scratch) -> Ranges:
        """Give the ranges in a chunk, of the variables of some tuples at least.

        Adds what it took to `work`.
        """
        ranges, asked = self._part(chunk.number)
        needed = np.zeros(self._variables, bool)
        needed[tuples] = True
        new = np.flatnonzero(needed & ~asked).astype(np.uint32)
        if len(new):
            self.learn(chunk.number, new, self._finder.find(chunk, new, work, scratch))
        return ranges

    def asked(self, number: int) -> NDArray[np.bool_]:
        """Of which variables those in a part have been found, bool [variables]."""
        return self._part(number)[1]

    def learn(self, number: int, variables: NDArray[np.integer], found: Ranges) -> None:
        """Note the ranges of some variables in a part."""
        ranges, asked = self._part(number)
        for all_, some in zip(
            (ranges.low, ranges.high, ranges.known),
            (found.low, found.high, found.known),
            strict=True,
        ):
            all_[variables] = some
        asked[variables] = True

    def _part(self, number: int) -> tuple[Ranges, NDArray[np.bool_]]:
        if number not in self._found:
            n = self._variables
            nothing = Ranges(np.zeros(n, np.float32), np.zeros(n, np.float32), np.zeros(n, bool))
            self._found[number] = nothing, np.zeros(n, bool)
        return self._found[number]


class Reading:
    """Which rows the host reads for their ranges alone, instead of copying them.

    Parameters
    ----------
    traces : sequence of Trace
        Whose rows.
    known : KnownRanges
        Learns what is read.
    staging : Staging
        Whose threads read.

    Attributes
    ----------
    only : numpy.ndarray
        bool [variables]: of which parts that follow need no more than ranges, as far as one knows.
    read_bytes : int
        So far, of numbers as the device has them.
    """

    def __init__(self, traces: Sequence[Trace], known: KnownRanges, staging: Staging) -> None:
        self.only = np.zeros(traces[0].count(NUMERIC), bool)
        self.read_bytes = 0
        self._traces = traces
        self._known = known
        self._staging = staging
        self._jobs: dict[int, tuple[NDArray[np.intp], list[Job[Ends]]]] = {}

    def begin(self, number: int, span: Span, rows: NDArray[np.bool_], pieces: Pieces) -> None:
        """Have the ranges of some rows of a part read, bool [variables], unless they are known."""
        variables = np.flatnonzero(rows & ~self._known.asked(number))
        count = span.end - span.begin
        size = ELEMENT_BYTES * count * len(variables)
        length = -(-count // -(-ELEMENT_BYTES * count // self._staging.piece_bytes(size)))
        self._jobs[number] = (
            variables,
            [
                pieces.give(
                    partial(self._ends, span.trace, variable, at, min(at + length, span.end)),
                    here=size <= SMALL_BYTES,
                )
                for variable in variables.tolist()
                for at in range(span.begin, span.end, length)
            ],
        )
        self.read_bytes += size

    def finish(self, number: int, pieces: Pieces) -> None:
        """Wait until rows of a part are read, and note the ranges of those that are only read."""
        variables, jobs = self._jobs.pop(number, (np.empty(0, np.intp), []))
        if not jobs:
            return
        ends = np.array(pieces.collect(jobs)).reshape(len(variables), -1, 2)
        left = self.only[variables]
        low, high = ends[left, :, 0].min(axis=1), ends[left, :, 1].max(axis=1)
        known = np.isfinite(low) & np.isfinite(high)
        self._known.learn(number, variables[left], Ranges(low, high, known))

    def drop(self) -> None:
        """Forget what was begun: nobody will wait for it."""
        self._jobs.clear()

    def _ends(self, trace: int, variable: int, begin: int, end: int) -> Ends:
        """Give the smallest and the largest number, either NaN if one is.

        In two calls: a block at a time, found in the nearest cache by the second, would take and
        leave the interpreter so often that the thread that mines waits for it all the time (probe
        h100-20261127-mining-ranges).
        """
        if not self.only[variable]:
            return UNKNOWN  # it was copied meanwhile
        values = self._traces[trace].values(NUMERIC, variable, begin, end)
        return np.minimum.reduce(values), np.maximum.reduce(values)
