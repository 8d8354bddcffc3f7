"""Passes over a level in which classes of vertices take turns."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.communities.level import PHASES
from clgraph.algorithms.communities.order import CLASSES, HEAD, Ordering
from clgraph.device import resident_groups
from clgraph.device.lazy import cl

if TYPE_CHECKING:
    from clgraph.algorithms.communities.level import Level, Levels
    from clgraph.algorithms.communities.scale import Scale
    from clgraph.device import Allocation, Kernel
    from clgraph.engine.sweeps import SweepLog

__all__ = ["StrandedError", "Turns"]

GAIN_WORDS, LAUNCH_PASSES = 4, 16  # of a pass; passes of a launch, at most
BARRIER_WORDS, BARRIER_FAILED = 96, 64
SPIN_LIMIT = 1 << 22
NO_KEY = np.full(1, 0xFFFFFFFF, np.uint32)
GROUPS_PER_UNIT = 16  # where it is not known how many are resident
ENTRIES = 1 << 29  # of a launch, some: an H100 takes a fraction of a second, slower cards seconds
# Of a level that one thread walks before launches of its phases have begun: sixteen of a pass.
FEW_ENTRIES = 1 << 16
_log = logging.getLogger("clgraph")


class StrandedError(Exception):
    """Work-groups have waited for each other in vain, and left a pass half done."""


class Turns:
    """Orders of the vertices of levels, and launches of passes.

    Parameters
    ----------
    levels : Levels
        Kernels and arrays.

    Attributes
    ----------
    together : bool
        Whether a launch takes several passes; else each phase of a turn is one, but on small levels
        where work-items are threads: there one does all.
    groups : int or None
        Most work-groups of such a launch; None for as many as are resident.
    spin_limit : int
        How often a work-group looks whether the others have come.
    """

    def __init__(self, levels: Levels) -> None:
        self.levels = levels
        traits = levels.device.traits
        self.together = traits.grid_barrier and traits.lanes > 1
        self.groups: int | None = None
        self.spin_limit = SPIN_LIMIT
        self._ordering = Ordering(levels)
        self._emptied: tuple[object, object] | None = None  # which tables of hubs are
        self._counters_are_zero = False  # for certain: an order leaves them so

    def order(self, log: SweepLog, level: Level, seed: int) -> None:
        """Put the vertices in an order for the passes to come."""
        self._ordering.order(log, level, seed, self._counters())
        self._counters_are_zero = True

    def passes(
        self,
        log: SweepLog,
        level: Level,
        kernel: str,
        scale: Scale,
        args: tuple[Any, ...],
        *,
        most: int,
        before: int,
        tolerance: int,
    ) -> list[tuple[int, int]]:
        """Launch one pass or more, at most so many.

        Parameters
        ----------
        log : SweepLog
            Notes the launches.
        level : Level
            In an order.
        kernel : str
            Its name.
        scale : Scale
            What gains are counted in.
        args : tuple
            The kernel's own arguments.
        most : int
            Passes.
        before : int
            Moves of the pass before; a launch ends with one that has no fewer.
        tolerance : int
            Gains up to this end it too.

        Returns
        -------
        list of tuple of int
            Gain and moves of each pass, as far as there was one.

        Raises
        ------
        StrandedError
            If work-groups waited in vain; they do no more in a launch of several passes.
        """
        levels = self.levels
        alone = levels.tables == "dense" and level.n + level.m <= FEW_ENTRIES
        together = self.together or alone
        most = min(most, LAUNCH_PASSES, max(ENTRIES // max(level.m, 1), 1)) if together else 1
        claims = levels.array("row_claims", CLASSES)
        if levels.tables == "dense":
            claims.clear()
        counters = self._counters()
        if not self._counters_are_zero:
            counters.clear()
        self._counters_are_zero = False
        tables, arrays = self._arguments(level)
        limits = (np.uint32(min(before, 2**32 - 1)), np.uint64(tolerance))

        def launch(built: Kernel, groups: int, phases: int, first: int, end: int) -> None:
            size = levels.tallies.group_size
            which = (np.uint32(phases), np.uint32(first), np.uint32(end), np.uint32(most))
            words = (*which, *limits, np.uint32(self.spin_limit), counters)
            sown = (np.uint32(level.seed), *arrays)
            leading = (*tables, claims, np.uint32(first), *level.rows, *scale.arguments)
            event = built.launch(groups * size, size, *leading, *words, *sown, *args)
            log.add(event, event, name=kernel)

        if together:
            built = levels.kernel(kernel, weighted=level.weighted)
            groups = 1 if alone else self._resident(built, level)
            launch(built, groups, sum(PHASES.values()), 0, CLASSES)
        else:
            self._stepwise(level, kernel, launch)
        found = levels.look("passes", counters)()[: BARRIER_WORDS + GAIN_WORDS * most]
        if self.together and found[BARRIER_FAILED]:
            _log.warning("work-groups waited for each other in vain; a turn takes launches now")
            self.together = False
            raise StrandedError
        if levels.tables != "dense":
            self._emptied = (tables[0].token, tables[1].token)
        passes = found[BARRIER_WORDS:].reshape(most, GAIN_WORDS)
        return [(int(high) << 32 | int(low), int(moves)) for low, high, moves, _ in passes]

    def _counters(self) -> Allocation:
        """Give what passes count, and the words of the barrier between their steps."""
        return self.levels.array("pass_counters", BARRIER_WORDS + GAIN_WORDS * LAUNCH_PASSES)

    def _stepwise(self, level: Level, kernel: str, launch: Any) -> None:
        """Launch the phases of a pass one by one."""
        levels, order, weighted = self.levels, level.order, level.weighted
        assert order is not None  # noqa: S101 (ordered before)
        groups = self._wanted(level)
        if levels.tables == "dense":
            built = levels.kernel(kernel, weighted=weighted)
            for turn in range(CLASSES):
                for phase in ("CHOOSE", "APPLY"):
                    launch(built, groups, PHASES[phase], turn, turn + 1)
            return
        table = levels.look("turns", order.turns)().reshape(CLASSES, HEAD + len(levels.kinds))
        for turn, (_, _, hubs, _, *counts) in enumerate(table.tolist()):
            steps: list[tuple[str, int | str]]
            steps = [("CHOOSE", kind) for kind, rows in enumerate(counts) if rows]
            if hubs:
                steps += [("CHOOSE", "hubs"), ("SCORE", "hubs"), ("SETTLE", "hubs")]
            for only in (*steps, ("APPLY", "all")):
                built = levels.kernel(kernel, weighted=weighted, only=only)
                launch(built, groups, PHASES[only[0]], turn, turn + 1)

    def _wanted(self, level: Level) -> int:
        """Give the work-groups that a level has work for."""
        levels, traits = self.levels, self.levels.device.traits
        size = levels.tallies.group_size
        if traits.lanes == 1:
            return levels.tallies.groups(levels.tallies.kinds[0], -(-level.n // CLASSES))
        assert level.order is not None  # noqa: S101 (ordered before)
        per_unit = traits.threads_per_unit // size or GROUPS_PER_UNIT
        rows = -(-level.n * traits.lanes // (CLASSES * size))
        chunks = -(-level.order.most_chunks // CLASSES)
        return max(min(max(rows, chunks), traits.compute_units * per_unit), 1)

    def _resident(self, kernel: Kernel, level: Level) -> int:
        """Give the work-groups of a launch in which they wait for each other."""
        levels = self.levels
        most = self.groups
        if most is None:
            most = resident_groups(levels.device, kernel, levels.tallies.group_size)
        return max(min(self._wanted(level), most), 1)

    def _arguments(self, level: Level) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Give the tables of a level, and what it is ordered by."""
        levels, order = self.levels, level.order
        assert order is not None  # noqa: S101 (ordered before)
        if levels.tables == "dense":
            (kind,) = levels.kinds
            groups = self._wanted(level)  # each has an array of its own
            slots = levels.tallies.table_slots(kind, level.n, level.n)
            tables = levels.tallies.arguments(levels.memory, kind, groups, slots)
        else:
            assert levels.chunk % 4 == 0  # noqa: S101 (or parts overlap)
            # As many as PLACES of /communities/turns.mako.
            of_chunk = levels.chunk + levels.chunk // 4
            keys, sums = levels.array("hub_keys", 1), levels.sums("hub_sums", 1)
            if keys.count < of_chunk * order.most_chunks:  # else there is room in any case
                slots = of_chunk * max(order.chunk_counts)
                keys, sums = levels.array("hub_keys", slots), levels.sums("hub_sums", slots)
            if (keys.token, sums.token) != self._emptied:
                queue = levels.device.queue
                cl.enqueue_fill_buffer(queue, keys.buffer, NO_KEY, 0, keys.size_bytes)
                sums.clear()
            # A launch that ends well leaves tables empty.
            self._emptied = None
            tables = (keys, sums, np.uint32(0))
        parts = max(order.most_chunks, 1)
        arrays = (
            order.turns,
            order.vertices,
            order.chunks,
            levels.array("part_scores", parts, np.int64),
            levels.array("part_keys", parts),
            levels.sums("part_kept", parts),
        )
        return tables, arrays
