"""Launches that find the triangles of a graph whose edges have been turned."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.triangles.config import Bitmap, Merge
from clgraph.algorithms.triangles.orient import ALIGNED, Orientation, StoredRows
from clgraph.device import Memory, load, wait
from clgraph.engine.resident import offsets_dtype

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from clgraph.algorithms.triangles.config import Resolved
    from clgraph.device import Allocation, Device, Kernel
    from clgraph.device.kernel import Argument
    from clgraph.device.memory import Progress
    from clgraph.engine.sweeps import SweepLog
    from clgraph.graph import Graph

__all__ = ["EdgeCounting", "OwnerCounting", "RowCounting", "counting_of"]

CPU_LAUNCH_EDGES = 1 << 21  # a launch of a CPU's, after which Ctrl-C is answered
GROUPS_PER_UNIT = 8  # where the number of resident work-items is unknown
MOST_GROUPS_PER_UNIT = 32
# Tables of bits: of work-groups, for the greatest hubs, and of SIMD groups, for all others.
TABLE_BITS, CPU_TABLE_BITS, SMALL_TABLE_BITS = 1 << 16, 1 << 18, 1 << 11
FEW_NEIGHBOURS = 8  # stored edges of a vertex, on average, that one work-item takes
STREAM, WIDE_STREAM = 4, 8  # lanes that walk one row side by side; those of tables of bits
CHUNK = 16  # owners that a SIMD group claims at a time
HUBS, PIECES = 2048, 4
TALLIES, SMALL_TALLIES, ROW_TALLIES = 1024, 64, 16
# Elements of a row that fit registers, for rows of so many times fewer on average.
TILES, TILE_SLACK = (4, 8, 12, 16, 24), 1.6
DEGREE_OF_32_BITS = 65_536  # twice the triangles of a vertex of more neighbours may pass 2**32
PHASES = 4  # ranges of owners, at most
PACKED_RANKS, BYTE_RANKS = 1 << 16, 1 << 14  # owners that packed rows and tables of bytes serve


def _shared(config: Resolved, per: str) -> dict[str, Any]:
    names = ("group_size", "lanes", "wide_offsets", "renamed", "cover", "counts", "way")
    return {**{name: getattr(config, name) for name in names}, "per": per}


def _table_bytes(bits: int) -> int:
    return bits // 32 * (4 + (2 if bits <= 1 << 16 else 4)) + 4 * TALLIES + 256


class _Counting:
    """What the ways to count have in common: the partial sums, and how many groups there are."""

    sum_type: type[np.unsignedinteger[Any]] = np.uint64  # of what is counted of a vertex

    def __init__(self, config: Resolved, device: Device, rows: StoredRows) -> None:
        self.config = config
        self.device = device
        self.rows = rows
        self.memory = Memory(device)
        traits = device.traits
        per_unit = 1 if traits.is_cpu else traits.threads_per_unit // config.group_size
        per_unit = min(per_unit or GROUPS_PER_UNIT, MOST_GROUPS_PER_UNIT)
        self.groups = per_unit * traits.compute_units
        self.sums = self.groups * (config.group_size // config.lanes)
        self.slices = max(1, rows.m // CPU_LAUNCH_EDGES) if traits.is_cpu else 1
        self.partial = self.memory.allocate("partial_counts", self.sums, np.uint64)
        self._kernels: dict[Any, Kernel] = {}
        self.source_hashes: set[str] = set()

    def launch(
        self,
        log: SweepLog,
        kernel: Kernel,
        *args: Argument,
        step: str = "",
        size: int | None = None,
    ) -> None:
        """Enqueue a kernel on all SIMD groups, as a step of this name, or of the kernel's."""
        size = size or self.config.group_size
        event = kernel.launch(self.groups * self.config.group_size, size, *args)
        log.add(event, event, name=step or kernel.name)
        if self.slices > 1:
            wait(event)

    def kernel(self, file: str, name: str, per: str, **more: Any) -> Kernel:
        """Give a kernel of a file, rendered for what is counted."""
        key = (name, per, *sorted(more.items()))
        if key not in self._kernels:
            config = SimpleNamespace(**{**_shared(self.config, per), **more})
            program = load(self.device, file, config=config)
            self.source_hashes.add(program.source_hash)
            self._kernels[key] = program.kernel(name)
        return self._kernels[key]

    def ranges(self, first: int, end: int) -> Iterator[tuple[np.uint32, np.uint32]]:
        """Cut vertices into ranges of about the same edges."""
        cuts = np.linspace(first, end, self.slices + 1).astype(np.uint32)
        for one, other in pairwise(cuts):
            if one < other:
                yield one, other


