"""Distances and components of a dynamic graph, kept up to date."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.bfs.plan import bfs
from clgraph.algorithms.components.plan import connected_components
from clgraph.device import Memory
from clgraph.device.hardware.measured import JOINED_COMPONENTS_ANEW
from clgraph.dynamic.maintained.following import Follower
from clgraph.dynamic.storage.store import copied
from clgraph.errors import VerificationError
from clgraph.graph.arguments import flags, whole
from clgraph.graph.modules import module

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.dynamic.graph import DynamicGraph
    from clgraph.dynamic.maintained.following import Change
    from clgraph.dynamic.parts import Steps

__all__ = ["BFS", "ConnectedComponents"]

NO_WAY = 2**32 - 1


@dataclass(frozen=True, slots=True)
class _Hops:
    hops: Any
    n: int


class BFS(Follower):
    """Hop distances from a vertex of a dynamic graph.

    Parameters
    ----------
    graph : DynamicGraph
        What to follow.
    source : int
        A vertex of it.
    verify : bool
        Whether every answer is compared with a search.

    Notes
    -----
    Edges that join shorten ways: from their targets on edges are relaxed, round by round, each a
    look at all vertices. Edges that leave change nothing unless one led to a vertex one hop
    farther; then, or where a batch is large beside the graph, the search is done anew when somebody
    asks.

    Examples
    --------
    >>> import clgraph as cg
    >>> graph = cg.DynamicGraph(cg.generate.path(5))
    >>> search = cg.dynamic.BFS(graph, 0)
    >>> search.distances.tolist()
    [0, 1, 2, 3, 4]
    >>> done = graph.insert_edges([0], [3])
    >>> search.distances.tolist()
    [0, 1, 2, 1, 2]
    """

    @flags
    def __init__(self, graph: DynamicGraph, source: int, *, verify: bool = False) -> None:
        self.source = whole("source", source, least=0)
        self._memory = Memory(graph.device)
        super().__init__(graph, verify=verify)

    @property
    def distances(self) -> NDArray[np.int32]:
        """Hops from the source to each vertex now: int32 [n], -1 where there is no way."""
        with self.graph.lock:
            state = self.state
            hops = np.full(self.graph.n, -1, np.int32)
            hops[: state.n] = state.hops.read(state.n).view(np.int32)
            return hops

    def found(self) -> _Hops:
        """Search anew."""
        hops = bfs(self.graph, self.source).distances
        # -1 is the greatest number of 32 bits without a sign.
        return _Hops(self._memory.upload("hops", hops.astype(np.int32).view(np.uint32)), len(hops))

    def check(self, state: _Hops) -> None:
        """Compare with a search."""
        fresh = bfs(self.graph.to_graph(), self.source, device=self.graph.device).distances
        hops = np.full(len(fresh), -1, np.int32)
        hops[: state.n] = state.hops.read(state.n).view(np.int32)
        if not np.array_equal(hops, fresh):
            v = int(np.flatnonzero(hops != fresh)[0])
            raise VerificationError(f"vertex {v} was kept at {hops[v]} hops, but is at {fresh[v]}.")

    def advanced(self, steps: Steps, state: _Hops, change: Change) -> _Hops | None:
        """Relax distances, or keep them where no shortest way is lost."""
        log, n = steps["distances"], change.after.n
        hops = self._memory.upload("hops", np.full(n, NO_WAY, np.uint32))
        event = copied(state.hops, hops, state.n)
        log.add(event, event)
        flag = self._memory.upload("any", np.zeros(1, np.uint32))
        if not change.joins:
            self.kernels.launch(log, "follow_loses", change.batch.count, *change.keys, hops, flag)
            return None if flag.read()[0] else _Hops(hops, n)
        decreased, decreased_next = (
            self._memory.allocate("decreased", n, np.uint8) for _ in range(2)
        )
        for array in (decreased, decreased_next):
            event = array.clear()
            log.add(event, event)
        args = (*change.keys, hops, decreased, flag)
        self.kernels.launch(log, "follow_shorten", change.batch.count, *args)
        rows = (change.after.pointer, change.after.used, change.after.pools[0], np.uint32(n))
        for _ in range(n):
            if not flag.read()[0]:
                break
            flag.clear()
            self.kernels.launch(
                log, "follow_spread", n, *rows, hops, decreased, decreased_next, flag
            )
            decreased, decreased_next = decreased_next, decreased
        return _Hops(hops, n)


class ConnectedComponents(Follower):
    """Components of a dynamic graph, whatever way its edges point.

    Parameters
    ----------
    graph : DynamicGraph
        What to follow.
    verify : bool
        Whether every answer is compared with one that is found anew.

    Notes
    -----
    Edges that join two components of a graph on a CPU join them by their labels, in host memory;
    GPUs find components anew in less time. Other edges that join change nothing. Edges that leave
    may part a component;
    those that leave no other edge between the two components they would lie between cannot be known
    from others, so components are found anew when somebody asks.

    Examples
    --------
    >>> import clgraph as cg
    >>> graph = cg.DynamicGraph(n=4)
    >>> parts = cg.dynamic.ConnectedComponents(graph)
    >>> done = graph.insert_edges([0, 3], [2, 1])
    >>> parts.labels.tolist(), parts.count
    ([0, 1, 0, 1], 2)
    """

    @property
    def labels(self) -> NDArray[np.int32]:
        """Component of each vertex now: int32 [n], numbered by smallest member."""
        with self.graph.lock:
            labels: NDArray[np.int32] = _with_singles(self.state, self.graph.n)
            return labels.copy()

    @property
    def count(self) -> int:
        """Components now."""
        return int(self.labels.max(initial=-1)) + 1

    def found(self) -> NDArray[np.int32]:
        """Find the components anew."""
        return np.asarray(connected_components(self.graph).labels)

    def check(self, state: NDArray[np.int32]) -> None:
        """Compare with components that are found anew."""
        fresh = connected_components(self.graph.to_graph(), device=self.graph.device).labels
        if not np.array_equal(_with_singles(state, self.graph.n), fresh):
            raise VerificationError("components that were kept are not those of the graph.")

    def advanced(
        self, steps: Steps, state: NDArray[np.int32], change: Change
    ) -> NDArray[np.int32] | None:
        """Join the components that edges of the batch are between."""
        if not change.joins:
            return None
        steps.wait()
        labels = _with_singles(state, change.after.n)
        keys = change.batch.keys.read(change.batch.count)
        mask = np.uint64((1 << change.bits) - 1)
        sources = labels[(keys >> np.uint64(change.bits)).astype(np.int64)]
        targets = labels[(keys & mask).astype(np.int64)]
        apart = sources != targets
        if not apart.any():
            return labels
        if JOINED_COMPONENTS_ANEW.on(self.graph.device.traits):
            return None
        count = int(labels.max()) + 1
        sparse = module("scipy.sparse")
        ends = (sources[apart], targets[apart])
        between = sparse.coo_array((np.ones(len(ends[0]), np.int8), ends), shape=(count, count))
        between = between.tocsr()
        between.sum_duplicates()
        _, joined = module("scipy.sparse.csgraph").connected_components(between, directed=False)
        # Labels ascend with smallest members, so the first of a new component has its smallest.
        least = np.full(int(joined.max()) + 1, count, np.int64)
        np.minimum.at(least, joined, np.arange(count))
        number = np.empty(len(least), np.int32)
        number[np.argsort(least)] = np.arange(len(least), dtype=np.int32)
        return np.asarray(number[joined][labels])


def _with_singles(labels: NDArray[np.int32], n: int) -> NDArray[np.int32]:
    """Add a component for each vertex that has come since."""
    fresh = n - len(labels)
    if fresh == 0:
        return labels
    count = int(labels.max(initial=-1)) + 1
    return np.concatenate([labels, np.arange(count, count + fresh, dtype=np.int32)])
