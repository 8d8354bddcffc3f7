"""Which vertices of a graph are hubs: whose visit shows that a search is about to explode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.engine.blocks import BlockRows
    from clgraph.engine.strategies.frontier import StatusArray
    from clgraph.graph import Graph

__all__ = ["hub_floor", "hub_floor_of", "hub_floor_of_top"]

SHARE_OF_EDGES = 0.1
USUAL_CACHE = 1024  # hubs that are looked for where no cache limits them
FLAT = 8  # graphs whose largest degree is at most so many mean ones have no hubs


def hub_floor_of(graph: Graph | BlockRows, status: StatusArray) -> int:
    """Give the out-degree above which a vertex counts as a hub of a search over a status array."""
    if status.hub_floor is not None:
        return status.hub_floor
    return hub_floor(graph.degrees, status.hub_cache or USUAL_CACHE)


def hub_floor(degrees: NDArray[Any], capacity: int) -> int:
    """Give the out-degree above which a vertex counts as a hub.

    Parameters
    ----------
    degrees : integer array [n]
        Out-degrees.
    capacity : int
        How many hubs a cache holds.

    Returns
    -------
    int
        One less than the degree of the K-th largest vertex, where K is the least of `capacity` and
        the fewest vertices that hold a tenth of the edges; the largest degree, which no vertex
        exceeds, where degrees are nearly equal.
    """
    top = degrees
    if degrees.size:
        count = min(max(capacity, 1), degrees.size)
        top = np.sort(np.partition(degrees, degrees.size - count)[degrees.size - count :])[::-1]
    return hub_floor_of_top(top, degrees.size, int(degrees.sum()), capacity)


def hub_floor_of_top(top: NDArray[Any], n: int, m: int, capacity: int) -> int:
    """Give the same from the largest degrees, descending, of a graph of `n` and `m`."""
    if n == 0:
        return 0
    largest = int(top[0])
    if largest <= FLAT * (m / n):
        return largest
    count = min(max(capacity, 1), top.size)
    held = np.cumsum(top[:count].astype(np.int64))
    enough = int(np.searchsorted(held, SHARE_OF_EDGES * float(m))) + 1
    return int(top[min(count, enough) - 1]) - 1
