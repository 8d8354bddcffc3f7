"""Breadth-first search: hop distances, and optionally a shortest-path tree, from one source."""

from __future__ import annotations

import operator
import threading
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.bfs_verify import verify_search
from clgraph.device import Memory, load
from clgraph.device import device as find_device
from clgraph.engine.choose import resolve
from clgraph.engine.config import TraversalConfig
from clgraph.engine.driver import Driver
from clgraph.engine.findings import Findings, SearchBuffers
from clgraph.engine.resident import resident, unreachable_words
from clgraph.engine.state import SLOT_WORDS, STATE_WORDS
from clgraph.engine.stats import TraversalStats
from clgraph.errors import DeviceMemoryError, InvalidArgumentError
from clgraph.graph import as_graph

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.device import Allocation, Device
    from clgraph.device.memory import Progress
    from clgraph.engine.driver import Outcome
    from clgraph.graph import Graph

__all__ = ["BFS", "BFSConfig", "BFSResult", "bfs"]

UNREACHED = -1
QUEUE_SLACK = 64  # entries beyond n that branch-free appends may touch
NO_LIMIT = np.uint32(2**31 - 2)  # a depth that no graph has
LEVEL_CAPACITY = 1 << 16  # levels whose size and time are kept; 16 bytes each


class BFSConfig(TraversalConfig):
    """A configuration of breadth-first search; see `clgraph.engine.config.TraversalConfig`."""

    __slots__ = ()


class BFSResult:
    """Outcome of one search; arrays are copied from the device on first access.

    Attributes
    ----------
    source : int
        Where the search began.
    depth : int
        Largest distance that is reached.
    reached : int
        Vertices with a distance, the source among them.
    stats : TraversalStats
        Times, counts and the configuration that ran.
    """

    def __init__(
        self, found: Findings, outcome: Outcome, stats: TraversalStats, source: int
    ) -> None:
        self._found = found
        self.source = source
        self.depth = outcome.depth
        self.reached = outcome.reached
        self.stats = stats

    def __repr__(self) -> str:
        """Tell source, depth and number of reached vertices."""
        return f"BFSResult(source={self.source}, depth={self.depth}, reached={self.reached})"

    @property
    def distances(self) -> NDArray[np.int32]:
        """int32 [n] in hops; -1 where there is no path."""
        return self._found.distances

    @property
    def predecessors(self) -> NDArray[np.int32] | None:
        """int32 [n]: the vertex before on a shortest path, the source its own, -1 where none.

        None if the plan labels no tree.
        """
        return self._found.predecessors

    def detach(self) -> None:
        """Copy everything to the host and give the device buffers back to the plan."""
        self._found.detach()


