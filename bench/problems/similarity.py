"""Jaccard similarity of all edges as the runner measures it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph import Similarity, SimilarityConfig
from clgraph.algorithms.similarity.plan import scored
from clgraph.algorithms.triangles.simple import cleaned
from clgraph.graph.csr import row_ids

from ..peers.libraries import IgraphPeer, NetworkxPeer, scipy_matrix
from ..runner.problem import Least, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from clgraph import Device, Graph

    from ..runner.graphs import Loaded
    from ..runner.records import Record

__all__ = ["PROBLEM", "EdgeSimilarity"]


def jaccard_by_scipy(graph: Graph) -> NDArray[np.float64]:
    """Similarity of the ends of each stored edge by the square of the matrix."""
    matrix = scipy_matrix(graph)
    matrix.data[:] = 1.0
    sources, targets = row_ids(np.asarray(graph.indptr)), np.asarray(graph.indices)
    common = np.asarray((matrix @ matrix.T).tocsr()[sources, targets]).ravel()
    return scored(graph.degrees, sources, targets, common.astype(np.uint32), "jaccard")


class _Listed:
    """Pairs of all stored edges."""

    pairs: list[tuple[int, int]]

    def list_pairs(self, graph: Graph) -> None:
        ends = (row_ids(np.asarray(graph.indptr)).tolist(), graph.indices.tolist())
        self.pairs = list(zip(*ends, strict=True))


class JaccardIgraph(_Listed, IgraphPeer):
    """``Graph.similarity_jaccard`` of pairs."""

    limit_edges = 5_000_000

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.list_pairs(graph)

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Compute them."""
        return self.graph.similarity_jaccard(pairs=self.pairs, loops=False)


class JaccardNetworkx(_Listed, NetworkxPeer):
    """``networkx.jaccard_coefficient``."""

    limit_edges = 500_000

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.list_pairs(graph)

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Compute them."""
        found = self.networkx.jaccard_coefficient(self.graph, self.pairs)
        return [value for _, _, value in found]


class EdgeSimilarity(Problem):
    """`clgraph.Similarity` of all edges; the graph is cleaned first, and peers get that."""

    kind = "similarity"
    presets = SimilarityConfig.presets()
    from_sources = False
    result = "values"
    peers = {"igraph": JaccardIgraph, "networkx": JaccardNetworkx}  # noqa: RUF012

    def __init__(self, loaded: Loaded, device: Device, config: str) -> None:
        super().__init__(loaded, device, config)
        self.graph = cleaned(loaded.graph)
        self.plan = Similarity(self.graph, config=config, device=device)

    def count(self, result: Any, given: int) -> dict[str, float]:  # noqa: ARG002 (none needed)
        """Count edges and common neighbours."""
        return {"edges": self.graph.m, "common": int(result.common.sum(dtype=np.int64))}

    def check(self, givens: Sequence[int]) -> Record:
        """Compare all similarities with scipy's."""
        expected = jaccard_by_scipy(self.graph)
        return self.compared(givens, expected, what="similarities", against="scipy")

    def least(self, columns: Mapping[str, NDArray[np.float64]]) -> Least:
        """Count each stored edge and row's start read once, and a count written per edge."""
        edges = columns["edges"]
        return Least(bytes=8.0 * edges + 8.0 * self.graph.n, barriers=0.0 * edges)


PROBLEM = EdgeSimilarity