class RowCounting(_Counting):
    """Each row walked by its own work-items, by number."""

    longest: int | None = None
    probes: int | None = None
    vertices: tuple[Allocation, ...] = ()

    def __init__(self, config: Resolved, device: Device, rows: StoredRows) -> None:
        super().__init__(config, device, rows)
        self.intersections = rows.m // 2
        given = config.intersect
        self._given = given if isinstance(given, Merge) else Merge("row")
        one = device.traits.is_cpu or rows.m <= FEW_NEIGHBOURS * rows.n
        self._span = self._given.span or (1 if one else STREAM)
        self._width = self._given.width or 1
        self.sum_type = np.uint32 if rows.max_degree <= DEGREE_OF_32_BITS else np.uint64
        self._zeros: Allocation | None = None  # counts of vertices that the last run left cleared
        self._sums: tuple[Allocation, ...] = ()

    def tile(self, per: str) -> int:
        """Elements of a row that are kept in registers, or 0."""
        if per not in {"vertex", "edge"}:
            return 0
        if self._given.tile is not None:
            return self._given.tile
        mean = self.rows.m / self.rows.n * (1 if per == "edge" else 0.5)
        return next((size for size in TILES if TILE_SLACK * mean <= size), 0)

    def run(self, log: SweepLog, per: str, out: tuple[Argument, ...]) -> int:
        """Count all triangles, filling `out` as ``per`` says."""
        shape: dict[str, Any] = {
            "span": self._span,
            "together": self.device.traits.is_cpu,
            "sum_t": "uint" if self.sum_type is np.uint32 else "ulong",
        }
        tile = self.tile(per)
        if tile:
            kernel = self.kernel(
                "triangles/row_tiles.cl", "triangles_row_tiles", per, tile=tile, **shape
            )
        else:
            width = 4 if per == "edge" else self._width
            kernel = self.kernel(
                "triangles/rows.cl",
                "triangles_rows",
                per,
                width=width,
                tallies=ROW_TALLIES,
                **shape,
            )
        graph = (self.rows.indptr, self.rows.indices)
        m: tuple[Argument, ...] = ()
        if tile or per == "edge" or self._width > 1:
            m = (offsets_dtype(self.rows.m).type(self.rows.m),)
        for first, end in self.ranges(0, self.rows.n):
            anew = np.uint32(first == 0)
            self.launch(log, kernel, *graph, first, end, *m, anew, self.partial, *out)
        log.wait()
        total = int(self.partial.read().sum())
        if tile and per == "vertex":
            return total // 2
        return total // 3 if per == "edge" else total

    def of_vertices(self, log: SweepLog) -> tuple[int, NDArray[np.int64]]:
        """Count the triangles of each vertex, and all."""
        if not self._sums:
            n = self.rows.n
            self._sums = tuple(
                self.memory.allocate(name, n, self.sum_type)
                for name in ("triangles_of_vertex", "cleared_for_next")
            )
        found, spare = self._sums
        if self._zeros is not found:
            event = found.clear()
            log.add(event, event, name="clear triangles_of_vertex")
        self._zeros = None
        tiled = self.tile("vertex") > 0
        count = self.run(log, "vertex", (spare, found))
        values = found.read().astype(np.int64)
        self._sums, self._zeros = (spare, found), spare
        return count, values // 2 if tiled else values


class _TurnedCounting(_Counting):
    """Counting by rank, in rows that have been turned."""

    def __init__(self, config: Resolved, device: Device, turned: Orientation) -> None:
        super().__init__(config, device, turned)
        self.turned = turned
        self.vertices = (turned.vertices,)