class BFS:
    """A breadth-first search compiled for one graph, configuration and device.

    Parameters
    ----------
    graph : Graph or scipy.sparse matrix
        Directed or undirected; weights are ignored.
    predecessors : bool
        Whether searches label a tree too.
    config : BFSConfig or str, optional
        A configuration or the name of a preset; default "auto".
    device : Device or str, optional
        Default is ``clgraph.device()``.
    progress : callable, optional
        Called with bytes uploaded, bytes in all, and what is uploaded, where that takes long.

    Attributes
    ----------
    graph : Graph
        The graph that is searched.
    device : Device
        Where.
    config : Resolved
        Every dimension as decided.

    Raises
    ------
    InvalidArgumentError
        If the configuration is not legal, or not on this device.
    DeviceMemoryError
        If graph and search state do not fit the device.
    KernelBuildError
        If the kernel does not compile there.

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

    def __init__(
        self,
        graph: Graph,
        *,
        predecessors: bool = False,
        config: BFSConfig | str | None = None,
        device: Device | str | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.graph = as_graph(graph)
        self.with_predecessors = bool(predecessors)
        wanted = BFSConfig.of(config)
        self.device = find_device(device)
        self.config = resolve(
            wanted,
            self.device.traits,
            m=self.graph.m,
            predecessors=self.with_predecessors,
            max_degree=self.graph.max_degree,
        )
        self._memory = Memory(self.device)
        self._lock = threading.Lock()
        self._free_buffers: list[SearchBuffers] = []
        self._all_buffers: list[SearchBuffers] = []
        self._compile()
        if self.graph.n:
            self._allocate(progress)

    def _compile(self) -> None:
        config = self.config
        stages = ["fill", "push"]
        if config.pull:
            stages += ["pull", "gather"]
            if config.visited == "labels":
                stages.append("mark")
        together = [stages] if config.kernels == "fused" else [[stage] for stage in stages]
        programs = [
            load(
                self.device,
                "bfs.cl",
                config=config,
                problem=SimpleNamespace(predecessors=self.with_predecessors),
                stages=tuple(names),
                UNREACHED=UNREACHED,
                state_words=STATE_WORDS,
                slot_words=SLOT_WORDS,
            )
            for names in together
        ]
        self.source_hash = programs[0].source_hash
        self._driver = Driver(self.device, [program.kernel("bfs") for program in programs], config)

    def _allocate(self, progress: Progress | None) -> None:
        graph, config, memory = self.graph, self.config, self._memory
        n = graph.n
        out = resident(graph, self.device, progress)
        back = out
        in_degrees = graph.degrees
        if graph.directed and config.pull:
            transpose = graph.transpose()
            back = resident(transpose, self.device, progress)
            in_degrees = transpose.degrees
        words = unreachable_words(in_degrees, config.word_bits)
        entry = {"vertex": 4, "row": 8, "full": 16}[config.entry]
        hubs = int(np.count_nonzero(graph.degrees >= config.hub_degree)) if config.hub_degree else 0

        def entries(name: str, count: int) -> Allocation:
            return memory.allocate(name, count * entry // 4, np.uint32)

        self._level_capacity = np.uint32(min(n + 1, LEVEL_CAPACITY))
        bitmap = words.size if config.pull or config.visited == "bitmap" else 1
        self._graph_args = (
            *(out.indptr, out.indices, back.indptr, back.indices),
            memory.upload("unreachable", words),
            np.uint32(n),
            np.uint64(graph.m),
            np.uint32(graph.max_degree),
            np.uint32(max(round(graph.mean_degree), 1)),
        )
        self._scratch = (
            memory.allocate("visited_even", bitmap, words.dtype),
            memory.allocate("visited_odd", bitmap, words.dtype),
            entries("queue_even", n + QUEUE_SLACK),
            entries("queue_odd", n + QUEUE_SLACK),
            entries("hubs_even", hubs + QUEUE_SLACK),
            entries("hubs_odd", hubs + QUEUE_SLACK),
        )
        self._no_tree = memory.allocate("predecessors", 1, np.int32)
        self._free_buffers.append(self._new_buffers())

    def _new_buffers(self) -> SearchBuffers:
        buffers = SearchBuffers(
            self._memory,
            self.graph.n,
            int(self._level_capacity),
            predecessors=self.with_predecessors,
        )
        self._all_buffers.append(buffers)
        return buffers

    def _take_buffers(self) -> SearchBuffers:
        """Buffers that no living result needs: used ones, else new ones, else a result's."""
        try:
            return self._free_buffers.pop()
        except IndexError:
            pass
        try:
            return self._new_buffers()
        except DeviceMemoryError:
            for buffers in self._all_buffers:
                found = buffers.owner() if buffers.owner else None
                if found is not None:
                    found.detach()
            if not self._free_buffers:
                raise
            return self._free_buffers.pop()

    def run(self, source: int, *, max_depth: int | None = None, verify: bool = False) -> BFSResult:
        """Search from one vertex.

        Parameters
        ----------
        source : int
            Vertex id in [0, n).
        max_depth : int, optional
            Vertices farther than this many hops stay unreached.
        verify : bool
            Whether to check the result on the device, outside the times in its stats.

        Returns
        -------
        BFSResult
            Distances, predecessors if the plan labels them, and stats.

        Raises
        ------
        InvalidArgumentError
            If `source` is not a vertex or `max_depth` is negative.
        KernelTimeoutError
            If the device does not finish.
        VerificationError
            If the result was to be checked and is wrong.
        """
        start = time.perf_counter()
        source = _vertex(source, self.graph.n)
        limit = _depth_limit(max_depth)
        with self._lock:
            buffers = self._take_buffers()
            try:
                outcome = self._driver.run(
                    *self._graph_args,
                    np.uint32(source),
                    limit,
                    buffers.distances,
                    buffers.predecessors or self._no_tree,
                    *self._scratch,
                    buffers.levels,
                    self._level_capacity,
                )
            except BaseException:
                self._free_buffers.append(buffers)
                raise
            found = Findings(self.graph, buffers, outcome.depth, self._free_buffers)
        total_ms = 1e3 * (time.perf_counter() - start)
        if verify:
            verify_search(
                self.device,
                resident(self.graph, self.device),
                buffers.distances,
                buffers.predecessors,
                source=source,
                limit=int(limit),
                unreached=UNREACHED,
            )
        stats = TraversalStats(found, outcome, total_ms, self.config)
        return BFSResult(found, outcome, stats, source)


