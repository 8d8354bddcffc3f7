"""Device memory of a breadth-first search: the graph, queues and bitmaps, and results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.bfs.queues import (
    StatusQueues,
    candidate_queues,
    prefix_sums,
    vertex_queues,
)
from clgraph.device import Memory
from clgraph.engine.findings import BufferPool
from clgraph.engine.frontier import StatusArray
from clgraph.engine.resident import offsets_dtype, resident, unreachable_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.device import Device
    from clgraph.device.kernel import Argument
    from clgraph.device.memory import Progress
    from clgraph.engine.choose import Resolved
    from clgraph.engine.findings import SearchBuffers
    from clgraph.graph import Graph

__all__ = ["BFSBuffers"]

LEVEL_CAPACITY = 1 << 16  # levels whose size and time are kept; 16 bytes each


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
    groups : int
        Work-groups of a launch.
    predecessors : bool
        Whether searches label a tree.
    progress : callable or True, optional
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
        groups: int,
        *,
        predecessors: bool,
        progress: Progress | None = None,
    ) -> None:
        self._memory = Memory(device)
        self._graph = graph
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
        self._status = (
            StatusQueues(self._memory, graph, config.frontier, groups, config.group_size)
            if isinstance(config.frontier, StatusArray)
            else None
        )
        self._scratch = (
            *self._bitmaps(config, words),
            *vertex_queues(self._memory, graph, config),
            *candidate_queues(self._memory, graph, config, predecessors=predecessors),
            *(self._status.arguments if self._status else ()),
            *prefix_sums(self._memory, graph, config, groups),
        )
        self._no_tree = self._memory.allocate("predecessors", 1, np.int32)
        self.pool = BufferPool(
            self._memory, graph.n, int(self._level_capacity), predecessors=predecessors
        )

    def _bitmaps(self, config: Resolved, words: NDArray[Any]) -> list[Argument]:
        keeps_bits = bool(config.pull) or config.frontier.visited in {"bitmap", "mask"}
        even = words.size if keeps_bits and config.frontier.name != "status" else 1
        odd = even if config.pull else 1
        return [
            self._memory.allocate("visited_even", even, words.dtype),
            self._memory.allocate("visited_odd", odd, words.dtype),
        ]

    def tell(self) -> dict[str, int]:
        """Read what the last search counted on its way, by name; nothing for most forms."""
        return self._status.tell() if self._status else {}

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
