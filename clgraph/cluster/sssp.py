"""Shortest paths by several ranks: near and far, with the decreases sent to their owners."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from clgraph.algorithms.bfs.config import BFSConfig
from clgraph.algorithms.sssp.cycle import too_long
from clgraph.algorithms.sssp.weights import Weights
from clgraph.apart import apart
from clgraph.cluster.bfs import communicator
from clgraph.cluster.bins import bins_exchanged
from clgraph.cluster.config import PartitionPlan
from clgraph.cluster.holding import shares_of
from clgraph.cluster.parts.paths import PathPart
from clgraph.cluster.parts.slices import GraphSlices, slices_of
from clgraph.cluster.ranked import Ranked, RankedStats
from clgraph.cluster.ranks.butterfly import butterflies
from clgraph.cluster.ranks.comm import AllGather, Program, Swap, run
from clgraph.cluster.verify import asked_of_owners, verified_lengths
from clgraph.device.staying import StaysHere
from clgraph.engine.arguments import vertex_number
from clgraph.engine.strategies.frontier import VertexQueue
from clgraph.errors import InvalidArgumentError
from clgraph.graph.arguments import flags, real

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.cluster.parts.share import Share
    from clgraph.cluster.ranks.butterfly import Butterfly

__all__ = ["SSSP"]


class SSSP(StaysHere):
    """Shortest paths by the ranks of an MPI job, or of one process, one device each.

    Parameters
    ----------
    graph : Graph, scipy.sparse matrix, path, or Slices
        With weights that are not negative; see `clgraph.cluster.BFS`.
    comm : Communicator or mpi4py communicator, optional
        Default is all ranks of the MPI job.
    predecessors : bool
        Whether searches label a tree too, by a pass over tight edges at their end.
    delta : float, optional
        How much farther than the nearest vertex is near; default is the largest weight over the
        mean degree.

    Raises
    ------
    InvalidArgumentError
        If there are no weights, one is negative, or `delta` is not positive.
    ClusterError
        If ranks were given different things, or one has failed.
    DeviceMemoryError
        If a part does not fit its device.

    Notes
    -----
    Vertices in ranges. Each rank keeps a length, and room for one more with the vertex, for every
    vertex of the graph: 12 bytes, or 24 for weights of 8 bytes. Distances are those of one device:
    sums along a path are taken in the same order.

    References
    ----------
    .. [1] U. Meyer, P. Sanders, "Delta-stepping: a parallelizable shortest path algorithm",
           J. Algorithms 49, 2003.
    """

    @flags
    def __init__(
        self,
        graph: Any,
        comm: Any = None,
        *,
        predecessors: bool = False,
        delta: float | None = None,
    ) -> None:
        self.comm = communicator(comm)
        self.with_predecessors = bool(predecessors)
        self._lock = threading.Lock()
        with self.comm.agreeing():
            slices = slices_of(graph)
            if delta is not None and real("delta", delta, 0) == 0:
                raise InvalidArgumentError("delta=0 is not a positive number.")
        self.comm.check_alike({**slices.named, "predecessors": predecessors, "delta": delta})
        self._labels = slices.graph.labels if isinstance(slices, GraphSlices) else None
        self._shares = shares_of(self.comm, slices, "block", lambda _: True, back=False)
        self.facts = self._shares[0].facts
        with self.comm.agreeing():
            weights = [_weights(share) for share in self._shares]
        run(self.comm, [_agreed(share, w) for share, w in zip(self._shares, weights, strict=True)])
        with self.comm.agreeing():
            largest = float(weights[0].largest)
            self.delta = delta or max(largest / max(self.facts.mean_degree, 1.0), 0.0) or 1.0
            if not weights[0].real:
                self.delta = max(int(self.delta), 1)
            partition_plan = PartitionPlan.of(
                self.facts, BFSConfig(frontier=VertexQueue(visited="bitmap"))
            )
            self._parts = [
                PathPart(
                    share,
                    w,
                    device,
                    partition_plan.resolved(share.sample, self.facts, device, predecessors=True),
                )
                for share, w, device in zip(self._shares, weights, self.comm.devices, strict=True)
            ]
            self._butterflies = butterflies(self.comm)

    @flags
    def run(self, source: int, *, gather: bool = True, verify: bool = False) -> Ranked:
        """Find shortest paths from one vertex.

        Parameters
        ----------
        source : int
            Vertex id in [0, n).
        gather, verify : bool
            As for `clgraph.cluster.BFS.run`.

        Returns
        -------
        Ranked
            ``distances`` in the type of the weights, `inf` or the largest integer where there is no
            path; ``predecessors`` int32 or None.

        Raises
        ------
        InvalidArgumentError, ClusterError, VerificationError
            As for `clgraph.cluster.BFS.run`.
        DistanceOverflowError
            If a shortest path is longer than the type of the weights holds.
        """
        start = time.perf_counter()
        with self._lock:
            with self.comm.agreeing():
                source = vertex_number(source, self.facts.n)
            self.comm.check_alike({"source": source, "gather": gather})
            ranks = zip(self._parts, self._butterflies, strict=True)
            found = run(self.comm, [self._search(*rank, source, verify) for rank in ranks])
            arrays = [{"distances": own, "predecessors": tree} for own, tree, *_ in found]
            rounds, message_rounds, sent = found[0][2:5]
            stats = RankedStats(
                kernel_ms=1e3 * max(spent for *_, spent in found),
                total_ms=1e3 * (time.perf_counter() - start),
                rounds=rounds,
                message_rounds=message_rounds,
                sent_bytes=sent,
                devices=tuple(device.name for device in self.comm.devices),
            )
            return Ranked.of(self.comm, self._shares, arrays, stats, gather=gather)

    def _search(self, part: PathPart, butterfly: Butterfly, source: int, verify: bool) -> Program:
        begun = time.perf_counter()
        weights, share = part.weights, part.share
        none = weights.keys.none
        part.begin(source)
        bound = self._beyond(weights, 0)
        part.collect(bound)
        rounds = message_rounds = sent_bytes = 0
        while True:
            rows = yield AllGather(part.near, part.looks())
            if not rows[:, 0].any():
                least = int(rows[:, 1].min())
                if least == none:
                    break
                bound = self._beyond(weights, least)
                part.collect(bound)
                continue
            rounds += 1
            part.relax()
            sent = yield AllGather(part.sent, part.looks())
            size, steps, received = yield from bins_exchanged(butterfly, part, sent)
            sent_bytes, message_rounds = sent_bytes + size, message_rounds + steps
            part.absorb(received)
            part.collect(bound)
        spent = time.perf_counter() - begun
        owned = share.owned
        keys = part.best.read()[owned.first : owned.first + owned.count]
        own = weights.lengths(keys)
        if weights.keys.guarded:
            yield from _refuse_longer(share, own, weights)
        tree = None
        if self.with_predecessors:
            tree = yield from _tree(share, own, weights, source)
        if verify:
            wide = np.float64 if weights.real else np.int64
            unreached = np.inf if weights.real else np.int64(2**62)
            known = np.where(own == weights.unreached, unreached, own.astype(wide))
            exact = own.dtype.type if weights.real else wide
            yield from verified_lengths(
                share,
                known.astype(exact),
                tree,
                np.asarray(weights.values, exact),
                source,
                unreached=exact(unreached),
                limit=np.inf,
            )
        return own, tree, rounds, message_rounds, sent_bytes, spent

    def _beyond(self, weights: Weights, key: int) -> int:
        """Give the key up to which vertices are near, if this is the least."""
        length = weights.length(key) if weights.real else key
        most = weights.keys.none - 1
        if not weights.real:
            return min(int(length) + int(self.delta), most)
        return apart(
            np.errstate(over="ignore")(
                lambda: min(max(weights.key(length + self.delta), key), most)
            )
        )


def _weights(share: Share) -> Weights:
    """Check the weights of a rank's edges."""
    facts = share.facts
    stand_in = SimpleNamespace(
        weights=share.weights,
        n=facts.n,
        directed=True,
        indptr=share.indptr,
        indices=share.indices,
    )
    weights = Weights(cast("Any", stand_in))
    if weights.negative:
        raise InvalidArgumentError(
            f"an edge weighs {weights.least}; ranks take weights that are not negative."
        )
    return weights