class EdgeCounting(_TurnedCounting):
    """Each edge's two rows intersected by the work-items of its bin."""

    probes: int | None = None

    def __init__(self, config: Resolved, device: Device, turned: Orientation) -> None:
        super().__init__(config, device, turned)
        self.intersections = 0
        self.longest: int | None = None
        self._bins = config.binned
        self._cursors = self.memory.allocate("bin_cursors", len(self._bins), np.uint64)
        self._edges = self.memory.allocate("binned_edges", turned.m, np.uint32)
        self._cover: tuple[Allocation, ...] = ()
        if config.cover:
            self._cover = (self.memory.allocate("cover", turned.n, np.uint8),)

    def _kernel(self, name: str, per: str) -> Kernel:
        least, parts = zip(*self._bins, strict=True)
        return self.kernel(
            "triangles/edges.cl", name, per, bins=least, parts=tuple(dict.fromkeys(parts))
        )

    def run(self, log: SweepLog, per: str, out: tuple[Argument, ...]) -> int:
        """Count all triangles, filling `out` as ``per`` says."""
        turned = self.turned
        n = np.uint32(turned.n)
        graph: tuple[Argument, ...] = (turned.begins, turned.outs, turned.degrees, turned.rows)
        if self._cover:
            rows: tuple[Argument, ...] = (turned.indptr, turned.indices, n, *self._cover)
            self.launch(log, self._kernel("triangles_cover", per), *rows)
        counts = self._fill_bins(log, per, graph, n)
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.uint64)
        self.intersections = int(starts[-1])
        cleared = self.partial.clear()
        log.add(cleared, cleared)
        longest = self.memory.allocate("longest_walk", 1, np.uint32)
        for (_, parts), start, count in zip(self._bins, starts, counts, strict=False):
            kernel = self._kernel(f"triangles_edges_{parts}", per)
            step = -(-int(count) // self.slices) if count else 1
            for at in range(0, int(count), step):
                some = np.uint64(min(step, int(count) - at))
                begin = np.uint64(int(start) + at)
                work: tuple[Argument, ...] = (
                    *graph,
                    *self._cover,
                    self._edges,
                    begin,
                    some,
                    longest,
                    self.partial,
                )
                self.launch(log, kernel, *work, *out)
        log.wait()
        if self.config.counts:
            self.longest = int(longest.read()[0])
        return int(self.partial.read().sum())

    def _fill_bins(
        self, log: SweepLog, per: str, graph: tuple[Argument, ...], n: np.uint32
    ) -> list[int]:
        """List the edges bin by bin; give how many each has."""
        binning = self._kernel("triangles_bin", per)
        arguments: tuple[Argument, ...] = (*graph, n, *self._cover)
        event = self._cursors.clear()
        log.add(event, event)
        self.launch(log, binning, *arguments, np.uint32(0), self._cursors, self._edges)
        log.wait()
        counts: list[int] = self._cursors.read().tolist()
        self._cursors.write(np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.uint64))
        self.launch(log, binning, *arguments, np.uint32(1), self._cursors, self._edges)
        return counts


