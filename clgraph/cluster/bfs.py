"""Breadth-first search by several ranks: the graph is parted, and levels go in step."""

from __future__ import annotations

import threading
import time
import weakref
from typing import TYPE_CHECKING, Any

from clgraph.algorithms.bfs.config import BFSConfig
from clgraph.cluster.devices import checked_devices
from clgraph.cluster.findings import DividedFindings
from clgraph.cluster.holding import held
from clgraph.cluster.parts.partition import PARTITIONS, Copies
from clgraph.cluster.parts.slices import GraphSlices, slices_of
from clgraph.cluster.ranks.comm import Communicator, Program, run
from clgraph.cluster.ranks.over_mpi import world
from clgraph.cluster.ranks.together import Together
from clgraph.cluster.result import DividedResult, DividedStats
from clgraph.cluster.verify import verified_search
from clgraph.device.programs.asked import asking
from clgraph.device.staying import StaysHere
from clgraph.engine.arguments import depth_limit, vertex_number
from clgraph.errors import InvalidArgumentError
from clgraph.graph.arguments import flags, one_of, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clgraph.cluster.parts.part import Part
    from clgraph.device import Device
    from clgraph.graph import Graph

__all__ = ["BFS", "DividedBFS", "communicator"]


def communicator(comm: Any) -> Communicator:
    """Give the ranks that a plan is for: those given, else those of the MPI job."""
    if isinstance(comm, Communicator):
        return comm
    if comm is not None and not callable(getattr(comm, "Get_rank", None)):
        raise InvalidArgumentError(
            f"comm={shown(comm)} is neither a communicator of mpi4py nor of clgraph.cluster; leave "
            "it out for all ranks of the job."
        )
    return world(comm=comm)


