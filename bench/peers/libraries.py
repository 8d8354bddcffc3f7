"""Graphs in the form of other libraries, for peers of every problem; each is imported on use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from clgraph.graph.modules import module

from .peer import Peer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from clgraph import Graph

__all__ = [
    "LIBRARIES",
    "CugraphPeer",
    "GraphblasPeer",
    "IgraphPeer",
    "NetworkitPeer",
    "NetworkxPeer",
    "ScipyPeer",
    "scipy_matrix",
]

LIBRARIES = {
    "scipy": "scipy",
    "networkx": "networkx",
    "igraph": "igraph",
    "networkit": "networkit",
    "graphblas": "python-graphblas",
    "cupy": "cupy",
    "cugraph": "cugraph",
}


def scipy_matrix(graph: Graph) -> Any:
    """Adjacency matrix as scipy's graph routines want it: float64 entries, or they convert it."""
    data = np.ones(graph.m) if graph.weights is None else graph.weights.astype(np.float64)
    shape = (graph.n, graph.n)
    return module("scipy.sparse").csr_matrix((data, graph.indices, graph.indptr), shape=shape)


class ScipyPeer(Peer):
    """``scipy.sparse.csgraph`` on float64 entries."""

    package = "scipy"

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.matrix = scipy_matrix(graph)
        self.csgraph = module("scipy.sparse.csgraph")


class NetworkxPeer(Peer):
    """``networkx`` graphs, dictionaries of dictionaries."""

    package = "networkx"
    limit_edges = 2_000_000
    missing: ClassVar[float] = 0.0  # value of a vertex that an answer has not

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.networkx = module("networkx")
        self.graph = (self.networkx.DiGraph if graph.directed else self.networkx.Graph)()
        self.graph.add_nodes_from(range(graph.n))
        sources, targets, weights = graph.listed_edges()
        ends = (sources.tolist(), targets.tolist())
        if weights is None:
            self.graph.add_edges_from(zip(*ends, strict=True))
        else:
            self.graph.add_weighted_edges_from(zip(*ends, weights.tolist(), strict=True))

    def values(self, answer: Any, given: int) -> Any:
        """Sort by vertex what is by vertex."""
        return self.spread(answer) if isinstance(answer, dict) else super().values(answer, given)

    def spread(self, found: Mapping[int, float]) -> NDArray[Any]:
        """Give values by vertex as an array [n]."""
        values = np.full(self.n, self.missing)
        values[list(found)] = list(found.values())
        return values


class IgraphPeer(Peer):
    """``igraph.Graph``."""

    package = "igraph"
    limit_edges = 50_000_000

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        sources, targets, weights = graph.listed_edges()
        edges = np.column_stack([sources, targets])
        self.graph = module("igraph").Graph(n=graph.n, edges=edges, directed=graph.directed)
        self.weights = None if weights is None else weights.tolist()


class NetworkitPeer(Peer):
    """``networkit.Graph``, built from coordinates."""

    package = "networkit"

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.networkit = module("networkit")
        sources, targets, weights = graph.listed_edges()
        ends = (sources.astype(np.uint64), targets.astype(np.uint64))
        entries = ends if weights is None else (weights.astype(np.float64), ends)
        self.graph = self.networkit.GraphFromCoo(
            entries, n=graph.n, directed=graph.directed, weighted=weights is not None
        )

    def values(self, answer: Any, given: int) -> Any:
        """Take the scores, where they stayed inside."""
        inside = hasattr(answer, "scores")
        return super().values(answer.scores() if inside else answer, given)

    def lengths(self, done: Any, missing: float) -> NDArray[Any]:
        """Copy the distances of a search [n]; to it the largest double means no path."""
        found = np.asarray(done.getDistances())
        return np.where(found < np.finfo(np.float64).max, found, missing)


class GraphblasPeer(Peer):
    """``graphblas.Matrix`` of SuiteSparse:GraphBLAS, rows by source."""

    package = "python-graphblas"

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.graphblas = module("graphblas", install="python-graphblas")
        weights = np.ones(graph.m, bool) if graph.weights is None else graph.weights
        self.matrix = self.graphblas.Matrix.from_csr(
            graph.indptr.astype(np.uint64),
            graph.indices.astype(np.uint64),
            weights,
            ncols=graph.n,
        )


class CugraphPeer(Peer):
    """``cugraph.Graph`` on the same card, from a data frame of edges."""

    package = "cugraph"

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        cudf, self.cugraph = module("cudf"), module("cugraph")
        sources = np.repeat(np.arange(graph.n, dtype=np.int32), graph.degrees)
        columns = {"source": sources, "target": graph.indices}
        names: dict[str, Any] = {"renumber": False}
        if graph.weights is not None:
            columns["weight"] = graph.weights.astype(np.float32)
            names["edge_attr"] = "weight"
        self.graph = self.cugraph.Graph(directed=True)
        self.graph.from_cudf_edgelist(cudf.DataFrame(columns), "source", "target", **names)

    def column(self, frame: Any, name: str) -> NDArray[Any]:
        """Copy a column, by vertex [n]."""
        found = frame[name].to_numpy()
        values = np.empty(self.n, found.dtype)
        values[frame["vertex"].to_numpy()] = found
        return values
