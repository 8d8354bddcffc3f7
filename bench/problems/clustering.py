"""Local clustering (LCC) as the runner measures it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clgraph.algorithms.triangles.clustering import closed_shares

from ..peers.libraries import IgraphPeer, NetworkitPeer, NetworkxPeer
from ..peers.triangles import triangles_of_vertices
from .triangles import VertexTriangles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..runner.records import Record

__all__ = ["PROBLEM", "LocalClustering"]


class ClusteringNetworkx(NetworkxPeer):
    """``networkx.clustering``."""

    limit_edges = 500_000

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Compute it."""
        return self.networkx.clustering(self.graph)


class ClusteringIgraph(IgraphPeer):
    """``Graph.transitivity_local_undirected``."""

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Compute it."""
        return self.graph.transitivity_local_undirected(mode="zero")


class ClusteringNetworkit(NetworkitPeer):
    """``centrality.LocalClusteringCoefficient``, in its fast way."""

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Compute it."""
        return self.networkit.centrality.LocalClusteringCoefficient(self.graph, True).run()


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
        return self.compared(givens, expected, what="coefficients", against=name, at=vertices)


PROBLEM = LocalClustering