class BFS(StaysHere):
    """A breadth-first search by the ranks of an MPI job, or of one process, one device each.

    Parameters
    ----------
    graph : Graph, scipy.sparse matrix, path, or Slices
        Directed or undirected; weights are ignored. Of a file (`clgraph.cluster.FileSlices`) or a
        `clgraph.cluster.Kronecker` graph every rank reads or draws its own slice, and none holds
        the whole.
    comm : Communicator or mpi4py communicator, optional
        Default is all ranks of the MPI job; `clgraph.cluster.Together` has ranks in this process.
    predecessors : bool
        Whether searches label a tree too.
    config : BFSConfig or str, optional
        A configuration or the name of a preset. Its frontier decides what ranks send each other:
        ``"status"`` one bit a vertex and level, any other (``"merrill-..."``)
        the vertices that they found, to those who own them; default "auto" chooses by the graph.
        What says how one device runs its levels has no effect but with "copies": they are launched
        one by one.
    partition : {"block", "cyclic", "2d", "1.5d", "copies"}, optional
        Who has which vertices and edges; default is chosen by the graph. Bits need "block", the
        others are for candidates. With "copies" every device has the whole graph, and wide levels
        are shared; for devices of one process that meet in mailboxes and would search alike, where
        it is the default if that fits, without a configuration and from a mean degree of 8 on.

    Attributes
    ----------
    comm : Communicator
        The ranks.
    facts : Facts
        Of the graph.
    partition : Blocks
        Who has what.
    configs : tuple of Resolved
        Every dimension as decided, for each rank of this process.

    Raises
    ------
    InvalidArgumentError
        If the configuration is not legal or not for parts of a graph.
    ClusterError
        If ranks were given different things, or one has failed.
    DeviceMemoryError
        If a part does not fit its device.
    KernelBuildError
        If a kernel does not compile there.

    Notes
    -----
    All ranks make the plan and run it together. Of p ranks each holds 1/p of the edges (4 bytes
    each, twice that if the graph is directed and levels may pull) and 1/p of the distances. For
    candidates it also holds a bit for each vertex of the graph, and room for what it may find or
    be sent: at most a candidate, 4 bytes or 8 with a tree, for each of its edges and for each edge
    that leads to it, and where vertices are claimed in a bitmap at most one for each vertex of the
    graph. For bits it holds p + 2 of them, and 4 bytes if a tree is labelled, for each
    vertex of the graph; where likely parents are tried first 4 bytes for each and its own vertex,
    and while the plan is made 4 for each of the graph. A plan serves one thread at a time.

    References
    ----------
    .. [1] D. Merrill, M. Garland, A. Grimshaw, "Scalable GPU graph traversal", PPoPP 2012.
    .. [2] H. Liu, H. H. Huang, "Enterprise: breadth-first graph traversal on GPUs", SC 2015.
    .. [3] A. Buluc, K. Madduri, "Parallel breadth-first search on distributed memory systems",
           SC 2011.
    """

    @flags
    @asking
    def __init__(
        self,
        graph: Any,
        comm: Any = None,
        *,
        predecessors: bool = False,
        config: BFSConfig | str | None = None,
        partition: str | None = None,
    ) -> None:
        self.comm = communicator(comm)
        self.with_predecessors = bool(predecessors)
        self._lock = threading.Lock()
        self._last: weakref.ref[DividedFindings] | None = None
        self._broken_off = False
        with self.comm.agreeing():
            slices = slices_of(graph)
            wanted = BFSConfig.of(config)
            if partition is not None:
                one_of("partition", partition, (*PARTITIONS, Copies.name))
        self.comm.check_alike(
            {
                **slices.named,
                "config": wanted,
                "predecessors": self.with_predecessors,
                "partition": partition,
            }
        )

        holding = held(self.comm, slices, wanted, partition, predecessors=self.with_predecessors)
        self.facts, self.partition = holding.facts, holding.partition
        self.configs, self._exchanges = holding.configs, holding.exchanges
        self._shares, self._labels = holding.shares, holding.labels
        run(self.comm, [exchange.prepare() for exchange in self._exchanges])

    @property
    def parts(self) -> tuple[Part, ...]:
        """What each rank of this process holds and runs."""
        return tuple(exchange.part for exchange in self._exchanges)

    @flags
    @asking
    def run(
        self,
        source: int,
        *,
        max_depth: int | None = None,
        gather: bool = True,
        verify: bool = False,
    ) -> DividedResult:
        """Search from one vertex.

        Parameters
        ----------
        source : int
            Vertex id in [0, n).
        max_depth : int, optional
            Vertices farther than this many hops stay unreached.
        gather : bool
            Over MPI, whether rank 0 gets the whole arrays; every rank has those of its vertices.
        verify : bool
            Whether to check the result by the rules of Graph500, each rank its own edges.

        Returns
        -------
        DividedResult
            Distances, predecessors if the plan labels them, and stats. A result of the plan that
            nobody has read when the next search begins is copied to the host first; with copies
            only where devices have no room for another.

        Raises
        ------
        InvalidArgumentError
            If `source` is not a vertex or `max_depth` is negative.
        ClusterError
            If ranks do not search from the same vertex.
        VerificationError
            If the result was to be checked and is wrong.
        ClgraphError
            If a device reports a failure.
        """
        start = time.perf_counter()
        comm = self.comm
        with self._lock:
            with comm.agreeing():
                source = vertex_number(source, self.facts.n)
                limit = int(depth_limit(max_depth))
            comm.check_alike({"source": source, "max_depth": limit, "gather": gather})
            before = self._last() if self._last else None
            if before is not None:
                before.make_way()
            if self._broken_off:
                # What an interrupted search has under way must not meet this one's.
                comm.settle()
            self._broken_off = True
            found = run(comm, [exchange.search(source, limit) for exchange in self._exchanges])
            self._broken_off = False
            levels, launches, _ = found[0]
            spent = max(seconds for _, _, seconds in found)
            parts = [part.of_last() for part in self.parts]
            findings = DividedFindings(
                self.facts.n, parts, tree=self.with_predecessors, names=self._labels
            )
            self._last = weakref.ref(findings)
            if verify:
                run(comm, self._checks(source, limit))
            if len(comm.ranks) < comm.size:
                run(comm, [findings.collected(comm.ranks[0], comm.size, gather=gather)])
        stats = DividedStats(
            findings,
            levels,
            self.configs,
            self._exchanges[0].NAME,
            [device.name for device in comm.devices],
            partition=self.partition.name,
            launches=launches,
            kernel_ms=1e3 * spent,
            total_ms=1e3 * (time.perf_counter() - start),
        )
        return DividedResult(findings, stats, source)

    def _checks(self, source: int, limit: int) -> Sequence[Program]:
        return [
            verified_search(share, part, source, limit)
            for share, part in zip(self._shares, self.parts, strict=True)
        ]


class DividedBFS(BFS):
    """A breadth-first search over several devices of this process: `cluster.BFS` without MPI.

    Parameters
    ----------
    graph : Graph or scipy.sparse matrix
        Directed or undirected; weights are ignored.
    devices : sequence of Device or str
        One part of the graph for each: devices of one or several platforms. A device that is named
        several times has as many parts.
    predecessors, config, partition
        As for `clgraph.cluster.BFS`.
    transfers : {"direct", "host", "mailboxes"}, optional
        Whether one device's queue copies to the other's memory, which needs one OpenCL context, or
        what is exchanged goes through the host's. Default is directly wherever that can be. With
        mailboxes bits are exchanged without the host, by kernels that read each other's finds in
        its memory, by addresses that are the same for all: on a processor, and NVIDIA's cards if
        each is another, where that is the default. It needs kernels of all devices to run at once.

    Attributes
    ----------
    graph : Graph
        The graph that is searched.
    devices : tuple of Device
        Where, each with a queue of its own.
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
    """

    @flags
    def __init__(
        self,
        graph: Graph,
        devices: Sequence[Device | str],
        *,
        predecessors: bool = False,
        config: BFSConfig | str | None = None,
        transfers: str | None = None,
        partition: str | None = None,
    ) -> None:
        comm = Together(checked_devices(devices), transfers)
        slices = slices_of(graph)
        assert isinstance(slices, GraphSlices)  # noqa: S101 (of what is no path)
        self.graph = slices.graph
        super().__init__(
            self.graph, comm, predecessors=predecessors, config=config, partition=partition
        )

    @property
    def devices(self) -> tuple[Device, ...]:
        """Where, each with a queue of its own."""
        return self.comm.devices
