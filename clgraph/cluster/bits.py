"""Devices that each know the status of all vertices and tell each other one bit a vertex."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph.algorithms.bfs_hubs import hub_floor
from clgraph.algorithms.bfs_stages import UNREACHED
from clgraph.cluster.level import Level
from clgraph.cluster.parts import parts_in_ranges
from clgraph.cluster.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

    from clgraph.cluster.parts import Part
    from clgraph.device import Device
    from clgraph.engine.choose import Resolved
    from clgraph.graph import Graph

__all__ = ["BitExchange"]


class BitExchange:
    """A level: push or pull what one owns, put the bits of all together, collect the next queue.

    Parameters
    ----------
    graph : Graph
        What is searched; pulling takes its transpose.
    devices : sequence of Device
        One for each part, a range of vertices.
    configs : sequence of Resolved
        How each expands, and from the first how and when levels pull: all decide alike.
    predecessors : bool
        Whether a tree is labelled. A device has the parents of what it found itself.

    Notes
    -----
    Of each device's memory: the rows of its vertices (their in-edges too, where levels may pull and
    the graph is directed), two words a vertex it owns, and a word (two, with a tree) and a bit for
    each vertex of the graph.
    """

    def __init__(
        self,
        graph: Graph,
        devices: Sequence[Device],
        configs: Sequence[Resolved],
        *,
        predecessors: bool,
    ) -> None:
        self._graph = graph
        self._config = config = configs[0]
        count = len(devices)
        parts = parts_in_ranges(graph, count)
        back: Sequence[Part | None] = [None] * count
        if config.pull and graph.directed:
            back = parts_in_ranges(graph.transpose(), count)
        self._floor = config.hub_floor
        if self._floor < 0:
            self._floor = hub_floor(graph.degrees, config.hub_cache or 1024)
        self._hubs = int(np.count_nonzero(graph.degrees > self._floor))
        shared = {"exchange": "bits", "predecessors": predecessors}
        self._workers = [
            _Worker(graph.n, back[place], device, part, place, count, each, **shared)
            for place, (device, part, each) in enumerate(zip(devices, parts, configs, strict=True))
        ]
        self._pulls = False
        self._explored = 0

    def start(self, source: int) -> None:
        """Begin a search from a vertex."""
        for worker in self._workers:
            worker.start(source)
        self._pulls = False
        self._explored = int(self._graph.degrees[source])

    def advance(self, level: int) -> Level:
        """Find the vertices at distance `level`."""
        direction = "pull" if self._pulls else "push"
        for worker in self._workers:
            worker.inspect(level, pulls=self._pulls)
        shares = [worker.bits() for worker in self._workers]
        merged = np.bitwise_or.reduce(shares)
        sent = sum(share.nbytes for share in shares) if len(shares) > 1 else 0
        if not merged.any():
            return Level(0, sent, direction, over=True)
        return Level(self._merge(merged, level), sent, direction, over=False)

    def _merge(self, merged: NDArray[np.uint32], level: int) -> int:
        """Tell every device what all have found; gives how many vertices these are."""
        for worker in self._workers:
            worker.merge(merged, level)
            worker.collect(level, pulls=self._pulls, anew=False, hub_floor=self._floor)
        counts = [worker.counts() for worker in self._workers]
        found = sum(each[0] for each in counts)
        hubs = sum(each[1] for each in counts)
        edges = sum(each[2] for each in counts)
        self._explored += edges
        if not self._pulls and self._config.pull and self._turns(hubs, edges):
            self._pulls = True
            for worker in self._workers:
                worker.collect(level, pulls=True, anew=True, hub_floor=self._floor)
                worker.counts()
        return found

    def _turns(self, hubs: int, edges: int) -> bool:
        """Whether the next level pulls, and those after it: of all devices' counts together."""
        config = self._config
        if config.switching == "hubs":
            return self._hubs > 0 and 100 * hubs > config.gamma * self._hubs
        unexplored = max(self._graph.m - self._explored, 0)
        return edges > unexplored // config.alpha + self._graph.n // config.pull_floor

    def distances(self) -> NDArray[np.int32]:
        """Hops of all vertices, int32 [n]; every device has them all."""
        return self._workers[0].distances.read()

    def predecessors(self) -> NDArray[np.int32]:
        """Parents of all vertices, int32 [n]: whichever device has one."""
        whole = np.full(self._graph.n, UNREACHED, np.int32)
        for worker in self._workers:
            np.maximum(whole, worker.tree.read(), out=whole)
        return whole


