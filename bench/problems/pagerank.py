"""PageRank of every vertex as the runner measures it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph import PageRank

from ..peers.libraries import scipy_matrix
from ..peers.ranking import ALPHA, MOST_ITERATIONS, RANKS, TOLERANCE, ranks_of
from ..runner.problem import Least, Problem, refuse_differences

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from clgraph import Device, Graph

    from ..runner.graphs import Loaded
    from ..runner.records import Record

__all__ = ["PROBLEM", "Ranks"]


# Conventions of suites, and how many iterations these measure.
FIXED = {"gap": 20, "graphalytics": 10}


class Ranks(Problem):
    """`clgraph.PageRank` to a tolerance, or by a suite's convention a fixed number of iterations.

    In the most precise type of the device. What is compared are ranks times the number of vertices,
    so that rounding is in proportion.
    """

    kind = "pagerank"
    from_sources = False
    result = "ranks"
    peers = RANKS

    def __init__(self, loaded: Loaded, device: Device, config: str) -> None:
        super().__init__(loaded, device, config)
        self.fixed = config if config in FIXED else None
        # The suites' rules know no weights.
        self.plan = PageRank(loaded.graph, weights=self.fixed is None, device=device)

    @classmethod
    def presets(cls) -> tuple[str, ...]:
        """Name the conventions."""
        return ("auto", *FIXED)

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Rank the vertices."""
        if self.fixed is not None:
            rounds = FIXED[self.fixed]
            return self.plan.run(alpha=ALPHA, convention=self.fixed, tol=0.0, max_iter=rounds)
        # The tolerance is per vertex.
        tol = TOLERANCE / max(self.graph.n, 1)
        return self.plan.run(alpha=ALPHA, tol=tol, max_iter=MOST_ITERATIONS)

    def values(self, result: Any) -> Any:
        """Give ranks as shares of their mean."""
        return result.ranks * self.graph.n

    def count(self, result: Any, given: int) -> dict[str, float]:  # noqa: ARG002 (none needed)
        """Count edges that ranks went along, and iterations."""
        return {"edges": result.stats.edges, "iterations": result.iterations}

    def check(self, givens: Sequence[int]) -> Record:
        """Compare all ranks with those by scipy."""
        if self.fixed is None:
            expected = ranks_of(self.graph)
        else:
            expected = iterated(self.graph, self.fixed, FIXED[self.fixed])
        for given in givens:
            refuse_differences(
                self.values(self.run(given)), expected, what="ranks", against="scipy"
            )
        return {"against": "scipy"}

    def least(self, columns: Mapping[str, NDArray[np.float64]]) -> Least:
        """Count a target read per edge, and a rank read and written per vertex, an iteration."""
        iterations, size = columns["iterations"], self.plan.dtype.itemsize
        return Least(
            bytes=4.0 * columns["edges"] + (4.0 + 2.0 * size) * self.graph.n * iterations,
            barriers=iterations,
        )

    def describe(self) -> Record:
        """Give the configuration as decided, and the hash of the source."""
        if not self.plan.source_hash:
            self.run(0)
        config = {"convention": self.fixed or "networkx", "dtype": self.plan.dtype.name}
        return {"config": config, "source_hash": self.plan.source_hash}


def iterated(graph: Graph, convention: str, rounds: int) -> NDArray[np.float64]:
    """Ranks after so many iterations by scipy, times the number of vertices."""
    matrix, n = scipy_matrix(graph), graph.n
    matrix.data[:] = 1.0
    leaving = graph.degrees
    x = np.full(n, 1.0 / n)
    for _ in range(rounds):
        # GAP's rule lets the rank of vertices without successors get lost.
        held = 0.0 if convention == "gap" else x[leaving == 0].sum()
        flow = np.divide(x, leaving, out=np.zeros(n), where=leaving > 0)
        x = ALPHA * (matrix.T @ flow + held / n) + (1 - ALPHA) / n
    return x * n


PROBLEM = Ranks
