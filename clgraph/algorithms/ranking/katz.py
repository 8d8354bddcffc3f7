"""Katz centrality."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.ranking.eigenvector import EigenvectorCentrality
from clgraph.algorithms.ranking.power import Affine
from clgraph.algorithms.ranking.result import RankResult
from clgraph.algorithms.ranking.scores import Scores, check_change, scores_of
from clgraph.apart import apart
from clgraph.documented import documented
from clgraph.engine.arguments import only_auto
from clgraph.engine.plan import Turn
from clgraph.engine.sweeps import SweepLog
from clgraph.errors import InvalidArgumentError, VerificationError
from clgraph.graph.arguments import flags, real
from clgraph.graph.arrays import real_numbers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = ["KatzCentrality", "katz_centrality"]


@documented(Scores)
class KatzCentrality(Scores):
    """Katz centrality, compiled for one graph and device.

    Notes
    -----
    O(n + m) work an iteration, two launches. Deterministic on a device. Takes three numbers a
    vertex of device memory beside the graph, and a fourth once `beta` was an array. A plan serves
    one thread at a time; others wait.

    References
    ----------
    .. [1] L. Katz, "A new status index derived from sociometric analysis", Psychometrika 18, 1953.
    """

    def _prepare(self, progress: Progress | None) -> None:
        self._affine: dict[bool, Affine] = {}
        self._plan(given=False, progress=progress)

    def _plan(self, *, given: bool, progress: Progress | None) -> Affine:
        if given not in self._affine:
            rows = self.graph.transpose()
            self._affine[given] = self._iteration(Affine, rows, given=given, progress=progress)
        plan = self._affine[given]
        self.source_hash = plan.pulling.program.source_hash  # of the one that runs
        return plan

    @documented(EigenvectorCentrality.run)
    @flags
    def run(
        self,
        *,
        alpha: float = 0.1,
        beta: float | ArrayLike = 1.0,
        normalized: bool = True,
        tol: float = 1e-6,
        max_iter: int = 1000,
        verify: bool = False,
        progress: Progress | None = None,
    ) -> RankResult:
        """Score the vertices.

        Parameters
        ----------
        alpha : float
            What a step counts; scores exist below 1 over the greatest eigenvalue of the matrix.
        beta : float or array_like [n]
            What a vertex has of itself.
        normalized : bool
            Whether scores are brought to Euclidean length 1.

        Returns
        -------
        RankResult
            ``ranks`` real [n]. Where `alpha` is too great scores grow without bound, and
            ``converged`` is False.
        """
        tol, max_iter = self._ends(tol, max_iter)
        n = self.graph.n
        own = real_numbers("beta", beta)
        if own.shape not in {(), (n,)} or not np.isfinite(own).all():
            raise InvalidArgumentError(f"beta must be a finite number, or {n} of them.")
        alpha = real("alpha", alpha)
        columns, log = None, SweepLog()
        with Turn() as turn, self._lock:
            if n:
                with self._counted():
                    plan = self._plan(given=own.ndim == 1, progress=progress)
                columns = plan.run(
                    log,
                    np.zeros((n, 1)),
                    scale=alpha,
                    tolerance=tol * n,
                    max_iter=max_iter,
                    uniform=float(own) if own.ndim == 0 else 0.0,
                    given=own[:, None] if own.ndim == 1 else None,
                    progress=progress,
                )
        stats = self._stats(log, turn, columns)
        result = RankResult(*scores_of(columns, self.dtype), stats)
        if verify and n:
            self._verify(result.ranks.astype(np.float64), alpha, own, result.error)
        if normalized:
            # Where alpha is too great some are infinite by now, which is no news.
            ranks = result.ranks
            scale = apart(np.errstate(all="ignore")(lambda: ranks / (np.linalg.norm(ranks) or 1.0)))
            ranks[:] = scale
        return result

    def _verify(
        self, x: NDArray[np.float64], alpha: float, own: NDArray[np.float64], error: float
    ) -> None:
        if not np.isfinite(x).all():
            raise VerificationError(
                f"scores grew until they were no numbers: with alpha={alpha:g} there are none; "
                "pass an alpha below 1 over the greatest eigenvalue of the graph's matrix."
            )
        matrix = self._matrix()
        again = apart(np.errstate(all="ignore")(lambda: alpha * (matrix.T @ x) + own - x))
        change = float(np.abs(again).sum())
        # What a step adds to one score, the next may add to as many as there are edges out of it.
        growth = abs(alpha) * float(np.abs(matrix).sum(axis=1).max())
        check_change(change, max(growth, 1.0) * error, "scores", x, self.dtype)


@documented(KatzCentrality, KatzCentrality.run, only_auto)
@flags
def katz_centrality(  # noqa: PLR0913 - all but one by keyword
    graph: Graph,
    *,
    alpha: float = 0.1,
    beta: float | ArrayLike = 1.0,
    normalized: bool = True,
    weights: bool = True,
    tol: float = 1e-6,
    max_iter: int = 1000,
    dtype: Any = None,
    config: str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> RankResult:
    """Score vertices by the walks that lead to them, each step counting `alpha`.

    Notes
    -----
    O(n + m) work an iteration; deterministic on a device. For several calls, make a
    `KatzCentrality` and `run` it.

    Examples
    --------
    >>> import clgraph as cg
    >>> cg.katz_centrality(cg.generate.path(3), normalized=False).ranks.round(4).tolist()
    [1.1224, 1.2245, 1.1224]
    """
    only_auto(config)
    plan = KatzCentrality(graph, weights=weights, dtype=dtype, device=device, progress=progress)
    return plan.run(
        alpha=alpha,
        beta=beta,
        normalized=normalized,
        tol=tol,
        max_iter=max_iter,
        verify=verify,
        progress=progress,
    )
