"""What the ways to count triangles have in common: launches, partial sums, kernels."""

from __future__ import annotations

import hashlib
from itertools import pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clgraph.algorithms.triangles.result import Work
from clgraph.device import Kernel, Memory, load, wait

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from clgraph.algorithms.triangles.config import Resolved
    from clgraph.algorithms.triangles.orient import Orientation, StoredRows
    from clgraph.device import Allocation, Device
    from clgraph.device.programs.kernel import Argument
    from clgraph.engine.sweeps import SweepLog
    from clgraph.engine.table import Table

__all__ = ["Counting", "Step", "TurnedCounting"]

CPU_LAUNCH_EDGES = 1 << 21  # a launch of a CPU's, after which Ctrl-C is answered
GROUPS_PER_UNIT = 8  # where the number of resident work-items is unknown
MOST_GROUPS_PER_UNIT = 32
SHAPE = ("group_size", "lanes", "wide_offsets", "renamed", "cover", "counts", "way", "rows")


class Step(NamedTuple):
    """A kernel, and what it takes."""

    kernel: Kernel
    table: Table


class Counting:
    """What the ways to count have in common: the partial sums, and how many groups there are."""

    intersections: int  # pairs of rows
    longest: int | None = None
    main = ""  # the kernel whose arguments a file calls so, where it has several

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
        # The edges across from a vertex in its triangles are all different.
        self.sum_type: type[np.generic] = np.uint32 if rows.m // 2 < 2**32 else np.uint64
        self._arrays: dict[str, Allocation] = {}
        self._steps: dict[Any, Step] = {}
        self.source_hashes: set[str] = set()

    @property
    def probes(self) -> int | None:
        """Elements that a run looks up in tables of bits, where it does and is to count them."""
        return None

    @property
    def work(self) -> Work:
        """What the last run had to do."""
        return Work(self.intersections, self.probes, self.longest)

    @property
    def source_hash(self) -> str:
        """Hash of the rendered sources that counted; empty before the first count."""
        hashes = "".join(sorted(self.source_hashes))
        return hashlib.sha256(hashes.encode()).hexdigest() if hashes else ""

    @property
    def sum_bits(self) -> int:
        """Bits of what is counted of a vertex."""
        return 8 * np.dtype(self.sum_type).itemsize

    @property
    def sum_t(self) -> str:
        """Type of what is counted of a vertex, in kernels."""
        return "ulong" if self.sum_type is np.uint64 else "uint"

    def array(self, name: str, count: int, dtype: type[np.generic]) -> Allocation:
        """Give an array that is kept for the next run, with anything in it."""
        if name not in self._arrays:
            self._arrays[name] = self.memory.allocate(name, count, dtype)
        return self._arrays[name]

    def cleared(self, log: SweepLog, name: str, count: int, dtype: type[np.generic]) -> Allocation:
        """Give an array that is kept, and enqueue its clearing."""
        array = self.array(name, count, dtype)
        log.add(array.clear(), name=f"clear {name}")
        return array

    def listed(
        self, log: SweepLog, count: int, run: Callable[..., int] | None = None
    ) -> NDArray[np.int64]:
        """List so many triangles in order: all, or those that a `run` finds."""
        triangles = self.memory.allocate("triangles", 3 * max(count, 1), np.uint32)
        cursor = self.cleared(log, "cursor", 1, np.uint32)
        (run or self.run)(
            log, "list", {"cursor": cursor, "room": np.uint32(count), "found": triangles}
        )
        found = triangles.read(3 * count)
        corners = np.sort(found.astype(np.int64).reshape(-1, 3), axis=1)
        return corners[np.lexsort(corners.T[::-1])]

    def enqueue(self, log: SweepLog, per: str, out: Mapping[str, Argument]) -> None:
        """Enqueue what counts all triangles, filling `out` as ``per`` says."""
        raise NotImplementedError

    def total(self, per: str) -> int:
        """Report what was counted, once all that was enqueued has ended."""
        raise NotImplementedError

    def run(self, log: SweepLog, per: str, out: Mapping[str, Argument]) -> int:
        """Count all triangles, filling `out` as ``per`` says."""
        self.enqueue(log, per, out)
        log.wait()
        return self.total(per)

    def launch(
        self,
        log: SweepLog,
        step: Step,
        given: Mapping[str, Argument],
        *,
        name: str = "",
        size: int | None = None,
    ) -> None:
        """Enqueue a kernel on all SIMD groups, noted by this name, or by the kernel's."""
        kernel, table = step
        size = size or self.config.group_size
        items = self.groups * self.config.group_size
        arguments = table.bind(given)
        event = kernel.launch_bound(items, size, arguments, table.changing, table.stamp)
        log.add(event, name=name or kernel.name)
        if self.slices > 1:
            wait(event)

    def group_of(self, size: int) -> int:
        """Give work-items of a group, as many as asked for if all launches can be cut so."""
        if self.device.traits.emulated:
            return self.config.group_size
        size = min(size, self.device.traits.max_group_size)
        while self.groups * self.config.group_size % size:
            size //= 2
        return max(size, self.config.lanes)

    def declare(self, name: str, per: str) -> Table:
        """Declare what a kernel takes; each way to count has its own."""
        raise NotImplementedError

    def beside(self) -> dict[str, Table]:
        """Declare what the other kernels take of a file that is one program with `main`."""
        return {}

    def declare_results(self, table: Table, per: str) -> None:
        """Declare what kernels fill beside partial sums: what a run gives them."""
        if per == "vertex":
            table.given(self.sum_t, "found", "[n] in/out", "write")
        elif per == "owner":
            note = "[n] in/out: triangles in whose middle it is"
            table.given(self.sum_t, "found", note, "write")
        elif per == "edge":
            table.given("uint", "found", "[m] in/out", "write")
        elif per == "list":
            table.given("uint", "cursor", "[1] in/out, 0 on entry", "write")
            table.given("uint", "room")
            table.given("uint", "found", "[3 * room] out", "write")
        elif per == "sides":
            table.given("uint", "numbered", "[n] number of the first edge of each row", "read")
            table.given("uint", "cursors", "[edges] in/out: where an edge's next goes", "write")
            table.given("uint2", "found", "[3 * triangles] out: the other two edges", "write")

    def step(self, file: str, name: str, per: str, **more: Any) -> Step:
        """Give a kernel of a file, rendered for what is counted."""
        key = (name, per, *sorted(more.items()))
        if key not in self._steps:
            table = self.declare(name, per)
            table.allocate(self.memory)
            shape = {each: getattr(self.config, each) for each in SHAPE}
            config = SimpleNamespace(**shape | {"per": per, "sum_bits": self.sum_bits} | more)
            takes: dict[str, Any] = {"arguments": self.declare(self.main or name, per).rows}
            takes |= {key: other.rows for key, other in self.beside().items()}
            program = load(self.device, file, config=config, **takes)
            self.source_hashes.add(program.source_hash)
            self._steps[key] = Step(program.kernel(name), table)
        return self._steps[key]

    def ranges(self, first: int, end: int) -> Iterator[tuple[np.uint32, np.uint32]]:
        """Cut vertices into ranges of about the same edges."""
        if self.slices == 1:
            if first < end:
                yield np.uint32(first), np.uint32(end)
            return
        cuts = np.linspace(first, end, self.slices + 1).astype(np.uint32)
        for one, other in pairwise(cuts):
            if one < other:
                yield one, other


