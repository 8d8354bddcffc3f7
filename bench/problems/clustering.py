"""Local clustering (LCC) as the runner measures it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.triangles.clustering import closed_shares

from ..peers.libraries import IgraphPeer, NetworkitPeer, NetworkxPeer
from ..peers.triangles import triangles_of_vertices
from ..runner.problem import refuse_differences
from .triangles import VertexTriangles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ..runner.records import Record

__all__ = ["PROBLEM", "LocalClustering"]


class ClusteringNetworkx(NetworkxPeer):
    """``networkx.clustering``."""

    limit_edges = 500_000

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Compute it."""
        return self.networkx.clustering(self.graph)

    def values(self, answer: Any, given: int) -> NDArray[Any]:  # noqa: ARG002
        """Sort by vertex."""
        return self.spread(answer, 0.0)


class ClusteringIgraph(IgraphPeer):
    """``Graph.transitivity_local_undirected``."""

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Compute it."""
        return self.graph.transitivity_local_undirected(mode="zero")

    def values(self, answer: Any, given: int) -> NDArray[Any]:  # noqa: ARG002
        """Take it."""
        return np.asarray(answer)


class ClusteringNetworkit(NetworkitPeer):
    """``centrality.LocalClusteringCoefficient``, in its fast way."""

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Compute it."""
        return self.networkit.centrality.LocalClusteringCoefficient(self.graph, True).run()

    def values(self, answer: Any, given: int) -> NDArray[Any]:  # noqa: ARG002
        """Take it."""
        return np.asarray(answer.scores())


class LocalClustering(VertexTriangles):
    """Triangles of each vertex over its pairs of neighbours; of undirected, cleaned graphs."""

    kind = "clustering"
    peers = {  # noqa: RUF012
        "networkx": ClusteringNetworkx,
        "igraph": ClusteringIgraph,
        "networkit": ClusteringNetworkit,
    }

    def values(self, result: Any) -> Any:
        """Give the shares of closed pairs."""
        return closed_shares(self.graph.degrees, result.values)

    def check(self, givens: Sequence[int]) -> Record:
        """Compare the clustering of vertices with that by another's count of triangles."""
        vertices, counts, name = triangles_of_vertices(self.graph)
        expected = closed_shares(self.graph.degrees[vertices], counts)
        for given in givens:
            found = self.values(self.run(given))[vertices]
            refuse_differences(found, expected, what="coefficients", against=name)
        return {"against": name}


PROBLEM = LocalClustering
