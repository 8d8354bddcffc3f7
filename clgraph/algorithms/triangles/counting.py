"""Launches that find the triangles of a graph whose edges have been turned."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.triangles.config import Bitmap, Merge
from clgraph.device import Memory, load, wait

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clgraph.algorithms.triangles.config import Resolved
    from clgraph.algorithms.triangles.orient import Orientation
    from clgraph.device import Allocation, Device, Kernel
    from clgraph.device.kernel import Argument
    from clgraph.engine.sweeps import SweepLog

__all__ = ["EdgeCounting", "OwnerCounting", "RowCounting", "counting_of"]

CPU_LAUNCH_EDGES = 1 << 21  # a launch of a CPU's, after which Ctrl-C is answered
GROUPS_PER_UNIT = 8  # where the number of resident work-items is unknown
MOST_GROUPS_PER_UNIT = 32
# Tables of bits: of work-groups, for the greatest hubs, and of SIMD groups, for all others.
TABLE_BITS, CPU_TABLE_BITS, SMALL_TABLE_BITS = 1 << 16, 1 << 18, 1 << 11
STREAM = 4  # lanes that walk one row side by side
CHUNK = 16  # owners that a SIMD group claims at a time
HUBS, PIECES = 2048, 4
TALLIES, SMALL_TALLIES = 1024, 64


def _shared(config: Resolved, per: str) -> dict[str, Any]:
    names = ("group_size", "lanes", "wide_offsets", "renamed", "cover", "counts", "way")
    return {**{name: getattr(config, name) for name in names}, "per": per}


class _Counting:
    """What the ways to count have in common: the partial sums, and how many groups there are."""

    def __init__(self, config: Resolved, device: Device, turned: Orientation) -> None:
        self.config = config
        self.device = device
        self.turned = turned
        self.memory = Memory(device)
        traits = device.traits
        per_unit = 1 if traits.is_cpu else traits.threads_per_unit // config.group_size
        per_unit = min(per_unit or GROUPS_PER_UNIT, MOST_GROUPS_PER_UNIT)
        self.groups = per_unit * traits.compute_units
        self.sums = self.groups * (config.group_size // config.lanes)
        self.slices = max(1, turned.m // CPU_LAUNCH_EDGES) if traits.is_cpu else 1
        self._kernels: dict[Any, Kernel] = {}

    def launch(self, log: SweepLog, kernel: Kernel, *args: Argument) -> None:
        """Enqueue a kernel on every group."""
        size = self.config.group_size
        event = kernel.launch(self.groups * size, size, *args)
        log.add(event, event)
        if self.slices > 1:
            wait(event)

    def kernel(self, file: str, name: str, per: str, **more: Any) -> Kernel:
        """Give a kernel of a file, rendered for what is counted."""
        key = (name, per, *sorted(more.items()))
        if key not in self._kernels:
            config = SimpleNamespace(**{**_shared(self.config, per), **more})
            self._kernels[key] = load(self.device, file, config=config).kernel(name)
        return self._kernels[key]

    def ranges(self, first: int, end: int) -> Iterator[tuple[np.uint32, np.uint32]]:
        """Cut vertices into ranges of about the same edges."""
        cuts = np.linspace(first, end, self.slices + 1).astype(np.uint32)
        for one, other in pairwise(cuts):
            if one < other:
                yield one, other

    def new_sums(self, log: SweepLog) -> Allocation:
        """Allocate the partial sums, all 0."""
        partial = self.memory.allocate("partial_counts", self.sums, np.uint64)
        event = partial.clear()
        log.add(event, event)
        return partial


class RowCounting(_Counting):
    """Each row walked by its own work-items, by number."""

    longest: int | None = None
    probes: int | None = None

    def run(self, log: SweepLog, per: str, out: tuple[Argument, ...]) -> int:
        """Count all triangles, filling `out` as ``per`` says."""
        turned = self.turned
        span = 1 if self.device.traits.is_cpu or turned.m <= 16 * turned.n else STREAM
        kernel = self.kernel(
            "triangles/rows.cl",
            "triangles_rows",
            per,
            span=span,
            together=self.device.traits.is_cpu,
        )
        partial = self.new_sums(log)
        for first, end in self.ranges(0, turned.n):
            self.launch(
                log,
                kernel,
                turned.indptr,
                turned.indices,
                first,
                end,
                partial,
                *_trailing(per, out),
            )
        log.wait()
        return int(partial.read().sum())

    @property
    def intersections(self) -> int:
        """Pairs of rows that a run intersects."""
        return self.turned.m // 2


def _trailing(per: str, out: tuple[Argument, ...]) -> tuple[Argument, ...]:
    # Ranks are numbers here: the list needs no vertex of each rank.
    return out[1:] if per == "list" else out


class EdgeCounting(_Counting):
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
        partial = self.new_sums(log)
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
                    partial,
                )
                self.launch(log, kernel, *work, *out)
        log.wait()
        if self.config.counts:
            self.longest = int(longest.read()[0])
        return int(partial.read().sum())

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


class OwnerCounting(_Counting):
    """Each triangle at its middle vertex, by tables of bits in local memory."""

    longest: int | None = None

    def __init__(self, config: Resolved, device: Device, turned: Orientation) -> None:
        super().__init__(config, device, turned)
        self._next = self.memory.allocate("next_owner", 1, np.uint32)
        way = config.intersect
        traits = device.traits
        given = way if isinstance(way, Bitmap) else Bitmap()
        bits = given.bits or (CPU_TABLE_BITS if config.lanes == 1 else TABLE_BITS)
        while bits // 8 + 4 * TALLIES + 256 > traits.local_bytes and bits > SMALL_TABLE_BITS:
            bits //= 2
        self._bits = bits
        self._pieces = given.pieces or PIECES
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
        partial = self.new_sums(log)
        for begin, stop, options in self._phases(first, end):
            kernel = self.kernel("triangles/owners.cl", "triangles_owners", per, **options)
            for one, other in self.ranges(begin, stop):
                hubs = min(max(HUBS - int(one), 0), int(other - one))
                items = int(other - one) + hubs * (self._pieces - 1)
                event = self._next.clear()
                log.add(event, event)
                self.launch(
                    log,
                    kernel,
                    *(self.turned.begins, self.turned.outs, self.turned.degrees, self.turned.rows),
                    *(one, np.uint32(items), np.uint32(hubs), np.uint32(self._pieces)),
                    *(self._next, partial, *out),
                )
        log.wait()
        return int(partial.read().sum())

    def _phases(self, first: int, end: int) -> Iterator[tuple[int, int, dict[str, Any]]]:
        """Give ranges of owners, and what their kernel is rendered with."""
        one_lane = self.config.lanes == 1
        large = {
            "unit": "group",
            "bits": self._bits,
            "exact": (one_lane and self.turned.n <= self._bits) or not one_lane,
            "chunk": CHUNK if one_lane else 1,
            "tallies": TALLIES,
            "stream": min(STREAM, self.config.lanes),
        }
        small = {
            "unit": "lanes",
            "bits": SMALL_TABLE_BITS,
            "exact": False,
            "chunk": CHUNK,
            "tallies": SMALL_TALLIES,
            "stream": min(STREAM, self.config.lanes),
        }
        split = end if one_lane else min(max(self._bits, first), end)
        if first < split:
            yield first, split, large
        if split < end:
            yield max(split, first), end, small


def counting_of(config: Resolved, device: Device, turned: Orientation) -> Any:
    """Give what counts in the configured way."""
    if isinstance(config.intersect, Bitmap):
        return OwnerCounting(config, device, turned)
    if config.intersect == Merge("row"):
        return RowCounting(config, device, turned)
    return EdgeCounting(config, device, turned)
