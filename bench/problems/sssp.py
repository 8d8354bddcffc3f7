"""Shortest paths as the runner measures them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph import SSSP, SSSPConfig
from clgraph.graph.modules import module

from ..peers.libraries import scipy_matrix
from ..peers.sssp import PEERS
from ..runner.problem import Least, Problem, refuse_differences
from .bfs import EdgeCounts, profile_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    import clgraph
    from clgraph import Device

    from ..runner.graphs import Loaded
    from ..runner.records import Record

__all__ = ["PROBLEM", "ShortestPaths"]


class ShortestPaths(Problem):
    """`clgraph.SSSP` from drawn sources."""

    kind = "sssp"
    presets = SSSPConfig.presets()
    weighted = True
    peers = PEERS

    def __init__(self, loaded: Loaded, device: Device, config: str) -> None:
        super().__init__(loaded, device, config)
        self.plan = SSSP(loaded.graph, config=config, device=device)
        self._edges = EdgeCounts(loaded.graph)

    def count(self, result: clgraph.SSSPResult, given: int) -> dict[str, float]:
        """Stages, reached vertices, their out-edges, and edges looked at."""
        inside = np.isfinite(self.values(result))
        return {
            "rounds": result.stats.levels,
            "reached": int(np.count_nonzero(inside)),
            "edges": self._edges.of(inside, given),
            "relaxations": result.stats.relaxations,
        }

    def values(self, result: clgraph.SSSPResult) -> NDArray[np.float64]:
        """Give distances as float64, infinity for no path."""
        found = result.distances
        if found.dtype.kind == "f":
            return found.astype(np.float64)
        return np.where(found == np.iinfo(found.dtype).max, np.inf, found)

    def check(self, givens: Sequence[int]) -> Record:
        """Compare whole results with scipy's."""
        dijkstra = module("scipy.sparse.csgraph").dijkstra
        matrix = scipy_matrix(self.graph)
        for source in givens:
            refuse_differences(
                self.values(self.run(source)),
                dijkstra(matrix, directed=True, indices=source),
                what=f"distances from {source}",
                against="scipy",
            )
        return {"sources": list(givens), "against": "scipy"}

    def least(self, columns: Mapping[str, NDArray[np.float64]]) -> Least:
        """Count a distance per vertex, and the row and every edge with weight of each reached one.

        Without negative weights every edge out of a reached vertex must be looked at once, as any
        may be the shorter way. Nothing must be waited for: distances may fall in any order.
        """
        n, reached, edges = self.graph.n, columns["reached"], columns["edges"]
        width = 4.0 + (self.graph.weights.itemsize if self.graph.weights is not None else 0)
        return Least(bytes=4.0 * (n + reached) + width * edges, barriers=0.0 * reached)

    def profile(self, given: int) -> Record:
        """Stages of one search; neighbouring ones of a long one are added up."""
        return profile_of(self.run(given), given)


PROBLEM = ShortestPaths
