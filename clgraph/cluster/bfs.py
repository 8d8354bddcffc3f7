"""Breadth-first search over several devices, each with a part of the vertices."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.bfs_config import BFSConfig
from clgraph.cluster.bits import BitExchange
from clgraph.cluster.candidates import CandidateExchange
from clgraph.device import device as find_device
from clgraph.engine.arguments import depth_limit, vertex_number
from clgraph.engine.choose import resolve
from clgraph.errors import InvalidArgumentError
from clgraph.graph import as_graph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from clgraph.cluster.level import Level
    from clgraph.device import Device
    from clgraph.engine.choose import Resolved
    from clgraph.graph import Graph

__all__ = ["DividedBFS", "DividedResult", "DividedStats"]

# Levels are launched from here, one at a time, and every vertex is queued once.
_STEPPED: dict[str, Any] = {
    "synchronisation": "stepped",
    "distribution": "static",
    "membership": None,
    "solo": False,
    "held": False,
    "hub_degree": 0,
    "kernels": None,
    "counts": None,
    "status_bits": None,
}


@dataclass(frozen=True, slots=True)
class DividedStats:
    """What a search over several devices tells about itself.

    Attributes
    ----------
    total_ms : float
        Host wall clock of ``run``, with what devices sent each other.
    levels : int
        Frontiers that were expanded or found: the depth and the source's own.
    edges_traversed : int
        Out-edges of reached vertices.
    frontiers : ndarray
        int64 [levels]: vertices at each distance.
    directions : tuple of str
        "push" or "pull", for every exchange.
    exchanged_bytes : ndarray
        int64 [exchanges]: bytes that devices sent each other for each level; the last exchange
        found nothing, unless ``max_depth`` ended the search.
    """

    total_ms: float
    levels: int
    edges_traversed: int
    frontiers: NDArray[np.int64]
    directions: tuple[str, ...]
    exchanged_bytes: NDArray[np.int64]
    mode: str = "stepped"

    @property
    def teps(self) -> float:
        """Edges traversed per second of the host's wall clock."""
        return self.edges_traversed / (self.total_ms * 1e-3) if self.total_ms > 0 else 0.0


@dataclass(frozen=True, slots=True)
class DividedResult:
    """Outcome of a search over several devices.

    Attributes
    ----------
    source : int
        Where the search began.
    distances : ndarray
        int32 [n] in hops; -1 where there is no path.
    predecessors : ndarray or None
        int32 [n]; -1 where unreached, the source its own; None if no tree was labelled.
    depth, reached : int
        Largest distance, and vertices that have one.
    stats : DividedStats
        Times, counts and bytes.
    """

    source: int
    distances: NDArray[np.int32]
    predecessors: NDArray[np.int32] | None
    depth: int
    reached: int
    stats: DividedStats