def _vertex(source: Any, n: int) -> int:
    try:
        vertex = operator.index(source)
    except TypeError:
        raise InvalidArgumentError(
            f"source={source!r} is not a vertex number; pass an integer in [0, {n})."
        ) from None
    if not 0 <= vertex < n:
        raise InvalidArgumentError(
            f"source={vertex} is not a vertex of this graph; it has {n} vertices, numbered from 0."
        )
    return vertex


def _depth_limit(max_depth: Any) -> np.uint32:
    if max_depth is None:
        return NO_LIMIT
    try:
        depth = operator.index(max_depth)
    except TypeError:
        raise InvalidArgumentError(
            f"max_depth={max_depth!r} is not a number of hops; pass an integer or None."
        ) from None
    if depth < 0:
        raise InvalidArgumentError(f"max_depth={depth} is negative; pass 0 or more, or None.")
    return np.uint32(min(depth, int(NO_LIMIT)))


def bfs(
    graph: Graph,
    source: int,
    *,
    predecessors: bool = False,
    max_depth: int | None = None,
    config: BFSConfig | str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> BFSResult:
    """Hop distances, and optionally one shortest-path tree, from a source vertex.

    Parameters
    ----------
    graph : Graph or scipy.sparse matrix
        Directed or undirected; weights are ignored.
    source : int
        Vertex id in [0, n).
    predecessors : bool
        Whether to label a tree too; costs one more store per reached vertex.
    max_depth : int, optional
        Vertices farther than this many hops stay unreached.
    config : BFSConfig or str, optional
        A configuration or the name of a preset; default "auto".
    device : Device or str, optional
        Default is ``clgraph.device()``.
    progress : callable, optional
        Called with bytes uploaded, bytes in all, and what is uploaded, where that takes long.
    verify : bool
        Whether to check the result on the device.

    Returns
    -------
    BFSResult
        ``distances`` int32 [n] in hops, -1 where there is no path; ``predecessors`` int32 [n] or
        None.

    Raises
    ------
    InvalidArgumentError
        If ``source`` is not a vertex of ``graph``, or ``config`` is not a legal combination.
    DeviceMemoryError
        If graph and search state do not fit the device.
    VerificationError
        If the result was to be checked and is wrong.

    Notes
    -----
    O(n + m) work. Distances are deterministic; among several shortest paths the predecessor may
    differ from run to run. Pull stages of a directed graph need its transpose, which is built once
    and kept with the graph.
    """
    graph = as_graph(graph)
    _vertex(source, graph.n)
    plan = BFS(graph, predecessors=predecessors, config=config, device=device, progress=progress)
    return plan.run(source, max_depth=max_depth, verify=verify)
