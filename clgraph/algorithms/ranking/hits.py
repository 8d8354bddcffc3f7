"""Hubs and authorities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.ranking.arguments import longest_product
from clgraph.algorithms.ranking.eigenvector import EigenvectorCentrality
from clgraph.algorithms.ranking.normed import Normed
from clgraph.algorithms.ranking.result import HitsResult
from clgraph.algorithms.ranking.scores import Scores, check_turn, scores_of
from clgraph.documented import documented
from clgraph.engine.arguments import only_auto
from clgraph.engine.plan import Turn
from clgraph.engine.sweeps import SweepLog
from clgraph.graph.arguments import flags

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = ["Hits", "hits"]


@documented(Scores)
class Hits(Scores):
    """Hubs and authorities, compiled for one graph and device.

    Notes
    -----
    Two products an iteration, five launches: O(n + m) work. Deterministic on a device. Takes three
    numbers a vertex of device memory beside the graph and its transpose. A plan serves one thread
    at a time; others wait.

    References
    ----------
    .. [1] J. Kleinberg, "Authoritative sources in a hyperlinked environment", Journal of the ACM
           46(5), 1999.
    """

    def _prepare(self, progress: Progress | None) -> None:
        before = self.graph.transpose()
        self._power = self._iteration(Normed, self.graph, before=before, progress=progress)

    @documented(EigenvectorCentrality.run)
    @flags
    def run(
        self,
        *,
        tol: float = 1e-8,
        max_iter: int = 100,
        nstart: ArrayLike | Mapping[int, float] | None = None,
        normalized: bool = True,
        verify: bool = False,
        progress: Progress | None = None,
    ) -> HitsResult:
        """Score the vertices.

        Parameters
        ----------
        tol : float
            Iterations end when one changes hub scores by less than this in all.
        normalized : bool
            Whether either scores have sum 1; otherwise hubs have Euclidean length 1.

        Returns
        -------
        HitsResult
            ``hubs`` and ``authorities`` real [n]. Without convergence ``converged`` is False.
        """
        tol, max_iter = self._ends(tol, max_iter)
        start, columns, log = self._start(nstart), None, SweepLog()
        authorities = np.zeros(0, self.dtype)
        with Turn() as turn, self._lock:
            if self.graph.n:
                columns = self._power.run(
                    log, start, tolerance=tol, max_iter=max_iter, progress=progress
                )
                self._power.product(log, columns.x[:, 0])
                authorities = self._power.between.read()
        stats = self._stats(log, turn, columns, 2)
        result = HitsResult(authorities, *scores_of(columns, self.dtype), stats)
        if verify and self.graph.n:
            matrix, x = self._matrix(), result.hubs.astype(np.float64)
            again, longest = matrix @ (matrix.T @ x), longest_product(matrix) ** 2
            check_turn(again, longest, result.error, "hub scores", x, self.dtype)
        if normalized:
            for scores in (result.hubs, result.authorities):
                np.divide(scores, scores.sum() or 1.0, out=scores)
        return result


@documented(Hits, Hits.run, only_auto)
@flags
def hits(  # noqa: PLR0913 - all but one by keyword
    graph: Graph,
    *,
    weights: bool = True,
    tol: float = 1e-8,
    max_iter: int = 100,
    nstart: ArrayLike | Mapping[int, float] | None = None,
    normalized: bool = True,
    dtype: Any = None,
    config: str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> HitsResult:
    """Score vertices as hubs, by the authorities they lead to, and as authorities, by the hubs.

    Notes
    -----
    O(n + m) work an iteration; deterministic on a device. For several calls, make `Hits` and `run`
    it.

    Examples
    --------
    >>> import clgraph as cg
    >>> result = cg.hits(cg.from_edges([0, 1, 2], [3, 3, 3], n=4))
    >>> result.hubs.round(6).tolist(), result.authorities.tolist()
    ([0.333333, 0.333333, 0.333333, 0.0], [0.0, 0.0, 0.0, 1.0])
    """
    only_auto(config)
    plan = Hits(graph, weights=weights, dtype=dtype, device=device, progress=progress)
    return plan.run(
        tol=tol,
        max_iter=max_iter,
        nstart=nstart,
        normalized=normalized,
        verify=verify,
        progress=progress,
    )
