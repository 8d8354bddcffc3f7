"""Connected components: which vertices are joined by edges, whatever way these point."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.components.number import Numbering
from clgraph.algorithms.components.result import ComponentsResult, ComponentStats
from clgraph.algorithms.components.tiles import Tiles, tile_of
from clgraph.algorithms.components.verify import verify_components
from clgraph.device import load
from clgraph.documented import documented
from clgraph.engine.arguments import only_auto
from clgraph.engine.blocks import BlockRows, Searched, rows_of
from clgraph.engine.plan import Plan, Turn
from clgraph.engine.resident import wide_offsets
from clgraph.engine.sweeps import Sweeper, SweepLog
from clgraph.errors import InvalidGraphError
from clgraph.graph.arguments import flags, truth

if TYPE_CHECKING:
    from clgraph.device import Allocation, Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.dynamic.graph import DynamicGraph
    from clgraph.graph import Graph

__all__ = ["ConnectedComponents", "check_size", "connected_components", "hooking"]

MOST_VERTICES = 2**31 - 1
SAMPLES = 256  # vertices that vote for the tree whose edges may be skipped
CPU_SAMPLES = 64
# A vertex is a hub with so many times the mean degree. Trees of hubs are flat, and shortening their
# paths took kron20 0.38 to 0.6 ms where 0.22 to 0.27 do; without hubs it saves road a third.
HUB = 32
LONG_ROW_LANES = 2  # rows of so many edges per lane are finished by all lanes
NO_LONG_ROW = 2**32 - 1


def check_size(graph: Graph) -> None:
    """Refuse graphs whose vertices do not fit the component words.

    Raises
    ------
    InvalidGraphError
        If there are 2**31 - 1 vertices or more.
    """
    if graph.n >= MOST_VERTICES:
        raise InvalidGraphError(
            f"the graph has {graph.n} vertices, but components are kept in 31 bits; use fewer than "
            f"{MOST_VERTICES}."
        )


def has_hubs(graph: Graph) -> bool:
    """Whether the edges of a graph come together in few of its vertices."""
    return graph.max_degree * graph.n > HUB * graph.m


@documented(Plan)
class ConnectedComponents(Plan):
    """Connected components, compiled for one graph and device.

    Parameters
    ----------
    graph : Graph, DynamicGraph or scipy.sparse matrix
        Directed or undirected; directions and weights are ignored, so of a directed graph these are
        the weakly connected components. See `scc` for the strongly connected ones. Rows of a
        dynamic graph are read in their blocks where they are, and every run is of what it holds
        then.

    Raises
    ------
    InvalidGraphError
        If the graph has 2**31 - 1 vertices or more.

    Notes
    -----
    Compiles and uploads once; `run` only launches, eight kernels without a look in between, or six
    where neighbours are near in number. Takes 8 bytes per vertex of device memory beside the graph,
    and 4 for every result that has not been read, one at least. A plan serves one thread at a time;
    others wait.

    References
    ----------
    .. [1] M. Sutton, T. Ben-Nun, A. Barak, "Optimizing parallel graph connectivity computation via
           subgraph sampling", IPDPS 2018.
    .. [2] J. Jaiganesh, M. Burtscher, "A high-performance connected components implementation for
           GPUs", HPDC 2018.
    """

    def __init__(
        self,
        graph: Graph | DynamicGraph,
        *,
        device: Device | str | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._searched = Searched(graph, device)
        self.config: dict[str, Any] = {}
        self._built_for: tuple[dict[str, Any], int] | None = None
        self._rows: tuple[Any, ...] = ()
        with self._searched.alone:
            super().__init__(self._searched.now(), self._searched.device)
            self._make(progress)

    def _make(self, progress: Progress | None) -> None:
        """Build the kernels, and take memory for the rows that there are now."""
        rows = self._searched.now()
        check_size(rows)
        self.graph = rows
        traits = self.device.traits
        self._sweeper = Sweeper(self.device, rows.n)
        blocks = isinstance(rows, BlockRows)
        hubs = not blocks and has_hubs(rows)
        config = {
            "group_size": self._sweeper.group_size,
            "samples": CPU_SAMPLES if traits.lanes == 1 else SAMPLES,
            "long_row": NO_LONG_ROW if traits.lanes == 1 else LONG_ROW_LANES * traits.lanes,
            "wide_offsets": rows.wide if blocks else wide_offsets(rows.m),
            "hubs": hubs,
            "tile": 0 if blocks or hubs else tile_of(rows, self.device),
        }
        built_for = config, config["tile"] and rows.n  # tiles are of so many vertices
        if built_for != self._built_for:
            # An exception may come before there are other kernels than those before.
            self._built_for = None
            self._build(config, "blocks" if blocks else "csr")
            self._built_for = built_for
        if rows.n:
            self._allocate(progress)
        self._searched.now_seen()

    def _build(self, config: dict[str, Any], layout: str) -> None:
        self.config = config
        self._tiles: Tiles | None = None
        if config["tile"]:
            with self._counted():
                self._tiles = Tiles(
                    *(self.device, self._memory, self.graph.n, config["tile"]),
                    wide_offsets=config["wide_offsets"],
                    both_ways=not self.graph.directed,
                )
            self.source_hash = self._tiles.source_hash
            return
        about = SimpleNamespace(rows=layout, wide_offsets=config["wide_offsets"])
        program = load(self.device, "components/components.cl", config=about, **config)
        self.source_hash = program.source_hash
        names = ("start", "sample", "compress", "vote", "rest")
        self._kernels = {name: program.kernel(f"components_{name}") for name in names}

    def _allocate(self, progress: Progress | None) -> None:
        n, held = self.graph.n, self._rows
        with self._counted():
            where = rows_of(self.graph, self.device, progress)
            lengths = (self.graph.store.used,) if isinstance(self.graph, BlockRows) else ()
            if not held or int(held[-1]) != n:
                self._parent = self._memory.allocate("parents", n, np.uint32)
                self._commonest = self._memory.allocate("commonest_root", 1, np.uint32)
                self._numbering = Numbering(self.device, self._memory, n, smallest=True)
            # The last, so that what an error left out is taken the next time.
            self._rows = (where.indptr, *lengths, where.indices, np.uint32(n))
        # The same objects in every launch, so that they are handed over once.
        self._from_end = np.uint32(1)
        self._skip = np.uint32(not self.graph.directed)
        self._stamp = object()  # of what kernels take, all of which stays until this is another

    def run(self, *, verify: bool = False) -> ComponentsResult:
        """Find the components.

        Parameters
        ----------
        verify : bool
            Whether to check the result on the device, outside the times in its stats.

        Returns
        -------
        ComponentsResult
            ``labels`` int32 [n], 0 .. count - 1 by smallest member; ``count``; ``sizes`` int64
            [count]; ``stats``.

        Raises
        ------
        VerificationError
            If the result was to be checked and is wrong.
        ClgraphError
            If the driver reports a failure.
        DeviceMemoryError
            If there is no room for the labels.
        """
        verify = verify is not False and truth("verify", verify)
        log = SweepLog()
        labels, count = None, 0
        with Turn() as turn, self._searched.alone, self._lock:
            if self._searched.changed:
                self._make(None)
            n = self.graph.n
            if n:
                labels = self._result_memory.take("labels", n, np.int32)
                count = self.label(log, labels)
            packed = self._searched.as_graph() if verify else None
        steps = partial(hooking, log, n)
        how = {"mode": "stepped", "method": "hooking", "config": self.config}
        stats = self._stats_of(ComponentStats, log, turn, steps=steps, **how)
        stats.vertices = n
        stats.ran_on(self.device)
        result = ComponentsResult(labels, n, count, stats, names=self.graph.labels)
        if packed is not None:
            verify_components(packed, result, self.device, strong=False)
        return result

    def label(self, log: SweepLog, labels: Allocation) -> int:
        """Write the labels of a graph with vertices, int32 [n], and count the components."""
        if self._tiles is None:
            self._enqueue(log)
        else:
            self._tiles.run(log, self._rows, self._parent, labels, self._stamp)
        self._numbering.run(log, self._parent, labels)
        return self._numbering.count()

    def _enqueue(self, log: SweepLog) -> None:
        rows, parent, commonest = self._rows, self._parent, self._commonest
        n = rows[-1]
        self._launch(log, "start", *rows, parent)
        self._launch(log, "compress", n, parent)
        self._launch(log, "sample", *rows, self._from_end, parent)
        self._launch(log, "vote", n, parent, commonest)
        self._launch(log, "rest", *rows, commonest, self._skip, parent)

    def _launch(self, log: SweepLog, name: str, *args: Any) -> None:
        kernel, bound = self._kernels[name], ((), self._stamp)
        self._sweeper.launch(log, kernel, *args, bound=bound, followed=True)


def hooking(log: SweepLog, n: int) -> list[dict[str, Any]]:
    """Report the one step that hooking is, whose rounds are its launches over `n` vertices."""
    if not n:
        return []
    took = {"items": n, "milliseconds": log.kernel_ms}
    return [{"phase": "hooking", "step": "hook", "rounds": log.launches} | took]


@documented(ConnectedComponents, ConnectedComponents.run, only_auto)
@flags
def connected_components(
    graph: Graph | DynamicGraph,
    *,
    config: str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> ComponentsResult:
    """Find the sets of vertices that are joined by edges, whatever way these point.

    Notes
    -----
    Nearly O(n + m) work: union by smaller root with path halving. Labels are deterministic. Where
    every edge is stored both ways, vertices of the largest tree of a sample are skipped. On GPUs,
    graphs of few edges whose ends are mostly near in number, as of roads and meshes, are joined
    tile by tile in local memory first, and then what is left between tiles.

    Examples
    --------
    >>> import clgraph as cg
    >>> graph = cg.from_edges([0, 2], [1, 3], n=5, symmetrize=True)
    >>> cg.connected_components(graph).labels.tolist()
    [0, 0, 1, 1, 2]
    """
    only_auto(config)
    return ConnectedComponents(graph, device=device, progress=progress).run(verify=verify)
