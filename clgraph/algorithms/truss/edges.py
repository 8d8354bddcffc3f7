"""The edges of an undirected graph by number, with their supports and triangles, on one device."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np

from clgraph.algorithms.triangles.config import Merge, TrianglesConfig, resolve
from clgraph.algorithms.triangles.orient import BUCKETS, HeldRows, Orientation
from clgraph.algorithms.triangles.owners import OwnerCounting
from clgraph.algorithms.triangles.rows import RowCounting
from clgraph.algorithms.truss.incidence import Incidence
from clgraph.algorithms.truss.peeling import STATE_BYTES, copy
from clgraph.device import Mirror, load
from clgraph.engine.resident import resident, wide_offsets
from clgraph.engine.sweeps import Sweeper
from clgraph.primitives.scanning import Scan

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray

    from clgraph.algorithms.triangles.config import Resolved
    from clgraph.device import Allocation, Device, Memory
    from clgraph.device.memory.allocation import Progress
    from clgraph.device.programs.kernel import Argument
    from clgraph.engine.sweeps import SweepLog
    from clgraph.graph import Graph

__all__ = ["Edges"]

KERNELS = (
    "gather",
    "gather_counted",
    "scatter",
    "ends",
    "histogram",
    "tally",
    "keep",
    "mark",
    "claim",
)

LEAST_ABREAST, MOST_IN_TURN = 4, 64  # lanes of a row, and edges that each of the longest row's has
MOST_LISTED = (2**32 - 1) // 3  # triangles whose sides 32-bit places can tell apart
SIDE_BYTES = 8  # of an edge's list, for each of its triangles
PLACE_BYTES = 4  # beside that, where triangles are claimed
LISTS = ("list_begins", "triangle_sides", "list_cursors", "claiming_places")
LIST_BYTES = 8  # an edge: where its list begins, and where its next triangle goes


def _lanes_of_row(graph: Graph | HeldRows, config: Resolved) -> int:
    """Give how many lanes walk an orientation's row: as many as a row has edges, in the mean."""
    # Where edges are turned to the greater degree, rows have no more than that many of their own.
    longest = min(graph.max_degree, math.isqrt(graph.m)) if config.renamed else graph.max_degree
    wanted = max(graph.m / (2 * graph.n), longest / MOST_IN_TURN, LEAST_ABREAST)
    return min(config.lanes, 1 << math.ceil(math.log2(wanted)))


