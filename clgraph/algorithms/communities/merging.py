"""The graph of communities where work-items are threads: each sums what whole ones have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph.algorithms.communities.coarsening import Coarsening
from clgraph.primitives.radix import RadixSort

if TYPE_CHECKING:
    from collections.abc import Callable

    from clgraph.algorithms.communities.level import Level, Levels
    from clgraph.device import Allocation
    from clgraph.engine.sweeps import SweepLog

__all__ = ["Merging", "coarsening_of"]

# One community may have a good part of the edges, which one thread sums then. It takes a quarter of
# what sorting them takes: that would be done before by many threads.
MOST_THREADS = 16


class Merging(Coarsening):
    """Makes levels of levels, whose rows are in no order.

    Parameters
    ----------
    levels : Levels
        Kernels and arrays, with a table for each thread.
    """

    def __init__(self, levels: Levels) -> None:
        super().__init__(levels)
        self._members = RadixSort(levels.device, np.uint32, np.uint32)

    def coarser(
        self,
        log: SweepLog,
        level: Level,
        labels: Allocation,
        between: Callable[[Level, Allocation], None],
    ) -> Level:
        """Make the graph whose vertices are those of a level that have the same label."""
        levels, n = self.levels, level.n
        numbers, total = levels.numbered(log, level, labels)
        numbered = levels.look("vertices", total)
        made = self._room(level)
        new_of, keys, members = (
            levels.array(f"merge_{name}", n) for name in ("new_of", "keys", "members")
        )
        cursor = levels.array("merge_cursor", 2)
        mapped = (np.uint32(n), labels, numbers, new_of, keys, members, cursor)
        levels.launch(log, None, max(n, 2), "merge_members", *mapped)
        made.n = int(numbered()[0])
        bits = max((made.n - 1).bit_length(), 1)
        keys, sorted_members = self._members.enqueue(log, keys, n, members, bits=bits)
        assert sorted_members is not None  # noqa: S101 (given with values)
        begins, lengths, places = (
            levels.array(f"merge_{name}", made.n) for name in ("begins", "lengths", "places")
        )
        levels.launch(log, None, n, "merge_begins", np.uint32(n), keys, begins)

        (kind,) = levels.kinds
        groups = levels.tallies.groups(kind, made.n)
        slots = levels.tallies.table_slots(kind, made.n, made.n)
        tables = levels.tallies.arguments(levels.memory, kind, groups, slots)
        met = levels.array("merge_targets", level.m), levels.sums("merge_weights", level.m)
        built = levels.kernel("merge_rows", weighted=level.weighted)
        size = levels.tallies.group_size
        event = built.launch(
            groups * size,
            size,
            *(*tables, cursor, np.uint32(0)),
            *level.rows,
            *(np.uint32(n), np.uint32(made.n), new_of, sorted_members, begins),
            *(level.strengths, level.loops, made.strengths, made.loops, lengths, places),
            *met,
        )
        log.add(event, event, name=built.name)
        edges = levels.look("edges", levels.scan.enqueue(log, lengths, made.n, lengths))
        between(made, numbers)
        made.m = int(edges()[0])
        indptr, _, _ = made.rows
        indices = levels.array(f"indices {made.side}", max(made.m, 1))
        weights = levels.sums(f"weights {made.side}", max(made.m, 1))
        made.rows = (indptr, indices, weights)
        placed = (np.uint32(made.n), lengths, np.uint32(made.m), places, *met)
        levels.launch(log, None, made.n, "merge_ordered", *placed, indptr, indices, weights)
        return made


def coarsening_of(levels: Levels) -> Coarsening:
    """Give what makes levels of levels on their device."""
    few = levels.device.traits.compute_units <= MOST_THREADS
    return Merging(levels) if levels.tables == "dense" and few else Coarsening(levels)
