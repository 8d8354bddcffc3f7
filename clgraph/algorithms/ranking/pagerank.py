"""PageRank, as networkx, the GAP suite or Graphalytics define it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.ranking.arguments import (
    Convention,
    ends_of,
    host_matrix,
    spread_of,
    weights_out,
)
from clgraph.algorithms.ranking.columns import column_blocks, real_type
from clgraph.algorithms.ranking.power import Affine
from clgraph.algorithms.ranking.result import RankResult, RankStats
from clgraph.algorithms.ranking.scores import check_change
from clgraph.device import Memory
from clgraph.documented import documented
from clgraph.engine.arguments import only_auto
from clgraph.engine.plan import Plan, Turn
from clgraph.engine.sweeps import SweepLog
from clgraph.errors import InvalidArgumentError
from clgraph.graph import as_graph
from clgraph.graph.arguments import flags, real

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = ["PageRank", "pagerank"]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What `PageRank.run` was given, checked."""

    alpha: float
    personal: NDArray[Any] | None
    drains: NDArray[Any] | None
    begin: NDArray[Any] | None
    tolerance: float
    most: int
    convention: str

    @property
    def count(self) -> int:
        return 1 if self.personal is None else self.personal.shape[0]


@documented(Plan)
class PageRank(Plan):
    """PageRank, compiled for one graph and device.

    Parameters
    ----------
    graph : Graph or scipy.sparse matrix
        Directed or undirected. Self-loops and parallel edges count.
    weights : bool
        Whether a vertex gives along its edges in proportion to their weights, where there are some.
    dtype : {"float32", "float64"}, optional
        What is computed in; default is double precision where the device has it.

    Raises
    ------
    InvalidGraphError
        If weights are to count and one is negative.
    InvalidArgumentError
        If `dtype` is unknown, or not to be had on the device.

    Notes
    -----
    O(n + m) work an iteration, in two launches: every vertex pulls along the edges into it.
    Deterministic on a device; another may round differently. Takes 12 to 24 bytes per vertex of
    device memory beside the graph, and 4 per edge where few vertices are in many of them and there
    is room; a processor instead of the graph holds one whose rows are arranged by their length. A
    plan serves one thread at a time; others wait.

    References
    ----------
    .. [1] L. Page, S. Brin, R. Motwani, T. Winograd, "The PageRank citation ranking: bringing
           order to the web", Stanford, 1999.
    """

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
        self._progress = progress
        self._weighted = weights and self.graph.weights is not None
        self.weights_out = weights_out(self.graph, self.dtype, weighted=self._weighted)
        self._affine: dict[tuple[int, bool, str | None], Affine] = {}

    @flags
    def run(  # noqa: PLR0913 - all by keyword
        self,
        *,
        alpha: float = 0.85,
        personalization: ArrayLike | Mapping[int, float] | None = None,
        tol: float | None = None,
        max_iter: int | None = None,
        dangling: ArrayLike | Mapping[int, float] | None = None,
        nstart: ArrayLike | Mapping[int, float] | None = None,
        convention: Convention = "networkx",
        verify: bool = False,
        progress: Progress | None = None,
    ) -> RankResult:
        """Rank the vertices.

        Parameters
        ----------
        alpha : float
            Damping, in [0, 1).
        personalization : array_like [n] or [k, n], or dict, optional
            How often a surfer who does not follow an edge goes where, in any unit; default is
            everywhere alike. With k rows there are k rankings, found together.
        tol : float, optional
            Iterations end when an iteration changes ranks by less in all: per vertex by networkx's
            convention (default 1e-6), in total by GAP's (default 1e-4). With 0 there are
            exactly `max_iter` iterations.
        max_iter : int, optional
            Most iterations; default is 100, and 10 by Graphalytics' convention.
        dangling : array_like [n] or dict, optional
            Where the rank of vertices without out-edges goes; default is where `personalization`
            says. The GAP suite lets it vanish.
        nstart : array_like [n] or dict, optional
            What to begin with, in any unit; default is everywhere alike.
        convention : {"networkx", "gap", "graphalytics"}
            Whose default tolerance, iterations and treatment of vertices without out-edges.
        verify : bool
            Whether to do one more iteration on the host and compare.
        progress : callable or True, optional
            Called with iterations done, most iterations, "iterations".

        Returns
        -------
        RankResult
            ``ranks`` real [n] or [k, n], with sum 1 unless rank vanishes; ``iterations``,
            ``error``, ``converged``, ``stats``.

        Raises
        ------
        InvalidArgumentError
            If a value is out of its range, or weights are negative, without a positive one, not
            finite or of another length.
        DeviceMemoryError
            If ranks do not fit the device.
        VerificationError
            If the result was to be checked and is wrong.
        """
        n = self.graph.n
        tolerance, most = ends_of(convention, tol, max_iter, n)
        if not 0 <= (alpha := real("alpha", alpha)) < 1:
            raise InvalidArgumentError(f"alpha={alpha!r} is not in [0, 1).")
        personal, several = spread_of("personalization", personalization, n, rows=True)
        drains, _ = spread_of("dangling", dangling, n)
        begin, _ = spread_of("nstart", nstart, n)
        if convention == "gap" and drains is not None:
            raise InvalidArgumentError(
                "dangling= says where rank goes that the GAP suite lets vanish; leave it out, or "
                "use convention='networkx'."
            )
        asked = _Asked(alpha, personal, drains, begin, tolerance, most, convention)
        count, log = asked.count, SweepLog()
        empty = np.zeros((count, 0), self.dtype)
        ranks, its, errors, converged = empty, np.zeros(count, np.int64), np.zeros(count), True
        with Turn() as turn, self._lock:
            before = self.device.ledger.used_bytes
            if n:
                ranks, its, errors, converged = self._iterated(log, asked, progress)
            columns_bytes = self.device.ledger.used_bytes - before
        stats = RankStats(
            log,
            turn.total_ms,
            iterations=int(its.max(initial=0)),
            edges=int(its.sum()) * self.graph.m,
            config={"convention": convention, "dtype": self.dtype.name, "columns": count},
            device_bytes=columns_bytes,
        )
        if several:
            result = RankResult(ranks, its, errors, converged, stats)
        else:
            result = RankResult(ranks[0], int(its[0]), float(errors[0]), converged, stats)
        if verify and n:
            self._verify(np.atleast_2d(result.ranks), asked, errors)
        return result

    def _iterated(
        self, log: SweepLog, asked: _Asked, progress: Progress | None
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], bool]:
        n, alpha, personal, drains = self.graph.n, asked.alpha, asked.personal, asked.drains
        way = None if asked.convention == "gap" else "uniform"
        if way and (drains is not None or personal is not None):
            way = "own"
        affine = self._plan(asked.count, personal is not None, way)
        start = np.asarray(1.0 / n) if asked.begin is None else asked.begin[0][:, None]
        outcomes = []
        for block in affine.blocks:
            width = block.stop - block.start
            given = receives = None
            if personal is not None:
                given = (1 - alpha) * personal[block].T
            if way == "own":
                shared = personal[block] if drains is None and personal is not None else drains
                assert shared is not None  # noqa: S101 (one of the two says "own")
                receives = np.broadcast_to(shared, (width, n)).T
            outcomes.append(
                affine.run(
                    log,
                    np.broadcast_to(start, (n, width)),
                    scale=alpha,
                    tolerance=asked.tolerance,
                    max_iter=asked.most,
                    uniform=0.0 if personal is not None else (1 - alpha) / n,
                    given=given,
                    receives=receives,
                    progress=progress,
                )
            )
        ranks = [np.ascontiguousarray(found.x.T) for found in outcomes]
        return (
            ranks[0] if len(ranks) == 1 else np.concatenate(ranks),
            np.concatenate([found.iterations for found in outcomes]),
            np.concatenate([found.errors for found in outcomes]),
            all(found.converged.all() for found in outcomes),
        )

    def _plan(self, count: int, given: bool, way: str | None) -> Affine:
        width, _ = column_blocks(count, self.device)
        key = (width, given, way)
        if key not in self._affine:
            self._affine[key] = Affine(
                self.graph.transpose(),
                self.device,
                Memory(self.device),
                self.dtype,
                weighted=self._weighted,
                count=count,
                given=given,
                # Edges share out what a vertex holds, wherever that of others goes.
                dangling=way or "vanish",
                outgoing=self.weights_out,
                mirrored=not (self.graph.directed or self._weighted),
                arranged=True,
                references=self.graph.degrees,
                progress=self._progress,
            )
        plan = self._affine[key]
        self.source_hash = plan.pulling.program.source_hash
        plan.blocks = column_blocks(count, self.device)[1]
        return plan

    def _verify(self, ranks: NDArray[Any], asked: _Asked, errors: NDArray[Any]) -> None:
        """Iterate once more on the host: that may change ranks by no more than the last time.

        Raises
        ------
        VerificationError
            If it changes them by more.
        """
        n, alpha, personal, drains = self.graph.n, asked.alpha, asked.personal, asked.drains
        matrix = host_matrix(self.graph, weighted=self._weighted)
        for row, error in zip(np.arange(len(ranks)), errors, strict=True):
            x = ranks[row].astype(np.float64)
            p = np.full(n, 1.0 / n) if personal is None else personal[row]
            to = p if drains is None else drains[0]
            held = 0.0 if asked.convention == "gap" else x[self.weights_out == 0].sum()
            shares = np.divide(x, self.weights_out, out=np.zeros(n), where=self.weights_out > 0)
            again = alpha * (matrix.T @ shares + held * to) + (1 - alpha) * p
            change = float(np.abs(again - x).sum())
            check_change(change, error, f"ranking {row}", x, self.dtype)


