"""What problems share whose result is the fixed point of repeated products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...runner.problem import Least, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Iterated"]


class Iterated(Problem):
    """A plan of the whole graph, run to a tolerance in the most precise type of the device."""

    from_sources = False

    def count(self, result: Any, given: int) -> dict[str, float]:  # noqa: ARG002 (none needed)
        """Count edges that scores went along, and iterations."""
        return {"edges": result.stats.edges, "iterations": result.iterations}

    def least(self, columns: Mapping[str, NDArray[np.float64]]) -> Least:
        """Count a target read per edge, and a score read and written per vertex, a product."""
        edges, size = columns["edges"], self.plan.dtype.itemsize
        products = edges / max(self.graph.m, 1)
        return Least(
            bytes=4.0 * edges + (4.0 + 2.0 * size) * self.graph.n * products,
            barriers=columns["iterations"],
        )