class DividedBFS:
    """A breadth-first search compiled for one graph and several devices.

    Parameters
    ----------
    graph : Graph or scipy.sparse matrix
        Directed or undirected; weights are ignored.
    devices : sequence of Device or str
        One for each part of the vertices; the same one several times makes several parts.
    predecessors : bool
        Whether searches label a tree too.
    config : BFSConfig or str, optional
        A configuration or the name of a preset. ``queue`` decides what devices tell each other:
        ``"status"`` (``"enterprise"``) one bit a vertex and level, any other the neighbours that
        they found for those who own them. What says how levels are run has no effect: they are
        launched one by one.

    Attributes
    ----------
    graph : Graph
        The graph that is searched.
    devices : tuple of Device
        Where.
    configs : tuple of Resolved
        Every dimension as decided, for each device.

    Raises
    ------
    InvalidArgumentError
        If there is no device, or the configuration is not legal or not for parts of a graph.
    DeviceMemoryError
        If a part does not fit its device.
    KernelBuildError
        If a kernel does not compile there.

    Notes
    -----
    With candidates, vertices are dealt out in turns, and each device has the rows and distances of
    its own. With bits, each owns a range of vertices and knows the distances of all. Devices of
    different platforms share no memory, so everything passes through the host: some 2 m / p words
    at most from each device in a whole search, or n / 8 bytes a device and level. A plan serves one
    thread at a time.

    References
    ----------
    .. [1] D. Merrill, M. Garland, A. Grimshaw, "Scalable GPU graph traversal", PPoPP 2012: in
           turns, with candidates.
    .. [2] H. Liu, H. H. Huang, "Enterprise: breadth-first graph traversal on GPUs", SC 2015: in
           ranges, with bits.
    """

    def __init__(
        self,
        graph: Graph,
        devices: Sequence[Device | str],
        *,
        predecessors: bool = False,
        config: BFSConfig | str | None = None,
    ) -> None:
        self.graph = as_graph(graph)
        if isinstance(devices, str) or not devices:
            raise InvalidArgumentError(
                f"devices={devices!r} is not a sequence of devices; pass at least one in a list."
            )
        self.devices = tuple(find_device(device) for device in devices)
        wanted = BFSConfig.of(config)
        self.with_predecessors = bool(predecessors)
        self.configs = tuple(self._decide(wanted, device) for device in self.devices)
        self._lock = threading.Lock()
        exchange = BitExchange if self.configs[0].queue == "status" else CandidateExchange
        self._exchange: BitExchange | CandidateExchange | None = None
        if self.graph.n:
            self._exchange = exchange(
                self.graph, self.devices, self.configs, predecessors=self.with_predecessors
            )

    def _decide(self, wanted: BFSConfig, device: Device) -> Resolved:
        completed = replace(wanted.completed(self.graph, device.traits), **_STEPPED)
        config = resolve(
            completed, device.traits, m=self.graph.m, predecessors=self.with_predecessors
        )
        if config.scope == "grid":
            raise InvalidArgumentError(
                f"balance={config.balance!r} needs prefix sums of a frontier, which parts of a "
                "graph do not have; choose another, such as 'warp_search' or 'cws'."
            )
        if config.duplicates.startswith("load"):
            raise InvalidArgumentError(
                f"duplicates={config.duplicates!r} drops vertices out of a queue, in which parts "
                "of a graph have each once; choose 'lookup_lanes' or 'keep'."
            )
        return config

    def run(self, source: int, *, max_depth: int | None = None) -> DividedResult:
        """Search from one vertex.

        Parameters
        ----------
        source : int
            Vertex id in [0, n).
        max_depth : int, optional
            Vertices farther than this many hops stay unreached.

        Returns
        -------
        DividedResult
            Distances, predecessors if the plan labels them, and stats.

        Raises
        ------
        InvalidArgumentError
            If `source` is not a vertex or `max_depth` is negative.
        """
        begin = time.perf_counter()
        source = vertex_number(source, self.graph.n)
        limit = int(depth_limit(max_depth))
        with self._lock:
            exchange = self._exchange
            assert exchange is not None  # noqa: S101 (there is a vertex, so there are parts)
            exchange.start(source)
            levels: list[Level] = []
            while len(levels) < limit and not (levels and levels[-1].over):
                levels.append(exchange.advance(len(levels) + 1))
            distances = exchange.distances()
            predecessors = exchange.predecessors() if self.with_predecessors else None
        found = np.array([1, *(level.found for level in levels if level.found)], np.int64)
        stats = DividedStats(
            total_ms=1e3 * (time.perf_counter() - begin),
            levels=found.size,
            edges_traversed=int(self.graph.degrees[distances >= 0].sum()),
            frontiers=found,
            directions=tuple(level.direction for level in levels),
            exchanged_bytes=np.array([level.sent_bytes for level in levels], np.int64),
        )
        return DividedResult(
            source, distances, predecessors, found.size - 1, int(found.sum()), stats
        )
