"""Weights of minimum spanning forests by other libraries; of equal edges they may take others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.graph.csr import row_ids

from .libraries import IgraphPeer, NetworkitPeer, NetworkxPeer, ScipyPeer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph import Graph

    from .peer import Peer

__all__ = ["FORESTS", "forest_weight"]


class ForestScipy(ScipyPeer):
    """``minimum_spanning_tree``; to it an entry of 0 is no edge, so all are raised by 1."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.matrix = self.matrix.copy()
        straight = row_ids(graph.indptr) != graph.indices
        self.matrix.data += 1.0
        self.matrix.data[~straight] = 0.0
        self.matrix.eliminate_zeros()

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Find one."""
        return self.csgraph.minimum_spanning_tree(self.matrix)

    def values(self, answer: Any, given: int) -> NDArray[np.float64]:  # noqa: ARG002
        """Add up its weights, without what they were raised by."""
        return np.array([answer.sum() - answer.nnz])


def forest_weight(graph: Graph) -> NDArray[np.float64]:
    """Weight of a minimum spanning forest [1], by scipy, to check others against."""
    peer = ForestScipy(graph)
    return peer.values(peer.run(0), 0)


class ForestNetworkx(NetworkxPeer):
    """``minimum_spanning_edges``."""

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """List the edges."""
        return list(self.networkx.minimum_spanning_edges(self.graph, data=True))

    def values(self, answer: Any, given: int) -> NDArray[np.float64]:  # noqa: ARG002
        """Add up their weights."""
        return np.array([float(sum(data.get("weight", 1) for *_, data in answer))])


class ForestIgraph(IgraphPeer):
    """``Graph.spanning_tree``."""

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """List the edges."""
        return self.graph.spanning_tree(weights=self.weights, return_tree=False)

    def values(self, answer: Any, given: int) -> NDArray[np.float64]:  # noqa: ARG002
        """Add up their weights."""
        if self.weights is None:
            return np.array([float(len(answer))])
        return np.array([float(np.asarray(self.weights, np.float64)[answer].sum())])


class ForestNetworkit(NetworkitPeer):
    """``graph.KruskalMSF``."""

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Find one; it stays inside."""
        return self.networkit.graph.KruskalMSF(self.graph).run()

    def values(self, answer: Any, given: int) -> NDArray[np.float64]:  # noqa: ARG002
        """Add up its weights."""
        return np.array([float(answer.getTotalWeight())])


FORESTS: dict[str, type[Peer]] = {
    "scipy": ForestScipy,
    "networkx": ForestNetworkx,
    "igraph": ForestIgraph,
    "networkit": ForestNetworkit,
}