@documented(PageRank, PageRank.run, only_auto)
@flags
def pagerank(  # noqa: PLR0913 - all but one by keyword
    graph: Graph,
    *,
    alpha: float = 0.85,
    personalization: ArrayLike | Mapping[int, float] | None = None,
    weights: bool = True,
    tol: float | None = None,
    max_iter: int | None = None,
    dangling: ArrayLike | Mapping[int, float] | None = None,
    nstart: ArrayLike | Mapping[int, float] | None = None,
    convention: Convention = "networkx",
    dtype: Any = None,
    config: str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> RankResult:
    """Rank vertices by how often a random surfer visits them.

    Notes
    -----
    O(n + m) work an iteration; deterministic on a device. A ranking that has not converged after
    `max_iter` iterations comes back with ``converged`` False.

    Examples
    --------
    >>> import clgraph as cg
    >>> result = cg.pagerank(cg.generate.star(5), tol=1e-10)
    >>> result.ranks.round(3).tolist()
    [0.476, 0.131, 0.131, 0.131, 0.131]
    """
    only_auto(config)
    plan = PageRank(graph, weights=weights, dtype=dtype, device=device, progress=progress)
    return plan.run(
        alpha=alpha,
        personalization=personalization,
        tol=tol,
        max_iter=max_iter,
        dangling=dangling,
        nstart=nstart,
        convention=convention,
        verify=verify,
        progress=progress,
    )
