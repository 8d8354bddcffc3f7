"""Core numbers of vertices and truss numbers of edges by other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.graph.csr import row_ids
from clgraph.graph.modules import module

from .libraries import IgraphPeer, NetworkitPeer, NetworkxPeer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph import Graph

    from .peer import Peer

__all__ = ["CORES", "TRUSSES", "core_numbers", "truss_numbers"]


def core_numbers(graph: Graph) -> NDArray[np.int64]:
    """Core number of each vertex, round by round in numpy, to check others against."""
    ones = np.ones(graph.m, np.int8)
    rows = module("scipy.sparse").csr_matrix(
        (ones, graph.indices, graph.indptr), shape=(graph.n, graph.n)
    )
    numbers = np.zeros(graph.n, np.int64)
    degrees = np.asarray(graph.degrees, np.int64).copy()
    left = np.arange(graph.n)
    k = 0
    while left.size:
        above = degrees[left] > k
        under = left[~above]
        if not under.size:
            k = int(degrees[left].min())
            continue
        numbers[under] = k
        left = left[above]
        degrees -= np.bincount(rows[under].indices, minlength=graph.n)
    return numbers


def truss_numbers(graph: Graph) -> NDArray[np.int64]:
    """Truss number of each stored edge by sparse products, to check others against.

    Of A, whose edges are left, (A - R)² is A² - RA - AR + R² without edges R: so a round multiplies
    by what it takes away, and no product but the first is of the whole graph.
    """
    keys = row_ids(graph.indptr).astype(np.int64) * graph.n + graph.indices
    numbers = np.zeros(graph.m, np.int64)
    alive = np.arange(graph.m)
    left = _matrix(graph, alive)
    closed = np.asarray((left @ left)[row_ids(graph.indptr), graph.indices]).ravel()
    k = 2
    while alive.size:
        stays = closed[alive] >= k - 1
        under, alive = alive[~stays], alive[stays]
        if not under.size:
            k += 1
            continue
        numbers[under] = k
        gone = _matrix(graph, under)
        lost = gone @ left
        lost = (lost + lost.T - gone @ gone).tocoo()
        pairs = lost.row.astype(np.int64) * graph.n + lost.col
        places = np.minimum(np.searchsorted(keys, pairs), graph.m - 1)
        edges = keys[places] == pairs
        closed[places[edges]] -= lost.data[edges]
        left = _matrix(graph, alive)
    return numbers


def _matrix(graph: Graph, edges: NDArray[np.int64]) -> Any:
    """Give the matrix of some stored edges, which are in order."""
    entries = (np.ones(edges.size, np.int64), graph.indices[edges])
    return module("scipy.sparse").csr_matrix(
        (*entries, np.searchsorted(edges, graph.indptr)), shape=(graph.n, graph.n)
    )


class CoresNetworkx(NetworkxPeer):
    """``networkx.core_number``."""

    missing = 0

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Find them."""
        return self.networkx.core_number(self.graph)


class CoresIgraph(IgraphPeer):
    """``Graph.coreness``."""

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Find them."""
        return self.graph.coreness()


class CoresNetworkit(NetworkitPeer):
    """``centrality.CoreDecomposition``."""

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Find them."""
        return self.networkit.centrality.CoreDecomposition(self.graph).run()

    def values(self, answer: Any, given: int) -> NDArray[np.int64]:  # noqa: ARG002
        """Take the scores."""
        return np.asarray(answer.scores(), np.int64)


class TrussesNetworkx(NetworkxPeer):
    """``networkx.k_truss`` of what the k before left, until nothing is: it has no truss numbers."""

    limit_edges = 800_000  # some twenty seconds, where few edges are left after few k

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Find the trusses of all k."""
        trusses, left, k = [], self.graph, 3
        while left.number_of_edges():
            left = self.networkx.k_truss(left, k)
            trusses.append(left)
            k += 1
        return trusses

    def values(self, answer: Any, given: int) -> NDArray[np.int64]:  # noqa: ARG002
        """Count for each stored edge the trusses that it is in."""
        graph = self.given
        keys = row_ids(graph.indptr).astype(np.int64) * graph.n + graph.indices
        numbers = np.full(graph.m, 2, np.int64)
        for truss in answer:
            if truss.number_of_edges():
                ends = np.asarray(truss.edges(), np.int64)
                for sources, targets in (ends.T, ends.T[::-1]):
                    numbers[np.searchsorted(keys, sources * graph.n + targets)] += 1
        return numbers


CORES: dict[str, type[Peer]] = {
    "networkx": CoresNetworkx,
    "igraph": CoresIgraph,
    "networkit": CoresNetworkit,
}
TRUSSES: dict[str, type[Peer]] = {"networkx": TrussesNetworkx}
