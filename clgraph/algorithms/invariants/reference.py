"""The sequential reference: every tuple, one after the other, by NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.invariants.dictionary import batches
from clgraph.apart import apart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from clgraph.algorithms.invariants.templates import Family, Template
    from clgraph.algorithms.invariants.trace import Trace

__all__ = ["mine_sequentially"]

BLOCK = 1 << 16  # instants that are tried before a look at what is still alive


def mine_sequentially(
    traces: Sequence[Trace], families: Sequence[Family], tolerance: int = 0
) -> set[tuple[Template, tuple[int, ...]]]:
    """Find what holds at every instant of every trace, without a device.

    Parameters
    ----------
    traces : sequence of Trace
        Of the same variables.
    families : sequence of Family
        What to try.
    tolerance : int
        Units in the last place within which numbers are equal.

    Returns
    -------
    set of (Template, tuple of int)
        A template and the variables that fill it, by their places among those of its kind.

    Notes
    -----
    Algorithm 17 of the thesis: of each tuple the templates that are alive are tried on the next
    instants, and the rest of the trace is skipped once none is. A block of instants is one
    vectorised expression; nothing else is shared between tuples or templates.
    """
    found: set[tuple[Template, tuple[int, ...]]] = set()
    for family in families:
        for batch in batches(traces[0].count(family.kind), family):
            for row in batch:
                places = tuple(int(place) for place in row)
                live = list(family.templates)
                for trace in traces:
                    live = _still_alive(trace, live, places, tolerance)
                found.update((template, places) for template in live)
    return found


def _still_alive(
    trace: Trace, live: list[Template], places: tuple[int, ...], tolerance: int
) -> list[Template]:
    for begin in range(0, trace.length, BLOCK):
        if not live:
            break
        end = min(begin + BLOCK, trace.length)
        values = [trace.values(live[0].kind, place, begin, end) for place in places]
        live = apart(np.errstate(all="ignore")(_holding), live, values, tolerance)
    return live


def _holding(live: list[Template], values: list[NDArray[Any]], tolerance: int) -> list[Template]:
    return [template for template in live if np.all(template.node.evaluate(values, tolerance))]
