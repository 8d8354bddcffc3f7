"""Edges turned from one end to the other, on the device, and kept with the graph."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device import Memory, load
from clgraph.engine.resident import offsets_dtype, resident
from clgraph.engine.sweeps import Sweeper
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from clgraph.algorithms.triangles.config import Order, Resolved
    from clgraph.device import Allocation, Device, Program
    from clgraph.device.memory.allocation import Progress
    from clgraph.engine.sweeps import SweepLog
    from clgraph.graph import Graph

__all__ = ["Orientation", "StoredRows", "faults"]

BUCKETS = 2048 + 21 * 128  # degrees: exact below 2,048, then 128 to an octave
SHORT_ROW_LANES = 8  # edges per lane of rows that a SIMD group sorts alone
SHORT_ROW_CPU = 64
WINDOW = 1 << 17  # not less than the ranks that are packed
TINY_ROW = 8  # edges of rows that as many lanes sort
SPREAD_LANES = 16  # places per lane that a SIMD group spreads at a time
ALIGNED = 4  # ranks of the widest load, which may end behind the last row
CONTROL_WORDS = BUCKETS + 1  # and the next long row
LEAST_LOCAL_BYTES = 4 * BUCKETS  # more than any other step of it takes
PACKED_UNIT = 8  # ranks of a load from packed rows
SHAPE = ("group_size", "lanes", "wide_offsets", "renamed")


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


def _program(device: Device, config: Resolved) -> Program:
    """Build the steps of an orientation, where a work-group's counts of degrees fit.

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
    return load(device, "triangles/orient.cl", **_parameters(config))


class StoredRows:
    """A graph's rows on one device, as they are stored: nothing is prepared.

    Parameters
    ----------
    graph : Graph
        Undirected, without self-loops and parallel edges.
    device : Device
        Where.
    progress : callable, optional
        Called while the graph is uploaded.

    Attributes
    ----------
    n, m, max_degree : int
        Of the graph.
    indptr, indices : Allocation
        The graph.
    ready : bool
        True.
    """

    def __init__(self, graph: Graph, device: Device, progress: Progress | None) -> None:
        held = resident(graph, device, progress)
        self.n, self.m, self.max_degree = graph.n, graph.m, graph.max_degree
        self.indptr, self.indices = held.indptr, held.indices
        self.ready = True

    def fill(self, log: SweepLog) -> None:
        """Do nothing."""


class Orientation(StoredRows):
    """A graph's rows by rank on one device: smaller ranks first, ascending, then the greater ones.

    Parameters
    ----------
    graph : Graph
        Undirected, without self-loops and parallel edges.
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
    ready : bool
        Whether the arrays have been filled.
    fills : int
        How often they have been: ranks within a degree may differ from one time to the next.
    """

    def __init__(
        self, graph: Graph, config: Resolved, device: Device, progress: Progress | None
    ) -> None:
        super().__init__(graph, device, progress)
        memory = Memory(device)
        n = graph.n
        self.ready, self.fills = False, 0
        self.renamed = config.renamed
        self.begins = memory.allocate("row_begins", n, offsets_dtype(graph.m))
        self.outs = memory.allocate("row_outs", n, np.uint32)
        self.degrees = memory.allocate("row_degrees", n, np.uint32)
        self._sweeper = Sweeper(device, n, config.group_size)
        program = _program(device, config)
        self._count = np.uint32(n)
        names = ["spread", "by_id"]
        self.rows, self.vertices, self._ranks = self.indices, self.outs, self.outs
        self.packed: tuple[Allocation, ...] = ()
        if self.renamed:
            names += ["histogram", "starts", "rank", "short_rows", "long_rows"]
            names += ["tiny_rows"] * bool(_tiny(config))
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
        self._kernels = {name: program.kernel(f"orient_{name}") for name in names}

    @classmethod
    def of(
        cls, graph: Graph, config: Resolved, device: Device, progress: Progress | None
    ) -> Orientation:
        """Give the one that the graph keeps for this device and order, or a new one."""
        kept: dict[tuple[Device, Order], Orientation] = graph.kept.setdefault(cls, {})
        key = (device, config.order)
        if key not in kept:
            kept[key] = cls(graph, config, device, progress)
        return kept[key]

    def fill(self, log: SweepLog) -> None:
        """Enqueue what fills the arrays; `ready` is for the caller to set, after the last event."""
        self.fills += 1
        launch, kernels = self._sweeper.launch, self._kernels
        rows = (self.begins, self.outs, self.degrees)
        graph = (self.indptr, self.indices, self._count)
        if not self.renamed:
            launch(log, kernels["by_id"], *graph, *rows)
            return
        cleared = self._control.clear()
        log.add(cleared, cleared, name="clear")
        launch(log, kernels["histogram"], self.indptr, self._count, self._control)
        launch(log, kernels["starts"], self._control, groups=1)
        order = (self._ranks, self.vertices)
        launch(log, kernels["rank"], self.indptr, self._count, self._control, *order)
        sorting = (self._control, *order)
        filled = (self.rows, *self.packed)
        launch(log, kernels["long_rows"], *graph[:2], *sorting, *rows, *filled)
        launch(log, kernels["short_rows"], *graph, *sorting, *rows, *filled)
        if "tiny_rows" in kernels:
            launch(log, kernels["tiny_rows"], *graph, *sorting, *rows, *filled)

    def spread(self, log: SweepLog, found: Allocation, spread: Allocation) -> None:
        """Enqueue copying what was found of each edge to both places where the graph stores it."""
        self._sweeper.launch(
            log,
            self._kernels["spread"],
            *(self.indptr, self.indices, self._count, self._ranks),
            *(self.begins, self.outs, self.rows, found, spread),
        )


def faults(graph: Graph, device: Device, config: Resolved, log: SweepLog) -> tuple[int, int]:
    """Count the self-loops and the repeated edges of a graph with vertices, on the device."""
    held = resident(graph, device)
    found = Memory(device).upload("faults", np.zeros(2, np.uint32))
    program = _program(device, replace(config, order="id"))
    sweeper = Sweeper(device, graph.n, config.group_size)
    kernel = program.kernel("orient_check")
    sweeper.launch(log, kernel, held.indptr, held.indices, np.uint32(graph.n), found)
    log.wait()
    loops, repeats = found.read().tolist()
    return loops, repeats
