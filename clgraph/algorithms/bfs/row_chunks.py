"""Rows in host memory on their way to the device: in two chunks, one copied while one is read."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device import Memory, Pinned
from clgraph.device.lazy import cl
from clgraph.device.memory.copying import finish_copy
from clgraph.engine.resident import offsets_dtype
from clgraph.engine.resolved import QUEUE_SLACK
from clgraph.errors import DeviceMemoryError
from clgraph.graph.arrays import is_mapped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from clgraph.device import Device
    from clgraph.graph import Graph

__all__ = ["GATHER_COST", "RowChunks", "host_rows"]

log = logging.getLogger(__name__)

MOST_CHUNK_BYTES, LEAST_CHUNK_BYTES = 64 << 20, 1 << 12
CHUNK_SHARE = 1 / 6  # of the memory that is free, for each of two chunks
# To gather a row on the host costs so many times what copying its bytes costs.
GATHER_COST = 8


def host_rows(
    device: Device, indices: NDArray[Any], *, addressed: bool
) -> tuple[cl.Buffer | np.uint64, object]:
    """Give a kernel's argument for rows in host memory, and what is to be kept with it.

    That is the array itself, or the address of a copy in pinned memory. Of a card a buffer
    would be in its own memory, however it was made.
    """
    rows = np.asarray(indices)
    if not addressed:
        rows = np.ascontiguousarray(rows.astype(np.uint32, copy=False)).view(np.uint32)
        held = rows if rows.size else np.zeros(1, np.uint32)
        flags = cl.mem_flags.READ_ONLY | cl.mem_flags.USE_HOST_PTR
        return cl.Buffer(device.context, flags, hostbuf=held), held
    pinned = Pinned(device, max(rows.size, 1), np.uint32).array
    pinned[: rows.size] = rows
    return np.uint64(pinned.ctypes.data), pinned


def _pinned_rows(device: Device, rows: NDArray[Any]) -> NDArray[Any]:
    """Give rows in pinned memory, out of which copies are three times as fast, if there is room."""
    try:
        pinned = Pinned(device, rows.size, np.uint32).array
    except DeviceMemoryError as error:
        log.warning("rows are copied from where they are, which is slower: %s", error)
        return rows
    pinned[:] = rows
    return pinned


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
    sweep_bytes : int
        What `swept` copies; 0 where a row is longer than a chunk, which it cannot cut.
    """

    def __init__(self, graph: Graph, device: Device, chunk_bytes: int | None) -> None:
        self._graph = graph
        self._device = device
        self._copies = device.beside(timed=False).queue
        self.copied_bytes = 0
        rows = np.asarray(graph.indices)
        if not is_mapped(rows) and graph.m:
            rows = _pinned_rows(device, rows)
        self._rows = rows
        memory = Memory(device)
        free = int(memory.free_bytes * CHUNK_SHARE)
        size = chunk_bytes or min(max(free, LEAST_CHUNK_BYTES), MOST_CHUNK_BYTES)
        self._edges = edges = max(size // (8 + 4 + 4 + 4), 64)
        dtype = offsets_dtype(graph.m)
        self._chunks = [_Chunk(memory, device, edges, dtype) for _ in range(2)]
        self._ranges = self._whole_ranges() if graph.max_degree <= edges else []
        self._offsets: NDArray[Any] | None = None
        rows_held = sum(last - first + 1 for first, last in self._ranges)
        self.sweep_bytes = rows_held * dtype.itemsize + 4 * graph.m if self._ranges else 0

    def _whole_ranges(self) -> list[tuple[int, int]]:
        """Cut all rows into ranges that fit a chunk; where there is no edge is none of them."""
        indptr, n = self._graph.indptr, self._graph.n
        ranges, first = [], 0
        while first < n:
            end = np.searchsorted(indptr, int(indptr[first]) + self._edges, side="right") - 1
            last = min(int(end), first + self._edges, n)
            if indptr[first] < indptr[last]:
                ranges.append((first, last))
            first = last
        return ranges

    def swept(self) -> Iterator[tuple[_Chunk, int, int]]:
        """Copy all rows as they lie, so that the host need not know whose are wanted.

        Yields
        ------
        _Chunk, int, int
            What holds rows now, and whose `used` is to be set; the first of their vertices, and
            how many these are.
        """
        place = 0
        offsets = self._sweep_offsets()
        indptr = self._graph.indptr
        for turn, (first, last) in enumerate(self._ranges):
            chunk = self._chunks[turn & 1]
            finish_copy(*chunk.under_way)
            chunk.under_way.clear()
            rows = self._rows[int(indptr[first]) : int(indptr[last])]
            if rows.dtype != np.uint32:
                staged = chunk.staging["indices"][: rows.size]
                staged[...] = rows
                rows = staged
            size = last - first + 1
            self._send(chunk, {"indptr": offsets[place : place + size], "indices": rows})
            place += size
            yield chunk, first, last - first

    def _sweep_offsets(self) -> NDArray[Any]:
        """Give the offsets of each range, from 0, one behind the other, in pinned memory."""
        if self._offsets is None:
            size = sum(last - first + 1 for first, last in self._ranges)
            dtype = offsets_dtype(self._graph.m)
            self._offset_pages = Pinned(self._device, max(size, 1), dtype)
            offsets, place = self._offset_pages.array, 0
            for first, last in self._ranges:
                part = self._graph.indptr[first : last + 1]
                offsets[place : place + part.size] = part - part[0]
                place += part.size
            self._offsets = offsets
        return self._offsets

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
        """Put rows where they can be copied from, and copy them."""
        finish_copy(*chunk.under_way)  # the staging is free then
        chunk.under_way.clear()
        straight = isinstance(rows, slice) and self._rows.dtype == np.uint32
        targets = self._rows[rows] if isinstance(rows, slice) else rows
        sources = {}
        for name, array in (
            ("indptr", indptr),
            ("vertices", vertices),
            ("names", names),
            ("indices", targets),
        ):
            if not array.size:
                continue
            sources[name] = targets
            if name != "indices" or not straight:
                sources[name] = chunk.staging[name][: array.size]
                sources[name][...] = array
        self._send(chunk, sources)

    def _send(self, chunk: _Chunk, sources: dict[str, NDArray[Any]]) -> None:
        """Copy pinned arrays to a chunk, once the launch that reads it has ended."""
        wait = [chunk.used] if chunk.used is not None else None
        for name, source in sources.items():
            self.copied_bytes += source.nbytes
            chunk.under_way.append(
                cl.enqueue_copy(
                    self._copies,
                    getattr(chunk, name).buffer,
                    source,
                    is_blocking=False,
                    wait_for=wait,
                )
            )
        self._copies.flush()
        cl.enqueue_barrier(self._device.queue, wait_for=chunk.under_way)
