"""The levels of a search that copies rows from host memory, or a mapped file, to the device."""

from __future__ import annotations

import time
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.bfs.config import BFSConfig
from clgraph.algorithms.bfs.row_chunks import RowChunks
from clgraph.algorithms.bfs.stages import UNREACHED
from clgraph.cluster.parts.part import BIN_LENGTHS, BIN_STRIDE, PART_WORDS
from clgraph.cluster.parts.partition import RANGE_GRAIN, Ownership
from clgraph.cluster.result import Level
from clgraph.device import Memory, Mirror, load, resident_groups
from clgraph.device.lazy import cl
from clgraph.device.memory.copying import finish_copy
from clgraph.engine.choose import resolve
from clgraph.engine.resolved import QUEUE_SLACK
from clgraph.engine.state import QUEUE_PAYLOAD, SLOT_WORDS, STATE_WORDS, stage_fields
from clgraph.engine.strategies.frontier import VertexQueue
from clgraph.engine.strategies.pull import Never
from clgraph.engine.strategies.schedule import Stepped

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.device import Device
    from clgraph.device.programs.kernel import Argument
    from clgraph.graph import Graph

__all__ = ["CopiedRows"]

NO_NAMES = np.uint32(2**32 - 1)
SLOTS = (np.uint32(0), np.uint32(1))
# To find, sort and look up a vertex of the frontier on the host takes as long as to copy so much.
VERTEX_BYTES = 5000


