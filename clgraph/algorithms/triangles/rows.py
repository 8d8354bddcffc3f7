"""Counting straight from the rows of a graph, by number: nothing is prepared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.triangles.config import Merge
from clgraph.algorithms.triangles.launching import Counting
from clgraph.engine.resident import offsets_dtype
from clgraph.engine.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from clgraph.algorithms.triangles.config import Resolved
    from clgraph.algorithms.triangles.orient import StoredRows
    from clgraph.device import Allocation, Device
    from clgraph.device.programs.kernel import Argument
    from clgraph.engine.sweeps import SweepLog

__all__ = ["RowCounting"]

FEW_NEIGHBOURS = 8  # stored edges of a vertex, on average, that one work-item takes
SPAN = 4  # work-items of a row of more
TALLIES = 12  # edges of a row that are counted in local memory
BYTES = 8  # of a register, which count up to 255 each
# Elements of a row in registers, for rows of so many times fewer on average; of others in a table.
TILES, TILE_SLACK = (4, 8), 1.3
SLOTS, WIDE_SPAN = 128, 8


class RowCounting(Counting):
    """Each row walked by its own work-items, by number."""

    def __init__(self, config: Resolved, device: Device, rows: StoredRows) -> None:
        super().__init__(config, device, rows)
        self.intersections = rows.m // 2
        given = config.intersect
        self._given = given if isinstance(given, Merge) else Merge("row")
        one = device.traits.is_cpu or rows.m <= FEW_NEIGHBOURS * rows.n
        self._span = self._given.span or (1 if one else SPAN)
        self._width = self._given.width or 1
        # A vertex has no more triangles than pairs of neighbours.
        pairs = rows.max_degree * (rows.max_degree - 1) // 2
        self._twice = bool(self._kept("vertex")[0])  # whether each is counted twice
        most = min(pairs, rows.m // 2) * (2 if self._twice else 1)
        self.sum_type = np.uint32 if most < 2**32 else np.uint64
        self._zeros: Allocation | None = None  # counts of vertices that the last run left cleared
        self._sums: tuple[Allocation, ...] = ()

    def _kept(self, per: str) -> tuple[str, dict[str, Any]]:
        """Report where a row is kept, and how much of it: in registers, in a table, or nowhere."""
        given = self._given
        if per not in {"vertex", "edge"}:
            return "", {}
        tile, slots = given.tile, given.slots
        if tile is None and slots is None and per == "edge" and not self.device.traits.is_cpu:
            mean = self.rows.m / self.rows.n
            tile = next((size for size in TILES if TILE_SLACK * mean <= size), None)
            slots = SLOTS
        if tile:
            return "tiles", {"tile": tile, "span": self._span}
        if slots:
            span = given.span or WIDE_SPAN
            return "tables", {"slots": slots, "span": min(span, self.config.lanes)}
        return "", {}

    def declare(self, name: str, per: str) -> Table:
        """Declare what a kernel takes."""
        table, rows = Table(), self.rows
        rows.declare_stored(table)
        table.given("uint", "first", "rows from `first` to `end`")
        table.given("uint", "end")
        if name != "triangles_rows" or per == "edge" or self._width > 1:
            table.number("offset_t", "m", offsets_dtype(rows.m).type(rows.entries))
        table.given("uint", "anew", "whether partial sums begin here")
        note = "[SIMD groups] in/out: what is added up"
        table.held("ulong", "partial", lambda: self.partial, note, "write")
        if per == "vertex":
            table.given(self.sum_t, "spare", "[n] out, 0", "write")
        self.declare_results(table, per)
        return table

    def enqueue(self, log: SweepLog, per: str, out: Mapping[str, Argument]) -> None:
        """Enqueue what counts all triangles, filling `out` as ``per`` says."""
        lanes = self.config.lanes
        where, shape = self._kept(per)
        if where:
            name = f"row_{where}"
        else:
            name = "rows"
            shape = {"span": self._span, "width": 4 if per == "edge" else self._width}
            # No vertex of a row closes more triangles with its last one than that has neighbours.
            in_bytes = self._span == 1 and self.rows.max_degree <= 255
            shape["tallied"] = "register" if in_bytes else "local"
            shape["tallies"] = BYTES if in_bytes else TALLIES
            # Work-items of a row share its tallies if they lie in a SIMD group.
            shape["shared"] = per == "vertex" and 1 < self._span <= lanes and not lanes % self._span
        shape["together"] = self.device.traits.is_cpu and not shape.get("shared")
        step = self.step(f"triangles/{name}.cl", f"triangles_{name}", per, **shape)
        for first, end in self.ranges(0, self.rows.n):
            work = {"first": first, "end": end, "anew": np.uint32(first == 0)}
            self.launch(log, step, {**work, **out})

    def total(self, per: str) -> int:
        """Report what was counted, once all that was enqueued has ended."""
        total = int(self.partial.read().sum())
        if per == "vertex" and self._twice:
            return total // 2
        return total // 3 if per == "edge" else total

    def of_vertices(self, log: SweepLog) -> tuple[int, NDArray[np.int64]]:
        """Count all triangles, and those of each vertex."""
        if not self._sums:
            self._sums = tuple(
                self.memory.allocate(name, self.rows.n, self.sum_type)
                for name in ("triangles_of_vertex", "cleared_for_next")
            )
        found, spare = self._sums
        if self._zeros is not found:
            log.add(found.clear(), name="clear triangles_of_vertex")
        self._zeros = None
        count = self.run(log, "vertex", {"spare": spare, "found": found})
        values = found.read().astype(np.int64)
        self._sums, self._zeros = (spare, found), spare
        return count, values // 2 if self._twice else values

    def of_edges(self, log: SweepLog) -> tuple[int, NDArray[np.uint32]]:
        """Count all triangles, and those of each stored edge."""
        supports = self.array("supports", self.rows.m, np.uint32)
        count = self.run(log, "edge", {"found": supports})
        return count, supports.read()
