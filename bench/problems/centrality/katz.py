"""Katz centrality as the runner measures it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clgraph import KatzCentrality

from ...peers.centrality import KATZ, MOST_ITERATIONS, TOLERANCE, katz_alpha, katz_fault
from .scores import Scored

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph import Device

    from ...runner.graphs import Loaded

__all__ = ["PROBLEM", "Katz"]


class Katz(Scored):
    """`clgraph.KatzCentrality`, a step of which counts 1 over the greatest degree, and 1 more."""

    kind = "katz"
    plan_of = KatzCentrality
    peers = KATZ

    def __init__(self, loaded: Loaded, device: Device, config: str) -> None:
        super().__init__(loaded, device, config)
        self.alpha = katz_alpha(self.matrix)

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Score the vertices."""
        return self.plan.run(alpha=self.alpha, tol=TOLERANCE, max_iter=MOST_ITERATIONS)

    def fault(self, values: NDArray[Any]) -> str:
        """See that all have the same of themselves, beside what others give them."""
        return katz_fault(self.matrix, values, self.alpha)


PROBLEM = Katz
