"""Eigenvector and Katz centrality, hubs and authorities."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.ranking.arguments import spread_of
from clgraph.algorithms.ranking.columns import real_type
from clgraph.algorithms.ranking.power import Affine, Columns, Normed, whole_number
from clgraph.algorithms.ranking.result import HitsResult, RankResult, RankStats
from clgraph.device import Memory
from clgraph.device import device as find_device
from clgraph.engine.arguments import only_auto
from clgraph.engine.sweeps import SweepLog
from clgraph.errors import InvalidArgumentError, VerificationError
from clgraph.graph import as_graph

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = ["eigenvector_centrality", "hits", "katz_centrality"]


class _Call:
    """What the three functions share: arguments checked, times and counts."""

    def __init__(
        self,
        graph: Graph,
        weights: bool,
        tol: float,
        max_iter: int,
        dtype: Any,
        device: Device | str | None,
    ) -> None:
        self.start_s = time.perf_counter()
        self.graph = as_graph(graph)
        self.device = find_device(device)
        self.dtype = real_type(dtype, self.device)
        self.weighted = weights and self.graph.weights is not None
        if isinstance(tol, bool) or not isinstance(tol, int | float | np.number) or not tol >= 0:
            raise InvalidArgumentError(f"tol={tol!r} is not a number from 0 on.")
        self.tol = float(tol)
        self.max_iter = whole_number("max_iter", max_iter, 1)
        self.log = SweepLog()
        self.memory = Memory(self.device)
        self._used = self.device.ledger.used_bytes

    def start(self, nstart: Any) -> NDArray[np.float64]:
        """Give the first iterate, with sum 1."""
        begin, _ = spread_of("nstart", nstart, self.graph.n)
        return np.full(self.graph.n, 1.0 / self.graph.n) if begin is None else begin[0]

    def matrix(self) -> Any:
        """Give the graph's matrix on the host, for checks."""
        matrix = self.graph.to_scipy().astype(np.float64)
        if not self.weighted:
            matrix.data[:] = 1.0
        return matrix

    def stats(self, columns: Columns | None, products: int = 1) -> RankStats:
        """Give times and counts."""
        iterations = 0 if columns is None else int(columns.iterations[0])
        return RankStats(
            self.log,
            1e3 * (time.perf_counter() - self.start_s),
            iterations=iterations,
            edges=products * iterations * self.graph.m,
            config={"dtype": self.dtype.name, "weighted": self.weighted},
            device_bytes=self.device.ledger.used_bytes - self._used,
        )

    def outcome(
        self, ranks: NDArray[Any], columns: Columns
    ) -> tuple[NDArray[Any], int, float, bool]:
        """Give what a result is made of, but for stats."""
        return (
            ranks,
            int(columns.iterations[0]),
            float(columns.errors[0]),
            bool(columns.converged[0]),
        )

    def check(self, change: float, allowed: float, what: str, x: NDArray[np.float64]) -> None:
        """Refuse a fixed point x that one more iteration changes by more than the last one did.

        Rounding is in proportion to the sum of x, which of a vector of length 1 may be large.

        Raises
        ------
        VerificationError
            If it does.
        """
        rounding = 64 * float(np.finfo(self.dtype).eps) * max(float(np.abs(x).sum()), 1.0)
        if not change <= allowed + rounding:
            raise VerificationError(
                f"another iteration changes {what} by {change:.3g}, more than the last one's "
                f"{allowed:.3g}."
            )


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

    Parameters
    ----------
    graph : Graph or scipy.sparse matrix
        Directed or undirected.
    weights : bool
        Whether weights count, where there are some.
    tol : float
        Iterations end when one changes scores by less than this per vertex.
    max_iter : int
        Most iterations.
    nstart : array_like [n] or dict, optional
        What to begin with; default is everywhere alike.
    dtype : {"float32", "float64"}, optional
        What is computed in; default is double precision where the device has it.
    config : {"auto"}, optional
        There is one way to compute it.
    device : Device or str, optional
        Default is ``clgraph.device()``.
    progress : callable or True, optional
        Called while the graph is uploaded, and with iterations.
    verify : bool
        Whether to do one more iteration on the host and compare.

    Returns
    -------
    RankResult
        ``ranks`` real [n] of Euclidean length 1: the eigenvector of the greatest eigenvalue, where
        there is one such.

    Raises
    ------
    InvalidArgumentError
        If a value is out of its range.
    DeviceMemoryError
        If graph and scores do not fit the device.
    VerificationError
        If the result was to be checked and is wrong.

    Notes
    -----
    Power iteration with the matrix and the identity added to it, so that bipartite graphs converge
    too: O(n + m) work an iteration, four launches. Deterministic on a device. Without convergence
    the result says so in ``converged``.

    References
    ----------
    .. [1] P. Bonacich, "Power and centrality: a family of measures", American Journal of Sociology
           92(5), 1987.

    Examples
    --------
    >>> import clgraph as cg
    >>> cg.eigenvector_centrality(cg.generate.complete(4)).ranks.round(6).tolist()
    [0.5, 0.5, 0.5, 0.5]
    """
    only_auto(config)
    call = _Call(graph, weights, tol, max_iter, dtype, device)
    if not call.graph.n:
        return RankResult(np.zeros(0, call.dtype), 0, 0.0, True, call.stats(None))
    start = call.start(nstart)
    plan = Normed(
        call.graph.transpose(),
        call.device,
        call.memory,
        call.dtype,
        weighted=call.weighted,
        shifted=True,
        progress=progress,
    )
    columns = plan.run(
        call.log,
        start,
        tolerance=call.tol * call.graph.n,
        max_iter=call.max_iter,
        progress=progress,
    )
    ranks = columns.x[:, 0]
    if verify:
        x = ranks.astype(np.float64)
        again = call.matrix().T @ x + x
        again /= np.linalg.norm(again) or 1.0
        call.check(float(np.abs(again - x).sum()), float(columns.errors[0]), "scores", x)
    return RankResult(*call.outcome(ranks, columns), call.stats(columns))


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

    Parameters
    ----------
    graph : Graph or scipy.sparse matrix
        Directed or undirected.
    alpha : float
        What a step counts; scores exist below 1 over the greatest eigenvalue of the matrix.
    beta : float or array_like [n]
        What a vertex has of itself.
    normalized : bool
        Whether scores are brought to Euclidean length 1.
    weights, tol, max_iter, dtype, config, device, progress, verify
        As for `eigenvector_centrality`.

    Returns
    -------
    RankResult
        ``ranks`` real [n].

    Raises
    ------
    InvalidArgumentError
        If a value is out of its range.
    DeviceMemoryError
        If graph and scores do not fit the device.
    VerificationError
        If the result was to be checked and is wrong.

    Notes
    -----
    O(n + m) work an iteration, two launches. Deterministic on a device. Where `alpha` is too great
    scores grow without bound, and the result is not ``converged``.

    References
    ----------
    .. [1] L. Katz, "A new status index derived from sociometric analysis", Psychometrika 18, 1953.

    Examples
    --------
    >>> import clgraph as cg
    >>> cg.katz_centrality(cg.generate.path(3), normalized=False).ranks.round(4).tolist()
    [1.1224, 1.2245, 1.1224]
    """
    only_auto(config)
    call = _Call(graph, weights, tol, max_iter, dtype, device)
    n = call.graph.n
    own = np.asarray(beta, np.float64)
    if own.shape not in {(), (n,)} or not np.isfinite(own).all():
        raise InvalidArgumentError(f"beta must be a finite number, or {n} of them.")
    if isinstance(alpha, bool) or not np.isfinite(alpha):
        raise InvalidArgumentError(f"alpha={alpha!r} is not a finite number.")
    if not n:
        return RankResult(np.zeros(0, call.dtype), 0, 0.0, True, call.stats(None))
    plan = Affine(
        call.graph.transpose(),
        call.device,
        call.memory,
        call.dtype,
        weighted=call.weighted,
        given=own.ndim == 1,
        progress=progress,
    )
    columns = plan.run(
        call.log,
        np.zeros((n, 1)),
        scale=float(alpha),
        tolerance=call.tol * n,
        max_iter=call.max_iter,
        uniform=float(own) if own.ndim == 0 else 0.0,
        given=own[:, None] if own.ndim == 1 else None,
        progress=progress,
    )
    ranks = columns.x[:, 0].copy()
    if verify:
        x = ranks.astype(np.float64)
        matrix = call.matrix()
        change = float(np.abs(alpha * (matrix.T @ x) + own - x).sum())
        # What a step adds to one score, the next may add to as many as there are edges out of it.
        growth = abs(alpha) * float(np.abs(matrix).sum(axis=1).max())
        call.check(change, max(growth, 1.0) * float(columns.errors[0]), "scores", x)
    if normalized:
        ranks /= np.linalg.norm(ranks) or 1.0
    return RankResult(*call.outcome(ranks, columns), call.stats(columns))


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

    Parameters
    ----------
    graph : Graph or scipy.sparse matrix
        Directed or undirected.
    tol : float
        Iterations end when one changes hub scores by less than this in all.
    normalized : bool
        Whether either scores have sum 1; otherwise hubs have Euclidean length 1.
    weights, max_iter, nstart, dtype, config, device, progress, verify
        As for `eigenvector_centrality`.

    Returns
    -------
    HitsResult
        ``hubs`` and ``authorities`` real [n].

    Raises
    ------
    InvalidArgumentError
        If a value is out of its range.
    DeviceMemoryError
        If graph and scores do not fit the device.
    VerificationError
        If the result was to be checked and is wrong.

    Notes
    -----
    Two products an iteration, five launches: O(n + m) work. Deterministic on a device. Without
    convergence the result says so in ``converged``.

    References
    ----------
    .. [1] J. Kleinberg, "Authoritative sources in a hyperlinked environment", Journal of the ACM
           46(5), 1999.

    Examples
    --------
    >>> import clgraph as cg
    >>> result = cg.hits(cg.from_edges([0, 1, 2], [3, 3, 3], n=4))
    >>> result.hubs.round(6).tolist(), result.authorities.tolist()
    ([0.333333, 0.333333, 0.333333, 0.0], [0.0, 0.0, 0.0, 1.0])
    """
    only_auto(config)
    call = _Call(graph, weights, tol, max_iter, dtype, device)
    n = call.graph.n
    if not n:
        nothing = np.zeros(0, call.dtype)
        return HitsResult(nothing, nothing.copy(), 0, 0.0, True, call.stats(None))
    plan = Normed(
        call.graph,
        call.device,
        call.memory,
        call.dtype,
        weighted=call.weighted,
        before=call.graph.transpose(),
        progress=progress,
    )
    start = call.start(nstart)
    columns = plan.run(
        call.log, start, tolerance=call.tol, max_iter=call.max_iter, progress=progress
    )
    hubs = columns.x[:, 0].copy()
    plan.product(call.log, hubs)
    authorities = plan.between.read()
    if verify:
        matrix, x = call.matrix(), hubs.astype(np.float64)
        again = matrix @ (matrix.T @ x)
        again /= np.linalg.norm(again) or 1.0
        call.check(float(np.abs(again - x).sum()), float(columns.errors[0]), "hub scores", x)
    if normalized:
        hubs /= hubs.sum() or 1.0
        authorities /= authorities.sum() or 1.0
    return HitsResult(authorities, *call.outcome(hubs, columns), call.stats(columns, 2))
