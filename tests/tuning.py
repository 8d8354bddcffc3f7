"""Near and far with a threshold that tunes itself, whole searches in NumPy: an oracle."""

import math

import numpy as np
from paths import unreached

from clgraph.engine.control import Controller, Counts

# What the controller sees and does in a step, as searches record it.
TRACE = (
    *("X1", "X2", "X3", "X4", "S", "scanned", "cur", "partitions"),
    *("delta", "d", "alpha"),
)


def unit_of(graph):
    """The least difference of distances that counts."""
    if graph.weights.dtype.kind != "f":
        return 1.0
    mean = float(graph.weights.mean(dtype=np.float64)) if graph.m else 1.0
    return max(mean / 64.0, float(np.finfo(graph.weights.dtype).tiny))


def controller_of(graph, set_point):
    """A controller with the first threshold that searches use."""
    unit = unit_of(graph)
    mean = float(graph.weights.mean(dtype=np.float64)) if graph.m else 1.0
    return Controller(set_point, max(graph.m / graph.n, 1e-3), max(mean, unit), unit)


class TunedSearch:
    """One search; `trace` has a row for each step, `expansions` counts vertices' own."""

    def __init__(self, graph, source, set_point, controller=None):
        self.graph = graph
        self.control = controller or controller_of(graph, set_point)
        n, dtype = graph.n, graph.weights.dtype
        self.none = unreached(dtype)
        self.distances = np.full(n, self.none, dtype)
        self.expanded = np.full(n, self.none, dtype)
        self.live = np.full(n, -1)  # the partition a vertex waits in
        # Who has an entry in the partition of each parity, alive or not.
        self.held = np.zeros((2, n), bool)
        self.least = [math.inf, math.inf]
        self.expansions = np.zeros(n, int)
        self.largest = 0.0
        self.trace = []
        self.rises = []  # (threshold, who waited and was taken, who was near and was put aside)
        self.distances[source] = 0
        frontier = np.atleast_1d(source)
        while frontier is not None:
            frontier = self._step(frontier)

    def _advance(self, frontier):
        graph = self.graph
        assert np.unique(frontier).size == frontier.size
        snapshot = self.distances[frontier]
        assert (snapshot < self.expanded[frontier]).all() or not self.trace
        self.expanded[frontier] = snapshot
        self.expansions[frontier] += 1
        counts = graph.degrees[frontier].astype(np.int64)
        places = np.repeat(graph.indptr[frontier], counts) + (
            np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        )
        heads = graph.indices[places]
        lengths = np.repeat(snapshot, counts) + graph.weights[places]
        before = self.distances.copy()
        np.minimum.at(self.distances, heads, lengths.astype(self.distances.dtype))
        return places.size, np.flatnonzero(self.distances < before)

    def _put_aside(self, vertices, partition):
        parity = partition % 2
        self.held[parity, vertices] = True
        self.live[vertices] = partition
        if vertices.size:
            self.least[parity] = min(self.least[parity], float(self.distances[vertices].min()))

    def _bisect(self, improved):
        control, lengths = self.control, self.distances[improved]
        is_near = lengths.astype(float) <= control.delta
        near, far = improved[is_near], improved[~is_near]
        self.largest = max(self.largest, float(lengths.max(initial=0)))
        self.live[near] = -1
        belongs = (
            np.where(self.distances[far].astype(float) <= control.bound, 0, 1) + control.current
        )
        stays = (self.live[far] >= 0) & (self.live[far] <= belongs)
        for partition in (control.current, control.current + 1):
            self._put_aside(far[np.where(stays, self.live[far], belongs) == partition], partition)
        return near

    def _step(self, frontier):
        control = self.control
        edges, improved = self._advance(frontier) if frontier.size else (0, frontier)
        near = self._bisect(improved)
        here, after = control.current % 2, (control.current + 1) % 2
        waiting = [int((self.live == control.current + k).sum()) for k in (0, 1)]
        row = [frontier.size, edges, improved.size, near.size]
        threshold = control.delta
        if not near.size and not any(waiting):
            self.trace.append(
                (
                    *row,
                    0,
                    0,
                    control.current,
                    control.partitions,
                    threshold,
                    control.degree.value,
                    control.density.value,
                )
            )
            return None
        control.turn(
            Counts(
                *row,
                *waiting,
                nearest=float(self.distances[near].min()) if near.size else math.inf,
                nearest_far=self.least[here],
                nearest_beyond=self.least[after],
                largest=self.largest,
            )
        )
        if control.advanced:
            self.held[here] = False
            self.least[here] = math.inf
        taken, scanned = self._rebalance(near)
        self.trace.append(
            (
                *row,
                waiting[control.advanced],
                scanned,
                control.current,
                control.partitions,
                threshold,
                control.degree.value,
                control.density.value,
            )
        )
        return taken

    def _rebalance(self, near):
        control = self.control
        lengths = self.distances[near].astype(float)
        aside = near[lengths > control.delta]
        taken, scanned = [near[lengths <= control.delta]], 0
        for partition in (control.current, control.current + 1):
            parity = partition % 2
            waits = self.live == partition
            if not waits.any() or self.least[parity] > control.delta:
                continue
            scanned += int(self.held[parity].sum())
            rises = waits & (self.distances.astype(float) <= control.delta)
            taken.append(np.flatnonzero(rises))
            self.live[rises] = -1
            stays = self.distances[waits & ~rises]
            self.least[parity] = float(stays.min()) if stays.size else math.inf
        self._put_aside(aside, control.current)
        self.rises.append((control.delta, np.concatenate(taken[1:] or [aside[:0]]), aside))
        return np.concatenate(taken), scanned

    @property
    def table(self):
        """The trace by name."""
        return {
            name: np.array(column)
            for name, column in zip(TRACE, zip(*self.trace, strict=True), strict=True)
        }
