"""PageRank by several ranks: each sums along the edges into its vertices, on what all hold."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.ranking.columns import real_type
from clgraph.algorithms.spmv.plan import SpMV
from clgraph.cluster.bfs import communicator
from clgraph.cluster.holding import shares_of
from clgraph.cluster.parts.slices import slices_of, turned
from clgraph.cluster.ranked import Ranked, RankedStats
from clgraph.cluster.ranks.comm import AllGather, Program, Swap, run
from clgraph.device import Memory
from clgraph.device.staying import StaysHere
from clgraph.engine.sweeps import SweepLog
from clgraph.errors import InvalidArgumentError, InvalidGraphError
from clgraph.graph import Graph
from clgraph.graph.arguments import flags, real, whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.cluster.parts.share import Share
    from clgraph.device import Device

__all__ = ["PageRank"]


class _Part:
    """What one rank holds."""

    def __init__(self, share: Share, device: Device, dtype: np.dtype[Any]) -> None:
        self.share = share
        weights = None if share.weights is None else share.weights.astype(dtype)
        # Rows of the owned vertices; their sources are numbered as in the whole graph.
        rows = Graph.trusted((share.indptr, share.indices, weights), directed=True)
        self._product = SpMV(rows, dtype=dtype, device=device)
        memory = Memory(device)
        self._x = memory.allocate("shares", share.facts.n, dtype)
        self._y = memory.allocate("sums", share.owned.count, dtype)

    def sums(self, x: NDArray[Any]) -> NDArray[np.float64]:
        """Sum what all vertices give along the edges into the owned ones."""
        self._x.write(x)
        self._product.enqueue(SweepLog(), self._x, self._y)
        return self._y.read().astype(np.float64)


class PageRank(StaysHere):
    """PageRank by the ranks of an MPI job, or of one process, one device each.

    Parameters
    ----------
    graph : Graph, scipy.sparse matrix, path, or Slices
        Directed or undirected; see `clgraph.cluster.BFS`.
    comm : Communicator or mpi4py communicator, optional
        Default is all ranks of the MPI job.
    weights : bool
        Whether a vertex gives along its edges in proportion to their weights, where there are some.
    dtype : {"float32", "float64"}, optional
        What is computed in; default is double precision where all devices have it.

    Raises
    ------
    InvalidGraphError
        If weights are to count and one is negative.
    ClusterError
        If ranks were given different things, or one has failed.
    DeviceMemoryError
        If a part does not fit its device.

    Notes
    -----
    Vertices in ranges. In every iteration each rank sends every other what its vertices give along
    each edge: n elements from all to all; before, 16 bytes to the owner for each source of its
    edges that is another's. Those of `clgraph.pagerank` by networkx's convention.
    """

    @flags
    def __init__(
        self, graph: Any, comm: Any = None, *, weights: bool = True, dtype: Any = None
    ) -> None:
        self.comm = communicator(comm)
        self._lock = threading.Lock()
        with self.comm.agreeing():
            slices = slices_of(graph)
            kinds = {real_type(dtype, device) for device in self.comm.devices}
        self.dtype = min(kinds, key=lambda kind: kind.itemsize)
        self.comm.check_alike({**slices.named, "weights": weights, "dtype": self.dtype.name})
        self._shares = shares_of(self.comm, turned(slices), "block", lambda _: True, back=False)
        self.facts = self._shares[0].facts
        with self.comm.agreeing():
            for share in self._shares:
                if weights and share.weights is not None and (share.weights < 0).any():
                    raise InvalidGraphError(
                        "ranks flow along weights from 0 on, and one is negative; pass "
                        "weights=False."
                    )
            self._weighted = weights and self.facts.weighted
            self._parts = [
                _Part(
                    share if self._weighted else share.unweighted(),
                    device,
                    self.dtype,
                )
                for share, device in zip(self._shares, self.comm.usual_devices, strict=True)
            ]

    @flags
    def run(
        self,
        *,
        alpha: float = 0.85,
        tol: float = 1e-6,
        max_iter: int = 100,
        gather: bool = True,
    ) -> Ranked:
        """Rank the vertices.

        Parameters
        ----------
        alpha : float
            Damping, in [0, 1).
        tol : float
            Iterations end when one changes ranks by less per vertex, in all.
        max_iter : int
            Most iterations.
        gather : bool
            Over MPI, whether rank 0 gets all ranks; every rank has those of its vertices.

        Returns
        -------
        Ranked
            ``ranks`` real, with sum 1; ``iterations``, ``error``, ``converged``.
        """
        start = time.perf_counter()
        with self._lock:
            with self.comm.agreeing():
                if not 0 <= (alpha := real("alpha", alpha)) < 1:
                    raise InvalidArgumentError(f"alpha={alpha!r} is not in [0, 1).")
                most, tol = whole("max_iter", max_iter), real("tol", tol, 0)
            self.comm.check_alike({"alpha": alpha, "tol": tol, "max_iter": most, "gather": gather})
            programs = [self._iterated(part, alpha, tol, most) for part in self._parts]
            found = run(self.comm, programs)
            total_ms = 1e3 * (time.perf_counter() - start)
            _, iterations, error, sent_bytes = found[0]
            n, ranks = self.facts.n, self.comm.size
            stats = RankedStats(
                kernel_ms=total_ms,
                total_ms=total_ms,
                rounds=iterations,
                message_rounds=iterations,
                sent_bytes=sent_bytes + iterations * n * (ranks - 1) * self.dtype.itemsize,
                devices=tuple(device.name for device in self.comm.devices),
            )
            return Ranked.of(
                self.comm,
                self._shares,
                [{"ranks": ranks_.astype(self.dtype)} for ranks_, *_ in found],
                stats,
                gather=gather,
                iterations=iterations,
                error=error,
                converged=error < tol * n or n == 0,
            )

    def _iterated(self, part: _Part, alpha: float, tol: float, most: int) -> Program:
        share, n = part.share, self.facts.n
        ranks = share.partition.ranks
        leaving, sent_bytes = yield from _leaving(share)
        gives = np.divide(1.0, leaving, out=np.zeros(leaving.size), where=leaving > 0)
        x = np.full(leaving.size, 1.0 / max(n, 1))
        error = 0.0
        for step in range(1, most + 1):
            own = (x * gives).astype(self.dtype)
            received = yield Swap([own] * ranks)
            before, held = x, float(x[leaving == 0].sum())
            rows = yield AllGather.of(held)
            held = float(rows.view(np.float64).sum())
            sums = part.sums(np.concatenate(received)) if n else x
            x = alpha * (sums + held / max(n, 1)) + (1 - alpha) / max(n, 1)
            change = float(np.abs(x - before).sum())
            rows = yield AllGather.of(change)
            error = float(rows.view(np.float64).sum())
            if error < tol * n or not n:
                return x, step, error, sent_bytes
        return x, most, error, sent_bytes


def _leaving(share: Share) -> Program:
    """Give the weight that leaves each owned vertex, by sending owners what of it is here.

    And the bytes that all ranks send for that.
    """
    partition, ranks = share.partition, share.partition.ranks
    sources, places = np.unique(share.indices.astype(np.int64), return_inverse=True)
    sums = np.bincount(places, weights=share.weights, minlength=sources.size).astype(np.float64)
    bounds = np.searchsorted(partition.owner(sources), np.arange(1, ranks))
    names = yield Swap(np.split(sources, bounds))
    parts = yield Swap(np.split(sums, bounds))
    numbers = partition.owned(np.concatenate(names), share.rank)
    others = int(np.count_nonzero(partition.owner(sources) != share.rank))
    sent_bytes = yield AllGather.of(16 * others)
    leaving = np.bincount(numbers, np.concatenate(parts), share.owned.count)
    return leaving, int(sent_bytes.sum())
