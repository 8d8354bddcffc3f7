"""Minimum spanning forests as the runner measures them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph import SpanningForest, SpanningForestConfig

from ..peers.spanning_forest import FORESTS, forest_weight
from ..runner.problem import Least, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from clgraph import Device

    from ..runner.graphs import Loaded
    from ..runner.records import Record

__all__ = ["PROBLEM", "Forests"]


class Forests(Problem):
    """`clgraph.SpanningForest` of the undirected graph; what is compared is its weight."""

    kind = "spanning-forest"
    presets = SpanningForestConfig.presets()
    weighted = True
    from_sources = False
    result = "weight"
    peers = FORESTS

    def __init__(self, loaded: Loaded, device: Device, config: str) -> None:
        super().__init__(loaded, device, config)
        self.graph = loaded.graph.symmetrized()
        self.plan = SpanningForest(self.graph, config=config, device=device)

    def values(self, result: Any) -> Any:
        """Give the weight [1]."""
        return np.array([float(result.weight)])

    def count(self, result: Any, given: int) -> dict[str, float]:  # noqa: ARG002 (none needed)
        """Count edges, rounds and trees."""
        return {
            "edges": self.graph.m,
            "rounds": result.stats.levels,
            "components": result.count,
        }

    def check(self, givens: Sequence[int]) -> Record:
        """Compare weights with scipy's."""
        expected = forest_weight(self.graph)
        return self.compared(givens, expected, what="weights", against="scipy")

    def least(self, columns: Mapping[str, NDArray[np.float64]]) -> Least:
        """Count a target and a weight read per edge, a label and an edge written per vertex."""
        edges = columns["edges"]
        return Least(bytes=8.0 * edges + 12.0 * self.graph.n, barriers=columns["rounds"])


PROBLEM = Forests
