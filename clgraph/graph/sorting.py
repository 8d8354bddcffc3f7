"""Compressed sparse rows of an edge list in any order, made on a device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device import Memory
from clgraph.engine.resident import ResidentGraph, resident
from clgraph.engine.sweeps import LazyKernels, SweepLog
from clgraph.errors import InvalidArgumentError
from clgraph.graph.csr import index_dtype
from clgraph.graph.graph import Graph
from clgraph.primitives.launches import TYPES
from clgraph.primitives.radix import RadixSort
from clgraph.primitives.scanning import Compaction

if TYPE_CHECKING:
    from clgraph.device import Allocation, Device
    from clgraph.graph.csr import Array

__all__ = ["EdgeSorter", "Wishes", "graph_of_edges"]

MOST_KEYS = 2**31 - 1
MOST_VERTICES = 2**32 - 64
NO_LOOPS, ALL_LOOPS, HALF_THE_LOOPS = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Wishes:
    """What `clgraph.from_edges` is to make of a list."""

    directed: bool
    symmetrize: bool
    dedup: bool
    self_loops: bool


class EdgeSorter:
    """The launches that make rows of edges.

    Parameters
    ----------
    device : Device
        Where.
    n, count : int
        Vertices, and edges given.
    weight : data type or None
        Of the weights.
    """

    def __init__(
        self, device: Device, n: int, count: int, weight: np.dtype[Any] | None = None
    ) -> None:
        self.device = device
        self.memory = Memory(device)
        self.n, self.count = n, count
        self.bits = max((n - 1).bit_length(), 1)
        self.weight = weight
        self.log = SweepLog()
        self.compaction = Compaction(device)
        about = {
            "carried": weight is not None,
            "weight": "uint" if weight is None else TYPES[weight],
        }
        self._kernels = LazyKernels(device, {"edges": ("edges/edges.cl", about)})

    def _launch(self, name: str, items: int, *args: Any) -> None:
        self._kernels.launch(self.log, name, items, *args)

    def sorted_keys(
        self, src: Allocation, dst: Allocation, *, straight: bool, reverse: bool
    ) -> tuple[Allocation, Allocation | None, Allocation, int]:
        """Sort the keys of the edges, of their reverses, or of both.

        Returns
        -------
        keys, order : Allocation
            Sorted; the order only where edges have weights.
        spare : Allocation
            As large as the keys, and nobody's.
        count : int
            Keys.
        """
        keys = self.count * (straight + reverse)
        if keys > MOST_KEYS:
            raise InvalidArgumentError(
                f"{keys} edges are too many to sort on a device; leave out device."
            )
        given = self.memory.allocate("edge_keys", keys, np.uint64)
        carried = self.weight is not None
        order = self.memory.allocate("edge_order", keys, np.uint32) if carried else None
        sort = RadixSort(self.device, np.uint64, np.uint32 if carried else None)
        sort.prepare(keys, keys)
        ways = (np.uint32(self.bits), np.uint32(straight), np.uint32(reverse))
        out = (given,) if order is None else (order, given)
        self._launch("edges_keys", self.count, src, dst, np.uint32(self.count), *ways, *out)
        held, order = sort.enqueue(self.log, given, keys, order, bits=2 * self.bits)
        spare = sort.array("sorted_keys", keys, np.uint64) if held is given else given
        return held, order, spare, keys

    def symmetric(self, src: Allocation, dst: Allocation) -> bool:
        """Whether every edge is there in both directions, as often in one as in the other."""
        forward, _, _, count = self.sorted_keys(src, dst, straight=True, reverse=False)
        backward, _, _, _ = self.sorted_keys(src, dst, straight=False, reverse=True)
        differ = self.memory.upload("differ", np.zeros(1, np.uint32))
        self._launch("edges_differ", count, forward, backward, np.uint32(count), differ)
        return not differ.read()[0]

    def rows(
        self,
        src: Allocation,
        dst: Allocation,
        weights: Allocation | None,
        *,
        symmetrize: bool,
        wishes: Wishes,
    ) -> tuple[Allocation, Allocation, Allocation | None, int]:
        """Give indptr, indices and weights, and the number of edges."""
        count = self.count * (1 + symmetrize)
        carried = self.weight is not None
        mask = self.memory.allocate("edge_mask", count, np.uint8)
        places, kept_places = (
            self.memory.allocate(name, count if carried else 1, np.uint32)
            for name in ("edge_places", "kept_places")
        )
        indptr = self.memory.allocate("indptr", self.n + 1, np.uint32)
        # What is kept goes to where the sort no longer needs its memory.
        keys, order, kept, count = self.sorted_keys(src, dst, straight=True, reverse=symmetrize)
        loops = ALL_LOOPS if not symmetrize else HALF_THE_LOOPS
        how = (np.uint32(wishes.dedup), np.uint32(loops if wishes.self_loops else NO_LOOPS))
        given = (keys,) if order is None else (keys, order)
        marks = (mask,) if order is None else (places, mask)
        about = (np.uint32(count), np.uint32(self.bits))
        self._launch("edges_mark", count, *given, *about, *how, *marks)
        pairs = [(keys, kept)] + ([] if order is None else [(places, kept_places)])
        m = int(self.compaction.enqueue(self.log, mask, count, *pairs).read()[0])
        indices = self.memory.allocate("indices", m, np.uint32)
        shape = (kept, np.uint32(m), np.uint32(self.bits))
        self._launch("edges_rows", self.n + 1, *shape, np.uint32(self.n), indptr)
        self._launch("edges_targets", m, *shape, indices)
        costs = None
        if weights is not None and order is not None:
            costs = self.memory.allocate("weights", m, weights.dtype)
            source = (keys, order, np.uint32(count), kept_places, np.uint32(m), how[0])
            self._launch("edges_weights", m, *source, weights, costs)
        return indptr, indices, costs, m


def graph_of_edges(
    n: int, sources: Array, targets: Array, weights: Array | None, wishes: Wishes, device: Device
) -> Graph:
    """Make a graph of checked edges on a device; equal to what NumPy makes of them.

    Parameters
    ----------
    n : int
        Vertices.
    sources, targets : integer arrays [count]
        Ends of the edges, in [0, n).
    weights : array [count] or None
        Checked too.
    wishes : Wishes
        What to make.
    device : Device
        Where. The graph's arrays stay there.

    Returns
    -------
    Graph
    """
    if n >= MOST_VERTICES:
        raise InvalidArgumentError(f"{n} vertices are too many for a device; leave out device.")
    sorter = EdgeSorter(device, n, len(sources), None if weights is None else weights.dtype)
    upload = sorter.memory.upload
    src, dst = upload("src", sources.astype(np.uint32)), upload("dst", targets.astype(np.uint32))
    costs = None if weights is None else upload("given_weights", weights)
    symmetrize = wishes.symmetrize
    if not wishes.directed and not symmetrize:
        symmetrize = not sorter.symmetric(src, dst)
    indptr, indices, costs, m = sorter.rows(src, dst, costs, symmetrize=symmetrize, wishes=wishes)
    sorter.log.wait()
    dtype = index_dtype(max(n, len(sources) * (1 + symmetrize)))
    arrays = (
        indptr.read().astype(dtype),
        indices.read(m).astype(dtype),
        None if costs is None else costs.read(m),
    )
    if symmetrize or wishes.directed:
        graph = Graph.trusted(arrays, directed=not symmetrize)
    else:
        graph = Graph(*arrays, directed=False)
    graph.kept[resident] = {device: ResidentGraph(indptr, indices)}
    return graph
