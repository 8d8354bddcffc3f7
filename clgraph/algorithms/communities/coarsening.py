"""The graph of communities: made of a level, on the device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.communities.level import Level
from clgraph.engine.sweeps import Sweeper
from clgraph.primitives.radix import DIGIT_BITS, RadixSort, digit_passes
from clgraph.primitives.scanning import Compaction, Scan

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from clgraph.algorithms.communities.level import Levels
    from clgraph.device import Allocation
    from clgraph.engine.sweeps import SweepLog

__all__ = ["Coarsening"]


class Coarsening:
    """Makes levels of levels.

    Parameters
    ----------
    levels : Levels
        Kernels and arrays.
    """

    def __init__(self, levels: Levels) -> None:
        self.levels = levels
        self._sums = Scan(levels.device, levels.sum_type)
        self._compaction = Compaction(levels.device)
        self._sorts: dict[tuple[Any, ...], RadixSort] = {}

    def coarser(
        self,
        log: SweepLog,
        level: Level,
        labels: Allocation,
        between: Callable[[Level, Allocation], None],
    ) -> Level:
        """Make the graph whose vertices are those of a level that have the same label.

        Parameters
        ----------
        log : SweepLog
            Notes the launches.
        level : Level
            The graph, which has been started and ordered.
        labels : Allocation
            Which vertices become one.
        between : callable
            Given the new level, whose edges are not known yet, and new vertices by label; enqueues
            what needs no edges, for the device to do while they are counted.

        Returns
        -------
        Level
            Its labels and totals are those that `between` has given it.
        """
        levels, n = self.levels, level.n
        numbers, total = levels.numbered(log, level, labels)
        numbered = levels.look("vertices", total)
        made, places = self._room(level), levels.array("places", n)
        mapping = (np.uint32(n), labels, numbers)
        held = (level.strengths, level.loops)
        args = (*levels.chunks(level), *mapping, *held, places, made.strengths, made.loops)
        levels.launch(log, level, n, "coarsen_count", *args)
        paired = levels.look("pairs", levels.scan.enqueue(log, places, n, places))
        made.n = int(numbered()[0])
        self._joined(log, level, made, (*mapping, places), paired, lambda: between(made, numbers))
        return made

    def _room(self, level: Level) -> Level:
        """Give a level that has room for as many vertices as can be made of one, but for no edges.

        It takes a look less than room for as many as there are.
        """
        levels, n, side = self.levels, level.n, level.next_side
        strengths, loops = levels.sums(f"strengths {side}", n), levels.sums(f"loops {side}", n)
        labels, totals = levels.array(f"labels {side}", n), levels.sums(f"totals {side}", n)
        edges = levels.array(f"indices {side}", 1), levels.sums(f"weights {side}", 1)
        rows = (levels.array(f"indptr {side}", n + 1), *edges)
        return Level(n, 0, rows, strengths, loops, labels, totals, side)

    def _joined(
        self,
        log: SweepLog,
        level: Level,
        made: Level,
        given: tuple[Any, ...],
        paired: Callable[[], NDArray[Any]],
        between: Callable[[], None],
    ) -> None:
        """Sort the pairs of new vertices that edges join, and make every run of them an edge."""
        levels = self.levels
        bits = max((made.n - 1).bit_length(), 1)
        width = DIGIT_BITS * digit_passes(bits)
        word: Any = np.uint32 if width + bits <= 32 else np.uint64
        key = "uint" if word is np.uint32 else "ulong"
        # There is room for all edges: so pairs are listed before it is known how many they are.
        pairs = levels.array(f"pairs {key}", level.m, word)
        pair_weights = levels.sums("pair_weights", level.m if level.weighted else 1)
        args = (*levels.chunks(level), *given, np.uint32(width), pairs, pair_weights)
        levels.launch(log, level, level.n, "coarsen_pairs", *args, key=key)
        count = int(paired()[0])
        indptr, indices, weights = made.rows
        if not count:
            indptr.clear()
            between()
            return
        value = levels.sum_type if level.weighted else None
        if (word, value) not in self._sorts:
            self._sorts[word, value] = RadixSort(levels.device, word, value)
        sort = self._sorts[word, value]
        held = pair_weights if level.weighted else None
        pairs, sorted_weights = sort.enqueue(log, pairs, count, held, bits=bits)
        begins = levels.array("run_begins", count, np.uint8)
        all_places, run_places = (
            levels.array("pair_places", count),
            levels.array("run_places", count),
        )
        runs = (pairs, np.uint32(count), begins, all_places)
        levels.launch(log, None, count, "coarsen_runs", *runs, key=key)
        joined = self._compaction.enqueue(log, begins, count, (all_places, run_places))
        edges = levels.look("edges", joined)
        before, whole = all_places, all_places  # of edges that weigh 1 each nothing is summed
        if sorted_weights is not None:
            before = levels.sums("weights_before", count)
            whole = self._sums.enqueue(log, sorted_weights, count, before)
        between()
        made.m = m = int(edges()[0])
        indices, weights = (
            levels.array(f"indices {made.side}", m),
            levels.sums(f"weights {made.side}", m),
        )
        made.rows = (indptr, indices, weights)
        found = (pairs, run_places, np.uint32(m))
        sweeper = Sweeper(levels.device, m, levels.tallies.group_size)
        kernel = levels.kernel("coarsen_rows", weighted=level.weighted, key=key)
        sizes = (np.uint32(count), np.uint32(width))
        sweeper.launch(log, kernel, *found, *sizes, before, whole, indices, weights)
        rows = (np.uint32(width), np.uint32(made.n), indptr)
        levels.launch(log, None, made.n + 1, "coarsen_begins", *found, *rows, key=key)

    def inherit(
        self,
        log: SweepLog,
        level: Level,
        made: Level,
        parts: Allocation,
        numbers: Allocation,
    ) -> None:
        """Put new vertices into the communities that their parts are in."""
        levels = self.levels
        least = levels.array("least", level.n)
        n = np.uint32(level.n)
        levels.launch(log, None, level.n, "coarsen_least", n, level.labels, parts, numbers, least)
        args = (n, level.labels, parts, numbers, least, made.labels)
        levels.launch(log, None, level.n, "coarsen_inherit", *args)
