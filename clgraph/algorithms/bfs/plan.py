"""Breadth-first search: hop distances, and optionally a shortest-path tree, from one source."""

from __future__ import annotations

import gc
import logging
import time
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.bfs.buffers import level_capacity, read_tallies, table_of
from clgraph.algorithms.bfs.config import BFSConfig
from clgraph.algorithms.bfs.result import BFSResult
from clgraph.algorithms.bfs.stages import UNREACHED, has_shares, kernel_parameters, stages_of
from clgraph.algorithms.bfs.stats import BFSStats
from clgraph.algorithms.bfs.verify import verify_search
from clgraph.device.programs.asked import asking
from clgraph.documented import documented
from clgraph.engine.arguments import depth_limit, output_array, vertex_number
from clgraph.engine.blocks import is_changing
from clgraph.engine.choose import resolve
from clgraph.engine.findings import HopFindings
from clgraph.engine.outcome import Outcome
from clgraph.engine.plan import Plan, SearchPlan
from clgraph.errors import DeviceMemoryError, InvalidArgumentError, QueueOverflowError
from clgraph.graph import as_graph
from clgraph.graph.arguments import among, flags, shown, truth
from clgraph.verify import distances as verify_distances
from clgraph.verify import shortest_path_tree as verify_tree

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.algorithms.bfs.sharing import Sharing
    from clgraph.algorithms.bfs.streaming import Streamed
    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.dynamic.graph import DynamicGraph
    from clgraph.graph import Graph

__all__ = ["BFS", "BFSConfig", "BFSResult", "bfs"]

MEMORIES = ("device", "stream")

log = logging.getLogger("clgraph")


