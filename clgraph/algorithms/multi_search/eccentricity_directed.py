"""The longest finite distance of a directed graph in which not all vertices reach one another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from clgraph.algorithms.bfs.plan import BFS
from clgraph.algorithms.multi_search.bounds import FEW, Bounds
from clgraph.graph.csr import row_ids
from clgraph.progress import report_progress

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.algorithms.multi_search.config import MultiSearchConfig
    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

    Array = NDArray[np.int64]

__all__ = ["DirectedBounds"]

SEARCHES_A_ROUND = 2  # each way, after bounds from every component
ROUNDS = 24


class DirectedBounds(Bounds):
    """Bounds on the distances from and to every vertex, and the largest distance seen.

    Parameters
    ----------
    graph : Graph
        Directed.
    device : Device
        Where searches run.
    labels : integers [n]
        Strongly connected component of each vertex, numbered without gaps.
    config : MultiSearchConfig or str, optional
        Of searches in batches.

    Notes
    -----
    A round takes a pivot in every component and bounds how far it reaches: to the farthest of its
    component, or by an edge to another one and on from the pivot there. What a vertex reaches is no
    farther than by way of its pivot. Between rounds searches start from where the bounds are
    largest, in either direction; it is enough that the bounds of one direction come down to the
    largest distance seen.

    References
    ----------
    .. [1] M. Borassi, P. Crescenzi, M. Habib, W. A. Kosters, A. Marino, F. W. Takes, "Fast diameter
           and radius BFS-based computation in (weakly connected) real-world graphs", Theoretical
           Computer Science 586 (2015).
    """

    def __init__(
        self,
        graph: Graph,
        device: Device,
        labels: NDArray[np.int32],
        config: MultiSearchConfig | str | None = None,
    ) -> None:
        super().__init__(device, config)
        self._ways = [_Way(graph, device), _Way(graph.transpose(), device)]
        self._parts = _Parts(graph, labels)

    def narrow(self, progress: Progress | None) -> int:
        """Search until no bound of one direction exceeds the largest distance."""
        rounds = 0
        while True:
            if rounds < ROUNDS:
                self._bound()
                rounds += 1
            for _ in range(SEARCHES_A_ROUND):
                for way, back in (self._ways, self._ways[::-1]):
                    fewest = min(self._ways, key=lambda w: len(w.left(self.longest)))
                    left = fewest.left(self.longest)
                    n = way.upper.size
                    report_progress(progress, n - left.size, n, "diameter")
                    if not left.size:
                        return self.longest
                    if rounds < ROUNDS or left.size <= FEW:
                        self._search(way, back)
                    else:
                        self._search_many(fewest.graph, left, fewest.upper, fewest.lower)

    def _search(self, way: _Way, back: _Way) -> None:
        left = way.left(self.longest)
        if not left.size:
            return
        start = int(left[np.lexsort((-way.lower[left], -way.upper[left]))[0]])
        found = way.plan.run(start)
        self.searches += 1
        self.longest = max(self.longest, found.depth)
        way.upper[start] = way.lower[start] = found.depth
        np.maximum(back.lower, found.distances, out=back.lower)

    def _bound(self) -> None:
        ahead, back = self._ways
        bounds = self._parts.bounds(ahead.lower + back.lower)
        for way, bound in zip(self._ways, bounds, strict=True):
            np.minimum(way.upper, bound, out=way.upper)


class _Way:
    """What is known of one direction: how far vertices reach at least, and at most."""

    def __init__(self, graph: Graph, device: Device) -> None:
        self.graph = graph
        self.plan = BFS(graph, device=device)
        self.lower = np.zeros(graph.n, np.int64)
        self.upper = np.full(graph.n, graph.n - 1, np.int64)

    def left(self, longest: int) -> Array:
        """Vertices that may reach farther than that."""
        return np.flatnonzero(self.upper > longest)


class _Parts:
    """The strongly connected components, and the edges between them by pairs of components."""

    def __init__(self, graph: Graph, labels: NDArray[np.int32]) -> None:
        self.labels = labels.astype(np.int64)
        self.count = int(labels.max()) + 1
        edge_sources = row_ids(graph.indptr).astype(np.int64)
        edge_targets = graph.indices.astype(np.int64)
        across = self.labels[edge_sources] != self.labels[edge_targets]
        self._inner = _Rows.of(edge_sources[~across], edge_targets[~across], graph.n)
        self._inner_back = _Rows.of(edge_targets[~across], edge_sources[~across], graph.n)
        pairs = self.labels[edge_sources[across]] * self.count + self.labels[edge_targets[across]]
        order = np.argsort(pairs, kind="stable")
        self._edge_sources, self._edge_targets = (
            edge_sources[across][order],
            edge_targets[across][order],
        )
        self._pairs, self._first = np.unique(pairs[order], return_index=True)
        self._from, self._to = np.divmod(self._pairs, self.count)
        self._by_from, self._by_to = self._layers()
        self._used = np.zeros(graph.n, bool)

    def _layers(self) -> tuple[list[tuple[Array, Array]], list[tuple[Array, Array]]]:
        """Pairs in an order in which what they lead to is known, and the other way round.

        Each item has the pairs whose first (or second) components are of one layer, sorted by
        these, and the places where those of the next of these begin.
        """
        pending = np.bincount(self._from, minlength=self.count)
        into = _Rows.of(self._to, self._from, self.count)
        layer = np.zeros(self.count, np.int64)
        ready, depth = np.flatnonzero(pending == 0), 0
        while ready.size:
            layer[ready] = depth
            above, taken = np.unique(into.targets_of(ready), return_counts=True)
            pending[above] -= taken
            ready, depth = above[pending[above] == 0], depth + 1
        out = []
        for own, rank in ((self._from, layer), (self._to, depth - layer)):
            order = np.lexsort((own, rank[own]))
            cuts = np.flatnonzero(np.diff(rank[own][order])) + 1
            groups = [group for group in np.split(order, cuts) if group.size]
            begins = [np.flatnonzero(np.diff(own[group], prepend=-1)) for group in groups]
            out.append(list(zip(groups, begins, strict=True)))
        return out[0], out[1]

    def bounds(self, key: Array) -> tuple[Array, Array]:
        """Bound how far every vertex reaches, and from how far it is reached.

        Parameters
        ----------
        key : int64 [n]
            The vertex of each component with the least, of those not taken before, is its pivot.
        """
        order = np.lexsort((key, self._used, self.labels))
        pivots = order[np.flatnonzero(np.diff(self.labels[order], prepend=-1))]
        self._used[pivots] = True
        away = self._inner.spread(pivots)  # from the pivot of each vertex's component
        near = self._inner_back.spread(pivots)  # to it
        own = np.zeros((2, self.count), np.int64)
        np.maximum.at(own[0], self.labels, away)
        np.maximum.at(own[1], self.labels, near)
        if self._pairs.size:
            lengths = away[self._edge_sources] + 1 + near[self._edge_targets]
            shortest = np.minimum.reduceat(lengths, self._first)
            _longest(own[0], self._from, self._to, shortest, self._by_from)
            _longest(own[1], self._to, self._from, shortest, self._by_to)
        return near + own[0][self.labels], away + own[1][self.labels]


def _longest(
    reach: Array,
    own: Array,
    other: Array,
    lengths: Array,
    layers: list[tuple[Array, Array]],
) -> None:
    """Extend the reach of components by what they lead to, layer by layer."""
    for pairs, begins in layers:
        beyond = np.maximum.reduceat(lengths[pairs] + reach[other[pairs]], begins)
        here = own[pairs[begins]]
        reach[here] = np.maximum(reach[here], beyond)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Edges by their sources."""

    begins: Array
    edge_targets: Array

    @classmethod
    def of(cls, edge_sources: Array, edge_targets: Array, n: int) -> _Rows:
        begins = np.zeros(n + 1, np.int64)
        np.cumsum(np.bincount(edge_sources, minlength=n), out=begins[1:])
        return cls(begins, edge_targets[np.argsort(edge_sources, kind="stable")])

    def targets_of(self, vertices: Array) -> Array:
        """Edge targets of all edges out of some vertices."""
        begins = self.begins[vertices]
        counts = self.begins[vertices + 1] - begins
        ends = np.cumsum(counts)
        shift = np.repeat(begins - ends + counts, counts)
        found: Array = self.edge_targets[shift + np.arange(shift.size)]
        return found

    def spread(self, sources: Array) -> Array:
        """Hops from the nearest of the sources, of which one reaches every vertex."""
        hops = np.full(self.begins.size - 1, -1, np.int64)
        hops[sources] = 0
        frontier, depth = sources, 0
        while frontier.size:
            depth += 1
            found = self.targets_of(frontier)
            frontier = np.unique(found[hops[found] < 0])
            hops[frontier] = depth
        return hops
