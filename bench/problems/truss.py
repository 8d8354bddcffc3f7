"""Truss numbers of every edge as the runner measures them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clgraph import Truss, TrussConfig

from ..peers.truss import TRUSSES, truss_numbers
from ..runner.problem import Least, Problem, histogram_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from clgraph import Device

    from ..runner.graphs import Loaded
    from ..runner.records import Record

__all__ = ["PROBLEM", "EdgeTrusses"]

MOST_CHECKED = 1 << 20  # stored edges that sparse products check within some seconds
MOST_RECOUNTED = 1 << 24  # and those whose supports a GPU counts anew after each round


class EdgeTrusses(Problem):
    """`clgraph.Truss`, the numbers of all edges; triangles counted and listed each time.

    The graph is cleaned first, and peers get the cleaned one.
    """

    kind = "truss"
    presets = TrussConfig.presets()
    from_sources = False
    result = "numbers"
    peers = TRUSSES

    def __init__(self, loaded: Loaded, device: Device, config: str) -> None:
        super().__init__(loaded, device, config)
        self.plan = Truss(loaded.graph, config=config, device=device, clean=True)
        self.graph = self.plan.simple
        self.plan = Truss(self.graph, config=config, device=device)

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Find the truss numbers."""
        return self.plan.run(prepare=True)

    def count(self, result: Any, given: int) -> dict[str, float]:  # noqa: ARG002 (none needed)
        """Count edges, triangles, rounds, and triangles that rounds looked at."""
        return {
            "edges": self.graph.m,
            "triangles": result.stats.triangles,
            "rounds": len(result.stats.rounds),
            "visited": result.stats.visited,
        }

    def check(self, givens: Sequence[int]) -> Record:
        """Compare the numbers of all edges with those by sparse products, or in another way."""
        if self.graph.m <= MOST_CHECKED:
            against, expected = "scipy", truss_numbers(self.graph)
        else:
            against = "iterative" if self.graph.m <= MOST_RECOUNTED else "delta"
            other = Truss(self.graph, config=against, device=self.plan.device)
            expected = self.values(other.run())
        return self.compared(givens, expected, what="numbers", against=against)

    def least(self, columns: Mapping[str, NDArray[np.float64]]) -> Least:
        """Count each stored edge read once, a number written for it, and a barrier a round."""
        edges = columns["edges"]
        return Least(bytes=8.0 * edges + 4.0 * self.graph.n, barriers=columns["rounds"])

    def histogram(self, given: int) -> Record:
        """Count edges by truss number."""
        return histogram_of("edges by truss number", self.run(given).numbers)

    def decided(self) -> Record:
        """Give the configuration as decided."""
        return {**self.plan.config.as_dict(), "method": self.plan.method}


PROBLEM = EdgeTrusses