class CopiedRows:
    """Rows that are copied to the device, those of a level when it is expanded.

    Parameters
    ----------
    graph, device, predecessors, chunk_bytes
        As of `Streamed`.

    Attributes
    ----------
    distances, predecessors : Allocation
        What was found.

    Notes
    -----
    Levels push. For a level of many vertices all rows are copied, and the device finds by their
    distances whose it wants. The host has the frontier of others: of one whose rows make up much
    of a range, the range is copied as it is; else its rows are put together, whichever is less by
    bytes. Two chunks are in turn, so that one is copied while the edges of the other are looked at.
    """

    WHOLE_TREE = False

    def __init__(
        self,
        graph: Graph,
        device: Device,
        *,
        predecessors: bool,
        chunk_bytes: int | None = None,
    ) -> None:
        self._graph = graph
        self.device = device.beside(timed=False)
        self._tree = predecessors
        self.owned = Ownership(0, 1, graph.n)
        resolved = resolve(
            BFSConfig(
                frontier=VertexQueue(visited="bitmap"),
                pull=Never(),
                schedule=Stepped(distribution="static", single_group=False),
            ),
            device.traits,
            m=graph.m,
            predecessors=True,
            max_degree=graph.max_degree,
        )
        # Queues of vertices are the smallest, and the host cuts long rows.
        self.config = replace(resolved, entry="vertex", hub_degree=0)
        memory = self._memory = Memory(self.device)
        n, words = graph.n, -(-graph.n // RANGE_GRAIN) * (RANGE_GRAIN // resolved.word_bits)
        self._words = np.uint32(words)
        self.distances = memory.allocate("distances", n, np.int32)
        self.predecessors = memory.allocate("predecessors", n if predecessors else 0, np.int32)
        self.row_distances = self.distances
        self._found = memory.allocate("found", words, f"u{resolved.word_bits // 8}")
        self._bins = memory.allocate("bins", n, f"u{8 if predecessors else 4}")
        self._queue = memory.allocate("frontier", n + QUEUE_SLACK, np.uint32)
        self._hubs = memory.allocate("hubs", QUEUE_SLACK, np.uint32)
        self._none = memory.allocate("none", 2, np.uint64)
        self._begins = memory.upload("bin_begins", np.array([0, n], np.uint32))
        self._state = memory.allocate("state", BIN_LENGTHS + BIN_STRIDE, np.uint32)
        self._mirror = Mirror(self.device, self._state, 0, self._state.count)
        self._problem = SimpleNamespace(predecessors=predecessors, named=True)
        exact = {"visited": "labels", "duplicates": "keep", "history": 0}
        claims = replace(self.config, frontier=self.config.frontier.with_values(exact))
        self._kernels = {
            "begin": self._kernel("bfs/parts.cl", "bfs_parts_begin", self.config),
            "expand": self._kernel("bfs/parts.cl", "bfs_parts_expand", self.config),
            "contract": self._kernel("bfs/parts_contract.cl", "bfs_parts_contract", claims),
            "list": self._kernel("bfs/parts_contract.cl", "bfs_parts_list", claims),
        }
        self._chunks = RowChunks(graph, self.device, chunk_bytes)

    @property
    def part(self) -> CopiedRows:
        """What findings are read of."""
        return self

    def detach(self) -> None:
        """Leave the device's memory to the next search, which takes it in any case."""

    @property
    def degrees(self) -> NDArray[Any]:
        """Out-degree of every vertex."""
        return self._graph.degrees

    def _kernel(self, file: str, name: str, config: Any) -> tuple[Any, int]:
        program = load(
            self.device,
            file,
            config=config,
            problem=self._problem,
            exchange="candidates",
            UNREACHED=UNREACHED,
            counts_hubs=False,
            state_words=STATE_WORDS | PART_WORDS,
            slot_words=SLOT_WORDS,
            stage_fields=stage_fields(QUEUE_PAYLOAD),
        )
        kernel = program.kernel(name)
        return kernel, config.groups or resident_groups(self.device, kernel, config.group_size)

    def _launch(self, name: str, *args: Argument) -> cl.Event:
        kernel, groups = self._kernels[name]
        size = self.config.group_size
        event: cl.Event = kernel.launch(groups * size, size, *args)
        return event

    def levels(self, source: int, limit: int) -> tuple[list[Level], int]:
        """Run the levels; give them, and how many launches these were."""
        n = np.uint32(self._graph.n)
        self._begin(source)
        frontier: NDArray[np.int64] | None = np.array([source], np.int64)
        levels, launches = [Level(1)], 1
        clock = time.perf_counter()
        for depth in range(limit):
            before = self._chunks.copied_bytes
            launches += self._expand(depth, frontier)
            self._mirror.refresh()
            count = int(self._mirror.words[BIN_LENGTHS])
            self._launch(
                "contract",
                *(self._none, self._none, n, np.uint32(depth + 1)),
                *(self._bins, np.uint32(0), np.uint32(count), self._bins, np.uint32(0)),
                *(self.distances, self.predecessors, self._queue, self._hubs),
                *(np.uint32(1), self._state, SLOTS[1]),
            )
            launches += 1
            frontier = self._found_last(count) if self._is_wanted(count) else None
            level = levels[depth]
            level.direction, level.sent_bytes = "push", self._chunks.copied_bytes - before
            now = time.perf_counter()
            level.microseconds, clock = 1e6 * (now - clock), now
            levels.append(Level(count))
            if not count:
                break
        finish_copy(self._mirror.enqueue())
        return levels, launches

    def _begin(self, source: int) -> None:
        """Enqueue what makes no vertex reached but the source."""
        n = np.uint32(self._graph.n)
        self._launch(
            "begin",
            *(self._none, n, self._words, np.uint32(self.predecessors.count)),
            # Rows come in chunks: none is at its vertex's number.
            *(np.uint32(source), n, np.uint32(source), np.uint32(self._state.count)),
            *(self.distances, self.predecessors, self._found, self._queue, self._hubs),
            self._state,
        )
        queue, distances = self.device.queue, self.distances.buffer
        cl.enqueue_fill_buffer(queue, distances, np.zeros(1, np.int32), 4 * source, 4)

    def _found_last(self, count: int) -> NDArray[np.int64]:
        """Read what the last level found, in order, so that rows are read in order."""
        found = self._bins.read(count)
        if self._tree:
            found = found.view(np.uint32)[::2]
        return np.sort(found).astype(np.int64)

    def _is_wanted(self, count: int) -> bool:
        """Whether the host is to know which so many vertices are: not if all rows are copied."""
        return not 0 < self._chunks.sweep_bytes <= VERTEX_BYTES * count

    def _sweep(self, depth: int) -> int:
        """Enqueue the expansion of all vertices at a distance; give the launches."""
        launches = 0
        for chunk, first, count in self._chunks.swept():
            self._count(0)
            self._launch(
                "list",
                *(self.distances, np.uint32(first), np.uint32(count), np.uint32(depth)),
                *(chunk.vertices, self._state, SLOTS[0]),
            )
            chunk.used = self._expand_listed(chunk.indptr, chunk.indices, chunk.vertices, first)
            self.device.queue.flush()
            launches += 2
        return launches

    def _expand(self, depth: int, frontier: NDArray[np.int64] | None) -> int:
        """Enqueue the expansion of a frontier, which the host may know; give the launches."""
        if frontier is None:
            return self._sweep(depth)
        launches = 0
        for chunk, count, first in self._chunks.copied(frontier):
            self._count(count)
            chunk.used = self._expand_listed(
                chunk.indptr, chunk.indices, chunk.vertices, first, chunk.names
            )
            self.device.queue.flush()
            launches += 1
        return launches

    def _count(self, count: int) -> None:
        """Enqueue saying how many vertices the next launch has."""
        cl.enqueue_fill_buffer(
            self.device.queue,
            self._state.buffer,
            np.array([count], np.uint32),
            4 * STATE_WORDS["NEXT"],
            4,
        )

    def _expand_listed(
        self,
        indptr: Argument,
        indices: Argument,
        vertices: Argument,
        first: int | None,
        names: Argument | None = None,
    ) -> cl.Event:
        """Enqueue the expansion of rows: those of vertices from `first` on, or of named ones."""
        line = np.uint32(0) if first is None else NO_NAMES
        return self._launch(
            "expand",
            *(indptr, indices, np.uint32(1), np.uint32(first or 0), line, names or self._none),
            *(vertices, self._hubs, self._found, self._bins, self._begins),
            *(np.uint32(1), self._state, SLOTS[0]),
        )
