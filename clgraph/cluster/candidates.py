"""Devices that send each other the neighbours they found, to whoever owns them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph.algorithms.bfs_stages import UNREACHED
from clgraph.cluster.level import Level
from clgraph.cluster.parts import parts_in_turns
from clgraph.cluster.worker import Worker
from clgraph.errors import QueueOverflowError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

    from clgraph.device import Device
    from clgraph.engine.choose import Resolved
    from clgraph.graph import Graph

__all__ = ["CandidateExchange"]


class CandidateExchange:
    """A level: expand into bins by owner, hand the bins over, contract each to the next frontier.

    Parameters
    ----------
    graph : Graph
        What is searched.
    devices : sequence of Device
        One for each part.
    configs : sequence of Resolved
        How each expands.
    predecessors : bool
        Whether candidates carry the vertex that led to them.

    Notes
    -----
    Of each device's memory: the rows of a p-th of the vertices, a word for each of their edges in
    bins and as much as the fullest bin of another device, three words a vertex it owns, and a bit
    for each vertex of the graph; bins of twice that where a tree is labelled.
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
        self._candidate_bytes = 8 if predecessors else 4
        count = len(devices)
        parts = parts_in_turns(graph, count)
        # There can be no more candidates from a part for another than edges, as claims are atomic.
        self._most = np.stack(
            [np.bincount(part.indices % count, minlength=count) for part in parts]
        )
        shared = {"exchange": "candidates", "predecessors": predecessors}
        self._workers = [
            _Worker(graph.n, self._most, device, part, place, count, config, **shared)
            for place, (device, part, config) in enumerate(
                zip(devices, parts, configs, strict=True)
            )
        ]

    def start(self, source: int) -> None:
        """Begin a search from a vertex."""
        count = len(self._workers)
        for worker in self._workers:
            worker.start()
        self._workers[source % count].hold(source // count, source)

    def advance(self, level: int) -> Level:
        """Find the vertices at distance `level`."""
        for worker in self._workers:
            worker.expand()
        counts = np.stack([worker.counts() for worker in self._workers]).astype(np.int64)
        if (counts > self._most).any():
            raise QueueOverflowError(
                "a device found more candidates than its part has edges; please report this with "
                "the output of `clgraph doctor`."
            )
        for receiver in self._workers:
            for sender in self._workers:
                receiver.contract(sender, int(counts[sender.place, receiver.place]), level)
        found = sum(worker.settle() for worker in self._workers)
        apart = int(counts.sum() - np.trace(counts))
        return Level(found, apart * self._candidate_bytes, "push", over=not counts.any())

    def distances(self) -> NDArray[np.int32]:
        """Hops of all vertices, int32 [n]."""
        return self._together([worker.distances.read() for worker in self._workers])

    def predecessors(self) -> NDArray[np.int32]:
        """Parents of all vertices, int32 [n]."""
        return self._together([worker.tree.read() for worker in self._workers])

    def _together(self, shares: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
        whole = np.empty(self._graph.n, np.int32)
        for worker, share in zip(self._workers, shares, strict=True):
            whole[worker.part.vertices] = share
        return whole


class _Worker(Worker):
    """A device that owns every p-th vertex, and what it has for each of the others."""

    def __init__(self, n: int, most: NDArray[np.int64], *given: Any, **shared: Any) -> None:
        super().__init__(*given, **shared)
        self._tree_wanted = bool(shared["predecessors"])
        words = 2 if self._tree_wanted else 1
        memory, own, mine = self.memory, self.part.size, most[self.place]
        self.distances = memory.allocate("distances", own, np.int32)
        self.tree = memory.allocate("predecessors", own if self._tree_wanted else 1, np.int32)
        self.bins = [memory.allocate("bin", words * int(room), np.uint32) for room in mine]
        others = np.delete(most[:, self.place], self.place)
        self._inbox = memory.allocate("inbox", words * int(others.max(initial=0)), np.uint32)
        self._words = words
        self._rooms = [np.uint32(room) for room in mine]
        self._counts = memory.allocate("bin_counts", mine.size, np.uint32)
        self._seen = memory.allocate("seen", n // 8 + 1, np.uint8)
        self._next_length = memory.allocate("next_length", 1, np.uint32)

    def start(self) -> None:
        """Forget the last search."""
        self.length = 0
        self.fill(self.distances, UNREACHED)
        if self._tree_wanted:
            self.fill(self.tree, UNREACHED)
        self.fill(self._seen)

    def hold(self, local: int, vertex: int) -> None:
        """Make a vertex of this part the frontier, and its own parent."""
        self.launch("part_source", np.uint32(local), np.int32(vertex), self.distances, self.tree)
        self.queues[0].write(np.array([local], np.uint32))
        self.length = 1

    def expand(self) -> None:
        """Put the neighbours of the frontier in bins."""
        self.fill(self._counts)
        if self.length:
            bins = [part for both in zip(self.bins, self._rooms, strict=True) for part in both]
            self.launch(
                "part_expand",
                *(self.indptr, self.indices, self.queues[0]),
                *(np.uint32(self.length), np.uint32(self.place), self._seen),
                *bins,
                self._counts,
            )
        self.fill(self._next_length)

    def counts(self) -> NDArray[np.uint32]:
        """How many candidates there are for each part."""
        self.finish()
        return self._counts.read()

    def contract(self, sender: _Worker, count: int, level: int) -> None:
        """Claim what a device has sent, this one to itself among them."""
        if not count:
            return
        held = sender.bins[self.place]
        if sender is not self:
            self.finish()  # the inbox may still be in use
            self._inbox.write(held.read(count * self._words))
            held = self._inbox
        self.launch(
            "part_contract",
            *(held, np.uint32(count), np.int32(level), self.distances, self.tree),
            *(self.queues[1], self._next_length),
        )

    def settle(self) -> int:
        """End the level; gives the size of the frontier that it found here."""
        self.finish()
        self.length = int(self._next_length.read()[0])
        self.swap()
        return self.length
