"""Levels after levels, until little changes: what Louvain and Leiden do with a graph."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from clgraph.algorithms.communities.merging import coarsening_of
from clgraph.algorithms.communities.moving import moved, refined
from clgraph.progress import report_progress

if TYPE_CHECKING:
    from collections.abc import Callable

    from clgraph.algorithms.communities.level import Level, Levels
    from clgraph.algorithms.communities.scale import Scale
    from clgraph.algorithms.communities.turns import Turns
    from clgraph.device import Allocation
    from clgraph.device.memory.allocation import Progress
    from clgraph.engine.sweeps import SweepLog

__all__ = ["Iterations"]


MOST_LEVELS = 64
# Of modularity, on the first level of the first iteration, and on every other: there vertices that
# may move are few, and less is worth what it takes. What passes over single vertices find last,
# moves of their parts find too, for less.
FIRST_TOLERANCE, TOLERANCE = 2e-3, 1e-4
# Of modularity, on a level with most of the graph's edges that is made of another: moves that gain
# no more are few, and taking communities apart for them brings as little again, for most of the
# work of a level. Where levels shrink this brings more than it takes.
REFINED_FROM = 1e-3
MOST_EDGES = 0.55
# Of modularity: moves that gain no more on a level with few edges are not worth taking communities
# apart for; an iteration ends where whole communities that join each other gain no more, and all of
# it where single vertices do in a later iteration. Who asks for more than two iterations wants what
# little they bring: 0.0001 by the fourth on roads, of which the greater limit keeps half.
SETTLED = 2e-5
SETTLED_LATER = 5e-6
GOLDEN = 0x9E3779B9


class Iterations:
    """Finds communities of a graph.

    Parameters
    ----------
    levels, turns : Levels, Turns
        Kernels and arrays.
    first : Level
        The graph.
    refines : bool
        Whether communities are taken apart, and are connected in the end.

    Attributes
    ----------
    places : Allocation
        uint32 [n], the community of each vertex of the graph.
    """

    def __init__(self, levels: Levels, turns: Turns, first: Level, *, refines: bool) -> None:
        self.levels = levels
        self.turns = turns
        self.first = first
        self.refines = refines
        self.coarsening = coarsening_of(levels)
        self.places = levels.array("first_places", first.n)

    def run(
        self,
        log: SweepLog,
        scale: Scale,
        seed: int,
        most: int,
        found: list[dict[str, int]],
        progress: Progress | None,
    ) -> float:
        """Go through all levels until little changes; give the modularity."""
        found.clear()
        quality: Callable[[], float] = float  # of nothing
        for iteration in range(most):
            better = self._iterate(log, scale, seed, iteration, found, progress)
            if better is None:
                break
            quality = better
        return quality()

    def _iterate(
        self,
        log: SweepLog,
        scale: Scale,
        seed: int,
        iteration: int,
        found: list[dict[str, int]],
        progress: Progress | None,
    ) -> Callable[[], float] | None:
        """Go through all levels once.

        Returns
        -------
        callable or None
            Waits for the modularity, and gives it; None if that is left as it was.
        """
        levels, turns, level = self.levels, self.turns, self.first
        given = iteration > 0
        settled = SETTLED if iteration < 2 else SETTLED_LATER
        levels.start(log, level, given=given)
        for depth in range(MOST_LEVELS):
            sown = (seed + GOLDEN * (1 + depth + MOST_LEVELS * iteration)) % 2**32

            def report(level: Level = level) -> None:
                report_progress(progress, self.first.n - level.n, self.first.n, "merging vertices")

            turns.order(log, level, sown)
            tolerance = FIRST_TOLERANCE if depth == iteration == 0 else TOLERANCE
            passes, moves, gain = moved(
                log, turns, level, scale, tolerance=tolerance, report=report
            )
            found.append(
                {
                    "iteration": iteration,
                    "vertices": level.n,
                    "edges": level.m,
                    "passes": passes,
                    "moves": moves,
                }
            )
            if gain <= settled and iteration > 0 and depth == 0:
                return None
            # Vertices that are whole communities hardly join others: nor will what they make.
            if gain <= settled and depth > 0 and not given:
                break
            parts = level.labels
            refines = self.refines and gain > self._refined_from(level, settled)
            if refines:
                parts = refined(log, turns, level, scale, report=report)
            elif self.refines:
                parts = levels.pieces(log, level)
            made = self.coarsening.coarser(
                log, level, parts, partial(self._begin, log, level, parts, depth, refines)
            )
            if _is_last(level, made, depth):
                break
            level, given = made, refines
        if self.refines:
            self._part(log, level)
        self._follow(log, level.labels, level.labels, begun=depth > 0, numbered=False)
        self.levels.copy(log, self.places, self.first.labels, self.first.n)
        asked = levels.quality(log, level, f"quality {iteration % 2}")
        return partial(_modularity, asked, scale)

    def _begin(
        self,
        log: SweepLog,
        level: Level,
        parts: Allocation,
        depth: int,
        refined: bool,
        made: Level,
        numbers: Allocation,
    ) -> None:
        """Go from a level to the one that is made of it, as far as that needs no edges."""
        if _is_last(level, made, depth):
            return
        self._follow(log, parts, numbers, begun=depth > 0, numbered=True)
        if refined:
            self.coarsening.inherit(log, level, made, parts, numbers)
        self.levels.start(log, made, given=refined)

    def _refined_from(self, level: Level, settled: float) -> float:
        """Give what moves on a level gain at most where refining it is not worth while."""
        if level is self.first:
            return 0.0
        return REFINED_FROM if level.m > MOST_EDGES * self.first.m else settled

    def _follow(
        self, log: SweepLog, labels: Allocation, numbers: Allocation, *, begun: bool, numbered: bool
    ) -> None:
        """Say of the graph's vertices where they are now."""
        n = self.first.n
        flags = (np.uint32(begun), np.uint32(numbered))
        args = (np.uint32(n), *flags, labels, numbers, self.places)
        self.levels.launch(log, None, n, "level_follow", *args)

    def _part(self, log: SweepLog, level: Level) -> None:
        """Part communities of the last level that are not connected: no vertex of it joins one.

        Few are left that way, by a vertex that was between their sides and went elsewhere.
        """
        levels = self.levels
        _, communities = levels.numbered(log, level, level.labels, again=True)
        look = levels.look("communities", communities)
        pieces = levels.pieces(log, level)  # meanwhile: this level is small
        if look()[0] == level.n:
            return
        levels.parted(log, level, pieces)
        levels.start(log, level, given=True)


def _is_last(level: Level, made: Level, depth: int) -> bool:
    """Whether what was made of a level is not gone on with."""
    return made.n == level.n or depth + 1 == MOST_LEVELS


def _modularity(sums: Callable[[], tuple[int, int]], scale: Scale) -> float:
    inside, squares = sums()
    return inside / scale.total - scale.resolution * (squares / scale.total**2)
