"""Label propagation (CDLP) as the runner measures it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph import CommunitiesConfig, LabelPropagation
from clgraph.algorithms.communities.propagation import host_round

from ..peers.communities import PROPAGATED
from ..runner.problem import Least, Problem, refuse_differences

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from clgraph import Device

    from ..runner.graphs import Loaded
    from ..runner.records import Record

__all__ = ["PROBLEM", "Propagation"]

ROUNDS = 10  # as Graphalytics has them


class Propagation(Problem):
    """`clgraph.LabelPropagation`, ten rounds."""

    kind = "propagation"
    from_sources = False
    result = "labels"
    peers = PROPAGATED

    def __init__(self, loaded: Loaded, device: Device, config: str) -> None:
        super().__init__(loaded, device, config)
        self.plan = LabelPropagation(
            loaded.graph, config=CommunitiesConfig.of(config), device=device
        )

    @classmethod
    def presets(cls) -> tuple[str, ...]:
        """Names of the configurations that every device has."""
        return ("auto", "local", "global")

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Propagate labels."""
        return self.plan.run(ROUNDS)

    def count(self, result: Any, given: int) -> dict[str, float]:  # noqa: ARG002 (none needed)
        """Count the edges that rounds looked at, rounds and labels."""
        rounds = len(result.stats.levels)
        ways = 2 if self.graph.directed else 1
        return {
            "edges": rounds * ways * self.graph.m,
            "rounds": rounds,
            "communities": result.count,
        }

    def check(self, givens: Sequence[int]) -> Record:
        """Compare labels with those of NumPy."""
        expected = np.arange(self.graph.n, dtype=np.uint32)
        for _ in range(ROUNDS):
            expected = host_round(self.graph, expected)
        for given in givens:
            found = self.values(self.run(given))
            refuse_differences(found, expected, what="labels", against="NumPy")
        return {"against": "numpy"}

    def least(self, columns: Mapping[str, NDArray[np.float64]]) -> Least:
        """Count each edge and the label at its end read, and labels written, every round."""
        rounds = columns["rounds"]
        return Least(
            bytes=8.0 * columns["edges"] + 8.0 * self.graph.n * rounds, barriers=rounds - 1.0
        )

    def describe(self) -> Record:
        """Give the configuration as asked, and the hash of a round."""
        return {"config": self.plan.config.as_dict(), "source_hash": self.plan.source_hash}


PROBLEM = Propagation
