"""Edges turned from one end to the other, on the device, and kept with the graph."""

from __future__ import annotations

import threading
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clgraph.device import Memory, load
from clgraph.engine.blocks import BlockRows, rows_of
from clgraph.engine.resident import offsets_dtype
from clgraph.engine.sweeps import Sweeper
from clgraph.engine.table import Table
from clgraph.errors import InvalidArgumentError
from clgraph.graph import Graph
from clgraph.primitives.scanning import Scan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clgraph.algorithms.triangles.config import Order, Resolved
    from clgraph.device import Allocation, Device, Program
    from clgraph.device.memory.allocation import Progress
    from clgraph.device.programs.kernel import Argument
    from clgraph.engine.sweeps import SweepLog

__all__ = ["BUCKETS", "HeldRows", "Orientation", "StoredRows", "faults"]

BUCKETS = 2048 + 21 * 128  # degrees: exact below 2,048, then 128 to an octave
SHORT_ROW_LANES = 8  # edges per lane of rows that a SIMD group sorts alone
SHORT_ROW_CPU = 64
WINDOW = 1 << 17  # not less than the ranks that are packed
LONG_ROW = 16  # edges of rows that a work-group is better for than a SIMD group
TINY_ROW = 8  # edges of rows that as many lanes sort
SPREAD_LANES = 16  # places per lane that a SIMD group spreads at a time
ALIGNED = 4  # ranks of the widest load, which may end behind the last row
CONTROL_WORDS = BUCKETS + 1  # and the next long row
LEAST_LOCAL_BYTES = 4 * BUCKETS  # more than any other step of it takes
PACKED_UNIT = 8  # ranks of a load from packed rows
SHAPE = ("group_size", "lanes", "wide_offsets", "renamed", "rows")


def _packs(config: Resolved) -> bool:
    """Whether rows are packed too: lanes stream those eight ranks at a time."""
    return config.renamed and config.lanes > 1


def _tiny(config: Resolved) -> int:
    """Edges of the longest rows that as many lanes sort; 0 where there are fewer lanes."""
    return TINY_ROW if _packs(config) and config.lanes >= TINY_ROW else 0


def _parameters(config: Resolved) -> dict[str, Any]:
    return {
        "config": SimpleNamespace(
            **{name: getattr(config, name) for name in SHAPE},
            packed=_packs(config),
            tiny=_tiny(config),
        ),
        "BUCKETS": BUCKETS,
        "SHORT_ROW": SHORT_ROW_CPU if config.lanes == 1 else SHORT_ROW_LANES * config.lanes,
        "WINDOW": WINDOW,
        "SPREAD": SPREAD_LANES,
    }


def _program(device: Device, config: Resolved, takes: Mapping[str, Table]) -> Program:
    """Build steps of an orientation, each with what it takes, where counts of degrees fit a group.

    Raises
    ------
    InvalidArgumentError
        If they do not; OpenCL 1.1 and later ask for 32 KiB of a GPU, but for embedded ones.
    """
    if device.traits.local_bytes < LEAST_LOCAL_BYTES:
        raise InvalidArgumentError(
            f"edges are oriented by degrees in {LEAST_LOCAL_BYTES} bytes of local memory, but "
            f"{device.name} has {device.traits.local_bytes}; choose another device, such as 'cpu'."
        )
    arguments = {name: table.rows for name, table in takes.items()}
    return load(device, "triangles/orient.cl", takes=arguments, **_parameters(config))


class HeldRows(NamedTuple):
    """An undirected graph that is on a device alone; its rows need not be sorted."""

    n: int
    m: int
    max_degree: int  # or more
    indptr: Allocation
    indices: Allocation


Stored = Graph | BlockRows | HeldRows


