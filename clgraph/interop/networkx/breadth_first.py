"""Breadth-first searches: distances from the device, ties broken as networkx breaks them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from clgraph.interop.networkx.searching import HopRows, Searches, hops_by_name, tree_paths
from clgraph.interop.networkx.serving import as_networkx_has_it, serves

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from clgraph.interop.networkx.graph import NetworkxGraph

__all__ = ["BreadthFirst", "Discovery", "discovery", "known_node"]

GROUP = "breadth-first search"
ONE = "one search"
SORTS = {"sort_neighbors": "networkx sorts neighbours itself"}
TREE, LEVEL, FORWARD, REVERSE = "tree", "level", "forward", "reverse"


@dataclass(frozen=True)
class Discovery:
    """In which order networkx finds vertices.

    Attributes
    ----------
    order : int64 [reached]
        Vertices as they are found.
    parents : int64 [n]
        From which one each is found first; a source and what is not found is its own.
    arcs : int64 [t]
        Places of all arcs on shortest paths, in the order in which they are looked at.
    """

    order: NDArray[np.int64]
    parents: NDArray[np.int64]
    arcs: NDArray[np.int64]


def discovery(
    graph: NetworkxGraph, distances: NDArray[np.int32], sources: NDArray[np.int64]
) -> Discovery:
    """Order vertices by level, and within a level by who finds them first. O(m log m)."""
    edge_sources, edge_targets = graph.edge_sources, graph.edge_targets
    from_level = distances[edge_sources]
    tight = np.flatnonzero((from_level >= 0) & (distances[edge_targets] == from_level + 1))
    tight = tight[np.argsort(from_level[tight], kind="stable")]
    ends = np.cumsum(np.bincount(from_level[tight])) if tight.size else np.zeros(0, np.int64)
    parents = np.arange(graph.n)
    rank = np.zeros(graph.n, np.int64)
    rank[sources] = np.arange(sources.size)
    levels, looked_at = [sources], []
    begin = 0
    for end in ends.tolist():
        arcs = tight[begin:end]
        begin = end
        arcs = arcs[np.argsort(rank[edge_sources[arcs]], kind="stable")]
        looked_at.append(arcs)
        found, first = np.unique(edge_targets[arcs], return_index=True)
        by_time = np.argsort(first)
        level = found[by_time].astype(np.int64)
        parents[level] = edge_sources[arcs[first[by_time]]]
        rank[level] = np.arange(level.size)
        levels.append(level)
    nothing = [np.zeros(0, np.int64)]
    return Discovery(np.concatenate(levels), parents, np.concatenate(looked_at or nothing))


def known_node(graph: NetworkxGraph, node: Any, message: str) -> int:
    """Give the number of a node, or raise networkx's error."""
    vertex = graph.vertex(node)
    if vertex is None:
        raise nx.NodeNotFound(message)
    return vertex


def _edges(
    graph: NetworkxGraph, source: Any, *, reverse: bool = False, depth_limit: Any = None
) -> list[tuple[Any, Any]]:
    """Edges of the breadth-first tree, in networkx's order."""
    graph = graph.reverse() if reverse else graph
    vertex = graph.vertex(source)
    if vertex is None:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    distances = Searches.of(graph).hops(vertex)
    if depth_limit is not None:
        distances = np.where(distances <= depth_limit, distances, -1)
    found = discovery(graph, distances, np.array([vertex]))
    names, children = graph.names, found.order[1:]
    parents = found.parents[children].tolist()
    return [(names[u], names[v]) for u, v in zip(parents, children.tolist(), strict=True)]


