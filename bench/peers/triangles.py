"""Triangles of every vertex by other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.graph.modules import module

from .libraries import IgraphPeer, NetworkitPeer, NetworkxPeer, ScipyPeer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph import Graph

    from .peer import Peer

__all__ = ["TRIANGLES", "triangles_of_vertices"]

SQUARED_EDGES = 2_000_000  # with more the square of the matrix fills the memory
DRAWN_VERTICES = 1000


def triangles_of_vertices(graph: Graph) -> tuple[NDArray[np.int64], NDArray[np.int64], str]:
    """Triangles of vertices by other means, to check ours against.

    Parameters
    ----------
    graph : Graph
        Undirected, without self-loops and parallel edges.

    Returns
    -------
    vertices, counts, name
        Of all vertices half the row sums of A * A² by scipy. Of a graph whose square fills the
        memory some that are drawn, among which edges are counted by NumPy.
    """
    if graph.m <= SQUARED_EDGES:
        shape = (graph.n, graph.n)
        entries = (np.ones(graph.m, np.int64), graph.indices, graph.indptr)
        counts = _row_sums(module("scipy.sparse").csr_matrix(entries, shape=shape))
        return np.arange(graph.n), counts, "scipy"
    rng = np.random.default_rng(DRAWN_VERTICES)
    drawn = np.sort(rng.choice(np.flatnonzero(graph.degrees), DRAWN_VERTICES, replace=False))
    near = np.zeros(graph.n, np.bool_)
    counts = np.empty(drawn.size, np.int64)
    for place, vertex in enumerate(drawn):
        row = graph.indices[graph.indptr[vertex] : graph.indptr[vertex + 1]]
        near[row] = True
        rows = (graph.indices[graph.indptr[one] : graph.indptr[one + 1]] for one in row)
        counts[place] = sum(int(np.count_nonzero(near[ends])) for ends in rows) // 2
        near[row] = False
    return drawn, counts, f"numpy, of {drawn.size} vertices"


def _row_sums(matrix: Any) -> NDArray[np.int64]:
    closed = (matrix @ matrix).multiply(matrix)
    return np.asarray(closed.sum(axis=1)).ravel().astype(np.int64) // 2


def _from_shares(shares: Any, degrees: NDArray[np.int64]) -> NDArray[np.int64]:
    pairs = degrees * (degrees - 1) // 2
    found: NDArray[np.int64] = np.rint(np.asarray(shares) * pairs).astype(np.int64)
    return found


class TrianglesScipy(ScipyPeer):
    """Sparse products: A times the square of A, entry by entry."""

    limit_edges = SQUARED_EDGES

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Multiply and sum."""
        return _row_sums(self.matrix)


class TrianglesNetworkx(NetworkxPeer):
    """``networkx.triangles``."""

    missing = 0

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Count them."""
        return self.networkx.triangles(self.graph)


class TrianglesIgraph(IgraphPeer):
    """``Graph.transitivity_local_undirected``, since no function of it counts by vertex."""

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Find the clustering coefficients."""
        return self.graph.transitivity_local_undirected(mode="zero")

    def values(self, answer: Any, given: int) -> NDArray[np.int64]:  # noqa: ARG002
        """Multiply them by the pairs of neighbours."""
        degrees = np.asarray(self.graph.degree(), np.int64)
        return _from_shares(answer, degrees)


class TrianglesNetworkit(NetworkitPeer):
    """``centrality.LocalClusteringCoefficient``, in its fast way."""

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Find the clustering coefficients."""
        return self.networkit.centrality.LocalClusteringCoefficient(self.graph, True).run()

    def values(self, answer: Any, given: int) -> NDArray[np.int64]:  # noqa: ARG002
        """Multiply them by the pairs of neighbours."""
        degrees = np.asarray([self.graph.degree(v) for v in range(self.n)], np.int64)
        return _from_shares(answer.scores(), degrees)


TRIANGLES: dict[str, type[Peer]] = {
    "scipy": TrianglesScipy,
    "networkx": TrianglesNetworkx,
    "igraph": TrianglesIgraph,
    "networkit": TrianglesNetworkit,
}
