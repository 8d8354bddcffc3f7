"""PageRank by other libraries, all to the same tolerance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .libraries import IgraphPeer, NetworkitPeer, NetworkxPeer, ScipyPeer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph import Graph

    from .peer import Peer

__all__ = ["ALPHA", "MOST_ITERATIONS", "RANKS", "RULED", "TOLERANCE", "ranks_of"]

ALPHA, TOLERANCE, MOST_ITERATIONS = 0.85, 1e-10, 500


class RanksScipy(ScipyPeer):
    """What one writes with ``scipy.sparse``: products with the transposed matrix."""

    most, tolerance, keeps = MOST_ITERATIONS, TOLERANCE, True

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        out = np.asarray(self.matrix.sum(axis=1)).ravel()
        self.share = np.divide(1.0, out, out=np.zeros(graph.n), where=out > 0)
        self.pulled = self.matrix.T.tocsr()

    def run(self, given: int) -> NDArray[np.float64]:  # noqa: ARG002 (the whole graph each time)
        """Iterate until nothing changes by more than the tolerance."""
        n, share = self.n, self.share
        x = np.full(n, 1 / max(n, 1))
        for _ in range(self.most):
            before = x
            held = x[share == 0].sum() if self.keeps else 0.0
            x = ALPHA * (self.pulled @ (x * share) + held / n) + (1 - ALPHA) / n
            if np.abs(x - before).sum() < self.tolerance:
                break
        return x

    def values(self, answer: Any, given: int) -> Any:  # noqa: ARG002
        """Give shares of a vertex's mean."""
        return answer * self.n


def ranks_of(graph: Graph) -> NDArray[np.float64]:
    """PageRank of each vertex times their number, by scipy, to check others against."""
    peer = RanksScipy(graph)
    found: NDArray[np.float64] = peer.values(peer.run(0), 0)
    return found


class RanksNetworkx(NetworkxPeer):
    """``networkx.pagerank``; its tolerance is per vertex."""

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Rank them."""
        tol = TOLERANCE / max(self.n, 1)
        return self.networkx.pagerank(self.graph, alpha=ALPHA, tol=tol, max_iter=MOST_ITERATIONS)

    def values(self, answer: Any, given: int) -> Any:  # noqa: ARG002
        """Sort by vertex."""
        return self.spread(answer) * self.n


class RanksIgraph(IgraphPeer):
    """``Graph.pagerank``, which solves a linear system by its own method."""

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Rank them."""
        return self.graph.pagerank(damping=ALPHA, weights=self.weights)

    def values(self, answer: Any, given: int) -> Any:  # noqa: ARG002
        """Give shares of a vertex's mean."""
        return np.array(answer) * self.n


class RanksNetworkit(NetworkitPeer):
    """``centrality.PageRank``, normalised and with sinks that give to all."""

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Rank them; scores stay inside."""
        centrality = self.networkit.centrality
        done = centrality.PageRank(
            self.graph,
            damp=ALPHA,
            tol=TOLERANCE,
            distributeSinks=centrality.SinkHandling.DistributeSinks,
        )
        return done.run()

    def values(self, answer: Any, given: int) -> Any:  # noqa: ARG002
        """Bring the sum to the number of vertices."""
        found = np.asarray(answer.scores())
        return found / found.sum() * self.n


class GapScipy(RanksScipy):
    """The same by the GAP suite's rule: rank of vertices without successors gets lost."""

    tolerance, keeps = 1e-4, False


class GraphalyticsScipy(RanksScipy):
    """Ten iterations."""

    most, tolerance = 10, 0.0


class GraphalyticsNetworkit(RanksNetworkit):
    """Ten iterations of networkit's."""

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Rank them; scores stay inside."""
        centrality = self.networkit.centrality
        sinks = centrality.SinkHandling.DistributeSinks
        done = centrality.PageRank(self.graph, damp=ALPHA, tol=0.0, distributeSinks=sinks)
        done.maxIterations = GraphalyticsScipy.most
        return done.run()


RANKS: dict[str, type[Peer]] = {
    "scipy": RanksScipy,
    "networkx": RanksNetworkx,
    "igraph": RanksIgraph,
    "networkit": RanksNetworkit,
}
# By the rules of suites, which know no weights: where a library has no such rule, it is not there.
RULED: dict[str, dict[str, type[Peer]]] = {
    "gap": {"scipy": GapScipy},
    "graphalytics": {"scipy": GraphalyticsScipy, "networkit": GraphalyticsNetworkit},
}
