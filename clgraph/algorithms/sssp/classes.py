"""Edges that a search for shortest paths can treat apart, found once for a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.sssp.method import EDGE_CLASSES
from clgraph.graph.csr import row_ids
from clgraph.graph.modules import module

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from clgraph.algorithms.sssp.weights import Weights
    from clgraph.graph import Graph

__all__ = [
    "NO_END",
    "ROW_CUTS",
    "Leaves",
    "classed_targets",
    "cut_weights",
    "has_parallel_edges",
    "leaves_of",
    "light_first",
    "rows_in_order",
]

CLASS_SHIFT = 30
# Weights at which rows are cut, and what stands for an end that is further than 16 bits tell.
ROW_CUTS, NO_END = 8, 0xFFFF


@dataclass(frozen=True, slots=True)
class Leaves:
    """Vertices that no path leads through, with the edges to them as CSR.

    Attributes
    ----------
    vertices : uint32 array [leaves]
        Ascending.
    indptr : uint32 array [leaves + 1]
        Where the edges to each begin.
    sources : uint32 array
        Where those edges come from.
    weights : array
        What they cost.
    """

    vertices: NDArray[np.uint32]
    indptr: NDArray[np.uint32]
    sources: NDArray[np.uint32]
    weights: NDArray[Any]


def _idle_loops(
    weights: Weights, targets: NDArray[Any], sources: NDArray[Any]
) -> NDArray[np.bool_]:
    """Self-loops that make nothing shorter; one of negative weight is a cycle to be found."""
    return np.asarray((sources == targets) & (weights.values >= 0))


def _is_leaf(graph: Graph, sources: NDArray[Any], idle: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Vertices that no edge leaves, of an undirected graph those with one edge; loops aside."""
    loops = np.bincount(sources[idle], minlength=graph.n)
    return np.asarray(graph.degrees - loops == (0 if graph.directed else 1))


def _sources(graph: Graph) -> NDArray[np.int64]:
    return np.repeat(np.arange(graph.n), graph.degrees)


def classed_targets(graph: Graph, weights: Weights, wanted: Collection[str]) -> NDArray[np.uint32]:
    """Give the targets of all edges with the code of their class in the two highest bits.

    Of several classes an edge is in the first of "self", "leaf", "in-degree-1".
    """
    targets, sources = np.asarray(graph.indices), _sources(graph)
    loop = _idle_loops(weights, targets, sources)
    codes = np.zeros(graph.m, np.uint32)
    if "in-degree-1" in wanted:
        in_degrees = np.bincount(targets[~loop], minlength=graph.n)
        codes[(in_degrees == 1)[targets]] = EDGE_CLASSES["in-degree-1"]
    if "leaf" in wanted:
        codes[_is_leaf(graph, sources, loop)[targets]] = EDGE_CLASSES["leaf"]
    codes[loop] = 0
    if "self" in wanted:
        codes[loop] = EDGE_CLASSES["self"]
    return targets.astype(np.uint32) | codes << np.uint32(CLASS_SHIFT)


def leaves_of(graph: Graph, weights: Weights) -> Leaves:
    """Give the leaves of a graph and the edges to them, self-loops left out."""
    targets, sources = np.asarray(graph.indices), _sources(graph)
    is_leaf = _is_leaf(graph, sources, _idle_loops(weights, targets, sources))
    edges = np.flatnonzero(is_leaf[targets] & (sources != targets))
    edges = edges[np.argsort(targets[edges], kind="stable")]
    vertices = np.flatnonzero(is_leaf)
    counts = np.bincount(targets[edges], minlength=graph.n)[vertices]
    indptr = np.zeros(vertices.size + 1, np.uint32)
    np.cumsum(counts, out=indptr[1:])
    return Leaves(
        vertices.astype(np.uint32),
        indptr,
        sources[edges].astype(np.uint32),
        weights.values[edges],
    )


def has_parallel_edges(graph: Graph) -> bool:
    """Whether any edge is there twice."""
    same = np.asarray(graph.indices[1:] == graph.indices[:-1])
    starts = np.asarray(graph.indptr[1:-1]) - 1
    same[starts[(starts >= 0) & (starts < same.size)]] = False
    return bool(same.any())


def light_first(
    graph: Graph, values: NDArray[Any], delta: Any
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Put edges of at most `delta` at the beginning of each row.

    Parameters
    ----------
    graph : Graph
        Whose rows.
    values : array [m]
        What each edge costs.
    delta : scalar
        The largest cost of a light edge.

    Returns
    -------
    order : integer array [m]
        The edge that comes to each place.
    middles : integer array [n]
        Place of the first heavy edge of each row, or the row's end.
    """
    kind = np.int32 if graph.m < 2**31 else np.int64
    degrees, indptr = np.asarray(graph.degrees), np.asarray(graph.indptr).astype(kind)
    light = values <= delta
    before = np.zeros(graph.m + 1, kind)  # light edges before each
    np.cumsum(light, out=before[1:])
    middles = indptr[:-1] + before[indptr[1:]] - before[indptr[:-1]]
    # A light edge moves forward by the heavy ones before it in its row, a heavy one back by the
    # light ones after it.
    edges = np.arange(graph.m, dtype=kind)
    places = before[:-1] + np.repeat(indptr[:-1] - before[indptr[:-1]], degrees)
    np.subtract(
        edges + np.repeat(before[indptr[1:]], degrees), before[1:], out=places, where=~light
    )
    order = np.empty(graph.m, kind)
    order[places] = edges
    return order, middles


def cut_weights(delta: Any) -> NDArray[Any]:
    """Give the weights at which rows are cut: `ROW_CUTS`, ascending, the last is `delta`."""
    parts = np.arange(1, ROW_CUTS + 1) / ROW_CUTS
    cuts = (parts * float(delta)).astype(np.asarray(delta).dtype)
    cuts[-1] = delta
    return cuts


def rows_in_order(
    graph: Graph, values: NDArray[Any], cuts: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[np.uint16]]:
    """Order each row by where its weights lie between cuts.

    Parameters
    ----------
    graph : Graph
        Whose rows.
    values : array [m]
        What each edge costs.
    cuts : array [ROW_CUTS]
        Ascending.

    Returns
    -------
    order : integer array [m]
        The edge that comes to each place.
    ends : uint16 array [n, ROW_CUTS]
        How many edges of each row are no heavier than each cut; `NO_END` for that many or more.
    """
    n, m, parts = graph.n, graph.m, cuts.size + 1
    kind = np.int32 if max(m, n * parts) < 2**31 else np.int64
    rows = row_ids(graph.indptr, kind) * parts + np.searchsorted(cuts, values)
    # To CSR is a bucket sort; the columns are the edges, so that nothing is there twice.
    table = module("scipy.sparse").coo_matrix(
        (np.zeros(m, np.int8), (rows.astype(kind), np.arange(m, dtype=kind))),
        shape=(n * parts, max(m, 1)),
        copy=False,
    )
    table.has_canonical_format = True
    table = table.tocsr()
    starts = table.indptr[:-1].reshape(n, parts)
    ends = np.minimum(starts[:, 1:] - starts[:, :1], NO_END).astype(np.uint16)
    return table.indices, np.ascontiguousarray(ends)
