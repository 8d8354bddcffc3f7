"""What eigenvector and Katz centrality, hubs and authorities share: plans of repeated products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from clgraph.algorithms.ranking.arguments import host_matrix, spread_of
from clgraph.algorithms.ranking.columns import real_type
from clgraph.algorithms.ranking.result import RankStats
from clgraph.documented import documented
from clgraph.engine.plan import Plan
from clgraph.errors import VerificationError
from clgraph.graph import as_graph
from clgraph.graph.arguments import flags, real, whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from clgraph.algorithms.ranking.iterating import Columns
    from clgraph.algorithms.ranking.normed import Normed
    from clgraph.algorithms.ranking.power import Affine
    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.engine.plan import Turn
    from clgraph.engine.sweeps import SweepLog
    from clgraph.graph import Graph

__all__ = ["Scores", "check_change", "check_turn", "scores_of"]

Repeated = TypeVar("Repeated", "Affine", "Normed")


@documented(Plan)
class Scores(Plan):
    """Scores of the vertices of one graph, on one device.

    Parameters
    ----------
    graph : Graph or scipy.sparse matrix
        Directed or undirected.
    weights : bool
        Whether weights count, where there are some.
    dtype : {"float32", "float64"}, optional
        What is computed in; default is double precision where the device has it.

    Raises
    ------
    InvalidArgumentError
        If `dtype` is unknown, or not to be had on the device.
    """

    graph: Graph

    @flags
    def __init__(
        self,
        graph: Graph,
        *,
        weights: bool = True,
        dtype: Any = None,
        device: Device | str | None = None,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(as_graph(graph), device)
        self.dtype = real_type(dtype, self.device)
        self.config: dict[str, Any] = {
            "dtype": self.dtype.name,
            "weighted": weights and self.graph.weights is not None,
        }
        if self.graph.n:
            with self._counted():
                self._prepare(progress)

    def _prepare(self, progress: Progress | None) -> None:
        """Build the kernels and take memory, for a graph that has vertices."""
        raise NotImplementedError

    def _iteration(self, kind: Callable[..., Repeated], graph: Graph, **options: Any) -> Repeated:
        """Make what repeats products along the rows of a graph."""
        weighted = self.config["weighted"]
        made = kind(graph, self.device, self._memory, self.dtype, weighted=weighted, **options)
        self.source_hash = made.pulling.program.source_hash
        return made

    @staticmethod
    def _ends(tol: Any, max_iter: Any) -> tuple[float, int]:
        """Check when iterations end."""
        return real("tol", tol, 0), whole("max_iter", max_iter)

    def _start(self, nstart: Any) -> NDArray[np.float64]:
        """Give the first iterate [n], with sum 1."""
        n = self.graph.n
        begin, _ = spread_of("nstart", nstart, n)
        return np.full(n, 1.0 / max(n, 1)) if begin is None else begin[0]

    def _stats(
        self, log: SweepLog, turn: Turn, columns: Columns | None, products: int = 1
    ) -> RankStats:
        """Give times and counts; there are no columns of a graph without vertices."""
        iterations = 0 if columns is None else int(columns.iterations[0])
        edges = products * iterations * self.graph.m
        return self._stats_of(
            RankStats, log, turn, iterations=iterations, edges=edges, config=self.config
        )

    def _matrix(self) -> Any:
        """Give the graph's matrix on the host, for checks."""
        return host_matrix(self.graph, weighted=self.config["weighted"])


def scores_of(columns: Columns | None, dtype: np.dtype[Any]) -> tuple[Any, int, float, bool]:
    """Give scores, iterations, error and whether they converged: what a result is made of."""
    if columns is None:
        return np.zeros(0, dtype), 0, 0.0, True
    return (
        columns.x[:, 0].copy(),
        int(columns.iterations[0]),
        float(columns.errors[0]),
        bool(columns.converged[0]),
    )


def check_change(
    change: float, allowed: float, what: str, x: NDArray[np.float64], dtype: np.dtype[Any]
) -> None:
    """Refuse a fixed point x that one more iteration changes by more than the last one did.

    Rounding is in proportion to the sum of x, which of a vector of length 1 may be large.

    Raises
    ------
    VerificationError
        If it does.
    """
    rounding = 64 * float(np.finfo(dtype).eps) * max(float(np.abs(x).sum()), 1.0)
    if not change <= allowed + rounding:
        raise VerificationError(
            f"another iteration changes {what} by {change:.3g}, more than the last one's "
            f"{allowed:.3g}."
        )


def check_turn(
    product: NDArray[np.float64],
    longest: float,
    error: float,
    what: str,
    x: NDArray[np.float64],
    dtype: np.dtype[Any],
) -> None:
    """Refuse a direction x that a product turns by more than follows from the last turn.

    Turns need not become smaller: one that is all but at rest at a smaller eigenvalue leaves it
    faster and faster, and where there are complex ones they grow and shrink in turn. What a product
    does to a difference of length `error` is bounded, and so is how much of that is left where
    vectors are brought to length 1.

    Parameters
    ----------
    product : numpy.ndarray
        Of the matrix and x.
    longest : float
        No product of the matrix and a vector of length 1 is longer.
    error, what, x, dtype
        As for `check_change`.
    """
    length = float(np.linalg.norm(product))
    change = float(np.linalg.norm(product / (length or 1.0) - x))
    before = length - longest * error  # no shorter was the last product
    allowed = longest * error / before if before > 0 else np.inf
    check_change(change, allowed, what, x, dtype)
