"""Maximal independent sets as the runner measures them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph import IndependentSet
from clgraph.algorithms.triangles.simple import cleaned
from clgraph.errors import VerificationError

from ..peers.structure import INDEPENDENT_SETS, set_fault
from ..runner.problem import Least, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from clgraph import Device

    from ..runner.graphs import Loaded
    from ..runner.records import Record

__all__ = ["PROBLEM", "MaximalSets"]


class MaximalSets(Problem):
    """`clgraph.IndependentSet` of the graph without directions; the repeat is the seed."""

    kind = "independent-set"
    from_sources = False
    result = "mask"
    peers = INDEPENDENT_SETS

    def __init__(self, loaded: Loaded, device: Device, config: str) -> None:
        super().__init__(loaded, device, config)
        self.graph = cleaned(loaded.graph)
        self.plan = IndependentSet(self.graph, device=device)

    @classmethod
    def presets(cls) -> tuple[str, ...]:
        """There is one way."""
        return ("auto",)

    def run(self, given: int) -> Any:
        """Choose vertices."""
        return self.plan.run(given)

    def count(self, result: Any, given: int) -> dict[str, float]:  # noqa: ARG002 (none needed)
        """Count edges, vertices of the set and rounds."""
        return {
            "edges": self.graph.m,
            "chosen": result.count,
            "rounds": len(result.stats.rounds),
        }

    def check(self, givens: Sequence[int]) -> Record:
        """See that no edge lies within the set, and that no vertex could be added.

        Raises
        ------
        VerificationError
            If that is not so.
        """
        for given in givens:
            fault = set_fault(self.graph, np.asarray(self.values(self.run(given))))
            if fault:
                raise VerificationError(f"not what a maximal independent set is: {fault}.")
        return {"against": "its definition"}

    def least(self, columns: Mapping[str, NDArray[np.float64]]) -> Least:
        """Count each row's start and a byte a vertex: most edges need not be looked at."""
        edges = columns["edges"]
        return Least(bytes=0.0 * edges + 9.0 * self.graph.n, barriers=columns["rounds"])

    def describe(self) -> Record:
        """Give the configuration as decided, and the hash of what chooses."""
        return {"config": self.plan.config, "source_hash": self.plan.source_hash}


PROBLEM = MaximalSets
