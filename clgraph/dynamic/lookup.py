"""Finding the rows of a batch's keys, and its keys in the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph.dynamic.parts import Batch, Rows, Steps

if TYPE_CHECKING:
    from clgraph.device import Allocation
    from clgraph.dynamic.storage.store import Kernels, Store
    from clgraph.engine.workspace import Workspace
    from clgraph.primitives.scanning import Compaction, Scan

__all__ = ["Lookup"]


class Lookup:
    """Launches that find what a batch is about, and write nothing but scratch memory.

    Parameters
    ----------
    kernels : Kernels
        Of rows.
    work : Workspace
        Where lists are.
    compaction, scan : Compaction, Scan
        Of lists of rows, and of their lengths.
    """

    def __init__(
        self, kernels: Kernels, work: Workspace, compaction: Compaction, scan: Scan
    ) -> None:
        self._kernels = kernels
        self._offset = kernels.offset
        self._work = work
        self._compaction = compaction
        self._scan = scan

    def touched(self, steps: Steps, batch: Batch, bits: int) -> Rows:
        """List the rows that keys are of."""
        log, count = steps["rows"], batch.count
        mask = self._work.array("row_mask", count, np.uint8)
        places = self._work.array("row_places", count, np.uint32)
        first = self._work.array("row_first", count + 1, np.uint32)
        given = (batch.keys, np.uint32(count), np.uint32(bits))
        self._kernels.launch(log, "batch_targets", count, *given, mask, places)
        total = self._compaction.enqueue(log, mask, count, (places, first))
        rows = int(total.read()[0])
        listed = self._work.array("row_list", rows, np.uint32)
        self._kernels.launch(
            log, "rows_list", rows, *given, np.uint32(rows), first, listed, listed=True
        )
        return Rows(rows, first, listed)

    def every_row(self, steps: Steps, batch: Batch, bits: int, n: int) -> Rows:
        """Find where the keys of each row begin."""
        first = self._work.array("row_first", n + 1, np.uint32)
        given = (batch.keys, np.uint32(batch.count), np.uint32(bits))
        self._kernels.launch(steps["rows"], "rows_first", n + 1, *given, np.uint32(n), first)
        return Rows(n, first)

    def sums(self, steps: Steps, store: Store, rows: Rows) -> tuple[Allocation, int]:
        """Exclusive sums of the lengths of rows with the total as the last, and the total."""
        sums = self._work.array("row_sums", rows.count + 1, self._offset)
        self._kernels.launch_rows(
            steps["rows"], "rows_lengths", rows.count + 1, rows, store.used, sums
        )
        self._scan.enqueue(steps["rows"], sums, rows.count + 1, sums)
        if rows.listed is None:
            return sums, store.m
        return sums, int(sums.read(1, begin=rows.count)[0])

    def find(
        self, steps: Steps, store: Store, batch: Batch, bits: int
    ) -> tuple[Allocation, Allocation]:
        """Find which keys are there, and where, in rows of any order: by key, uint8 and offset."""
        there = self._work.array("there", batch.count, np.uint8)
        place = self._work.array("place", batch.count, self._offset)
        there.clear()
        rows = self.touched(steps, batch, bits)
        sums, total = self.sums(steps, store, rows)
        kept = self._work.array("kept", 1, self._offset)
        args = (self._offset.type(total), sums, store.pointer, store.pools[0], batch.keys)
        flags = (rows.first, np.uint32(bits), np.uint32(0), there, place, kept)
        self._kernels.launch_rows(steps["check"], "rows_find", total, rows, *args, *flags)
        return there, place

    def kept(
        self,
        steps: Steps,
        store: Store,
        batch: Batch,
        rows: Rows,
        span: tuple[Allocation, int],
        bits: int,
    ) -> Allocation:
        """Find which entries of the rows no key names: 1 for each, and a 0."""
        sums, total = span
        kept = self._work.array("kept", total + 1, self._offset)
        unused = self._work.array("there", 1, np.uint8), self._work.array("place", 1, self._offset)
        args = (self._offset.type(total), sums, store.pointer, store.pools[0], batch.keys)
        flags = (rows.first, np.uint32(bits), np.uint32(1), *unused, kept)
        self._kernels.launch_rows(steps["check"], "rows_find", total, rows, *args, *flags)
        return kept

    def shrunk(
        self,
        steps: Steps,
        rows: Rows,
        span: tuple[Allocation, int],
        kept: Allocation,
        lengths: Allocation,
    ) -> int:
        """Scan what is kept, write the lengths, and count what is kept of all rows."""
        sums, total = span
        left = self._scan.enqueue(steps["check"], kept, total + 1, kept)
        args = (np.uint32(rows.count), sums, kept, lengths)
        self._kernels.launch(steps["place"], "rows_shrink", rows.count, *args)
        return int(left.read()[0])
