"""In which turns the vertices of a level are taken, and which parts of long rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.primitives.radix import RadixSort

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from clgraph.algorithms.communities.level import Level, Levels
    from clgraph.device import Allocation
    from clgraph.engine.sweeps import SweepLog

__all__ = ["CLASSES", "HEAD", "Order", "Ordering"]

CLASSES = 8  # turns of a pass
HEAD = 4  # words of a turn before the numbers of its vertices


@dataclass(slots=True)
class Order:
    """In which turns the vertices of a level are taken.

    Attributes
    ----------
    vertices, turns, chunks : Allocation
        As kernels take them, see ``kernels_cl/communities/turns.mako``.
    most_chunks : int
        Bound of the chunks of all turns, known before the device has counted them.
    look : callable or None
        Waits for how many the hubs of each turn have; None where there are no hubs.
    """

    vertices: Allocation
    turns: Allocation
    chunks: Allocation
    most_chunks: int
    look: Callable[[], NDArray[Any]] | None
    _counts: list[int] | None = None

    @property
    def chunk_counts(self) -> list[int]:
        """Chunks of the hubs of each turn; the first to ask may have to wait."""
        if self._counts is None:
            self._counts = self.look().tolist() if self.look else [0] * CLASSES
        return self._counts


class Ordering:
    """Orders the vertices of levels.

    Parameters
    ----------
    levels : Levels
        Kernels and arrays.
    """

    def __init__(self, levels: Levels) -> None:
        self.levels = levels
        self._none_left: object = None  # counts of chunks that are zeros
        self._sort = RadixSort(levels.device, np.uint32, np.uint32)

    def order(self, log: SweepLog, level: Level, seed: int, counters: Allocation) -> None:
        """Sort the vertices by class, and by who takes rows of their length; empty `counters`."""
        levels, n = self.levels, level.n
        level.seed = seed
        keys, vertices = levels.array("order_keys", n), levels.array("order_all", n)
        counted = levels.array("chunk_counts", CLASSES)
        if counted.token is not self._none_left:
            counted.clear()
        self._none_left = None
        sown = (np.uint32(n), np.uint32(seed))
        rows = level.rows[0]
        levels.launch(log, None, n, "level_order", rows, *sown, keys, vertices, counted)
        most_chunks = self.most_chunks(level)
        look = levels.look("chunks", counted) if most_chunks else None
        ordered, totals = self._sort.by_digit(log, keys, n, vertices)
        turns = levels.array("turns", CLASSES * (HEAD + len(levels.kinds)))
        chunks = levels.array("chunks", 2 * max(most_chunks, 1))
        args = (totals, counted, turns, counters, np.uint32(counters.count))
        levels.launch(log, None, counters.count, "level_turns", *args)
        if most_chunks:
            levels.launch(log, None, n, "level_chunks", rows, *sown, turns, counted, chunks)
        self._none_left = counted.token  # each chunk that has its place has been taken off
        level.order = Order(ordered, turns, chunks, most_chunks, look)

    def most_chunks(self, level: Level) -> int:
        """Bound the chunks of a level's hubs, each of which may have one that is not full."""
        levels = self.levels
        if levels.tables == "dense":
            return 0
        bounds = levels.tallies.bounds
        shortest = bounds[-1] + 1 if bounds else 1
        return level.m // levels.chunk + min(level.n, level.m // shortest)
