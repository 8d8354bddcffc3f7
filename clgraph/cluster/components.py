"""Connected components by several ranks: each its own edges, and the first those of all."""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.components.plan import ConnectedComponents as OneDevice
from clgraph.cluster.bfs import communicator
from clgraph.cluster.holding import shares_of
from clgraph.cluster.parts.partition import PARTITIONS
from clgraph.cluster.parts.slices import slices_of
from clgraph.cluster.ranked import Ranked, RankedStats
from clgraph.cluster.ranks.butterfly import butterflies
from clgraph.cluster.ranks.comm import AllGather, Program, run
from clgraph.cluster.verify import asked_of_owners
from clgraph.device.staying import StaysHere
from clgraph.errors import VerificationError
from clgraph.graph import Graph, csr
from clgraph.graph.arguments import flags, one_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from clgraph.cluster.parts.share import Share
    from clgraph.cluster.ranks.butterfly import Butterfly
    from clgraph.device import Device

__all__ = ["ConnectedComponents"]


class ConnectedComponents(StaysHere):
    """Connected components by the ranks of an MPI job, or of one process, one device each.

    Parameters
    ----------
    graph : Graph, scipy.sparse matrix, path, or Slices
        Directed or undirected; directions and weights are ignored. See `clgraph.cluster.BFS`.
    comm : Communicator or mpi4py communicator, optional
        Default is all ranks of the MPI job.
    partition : {"block", "cyclic", "2d", "1.5d"}, optional
        Who has which edges; any will do, default is chosen by the graph.

    Raises
    ------
    ClusterError
        If ranks were given different things, or one has failed.
    DeviceMemoryError
        If a part does not fit its device.

    Notes
    -----
    Each rank finds the components of its own edges on its device. Then the first puts together what
    all have: at most 8 bytes for each vertex that is not the smallest of its component, which go to
    it straight, or in log2 of the ranks rounds in which whoever is sent some finds the components
    of these and of its own, whichever costs less. So
    few rounds are needed whatever the graph's diameter. At last the first rank sends owners 4 bytes
    for each vertex. Each rank holds 4 bytes of labels for every
    vertex of the graph. Labels are those of one device, exactly.
    """

    def __init__(self, graph: Any, comm: Any = None, *, partition: str | None = None) -> None:
        self.comm = communicator(comm)
        self._lock = threading.Lock()
        with self.comm.agreeing():
            slices = slices_of(graph)
            if partition is not None:
                one_of("partition", partition, PARTITIONS)
        self.comm.check_alike({**slices.named, "partition": partition})
        self._shares = shares_of(self.comm, slices, partition, lambda _: False, back=False)
        self.facts = self._shares[0].facts
        with self.comm.agreeing():
            self._plans = [
                OneDevice(_widened(share), device=device)
                for share, device in zip(self._shares, self.comm.usual_devices, strict=True)
            ]

    @flags
    def run(self, *, gather: bool = True, verify: bool = False) -> Ranked:
        """Find the components.

        Parameters
        ----------
        gather : bool
            Over MPI, whether rank 0 gets all labels; every rank has those of its vertices.
        verify : bool
            Whether to check that every edge stays within a component.

        Returns
        -------
        Ranked
            ``labels`` int32, 0..k-1, numbered by smallest member; ``count``.
        """
        start = time.perf_counter()
        with self._lock:
            self.comm.check_alike({"gather": gather, "verify": verify})
            programs = [
                self._found(*of, verify=verify)
                for of in zip(
                    *(self._shares, self._plans, self.comm.usual_devices, butterflies(self.comm)),
                    strict=True,
                )
            ]
            found = run(self.comm, programs)
            total_ms = 1e3 * (time.perf_counter() - start)
            _, count, exchanges, rounds, sent = found[0]
            names = tuple(device.name for device in self.comm.devices)
            stats = RankedStats(total_ms, total_ms, exchanges, rounds, sent, names)
            arrays: list[Any] = [{"labels": labels} for labels, *_ in found]
            return Ranked.of(self.comm, self._shares, arrays, stats, gather=gather, count=count)

    def _found(
        self, share: Share, plan: OneDevice, device: Device, butterfly: Butterfly, *, verify: bool
    ) -> Program:
        n, ids = share.facts.n, np.dtype(csr.index_dtype(max(share.facts.n, 1)))
        pairs = _pairs(_smallest(plan, n)).astype(ids)
        unite = partial(_together, n, device=device)
        pairs, united_bytes, rounds = yield from butterfly.to_first(pairs, unite, 2 * max(n - 1, 0))
        # The first rank has all; it numbers components by their smallest members.
        out = [np.zeros(0, ids)] * share.partition.ranks
        count = 0
        if share.rank == 0:
            labels = np.arange(n)
            labels[pairs[::2]] = pairs[1::2]
            roots = labels == np.arange(n)
            numbers = (np.cumsum(roots) - 1)[labels]
            count = int(np.count_nonzero(roots))
            out = [numbers[owned.vertices].astype(ids) for owned in share.partition.shares]
        received, dealt_bytes, more = yield from butterfly.arrays_to_each(out)
        counts = yield AllGather.of(count)
        own = received[0].astype(np.int32)
        if verify:
            yield from _verified(share, own)
        exchanges = int(rounds > 0) + int(more > 0)
        return own, int(counts[0, 0]), exchanges, rounds + more, united_bytes + dealt_bytes


def _widened(share: Share) -> Graph:
    """Give a rank's rows as a graph of all vertices."""
    n, names = share.facts.n, share.rows.names
    degrees = np.zeros(n + 1, np.int64)
    degrees[names + 1] += np.diff(share.indptr)
    sources = np.repeat(names, np.diff(share.indptr))
    ids = csr.index_dtype(max(n, 1))
    arrays = csr.edges_to_csr(n, sources.astype(ids), share.indices.astype(ids), None)
    return Graph.trusted(arrays, directed=True)


def _smallest(plan: OneDevice, n: int) -> NDArray[np.int64]:
    """Give the smallest vertex of everyone's component."""
    if not n:
        return np.zeros(0, np.int64)
    labels = plan.run().labels
    _, first = np.unique(labels, return_index=True)  # in the order of the labels: 0, 1, ...
    return first[labels].astype(np.int64)


def _pairs(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give all vertices but the smallest of their components, each with that behind it."""
    others = np.flatnonzero(labels != np.arange(labels.size))
    return np.stack([others, labels[others]], axis=1).ravel()


def _together(n: int, known: Sequence[NDArray[Any]], *, device: Device) -> NDArray[Any]:
    """Give such pairs of the components that several lists of them join."""
    sources, targets = np.concatenate(known).reshape(-1, 2).T
    graph = Graph.trusted(csr.edges_to_csr(n, sources, targets, None), directed=True)
    return _pairs(_smallest(OneDevice(graph, device=device), n)).astype(sources.dtype)


def _verified(share: Share, own: NDArray[Any]) -> Program:
    """Check that every edge of this rank stays within a component.

    Raises
    ------
    VerificationError
        On every rank, if one leaves it.
    """
    sources = np.repeat(share.rows.names, np.diff(share.indptr))
    targets = share.indices.astype(np.int64)
    ends = yield from asked_of_owners(share, np.concatenate([sources, targets]), own)
    apart = np.flatnonzero(ends[: sources.size] != ends[sources.size :])
    edge = [int(sources[apart[0]]), int(targets[apart[0]])] if apart.size else [-1, -1]
    rows = yield AllGather.of(*edge)
    for source, target in rows:
        if source >= 0:
            raise VerificationError(f"edge {source} -> {target} joins two components")
