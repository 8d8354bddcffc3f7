"""Core numbers of every vertex as the runner measures them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph import Cores, CoresConfig

from ..peers.truss import CORES, core_numbers
from ..runner.problem import Least, Problem, refuse_differences

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
    from_sources = False
    result = "numbers"
    peers = CORES

    def __init__(self, loaded: Loaded, device: Device, config: str) -> None:
        super().__init__(loaded, device, config)
        self.plan = Cores(loaded.graph, config=config, device=device, clean=True)
        self.graph = self.plan.simple

    @classmethod
    def presets(cls) -> tuple[str, ...]:
        """Names of the configurations there are."""
        return CoresConfig.presets()

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Find the core numbers."""
        return self.plan.run()

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
        for given in givens:
            refuse_differences(
                self.values(self.run(given)), expected, what="numbers", against="numpy"
            )
        return {"against": "numpy"}

    def least(self, columns: Mapping[str, NDArray[np.float64]]) -> Least:
        """Count each stored edge and row's start read once, a number written, a barrier a round."""
        edges = columns["edges"]
        return Least(bytes=4.0 * edges + 12.0 * self.graph.n, barriers=columns["rounds"])

    def histogram(self, given: int) -> Record:
        """Count vertices by core number."""
        values, counts = np.unique(np.asarray(self.run(given).numbers), return_counts=True)
        return {
            "what": "vertices by core number",
            "values": values.tolist(),
            "counts": counts.tolist(),
        }


PROBLEM = VertexCores
