"""Eigenvector centrality."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.ranking.arguments import longest_product
from clgraph.algorithms.ranking.normed import Normed
from clgraph.algorithms.ranking.result import RankResult
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

__all__ = ["EigenvectorCentrality", "eigenvector_centrality"]


@documented(Scores)
class EigenvectorCentrality(Scores):
    """Eigenvector centrality, compiled for one graph and device.

    Notes
    -----
    Power iteration with the matrix and the identity added to it, so that bipartite graphs converge
    too: O(n + m) work an iteration, four launches. Deterministic on a device. Takes two numbers a
    vertex of device memory beside the graph. A plan serves one thread at a time; others wait.

    References
    ----------
    .. [1] P. Bonacich, "Power and centrality: a family of measures", American Journal of Sociology
           92(5), 1987.
    """

    def _prepare(self, progress: Progress | None) -> None:
        rows = self.graph.transpose()
        self._power = self._iteration(Normed, rows, shifted=True, progress=progress)

    @flags
    def run(
        self,
        *,
        tol: float = 1e-6,
        max_iter: int = 100,
        nstart: ArrayLike | Mapping[int, float] | None = None,
        verify: bool = False,
        progress: Progress | None = None,
    ) -> RankResult:
        """Score the vertices.

        Parameters
        ----------
        tol : float
            Iterations end when one changes scores by less than this per vertex.
        max_iter : int
            Most iterations.
        nstart : array_like [n] or dict, optional
            What to begin with; default is everywhere alike.
        verify : bool
            Whether to do one more iteration on the host and compare.
        progress : callable or True, optional
            Called with iterations done, most iterations, "iterations".

        Returns
        -------
        RankResult
            ``ranks`` real [n] of Euclidean length 1: the eigenvector of the greatest eigenvalue,
            where there is one such. Without convergence ``converged`` is False.

        Raises
        ------
        InvalidArgumentError
            If a value is out of its range.
        VerificationError
            If the result was to be checked and is wrong.
        """
        tol, max_iter = self._ends(tol, max_iter)
        start, columns, log = self._start(nstart), None, SweepLog()
        with Turn() as turn, self._lock:
            if self.graph.n:
                ends: dict[str, Any] = {"tolerance": tol * self.graph.n, "max_iter": max_iter}
                columns = self._power.run(log, start, progress=progress, **ends)
        stats = self._stats(log, turn, columns)
        result = RankResult(*scores_of(columns, self.dtype), stats)
        if verify and self.graph.n:
            matrix, x = self._matrix(), result.ranks.astype(np.float64)
            again, longest = matrix.T @ x + x, longest_product(matrix) + 1
            check_turn(again, longest, result.error, "scores", x, self.dtype)
        return result


@documented(EigenvectorCentrality, EigenvectorCentrality.run, only_auto)
@flags
def eigenvector_centrality(  # noqa: PLR0913 - all but one by keyword
    graph: Graph,
    *,
    weights: bool = True,
    tol: float = 1e-6,
    max_iter: int = 100,
    nstart: ArrayLike | Mapping[int, float] | None = None,
    dtype: Any = None,
    config: str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> RankResult:
    """Score vertices by the scores of those with edges to them.

    Notes
    -----
    O(n + m) work an iteration; deterministic on a device. For several calls, make an
    `EigenvectorCentrality` and `run` it.

    Examples
    --------
    >>> import clgraph as cg
    >>> cg.eigenvector_centrality(cg.generate.complete(4)).ranks.round(6).tolist()
    [0.5, 0.5, 0.5, 0.5]
    """
    only_auto(config)
    plan = EigenvectorCentrality(
        graph, weights=weights, dtype=dtype, device=device, progress=progress
    )
    return plan.run(tol=tol, max_iter=max_iter, nstart=nstart, verify=verify, progress=progress)
