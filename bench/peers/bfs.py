"""Breadth-first searches by other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.graph.modules import module

from .libraries import (
    CugraphPeer,
    GraphblasPeer,
    IgraphPeer,
    NetworkitPeer,
    NetworkxPeer,
    ScipyPeer,
    scipy_matrix,
)
from .peer import Peer
from .reference import depths_of_tree

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from clgraph import Graph

__all__ = ["PEERS"]


class Scipy(ScipyPeer):
    """``breadth_first_order``."""

    def run(self, given: int) -> Any:
        """Order and predecessors."""
        return self.csgraph.breadth_first_order(self.matrix, given, directed=True)

    def values(self, answer: Any, given: int) -> NDArray[Any]:
        """Follow the tree."""
        order, parents = answer
        return depths_of_tree(order, parents, given)


class Networkx(NetworkxPeer):
    """``single_source_shortest_path_length``."""

    missing = -1

    def run(self, given: int) -> Any:
        """Lengths by vertex."""
        return self.networkx.single_source_shortest_path_length(self.graph, given)


class Igraph(IgraphPeer):
    """``Graph.bfs``: vertices in order, and where each level starts."""

    def run(self, given: int) -> Any:
        """Vertices, starts of levels and parents."""
        return self.graph.bfs(given, mode="out")

    def values(self, answer: Any, given: int) -> NDArray[Any]:
        """Give each level its number."""
        vertices, starts, _ = answer
        found = np.full(self.n, -1, np.int32)
        found[vertices] = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        found[given] = 0
        return found


class Networkit(NetworkitPeer):
    """``distance.BFS`` without paths."""

    def run(self, given: int) -> Any:
        """Run it; distances stay inside."""
        return self.networkit.distance.BFS(self.graph, given, storePaths=False).run()

    def values(self, answer: Any, given: int) -> NDArray[Any]:  # noqa: ARG002 (it is in there)
        """Copy them."""
        return self.lengths(answer, -1)


class Graphblas(GraphblasPeer):
    """A frontier times the matrix, masked by what is visited: the search of LAGraph's tutorials.

    SuiteSparse:GraphBLAS picks push or pull and a sparse or full frontier itself, and uses all
    processors; LAGraph's own compiled search is not part of the Python package.
    """

    def run(self, given: int) -> Any:
        """Levels as a vector."""
        blas = self.graphblas
        levels = blas.Vector(int, self.n)
        frontier = blas.Vector(bool, self.n)
        frontier[given] = True
        depth = 0
        while frontier.nvals:
            levels(frontier.S)[:] << depth
            frontier(~levels.S, replace=True) << frontier.vxm(
                self.matrix, blas.semiring.any_pair[bool]
            )
            depth += 1
        return levels

    def values(self, answer: Any, given: int) -> NDArray[Any]:  # noqa: ARG002 (it is in there)
        """Fill what the vector leaves out."""
        return np.asarray(answer.to_dense(fill_value=-1))


class Cupy(Peer):
    """What one writes with ``cupy`` alone: a sparse matrix times a dense frontier, level by level.

    Deep graphs cost a product with the whole matrix per level, so it stops after 200.
    """

    package = "cupy"
    most_levels = 200

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self._cupy = module("cupy")
        sparse = module("cupyx.scipy.sparse")
        matrix = scipy_matrix(graph).astype(np.float32)
        self._into = sparse.csr_matrix(matrix.T.tocsr() if graph.directed else matrix)

    def run(self, given: int) -> Any:
        """Distances on the card, or None where there are too many levels."""
        cupy = self._cupy
        distances = cupy.full(self.n, -1, cupy.int32)
        distances[given] = 0
        frontier = cupy.zeros(self.n, cupy.float32)
        frontier[given] = 1
        for depth in range(1, self.most_levels):
            new = ((self._into @ frontier) > 0) & (distances < 0)
            distances[new] = depth
            if not bool(new.any()):  # waits for the card
                return distances
            frontier = new.astype(cupy.float32)
        return None

    def complaint(self, answer: Any, given: int, wanted: Any, counts: Mapping[str, float]) -> str:
        """Say so where it gave up."""
        if answer is None:
            return f"more than {self.most_levels} levels, a product with the whole matrix each"
        return super().complaint(answer, given, wanted, counts)

    def values(self, answer: Any, given: int) -> NDArray[Any]:  # noqa: ARG002 (it is in there)
        """Copy them to the host."""
        return np.asarray(answer.get())


class Cugraph(CugraphPeer):
    """``cugraph.bfs``."""

    def run(self, given: int) -> Any:
        """Give a data frame of distances and predecessors."""
        return self.cugraph.bfs(self.graph, given)

    def values(self, answer: Any, given: int) -> NDArray[Any]:  # noqa: ARG002 (it is in there)
        """Copy the distances; the largest integer means no path."""
        found = self.column(answer, "distance")
        return np.where(found > self.n, -1, found)


PEERS: dict[str, type[Peer]] = {
    "scipy": Scipy,
    "networkx": Networkx,
    "igraph": Igraph,
    "networkit": Networkit,
    "graphblas": Graphblas,
    "cupy": Cupy,
    "cugraph": Cugraph,
}
