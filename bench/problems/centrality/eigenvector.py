"""Eigenvector centrality as the runner measures it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clgraph import EigenvectorCentrality

from ...peers.centrality import (
    EIGENVECTORS,
    MOST_ITERATIONS,
    TOLERANCE,
    eigenvector_fault,
    greatest_eigenvalue,
)
from .scores import Scored

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["PROBLEM", "Eigenvector"]


class Eigenvector(Scored):
    """`clgraph.EigenvectorCentrality`, whose eigenvalue ARPACK must not exceed."""

    kind = "eigenvector"
    plan_of = EigenvectorCentrality
    peers = EIGENVECTORS

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Score the vertices; the tolerance is per vertex."""
        return self.plan.run(tol=TOLERANCE / max(self.graph.n, 1), max_iter=MOST_ITERATIONS)

    def fault(self, values: NDArray[Any]) -> str:
        """See that scores are the eigenvector of the greatest eigenvalue."""
        return eigenvector_fault(self.matrix, values, greatest_eigenvalue(self.matrix))


PROBLEM = Eigenvector
