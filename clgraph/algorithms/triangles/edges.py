"""Counting at edges: the rows of both ends intersected by the work-items of the edge's bin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph.algorithms.triangles.launching import TurnedCounting
from clgraph.engine.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clgraph.algorithms.triangles.config import Resolved
    from clgraph.algorithms.triangles.launching import Step
    from clgraph.algorithms.triangles.orient import Orientation
    from clgraph.device import Device
    from clgraph.device.programs.kernel import Argument
    from clgraph.engine.sweeps import SweepLog

__all__ = ["EdgeCounting"]


class EdgeCounting(TurnedCounting):
    """Each edge's two rows intersected by the work-items of its bin."""

    main = "triangles_edges"

    def __init__(self, config: Resolved, device: Device, turned: Orientation) -> None:
        super().__init__(config, device, turned)
        self.intersections = 0
        self._bins = config.binned
        self._cursors = self.memory.allocate("bin_cursors", len(self._bins), np.uint64)
        self._edges = self.memory.allocate("binned_edges", turned.m, np.uint32)
        self._cover = self.memory.allocate("cover", turned.n, np.uint8) if config.cover else None
        self._longest = self.memory.allocate("longest_walk", 1, np.uint32)

    def declare(self, name: str, per: str) -> Table:
        """Declare what a kernel takes."""
        if name == "triangles_cover":
            return self._declare_covering()
        if name == "triangles_bin":
            return self._declare_binning()
        table = Table()
        self.declare_turned(table)
        self._declare_cover(table)
        table.held("uint2", "edges", lambda: self._edges, "those of this bin begin at `from`")
        table.given("ulong", "from")
        table.given("ulong", "count")
        note = "[1] in/out: most steps of a work-item, if counted"
        table.held("uint", "longest", lambda: self._longest, note, "write")
        note = "[SIMD groups] in/out: triangles found"
        table.held("ulong", "partial", lambda: self.partial, note, "write")
        self.declare_results(table, per)
        return table

    def beside(self) -> dict[str, Table]:
        """Declare what the kernels take that choose edges."""
        return {"covering": self._declare_covering(), "binning": self._declare_binning()}

    def _declare_covering(self) -> Table:
        table, turned = Table(), self.turned
        table.held("offset_t", "indptr", lambda: turned.indptr, "[n + 1]")
        table.held("uint", "indices", lambda: turned.indices, "[m]")
        table.number("uint", "n", turned.n)
        self._declare_cover(table, "[n] out: whether it is in the cover", "write")
        return table

    def _declare_binning(self) -> Table:
        table = Table()
        self.declare_turned(table)
        table.number("uint", "n", self.turned.n)
        self._declare_cover(table)
        table.given("uint", "put", "whether edges are put")
        note = "[BINS] in/out: edges counted, or next places"
        table.held("ulong", "cursors", lambda: self._cursors, note, "write")
        note = "[edges] out: rank, and place of the edge in its row"
        table.held("uint2", "edges", lambda: self._edges, note, "write")
        return table

    def _declare_cover(self, table: Table, note: str = "[n]", access: str = "read") -> None:
        cover = self._cover
        if cover is not None:
            table.held("uchar", "cover", lambda: cover, note, access)

    def _step(self, name: str, per: str) -> Step:
        least, parts = zip(*self._bins, strict=True)
        shape = {"bins": least, "parts": tuple(dict.fromkeys(parts))}
        return self.step("triangles/edges.cl", name, per, **shape)

    def enqueue(self, log: SweepLog, per: str, out: Mapping[str, Argument]) -> None:
        """Enqueue what counts all triangles, once the edges of each bin have been counted."""
        if self._cover:
            self.launch(log, self._step("triangles_cover", per), {})
        counts = self._fill_bins(log, per)
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.uint64)
        self.intersections = int(starts[-1])
        for array in (self.partial, self._longest):
            log.add(array.clear())
        for (_, parts), start, count in zip(self._bins, starts, counts, strict=False):
            step = self._step(f"triangles_edges_{parts}", per)
            most = -(-int(count) // self.slices) if count else 1
            for at in range(0, int(count), most):
                some = np.uint64(min(most, int(count) - at))
                work = {"from": np.uint64(int(start) + at), "count": some}
                self.launch(log, step, {**work, **out})

    def total(self, per: str) -> int:
        """Report what was counted, once all that was enqueued has ended."""
        del per
        if self.config.counts:
            self.longest = int(self._longest.read()[0])
        return int(self.partial.read().sum())

    def _fill_bins(self, log: SweepLog, per: str) -> list[int]:
        """List the edges bin by bin; give how many each has."""
        binning = self._step("triangles_bin", per)
        log.add(self._cursors.clear())
        self.launch(log, binning, {"put": np.uint32(0)})
        log.wait()
        counts: list[int] = self._cursors.read().tolist()
        self._cursors.write(np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.uint64))
        self.launch(log, binning, {"put": np.uint32(1)})
        return counts