class _Worker(Worker):
    """A device that owns a range of vertices and knows the status of all."""

    def __init__(self, n: int, back: Part | None, *given: Any, **shared: Any) -> None:
        super().__init__(*given, **shared)
        memory = self.memory
        self._n = np.uint32(n)
        self._tree_wanted = bool(shared["predecessors"])
        self._first = np.uint32(self.part.vertices[0] if self.part.size else 0)
        self._in_indptr, self._in_indices = self.indptr, self.indices
        if back is not None:
            self._in_indptr = self.upload_offsets("in_indptr", back)
            self._in_indices = memory.upload("in_indices", back.indices.astype(np.uint32))
        self.distances = memory.allocate("distances", n, np.int32)
        self.tree = memory.allocate("predecessors", n if self._tree_wanted else 1, np.int32)
        self._bits = memory.allocate("bits", -(-n // 32), np.uint32)
        self._sizes = memory.allocate("sizes", 3, np.uint32)
        self._edges = memory.allocate("edges", 1, np.uint64)

    def start(self, source: int) -> None:
        """Forget the last search; every device learns of the source."""
        self.fill(self.distances, UNREACHED)
        if self._tree_wanted:
            self.fill(self.tree, UNREACHED)
        self.launch("part_source", np.uint32(source), np.int32(source), self.distances, self.tree)
        local = source - int(self._first)
        self.length = int(0 <= local < self.part.size)
        if self.length:
            self.queues[0].write(np.array([local], np.uint32))

    def inspect(self, level: int, *, pulls: bool) -> None:
        """Expand the frontier, or look for parents of what is unvisited; then pack the bits."""
        if self.length:
            rows = (self._in_indptr, self._in_indices) if pulls else (self.indptr, self.indices)
            self.launch(
                "part_pull" if pulls else "part_push",
                *(*rows, self.queues[0], np.uint32(self.length), self._first),
                *(np.int32(level), self.distances, self.tree),
            )
        self.launch("part_pack", self.distances, self._n, np.int32(level), self._bits)

    def bits(self) -> NDArray[np.uint32]:
        """One bit for each vertex that this device has found at this level."""
        self.finish()
        return self._bits.read()

    def merge(self, merged: NDArray[np.uint32], level: int) -> None:
        """Learn what all devices have found."""
        self._bits.write(merged)
        self.launch("part_merge", self._bits, self._n, np.int32(level), self.distances)

    def collect(self, level: int, *, pulls: bool, anew: bool, hub_floor: int) -> None:
        """Queue what this device owns and the level found, or what it has yet to find.

        The latter comes out of the queue before, but for the first time.
        """
        given = pulls and not anew
        self.fill(self._sizes)
        self.fill(self._edges)
        self.launch(
            "part_collect",
            *(self.indptr, self.queues[0], np.uint32(given)),
            *(np.uint32(self.length if given else self.part.size), self._first),
            *(np.int32(UNREACHED if pulls else level), np.int32(level), np.uint32(hub_floor)),
            *(self.distances, self.queues[1], self._sizes, self._edges),
        )

    def counts(self) -> tuple[int, int, int]:
        """End the level; gives how many it found here, hubs among them, and their out-edges."""
        self.finish()
        queued, found, hubs = self._sizes.read()
        self.length = int(queued)
        self.swap()
        return int(found), int(hubs), int(self._edges.read()[0])
