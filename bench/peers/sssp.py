"""Shortest paths by other libraries; distances are compared as float64, infinity unreached."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .libraries import (
    CugraphPeer,
    GraphblasPeer,
    IgraphPeer,
    NetworkitPeer,
    NetworkxPeer,
    ScipyPeer,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .peer import Peer

__all__ = ["PEERS"]


class Scipy(ScipyPeer):
    """``dijkstra``."""

    def run(self, given: int) -> Any:
        """Distances."""
        return self.csgraph.dijkstra(self.matrix, directed=True, indices=given)


class Networkx(NetworkxPeer):
    """``single_source_dijkstra_path_length``."""

    missing = np.inf

    def run(self, given: int) -> Any:
        """Lengths by vertex."""
        return self.networkx.single_source_dijkstra_path_length(self.graph, given)


class Igraph(IgraphPeer):
    """``Graph.distances`` by Dijkstra's algorithm."""

    def run(self, given: int) -> Any:
        """Distances as a list of lists."""
        return self.graph.distances(given, weights=self.weights, algorithm="dijkstra")

    def values(self, answer: Any, given: int) -> NDArray[Any]:  # noqa: ARG002 (it is in there)
        """Take the one row."""
        return np.asarray(answer[0], float)


class Networkit(NetworkitPeer):
    """``distance.Dijkstra`` without paths."""

    def run(self, given: int) -> Any:
        """Run it; distances stay inside."""
        return self.networkit.distance.Dijkstra(self.graph, given, storePaths=False).run()

    def values(self, answer: Any, given: int) -> NDArray[Any]:  # noqa: ARG002 (it is in there)
        """Copy them."""
        return self.lengths(answer, np.inf)


class Graphblas(GraphblasPeer):
    """Bellman-Ford in the semiring of minimum and plus, on the distances that fell."""

    def run(self, given: int) -> Any:
        """Distances as a vector."""
        blas = self.graphblas
        distances = blas.Vector(self.matrix.dtype, self.n)
        distances[given] = 0
        changed = distances.dup()
        while changed.nvals:
            offers = changed.vxm(self.matrix, blas.semiring.min_plus).new()
            shorter = offers.ewise_mult(distances, blas.binary.lt).new()
            nearer = offers.dup(mask=shorter.V)
            new = offers.dup(mask=~distances.S)
            changed = nearer.ewise_add(new, blas.monoid.min).new()
            distances(blas.binary.min) << changed
        return distances

    def values(self, answer: Any, given: int) -> NDArray[Any]:  # noqa: ARG002 (it is in there)
        """Fill what the vector leaves out."""
        found = np.full(self.n, np.inf)
        places, lengths = answer.to_coo()
        found[places] = lengths
        return found


class Cugraph(CugraphPeer):
    """``cugraph.sssp``."""

    def run(self, given: int) -> Any:
        """Give a data frame of distances and predecessors."""
        return self.cugraph.sssp(self.graph, given)

    def values(self, answer: Any, given: int) -> NDArray[Any]:  # noqa: ARG002 (it is in there)
        """Copy the distances; the largest float means no path."""
        found = self.column(answer, "distance")
        return np.where(found > np.finfo(np.float32).max / 2, np.inf, found)


PEERS: dict[str, type[Peer]] = {
    "scipy": Scipy,
    "networkx": Networkx,
    "igraph": Igraph,
    "networkit": Networkit,
    "graphblas": Graphblas,
    "cugraph": Cugraph,
}