class StoredRows:
    """A graph's rows on one device, as they are stored: nothing is prepared.

    Parameters
    ----------
    graph : Graph, BlockRows or HeldRows
        Undirected, without self-loops and parallel edges.
    device : Device
        Where.
    progress : callable, optional
        Called while the graph is uploaded.

    Attributes
    ----------
    n, m, max_degree : int
        Of the graph.
    entries : int
        Of `indices`: m, or more in blocks.
    indptr, indices : Allocation
        The graph.
    lengths : Allocation or None
        Of its rows, if these are in blocks.
    ready : bool
        True.
    fills : int
        0.
    alone : lock
        For a plan to hold from where it looks whether these are ready until what it enqueued that
        reads them has ended: plans of one graph share what it keeps, and may fill it anew.
    """

    def __init__(self, graph: Stored, device: Device, progress: Progress | None) -> None:
        held = graph if isinstance(graph, HeldRows) else rows_of(graph, device, progress)
        self.n, self.m, self.max_degree = graph.n, graph.m, graph.max_degree
        self.entries, self.lengths = self.m, None
        if isinstance(graph, BlockRows):
            self.entries, self.lengths = graph.entries, graph.store.used
        self.indptr, self.indices = held.indptr, held.indices
        self.ready, self.fills = True, 0
        self.alone = threading.RLock()

    def fill(self, log: SweepLog, *, anew: bool = False) -> None:
        """Do nothing."""

    def declare(self) -> Table:
        """Declare the graph."""
        table = Table()
        self.declare_stored(table)
        table.number("uint", "n", self.n)
        return table

    def declare_stored(self, table: Table) -> None:
        """Declare where rows begin and end, and their targets."""
        self._declare_indptr(table)
        lengths = self.lengths
        if lengths is not None:
            table.held("uint", "row_lengths", lambda: lengths, "[n]; indptr has [n] then")
        self._declare_indices(table)

    def _declare_indptr(self, table: Table) -> None:
        table.held("offset_t", "indptr", lambda: self.indptr, "[n + 1]")

    def _declare_indices(self, table: Table) -> None:
        table.held("uint", "indices", lambda: self.indices, "[m] ascending in each row")


