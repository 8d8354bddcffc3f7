"""Passes over the vertices of a level: moves between communities, and joins within them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph.algorithms.communities.level import CLASSES

if TYPE_CHECKING:
    from collections.abc import Callable

    from clgraph.algorithms.communities.level import Level, Levels
    from clgraph.algorithms.communities.scale import Scale
    from clgraph.device import Allocation
    from clgraph.engine.sweeps import SweepLog

__all__ = ["moved", "refined"]

MOST_PASSES = 20
REFINING_PASSES = 2


def moved(
    log: SweepLog,
    levels: Levels,
    level: Level,
    scale: Scale,
    seed: np.uint32,
    *,
    tolerance: float,
    report: Callable[[], None],
) -> tuple[int, int]:
    """Move vertices between communities until a pass gains less than a tolerance.

    Parameters
    ----------
    log : SweepLog
        Notes the launches.
    levels, level : Levels, Level
        The kernels, and the graph, which has been ordered and started.
    scale : Scale
        What gains are counted in.
    seed : uint32
        Of what is equally good.
    tolerance : float
        Of modularity.
    report : callable
        Called after each pass.

    Returns
    -------
    passes, moves : int
        How many there were.
    """
    n = level.n
    active, targets = levels.array("active", n, np.uint8), levels.array("targets", n)
    gained = levels.array("gained", 3)
    moves = 0
    for done in range(1, MOST_PASSES + 1):
        _begin(levels, gained)
        for turn in range(CLASSES):
            state = (level.labels, level.strengths, level.totals, active, targets, gained)
            levels.choose(log, level, "move_choose", turn, scale, (seed,), *state)
            after = (level.strengths, targets, level.labels, level.totals, active)
            levels.apply(log, level, "move_apply", turn, seed, *after)
        low, high, movers = gained.read().tolist()
        moves += movers
        report()
        if not movers or (high << 32 | low) <= tolerance * scale.unit:
            return done, moves
    return MOST_PASSES, moves


def refined(
    log: SweepLog,
    levels: Levels,
    level: Level,
    scale: Scale,
    seed: np.uint32,
    *,
    report: Callable[[], None],
) -> Allocation:
    """Part communities into sets of vertices that are well connected.

    Parameters
    ----------
    log, levels, level, scale, seed, report
        As for `moved`.

    Returns
    -------
    Allocation
        uint32 [n], a vertex of the part that each vertex is in.
    """
    n = level.n
    parts, part_totals = levels.array("parts", n), levels.sums("part_totals", n)
    cuts, joined = levels.sums("cuts", n), levels.array("joined", n, np.uint8)
    targets, gained = levels.array("targets", n), levels.array("gained", 3)
    state = (parts, part_totals, cuts, joined)
    held = (level.labels, level.strengths)
    levels.launch(log, level, n, "refine_start", np.uint32(n), *held, *state)
    for _ in range(REFINING_PASSES):
        _begin(levels, gained)
        for turn in range(CLASSES):
            before = (seed, np.uint32(turn))
            args = (*held, level.totals, *state, targets)
            levels.choose(log, level, "refine_choose", turn, scale, before, *args)
            levels.apply(log, level, "refine_apply", turn, seed, *held, targets, *state, gained)
        report()
        if not gained.read()[2]:
            break
    return parts


def _begin(levels: Levels, gained: Allocation) -> None:
    gained.clear()
    levels.claims().clear()
