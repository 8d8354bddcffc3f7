"""Breadth-first search of a graph whose rows stay in host memory, or in a file mapped into it."""

from __future__ import annotations

import time
import weakref
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from clgraph.algorithms.bfs.config import BFSConfig
from clgraph.algorithms.bfs.result import BFSResult
from clgraph.algorithms.bfs.stages import UNREACHED
from clgraph.cluster.parts.part import BIN_LENGTHS, BIN_STRIDE, PART_WORDS
from clgraph.cluster.parts.partition import RANGE_GRAIN, Ownership
from clgraph.cluster.result import DividedFindings, DividedStats, Level
from clgraph.device import Memory, Mirror, Pinned, load, resident_groups
from clgraph.device.lazy import cl
from clgraph.device.memory.copying import finish_copy
from clgraph.engine.choose import resolve
from clgraph.engine.resident import offsets_dtype
from clgraph.engine.resolved import QUEUE_SLACK
from clgraph.engine.state import QUEUE_PAYLOAD, SLOT_WORDS, STATE_WORDS, stage_fields
from clgraph.engine.strategies.frontier import VertexQueue
from clgraph.engine.strategies.pull import Never
from clgraph.engine.strategies.schedule import Stepped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from clgraph.cluster.parts.part import Part
    from clgraph.device import Device
    from clgraph.device.programs.kernel import Argument
    from clgraph.engine.driver import Outcome
    from clgraph.engine.findings import HopFindings
    from clgraph.engine.stats import TraversalStats
    from clgraph.graph import Graph

__all__ = ["Streamed"]

MOST_CHUNK_BYTES, LEAST_CHUNK_BYTES = 64 << 20, 1 << 12
CHUNK_SHARE = 1 / 6  # of the memory that is free, for each of two chunks
# To gather a row on the host costs so many times what copying its bytes costs.
GATHER_COST = 8
NO_NAMES = np.uint32(2**32 - 1)
FIRST, NEXT = np.uint32(0), np.uint32(1)


class _Chunk:
    """Room on the device for some rows of a level, and what the host writes them from."""

    def __init__(self, memory: Memory, device: Device, edges: int, dtype: np.dtype[Any]) -> None:
        self.indptr = memory.allocate("chunk_indptr", edges + 2, dtype)
        self.indices = memory.allocate("chunk_indices", edges, np.uint32)
        self.vertices = memory.allocate("chunk_vertices", edges + QUEUE_SLACK, np.uint32)
        self.names = memory.allocate("chunk_names", edges + 1, np.uint32)
        self.staging = {
            "indptr": Pinned(device, edges + 2, dtype).array,
            "indices": Pinned(device, edges, np.uint32).array,
            "vertices": Pinned(device, edges + 1, np.uint32).array,
            "names": Pinned(device, edges + 1, np.uint32).array,
        }
        self.under_way: list[cl.Event] = []
        self.used: cl.Event | None = None  # the launch that reads it


