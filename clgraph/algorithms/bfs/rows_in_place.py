"""The levels of a search that reads rows where they are, in host memory."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from clgraph.algorithms.bfs.config import BFSConfig
from clgraph.algorithms.bfs.likely import likely_in_place
from clgraph.algorithms.bfs.row_chunks import host_rows
from clgraph.cluster.bits import BitExchange
from clgraph.cluster.config import PartitionPlan
from clgraph.cluster.parts.bits import BitPart
from clgraph.cluster.parts.partition import made
from clgraph.cluster.parts.share import facts_of, whole_share
from clgraph.cluster.ranks.comm import run
from clgraph.cluster.ranks.together import Together
from clgraph.device import Memory
from clgraph.engine.resident import offsets_dtype
from clgraph.engine.strategies.pull import ByEdges, Never

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.cluster.result import Level
    from clgraph.device import Allocation, Device
    from clgraph.device.programs.kernel import Argument
    from clgraph.graph import Graph

__all__ = ["RowsInPlace", "is_addressed", "state_bytes"]

LIKELY = (4, 2, 1)  # in-neighbours of each vertex that may be kept on the device
STATE_BYTES = 1 << 16  # that do not depend on the graph
LINE_EDGES = 32  # what one request over the bus brings


def is_addressed(device: Device) -> bool:
    """Whether kernels get at rows by an address, which pinned memory has on NVIDIA's cards."""
    return device.traits.memory_ops == "ptx"


def state_bytes(graph: Graph, *, predecessors: bool) -> int:
    """Give what a search in place keeps on the device: distance, place in a queue, row, bits."""
    return STATE_BYTES + (9 + 4 * predecessors + offsets_dtype(graph.m).itemsize) * graph.n


class RowsInPlace:
    """Rows that kernels read where they are, as the only rank of a search that sends nothing.

    Parameters
    ----------
    graph : Graph
        Its rows may be a memory-mapped array where the device is the processor.
    device : Device
        Where.
    predecessors : bool
        Whether a tree is labelled.
    pulls : bool, optional
        Whether levels may pull, for which the graph has to be undirected; default is if it is.

    Attributes
    ----------
    part : BitPart
        What is on the device.

    Notes
    -----
    Rows pass the bus where they are wanted, and as often; frontiers are in the order of rows, so
    that those which lie side by side pass together. A level that pulls tries the likeliest parents
    of each vertex first, as many as there is room for on the device: few rows pass at all. Levels
    of a narrow frontier are run by one work-group, many in a launch.
    """

    def __init__(
        self, graph: Graph, device: Device, *, predecessors: bool, pulls: bool | None = None
    ) -> None:
        self._comm = _Here([device])
        facts = facts_of(graph)
        parts = made("block", graph.n, 1, facts.top_vertices)
        share = whole_share(graph, facts, parts, 0, back=False)
        rule = _rule(graph, device, predecessors=predecessors)
        pull = rule if (not graph.directed if pulls is None else pulls) else Never()
        plan = replace(PartitionPlan.of(facts, BFSConfig(pull=pull)), exchange="bits")
        config = plan.resolved(graph, facts, device, predecessors=predecessors)
        line = LINE_EDGES if is_addressed(device) else 0
        config = replace(config, entry="vertex", row_line=line)
        self._exchange = _Exchange(
            *(share, plan, self._comm.devices[0], config),
            comm=self._comm,
            predecessors=predecessors,
        )
        self.part = self._exchange.part

    def levels(self, source: int, limit: int) -> tuple[list[Level], int]:
        """Run the levels; give them, and how many launches these were."""
        levels, launches, _ = run(self._comm, [self._exchange.search(source, limit)])[0]
        return levels, launches


def _rule(graph: Graph, device: Device, *, predecessors: bool) -> ByEdges:
    """Give when levels pull, and how many likely parents are kept where rows pass a bus."""
    if not is_addressed(device):
        return ByEdges()
    free = Memory(device).free_bytes - state_bytes(graph, predecessors=predecessors)
    fitting = [kept for kept in LIKELY if 4 * kept * graph.n <= free]
    return ByEdges(likely=fitting[0] if fitting else 0)


class _Here(Together):
    """The only rank, which has every narrow frontier alone."""

    runs_on = True


class _Rows(BitPart):
    """A part whose rows stay in host memory."""

    def _is_addressed(self) -> bool:
        return is_addressed(self.device)

    def _held(self, indices: NDArray[Any]) -> Argument:
        held, self._host_rows = host_rows(self.device, indices, addressed=self._is_addressed())
        return held

    def _likely(self, in_indptr: Allocation, in_indices: Any, n: int, kept: int) -> Allocation:
        del n
        addressed = self._is_addressed()
        return likely_in_place(in_indptr, in_indices, kept, self.device, addressed=addressed)


class _Exchange(BitExchange):
    """What sends a bit for each vertex to nobody."""

    PART = _Rows
