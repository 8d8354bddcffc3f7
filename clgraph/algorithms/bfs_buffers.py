"""Device memory of a breadth-first search: the graph, queues and bitmaps, and results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph.device import Memory
from clgraph.engine.findings import BufferPool
from clgraph.engine.legal import CANDIDATES
from clgraph.engine.resident import offsets_dtype, resident, unreachable_words

if TYPE_CHECKING:
    from clgraph.device import Allocation, Device
    from clgraph.device.kernel import Argument
    from clgraph.device.memory import Progress
    from clgraph.engine.choose import Resolved
    from clgraph.engine.findings import SearchBuffers
    from clgraph.graph import Graph

__all__ = ["BFSBuffers"]

QUEUE_SLACK = 64  # entries beyond n that branch-free appends may touch
LEVEL_CAPACITY = 1 << 16  # levels whose size and time are kept; 16 bytes each
ENTRY_WORDS = {"vertex": 1, "row": 2, "full": 4}


class BFSBuffers:
    """What the searches of one plan share, and result buffers in turn.

    Parameters
    ----------
    graph : Graph
        At least one vertex.
    config : Resolved
        Which buffers the stages use.
    device : Device
        Where.
    predecessors : bool
        Whether searches label a tree.
    progress : callable, optional
        Called with bytes uploaded, bytes in all, and what is uploaded.

    Attributes
    ----------
    pool : BufferPool
        Where each search takes what it writes.

    Raises
    ------
    DeviceMemoryError
        If not all of it fits.
    """

    def __init__(
        self,
        graph: Graph,
        config: Resolved,
        device: Device,
        *,
        predecessors: bool,
        progress: Progress | None = None,
    ) -> None:
        self._memory = Memory(device)
        self._graph = graph
        self._predecessors = predecessors
        self._level_capacity = np.uint32(min(graph.n + 1, LEVEL_CAPACITY))
        out = resident(graph, device, progress)
        back, in_degrees = out, graph.degrees
        rows = out.indptr
        if config.rows == "pairs":
            ends = np.stack([graph.indptr[:-1], graph.indptr[1:]], axis=1)
            rows = self._memory.upload("rows", ends.astype(offsets_dtype(graph.m)).ravel())
        if graph.directed and config.pull:
            transpose = graph.transpose()
            back = resident(transpose, device, progress)
            in_degrees = transpose.degrees
        words = unreachable_words(in_degrees, config.word_bits)
        self._graph_args: tuple[Argument, ...] = (
            *(rows, out.indices, back.indptr, back.indices),
            self._memory.upload("unreachable", words),
            np.uint32(graph.n),
            np.uint64(graph.m),
            np.uint32(graph.max_degree),
            np.uint32(max(round(graph.mean_degree), 1)),
        )
        self._scratch = self._queues(config, words)
        self._no_tree = self._memory.allocate("predecessors", 1, np.int32)
        self.pool = BufferPool(
            self._memory, graph.n, int(self._level_capacity), predecessors=predecessors
        )

    def _queues(self, config: Resolved, words: np.ndarray) -> tuple[Argument, ...]:
        graph, memory = self._graph, self._memory
        n = graph.n
        hubs = int(np.count_nonzero(graph.degrees >= config.hub_degree)) if config.hub_degree else 0
        keeps_bits = config.pull or config.visited in {"bitmap", "mask"}
        bitmap = words.size if keeps_bits else 1

        def entries(name: str, count: int) -> Allocation:
            return memory.allocate(name, count * ENTRY_WORDS[config.entry], np.uint32)

        room = n + QUEUE_SLACK if config.exact else n * config.queue_percent // 100 + QUEUE_SLACK
        hub_room = hubs + QUEUE_SLACK
        candidates = config.queue in CANDIDATES
        alternates = config.queue == "vertex"
        queues: list[Argument] = [
            memory.allocate("visited_even", bitmap, words.dtype),
            memory.allocate("visited_odd", bitmap if config.pull else 1, words.dtype),
            entries("queue_even", 1 if config.queue == "edge" else room),
            entries("queue_odd", room if alternates else 1),
            entries("hubs_even", hub_room),
            entries("hubs_odd", hub_room if alternates else 1),
        ]
        if not config.exact:
            queues += [np.uint32(room), np.uint32(hub_room)]
        if candidates:
            capacity = min(max(graph.m, 1) * config.queue_percent // 100 + 1, 2**32 - 1)
            words_each = 2 if self._predecessors else 1
            queues += [
                memory.allocate("candidates_even", capacity * words_each, np.uint32),
                memory.allocate(
                    "candidates_odd",
                    words_each if config.queue == "two_phase" else capacity * words_each,
                    np.uint32,
                ),
                np.uint32(capacity),
            ]
        return tuple(queues)

    def arguments(
        self, source: int, limit: np.uint32, results: SearchBuffers
    ) -> tuple[Argument, ...]:
        """Give the kernel's arguments up to the state, for a search into `results`."""
        return (
            *self._graph_args,
            np.uint32(source),
            limit,
            results.distances,
            results.predecessors or self._no_tree,
            *self._scratch,
            results.levels,
            self._level_capacity,
        )