class Streamed:
    """A search whose frontier's rows are read in place, or copied to the device level by level.

    Parameters
    ----------
    graph : Graph
        Its rows may be a memory-mapped array.
    device : Device
        Where.
    predecessors : bool
        Whether a tree is labelled.
    chunk_bytes : int, optional
        Of rows that are on the device at a time, twice; default is by what is free.

    Attributes
    ----------
    way : {"in place", "copied"}
        How kernels get at rows: a processor reads the host's memory itself.
    distances, predecessors : Allocation
        What was found.
    streamed_bytes : int
        Copied for rows in the last search.

    Raises
    ------
    DeviceMemoryError
        If not even what is kept for each vertex fits: 12 bytes, 20 with a tree, and a bit.

    Notes
    -----
    Levels push. Of a level whose rows make up much of a range, the range is copied as it is; else
    its rows are put together by the host, whichever is less by bytes. Two chunks are in turn, so
    that one is copied while the edges of the other are looked at.

    References
    ----------
    .. [1] Q. Wang et al., "HyTGraph: GPU-accelerated graph processing with hybrid transfer
           management", ICDE 2023.
    """

    WHOLE_TREE = False
    NAME = "stream"

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
        self._copies = device.beside(timed=False).queue
        self._tree = predecessors
        self.owned = Ownership(0, 1, graph.n)
        self.way = "in place" if device.traits.is_cpu else "copied"
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
        self._none = memory.allocate("none", 2, np.uint64)
        self._begins = memory.upload("bin_begins", np.array([0, n], np.uint32))
        self._state = memory.allocate("state", BIN_LENGTHS + BIN_STRIDE, np.uint32)
        self._mirror = Mirror(self.device, self._state, 0, self._state.count)
        self._problem = SimpleNamespace(predecessors=predecessors, named=True)
        exact = {"visited": "labels", "duplicates": "keep", "history": 0}
        claims = replace(
            self.config, frontier=self.config.frontier.with_values(exact), entry="vertex"
        )
        self._kernels = {
            "begin": self._kernel("bfs/parts.cl", "bfs_parts_begin", self.config),
            "expand": self._kernel("bfs/parts.cl", "bfs_parts_expand", self.config),
            "contract": self._kernel("bfs/parts_contract.cl", "bfs_parts_contract", claims),
        }
        self.streamed_bytes = 0
        self._last: weakref.ref[DividedFindings] | None = None
        self._prepare(chunk_bytes)

    @property
    def degrees(self) -> NDArray[Any]:
        """Out-degree of every vertex."""
        return self._graph.degrees

    def _prepare(self, chunk_bytes: int | None) -> None:
        graph, memory = self._graph, self._memory
        dtype = offsets_dtype(graph.m)
        rows = np.asarray(graph.indices)
        if self.way == "in place":
            rows = np.ascontiguousarray(rows.astype(np.uint32, copy=False)).view(np.uint32)
            self._indptr = memory.upload("indptr", graph.indptr.astype(dtype))
            flags = cl.mem_flags.READ_ONLY | cl.mem_flags.USE_HOST_PTR
            held = rows if rows.size else np.zeros(1, np.uint32)
            self._rows = held
            self._indices = cl.Buffer(self.device.context, flags, hostbuf=held)
            return
        if not isinstance(graph.indices.base, np.memmap) and graph.m:
            # Copies out of pinned memory are three times as fast.
            self._pinned = Pinned(self.device, graph.m, np.uint32)
            self._pinned.array[:] = rows
            rows = self._pinned.array
        self._rows = rows
        free = int(memory.free_bytes * CHUNK_SHARE)
        size = chunk_bytes or min(max(free, LEAST_CHUNK_BYTES), MOST_CHUNK_BYTES)
        edges = max(size // (8 + 4 + 4 + 4), 64)
        self._edges = edges
        self._chunks = [_Chunk(memory, self.device, edges, dtype) for _ in range(2)]

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
        kernel = program.kernel(name, self.device)
        return kernel, config.groups or resident_groups(self.device, kernel, config.group_size)

    def _launch(self, name: str, *args: Argument) -> cl.Event:
        kernel, groups = self._kernels[name]
        size = self.config.group_size
        event: cl.Event = kernel.launch(groups * size, size, *args)
        return event

    def search(self, source: int, limit: int, out: NDArray[np.int32] | None = None) -> BFSResult:
        """Search as far as distance `limit`; a result that nobody has read is copied first."""
        before_this = self._last() if self._last else None
        if before_this is not None:
            before_this.detach()
        begun = time.perf_counter()
        n = np.uint32(self._graph.n)
        self.streamed_bytes = 0
        self._launch(
            "begin",
            *(self._none, n, self._words, np.uint32(self.predecessors.count)),
            *(np.uint32(source), n, np.uint32(source), np.uint32(self._state.count)),
            *(self.distances, self.predecessors, self._found, self._queue, self._none),
            self._state,
        )
        cl.enqueue_fill_buffer(
            self.device.queue, self.distances.buffer, np.zeros(1, np.int32), 4 * source, 4
        )
        frontier = np.array([source], np.int64)
        levels, launches = [Level(1)], 1
        clock = begun
        for depth in range(limit):
            before = self.streamed_bytes
            launches += self._expand(frontier)
            self._mirror.refresh()
            count = int(self._mirror.words[BIN_LENGTHS])
            self._launch(
                "contract",
                *(self._none, self._none, n, np.uint32(depth + 1)),
                *(self._bins, np.uint32(0), np.uint32(count), self._bins, np.uint32(0)),
                *(self.distances, self.predecessors, self._queue, self._none),
                *(np.uint32(1), self._state, NEXT),
            )
            launches += 1
            found = self._bins.read(count)
            if self._tree:
                found = found.view(np.uint32)[::2]
            # In order, so that rows are read in order.
            frontier = np.sort(found).astype(np.int64)
            level = levels[depth]
            level.direction, level.sent_bytes = "push", self.streamed_bytes - before
            now = time.perf_counter()
            level.microseconds, clock = 1e6 * (now - clock), now
            levels.append(Level(count))
            if not count:
                break
        finish_copy(self._mirror.enqueue())
        spent_ms = 1e3 * (time.perf_counter() - begun)
        findings = DividedFindings(
            self._graph.n, [cast("Part", self)], tree=self._tree, names=self._graph.labels
        )
        stats = DividedStats(
            findings,
            levels,
            [self.config],
            self.NAME,
            [self.device.name],
            partition=self.way,
            launches=launches,
            kernel_ms=spent_ms,
            total_ms=spent_ms,
        )
        self._last = weakref.ref(findings)
        findings.read_into(out)
        outcome = SimpleNamespace(depth=stats.levels - 1, reached=stats.reached)
        return BFSResult(
            cast("HopFindings", findings),
            cast("Outcome", outcome),
            cast("TraversalStats", stats),
            source,
        )

    def _expand(self, frontier: NDArray[np.int64]) -> int:
        """Enqueue the expansion of all of a frontier; give the launches."""
        if self.way == "in place":
            self._queue.write(frontier.astype(np.uint32))
            self._expand_rows(frontier.size, self._indptr, self._indices, self._queue)
            return 1
        launches = 0
        for first, indptr, rows, vertices, names in self._pieces(frontier):
            chunk = self._chunks[launches & 1]
            self._copy(chunk, indptr, rows, vertices, names)
            chunk.used = self._expand_rows(
                vertices.size, chunk.indptr, chunk.indices, chunk.vertices, first, chunk.names
            )
            self.device.queue.flush()
            launches += 1
        return launches

    def _expand_rows(
        self,
        count: int,
        indptr: Argument,
        indices: Argument,
        vertices: Argument,
        first: int | None = 0,
        names: Argument | None = None,
    ) -> cl.Event:
        """Enqueue the expansion of rows: those of vertices from `first` on, or of named ones."""
        queue, state = self.device.queue, self._state.buffer
        cl.enqueue_fill_buffer(
            queue, state, np.array([count], np.uint32), 4 * STATE_WORDS["NEXT"], 4
        )
        line = np.uint32(0) if first is None else NO_NAMES
        return self._launch(
            "expand",
            *(indptr, indices, np.uint32(1), np.uint32(first or 0), line, names or self._none),
            *(vertices, self._none, self._found, self._bins, self._begins),
            *(np.uint32(1), self._state, FIRST),
        )

    def _pieces(self, frontier: NDArray[np.int64]) -> Iterator[tuple[Any, ...]]:
        """Cut a frontier, ascending, into rows that fit a chunk.

        Yields the first vertex of a range, or None; offsets; targets, or a slice of the rows; the
        numbers of the frontier's rows among these; and their vertices.
        """
        indptr = self._graph.indptr
        begins = np.asarray(indptr[frontier], np.int64)
        degrees = np.asarray(indptr[frontier + 1], np.int64) - begins
        some = degrees > 0
        frontier, begins, degrees = frontier[some], begins[some], degrees[some]
        if not frontier.size:
            return
        long = degrees > self._edges // 2
        for vertex, begin, degree in zip(frontier[long], begins[long], degrees[long], strict=True):
            for at in range(0, int(degree), self._edges):
                size = min(self._edges, int(degree) - at)
                rows = slice(int(begin) + at, int(begin) + at + size)
                yield None, np.array([0, size]), rows, np.zeros(1, np.int64), vertex[None]
        frontier, begins, degrees = frontier[~long], begins[~long], degrees[~long]
        place = 0
        ends = begins + degrees
        sums = np.concatenate([[0], np.cumsum(degrees)])
        while place < frontier.size:
            # As many rows of a range as fit, if that is not much more than what is wanted of it.
            last = int(np.searchsorted(ends, begins[place] + self._edges, side="right"))
            last = min(
                last,
                int(np.searchsorted(frontier, frontier[place] + self._edges, side="right")),
            )
            span = int(ends[last - 1] - begins[place])
            wanted = int(sums[last] - sums[place])
            if span <= GATHER_COST * wanted:
                first = int(frontier[place])
                offsets = np.asarray(indptr[first : int(frontier[last - 1]) + 2], np.int64)
                rows = slice(int(offsets[0]), int(offsets[-1]))
                numbers = frontier[place:last] - first
                yield first, offsets - offsets[0], rows, numbers, frontier[:0]
            else:
                last = int(np.searchsorted(sums, sums[place] + self._edges, side="right")) - 1
                counts = degrees[place:last]
                offsets = np.concatenate([[0], np.cumsum(counts)])
                places = np.arange(offsets[-1]) + np.repeat(
                    begins[place:last] - offsets[:-1], counts
                )
                numbers = np.arange(last - place)
                yield None, offsets, self._rows[places], numbers, frontier[place:last]
            place = last

    def _copy(
        self,
        chunk: _Chunk,
        indptr: NDArray[Any],
        rows: slice | NDArray[Any],
        vertices: NDArray[Any],
        names: NDArray[Any],
    ) -> None:
        """Copy rows to a chunk, once the launch that reads it has ended."""
        finish_copy(*chunk.under_way)  # the staging is free then
        chunk.under_way.clear()
        events = []
        wait = [chunk.used] if chunk.used is not None else None
        straight = isinstance(rows, slice) and self._rows.dtype == np.uint32
        targets = self._rows[rows] if isinstance(rows, slice) else rows
        for name, array, target in (
            ("indptr", indptr, chunk.indptr),
            ("vertices", vertices, chunk.vertices),
            ("names", names, chunk.names),
            ("indices", targets, chunk.indices),
        ):
            if not array.size:
                continue
            source: NDArray[Any] = targets
            if name != "indices" or not straight:
                source = chunk.staging[name][: array.size]
                source[...] = array
            self.streamed_bytes += source.nbytes
            events.append(
                cl.enqueue_copy(
                    self._copies, target.buffer, source, is_blocking=False, wait_for=wait
                )
            )
        self._copies.flush()
        chunk.under_way = events
        cl.enqueue_barrier(self.device.queue, wait_for=events)
