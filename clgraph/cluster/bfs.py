"""Breadth-first search over several devices: the graph is parted, and levels go in step."""

from __future__ import annotations

import threading
import time
import weakref
from typing import TYPE_CHECKING

from clgraph.algorithms.bfs.config import BFSConfig
from clgraph.cluster.config import Division
from clgraph.cluster.devices import checked_devices
from clgraph.cluster.exchange import BitExchange, CandidateExchange
from clgraph.cluster.result import DividedFindings, DividedResult, DividedStats
from clgraph.cluster.transport import Transport
from clgraph.device.asked import asking
from clgraph.engine.arguments import depth_limit, vertex_number
from clgraph.graph import as_graph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clgraph.cluster.part import Part
    from clgraph.device import Device
    from clgraph.graph import Graph

__all__ = ["DividedBFS"]


class DividedBFS:
    """A breadth-first search over several devices, compiled for one graph and configuration.

    Parameters
    ----------
    graph : Graph or scipy.sparse matrix
        Directed or undirected; weights are ignored.
    devices : sequence of Device or str
        One part of the graph for each: devices of one or several platforms. A device that is named
        several times has as many parts.
    predecessors : bool
        Whether searches label a tree too.
    config : BFSConfig or str, optional
        A configuration or the name of a preset. Its frontier decides what devices tell each other:
        ``"status"`` (``"enterprise"``) one bit a vertex and level, any other (``"merrill-..."``)
        the vertices that they found, to those who own them; default "auto" chooses by the graph.
        What says how one device runs its levels has no effect: they are launched one by one.
    transfers : {"direct", "host"}, optional
        Whether one device's queue copies to the other's memory, which needs one OpenCL context, or
        what is exchanged goes through the host's. Default is directly wherever that can be.

    Attributes
    ----------
    graph : Graph
        The graph that is searched.
    devices : tuple of Device
        Where, each with a queue of its own.
    configs : tuple of Resolved
        Every dimension as decided, for each device.
    parts : tuple of Part
        What each device holds and runs.

    Raises
    ------
    InvalidArgumentError
        If there are no devices or more than 64, or the configuration is not legal or not for parts
        of a graph.
    DeviceMemoryError
        If a part does not fit its device.
    KernelBuildError
        If a kernel does not compile there.

    Notes
    -----
    Of p devices each holds 1/p of the edges (4 bytes each, twice that if the graph is directed and
    levels may pull) and 1/p of the distances. For candidates it also holds a bit for each vertex of
    the graph, and room for what it may find or be sent: at most a candidate, 4 bytes or 8 with a
    tree, for each of its edges and for each edge that leads to it, and where vertices are claimed
    in a bitmap at most one for each vertex of the graph. For bits it holds p + 1 of them, and 4
    bytes if a tree is labelled, for each vertex of the graph. A plan serves one thread at a time.

    Every level waits for the host, which tells each device what the others found: several devices
    pay where levels are few and large.

    References
    ----------
    .. [1] D. Merrill, M. Garland, A. Grimshaw, "Scalable GPU graph traversal", PPoPP 2012.
    .. [2] H. Liu, H. H. Huang, "Enterprise: breadth-first graph traversal on GPUs", SC 2015.
    """

    @asking
    def __init__(
        self,
        graph: Graph,
        devices: Sequence[Device | str],
        *,
        predecessors: bool = False,
        config: BFSConfig | str | None = None,
        transfers: str | None = None,
    ) -> None:
        self.graph = as_graph(graph)
        self.with_predecessors = bool(predecessors)
        division = Division.of(self.graph, BFSConfig.of(config))
        self.devices = tuple(device.beside() for device in checked_devices(devices))
        self.configs = tuple(
            division.resolved(self.graph, device, predecessors=self.with_predecessors)
            for device in self.devices
        )
        self._lock = threading.Lock()
        self._last: weakref.ref[DividedFindings] | None = None
        kind = BitExchange if division.exchange == "bits" else CandidateExchange
        self._exchange: BitExchange | CandidateExchange = kind(
            self.graph,
            division,
            Transport(self.devices, transfers),
            self.configs,
            predecessors=self.with_predecessors,
        )

    @property
    def parts(self) -> tuple[Part, ...]:
        """What each device holds and runs."""
        return tuple(self._exchange.parts)

    @asking
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
            Distances, predecessors if the plan labels them, and stats. A result of the plan that
            nobody has read when the next search begins is copied to the host first.

        Raises
        ------
        InvalidArgumentError
            If `source` is not a vertex or `max_depth` is negative.
        ClgraphError
            If a device reports a failure.
        """
        start = time.perf_counter()
        source = vertex_number(source, self.graph.n)
        limit = int(depth_limit(max_depth))
        with self._lock:
            before = self._last() if self._last else None
            if before is not None:
                before.detach()
            begun = time.perf_counter()
            levels, launches = self._exchange.search(source, limit)
            end = time.perf_counter()
            findings = DividedFindings(
                self.graph, self._exchange.parts, tree=self.with_predecessors
            )
            self._last = weakref.ref(findings)
        stats = DividedStats(
            findings,
            levels,
            self.configs,
            self._exchange,
            launches=launches,
            kernel_ms=1e3 * (end - begun),
            total_ms=1e3 * (end - start),
        )
        return DividedResult(findings, stats, source)
