"""Other numbers for the vertices of a graph that devices hold: none without edges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.cluster.parts.partition import Ownership
from clgraph.device import Memory, load
from clgraph.device.waiting import wait
from clgraph.engine.resident import ResidentGraph, offsets_dtype, resident
from clgraph.graph.graph import Graph

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.device import Device

__all__ = ["Numbering", "numbering_of"]

GROUP_SIZE, GROUPS_PER_UNIT = 64, 32


class Numbering:
    """In their order, but for those without edges.

    Neither a bitmap nor a sweep over vertices has room for these then. By degree bits that are
    looked up often would lie side by side, but a SIMD group that pulls would get nothing but long
    rows: kron24 took an H200 659 us for a level of 298.

    Parameters
    ----------
    graph : Graph
        Undirected.
    ranks : int
        Who have neighbouring numbers each.

    Attributes
    ----------
    order : uint32 array [count]
        The vertex that has each number.
    numbers : uint32 array [n]
        The number of each vertex, `count` for one without edges.
    begins : list of int
        The first number of each rank, and how many there are.
    """

    def __init__(self, graph: Graph, ranks: int) -> None:
        self.order = np.flatnonzero(graph.degrees).astype(np.uint32)
        count = self.order.size
        self.numbers = np.full(graph.n, count, np.uint32)
        self.numbers[self.order] = np.arange(count, dtype=np.uint32)
        self.begins = [*(owned.first for owned in Ownership.in_ranges(count, ranks)), count]
        self._graph = graph
        lengths = graph.degrees[self.order]
        indptr = np.zeros(count + 1, np.int64)
        np.cumsum(lengths, out=indptr[1:])
        # Nobody reads these on the host.
        nothing = np.broadcast_to(np.zeros(1, np.int32), (graph.m,))
        self.graph = Graph.trusted((indptr, nothing, None), directed=False)

    def place(self, device: Device) -> Graph:
        """Make the rows on a device; give the graph that has them there.

        Raises
        ------
        DeviceMemoryError
            If both forms of the graph do not fit at once.
        """
        held: dict[Device, ResidentGraph] = self.graph.kept.setdefault(resident, {})
        if device not in held:
            kept: dict[Device, Any] = self._graph.kept.setdefault(resident, {})
            was_there = device in kept
            try:
                held[device] = self._rows(resident(self._graph, device), device)
            finally:
                if not was_there:
                    kept.pop(device, None)
        return self.graph

    def _rows(self, rows: ResidentGraph, device: Device) -> ResidentGraph:
        memory, graph = Memory(device), self.graph
        dtype = offsets_dtype(graph.m)
        indptr = memory.upload("indptr", graph.indptr.astype(dtype))
        indices = memory.allocate("indices", graph.m, np.uint32)
        size = device.traits.group_of(GROUP_SIZE)
        program = load(
            device, "bfs/copies/renumber.cl", wide_offsets=dtype.itemsize == 8, group_size=size
        )
        wait(
            program.kernel("bfs_renumber").launch(
                *(device.traits.compute_units * GROUPS_PER_UNIT * size, size),
                *(rows.indptr, rows.indices, memory.upload("order", self.order)),
                *(memory.upload("numbers", self.numbers), indptr, np.uint32(graph.n), indices),
            )
        )
        return ResidentGraph(indptr, indices)

    def number(self, vertex: int) -> int | None:
        """Give the number of a vertex, if it has one."""
        number = int(self.numbers[vertex])
        return number if number < self.order.size else None

    def named(self, found: NDArray[np.int32], nothing: int) -> NDArray[np.int32]:
        """Give what was found by number, in the order of the vertices."""
        whole = np.full(self.numbers.size, nothing, np.int32)
        whole[self.order] = found
        return whole


def numbering_of(graph: Graph, ranks: int) -> Numbering | None:
    """Give numbers for a graph, if it has edges, and each both ways."""
    return None if graph.directed or not graph.m else Numbering(graph, ranks)
