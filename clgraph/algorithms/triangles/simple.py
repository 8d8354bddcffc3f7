"""Graphs without self-loops and parallel edges, whose edges go both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.triangles.config import TrianglesConfig, resolve
from clgraph.algorithms.triangles.orient import faults
from clgraph.engine.blocks import rows_of
from clgraph.engine.sweeps import SweepLog
from clgraph.errors import InvalidGraphError
from clgraph.graph import Graph, from_edges
from clgraph.graph.csr import row_ids

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.engine.blocks import BlockRows

__all__ = ["are_triangles", "as_stored", "check_simple", "cleaned", "simple_graph"]


def simple_graph(
    graph: Graph, device: Device, *, clean: bool, progress: Progress | None = None
) -> Graph:
    """Give a graph that has no self-loops and no parallel edges and whose edges go both ways.

    Parameters
    ----------
    graph : Graph
        Any.
    device : Device
        What looks for such edges.
    clean : bool
        Whether to make such a graph of one that is not, on the host: in O(m) where an undirected
        graph has self-loops at most, else in O(m log m).
    progress : callable or True, optional
        Called while the graph is uploaded.

    Raises
    ------
    InvalidGraphError
        If it is not such a graph and is not to be cleaned.
    """
    if clean:
        return cleaned(graph)
    check_simple(graph, device, progress)
    return graph


def check_simple(
    graph: Graph | BlockRows, device: Device, progress: Progress | None = None
) -> None:
    """Raise InvalidGraphError if edges go one way, come twice, or lead to where they begin."""
    if graph.directed:
        raise InvalidGraphError(
            "trusses, cores and triangles need an undirected graph; pass graph.symmetrized(), or "
            "clean=True."
        )
    if graph.m:
        rows_of(graph, device, progress)
        config = resolve(TrianglesConfig(), device.traits, graph)
        loops, repeats = faults(graph, device, config, SweepLog())
        if loops or repeats:
            raise InvalidGraphError(
                f"the graph has {loops} self-loops and {repeats} parallel edges, which would "
                "count as corners or twice; pass clean=True."
            )


def cleaned(graph: Graph) -> Graph:
    """Give the graph with every edge both ways and once, and no self-loops.

    That is the graph itself, if it is so.
    """
    if not (graph.directed or _repeats(graph)):
        kept = _not_loops(graph)
        if kept.all():
            return graph
        before = np.concatenate([[0], np.cumsum(kept)])
        indptr = before[graph.indptr].astype(graph.indptr.dtype)
        return Graph.trusted((indptr, graph.indices[kept], None), directed=False)
    sources, targets, _ = graph.listed_edges()
    return from_edges(
        sources, targets, n=graph.n, directed=False, symmetrize=True, dedup=True, self_loops=False
    )


def _not_loops(graph: Graph) -> NDArray[np.bool_]:
    """Report which stored edges are no self-loops."""
    different: NDArray[np.bool_] = row_ids(graph.indptr) != graph.indices
    return different


def _repeats(graph: Graph) -> bool:
    """Report whether an edge follows an equal one in its row, which ascends."""
    same = np.flatnonzero(graph.indices[1:] == graph.indices[:-1]) + 1
    return bool((graph.indptr[np.searchsorted(graph.indptr, same)] != same).any())


def as_stored(values: NDArray[Any], simple: Graph, graph: Graph) -> NDArray[Any]:
    """Give each stored edge of a graph what is known of it in the cleaned one, or 0."""
    if simple is graph:
        return values
    kept = None if graph.directed else _not_loops(graph)
    if kept is not None and np.count_nonzero(kept) == simple.m:
        spread = np.zeros(graph.m, values.dtype)
        spread[kept] = values
        return spread
    n = np.int64(graph.n)
    wanted = np.repeat(np.arange(n), graph.degrees) * n + graph.indices
    if not simple.m:
        return np.zeros(len(wanted), values.dtype)
    at, there = _places(simple, wanted)
    return np.where(there, values[at], values.dtype.type(0))


def are_triangles(corners: NDArray[np.int64], graph: Graph) -> bool:
    """Report whether edges of the graph, which ascend in its rows, join all three corners of each.

    Parameters
    ----------
    corners : int64 array [t, 3]
        Vertices.
    graph : Graph
        Without self-loops and parallel edges.
    """
    if not graph.m:
        return not len(corners)
    sides = (corners[:, :2], corners[:, 1:], corners[:, ::2])
    return all(_places(graph, side[:, 0] * graph.n + side[:, 1])[1].all() for side in sides)


def _places(graph: Graph, wanted: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Where edges u, v, given as u * n + v, are stored in a graph of some, and which are."""
    n = np.int64(graph.n)
    keys = np.repeat(np.arange(n), graph.degrees) * n + graph.indices
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    there: NDArray[np.bool_] = keys[at] == wanted
    return at, there
