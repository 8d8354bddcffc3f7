"""Passes over the vertices of a level: moves between communities, and joins within them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from clgraph.algorithms.communities.level import Level
    from clgraph.algorithms.communities.scale import Scale
    from clgraph.algorithms.communities.turns import Turns
    from clgraph.device import Allocation
    from clgraph.engine.sweeps import SweepLog

__all__ = ["moved", "refined"]

MOST_PASSES = 10
REFINING_PASSES = 2
OTHER_CLASSES = 0x85EBCA6B  # added to a seed


def moved(
    log: SweepLog,
    turns: Turns,
    level: Level,
    scale: Scale,
    *,
    tolerance: float,
    report: Callable[[], None],
) -> tuple[int, int, float]:
    """Move vertices between communities until a pass gains less than a tolerance.

    Vertices of one class move at once. What each gains is counted as if it moved alone: neighbours
    of one class may take each other's places, gain nothing and do so in every pass. Where moves do
    not become fewer the vertices are therefore parted into other classes.

    Parameters
    ----------
    log : SweepLog
        Notes the launches.
    turns, level : Turns, Level
        The kernels, and the graph, which has been ordered and started.
    scale : Scale
        What gains are counted in.
    tolerance : float
        Of modularity.
    report : callable
        Called after each launch.

    Returns
    -------
    passes, moves : int
        How many there were.
    gain : float
        Of modularity, counted as above.
    """
    levels, n = turns.levels, level.n
    held = (level.strengths, level.labels, level.totals, levels.sums("slacks", n))
    args = (*held, levels.array("sources", n), levels.array("targets", n))
    enough = int(tolerance * scale.unit)
    moves, before, done, gained = 0, n + 1, 0, 0
    while done < MOST_PASSES:
        found = turns.passes(
            log,
            level,
            "move_turns",
            scale,
            args,
            most=MOST_PASSES - done,
            before=before,
            tolerance=enough,
        )
        report()
        for gain, movers in found:
            done += 1
            moves += movers
            gained += gain
            if not movers or gain <= enough:
                return done, moves, gained / scale.unit
            fewer, before = movers < before, movers
            if not fewer:
                turns.order(log, level, (level.seed + OTHER_CLASSES) % 2**32)
                break
    return MOST_PASSES, moves, gained / scale.unit


def refined(
    log: SweepLog,
    turns: Turns,
    level: Level,
    scale: Scale,
    *,
    report: Callable[[], None],
) -> Allocation:
    """Part communities into sets of vertices that are well connected.

    Parameters
    ----------
    log, turns, level, scale, report
        As for `moved`.

    Returns
    -------
    Allocation
        uint32 [n], a vertex of the part that each vertex is in.
    """
    levels, n = turns.levels, level.n
    parts, part_totals = levels.array("parts", n), levels.sums("part_totals", n)
    cuts, joined = levels.sums("cuts", n), levels.array("joined", n, np.uint8)
    targets = levels.array("targets", n)
    # Of cuts those of a level are empty since it was started.
    state = (parts, part_totals, cuts, joined)
    held = (level.labels, level.strengths)
    chunks = levels.chunks(level)
    levels.launch(log, level, n, "parts_start", *chunks, np.uint32(n), *held, *state)
    args = (level.strengths, level.labels, level.totals, *state, targets)
    done = 0
    while done < REFINING_PASSES:
        found = turns.passes(
            log,
            level,
            "refine_turns",
            scale,
            args,
            most=REFINING_PASSES - done,
            before=n + 1,
            tolerance=0,
        )
        report()
        done += len(found)
        if any(not movers for _, movers in found):
            break
    return parts
