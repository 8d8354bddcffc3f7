"""Searches from many sources in one pass over the edges, a bit for each: what MS-BFS does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.multi_search_run import fill
from clgraph.device import Memory, Mirror, load, wait
from clgraph.engine.resident import offsets_dtype, resident
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    import pyopencl as cl
    from numpy.typing import NDArray

    from clgraph.device import Allocation, Device, DeviceTraits
    from clgraph.device.memory import Progress
    from clgraph.graph import Graph

__all__ = ["BitParallel", "BitParallelConfig", "Sums", "long_rows_in_parts"]

OUTPUTS = {"distances": "int", "marks": "uchar", "targets": "ulong", "sources": "ulong"}
MOST_WORDS_CPU, MOST_WORDS_GPU = 16, 32
FOUND_WORDS = 64
# Levels that are settled together, and looked at: their rows are kept.
KEPT_LEVELS = 8
MEMORY_SHARE = 0.9
GROUP_SIZE = 256
SMALL_GROUPS_ON_CPUS = True


@dataclass(frozen=True, slots=True)
class BitParallelConfig:
    """What the kernels are rendered with.

    Attributes
    ----------
    lanes, group_size, wide_offsets
        Of the device and the graph.
    row_words : int
        32-bit words of a vertex's row; a power of two.
    part_edges : int
        Longer rows are gathered in parts of this many edges.
    tile : int
        Vertices that a SIMD group takes at a time.
    batch : int
        Neighbours whose rows are read at the same time.
    output : str
        What is kept of the searches.
    ctype, real : str
        Type of the result, and of sums of reciprocals.
    settle_size : int
        Work-group that counts.
    kept_levels : int
        Levels that are settled together.
    settle_tile : int
        Neighbouring vertices that a work-item settles: a line of distances on one lane.
    """

    lanes: int
    group_size: int
    wide_offsets: bool
    row_words: int
    part_edges: int
    tile: int
    batch: int
    output: str
    ctype: str
    real: str
    settle_size: int
    kept_levels: int
    settle_tile: int
    found_words: int = FOUND_WORDS

    @property
    def kept_slots(self) -> int:
        """Levels whose rows are kept: those that are settled together, and the one before."""
        return self.kept_levels + 1

    @property
    def level_bits(self) -> int:
        """Bits that number them."""
        return self.kept_levels.bit_length()

    @property
    def lane_words(self) -> int:
        """Words of a row that each lane has."""
        return max(self.row_words // self.lanes, 1)

    @property
    def slots(self) -> int:
        """Rows that the lanes of a SIMD group read side by side."""
        return max(self.lanes // self.row_words, 1)


@dataclass(frozen=True, slots=True)
class Sums:
    """Figures of searches, per source or per target.

    Attributes
    ----------
    reached : int64
        Distances that there are, those of 0 among them.
    total : int64
        Their sum.
    farthest : int64
        The largest.
    harmonic : float64
        Sum of their reciprocals, those of 0 left out.
    """

    reached: NDArray[np.int64]
    total: NDArray[np.int64]
    farthest: NDArray[np.int64]
    harmonic: NDArray[np.float64]


class BitParallel:
    """Breadth-first searches that share one traversal, compiled for a graph, a device and a result.

    Parameters
    ----------
    graph : Graph
        What is searched.
    device : Device
        Where.
    output : {"distances", "marks", "targets", "sources"}
        Distances or marks of every search, or sums per vertex over all searches, or per search.
    searches : int
        How many there will be; more than fit a row of bits are searched in passes.
    transpose : Graph, optional
        The transpose of `graph`, where it is at hand.

    Attributes
    ----------
    most : int
        Searches of the widest pass on this device.
    passes, levels : int
        Passes so far, and levels of the last one.
    kernel_ms : float
        Device time of all passes.

    Notes
    -----
    A level reads, for each vertex that some search has not seen, the rows of its in-neighbours
    that were reached last: up to 1,024 searches for one read of an edge. A directed graph needs its
    transpose. Uses 40 bytes per vertex for every 32 searches of a pass.

    References
    ----------
    .. [1] M. Then et al., "The more the merrier: efficient multi-source graph traversal", PVLDB 8
           (2014).
    """

    def __init__(
        self,
        graph: Graph,
        device: Device,
        output: str,
        searches: int,
        *,
        transpose: Graph | None = None,
    ) -> None:
        if output not in OUTPUTS:
            raise InvalidArgumentError(f"output={output!r} is not one of {', '.join(OUTPUTS)}.")
        self.graph = graph
        self.device = device
        self._transpose = graph.transpose() if transpose is None else transpose
        self._memory = Memory(device)
        most = _most_words(graph, device.traits, output, self._memory.free_bytes)
        words = min(1 << (-(-max(searches, 1) // 32) - 1).bit_length(), most)
        self.most = 32 * most
        self.config = _config(graph, device.traits, output, words)
        program = load(device, "bit_parallel.cl", config=self.config)
        self.source_hash = program.source_hash
        self._kernels = {
            step: program.kernel(f"bit_parallel_{step}")
            for step in ("gather", "clear", "start", "renew", "settle")
        }
        self._arrays: dict[str, Allocation] = {}
        self._nothing = self._memory.allocate("counts", 1, np.uint32)
        self.passes = self.levels = 0
        self.kernel_ms = 0.0

    @property
    def width(self) -> int:
        """Searches of a pass."""
        return 32 * self.config.row_words

    def distances(
        self, sources: NDArray[np.int64], progress: Progress | None = None
    ) -> NDArray[np.int32]:
        """Hop distances int32 [k, n], -1 where there is no path."""
        return self._rows(sources, np.int32, progress)

    def marks(
        self, sources: NDArray[np.int64], progress: Progress | None = None
    ) -> NDArray[np.bool_]:
        """Whether each vertex is reached, bool [k, n]."""
        return self._rows(sources, np.uint8, progress).view(np.bool_)

    def sums(self, sources: NDArray[np.int64], progress: Progress | None = None) -> Sums:
        """Add up the distances to every target, or those from every source."""
        if self.config.output == "targets":
            return self._sums_of_targets(sources, progress)
        reached = np.empty(sources.size, np.int64)
        total, farthest = reached.copy(), reached.copy()
        harmonic = np.empty(sources.size, np.float64)
        for begin in range(0, sources.size, self.width):
            part = slice(begin, begin + self.width)
            count = sources[part].size
            arrays = self._sum_arrays(count, 2 * count)
            self._search(sources[part], *arrays)
            out, counts, reciprocals = (array.read() for array in arrays)
            total[part], harmonic[part] = out, reciprocals
            reached[part], farthest[part] = counts[:count].astype(np.int64) + 1, counts[count:]
            _tell(progress, begin + count, sources.size)
        return Sums(reached, total, farthest, harmonic)

    def _sums_of_targets(self, sources: NDArray[np.int64], progress: Progress | None) -> Sums:
        n = self.graph.n
        arrays = self._sum_arrays(n, 2 * n)
        for begin in range(0, sources.size, self.width):
            part = sources[begin : begin + self.width]
            self._search(part, *arrays)
            _tell(progress, begin + part.size, sources.size)
        out, counts, harmonic = (array.read() for array in arrays)
        reached = counts[:n].astype(np.int64) + np.bincount(sources, minlength=n)
        farthest = counts[n:].astype(np.int64)
        return Sums(reached, out.astype(np.int64), farthest, harmonic.astype(np.float64))

    def _sum_arrays(self, size: int, counters: int) -> tuple[Allocation, Allocation, Allocation]:
        real = np.float64 if self.config.real == "double" else np.float32
        arrays = (
            self._memory.allocate("sums", size, np.uint64),
            self._memory.allocate("counts", counters, np.uint32),
            self._memory.allocate("harmonic", size, real),
        )
        for array in arrays:
            fill(self.device, array, np.uint8(0))
        return arrays

    def _rows(
        self, sources: NDArray[np.int64], dtype: Any, progress: Progress | None
    ) -> NDArray[Any]:
        n = self.graph.n
        result = np.empty((sources.size, n), dtype)
        if not result.size:
            return result
        for begin in range(0, sources.size, self.width):
            part = sources[begin : begin + self.width]
            out = self.search(part)
            result[begin : begin + part.size] = out.read(part.size * n).reshape(part.size, n)
            _tell(progress, begin + part.size, sources.size)
        return result

    def search(self, sources: NDArray[np.int64]) -> Allocation:
        """Search from at most `width` sources; distances or marks stay on the device.

        Returns
        -------
        Allocation
            [k, n] in its first elements, as long as no other search is run.
        """
        size = min(self.width, sources.size) * self.graph.n
        out = self._arrays.get("out")
        if out is None or out.count < size:
            self._arrays.pop("out", None)
            dtype = np.int32 if self.config.output == "distances" else np.uint8
            out = self._arrays["out"] = self._memory.allocate(self.config.output, size, dtype)
        self._search(sources, out, self._nothing, self._nothing)
        return out

    def _prepare(self) -> None:
        if "seen" in self._arrays:
            return
        graph, config, memory = self.graph, self.config, self._memory
        back = self._transpose
        self._back = resident(back, self.device)
        words = graph.n * config.row_words
        slots = config.kept_slots
        self._arrays["seen"] = memory.allocate("seen", words, np.uint32)
        self._arrays["rows"] = memory.allocate("rows", slots * words, np.uint32)
        self._arrays["actives"] = memory.allocate("actives", slots * graph.n, np.uint8)
        found = self._arrays["found"] = memory.allocate("found", FOUND_WORDS, np.uint32)
        self._mirror = Mirror(self.device, found, 0, FOUND_WORDS)
        long_rows, owners, begins = long_rows_in_parts(back, config.part_edges)
        self._long = (
            np.uint32(long_rows.size),
            memory.upload("long_vertices", long_rows.astype(np.uint32)),
        )
        self._parts = (
            np.uint32(owners.size),
            memory.upload("part_vertices", long_rows[owners].astype(np.uint32)),
            memory.upload("part_begins", begins.astype(offsets_dtype(graph.m))),
        )

    def _search(
        self,
        sources: NDArray[np.int64],
        out: Allocation,
        counts: Allocation,
        harmonic: Allocation,
    ) -> None:
        """One pass: at most `width` searches, level after level."""
        if not self.graph.n:
            return
        self._prepare()
        n, searches = np.uint32(self.graph.n), np.uint32(sources.size)
        given = self._memory.upload("sources", sources.astype(np.uint32))
        seen, rows, actives, found = (
            self._arrays[name] for name in ("seen", "rows", "actives", "found")
        )
        graph = (self._back.indptr, self._back.indices, *self._parts)
        results = (out, counts, harmonic)
        first = self._launch("clear", n, searches, given, seen, rows, actives, found)
        self._launch("start", searches, given, seen, rows, actives)
        level = 0
        while True:
            begin = np.uint32(level + 1 if level else 0)
            last = self._launch("renew", *self._long, rows, actives, n, np.uint32(level), found)
            for _ in range(self.config.kept_levels):
                level += 1
                self._launch("gather", *graph, seen, rows, actives, n, np.uint32(level), found)
            state = (searches, begin, seen, rows, actives)
            if self.config.output != "marks":
                last = self._launch("settle", *state, *results, n, np.uint32(level), found)
            self._mirror.refresh()
            if not self._mirror.words[level % FOUND_WORDS]:
                break
        if self.config.output == "marks":
            last = self._launch("settle", *state, *results, n, np.uint32(level), found)
            wait(last)
        self.passes += 1
        self.levels = level
        self.kernel_ms += (last.profile.end - first.profile.start) / 1e6

    def _launch(self, step: str, *args: Any) -> cl.Event:
        kernel, traits, config = self._kernels[step], self.device.traits, self.config
        size = {"gather": config.group_size, "settle": config.settle_size}.get(
            step, config.settle_size
        )
        groups = traits.compute_units * (4 if traits.is_cpu else max(2048 // size, 1))
        return kernel.launch(groups * size, size, *args)


def long_rows_in_parts(
    graph: Graph, part_edges: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Cut rows longer than `part_edges` into parts of that many edges.

    Returns
    -------
    long_rows : int64 [l]
        Their vertices.
    owners, begins : int64 [p]
        For each part, which of the long rows it is of, and its first edge.
    """
    long_rows = np.flatnonzero(graph.degrees > part_edges)
    pieces = -(-graph.degrees[long_rows].astype(np.int64) // part_edges)
    owners = np.repeat(np.arange(long_rows.size), pieces)
    places = np.arange(owners.size) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    begins = graph.indptr[long_rows[owners]].astype(np.int64) + places * part_edges
    return long_rows, owners, begins


def _most_words(graph: Graph, traits: DeviceTraits, output: str, free_bytes: int) -> int:
    """Give the widest row that pays and fits, in words."""
    words = MOST_WORDS_CPU if traits.is_cpu or traits.lanes == 1 else MOST_WORDS_GPU
    # A pass keeps rows of bits, and a result of each search.
    result = 32 * {"distances": 4, "marks": 1}.get(output, 0)
    rows = 4 * (KEPT_LEVELS + 1)
    while words > 1 and (
        words * graph.n * (4 + rows + result) > MEMORY_SHARE * free_bytes
        or words * graph.n * max(rows, result) > traits.max_alloc_bytes
    ):
        words //= 2
    return words


def _config(graph: Graph, traits: DeviceTraits, output: str, row_words: int) -> BitParallelConfig:
    lanes = traits.lanes
    one_lane = lanes == 1
    small_groups = (
        (traits.is_cpu and SMALL_GROUPS_ON_CPUS) or traits.lane_ops == "local" or one_lane
    )
    if lanes & (lanes - 1):
        raise InvalidArgumentError(f"{lanes} lanes are not a power of two.")
    return BitParallelConfig(
        lanes=lanes,
        group_size=lanes if small_groups else GROUP_SIZE,
        wide_offsets=offsets_dtype(graph.m) == np.dtype(np.uint64),
        row_words=row_words,
        part_edges=1024 if not one_lane else 1 << 16,
        tile=64 if one_lane else 1,
        batch=1 if one_lane or traits.lane_ops == "local" else 4,
        output=output,
        ctype=OUTPUTS[output],
        real="double" if traits.fp64 and traits.int64_atomics else "float",
        settle_size=1 if one_lane else lanes if small_groups else GROUP_SIZE,
        kept_levels=KEPT_LEVELS,
        settle_tile=16 if one_lane else 1,
    )


def _tell(progress: Progress | None, done: int, total: int) -> None:
    if progress is not None:
        progress(done, total, "searches")
