"""Device memory of a search for shortest paths: the graph, queues and piles, and results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.sssp.buckets import Rings
from clgraph.algorithms.sssp.classes import (
    classed_heads,
    cut_weights,
    leaves_of,
    light_first,
    rows_in_order,
)
from clgraph.algorithms.sssp.stages import BOARD_COUNT
from clgraph.algorithms.sssp.trace import ROW_QUADS
from clgraph.algorithms.sssp.tuning import Tuning
from clgraph.device import Memory
from clgraph.engine.choose import QUEUE_SLACK
from clgraph.engine.findings import BufferPool
from clgraph.engine.resident import resident

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.algorithms.sssp.choose import ResolvedPaths
    from clgraph.algorithms.sssp.weights import Weights
    from clgraph.device import Allocation, Device
    from clgraph.device.kernel import Argument
    from clgraph.device.memory import Progress
    from clgraph.engine.findings import SearchBuffers
    from clgraph.graph import Graph

__all__ = ["PathBuffers"]

LEVEL_CAPACITY = 1 << 16  # stages whose size and time are kept; 16 bytes each


class PathBuffers:
    """What the searches of one plan share, and result buffers in turn.

    Parameters
    ----------
    graph : Graph
        At least one vertex.
    weights : Weights
        Of the graph.
    config : ResolvedPaths
        Which buffers the stages use.
    device : Device
        Where.
    predecessors : bool
        Whether searches label a tree.
    progress : callable or True, optional
        Called with bytes uploaded, bytes in all, and what is uploaded.

    Attributes
    ----------
    pool : BufferPool
        Where each search takes what it writes.

    Raises
    ------
    DeviceMemoryError
        If not all of it fits.
    """

    def __init__(
        self,
        graph: Graph,
        weights: Weights,
        config: ResolvedPaths,
        device: Device,
        *,
        predecessors: bool,
        progress: Progress | None = None,
    ) -> None:
        self._memory = memory = Memory(device)
        self._weights = weights
        self._graph_args = self._upload(graph, config, device, progress)
        n, keys = graph.n, weights.keys
        hubs = config.hubs_among(graph.degrees)
        # Keys that are distances as they are need no copy of their own.
        self._in_place = config.claims != "packed" and not keys.signed
        key_type = np.dtype(np.uint64 if config.claims == "packed" else f"u{keys.bits // 8}")
        self._cells = None if self._in_place else memory.allocate("cells", n, key_type)
        self._stamps = memory.allocate("stamps", n if config.claims == "stamped" else 1, np.uint32)

        def entries(name: str, count: int) -> Allocation:
            return memory.allocate(name, (count + QUEUE_SLACK) * config.entry_words, np.uint32)

        tuned = config.method.name == "self-tuning"
        pieces = graph.m // config.row_limit if config.row_limit else 0
        if config.claims == "none":
            pieces = n * (config.limits.queue_percent or 100) // 100 - n
        pile = n + QUEUE_SLACK if config.method.name not in {"bellman-ford", "asynchronous"} else 1
        self.board = memory.upload("board", np.zeros(BOARD_COUNT, np.uint32))
        self._scratch: tuple[Argument, ...] = (
            entries("queue_even", n + pieces),
            entries("queue_odd", n + pieces),
            entries("hubs_even", hubs),
            entries("hubs_odd", hubs),
            memory.allocate("pile_even", pile, np.uint32),
            memory.allocate("pile_odd", pile, np.uint32),
            *self._parts_of_rows,
            entries("settled", n + pieces if config.method.name == "delta-stepping" else 0),
            *(
                self._looked_along(graph, config, progress)
                if config.method.heavy == "switching"
                else ()
            ),
            self.board,
        )
        self._rings = Rings(memory, n, config) if config.method.name == "asynchronous" else None
        self.tuning = Tuning(memory, graph, weights, config, device) if tuned else None
        self._no_tree = memory.allocate("predecessors", 1, np.int32)
        self._sources = memory.allocate("sources", 1, np.uint32)
        self._level_capacity = np.uint32(
            min(64 * graph.n + 64, LEVEL_CAPACITY) * (ROW_QUADS if tuned else 1)
        )
        self.pool = BufferPool(
            memory, n, int(self._level_capacity), predecessors=predecessors, dtype=weights.dtype
        )

    def _upload(
        self, graph: Graph, config: ResolvedPaths, device: Device, progress: Progress | None
    ) -> tuple[Argument, ...]:
        memory, weights = self._memory, self._weights
        out = resident(graph, device, progress)
        indices, heads = out.indices, np.asarray(graph.indices)
        if config.method.edge_classes:
            heads = classed_heads(graph, weights, config.method.edge_classes)
            indices = memory.upload("indices", heads, progress=progress)
        values = weights.values
        self._parts_of_rows: tuple[Argument, ...] = (
            memory.allocate("middles", 1, out.indptr.dtype),
        )
        if config.method.name == "delta-stepping":
            delta = weights.dtype.type(config.delta)
            if config.row_limit:
                cuts = cut_weights(delta)
                order, ends = rows_in_order(graph, values, cuts)
                self._parts_of_rows = (
                    memory.upload("row_ends", ends.view(np.uint32)),
                    memory.upload("cut_weights", cuts),
                )
            else:
                order, middles = light_first(graph, values, delta)
                self._parts_of_rows = (memory.upload("middles", middles.astype(out.indptr.dtype)),)
            heads, values = heads[order], values[order]
            indices = memory.upload("indices", heads.astype(np.uint32), progress=progress)
        edges = _beside_heads(heads, values) if config.group_size == 1 else values
        leaf_args, leaf_count = self._no_leaves(), 0
        if "leaf" in config.method.edge_classes:
            leaves = leaves_of(graph, weights)
            leaf_count = leaves.vertices.size
            leaf_args = (
                memory.upload("leaves", leaves.vertices),
                memory.upload("leaf_indptr", leaves.indptr),
                memory.upload("leaf_tails", leaves.tails),
                memory.upload("leaf_weights", leaves.weights),
            )
        return (
            out.indptr,
            indices,
            memory.upload("weights", _as_words(edges), progress=progress),
            *leaf_args,
            np.uint32(leaf_count),
            np.uint32(graph.n),
            np.uint64(graph.m),
            np.uint32(graph.max_degree),
            np.uint32(max(round(graph.mean_degree), 1)),
        )

    def _looked_along(
        self, graph: Graph, config: ResolvedPaths, progress: Progress | None
    ) -> tuple[Argument, ...]:
        """Give the transpose; an undirected graph is its own."""
        if not graph.directed:
            return self._graph_args[:3]
        back = graph.transpose()
        kind = np.uint64 if config.wide_offsets else np.uint32
        return (
            self._memory.upload("in_indptr", np.asarray(back.indptr).astype(kind)),
            self._memory.upload(
                "in_indices", np.asarray(back.indices).astype(np.uint32), progress=progress
            ),
            self._memory.upload("in_weights", np.asarray(back.weights), progress=progress),
        )

    def _no_leaves(self) -> tuple[Allocation, ...]:
        names = ("leaves", "leaf_indptr", "leaf_tails", "leaf_weights")
        return tuple(self._memory.allocate(name, 2, np.uint32) for name in names)

    @property
    def in_place(self) -> bool:
        """Whether distances are right where they are searched, so that nothing has to finish."""
        return self._in_place

    def arguments(
        self,
        sources: NDArray[np.uint32],
        bounds: tuple[Argument, ...],
        results: SearchBuffers,
    ) -> tuple[Argument, ...]:
        """Give the kernel's arguments up to the state, for a search into `results`."""
        if sources.size > 1:
            if self._sources.count < sources.size:
                self._sources = self._memory.allocate("sources", sources.size, np.uint32)
            self._sources.write(sources)
        return (
            *self._graph_args,
            np.uint32(sources[0]),
            self._sources,
            np.uint32(sources.size),
            *bounds,
            self._cells or results.distances,
            self._stamps,
            results.distances,
            results.predecessors or self._no_tree,
            *self._scratch,
            results.levels,
            self._level_capacity,
            *(self.tuning.arguments() if self.tuning else ()),
            *(self._rings.arguments() if self._rings else ()),
        )

    def lengths_so_far(self, results: SearchBuffers) -> NDArray[Any]:
        """Give distances in the middle of a search that did not end, in the weights' type [n]."""
        cells = (self._cells or results.distances).read()
        keys = self._weights.keys
        words = cells.view(np.uint64 if keys.bits == 64 else np.uint32)
        if cells.dtype.itemsize * 8 > keys.bits:
            words = words[1::2]
        return self._weights.lengths(words)


def _beside_heads(heads: NDArray[Any], values: NDArray[Any]) -> NDArray[Any]:
    """Head and weight of each edge side by side, as lone work-items read them."""
    edges = np.zeros(
        heads.size, np.dtype([("head", np.uint32), ("weight", values.dtype)], align=True)
    )
    edges["head"], edges["weight"] = heads, values
    return edges


def _as_words(values: NDArray[Any]) -> NDArray[Any]:
    """Structured arrays as plain words, which is what device arrays are made of."""
    return values.view(np.uint32) if values.dtype.names else values
