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
from clgraph.algorithms.bfs.row_chunks import RowChunks, host_rows
from clgraph.algorithms.bfs.stages import UNREACHED
from clgraph.cluster.parts.part import BIN_LENGTHS, BIN_STRIDE, PART_WORDS
from clgraph.cluster.parts.partition import RANGE_GRAIN, Ownership
from clgraph.cluster.result import DividedFindings, DividedStats, Level
from clgraph.device import Memory, Mirror, load, resident_groups
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
    from numpy.typing import NDArray

    from clgraph.cluster.parts.part import Part
    from clgraph.device import Device
    from clgraph.device.programs.kernel import Argument
    from clgraph.engine.driver import Outcome
    from clgraph.engine.findings import HopFindings
    from clgraph.engine.stats import TraversalStats
    from clgraph.graph import Graph

__all__ = ["Streamed"]

NO_NAMES = np.uint32(2**32 - 1)
SLOTS = (np.uint32(0), np.uint32(1))
# To find, sort and look up a vertex of the frontier on the host takes as long as to copy so much.
VERTEX_BYTES = 5000
# From this share of the vertices on, a frontier whose rows pass the bus is put in order.
ORDERED_SHARE = 1 / 256


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
    way : {"in place", "copied"}, optional
        How kernels get at rows; default is chosen.

    Attributes
    ----------
    way : {"in place", "copied"}
        How kernels get at rows: a processor reads the host's memory itself.
    distances, predecessors : Allocation
        What was found.

    Raises
    ------
    DeviceMemoryError
        If not even what is kept for each vertex fits: 12 bytes, 20 with a tree, and a bit; and,
        where rows are read in place, 4 or 8 for its row.

    Notes
    -----
    Levels push. Rows that are read in place pass the bus where they are wanted, and as often. Else,
    for a level of many vertices all rows are copied, and the device finds by their
    distances whose it wants. The host has the frontier of others: of one whose rows make up much
    of a range, the range is copied as it is; else its rows are put together, whichever is less by
    bytes. Two chunks are in turn, so that one is copied while the edges of the other are looked at.

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
        way: str | None = None,
    ) -> None:
        self._graph = graph
        self.device = device.beside(timed=False)
        self._tree = predecessors
        self.owned = Ownership(0, 1, graph.n)
        self.way = way or ("in place" if self._reads_in_place() else "copied")
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
        self.config = replace(resolved, entry="vertex")  # whose queues are the smallest
        if self.way == "copied":  # the host cuts long rows
            self.config = replace(self.config, hub_degree=0)
        hubs = self.config.hubs_among(graph.degrees)
        room, hub_room = (
            self.config.entry_words * (count + QUEUE_SLACK) for count in (graph.n, hubs)
        )
        memory = self._memory = Memory(self.device)
        n, words = graph.n, -(-graph.n // RANGE_GRAIN) * (RANGE_GRAIN // resolved.word_bits)
        self._words = np.uint32(words)
        self.distances = memory.allocate("distances", n, np.int32)
        self.predecessors = memory.allocate("predecessors", n if predecessors else 0, np.int32)
        self.row_distances = self.distances
        self._found = memory.allocate("found", words, f"u{resolved.word_bits // 8}")
        self._bins = memory.allocate("bins", n, f"u{8 if predecessors else 4}")
        self._queue = memory.allocate("frontier", room, np.uint32)
        self._hubs = memory.allocate("hubs", hub_room, np.uint32)
        self._none = memory.allocate("none", 2, np.uint64)
        self._begins = memory.upload("bin_begins", np.array([0, n], np.uint32))
        self._state = memory.allocate("state", BIN_LENGTHS + BIN_STRIDE, np.uint32)
        self._mirror = Mirror(self.device, self._state, 0, self._state.count)
        self._problem = SimpleNamespace(
            predecessors=predecessors,
            named=True,
            addressed=self.way == "in place" and self._is_addressed(),
        )
        exact = {"visited": "labels", "duplicates": "keep", "history": 0}
        claims = replace(self.config, frontier=self.config.frontier.with_values(exact))
        self._kernels = {
            "begin": self._kernel("bfs/parts.cl", "bfs_parts_begin", self.config),
            "expand": self._kernel("bfs/parts.cl", "bfs_parts_expand", self.config),
            "contract": self._kernel("bfs/parts_contract.cl", "bfs_parts_contract", claims),
            "list": self._kernel("bfs/parts_contract.cl", "bfs_parts_list", claims),
        }
        self._last: weakref.ref[DividedFindings] | None = None
        self._prepare(chunk_bytes)

    def _reads_in_place(self) -> bool:
        """Whether kernels read rows where they are.

        A card reads pinned memory over the bus, only the rows that it wants, if there is room for
        their offsets; a mapped file has to pass through the host.
        """
        graph, device = self._graph, self.device
        mapped = isinstance(graph.indices.base, np.memmap)
        # A word of each array, two of what carries parents, and offsets, which chunks bring along.
        vertex_bytes = (20 if self._tree else 12) + offsets_dtype(graph.m).itemsize
        fits = 4 * graph.m <= device.traits.max_alloc_bytes
        fits = fits and vertex_bytes * graph.n < Memory(device).free_bytes
        return device.traits.is_cpu or (self._is_addressed() and fits and not mapped)

    def _is_addressed(self) -> bool:
        """Whether kernels get at rows by an address, which pinned memory has on NVIDIA's cards."""
        return self.device.traits.memory_ops == "ptx"

    @property
    def degrees(self) -> NDArray[Any]:
        """Out-degree of every vertex."""
        return self._graph.degrees

    @property
    def _copied_bytes(self) -> int:
        """Bytes of rows that were copied until now."""
        return 0 if self._chunks is None else self._chunks.copied_bytes

    def _prepare(self, chunk_bytes: int | None) -> None:
        graph = self._graph
        self._chunks: RowChunks | None = None
        self._indptr: Argument = self._none
        self._indices: Argument = self._none
        if self.way == "copied":
            self._chunks = RowChunks(graph, self.device, chunk_bytes)
            return
        self._indptr = self._memory.upload("indptr", graph.indptr.astype(offsets_dtype(graph.m)))
        self._indices, self._rows = host_rows(self.device, graph, addressed=self._is_addressed())

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
        try:
            levels, launches = self._levels(source, limit)
        except BaseException:
            # A launch that is under way reads the host's memory, which may go with this plan.
            self.device.queue.finish()
            raise
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

    def _levels(self, source: int, limit: int) -> tuple[list[Level], int]:
        """Run the levels; give them, and how many launches these were."""
        n = np.uint32(self._graph.n)
        self._begin(source)
        frontier: NDArray[np.int64] | None = np.array([source], np.int64)
        levels, launches = [Level(1)], 1
        clock = time.perf_counter()
        for depth in range(limit):
            before = self._copied_bytes
            launches += self._expand(depth, frontier)
            self._mirror.refresh()
            count = int(self._mirror.words[BIN_LENGTHS])
            self._launch(
                "contract",
                *(self._indptr, self._none, n, np.uint32(depth + 1)),
                *(self._bins, np.uint32(0), np.uint32(count), self._bins, np.uint32(0)),
                *(self.distances, self.predecessors, self._queue, self._hubs),
                *(np.uint32(1), self._state, SLOTS[1 if self._chunks else (depth + 1) & 1]),
            )
            launches += 1
            if self._problem.addressed and count >= ORDERED_SHARE * self._graph.n:
                self._order(depth + 1)
                launches += 1
            frontier = self._found_last(count) if self._is_wanted(count) else None
            level = levels[depth]
            level.direction, level.sent_bytes = "push", self._copied_bytes - before
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
        # Where rows come in chunks none is at its vertex's number.
        own = n if self._chunks else np.uint32(source)
        self._launch(
            "begin",
            *(self._indptr, n, self._words, np.uint32(self.predecessors.count)),
            *(np.uint32(source), own, np.uint32(source), np.uint32(self._state.count)),
            *(self.distances, self.predecessors, self._found, self._queue, self._hubs),
            self._state,
        )
        if self._chunks:
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
        chunks = self._chunks
        return chunks is not None and not 0 < chunks.sweep_bytes <= VERTEX_BYTES * count

    def _sweep(self, chunks: RowChunks, depth: int) -> int:
        """Enqueue the expansion of all vertices at a distance; give the launches."""
        launches = 0
        for chunk, first, count in chunks.swept():
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
        if self._chunks is None:
            self._expand_listed(self._indptr, self._indices, self._queue, slot=depth & 1)
            return 1
        if frontier is None:
            return self._sweep(self._chunks, depth)
        launches = 0
        for chunk, count, first in self._chunks.copied(frontier):
            self._count(count)
            chunk.used = self._expand_listed(
                chunk.indptr, chunk.indices, chunk.vertices, first, chunk.names
            )
            self.device.queue.flush()
            launches += 1
        return launches

    def _order(self, depth: int) -> None:
        """Enqueue the putting in order of a frontier but for hubs: its rows pass side by side."""
        slot = depth & 1
        self._count(0, slot)
        self._launch(
            "list",
            *((self._indptr,) if self.config.hub_degree else ()),
            *(self.distances, np.uint32(0), np.uint32(self._graph.n), np.uint32(depth)),
            *(self._queue, self._state, SLOTS[slot]),
        )

    def _count(self, count: int, slot: int = 0) -> None:
        """Enqueue saying how many vertices the next launch has."""
        cl.enqueue_fill_buffer(
            self.device.queue,
            self._state.buffer,
            np.array([count], np.uint32),
            4 * (STATE_WORDS["NEXT"] + slot * STATE_WORDS["SLOT_STRIDE"]),
            4,
        )

    def _expand_listed(
        self,
        indptr: Argument,
        indices: Argument,
        vertices: Argument,
        first: int | None = 0,
        names: Argument | None = None,
        slot: int = 0,
    ) -> cl.Event:
        """Enqueue the expansion of rows: those of vertices from `first` on, or of named ones."""
        line = np.uint32(0) if first is None else NO_NAMES
        return self._launch(
            "expand",
            *(indptr, indices, np.uint32(1), np.uint32(first or 0), line, names or self._none),
            *(vertices, self._hubs, self._found, self._bins, self._begins),
            *(np.uint32(1), self._state, SLOTS[slot]),
        )
