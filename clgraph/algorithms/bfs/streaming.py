"""Breadth-first search of a graph whose rows stay in host memory, or in a file mapped into it."""

from __future__ import annotations

import time
import weakref
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from clgraph.algorithms.bfs.copied_rows import CopiedRows
from clgraph.algorithms.bfs.result import BFSResult
from clgraph.algorithms.bfs.rows_in_place import RowsInPlace, is_addressed, state_bytes
from clgraph.cluster.findings import DividedFindings
from clgraph.cluster.result import DividedStats
from clgraph.device import Memory
from clgraph.device.memory.budget import host_available_bytes
from clgraph.device.programs.program import checking
from clgraph.graph.arrays import is_mapped

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clgraph.cluster.parts.part import Part
    from clgraph.device import Device
    from clgraph.engine.findings import HopFindings
    from clgraph.engine.outcome import Outcome
    from clgraph.engine.stats import TraversalStats
    from clgraph.graph import Graph

__all__ = ["Streamed"]

# Of the host's free memory, what a mapped file may take that is read into it.
MAPPED_SHARE = 1 / 4


class Streamed:
    """A search whose rows are read in place, or copied to the device level by level.

    Parameters
    ----------
    graph : Graph
        Its rows may be a memory-mapped array.
    device : Device
        Where.
    predecessors : bool
        Whether a tree is labelled.
    chunk_bytes : int, optional
        Of rows that are on the device at a time, twice; default is by what is free.
    way : {"in place", "copied"}, optional
        How kernels get at rows; default is chosen.
    pulls : bool, optional
        Whether levels in place may pull; default is where the graph is undirected.

    Attributes
    ----------
    way : {"in place", "copied"}
        How kernels get at rows: a processor reads the host's memory itself.
    config : Resolved
        Every dimension as decided.

    Raises
    ------
    DeviceMemoryError
        If not even what is kept for each vertex fits: copied 12 bytes, 20 with a tree, and a bit;
        in place 13 or 17, with a tree 4 more.

    Notes
    -----
    See `RowsInPlace` and `CopiedRows`.

    References
    ----------
    .. [1] Q. Wang et al., "HyTGraph: GPU-accelerated graph processing with hybrid transfer
           management", ICDE 2023.
    """

    NAME = "stream"

    def __init__(
        self,
        graph: Graph,
        device: Device,
        *,
        predecessors: bool,
        chunk_bytes: int | None = None,
        way: str | None = None,
        pulls: bool | None = None,
    ) -> None:
        self._graph = graph
        self._tree = predecessors
        self.way = way or ("in place" if self._reads_in_place(device) else "copied")
        self._rows: RowsInPlace | CopiedRows
        if self.way == "in place":
            self._rows = RowsInPlace(graph, device, predecessors=predecessors, pulls=pulls)
        else:
            self._rows = CopiedRows(
                graph, device, predecessors=predecessors, chunk_bytes=chunk_bytes
            )
        self.config = self._rows.part.config
        self._last: weakref.ref[DividedFindings] | None = None

    def _reads_in_place(self, device: Device) -> bool:
        """Whether kernels read rows where they are.

        A card reads pinned memory over the bus, only the rows that it wants, if there is room for
        their offsets, and no bounds checks, which know no array at an address. A mapped file is
        read into such memory once, unless it is large for the host.
        """
        graph = self._graph
        size_bytes = 4 * graph.m
        fits = size_bytes <= device.traits.max_alloc_bytes
        fits = fits and state_bytes(graph, predecessors=self._tree) < Memory(device).free_bytes
        if is_mapped(graph.indices):
            fits = fits and size_bytes <= MAPPED_SHARE * (host_available_bytes() or 0)
        return device.traits.is_cpu or (is_addressed(device) and fits and not checking())

    def search(self, source: int, limit: int, out: NDArray[np.int32] | None = None) -> BFSResult:
        """Search as far as distance `limit`; a result that nobody has read is copied first."""
        before_this = self._last() if self._last else None
        if before_this is not None:
            before_this.detach()
        begun = time.perf_counter()
        device = self._rows.part.device
        try:
            levels, launches = self._rows.levels(source, limit)
        except BaseException:
            # A launch that is under way reads the host's memory, which may go with this plan.
            device.queue.finish()
            raise
        spent_ms = 1e3 * (time.perf_counter() - begun)
        findings = DividedFindings(
            *(self._graph.n, [cast("Part", self._rows.part)]),
            tree=self._tree,
            names=self._graph.labels,
        )
        stats = DividedStats(
            findings,
            levels,
            [self.config],
            self.NAME,
            [device.name],
            partition=self.way,
            launches=launches,
            kernel_ms=spent_ms,
            total_ms=spent_ms,
        )
        self._last = weakref.ref(findings)
        findings.read_into(out)
        outcome = SimpleNamespace(depth=stats.levels - 1, reached=stats.reached)
        return BFSResult(
            cast("HopFindings", findings),
            cast("Outcome", outcome),
            cast("TraversalStats", stats),
            source,
        )
