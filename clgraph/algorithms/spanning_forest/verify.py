"""Checking a minimum spanning forest: every other edge is the heaviest of the cycle it closes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.bfs.plan import bfs
from clgraph.algorithms.components.plan import connected_components
from clgraph.errors import VerificationError
from clgraph.graph import from_edges
from clgraph.graph.csr import row_ids

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.algorithms.spanning_forest.result import SpanningForestResult
    from clgraph.device import Device
    from clgraph.graph import Graph

__all__ = ["verify_spanning_forest"]

BLOCK = 1 << 20  # edges that are looked at together


def verify_spanning_forest(graph: Graph, result: SpanningForestResult, device: Device) -> None:
    """Check a minimum spanning forest.

    Parameters
    ----------
    graph : Graph
        Whose it is.
    result : SpanningForestResult
        The forest.
    device : Device
        Where components are found, and the trees searched from their roots.

    Raises
    ------
    VerificationError
        If edges close a cycle, trees are not the components of the graph, or an edge that was left
        out comes before one on the path between its ends, by weight and place.
    DeviceMemoryError
        If the check does not fit the device.

    Notes
    -----
    O(m log m + (n + m) log depth) on the host, 16 bytes per vertex for each doubling of the depth
    of the trees.
    """
    if not graph.n:
        return
    edges = result.edges
    sources, targets = result.sources, result.targets
    theirs = connected_components(graph, device=device)
    if not np.array_equal(theirs.labels, result.labels):
        raise VerificationError("the trees are not the components of the graph.")
    if edges.size != graph.n - result.count or np.unique(edges).size != edges.size:
        raise VerificationError(
            f"{edges.size} edges cannot join {graph.n} vertices to {result.count} trees."
        )
    # A vertex above all roots, so that one search reaches everything.
    roots = np.unique(result.labels, return_index=True)[1]
    above = np.full(roots.size, graph.n)
    rooted = from_edges(
        np.concatenate([sources, above]),
        np.concatenate([targets, roots]),
        n=graph.n + 1,
        symmetrize=True,
    )
    search = bfs(rooted, graph.n, predecessors=True, device=device)
    if search.reached != graph.n + 1 or search.predecessors is None:
        raise VerificationError("the edges close a cycle, and leave out what they should join.")
    ranks = _ranks(graph)
    paths = _Paths(search.distances, search.predecessors, sources, targets, ranks[edges])
    edge_sources = row_ids(graph.indptr)
    other = edge_sources != graph.indices
    other[edges] = False
    left_out = np.flatnonzero(other)
    for first in range(0, left_out.size, BLOCK):
        block = left_out[first : first + BLOCK]
        heaviest = paths.heaviest(edge_sources[block], graph.indices[block])
        wrong = np.flatnonzero(ranks[block] < heaviest)
        if wrong.size:
            edge = int(block[wrong[0]])
            raise VerificationError(
                f"edge {edge}, {edge_sources[edge]} - {graph.indices[edge]}, comes before one on "
                "the path between its ends, and was left out."
            )


def _ranks(graph: Graph) -> NDArray[np.int64]:
    """Place of every edge among all, sorted by weight and place."""
    ranks = np.arange(graph.m)
    if graph.weights is not None:
        ranks[np.argsort(graph.weights, kind="stable")] = np.arange(graph.m)
    return ranks


class _Paths:
    """The heaviest edges of paths in a rooted forest, by jumps of doubling length."""

    def __init__(
        self,
        depths: NDArray[Any],
        parents: NDArray[Any],
        sources: NDArray[Any],
        targets: NDArray[Any],
        ranks: NDArray[np.int64],
    ) -> None:
        self.depths = depths.astype(np.int64)
        jumps = [parents.astype(np.int64)]
        heaviest = np.full(len(parents), -1, np.int64)
        lower = np.where(self.depths[sources] > self.depths[targets], sources, targets)
        heaviest[lower] = ranks
        most = [heaviest]
        while 1 << len(jumps) <= self.depths.max():
            last, far = most[-1], jumps[-1]
            most.append(np.maximum(last, last[far]))
            jumps.append(far[far])
        self.jumps, self.most = jumps, most

    def heaviest(self, u: NDArray[Any], v: NDArray[Any]) -> NDArray[np.int64]:
        """Rank of the heaviest edge between each u and v of the same tree."""
        deeper = self.depths[u] >= self.depths[v]
        low, high = np.where(deeper, u, v), np.where(deeper, v, u)
        found = np.full(len(low), -1, np.int64)
        ahead = self.depths[low] - self.depths[high]
        for bit, (jump, most) in enumerate(zip(self.jumps, self.most, strict=True)):
            moves = (ahead >> bit & 1).astype(bool)
            found[moves] = np.maximum(found[moves], most[low[moves]])
            low[moves] = jump[low[moves]]
        for jump, most in zip(self.jumps[::-1], self.most[::-1], strict=True):
            moves = jump[low] != jump[high]
            for ends in (low, high):
                found[moves] = np.maximum(found[moves], most[ends[moves]])
                ends[moves] = jump[ends[moves]]
        apart = low != high
        for ends in (low, high):
            found[apart] = np.maximum(found[apart], self.most[0][ends[apart]])
        return found
