"""Whether a search for shortest paths ends well: not by a negative cycle, or sums too large."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.sssp.stages import FLAG_BELOW, FLAG_ROUNDS
from clgraph.errors import (
    ClgraphError,
    DistanceOverflowError,
    InvalidArgumentError,
    NegativeCycleError,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.algorithms.sssp.weights import Weights
    from clgraph.engine.driver import Driver
    from clgraph.engine.outcome import Outcome
    from clgraph.graph import Graph

__all__ = [
    "FIRST_ROUNDS",
    "UNSETTLED",
    "check_overflow",
    "check_rooted",
    "find_negative_cycle",
    "most_rounds",
    "refuse_tree",
    "settle",
    "too_long",
]

# Relax stages after which a search with negative weights looks for a cycle, and how much later it
# does so again: the search is run anew, which costs a seventh more at most.
FIRST_ROUNDS, MORE_ROUNDS = 256, 8
# What a search reports that may go on for ever.
UNSETTLED = FLAG_BELOW | FLAG_ROUNDS


def most_rounds(rounds: int, graph: Graph) -> np.uint32:
    """Give the relax stages after which a search with negative weights is to be looked at."""
    return np.uint32(min(rounds, graph.n + 3, 2**32 - 1))


def settle(
    stages: Driver,
    given: dict[str, Any],
    outcome: Outcome,
    graph: Graph,
    weights: Weights,
) -> None:
    """Search again until it is done, or there is a cycle of negative weight, which is an error.

    Parameters
    ----------
    stages, given
        What searched, and its arguments.
    outcome : Outcome
        Of a search that is `UNSETTLED`; that of the last one in the end.
    graph, weights
        What was searched.
    """
    cells = given["cells"] if "cells" in given else stages.table["cells"]
    rounds = FIRST_ROUNDS
    while flags := outcome.status_flags & UNSETTLED:
        refuse_cycle(graph, weights, weights.lengths_of_cells(cells.read()))
        below = bool(flags & FLAG_BELOW)
        refuse_shorter(weights, below=below, proven=rounds > graph.n + 3)
        rounds *= MORE_ROUNDS
        given["max_rounds"] = most_rounds(rounds, graph)
        stages.finish(stages.start(given), outcome)


def find_negative_cycle(
    graph: Graph, weights: NDArray[Any], lengths: NDArray[Any], among: NDArray[np.bool_]
) -> list[int] | None:
    """Find a cycle of negative weight among some vertices.

    Parameters
    ----------
    graph : Graph
        At least one edge.
    weights : array [m]
        Of its edges.
    lengths : array [n]
        What to begin with at each vertex: any finite numbers are right, those that a search came to
        the fastest.
    among : bool array [n]
        Which vertices to look at, such as those that a search has reached.

    Returns
    -------
    list of int or None
        The vertices of one cycle in the order of its edges; None if there is no cycle.

    Notes
    -----
    Looks for a cycle in the predecessors that the lengths themselves show: a search that has been
    around one leaves it there. If there is none, relaxes all edges among the vertices again and
    again and looks after 1, 2, 4, ... rounds: a cycle of edges that strictly improved is negative,
    and one appears within n rounds if there is any. Of floating-point weights rounding may have
    improved, so the sum is taken exactly. O(n m) at worst, a few rounds in practice.
    """
    edge_sources = np.repeat(np.arange(graph.n), graph.degrees)
    inside = among[edge_sources] & among[graph.indices]
    edge_sources, edge_targets = (
        edge_sources[inside],
        np.asarray(graph.indices)[inside].astype(np.int64),
    )
    if not edge_targets.size:
        return None
    order = np.argsort(edge_targets, kind="stable")
    edge_sources, edge_targets, costs = (
        edge_sources[order],
        edge_targets[order],
        weights[inside][order],
    )
    kind = _summable(costs, lengths[among], graph.n)
    costs, lengths = costs.astype(kind), np.where(among, lengths, 0).astype(kind)
    begins = np.flatnonzero(np.diff(edge_targets, prepend=-1))
    targets = edge_targets[begins]
    owner = np.repeat(np.arange(begins.size), np.diff(begins, append=edge_targets.size))
    parents = np.full(graph.n, -1, np.int64)
    check = 0
    for rounds in range(graph.n + 2):
        sums = lengths[edge_sources] + costs
        best = np.minimum.reduceat(sums, begins)
        better = best < lengths[targets]
        if not better.any():
            return None
        winners = np.full(begins.size, -1, np.int64)
        at = np.flatnonzero(sums == best[owner])
        winners[owner[at]] = edge_sources[at]
        better_known = better if rounds else best <= lengths[targets]
        parents[targets[better_known]] = winners[better_known]
        if rounds >= check:
            cycle = _cycle_of(parents)
            if cycle and _is_negative(cycle, edge_sources, edge_targets, costs):
                return cycle
            check = max(2 * check, 1)
        if not rounds:
            parents[:] = -1  # a cycle of weight zero would hide others
        parents[targets[better]] = winners[better]
        lengths[targets[better]] = best[better]
    cycle = _cycle_of(parents)
    return cycle if cycle and _is_negative(cycle, edge_sources, edge_targets, costs) else None


def _is_negative(
    cycle: list[int], edge_sources: NDArray[Any], edge_targets: NDArray[Any], costs: NDArray[Any]
) -> bool:
    """Whether the shortest edges of a cycle add up below zero; `edge_targets` is ascending."""
    steps = []
    for u, v in pairwise([*cycle, cycle[0]]):
        row = slice(*np.searchsorted(edge_targets, [v, v + 1]))
        steps.append(costs[row][edge_sources[row] == u].min())
    if costs.dtype.kind == "f":
        return math.fsum(map(float, steps)) < 0
    return sum(map(int, steps)) < 0


def _summable(costs: NDArray[Any], lengths: NDArray[Any], n: int) -> Any:
    """Give a type that holds sums of one of the lengths and n costs."""
    if costs.dtype.kind == "f":
        return costs.dtype
    ends = (costs.min(), costs.max()), (lengths.min(), lengths.max())
    cost, length = (max(abs(int(end)) for end in pair) for pair in ends)
    return np.int64 if length + cost * (n + 2) < 2**63 else object


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


def refuse_cycle(graph: Graph, weights: Weights, lengths: NDArray[Any]) -> None:
    """Raise NegativeCycleError if a search that does not end has reached a negative cycle.

    `lengths` are what it has come to [n].
    """
    reached = np.asarray(lengths != weights.unreached)
    if weights.real:  # a sum below what the type holds is no number to begin with
        lengths = np.where(np.isfinite(lengths), lengths, 0)
    cycle = find_negative_cycle(graph, weights.values, lengths, reached)
    if cycle is None:
        return
    names = cycle if graph.labels is None else graph.labels[cycle].tolist()
    shown = [str(name) for name in [*names[:12], *(["..."] if len(names) > 12 else [])]]
    raise NegativeCycleError(
        f"paths from here get shorter for ever around the cycle {' -> '.join(shown)} -> "
        f"{names[0]}, whose weights add up below zero; remove it, or ask for hops with bfs.",
        tuple(cycle),
    )


def refuse_shorter(weights: Weights, *, below: bool, proven: bool) -> None:
    """Raise for paths that got too short where there is no negative cycle.

    Raises
    ------
    DistanceOverflowError
        If a sum fell `below` what the type holds.
    ClgraphError
        If there were more rounds than paths have edges, which is `proven` to be rounding.
    """
    if below:
        raise DistanceOverflowError(
            f"a shortest path is shorter than {weights.dtype} holds; use int64 weights, or float64."
        )
    if proven:
        raise ClgraphError(
            "paths go on getting shorter by less than rounding: a cycle's weights add up to nearly "
            "zero; use integer weights."
        )


def refuse_tree(max_distance: float, *, wanted: bool) -> None:
    """Raise InvalidArgumentError if a tree is wanted of negative weights and a limit."""
    if wanted:
        raise InvalidArgumentError(
            f"max_distance={max_distance} with negative weights leaves out vertices that paths "
            "lead through, so there is no tree to give or to check; leave out max_distance, or "
            "predecessors and verify."
        )


def check_overflow(
    graph: Graph, weights: Weights, reached: NDArray[np.bool_], target: int | None
) -> None:
    """Raise DistanceOverflowError if a sum was too large that was the only way to a vertex.

    Parameters
    ----------
    graph : Graph
        What was searched.
    weights : Weights
        Of its edges.
    reached : bool array [n]
        Who has a distance.
    target : int or None
        Who was looked for; nobody else matters once this one is found.
    """
    if target is not None and reached[target]:
        return
    edge_sources = np.repeat(np.arange(graph.n), graph.degrees)
    out = np.flatnonzero(reached[edge_sources] & ~reached[graph.indices])
    if out.size:
        edge = edge_sources[out[0]], graph.indices[out[0]]
        raise too_long(edge, weights, ", or pass a max_distance below that")


def too_long(edge: tuple[Any, Any], weights: Weights, otherwise: str = "") -> DistanceOverflowError:
    """Give the error for a path over an edge that no distance can be."""
    holds = np.finfo(weights.dtype).max if weights.real else weights.unreached - 1
    return DistanceOverflowError(
        f"a path over edge {edge[0]} -> {edge[1]} is longer than {weights.dtype} holds ({holds}); "
        f"use wider weights, such as int64 or float64{otherwise}."
    )


def check_rooted(reached: NDArray[np.bool_], predecessors: NDArray[np.int32] | None) -> None:
    """Raise ClgraphError if a vertex has a distance and nobody who gives it that.

    Around a cycle of weight zero, rounding may have made a distance less than what any path from a
    source gives; the vertices of the cycle then give it to each other.
    """
    if predecessors is None:
        return
    lost = np.flatnonzero(reached & (predecessors < 0))
    if lost.size:
        raise ClgraphError(
            f"vertex {lost[0]} is on or behind a cycle whose weights add up to nearly zero, around "
            "which rounding made its path shorter, so no tree leads to it; use integer weights, or "
            "leave out predecessors."
        )
