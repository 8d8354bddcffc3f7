"""Why a search for shortest paths did not end well: a negative cycle, or sums beyond the type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.graph import Graph

__all__ = ["find_negative_cycle", "overflowing_edge"]


def find_negative_cycle(
    graph: Graph, weights: NDArray[Any], among: NDArray[np.bool_]
) -> list[int] | None:
    """Find a cycle of negative weight among some vertices.

    Parameters
    ----------
    graph : Graph
        At least one edge.
    weights : array [m]
        Of its edges.
    among : bool array [n]
        Which vertices to look at, such as those that a search has reached.

    Returns
    -------
    list of int or None
        The vertices of one cycle in the order of its edges; None if there is no cycle.

    Notes
    -----
    Relaxes all edges among them again and again, every vertex beginning at zero, and looks for a
    cycle in the predecessors after 1, 2, 4, ... rounds: a cycle of edges that strictly improved is
    negative, and one appears within n rounds if there is any. O(n m) at worst, little more than m
    times the length of the cycle in practice.
    """
    tails = np.repeat(np.arange(graph.n), graph.degrees)
    inside = among[tails] & among[graph.indices]
    tails, heads = tails[inside], np.asarray(graph.indices)[inside].astype(np.int64)
    costs = weights[inside]
    order = np.argsort(heads, kind="stable")
    tails, heads, costs = tails[order], heads[order], _summable(costs[order], graph.n)
    if not heads.size:
        return None
    begins = np.flatnonzero(np.diff(heads, prepend=-1))
    targets = heads[begins]
    owner = np.repeat(np.arange(begins.size), np.diff(begins, append=heads.size))
    lengths = np.zeros(graph.n, costs.dtype)
    parents = np.full(graph.n, -1, np.int64)
    check = 1
    for rounds in range(1, graph.n + 2):
        sums = lengths[tails] + costs
        best = np.minimum.reduceat(sums, begins)
        better = best < lengths[targets]
        if not better.any():
            return None
        winners = np.full(begins.size, -1, np.int64)
        at = np.flatnonzero(sums == best[owner])
        winners[owner[at]] = tails[at]
        lengths[targets[better]] = best[better]
        parents[targets[better]] = winners[better]
        if rounds >= check:
            cycle = _cycle_of(parents)
            if cycle:
                return cycle
            check *= 2
    return _cycle_of(parents)


def _summable(costs: NDArray[Any], n: int) -> NDArray[Any]:
    """Costs in a type that holds sums along n edges."""
    if costs.dtype.kind == "f":
        return costs
    largest = max(abs(int(costs.min(initial=0))), abs(int(costs.max(initial=0))))
    return costs.astype(np.int64 if largest * (n + 1) < 2**63 else object)


def _cycle_of(parents: NDArray[np.int64]) -> list[int] | None:
    """Find a cycle in a graph of at most one edge out of each vertex, by doubling strides."""
    n = parents.size
    ancestors = np.append(np.where(parents < 0, n, parents), n)
    for _ in range(n.bit_length()):
        ancestors = ancestors[ancestors]
    on_or_behind = np.flatnonzero(ancestors[:n] < n)
    if not on_or_behind.size:
        return None
    start = vertex = int(ancestors[on_or_behind[0]])
    cycle = [start]
    while int(parents[vertex]) != start:
        vertex = int(parents[vertex])
        cycle.append(vertex)
    return cycle[::-1]


def overflowing_edge(graph: Graph, reached: NDArray[np.bool_]) -> tuple[int, int] | None:
    """Find an edge out of what a search reached to what it did not: there a sum was too large."""
    tails = np.repeat(np.arange(graph.n), graph.degrees)
    out = np.flatnonzero(reached[tails] & ~reached[graph.indices])
    return (int(tails[out[0]]), int(graph.indices[out[0]])) if out.size else None
