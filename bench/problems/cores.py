"""Core numbers of every vertex as the runner measures them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clgraph import Cores, CoresConfig

from ..peers.truss import CORES, core_numbers
from ..runner.problem import Least, Problem, histogram_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from clgraph import Device

    from ..runner.graphs import Loaded
    from ..runner.records import Record

__all__ = ["PROBLEM", "VertexCores"]


class VertexCores(Problem):
    """`clgraph.Cores`, the numbers of all vertices.

    The graph is cleaned first, and peers get the cleaned one.
    """

    kind = "cores"
    presets = CoresConfig.presets()
    from_sources = False
    result = "numbers"
    peers = CORES

    def __init__(self, loaded: Loaded, device: Device, config: str) -> None:
        super().__init__(loaded, device, config)
        self.plan = Cores(loaded.graph, config=config, device=device, clean=True)
        self.graph = self.plan.simple

    def count(self, result: Any, given: int) -> dict[str, float]:  # noqa: ARG002 (none needed)
        """Count edges, rounds, and edges that rounds looked at."""
        return {
            "edges": self.graph.m,
            "rounds": len(result.stats.rounds),
            "visited": result.stats.visited,
        }

    def check(self, givens: Sequence[int]) -> Record:
        """Compare the numbers of all vertices with those by numpy, round by round."""
        expected = core_numbers(self.graph)
        return self.compared(givens, expected, what="numbers", against="numpy")

    def least(self, columns: Mapping[str, NDArray[np.float64]]) -> Least:
        """Count each stored edge and row's start read once, a number written, a barrier a round."""
        edges = columns["edges"]
        return Least(bytes=4.0 * edges + 12.0 * self.graph.n, barriers=columns["rounds"])

    def histogram(self, given: int) -> Record:
        """Count vertices by core number."""
        return histogram_of("vertices by core number", self.run(given).numbers)


PROBLEM = VertexCores