class BreadthFirst:
    """Functions of networkx's modules on unweighted paths and breadth-first traversal."""

    @serves(GROUP, ONE)
    def single_source_shortest_path_length(
        self,
        G: Any,
        source: Any,
        cutoff: Any = None,
    ) -> dict[Any, int]:
        """Hop distance from a node to each that it reaches."""
        vertex = known_node(G, source, f"Source {source} is not in G")
        return hops_by_name(G, Searches.of(G).hops(vertex), cutoff)

    @serves(GROUP, ONE)
    def single_target_shortest_path_length(
        self,
        G: Any,
        target: Any,
        cutoff: Any = None,
    ) -> dict[Any, int]:
        """Hop distance to a node from each that reaches it."""
        vertex = known_node(G, target, f"Target {target} is not in G")
        return hops_by_name(G, Searches.of(G).hops(vertex, back=True), cutoff)

    @serves(GROUP, "all pairs", note="nodes of a row in the order of the graph")
    def all_pairs_shortest_path_length(
        self,
        G: Any,
        cutoff: Any = None,
    ) -> Iterator[tuple[Any, dict[Any, int]]]:
        """Hop distances from each node, node by node."""
        by_name = HopRows(G, cutoff)
        for block, rows in Searches.of(G).hop_blocks(np.arange(G.n)):
            for vertex, row in zip(block.tolist(), rows, strict=True):
                yield G.names[vertex], by_name.row(row)

    @serves(GROUP, ONE)
    def single_source_shortest_path(
        self,
        G: Any,
        source: Any,
        cutoff: Any = None,
    ) -> dict[Any, list[Any]]:
        """Shortest path from a node to each that it reaches."""
        vertex = known_node(G, source, f"Source {source} not in G")
        return _paths(G, vertex, Searches.of(G).hops(vertex), cutoff)

    @serves(GROUP, ONE)
    def single_target_shortest_path(
        self,
        G: Any,
        target: Any,
        cutoff: Any = None,
    ) -> dict[Any, list[Any]]:
        """Shortest path to a node from each that reaches it."""
        vertex = known_node(G, target, f"Target {target} not in G")
        back = G.reverse()
        found = _paths(back, vertex, Searches.of(back).hops(vertex), cutoff)
        return {node: path[::-1] for node, path in found.items()}

    @serves(GROUP, "all pairs")
    def all_pairs_shortest_path(
        self,
        G: Any,
        cutoff: Any = None,
    ) -> Iterator[tuple[Any, dict[Any, list[Any]]]]:
        """Shortest paths from each node, node by node."""
        for block, rows in Searches.of(G).hop_blocks(np.arange(G.n)):
            for vertex, row in zip(block.tolist(), rows, strict=True):
                yield G.names[vertex], _paths(G, vertex, row, cutoff)

    @serves(GROUP, ONE)
    def bidirectional_shortest_path(self, G: Any, source: Any, target: Any) -> list[Any]:
        """Shortest path from one node to another."""
        vertex = known_node(G, source, f"Source {source} is not in G")
        end = known_node(G, target, f"Target {target} is not in G")
        distances = Searches.of(G).hops(vertex)
        if distances[end] < 0:
            raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
        parents = discovery(G, distances, np.array([vertex])).parents
        path = [end]
        while path[-1] != vertex:
            path.append(int(parents[path[-1]]))
        return [G.names[v] for v in reversed(path)]

    @serves(GROUP, ONE)
    def predecessor(
        self,
        G: Any,
        source: Any,
        target: Any = None,
        cutoff: Any = None,
        return_seen: Any = None,
    ) -> Any:
        """Nodes before each on all shortest paths from a node."""
        vertex = known_node(G, source, f"Source {source} not in G")
        distances = Searches.of(G).hops(vertex)
        if cutoff:
            distances = np.where(distances <= cutoff, distances, -1)
        found = discovery(G, distances, np.array([vertex]))
        names = G.names
        before: dict[Any, list[Any]] = {names[v]: [] for v in found.order.tolist()}
        edge_sources, edge_targets = (
            G.edge_sources[found.arcs].tolist(),
            G.edge_targets[found.arcs].tolist(),
        )
        for u, v in zip(edge_sources, edge_targets, strict=True):
            before[names[v]].append(names[u])
        if target is not None:
            if not return_seen:
                return before.get(target, [])
            end = G.vertex(target)
            return (before[target], int(distances[end])) if target in before else ([], -1)
        if not return_seen:
            return before
        return before, dict(zip(before, distances[found.order].tolist(), strict=True))

    @serves(GROUP, ONE, refuses=SORTS)
    def bfs_edges(
        self,
        G: Any,
        source: Any,
        reverse: bool = False,
        depth_limit: Any = None,
        sort_neighbors: Any = None,
    ) -> Iterator[tuple[Any, Any]]:
        """Edges of a breadth-first tree in the order in which they are found."""
        yield from _edges(G, source, reverse=reverse, depth_limit=depth_limit)

    @serves(GROUP, ONE, refuses={"neighbors": "networkx calls a function for neighbours"})
    def generic_bfs_edges(
        self,
        G: Any,
        source: Any,
        neighbors: Any = None,
        depth_limit: Any = None,
    ) -> Iterator[tuple[Any, Any]]:
        """Edges of a breadth-first tree in the order in which they are found."""
        yield from _edges(G, source, depth_limit=depth_limit)

    bfs_tree = as_networkx_has_it("bfs_tree", GROUP, ONE, refuses=SORTS)
    bfs_predecessors = as_networkx_has_it("bfs_predecessors", GROUP, ONE, refuses=SORTS)
    bfs_successors = as_networkx_has_it("bfs_successors", GROUP, ONE, refuses=SORTS)
    descendants_at_distance = as_networkx_has_it("descendants_at_distance", GROUP, ONE)

    @serves(GROUP, ONE)
    def bfs_layers(self, G: Any, sources: Any) -> Iterator[list[Any]]:
        """Nodes at distance 0, 1, 2, ... from one node or several."""
        starts = _starts(G, sources)
        distances = Searches.of(G).nearest_hops(starts)
        order = discovery(G, distances, starts).order
        sizes = np.bincount(distances[order]).tolist()
        begin = 0
        for size in sizes:
            yield [G.names[v] for v in order[begin : begin + size].tolist()]
            begin += size

    @serves(GROUP, ONE)
    def bfs_labeled_edges(self, G: Any, sources: Any) -> Iterator[tuple[Any, Any, str]]:
        """Edges out of the nodes found, and whether they lead on, across or back."""
        starts = _starts(G, sources, unique=False)
        distances = Searches.of(G).nearest_hops(starts)
        found = discovery(G, distances, starts)
        rank = np.full(G.n, -1, np.int64)
        rank[found.order] = np.arange(found.order.size)
        arcs = np.flatnonzero(rank[G.edge_sources] >= 0)
        arcs = arcs[np.argsort(rank[G.edge_sources[arcs]], kind="stable")]
        edge_sources, edge_targets = G.edge_sources[arcs], G.edge_targets[arcs]
        step = distances[edge_targets] - distances[edge_sources]
        is_tree = (step == 1) & (found.parents[edge_targets] == edge_sources)
        rows = (edge_sources.tolist(), edge_targets.tolist(), step.tolist(), is_tree.tolist())
        names, directed = G.names, G.directed
        for u, v, ahead, first in zip(*rows, strict=True):
            if first:
                yield names[u], names[v], TREE
            elif ahead > 0:
                yield names[u], names[v], FORWARD
            elif ahead == 0:
                if directed or rank[v] >= rank[u]:
                    yield names[u], names[v], LEVEL
            elif directed:
                yield names[u], names[v], REVERSE


def _starts(graph: NetworkxGraph, sources: Any, *, unique: bool = True) -> NDArray[np.int64]:
    if sources in graph:
        return graph.vertices([sources])
    chosen = list(set(sources)) if unique else list(dict.fromkeys(sources))
    for node in chosen:
        if node not in graph:
            raise nx.NetworkXError(f"The node {node} is not in the graph.")
    return graph.vertices(chosen)


def _paths(
    graph: NetworkxGraph, vertex: int, distances: NDArray[np.int32], cutoff: Any
) -> dict[Any, list[Any]]:
    if cutoff is not None:
        distances = np.where(distances <= cutoff, distances, -1)
    found = discovery(graph, distances, np.array([vertex]))
    return tree_paths(graph.names, found.parents.tolist(), found.order.tolist())
