"""PageRank of every vertex as the runner measures it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph import PageRank

from ...peers.libraries import scipy_matrix
from ...peers.ranking import ALPHA, MOST_ITERATIONS, RANKS, RULED, TOLERANCE, ranks_of
from .iterated import Iterated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from clgraph import Device, Graph

    from ...runner.graphs import Loaded
    from ...runner.records import Record

__all__ = ["PROBLEM", "Ranks"]


# Conventions of suites, and when their rules end iterations.
RULES: dict[str, dict[str, Any]] = {
    "gap": {"tol": 1e-4, "max_iter": 1000},
    "graphalytics": {"tol": 0.0, "max_iter": 10},
}


class Ranks(Iterated):
    """`clgraph.PageRank` to a tolerance of its own, or by the rules of a suite.

    In the most precise type of the device. What is compared are ranks times the number of vertices,
    so that rounding is in proportion.
    """

    kind = "pagerank"
    presets = ("auto", *RULES)
    result = "ranks"
    peers = RANKS

    def __init__(self, loaded: Loaded, device: Device, config: str) -> None:
        super().__init__(loaded, device, config)
        self.rules = config if config in RULES else None
        if self.rules is not None:
            self.peers = RULED[self.rules]  # type: ignore[misc]
        # The suites' rules know no weights.
        self.plan = PageRank(loaded.graph, weights=self.rules is None, device=device)

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Rank the vertices."""
        if self.rules is not None:
            return self.plan.run(alpha=ALPHA, convention=self.rules, **RULES[self.rules])
        # The tolerance is per vertex.
        tol = TOLERANCE / max(self.graph.n, 1)
        return self.plan.run(alpha=ALPHA, tol=tol, max_iter=MOST_ITERATIONS)

    def values(self, result: Any) -> Any:
        """Give ranks as shares of their mean."""
        return result.ranks * self.graph.n

    def check(self, givens: Sequence[int]) -> Record:
        """Compare all ranks with those by scipy."""
        if self.rules is None:
            expected = ranks_of(self.graph)
        else:
            expected = iterated(self.graph, self.rules, **RULES[self.rules])
        return self.compared(givens, expected, what="ranks", against="scipy")

    def decided(self) -> Record:
        """Give the configuration as decided."""
        return {"convention": self.rules or "networkx", "dtype": self.plan.dtype.name}


def iterated(graph: Graph, convention: str, *, tol: float, max_iter: int) -> NDArray[np.float64]:
    """Ranks by a suite's convention and scipy, times the number of vertices."""
    matrix, n = scipy_matrix(graph), graph.n
    matrix.data[:] = 1.0
    leaving = graph.degrees
    x = np.full(n, 1.0 / n)
    for _ in range(max_iter):
        before = x
        # GAP's rule lets the rank of vertices without successors get lost.
        held = 0.0 if convention == "gap" else x[leaving == 0].sum()
        flow = np.divide(x, leaving, out=np.zeros(n), where=leaving > 0)
        x = ALPHA * (matrix.T @ flow + held / n) + (1 - ALPHA) / n
        if np.abs(x - before).sum() < tol:
            break
    return x * n


PROBLEM = Ranks
