"""Greedy colouring as the runner measures it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph import Coloring

from ..peers.structure import COLORINGS, coloring_fault
from ..runner.judged import Seeded
from ..runner.problem import Least

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from clgraph import Device

    from ..runner.graphs import Loaded

__all__ = ["PROBLEM", "Colors"]

ORDERS = {"auto": "largest_first", "random": "random_sequential"}


class Colors(Seeded):
    """`clgraph.Coloring` of the graph without directions; the number of the repeat is the seed."""

    kind = "coloring"
    presets = tuple(ORDERS)
    result = "colors"
    peers = COLORINGS

    def __init__(self, loaded: Loaded, device: Device, config: str) -> None:
        super().__init__(loaded, device, config)
        self.plan = Coloring(self.graph, order=ORDERS[config], device=device)

    def count(self, result: Any, given: int) -> dict[str, float]:  # noqa: ARG002 (none needed)
        """Count edges, colours and rounds."""
        return {
            "edges": self.graph.m,
            "colors": result.count,
            "rounds": len(result.stats.rounds),
        }

    def fault(self, values: NDArray[Any]) -> str:
        """See that the ends of every edge differ, and that no colour is left out."""
        wrong = coloring_fault(self.graph, values)
        if not wrong and len(np.unique(values)) != values.max(initial=-1) + 1:
            return "a colour that nobody has lies between others"
        return wrong

    def least(self, columns: Mapping[str, NDArray[np.float64]]) -> Least:
        """Count each stored edge and row's start read once, a colour written, a barrier a round."""
        edges = columns["edges"]
        return Least(bytes=4.0 * edges + 12.0 * self.graph.n, barriers=columns["rounds"])


PROBLEM = Colors