def _agreed(share: Share, weights: Weights) -> Program:
    """Have every rank know the largest weight of all, on which the form of keys depends."""
    exact = weights.dtype if weights.real else np.dtype(np.int64)
    received = yield Swap([np.array([weights.largest], exact)] * share.partition.ranks)
    weights.largest = weights.dtype.type(max(array[0] for array in received))


def _refuse_longer(share: Share, own: NDArray[Any], weights: Weights) -> Program:
    """Raise on every rank if a sum was too large that was the only way to a vertex."""
    reached = own != weights.unreached
    sources = np.repeat(share.owned.names, np.diff(share.indptr))
    targets = share.indices.astype(np.int64)
    at_targets = yield from asked_of_owners(share, targets, reached)
    out = np.flatnonzero(reached[share.partition.owned(sources, share.rank)] & ~at_targets)
    rows = yield AllGather.of(*((sources[out[0]], targets[out[0]]) if out.size else (-1, -1)))
    edges = rows[rows[:, 0] >= 0]
    if edges.size:
        raise too_long(tuple(edges[0]), weights)


def _tree(share: Share, own: NDArray[Any], weights: Weights, source: int) -> Program:
    """Give the owned vertices predecessors on shortest paths.

    An edge is tight if it makes up the difference of its ends. A tight edge from a nearer vertex
    may be anyone's; one between equals only counts if its source has a predecessor already, or
    there would be circles.
    """
    partition, rank, ranks = share.partition, share.rank, share.partition.ranks
    sources = np.repeat(share.owned.names, np.diff(share.indptr))
    targets = share.indices.astype(np.int64)
    at_sources = own[partition.owned(sources, rank)]
    at_targets = yield from asked_of_owners(share, targets, own)
    reached = at_sources != weights.unreached
    tight = apart(
        np.errstate(over="ignore")(lambda: reached & (at_sources + weights.values == at_targets))
    )
    strict = at_sources[tight] < at_targets[tight]
    owners = partition.owner(targets[tight])
    triples = np.stack([targets[tight], sources[tight], strict], axis=1)
    received = yield Swap([triples[owners == peer].ravel() for peer in range(ranks)])
    met = np.concatenate(received).reshape(-1, 3)
    numbers, strict = partition.owned(met[:, 0], rank), met[:, 2] == 1
    tree = np.full(own.size, -1, np.int32)
    tree[numbers[strict]] = met[strict, 1]
    tree[share.owned.names == source] = source
    level = met[~strict]
    numbers = numbers[~strict]
    while True:
        waiting = tree[numbers] < 0
        level, numbers = level[waiting], numbers[waiting]
        settled = yield from asked_of_owners(share, level[:, 1], tree >= 0)
        tree[numbers[settled]] = level[settled, 1]
        sums = yield AllGather.of(int(np.count_nonzero(settled)))
        if not sums.any():
            return tree
