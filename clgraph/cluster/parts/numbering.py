"""Other numbers for the vertices of a graph that devices hold: hubs first, none without edges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.cluster.parts.partition import RANGE_GRAIN
from clgraph.device import Memory, load
from clgraph.device.waiting import wait
from clgraph.engine.resident import ResidentGraph, offsets_dtype, resident
from clgraph.graph.graph import Graph

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.device import Device

__all__ = ["Numbering", "numbering_of"]

GROUP_SIZE, GROUPS_PER_UNIT = 64, 32
# Degrees beyond this are not told apart, so that they can be sorted by their digits.
MOST_DEGREE = 2**16 - 1


class Numbering:
    """By degree, in grains of a bitmap that are dealt to the ranks in turn.

    Bits of vertices that are looked up often lie side by side, no rank has all hubs, and neither a
    bitmap nor a sweep over vertices has room for those that no edge leads to.

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
        degrees = np.minimum(graph.degrees, MOST_DEGREE).astype(np.uint16)
        count = int(np.count_nonzero(degrees))
        order = np.argsort(MOST_DEGREE - degrees, kind="stable")[:count].astype(np.uint32)
        # The last grain, which may not be full, is dealt to the last rank.
        grains = -(-count // RANGE_GRAIN)
        rank_of = (ranks - 1 - (grains - 1 - np.arange(grains)) % ranks).astype(np.uint16)
        dealt = np.argsort(rank_of, kind="stable")
        places = (dealt[:, None] * RANGE_GRAIN + np.arange(RANGE_GRAIN)).ravel()
        self.order = order[places[places < count]]
        self.numbers = np.full(graph.n, count, np.uint32)
        self.numbers[self.order] = np.arange(count, dtype=np.uint32)
        held = np.bincount(rank_of, minlength=ranks) * RANGE_GRAIN
        self.begins = [0, *np.minimum(np.cumsum(held), count).tolist()]
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
            program.kernel("bfs_renumber", device).launch(
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
