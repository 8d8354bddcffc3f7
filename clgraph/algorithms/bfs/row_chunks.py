"""Rows in host memory on their way to the device: in two chunks, one copied while one is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device import Memory, Pinned
from clgraph.device.lazy import cl
from clgraph.device.memory.copying import finish_copy
from clgraph.engine.resident import offsets_dtype
from clgraph.engine.resolved import QUEUE_SLACK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from clgraph.device import Device
    from clgraph.graph import Graph

__all__ = ["GATHER_COST", "RowChunks"]

MOST_CHUNK_BYTES, LEAST_CHUNK_BYTES = 64 << 20, 1 << 12
CHUNK_SHARE = 1 / 6  # of the memory that is free, for each of two chunks
# To gather a row on the host costs so many times what copying its bytes costs.
GATHER_COST = 8


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


class RowChunks:
    """Copies the rows of frontiers to a device.

    Parameters
    ----------
    graph : Graph
        Its rows may be a memory-mapped array.
    device : Device
        Where; launches that read chunks go to its queue.
    chunk_bytes : int, optional
        Of rows that are on the device at a time, twice; default is by what is free.

    Attributes
    ----------
    copied_bytes : int
        All that was copied.
    """

    def __init__(self, graph: Graph, device: Device, chunk_bytes: int | None) -> None:
        self._graph = graph
        self._device = device
        self._copies = device.beside(timed=False).queue
        self.copied_bytes = 0
        rows = np.asarray(graph.indices)
        if not isinstance(graph.indices.base, np.memmap) and graph.m:
            # Copies out of pinned memory are three times as fast.
            self._pinned = Pinned(device, graph.m, np.uint32)
            self._pinned.array[:] = rows
            rows = self._pinned.array
        self._rows = rows
        memory = Memory(device)
        free = int(memory.free_bytes * CHUNK_SHARE)
        size = chunk_bytes or min(max(free, LEAST_CHUNK_BYTES), MOST_CHUNK_BYTES)
        self._edges = edges = max(size // (8 + 4 + 4 + 4), 64)
        dtype = offsets_dtype(graph.m)
        self._chunks = [_Chunk(memory, device, edges, dtype) for _ in range(2)]

    def copied(self, frontier: NDArray[np.int64]) -> Iterator[tuple[_Chunk, int, int | None]]:
        """Copy the rows of a frontier, chunk by chunk.

        Yields
        ------
        _Chunk, int, int or None
            What holds rows now, and whose `used` is to be set; of how many vertices, and the first
            of them where they are a range.
        """
        for turn, (first, indptr, rows, numbers, names) in enumerate(self.pieces(frontier)):
            chunk = self._chunks[turn & 1]
            self._copy(chunk, indptr, rows, numbers, names)
            yield chunk, numbers.size, first

    def pieces(self, frontier: NDArray[np.int64]) -> Iterator[tuple[Any, ...]]:
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
            self.copied_bytes += source.nbytes
            events.append(
                cl.enqueue_copy(
                    self._copies, target.buffer, source, is_blocking=False, wait_for=wait
                )
            )
        self._copies.flush()
        chunk.under_way = events
        cl.enqueue_barrier(self._device.queue, wait_for=events)
