"""What a search for shortest paths takes: its kernel's arguments, with their memory."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clgraph.algorithms.sssp.buckets import declare_bucket_queues
from clgraph.algorithms.sssp.classes import (
    classed_targets,
    cut_weights,
    leaves_of,
    light_first,
    rows_in_order,
)
from clgraph.algorithms.sssp.stages import CONTROL_BLOCK_COUNT, stage_payload
from clgraph.algorithms.sssp.trace import ROW_QUADS
from clgraph.algorithms.sssp.tuning import declare_tuning
from clgraph.algorithms.sssp.wishes import declare_wishes
from clgraph.engine.blocks import rows_of
from clgraph.engine.plan import LEVEL_CAPACITY, SearchPlan
from clgraph.engine.resolved import QUEUE_SLACK
from clgraph.engine.state import check_hubs
from clgraph.engine.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from clgraph.algorithms.sssp.classes import Leaves
    from clgraph.algorithms.sssp.resolved import ResolvedPaths
    from clgraph.algorithms.sssp.weights import Weights
    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = ["in_place", "level_capacity", "table_of"]


def in_place(config: ResolvedPaths, weights: Weights) -> bool:
    """Whether distances are right where they are searched, so that nothing has to finish."""
    return config.claims != "packed" and not weights.keys.signed


def level_capacity(graph: Graph, config: ResolvedPaths) -> int:
    """Give how many records of stages are kept."""
    quads = ROW_QUADS if config.method.name == "self-tuning" else 1
    return min(64 * graph.n + 64, LEVEL_CAPACITY) * quads


def table_of(
    graph: Graph,
    weights: Weights,
    config: ResolvedPaths,
    device: Device,
    *,
    predecessors: bool,
    progress: Progress | None = None,
) -> Table:
    """Declare the arguments of ``sssp/sssp.cl``.

    Parameters
    ----------
    graph : Graph
        What is searched.
    weights : Weights
        Of the graph.
    config : ResolvedPaths
        Which arguments the stages use.
    device : Device
        Where the graph is uploaded.
    predecessors : bool
        Whether searches label a tree.
    progress : callable or True, optional
        Called with bytes uploaded, bytes in all, and what is uploaded.
    """
    keys = weights.keys
    key = np.dtype(f"u{keys.bits // 8}")
    table = Table(
        {
            "offset_t": (config.offset_dtype, 1),
            "weight_t": (weights.dtype.type, 1),
            "key_t": (key, 1),
            "cell_t": (np.uint64 if config.claims == "packed" else key, 1),
            "entry_t": (np.uint32, config.entry_words),
        }
    )
    edges = cache(lambda: _Edges.of(graph, weights, config))
    _declare_graph(table, graph, weights, config, device, progress, edges)
    finish = predecessors or not in_place(config, weights)
    declare_wishes(table, graph.n, weights, config, finish=finish)
    # Keys that are distances as they are need no copy of their own.
    if in_place(config, weights):
        table.given("cell_t", "cells", "[n] keys, which are distances", "write")
    else:
        table.array("cell_t", "cells", graph.n, "[n] keys, or keys and stages")
    if config.claims == "stamped":
        table.array("uint", "stamps", graph.n, "[n] stages", "shared")
    table.given("weight_t", "distances", "[n] out", "write")
    if predecessors:
        table.given("int", "predecessors", "[n] out", "shared")
    _declare_queues(table, graph, config, stage_payload(config, predecessors=predecessors))
    _declare_parts(table, graph, weights, config, edges)
    if config.method.heavy == "switching" and graph.directed:
        _declare_transpose(table, graph, config, progress)
    table.upload(
        "uint",
        "control_block",
        lambda: np.zeros(CONTROL_BLOCK_COUNT, np.uint32),
        "bounds and counters of the search",
        "shared",
    )
    SearchPlan.declare_levels(table, level_capacity(graph, config))
    if config.method.name == "self-tuning":
        declare_tuning(table, graph, config)
    if config.method.name == "asynchronous":
        declare_bucket_queues(table, graph.n, config)
    return table


class _Edges(NamedTuple):
    """The edges in the order and form in which a search reads them.

    Attributes
    ----------
    edge_targets : uint32 array [m]
        In that order, with the classes that are left out.
    values : array
        Weights [m], or target and weight of each edge side by side, as words.
    middles : array
        First heavy edge of each row, or where each row's edges up to each cut weight end; empty
        where no edges are heavy.
    """

    edge_targets: NDArray[Any]
    values: NDArray[Any]
    middles: NDArray[Any]

    @classmethod
    def of(cls, graph: Graph, weights: Weights, config: ResolvedPaths) -> _Edges:
        """Put the edges in order."""
        edge_targets, values = np.asarray(graph.indices), weights.values
        middles: NDArray[Any] = np.empty(0, np.uint32)
        if config.method.edge_classes:
            edge_targets = classed_targets(graph, weights, config.method.edge_classes)
        if config.method.name == "delta-stepping":
            delta = weights.dtype.type(config.delta)
            if config.row_limit:
                order, middles = rows_in_order(graph, values, cut_weights(delta))
            else:
                order, middles = light_first(graph, values, delta)
            edge_targets, values = edge_targets[order], values[order]
        if config.group_size == 1:
            values = _beside_targets(edge_targets, values)
        return cls(edge_targets.astype(np.uint32, copy=False), values, middles)


def _declare_graph(
    table: Table,
    graph: Graph,
    weights: Weights,
    config: ResolvedPaths,
    device: Device,
    progress: Progress | None,
    edges: Callable[[], _Edges],
) -> None:
    table.held("offset_t", "indptr", lambda: rows_of(graph, device, progress).indptr, "[n + 1]")
    rows: Any = graph
    if config.in_blocks:
        lengths = rows.store.used
        table.held("uint", "row_lengths", lambda: lengths, "[n]; indptr has [n] then")
    if config.method.edge_classes or config.method.name == "delta-stepping":
        table.upload(
            "uint",
            "indices",
            lambda: edges().edge_targets,
            "[m], with the class of an edge in the two highest bits",
            progress=progress,
        )
    else:
        table.held("uint", "indices", lambda: rows_of(graph, device, progress).indices, "[m]")
    if config.in_blocks:
        weights_there = rows.weights
        table.held("edge_t", "edges", lambda: weights_there, "[entries] weights")
    else:
        table.upload(
            "edge_t",
            "edges",
            lambda: edges().values,
            "[m] weights, beside their targets",
            progress=progress,
        )
    if "leaf" in config.method.edge_classes:
        _declare_leaves(table, cache(lambda: leaves_of(graph, weights)))
    table.number("uint", "n", graph.n)
    table.number("ulong", "m", graph.m)
    table.number("uint", "max_degree", graph.max_degree)
    table.number("uint", "mean_degree", max(round(graph.mean_degree), 1))


def _declare_leaves(table: Table, leaves: Callable[[], Leaves]) -> None:
    """Declare vertices that are left to the end."""

    def part(name: str) -> Callable[[], NDArray[Any]]:
        return lambda: getattr(leaves(), name)

    table.upload("uint", "leaves", part("vertices"), "[leaf_count]")
    note = "[leaf_count + 1] their edges in leaf_sources"
    table.upload("offset_t", "leaf_indptr", part("indptr"), note)
    table.upload("uint", "leaf_sources", part("sources"))
    table.upload("weight_t", "leaf_weights", part("weights"))
    table.number("uint", "leaf_count", lambda: leaves().vertices.size)


def _pieces(graph: Graph, config: ResolvedPaths) -> int:
    """Entries of a queue beside one for each vertex."""
    if config.claims == "none":
        return graph.n * (config.limits.queue_percent or 100) // 100 - graph.n
    return graph.m // config.row_limit if config.row_limit else 0


def _declare_queues(
    table: Table, graph: Graph, config: ResolvedPaths, payload: dict[str, int]
) -> None:
    room = graph.n + _pieces(graph, config) + QUEUE_SLACK
    hubs = config.hubs_among(graph.degrees) + QUEUE_SLACK
    check_hubs(payload, hubs)
    has_pile = config.method.name not in {"bellman-ford", "asynchronous"}
    pile = graph.n + QUEUE_SLACK if has_pile else 1
    table.array("entry_t", "queue_even", room, "[n + slack]")
    table.array("entry_t", "queue_odd", room, "[n + slack]")
    if config.has_hubs:
        table.array("entry_t", "hubs_even", hubs, "[number of hubs + slack]")
        table.array("entry_t", "hubs_odd", hubs)
    table.array("uint", "pile_even", pile, "[n + slack]")
    table.array("uint", "pile_odd", pile, "[n + slack]")


def _declare_parts(
    table: Table,
    graph: Graph,
    weights: Weights,
    config: ResolvedPaths,
    edges: Callable[[], _Edges],
) -> None:
    """Declare what delta-stepping knows of rows, and the list of what a band has settled."""
    if config.method.name != "delta-stepping":
        return
    if config.row_limit:
        cuts = cut_weights(weights.dtype.type(config.delta))
        table.upload(
            "ushort8",
            "row_ends",
            lambda: edges().middles.view(np.uint32),
            "[n] edges of each row up to each cut weight, 65535 for more",
        )
        table.upload("weight_t", "cut_weights", lambda: cuts, "[8] ascending")
    else:
        kind = config.offset_dtype
        table.upload(
            "offset_t", "middles", lambda: edges().middles.astype(kind), "[n] first heavy edges"
        )
    room = graph.n + _pieces(graph, config)
    table.array("entry_t", "settled", room + QUEUE_SLACK, "[as a queue] of this band")


def _declare_transpose(
    table: Table, graph: Graph, config: ResolvedPaths, progress: Progress | None
) -> None:
    """Declare the transpose of a directed graph; another is its own."""
    kind = config.offset_dtype
    back = cache(graph.transpose)
    table.upload(
        "offset_t",
        "in_indptr",
        lambda: np.asarray(back().indptr).astype(kind),
        "[n + 1] of the transpose",
    )
    table.upload(
        "uint",
        "in_indices",
        lambda: np.asarray(back().indices).astype(np.uint32),
        "[m]",
        progress=progress,
    )
    table.upload(
        "weight_t", "in_edges", lambda: np.asarray(back().weights), "[m]", progress=progress
    )


def _beside_targets(edge_targets: NDArray[Any], values: NDArray[Any]) -> NDArray[Any]:
    """Target and weight of each edge side by side, as one work-item reads them, in words."""
    edges = np.zeros(
        edge_targets.size, np.dtype([("vertex", np.uint32), ("weight", values.dtype)], align=True)
    )
    edges["vertex"], edges["weight"] = edge_targets, values
    return edges.view(np.uint32)