class Orientation(StoredRows):
    """A graph's rows by rank on one device: smaller ranks first, ascending, then the greater ones.

    Parameters
    ----------
    graph : Graph or HeldRows
        Undirected, without self-loops and parallel edges; sorted rows, if its own are walked.
    config : Resolved
        Order, group size and lanes.
    device : Device
        Where.
    progress : callable, optional
        Called while the graph is uploaded.

    Attributes
    ----------
    begins, outs, degrees : Allocation
        Of each rank [n]: where its row begins in `rows`, edges to smaller ranks, and all edges.
    rows : Allocation
        uint32 [m], or up to the next multiple of 4 where ranks are not numbers.
    packed : tuple of Allocation
        Empty, or where the ranks below 65,536 of each row lie packed, and they: pairs of uint32
        [n], and uint16.
    vertices : Allocation
        uint32 [n]: the vertex of each rank; one word where ranks are numbers.
    long_rows : int
        Ranks before this one may have rows of more than `LONG_ROW`.
    ready : bool
        Whether the arrays have been filled.
    fills : int
        How often they have been: ranks within a degree may differ from one time to the next.
    """

    def __init__(
        self, graph: Stored, config: Resolved, device: Device, progress: Progress | None
    ) -> None:
        super().__init__(graph, device, progress)
        memory = Memory(device)
        # Where rows begin that are turned: one after the other, wherever they are stored.
        self._begin_at = self.indptr
        if self.renamed_in_blocks(config):
            sums = np.zeros(graph.n + 1, np.uint32)
            sums[-1] = graph.m  # a scan finds the others
            self._begin_at = memory.upload("row_sums", sums)
            self._scan = Scan(device, np.uint32)
        n = graph.n
        self.ready, self.fills = False, 0
        self.renamed = config.renamed
        self.long_rows = n
        if self.renamed:
            if isinstance(graph, Graph):
                self.long_rows = int(np.count_nonzero(graph.degrees > LONG_ROW))
            else:
                self.long_rows = min(n, graph.m // (LONG_ROW + 1))
        self.begins = memory.allocate("row_begins", n, offsets_dtype(graph.m))
        self.outs = memory.allocate("row_outs", n, np.uint32)
        self.degrees = memory.allocate("row_degrees", n, np.uint32)
        self._sweeper = Sweeper(device, n, config.group_size)
        self.rows, self.vertices, self._ranks = self.indices, self.outs, self.outs
        self.packed: tuple[Allocation, ...] = ()
        if self.renamed:
            self.rows = memory.allocate("rows_by_rank", -(-graph.m // ALIGNED) * ALIGNED, np.uint32)
            self.vertices = memory.allocate("vertex_of_rank", n, np.uint32)
            self._ranks = memory.allocate("ranks", n, np.uint32)
            self._control = memory.allocate("degree_buckets", CONTROL_WORDS, np.uint32)
            if _packs(config):
                words = PACKED_UNIT * (graph.m // PACKED_UNIT + n + 1)
                self.packed = (
                    memory.allocate("packed_heads", 2 * n, np.uint32),
                    memory.allocate("packed_rows", words, np.uint16),
                )
        # In blocks nothing is known by place.
        self._takes = {} if self.lengths else {"spread": self._declare_spread()}
        self._takes |= self._declare_sorting(config) if self.renamed else {"by_id": self._by_id()}
        program = _program(device, config, self._takes)
        self._kernels = {name: program.kernel(f"orient_{name}") for name in self._takes}
        for table in self._takes.values():
            table.allocate(memory)

    def _by_id(self) -> Table:
        """Declare what finds the rows of a graph whose ranks are its numbers."""
        table = self.declare()
        self._declare_found(table)
        return table

    def _declare_sorting(self, config: Resolved) -> dict[str, Table]:
        """Declare what ranks the vertices by degree, and what sorts their rows by rank."""
        histogram, starts, rank, long_rows = Table(), Table(), Table(), Table()
        for table in (histogram, rank):
            self._declare_sums(table)
            table.number("uint", "n", self.n)
        counts = "[BUCKETS] in/out"
        self._declare_control(histogram, "counts", f"{counts}, 0 on entry", "write")
        self._declare_control(starts, "counts", f"{counts}: counts, then starts", "write")
        self._declare_control(rank, "starts", f"{counts}: what is left of each bucket", "write")
        self._declare_order(rank, "write")
        self._declare_turning(long_rows)
        note = "[BUCKETS + 1] in/out: the last is the next row, 0 on entry"
        self._declare_control(long_rows, "starts", note, "write")
        by_lanes = {"short_rows": Table()}
        if _tiny(config):
            by_lanes["tiny_rows"] = Table()
        for table in by_lanes.values():
            self._declare_turning(table)
            table.number("uint", "n", self.n)
            note = "[BUCKETS] what is left of each bucket: its end"
            self._declare_control(table, "starts", note, "read")
        for table in (long_rows, *by_lanes.values()):
            self._declare_order(table, "read")
            self._declare_found(table)
            table.held("uint", "rows", lambda: self.rows, "[m] out", "write")
            if self.packed:
                note = "[n] out, by rank: first unit, and PACKED_ counts"
                table.held("uint2", "heads", lambda: self.packed[0], note, "write")
                note = "[8 (m / 8 + n + 1)] out"
                table.held("ushort", "packed", lambda: self.packed[1], note, "write")
        ranking = {"histogram": histogram, "starts": starts, "rank": rank}
        return ranking | {"long_rows": long_rows} | by_lanes

    def renamed_in_blocks(self, config: Resolved) -> bool:
        """Whether rows are written one after the other that are stored elsewhere."""
        return config.renamed and self.lengths is not None

    def _declare_sums(self, table: Table) -> None:
        table.held("offset_t", "indptr", lambda: self._begin_at, "[n + 1]")

    def _declare_turning(self, table: Table) -> None:
        """Declare rows as they are stored, and where they begin once they are turned."""
        self._declare_sums(table)
        if self.lengths is not None:
            table.held("offset_t", "pointer", lambda: self.indptr, "[n] where rows are stored")
        self._declare_indices(table)

    def _declare_control(self, table: Table, name: str, note: str, access: str) -> None:
        table.held("uint", name, lambda: self._control, note, access)

    def _declare_order(self, table: Table, access: str) -> None:
        table.held("uint", "ranks", lambda: self._ranks, "[n] by vertex", access)
        table.held("uint", "vertices", lambda: self.vertices, "[n] by rank", access)

    def _declare_found(self, table: Table) -> None:
        note = "[n] out: where a row begins"
        table.held("offset_t", "begins", lambda: self.begins, note, "write")
        note = "[n] out: edges to smaller ranks"
        table.held("uint", "outs", lambda: self.outs, note, "write")
        table.held("uint", "degrees", lambda: self.degrees, "[n] out", "write")

    def _declare_spread(self) -> Table:
        table = self.declare()
        table.held("uint", "ranks", lambda: self._ranks, "[n]")
        table.held("offset_t", "begins", lambda: self.begins, "[n]")
        table.held("uint", "outs", lambda: self.outs, "[n]")
        table.held("uint", "rows", lambda: self.rows, "[m]")
        table.given("uint", "found", "[m] by place in rows", "read")
        table.given("uint", "spread", "[m] out, by place in indices", "write")
        return table

    @classmethod
    def of(
        cls, graph: Stored, config: Resolved, device: Device, progress: Progress | None
    ) -> Orientation:
        """Give the one that the graph keeps for this device and order, or a new one."""
        if isinstance(graph, HeldRows):
            return cls(graph, config, device, progress)
        kept: dict[tuple[Device, Order], Orientation] = graph.kept.setdefault(cls, {})
        key = (device, config.order)
        if key not in kept:
            kept[key] = cls(graph, config, device, progress)
        return kept[key]

    def fill(self, log: SweepLog, *, anew: bool = False) -> None:
        """Enqueue what fills the arrays, if they are not or are to be filled anew.

        `ready` is for the caller to set, after the last event.
        """
        if self.ready and not anew:
            return
        self.ready, self.fills = False, self.fills + 1
        if not self.renamed:
            self._launch(log, "by_id")
            return
        if self.lengths is not None:
            self._scan.enqueue(log, self.lengths, self.n, self._begin_at)
        log.add(self._control.clear(), name="clear")
        self._launch(log, "histogram")
        self._launch(log, "starts", groups=1)
        for name in ("rank", "long_rows", "short_rows", "tiny_rows"):
            if name in self._takes:
                self._launch(log, name)

    def _launch(
        self, log: SweepLog, name: str, groups: int | None = None, **given: Argument
    ) -> None:
        table = self._takes[name]
        arguments = table.bind(given)
        bound = table.changing, table.stamp
        self._sweeper.launch(log, self._kernels[name], *arguments, groups=groups, bound=bound)

    def spread(self, log: SweepLog, found: Allocation, spread: Allocation) -> None:
        """Enqueue copying what was found of each edge to both places where the graph stores it."""
        self._launch(log, "spread", found=found, spread=spread)


def faults(
    graph: Graph | BlockRows, device: Device, config: Resolved, log: SweepLog
) -> tuple[int, int]:
    """Count the self-loops and the repeated edges of a graph with vertices, on the device."""
    rows, memory = StoredRows(graph, device, None), Memory(device)
    found = memory.upload("faults", np.zeros(2, np.uint32))
    table = rows.declare()
    note = "[2] in/out, 0 on entry: loops, repeats"
    table.held("uint", "faults", lambda: found, note, "write")
    program = _program(device, replace(config, order="id"), {"check": table})
    table.allocate(memory)
    sweeper = Sweeper(device, graph.n, config.group_size)
    sweeper.launch(log, program.kernel("orient_check"), *table.bind({}))
    log.wait()
    loops, repeats = found.read().tolist()
    return loops, repeats