class TurnedCounting(Counting):
    """Counting by rank, in rows that have been turned."""

    def __init__(self, config: Resolved, device: Device, turned: Orientation) -> None:
        super().__init__(config, device, turned)
        self.turned = turned

    def of_vertices(self, log: SweepLog) -> tuple[int, NDArray[np.int64]]:
        """Count all triangles, and those of each vertex."""
        found = self.cleared(log, "triangles_of_rank", self.rows.n, self.sum_type)
        count = self.run(log, "vertex", {"found": found})
        of_rank = found.read().astype(np.int64)
        if not self.config.renamed:
            return count, of_rank
        of_vertex = np.empty_like(of_rank)
        of_vertex[self.turned.vertices.read()] = of_rank
        return count, of_vertex

    def of_edges(self, log: SweepLog) -> tuple[int, NDArray[np.uint32]]:
        """Count all triangles, and those of each stored edge."""
        m = self.rows.m
        supports = self.array("supports", m, np.uint32)
        found = self.cleared(log, "triangles_of_place", m, np.uint32)
        count = self.run(log, "edge", {"found": found})
        self.turned.spread(log, found, supports)
        log.wait()
        return count, supports.read()

    def declare_turned(self, table: Table) -> None:
        """Declare the rows by rank."""
        turned = self.turned
        table.held("offset_t", "begins", lambda: turned.begins, "[n]")
        table.held("uint", "outs", lambda: turned.outs, "[n]")
        table.held("uint", "degrees", lambda: turned.degrees, "[n]")
        table.held("uint", "rows", lambda: turned.rows, "[m] smaller ranks first, ascending")

    def declare_results(self, table: Table, per: str) -> None:
        """Declare what kernels fill, and the vertices that a list is of."""
        if per == "list":
            table.held("uint", "vertices", lambda: self.turned.vertices, "[n] by rank")
        super().declare_results(table, per)