class Edges:
    """Numbers of edges, row by row of an orientation; what is known of edges is kept by them.

    Parameters
    ----------
    graph : Graph or HeldRows
        Undirected, with edges, without self-loops and parallel edges.
    device : Device
        Where.
    memory : Memory
        What to allocate from.
    progress : callable, optional
        Called while the graph is uploaded.

    Attributes
    ----------
    count : int
        How many edges there are.
    supports : Allocation
        uint32 [count + 1]: triangles of each edge, and a 0.
    triangles : int
        How many the graph has; 0 before the first `finish`.
    fills : int
        Changes whenever the edges may have got other numbers.
    """

    def __init__(
        self,
        graph: Graph | HeldRows,
        device: Device,
        memory: Memory,
        progress: Progress | None = None,
    ) -> None:
        self.graph, self.count = graph, graph.m // 2
        self._device, self._memory = device, memory
        # Rows that are not sorted yet have to be.
        order = TrianglesConfig(order="degree" if isinstance(graph, HeldRows) else None)
        config = resolve(order, device.traits, graph)
        self._turned = turned = Orientation.of(graph, config, device, progress)
        self._counting: RowCounting | OwnerCounting
        if isinstance(config.intersect, Merge) and config.intersect.by_row:
            self._counting = RowCounting(config, device, turned)
        else:
            self._counting = OwnerCounting(config, device, turned)
        plain = SimpleNamespace(
            group_size=config.group_size,
            lanes=config.lanes,
            wide_offsets=config.wide_offsets,
            renamed=config.renamed,
            abreast=_lanes_of_row(graph, config),
        )
        program = load(device, "truss/edges.cl", config=plain, BUCKETS=BUCKETS)
        self._kernels = {name: program.kernel(f"edges_{name}") for name in KERNELS}
        items = max(graph.n * plain.abreast, self.count)
        self._sweeper = Sweeper(device, items, config.group_size)
        self._firsts = memory.allocate("first_edges", graph.n, np.uint32)
        self._rows = (turned.begins, turned.outs, self._firsts, np.uint32(graph.n))
        self.supports = memory.allocate("edge_supports", self.count + 1, np.uint32)
        self.supports.clear()  # without triangles, and behind the last, nothing is ever written
        # And behind them, cleared with them, how many edges have each bucket of supports above 0.
        self._placed = memory.allocate("edges_by_place", graph.m + BUCKETS, np.uint32)
        self._buckets = Mirror(device, self._placed, graph.m, BUCKETS)
        self._bucketed = -1  # of the orientation's fills, whose supports these are of
        self._scan = Scan(device, np.uint32)
        self._tallied: Allocation | None = None
        self.triangles = 0
        self._arrays: dict[str, Allocation] = {}
        self._pending, self._begun = False, -1  # whether a fill is to be finished, and which
        self._filled = -1  # of the orientation's fills, with all that follows it

    @property
    def stale(self) -> bool:
        """Whether nothing has been filled, or somebody else has turned the edges anew since."""
        return self._filled != self._turned.fills

    @property
    def fills(self) -> int:
        """How often the edges have got numbers."""
        return self._turned.fills

    @property
    def alone(self) -> AbstractContextManager[object]:
        """What to hold while the edges are to keep their numbers, see `StoredRows`."""
        return self._turned.alone

    @property
    def source_hash(self) -> str:
        """Hash of the rendered sources that counted; empty before the first count."""
        return self._counting.source_hash

    def _array(self, name: str, count: int) -> Allocation:
        """Give the array that an earlier run took, if it is of the size, or a new one."""
        held = self._arrays.pop(name, None)
        if held is None or held.count != count:
            held = None  # gives its memory back before the next takes some
            held = self._memory.allocate(name, count, np.uint32)
        self._arrays[name] = held
        return held

    def fill(self, log: SweepLog, *, anew: bool, counted: bool = False) -> None:
        """Enqueue what gives edges their numbers and counts the triangles of each.

        `finish` has to follow, once all of that has ended.

        Parameters
        ----------
        log : SweepLog
            Where launches are noted.
        anew : bool
            Whether to turn the edges though the graph has kept that.
        counted : bool
            Whether `bucketed` is to follow, which then has nothing to do.
        """
        turned = self._turned
        self._filled = self._bucketed = -1
        if isinstance(self.graph, HeldRows):
            self.triangles = 0  # it may be another graph than before
        if isinstance(self._counting, RowCounting) and not self.triangles:
            # Quickly done, and most such graphs that have none, meshes and roads, are large.
            self.triangles = self._counting.run(log, "total", {})
            if not self.triangles:
                self._filled = turned.fills  # nothing has ever been written to supports
                return
        turned.fill(log, anew=anew)
        self._scan.enqueue(log, turned.outs, self.graph.n, self._firsts)
        log.add(self._placed.clear())
        self._counting.enqueue(log, "edge", {"found": self._placed})
        name = "gather"
        gathered: tuple[Argument, ...] = (*self._rows, self._placed, self.supports)
        if counted:
            self._bucketed = turned.fills
            name, gathered = "gather_counted", (*gathered, np.uint64(self.graph.m))
        self._sweeper.launch(log, self._kernels[name], *gathered)
        self._pending, self._begun = True, turned.fills

    def finish(self) -> None:
        """Take note of what `fill` has done, once all of it has ended."""
        if self._pending:
            # They are as many in every run, and what counted them may have listed them since.
            self.triangles = self.triangles or self._counting.total("edge")
            self._turned.ready, self._filled = True, self._begun
        self._pending = False

    def list_bytes(self, *, claimed: bool) -> int:
        """Predict the device memory that `lists` takes."""
        entry = SIDE_BYTES + PLACE_BYTES * claimed
        return 3 * entry * self.triangles + LIST_BYTES * self.count

    def may_number(self) -> bool:
        """Report whether places in lists of all triangles fit 32 bits."""
        return self.triangles <= MOST_LISTED

    def may_list(self, *, claimed: bool) -> bool:
        """Report whether lists of all triangles fit the device, and what peels by them.

        Beside what is there already, but for lists of a run before, which these are written over.
        """
        largest = self._device.traits.max_alloc_bytes
        held = sum(self._arrays[name].size_bytes for name in LISTS if name in self._arrays)
        wanted = self.list_bytes(claimed=claimed) + STATE_BYTES * self.count
        return (
            self.may_number()
            and 3 * SIDE_BYTES * self.triangles <= largest
            and wanted <= self._memory.free_bytes + held
        )

    @property
    def bare(self) -> bool:
        """Whether the edges are known to be in no triangle, without a look at their supports."""
        return not (self.stale or self._pending or self.triangles)

    def bucketed(self, log: SweepLog) -> Mirror:
        """Enqueue counting the edges of each bucket of supports above 0; give what shows them."""
        if self._bucketed != self._turned.fills:
            # Broken off, they are neither 0 nor known: all is then filled anew.
            filled, self._filled = self._filled, -1
            self._bucketed = self._turned.fills
            buckets = (self._placed, np.uint64(self.graph.m))
            counted = (self.supports, np.uint32(self.count), *buckets)
            self._sweeper.launch(log, self._kernels["histogram"], *counted)
            self._filled = filled
        return self._buckets

    def histogram(self, log: SweepLog) -> NDArray[np.uint32]:
        """Count the edges of each bucket of supports above 0, and wait."""
        buckets = self.bucketed(log)
        buckets.refresh()
        return buckets.words

    def tally(self, log: SweepLog, least: int) -> None:
        """Enqueue what counts the edges of so many triangles at least, row by row."""
        vertices = self.graph.n + 1
        degrees, begins = (self._array(f"kept_{each}", vertices) for each in ("degrees", "begins"))
        log.add(degrees.clear())
        wanted = (self._turned.rows, self._turned.vertices, self.supports, np.uint32(least))
        self._sweeper.launch(log, self._kernels["tally"], *self._rows, *wanted, degrees)
        self._tallied = self._scan.enqueue(log, degrees, vertices, begins)

    def tallied(self, log: SweepLog) -> int:
        """Wait for what `tally` counted: stored edges, twice each edge."""
        log.wait()
        return 0 if self._tallied is None else int(self._tallied.read()[0])

    def keep(self, log: SweepLog, least: int, rows: HeldRows) -> None:
        """Enqueue what fills the graph of the edges that `tally` counted."""
        cursors, begins = (self._arrays[f"kept_{each}"] for each in ("degrees", "begins"))
        for target in (cursors, rows.indptr):
            copy(log, self._device, begins, target)
        wanted = (self._turned.rows, self._turned.vertices, self.supports, np.uint32(least))
        arrays = (cursors, rows.indices)
        self._sweeper.launch(log, self._kernels["keep"], *self._rows, *wanted, *arrays)

    def mark(
        self, log: SweepLog, values: Allocation, wanted: int, whole: Graph, marks: Allocation
    ) -> None:
        """Enqueue setting marks at both places of edges with a value, where a graph stores them."""
        held = resident(whole, self._device)
        turned = self._turned
        rows = (turned.rows, turned.vertices, values, np.uint32(wanted))
        where = (*rows, held.indptr, held.indices)
        self._sweeper.launch(log, self._kernels["mark"], *self._rows, *where, marks)

    def lists(self, log: SweepLog, *, claimed: bool) -> Incidence:
        """Enqueue what lists the triangles of every edge by its other two edges.

        Their number has to be known: by `finish`, or from an earlier fill of the same edges. Where
        SIMD groups are to go on by themselves triangles have to be `claimed`.
        """
        total = 3 * self.triangles
        begins = self._array("list_begins", self.count + 1)
        self._scan.enqueue(log, self.supports, self.count + 1, begins)
        sides = self._array("triangle_sides", 2 * max(total, 1))
        if total:
            cursors = self._array("list_cursors", self.count + 1)
            copy(log, self._device, begins, cursors)
            given = {"numbered": self._firsts, "cursors": cursors, "found": sides}
            self._counting.enqueue(log, "sides", given)
        arrays = [begins, sides]
        if claimed:
            arrays.append(self._array("claiming_places", max(total, 1)))
            wanted = (begins, sides, np.uint32(self.count), arrays[-1])
            self._sweeper.launch(log, self._kernels["claim"], *wanted)
        degree = self.graph.max_degree
        return Incidence("lists", tuple(arrays), total, max_degree=degree, claimed=claimed)

    def rows(self, log: SweepLog) -> Incidence:
        """Give every row the numbers of its edges, and every edge its ends."""
        graph, turned = self.graph, self._turned
        indices = self._array("row_neighbours", graph.m)
        numbers = self._array("row_edges", graph.m)
        ends = self._array("edge_ends", 2 * self.count)
        lengths = self._array("row_lengths", graph.n)
        total = self._memory.upload("row_total", np.zeros(1, np.uint64))

        def fill(log: SweepLog) -> None:
            copy(log, self._device, turned.indices, indices)
            self.spread(log, None, numbers)
            shape = (turned.degrees, turned.rows, turned.vertices, ends, lengths, total)
            self._sweeper.launch(log, self._kernels["ends"], *self._rows, *shape)

        fill(log)
        log.wait()
        row_type = "ulong" if wide_offsets(graph.m) else "uint"
        arguments = (turned.indptr, lengths, indices, numbers, ends, np.uint32(graph.n))
        return Incidence("rows", arguments, int(total.read()[0]), fill, row_type)

    def spread(self, log: SweepLog, values: Allocation | None, target: Allocation) -> None:
        """Enqueue copying what is known of edges, or their numbers, to both places of each."""
        chosen = (np.uint32(values is None), values or self.supports, self._placed)
        self._sweeper.launch(log, self._kernels["scatter"], *self._rows, *chosen)
        self._turned.spread(log, self._placed, target)