@documented(Plan)
class BFS(SearchPlan):
    """A breadth-first search compiled for one graph, configuration and device.

    Parameters
    ----------
    graph : Graph, DynamicGraph or scipy.sparse matrix
        Directed or undirected; weights are ignored. Every search of a dynamic graph is of what it
        holds then; its rows are read in their blocks, unless the configuration wants packed ones.
    predecessors : bool
        Whether to label a tree too; costs one more store per reached vertex.
    config : BFSConfig or str, optional
        A configuration or the name of a preset; default "auto".
    memory : {"device", "stream"}, optional
        Whether rows are on the device, or stay in host memory (which may be a mapped file), from
        where what each level needs is read in place or copied. Default is the device; where the
        graph does not fit, and no configuration is asked for, rows stay, which is logged.

    Attributes
    ----------
    config : Resolved
        Every dimension as decided.

    Raises
    ------
    InvalidArgumentError
        If the configuration is not legal, or not on this device.

    Notes
    -----
    Compiles and uploads once; `run` only launches. Uses 4 bytes per edge (twice that if the graph
    is directed and stages may pull) and 17 to 50 bytes per vertex of device memory. A plan serves
    one thread at a time; others wait.

    References
    ----------
    .. [1] S. Beamer, K. Asanovic, D. Patterson, "Direction-optimizing breadth-first search",
           SC 2012.
    .. [2] D. Merrill, M. Garland, A. Grimshaw, "Scalable GPU graph traversal", PPoPP 2012.
    """

    _sharing: Sharing | None = None  # with whom wide levels are shared

    @flags
    @asking
    def __init__(
        self,
        graph: Graph | DynamicGraph,
        predecessors: bool = False,
        config: BFSConfig | str | None = None,
        device: Device | str | None = None,
        *,
        progress: Progress | None = None,
        memory: str | None = None,
    ) -> None:
        if memory is not None and not among(memory, MEMORIES):
            raise InvalidArgumentError(
                f"memory={shown(memory)} is not one of device, stream, or None for what fits."
            )
        self.with_predecessors = bool(predecessors)
        self._asked_for = (config, memory)
        needs = "they are to stay in host memory" if memory == "stream" else ""
        if is_changing(graph):
            needs = needs or BFSConfig.needs_packed(config, directed=graph.directed)
        super().__init__(graph, device, needs, progress=progress)

    def _prepare(self, progress: Progress | None) -> None:
        """Take memory for the rows that there are now."""
        config, memory = self._asked_for
        self._streamed: Streamed | None = None
        if memory == "stream":
            self._stream(config)
            return
        too_large = ""
        try:
            self._make(config, progress)
        except DeviceMemoryError as error:
            stays = self._searched.in_blocks or memory == "device"
            if stays or config not in {None, "auto"} or not self.graph.n:
                raise
            too_large = str(error)
        if too_large:  # and what the error's traceback kept is free
            self.__dict__.pop("_stages", None)
            gc.collect()
            try:
                self._stream(config)
            except DeviceMemoryError as error:
                raise DeviceMemoryError(too_large) from error
            log.warning(
                "bfs on %s: %s Rows stay in host memory instead; memory='device' would raise",
                self.device.name,
                too_large,
            )

    def _stream(self, config: BFSConfig | str | None) -> None:
        """Leave the rows where they are."""
        if config not in {None, "auto"}:
            raise InvalidArgumentError(
                f"config={config!r} is for rows on the device; leave it out with memory='stream'."
            )
        # It shares kernels with ranks, which are made of this package.
        from clgraph.algorithms.bfs.streaming import Streamed  # noqa: PLC0415

        with self._counted():
            self._streamed = Streamed(self.graph, self.device, predecessors=self.with_predecessors)
        self.config = self._streamed.config

    def _make(self, config: BFSConfig | str | None, progress: Progress | None) -> None:
        """Take memory for rows and state, and build."""
        rows: Any = self.graph
        blocks = rows if self._searched.in_blocks else None
        self._wanted = BFSConfig.on(config, "bfs", self.graph, self.device)
        completed = self._wanted.completed(self.graph, self.device.traits)
        if blocks is not None:
            completed = completed.on_blocks(directed=blocks.directed)
        self.config = resolve(
            completed,
            self.device.traits,
            m=self.graph.m,
            predecessors=self.with_predecessors,
            max_degree=self.graph.max_degree,
            mean_degree=self.graph.mean_degree,
            directed=self.graph.directed,
            asked=self._wanted,
            blocks=blocks,
        )
        self._has_shares = has_shares(self.config)
        self._has_tallies = self.config.frontier.name == "status"
        table = table_of(
            self.graph,
            self.config,
            self.device,
            lambda: self.groups,
            predecessors=self.with_predecessors,
            progress=progress,
        )
        if self._sharing:
            self._sharing.declare(table, self.graph, self.config, self.device)
        self._ready(
            table,
            self.config,
            level_capacity=level_capacity(self.graph),
            dtype=np.int32,
            file="bfs/bfs.cl",
            entry="bfs",
            stages=stages_of(self.config, self._sharing),
            render=lambda names: kernel_parameters(
                self.config,
                names,
                predecessors=self.with_predecessors,
                sharing=self._sharing,
            ),
        )
        if self._sharing is None and not (self._has_tallies or self._has_shares):
            self._keep_warm()

    def _exact_plan(self) -> BFS:
        """Make a plan for searches that find more than this one's queues or bytes can hold."""
        form = self.config.frontier
        if form.name == "status":
            log.warning(
                "bfs on %s: a search is deeper than bits=8 can tell; searching again with 32 bits",
                self.device.name,
            )
            exact: dict[str, object] = {"frontier.bits": 32}
        else:
            log.warning(
                "bfs on %s: duplicates overflowed the queues of visited=%r; searching again with "
                "atomic claims",
                self.device.name,
                form.visited,
            )
            exact = {
                **({} if self._wanted.frontier else {"frontier": form.name}),
                "frontier.visited": "bitmap",
                "frontier.duplicates": "keep",
                "frontier.history": 0,
                "limits.queue_percent": None,
            }
        return BFS(
            self._searched.given,
            predecessors=self.with_predecessors,
            config=self._wanted.with_values(exact),
            device=self.device,
        )

    def run(
        self,
        source: int,
        *,
        max_depth: int | None = None,
        verify: bool = False,
        out: NDArray[np.int32] | None = None,
    ) -> BFSResult:
        """Search from one vertex.

        Parameters
        ----------
        source : int
            Vertex id in [0, n).
        max_depth : int, optional
            Vertices farther than this many hops stay unreached.
        verify : bool
            Whether to check the result on the device, outside the times in its stats.
        out : numpy.ndarray, optional
            Contiguous array [n] of the distances' type to copy them into; `distances` is it then.

        Returns
        -------
        BFSResult
            ``distances`` int32 [n] in hops, -1 where there is no path; ``predecessors`` int32 [n]
            or None; ``stats``.

        Raises
        ------
        InvalidArgumentError
            If `source` is not a vertex, `max_depth` is negative, or `out` is no such array.
        KernelTimeoutError
            If the device does not finish.
        QueueOverflowError
            If ``queue_percent`` leaves too little room where each vertex is queued once.
        VerificationError
            If the result was to be checked and is wrong.
        """
        verify = verify is not False and truth("verify", verify)
        began = time.perf_counter()
        with self._searched.alone, self._lock:
            if self._searched.changed:
                self._follow()
            n = self.graph.n
            source = vertex_number(source, n)
            limit = depth_limit(max_depth)
            out = output_array(out, n, np.int32)
            if self._streamed is not None:
                result = self._streamed.search(source, int(limit), out)
                if verify:
                    check = verify_tree if self.with_predecessors else verify_distances
                    check(self.graph, source, result, max_depth=max_depth)
                return result
            buffers = self._pool.take()
            started = self._stages.start(
                {"source": np.uint32(source), "max_level": limit, **buffers.arguments}
            )
            # Made while the device is at work, so that little is left when it has ended.
            outcome = Outcome()
            found = HopFindings(self.graph, buffers, outcome)
            stats = BFSStats(found, outcome, self.config)
            stats.ran_on(self.device)
            result = BFSResult(found, outcome, stats, source)
            try:
                self._stages.finish(started, outcome)
            except QueueOverflowError:
                if self.config.exact and getattr(self.config.frontier, "bits", 32) == 32:
                    raise
                fallback = self._instead(self._exact_plan)
                return fallback.run(source, max_depth=max_depth, verify=verify, out=out)
            buffers.owner = weakref.ref(found)
            if self._has_tallies:
                stats.tallies = read_tallies(self._stages.table)
            if self._has_shares:
                rows = min(outcome.depth + 1, level_capacity(self.graph))
                stats.shares = self._stages.table["level_shares"].read(rows)
            if out is not None:
                found.read_into(out)
            stats.total_ms = 1e3 * (time.perf_counter() - began)
            if verify:  # before another search can want these buffers
                verify_search(
                    self.device,
                    self._searched.packed(self.device),
                    buffers.distances,
                    buffers.predecessors,
                    source=source,
                    limit=int(limit),
                    unreached=UNREACHED,
                )
        return result


@documented(BFS, BFS.run)
@flags
def bfs(  # noqa: PLR0913 - all but two by keyword
    graph: Graph | DynamicGraph,
    source: int,
    *,
    predecessors: bool = False,
    max_depth: int | None = None,
    config: BFSConfig | str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
    memory: str | None = None,
) -> BFSResult:
    """Hop distances, and optionally one shortest-path tree, from a source vertex.

    Notes
    -----
    O(n + m) work. Distances are deterministic; among several shortest paths the predecessor may
    differ from run to run. Pull stages of a directed graph need its transpose, which is built once
    and kept with the graph.
    """
    searched: Any = graph if is_changing(graph) else as_graph(graph)
    vertex_number(source, searched.n)
    plan = BFS(
        searched,
        predecessors=predecessors,
        config=config,
        device=device,
        progress=progress,
        memory=memory,
    )
    return plan.run(source, max_depth=max_depth, verify=verify)
