"""Counting at edges: the rows of both ends intersected by the work-items of the edge's bin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph.algorithms.triangles.launching import TurnedCounting

if TYPE_CHECKING:
    from clgraph.algorithms.triangles.config import Resolved
    from clgraph.algorithms.triangles.orient import Orientation
    from clgraph.device import Allocation, Device, Kernel
    from clgraph.device.programs.kernel import Argument
    from clgraph.engine.sweeps import SweepLog

__all__ = ["EdgeCounting"]


class EdgeCounting(TurnedCounting):
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
