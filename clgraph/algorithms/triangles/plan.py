"""Triangles of undirected graphs: how many, of which vertex, of which edge, and which they are."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from clgraph.algorithms.triangles.config import Bitmap, Search, TrianglesConfig, resolve
from clgraph.algorithms.triangles.counting import counting_of
from clgraph.algorithms.triangles.owners import OwnerCounting, ranges_of
from clgraph.algorithms.triangles.result import TrianglesResult, TrianglesStats, Work
from clgraph.algorithms.triangles.simple import as_stored, check_simple, simple_graph
from clgraph.device.programs.asked import asking
from clgraph.documented import documented
from clgraph.engine.blocks import BlockRows, is_changing
from clgraph.engine.plan import FollowingPlan, Plan, Turn
from clgraph.engine.sweeps import SweepLog
from clgraph.errors import InvalidArgumentError
from clgraph.graph.arguments import flags, one_of, whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
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

    HELD = ("_counting",)

    @flags
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
        super().__init__(graph, device, needs, progress=progress)

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
            self.config = resolve(self._wanted, self.device.traits, simple)
            if simple.m:
                self._counting = counting_of(simple, self.config, self.device, progress)

    def _packed(self) -> Triangles:
        """Give a plan for the rows that there are now, packed."""
        packed = self._searched.as_graph()
        return Triangles(packed, config=self._asked_for, device=self.device, clean=self._clean)

    @flags
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
        with self._searched.alone:
            self._check(per, max_triangles)
            if self._numbers_edges(per):
                return self._packed().run(
                    per, max_triangles=max_triangles, prepare=prepare, verify=verify
                )
            log, preparation = SweepLog(named=True), SweepLog(named=True)
            count, values, work = 0, None, Work()
            with Turn() as turn, self._lock:
                if self._searched.changed:
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
            rows.fill(preparation, anew=prepare)
            log.add_all(preparation)
            count, values = self._found(log, per, max_triangles)
            rows.ready = True
        self.source_hash = self._counting.source_hash
        if values is not None and per == "edge":
            values = as_stored(values, self.simple, self.graph)
        return count, values

    def _check(self, per: str, max_triangles: int) -> None:
        one_of("per", per, PERS)
        if self.config.cover and per in {"edge", "list"}:
            raise InvalidArgumentError(
                f"per={per!r} needs every edge's rows, but cover=True leaves edges out; use it "
                "for totals and vertices."
            )
        most = whole("max_triangles", max_triangles, 0, None)
        if per == "list" and most > MOST_LISTED:
            raise InvalidArgumentError(
                f"max_triangles={max_triangles} is not from 0 to {MOST_LISTED}; use "
                "triangle_blocks for more."
            )

    def _found(
        self, log: SweepLog, per: Per, max_triangles: int
    ) -> tuple[int, NDArray[Any] | None]:
        counting = self._counting
        if per == "total":
            return counting.run(log, "total", {}), None
        if per == "list":
            count = counting.run(log, "total", {})
            if count > max_triangles:
                raise InvalidArgumentError(
                    f"there are {count} triangles, more than max_triangles={max_triangles}; raise "
                    "it, or take them in turn from triangle_blocks."
                )
            return count, counting.listed(log, count)
        if per == "vertex" and (counting.sum_bits <= 32 or self.device.traits.int64_atomics):
            return counting.of_vertices(log)
        count, values = counting.of_edges(log)
        if per == "edge":
            return count, values
        sums = np.concatenate([[0], np.cumsum(values, dtype=np.int64)])[self.simple.indptr]
        return count, np.diff(sums) // 2

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
        size = whole("size", size)
        if self._searched.in_blocks:
            yield from self._packed().blocks(size)
            return
        if not self.simple.m:
            return
        counting, log = self._counting, SweepLog()
        if not isinstance(counting, OwnerCounting):
            raise InvalidArgumentError(
                f"blocks need owners of triangles, which {self.config} has not; use "
                "config='bitmap'."
            )
        rows = counting.rows
        with self._lock, rows.alone:
            rows.fill(log)
            fills = rows.fills
            sums = counting.sums_of_owners(log)
            rows.ready = True
        for first, end, count in ranges_of(sums, size):
            with self._lock, rows.alone:
                if rows.fills != fills:
                    raise InvalidArgumentError(
                        "another run with prepare=True has turned the graph's edges anew since "
                        "the block before, so that owners are others; ask for blocks again."
                    )
                run = partial(counting.run_owners, first, end)
                block = counting.listed(SweepLog(), count, run)
            yield block

    def _verify(self, result: TrianglesResult, per: Per) -> None:
        """Count again in another way, which raises VerificationError if that is not the same."""
        other = Bitmap() if isinstance(self.config.intersect, Search) else Search()
        config = TrianglesConfig(intersect=other, order="degree")
        simple = self._searched.as_graph() if self._searched.in_blocks else self.simple
        again = Triangles(simple, config=config, device=self.device)
        found = again.run("edge" if per != "vertex" else "vertex")
        result.check(found, per, simple, self.graph)


def _nothing(per: str, graph: Graph) -> NDArray[Any]:
    if per == "list":
        return np.zeros((0, 3), np.int64)
    return np.zeros(graph.n, np.int64) if per == "vertex" else np.zeros(graph.m, np.uint32)