class OwnerCounting(_TurnedCounting):
    """Each triangle at its middle vertex, by tables of bits in local memory."""

    longest: int | None = None

    def __init__(self, config: Resolved, device: Device, turned: Orientation) -> None:
        super().__init__(config, device, turned)
        self._next = self.memory.allocate("next_owners", PHASES * self.slices, np.uint32)
        way = config.intersect
        traits = device.traits
        given = way if isinstance(way, Bitmap) else Bitmap()
        bits = given.bits or (CPU_TABLE_BITS if config.lanes == 1 else TABLE_BITS)
        # Beside each word of 32 bits, the place of its first rank: 2 bytes, or 4 in large tables.
        while bits > SMALL_TABLE_BITS and _table_bytes(bits) > traits.local_bytes:
            bits //= 2
        self._bits = bits
        self._pieces = given.pieces or PIECES
        self._streams = [min(given.stream or each, config.lanes) for each in (STREAM, WIDE_STREAM)]
        self._packed = bool(turned.packed) and given.packed is not False
        room = min(1 << traits.local_bytes.bit_length() - 2, PACKED_RANKS)
        self._byte_ranks = min(BYTE_RANKS if given.byte_ranks is None else given.byte_ranks, room)
        self.intersections = turned.m // 2

    @property
    def probes(self) -> int:
        """Elements that a run looks up: in each row, for each, those before it."""
        outs = self.turned.outs.read().astype(np.int64)
        return int((outs * (outs - 1) // 2).sum())

    def run(self, log: SweepLog, per: str, out: tuple[Argument, ...]) -> int:
        """Count all triangles, filling `out` as ``per`` says."""
        return self.run_owners(log, per, out, 0, self.turned.n)

    def run_owners(
        self, log: SweepLog, per: str, out: tuple[Argument, ...], first: int, end: int
    ) -> int:
        """Count the triangles whose middle vertex has a rank from `first` to `end`."""
        rows = (self.turned.begins, self.turned.outs, self.turned.degrees, self.turned.rows)
        cleared = self._next.clear()
        log.add(cleared, cleared, name="clear")
        counter = 0
        for begin, stop, name, options in self._phases(per, first, end):
            file = "packed" if "packed" in name else "owners"
            kernel = self.kernel(f"triangles/{file}.cl", name, per, **options)
            arrays = (*self.turned.packed, *rows) if file == "packed" else rows
            for one, other in self.ranges(begin, stop):
                hubs = min(max(HUBS - int(one), 0), int(other - one))
                items = int(other - one) + hubs * (self._pieces - 1)
                self.launch(
                    log,
                    kernel,
                    *arrays,
                    *(one, np.uint32(items), np.uint32(hubs), np.uint32(self._pieces)),
                    *(np.uint32(one == first), np.uint32(counter), self._next),
                    *(self.partial, *out),
                    step=f"{name} {options['unit']}" if file == "owners" else name,
                    size=options.get("group_size"),
                )
                counter += 1
        log.wait()
        return int(self.partial.read().sum())

    def _phases(
        self, per: str, first: int, end: int
    ) -> Iterator[tuple[int, int, str, dict[str, Any]]]:
        """Give ranges of owners, their kernel's name, and what it is rendered with."""
        if per == "total" and self._packed:
            yield from self._packed_phases(first, end)
            return
        one_lane = self.config.lanes == 1
        common = {
            "stream": self._streams[1],
            "width": ALIGNED if self.config.renamed and not one_lane else 1,
        }
        large = {
            **common,
            "unit": "group",
            "bits": self._bits,
            "exact": (one_lane and self.turned.n <= self._bits) or not one_lane,
            "chunk": CHUNK if one_lane else 1,
            "tallies": TALLIES,
        }
        small = {
            **common,
            "unit": "lanes",
            "bits": SMALL_TABLE_BITS,
            "exact": False,
            "chunk": CHUNK,
            "tallies": SMALL_TALLIES,
        }
        split = first if first >= self._bits else min(self._bits, end)
        split = end if one_lane else split
        if first < split:
            yield first, split, "triangles_owners", large
        if split < end:
            yield split, end, "triangles_owners", small

    def _packed_phases(
        self, first: int, end: int
    ) -> Iterator[tuple[int, int, str, dict[str, Any]]]:
        """Give the ranges of owners that bytes, bits, and bits of SIMD groups are for."""
        tables = (("bytes", self._byte_ranks), ("bits", PACKED_RANKS))
        for (table, ranks), stream in zip(tables, self._streams, strict=True):
            stop = min(ranks, end)
            shape = {"table": table, "ranks": ranks, "stream": stream, "beyond": False}
            if first < stop:
                yield first, stop, f"triangles_packed_{table}", {**shape, "unit": "group"}
                first = stop
        if first < end:
            size, lanes = self.config.group_size, self.config.lanes
            table_bytes = (PACKED_RANKS + SMALL_TABLE_BITS) // 8 + 16
            while size > lanes and size // lanes * table_bytes > self.device.traits.local_bytes:
                size //= 2
            shape = {"table": "bits", "ranks": PACKED_RANKS, "stream": self._streams[0]}
            own = {**shape, "beyond": True, "unit": "lanes", "group_size": size}
            own["shared_bits"] = SMALL_TABLE_BITS
            yield first, end, "triangles_packed_beyond", own


def counting_of(
    graph: Graph, config: Resolved, device: Device, progress: Progress | None
) -> RowCounting | EdgeCounting | OwnerCounting:
    """Give what counts in the configured way."""
    if isinstance(config.intersect, Merge) and config.intersect.by_row:
        return RowCounting(config, device, StoredRows(graph, device, progress))
    turned = Orientation.of(graph, config, device, progress)
    if isinstance(config.intersect, Bitmap):
        return OwnerCounting(config, device, turned)
    return EdgeCounting(config, device, turned)
