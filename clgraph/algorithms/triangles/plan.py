"""Triangles of undirected graphs: how many, of which vertex, of which edge, and which they are."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from clgraph.algorithms.triangles.config import Bitmap, Search, TrianglesConfig, resolve
from clgraph.algorithms.triangles.counting import OwnerCounting, RowCounting, counting_of
from clgraph.algorithms.triangles.result import TrianglesResult, TrianglesStats, Work
from clgraph.algorithms.triangles.simple import (
    are_triangles,
    as_stored,
    check_simple,
    simple_graph,
)
from clgraph.device.programs.asked import asking
from clgraph.documented import documented
from clgraph.engine.blocks import BlockRows, Searched, is_changing
from clgraph.engine.plan import FollowingPlan, Plan
from clgraph.engine.sweeps import SweepLog
from clgraph.errors import InvalidArgumentError, VerificationError
from clgraph.primitives import group_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from clgraph.device import Allocation, Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.device.programs.kernel import Argument
    from clgraph.dynamic.graph import DynamicGraph
    from clgraph.graph import Graph

__all__ = ["BLOCK", "MAX_TRIANGLES", "PERS", "Per", "Triangles"]

Per = Literal["total", "vertex", "edge", "list"]
PERS = ("total", "vertex", "edge", "list")
MOST_LISTED = 2**31 // 3  # triangles whose corners 32-bit places can tell apart
MAX_TRIANGLES = 100_000_000
BLOCK = 1 << 24


@documented(Plan)
class Triangles(FollowingPlan):
    """Triangles, compiled for one graph and device.

    Parameters
    ----------
    graph : Graph, DynamicGraph or scipy.sparse matrix
        Undirected, without self-loops and parallel edges; weights are ignored. Of a dynamic graph
        every run counts what it holds then, from the blocks where its rows are; packed where edges
        are to be numbered or the graph is to be cleaned, or rows do not ascend.
    config : TrianglesConfig or str, optional
        A configuration or the name of a preset; default "auto".
    clean : bool
        Whether to take any graph, as if its edges went both ways, once, and self-loops were not
        there: a stored edge has what its edge has in the cleaned graph, and a self-loop 0. Costs
        O(m log m) on the host.

    Raises
    ------
    InvalidGraphError
        If the graph is directed, or has self-loops or parallel edges, and is not to be cleaned.
    InvalidArgumentError
        If the configuration is not legal, or not on this device.

    Notes
    -----
    Edges are turned from one end to the other on the device, by the first run; the graph keeps
    that for later plans. Counts are exact and the same in every run. O(m^1.5) work. Takes 8 to 16
    bytes per edge of device memory, and 8 more once supports were asked for. A plan serves one
    thread at a time; others wait.

    References
    ----------
    .. [1] O. Green, P. Yalamanchili, L.-M. Munguia, "Fast triangle counting on the GPU", IA3 2014.
    .. [2] T. Schank, D. Wagner, "Finding, counting and listing all triangles in large graphs",
           WEA 2005.
    """

    HELD = ("_counting", "_rooms")

    @asking
    def __init__(
        self,
        graph: Graph | DynamicGraph,
        *,
        config: TrianglesConfig | str | None = None,
        device: Device | str | None = None,
        clean: bool = False,
        progress: Progress | None = None,
    ) -> None:
        self._asked_for, self._clean = config, clean
        needs = ""
        if is_changing(graph):
            needs = TrianglesConfig.needs_packed(config, graph, clean=clean)
        self._searched = Searched(graph, device, needs)
        with self._searched.still():
            super().__init__(self._searched.now(), self._searched.device)
            self._prepare(progress)

    def _prepare(self, progress: Progress | None) -> None:
        """Choose how to count in the rows that there are now."""
        with self._counted():
            simple: Any = self.graph
            if isinstance(simple, BlockRows):
                check_simple(simple, self.device)
            else:
                simple = simple_graph(simple, self.device, clean=self._clean, progress=progress)
            self.simple = simple
            self._wanted = TrianglesConfig.on(self._asked_for, "triangles", simple, self.device)
            self.config = resolve(
                self._wanted,
                self.device.traits,
                m=simple.m,
                max_degree=simple.max_degree,
                group_size=group_size(self.device.traits),
                rows="blocks" if isinstance(simple, BlockRows) else "csr",
            )
            self._rooms: dict[str, Allocation] = {}
            if simple.m:
                self._counting = counting_of(simple, self.config, self.device, progress)
        self._searched.now_seen()

    def _packed(self) -> Triangles:
        """Give a plan for the rows that there are now, packed."""
        packed = self._searched.as_graph()
        return Triangles(packed, config=self._asked_for, device=self.device, clean=self._clean)

    @asking
    def run(
        self,
        per: Per = "total",
        *,
        max_triangles: int = MAX_TRIANGLES,
        prepare: bool = False,
        verify: bool = False,
    ) -> TrianglesResult:
        """Find the triangles.

        Parameters
        ----------
        per : {"total", "vertex", "edge", "list"}
            What to report beside how many there are.
        max_triangles : int
            Most triangles that may be listed.
        prepare : bool
            Whether to turn the edges anew although the graph has kept it, for its time.
        verify : bool
            Whether to count again in another way, and by the rules of what was found.

        Returns
        -------
        TrianglesResult
            ``count``, ``values`` and ``stats``.

        Raises
        ------
        InvalidArgumentError
            If `per` is unknown or not for this configuration, or there are more triangles to list
            than allowed.
        VerificationError
            If the result was to be checked and is wrong.
        DeviceMemoryError
            If there is no room for what is asked for.
        """
        with self._searched.still() as changed:
            self._check(per, max_triangles)
            if self._numbers_edges(per):
                return self._packed().run(
                    per, max_triangles=max_triangles, prepare=prepare, verify=verify
                )
            log, preparation = SweepLog(named=True), SweepLog(named=True)
            count, values, work = 0, None, Work()
            with self._turn() as turn:
                if changed:
                    self._follow()
                if self.simple.m:
                    with self._counted():
                        count, values = self._run(
                            log, preparation, per, max_triangles, prepare=prepare
                        )
                elif per != "total":
                    values = _nothing(per, self.graph)
            if self.simple.m:
                with self._lock:  # but not for the clock: probes are counted on the host
                    work = self._counting.work
            origin = self._wanted.origin
            stats = TrianglesStats(
                log,
                preparation,
                turn.total_ms,
                config=str(self.config) + (f" ({origin})" if origin else ""),
                work=work,
                device_bytes=self.device_bytes,
            )
            stats.ran_on(self.device)
            result = TrianglesResult(count, values, stats)
            if verify:
                self._verify(result, per)
        return result

    def _numbers_edges(self, per: str) -> bool:
        """Whether what is asked for is known by edge, of rows in blocks, where edges have none."""
        adds = self.device.traits.int64_atomics
        return self._searched.in_blocks and (per == "edge" or (per == "vertex" and not adds))

    def _run(
        self, log: SweepLog, preparation: SweepLog, per: Per, max_triangles: int, *, prepare: bool
    ) -> tuple[int, NDArray[Any] | None]:
        rows = self._counting.rows
        with rows.alone:
            if prepare or not rows.ready:
                rows.ready = False
                rows.fill(preparation)
                log.add_all(preparation)
            count, values = self._found(log, per, max_triangles)
            rows.ready = True  # what was found came after it
        hashes = "".join(sorted(self._counting.source_hashes))
        self.source_hash = hashlib.sha256(hashes.encode()).hexdigest()
        if values is not None and per == "edge":
            values = as_stored(values, self.simple, self.graph)
        return count, values

    def _check(self, per: str, max_triangles: int) -> None:
        if per not in PERS:
            raise InvalidArgumentError(f"per={per!r} is not one of {', '.join(PERS)}.")
        if self.config.cover and per in {"edge", "list"}:
            raise InvalidArgumentError(
                f"per={per!r} needs every edge's rows, but cover=True leaves edges out; use it "
                "for totals and vertices."
            )
        if per == "list" and not 0 <= max_triangles <= MOST_LISTED:
            raise InvalidArgumentError(
                f"max_triangles={max_triangles} is not from 0 to {MOST_LISTED}; use "
                "triangle_blocks for more."
            )

    def _found(
        self, log: SweepLog, per: Per, max_triangles: int
    ) -> tuple[int, NDArray[Any] | None]:
        n, m = self.simple.n, self.simple.m
        run = self._counting.run
        if per == "total":
            return run(log, "total", {}), None
        if per == "list":
            count = run(log, "total", {})
            if count > max_triangles:
                raise InvalidArgumentError(
                    f"there are {count} triangles, more than max_triangles={max_triangles}; raise "
                    "it, or take them in turn from triangle_blocks."
                )
            return count, self._listed(log, count, run)
        if per == "vertex" and isinstance(self._counting, RowCounting) and self._adds_vertices:
            return self._counting.of_vertices(log)
        if per == "vertex" and self._adds_vertices:
            found = self._cleared(log, "triangles_of_rank", n, self._counting.sum_type)
            count = run(log, "vertex", {"found": found})
            of_rank = found.read().astype(np.int64)
            return count, self._counting.by_vertex(of_rank)
        supports = self._room("supports", m, np.uint32)
        if isinstance(self._counting, RowCounting):
            count = run(log, "edge", {"found": supports})
        else:
            found = self._cleared(log, "triangles_of_place", m, np.uint32)
            count = run(log, "edge", {"found": found})
            self._counting.turned.spread(log, found, supports)
            log.wait()
        values = supports.read()
        if per == "edge":
            return count, values
        sums = np.concatenate([[0], np.cumsum(values, dtype=np.int64)])[self.simple.indptr]
        return count, np.diff(sums) // 2

    @property
    def _adds_vertices(self) -> bool:
        """Whether the device can add what is found of vertices."""
        return self._counting.sum_bits <= 32 or self.device.traits.int64_atomics

    def _room(self, name: str, count: int, dtype: type[np.generic]) -> Allocation:
        """Give an array that the plan keeps for its next run, with anything in it."""
        if name not in self._rooms:
            self._rooms[name] = self._memory.allocate(name, count, dtype)
        return self._rooms[name]

    def _cleared(self, log: SweepLog, name: str, count: int, dtype: type[np.generic]) -> Allocation:
        """Give an array that the plan keeps, and enqueue its clearing."""
        array = self._room(name, count, dtype)
        event = array.clear()
        log.add(event, event, name=f"clear {name}")
        return array

    def _listed(self, log: SweepLog, count: int, run: Any, *where: int) -> NDArray[np.int64]:
        triangles = self._memory.allocate("triangles", 3 * max(count, 1), np.uint32)
        out: dict[str, Argument] = {
            "cursor": self._cleared(log, "cursor", 1, np.uint32),
            "room": np.uint32(count),
            "found": triangles,
        }
        run(log, "list", out, *where)
        found = triangles.read(3 * count)
        corners = np.sort(found.astype(np.int64).reshape(-1, 3), axis=1)
        return corners[np.lexsort(corners.T[::-1])]

    def blocks(self, size: int = BLOCK) -> Iterator[NDArray[np.int64]]:
        """List all triangles, some at a time.

        Parameters
        ----------
        size : int
            Most triangles of a block, unless those of one middle vertex are more.

        Yields
        ------
        int64 array [k, 3]
            Corners ascending, in lexicographic order within the block; each triangle once.

        Raises
        ------
        InvalidArgumentError
            If the configuration is not one with a bitmap, which has owners, or `size` is not
            positive; or if another run prepares the graph anew between two blocks.
        """
        if size < 1:
            raise InvalidArgumentError(f"size={size} is not positive.")
        if self._searched.in_blocks:
            yield from self._packed().blocks(size)
            return
        if not self.simple.m:
            return
        if not isinstance(self._counting, OwnerCounting):
            raise InvalidArgumentError(
                f"blocks need owners of triangles, which {self.config} has not; use "
                "config='bitmap'."
            )
        log = SweepLog()
        rows = self._counting.rows
        with self._turn(), rows.alone:
            if not rows.ready:
                rows.fill(log)
                log.wait()
                rows.ready = True
            owned = self._cleared(log, "triangles_of_owner", self.simple.n, self._counting.sum_type)
            self._counting.run(log, "owner", {"found": owned})
            sums = np.concatenate([[0], np.cumsum(owned.read().astype(np.int64))])
            fills = rows.fills
        first = 0
        while first < self.simple.n and sums[first] < sums[-1]:
            end = int(np.searchsorted(sums, sums[first] + size, side="right")) - 1
            end = min(max(end, first + 1), self.simple.n)
            count = int(sums[end] - sums[first])
            if count:
                with self._turn(), rows.alone:
                    if rows.fills != fills:
                        raise InvalidArgumentError(
                            "another run with prepare=True has turned the graph's edges anew since "
                            "the block before, so that owners are others; ask for blocks again."
                        )
                    block = self._listed(SweepLog(), count, self._counting.run_owners, first, end)
                yield block
            first = end

    def _verify(self, result: TrianglesResult, per: Per) -> None:
        """Count again in another way.

        Raises
        ------
        VerificationError
            If that gives something else.
        """
        other = Bitmap() if isinstance(self.config.intersect, Search) else Search()
        config = TrianglesConfig(intersect=other, order="degree")
        again = Triangles(
            self._searched.as_graph() if self._searched.in_blocks else self.simple,
            config=config,
            device=self.device,
        )
        found = again.run("edge" if per != "vertex" else "vertex")
        if found.count != result.count:
            raise VerificationError(
                f"{result.count} triangles were found, but {found.count} in another way."
            )
        values, expected = result.values, found.values
        if per == "list":
            wrong = (
                values is None
                or not are_triangles(values, again.simple)
                or len(np.unique(values, axis=0)) != found.count
            )
        elif per == "total" or values is None or expected is None:
            wrong = False
        else:
            if per == "edge":
                expected = as_stored(expected, self.simple, self.graph)
            wrong = not np.array_equal(values, expected)
        if wrong:
            raise VerificationError(f"the triangles per {per} are not those found in another way.")


def _nothing(per: str, graph: Graph) -> NDArray[Any]:
    if per == "list":
        return np.zeros((0, 3), np.int64)
    return np.zeros(graph.n, np.int64) if per == "vertex" else np.zeros(graph.m, np.uint32)
