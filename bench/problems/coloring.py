"""Greedy colouring as the runner measures it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph import Coloring
from clgraph.algorithms.triangles.simple import cleaned
from clgraph.errors import VerificationError

from ..peers.structure import COLORINGS, coloring_fault
from ..runner.problem import Least, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from clgraph import Device

    from ..runner.graphs import Loaded
    from ..runner.records import Record

__all__ = ["PROBLEM", "Colors"]

ORDERS = {"auto": "largest_first", "random": "random_sequential"}


class Colors(Problem):
    """`clgraph.Coloring` of the graph without directions; the number of the repeat is the seed."""

    kind = "coloring"
    from_sources = False
    result = "colors"
    peers = COLORINGS

    def __init__(self, loaded: Loaded, device: Device, config: str) -> None:
        super().__init__(loaded, device, config)
        self.graph = cleaned(loaded.graph)
        self.plan = Coloring(self.graph, order=ORDERS[config], device=device)

    @classmethod
    def presets(cls) -> tuple[str, ...]:
        """Names of the orders."""
        return tuple(ORDERS)

    def run(self, given: int) -> Any:
        """Colour the vertices."""
        return self.plan.run(given)

    def count(self, result: Any, given: int) -> dict[str, float]:  # noqa: ARG002 (none needed)
        """Count edges, colours and rounds."""
        return {
            "edges": self.graph.m,
            "colors": result.count,
            "rounds": len(result.stats.rounds),
        }

    def check(self, givens: Sequence[int]) -> Record:
        """See that the ends of every edge differ, and that no colour is left out.

        Raises
        ------
        VerificationError
            If that is not so.
        """
        for given in givens:
            colors = np.asarray(self.values(self.run(given)))
            fault = coloring_fault(self.graph, colors)
            if not fault and len(np.unique(colors)) != colors.max(initial=-1) + 1:
                fault = "a colour that nobody has lies between others"
            if fault:
                raise VerificationError(f"not what a greedy colouring is: {fault}.")
        return {"against": "its definition"}

    def least(self, columns: Mapping[str, NDArray[np.float64]]) -> Least:
        """Count each stored edge and row's start read once, a colour written, a barrier a round."""
        edges = columns["edges"]
        return Least(bytes=4.0 * edges + 12.0 * self.graph.n, barriers=columns["rounds"])

    def describe(self) -> Record:
        """Give the configuration as decided, and the hash of what colours."""
        return {"config": self.plan.config, "source_hash": self.plan.source_hash}


PROBLEM = Colors
