"""Maximal independent sets as the runner measures them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clgraph import IndependentSet

from ..peers.structure import INDEPENDENT_SETS, set_fault
from ..runner.judged import Seeded
from ..runner.problem import Least

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from clgraph import Device

    from ..runner.graphs import Loaded

__all__ = ["PROBLEM", "MaximalSets"]


class MaximalSets(Seeded):
    """`clgraph.IndependentSet` of the graph without directions; the repeat is the seed."""

    kind = "independent-set"
    result = "mask"
    peers = INDEPENDENT_SETS

    def __init__(self, loaded: Loaded, device: Device, config: str) -> None:
        super().__init__(loaded, device, config)
        self.plan = IndependentSet(self.graph, device=device)

    def count(self, result: Any, given: int) -> dict[str, float]:  # noqa: ARG002 (none needed)
        """Count edges, vertices of the set and rounds."""
        return {
            "edges": self.graph.m,
            "chosen": result.count,
            "rounds": len(result.stats.rounds),
        }

    def fault(self, values: NDArray[Any]) -> str:
        """See that no edge lies within the set, and that no vertex could be added."""
        return set_fault(self.graph, values)

    def least(self, columns: Mapping[str, NDArray[np.float64]]) -> Least:
        """Count each row's start and a byte a vertex: most edges need not be looked at."""
        edges = columns["edges"]
        return Least(bytes=0.0 * edges + 9.0 * self.graph.n, barriers=columns["rounds"])


PROBLEM = MaximalSets
