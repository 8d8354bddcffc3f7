"""Bounds on eccentricities that searches narrow, and those where the triangle inequality holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph.algorithms.bfs.plan import BFS
from clgraph.algorithms.multi_search.totals import Searcher
from clgraph.progress import report_progress

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.algorithms.multi_search.config import MultiSearchConfig
    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

    Array = NDArray[np.int64]

__all__ = ["FEW", "Bounds", "MutualBounds"]

PIVOTS = 48  # single searches that tighten bounds before candidates are searched in batches
FEW = 4  # candidates so few that batches gain nothing
BATCH = 1024


class Bounds:
    """What searches that narrow bounds have in common, and the largest distance seen.

    Parameters
    ----------
    device : Device
        Where searches run.
    config : MultiSearchConfig or str, optional
        Of those in batches.
    """

    def __init__(self, device: Device, config: MultiSearchConfig | str | None) -> None:
        self.device = device
        self._config = config
        self.searches = 0
        self.longest = 0

    def _search_many(self, graph: Graph, left: Array, upper: Array, lower: Array) -> None:
        """Search from those that are `left` with the largest bounds, which are exact then."""
        batch = left[np.argsort(-upper[left], kind="stable")[:BATCH]]
        found = Searcher(graph, self.device, config=self._config).totals(batch).farthest
        self.searches += batch.size
        upper[batch] = lower[batch] = found
        self.longest = max(self.longest, int(found.max()))


class MutualBounds(Bounds):
    """Upper bounds on the eccentricity of every vertex, and the largest distance seen.

    Parameters
    ----------
    graph : Graph
        One in which vertices reach one another or neither the other.
    device : Device
        Where searches run.
    labels : integers [n]
        Component of each vertex.
    config : MultiSearchConfig or str, optional
        Of searches in batches.
    """

    def __init__(
        self,
        graph: Graph,
        device: Device,
        labels: NDArray[np.int32],
        config: MultiSearchConfig | str | None = None,
    ) -> None:
        super().__init__(device, config)
        self.graph = graph
        self.upper = np.bincount(labels)[labels] - 1
        # Of each component the searched vertex that is nearest to all, and how far others are.
        self._labels = labels
        self._radius = np.full(int(labels.max()) + 1, graph.n)
        self._from_centre = np.full(graph.n, graph.n)
        self.lower = np.zeros(graph.n, np.int64)
        self._out = BFS(graph, device=device)
        self._back = BFS(graph.transpose(), device=device) if graph.directed else self._out

    def narrow(self, progress: Progress | None) -> int:
        """Search until no bound exceeds the largest distance."""
        n = self.graph.n
        degrees = self.graph.degrees
        while True:
            left = self._left()
            report_progress(progress, n - left.size, n, "diameter")
            if not left.size:
                return self.longest
            if self.searches >= PIVOTS and left.size > FEW:
                self._search_many(self.graph, left, self.upper, self.lower)
                continue
            # In turns one that may be far from everything, and one that is near to everything and
            # so gives good bounds; the busiest of equals.
            key = -self.upper[left] if self.searches % 2 else self.lower[left]
            if not self.searches:
                key = np.zeros(left.size, np.int64)
            self._search(int(left[np.lexsort((-degrees[left], key))[0]]))

    def _left(self) -> Array:
        """Vertices from which a larger distance may lead.

        Of two ends that are farther apart one is farther than half of that from the centre.
        """
        open_bound = self.upper > self.longest
        return np.flatnonzero(open_bound & (2 * self._from_centre > self.longest))

    def _search(self, pivot: int) -> None:
        ahead = self._out.run(pivot)
        self.searches += 1
        self.longest = max(self.longest, ahead.depth)
        away = ahead.distances
        towards = self._back.run(pivot) if self.graph.directed else ahead
        self.longest = max(self.longest, towards.depth)
        near = towards.distances
        here = near >= 0
        component = self._labels[pivot]
        if not self.graph.directed and ahead.depth < self._radius[component]:
            self._radius[component] = ahead.depth
            self._from_centre[here] = near[here]
        self.upper[here] = np.minimum(self.upper[here], near[here] + ahead.depth)
        # The farthest from the pivot is no nearer to v than that distance less d(pivot, v).
        least = np.maximum(near[here], ahead.depth - away[here])
        self.lower[here] = np.maximum(self.lower[here], least)
        self.upper[pivot] = self.lower[pivot] = ahead.depth
