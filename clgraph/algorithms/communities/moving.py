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
OTHER_CLASSES = 0x85EBCA6B  # added to a seed


def moved(
    log: SweepLog,
    levels: Levels,
    level: Level,
    scale: Scale,
    *,
    tolerance: float,
    report: Callable[[], None],
) -> tuple[int, int]:
    """Move vertices between communities until a pass gains less than a tolerance.

    Vertices of one class move at once. What each gains is counted as if it moved alone: neighbours
    of one class may take each other's places, gain nothing and do so in every pass. Where moves do
    not become fewer the vertices are therefore parted into other classes.

    Parameters
    ----------
    log : SweepLog
        Notes the launches.
    levels, level : Levels, Level
        The kernels, and the graph, which has been ordered and started.
    scale : Scale
        What gains are counted in.
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
    before = n + 1
    for done in range(1, MOST_PASSES + 1):
        _begin(levels, gained)
        for turn in range(CLASSES):
            state = (level.labels, level.strengths, level.totals, active, targets, gained)
            levels.choose(log, level, "move_choose", turn, scale, (), *state)
            after = (level.strengths, targets, level.labels, level.totals, active)
            levels.apply(log, level, "move_apply", turn, *after)
        low, high, movers = gained.read().tolist()
        moves += movers
        report()
        if not movers or (high << 32 | low) <= tolerance * scale.unit:
            return done, moves
        if movers >= before:
            levels.order(log, level, (level.seed + OTHER_CLASSES) % 2**32)
        before = movers
    return MOST_PASSES, moves


def refined(
    log: SweepLog,
    levels: Levels,
    level: Level,
    scale: Scale,
    *,
    report: Callable[[], None],
) -> Allocation:
    """Part communities into sets of vertices that are well connected.

    Parameters
    ----------
    log, levels, level, scale, report
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
            args = (*held, level.totals, *state, targets)
            levels.choose(log, level, "refine_choose", turn, scale, (np.uint32(turn),), *args)
            levels.apply(log, level, "refine_apply", turn, *held, targets, *state, gained)
        report()
        if not gained.read()[2]:
            break
    return parts


def _begin(levels: Levels, gained: Allocation) -> None:
    gained.clear()
    levels.claims().clear()
