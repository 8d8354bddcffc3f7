"""Shortest paths by weight: Dijkstra's, Bellman and Ford's, and what is made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from clgraph.apart import apart
from clgraph.interop.networkx.breadth_first import known_node
from clgraph.interop.networkx.searching import Paths, Searches, Unbounded, by_distance
from clgraph.interop.networkx.serving import as_networkx_has_it, serves

if TYPE_CHECKING:
    from clgraph.interop.networkx.graph import NetworkxGraph

__all__ = ["ShortestPaths"]

FRONT = "path front ends"
GROUP = "shortest paths by weight"
ONE, ALL = "one search", "all pairs"


def search(
    graph: NetworkxGraph,
    sources: list[Any],
    weight: Any,
    *,
    tree: bool,
    negative: bool = False,
) -> Paths:
    """Search from nodes that are known, by weight or, without one, as if all weighed 1."""
    vertices = graph.vertices(sources)
    return Searches.of(graph).paths(weight, vertices, tree=tree, negative=negative)


def _unbounded_by_loops(graph: NetworkxGraph, weight: Any) -> None:
    loops = graph.edge_sources == graph.edge_targets
    if (graph.weights(weight)[loops] < 0).any():
        raise nx.NetworkXUnbounded("Negative cycle detected.")


def _check_sources(graph: NetworkxGraph, sources: Any) -> list[Any]:
    if not sources:
        raise ValueError("sources must not be empty")
    for node in sources:
        if node not in graph:
            raise nx.NodeNotFound(f"Node {node} not found in graph")
    return list(sources)


def _tight_before(graph: NetworkxGraph, found: Paths, weight: Any) -> dict[Any, list[Any]]:
    """Nodes before each on all shortest paths, the nearest first."""
    distances, names = found.distances, graph.names
    reached = found.reached()
    known = distances != found.unreached
    arcs = np.flatnonzero(known[graph.edge_sources])
    edge_sources, edge_targets = graph.edge_sources[arcs], graph.edge_targets[arcs]
    lengths = graph.weights(weight)[arcs]
    tight = apart(
        np.errstate(over="ignore")(
            lambda: distances[edge_sources] + lengths == distances[edge_targets]
        )
    )
    arcs = by_distance(distances[graph.edge_sources], arcs[tight])
    before: dict[Any, list[Any]] = {names[v]: [] for v in reached.tolist()}
    for u, v in zip(
        graph.edge_sources[arcs].tolist(), graph.edge_targets[arcs].tolist(), strict=True
    ):
        before[names[v]].append(names[u])
    return before


def _one_path(graph: NetworkxGraph, found: Paths, target: Any) -> tuple[Any, list[Any]] | None:
    """Length of the path to a node and the path itself; None if there is none."""
    end = graph.vertex(target)
    if end is None or found.distances[end] == found.unreached or found.predecessors is None:
        return None
    path = [end]
    while found.predecessors[path[-1]] != path[-1]:
        path.append(int(found.predecessors[path[-1]]))
    return found.distances[end].item(), [graph.names[v] for v in reversed(path)]


class ShortestPaths:
    """Functions of networkx's modules on weighted, dense and generic shortest paths."""

    shortest_path = as_networkx_has_it("shortest_path", FRONT, ONE)
    shortest_path_length = as_networkx_has_it("shortest_path_length", FRONT, ONE)
    has_path = as_networkx_has_it("has_path", FRONT, ONE)
    all_shortest_paths = as_networkx_has_it("all_shortest_paths", FRONT, ONE)
    single_source_all_shortest_paths = as_networkx_has_it(
        "single_source_all_shortest_paths", FRONT, ONE
    )
    all_pairs_all_shortest_paths = as_networkx_has_it("all_pairs_all_shortest_paths", FRONT, ALL)
    dijkstra_path = as_networkx_has_it("dijkstra_path", GROUP, ONE)
    single_source_dijkstra = as_networkx_has_it("single_source_dijkstra", GROUP, ONE)
    single_source_dijkstra_path = as_networkx_has_it("single_source_dijkstra_path", GROUP, ONE)
    single_source_dijkstra_path_length = as_networkx_has_it(
        "single_source_dijkstra_path_length", GROUP, ONE
    )
    multi_source_dijkstra_path = as_networkx_has_it("multi_source_dijkstra_path", GROUP, ONE)
    bellman_ford_path = as_networkx_has_it("bellman_ford_path", GROUP, ONE)
    single_source_bellman_ford_path = as_networkx_has_it(
        "single_source_bellman_ford_path", GROUP, ONE
    )
    reconstruct_path = as_networkx_has_it(
        "reconstruct_path", GROUP, ONE, note="follows predecessors; there is no graph"
    )

    @serves(GROUP, ONE)
    def multi_source_dijkstra(
        self,
        G: Any,
        sources: Any,
        target: Any = None,
        cutoff: Any = None,
        weight: Any = "weight",
    ) -> Any:
        """Lengths of shortest paths from the nearest of several nodes, and the paths."""
        chosen = _check_sources(G, sources)
        if target in sources:
            return 0, [target]
        found = search(G, chosen, weight, tree=True)
        if target is None:
            return found.lengths(G.names, cutoff), found.tree(G.names, cutoff)
        to_target = _one_path(G, found, target)
        if to_target is None or (cutoff is not None and to_target[0] > cutoff):
            raise nx.NetworkXNoPath(f"No path to {target}.")
        return to_target

    @serves(GROUP, ONE)
    def multi_source_dijkstra_path_length(
        self,
        G: Any,
        sources: Any,
        cutoff: Any = None,
        weight: Any = "weight",
    ) -> dict[Any, Any]:
        """Lengths of shortest paths from the nearest of several nodes."""
        found = search(G, _check_sources(G, sources), weight, tree=False)
        return found.lengths(G.names, cutoff)

    @serves(GROUP, ONE)
    def dijkstra_path_length(
        self,
        G: Any,
        source: Any,
        target: Any,
        weight: Any = "weight",
    ) -> Any:
        """Length of a shortest path between two nodes."""
        known_node(G, source, f"Node {source} not found in graph")
        if source == target:
            return 0
        lengths = search(G, [source], weight, tree=False)
        end = G.vertex(target)
        if end is None or lengths.distances[end] == lengths.unreached:
            raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
        return lengths.distances[end].item()

    @serves(GROUP, ONE)
    def dijkstra_predecessor_and_distance(
        self,
        G: Any,
        source: Any,
        cutoff: Any = None,
        weight: Any = "weight",
    ) -> tuple[dict[Any, list[Any]], dict[Any, Any]]:
        """Nodes before each on all shortest paths from a node, and their lengths."""
        known_node(G, source, f"Node {source} is not found in the graph")
        found = search(G, [source], weight, tree=False)
        before = _tight_before(G, found, weight)
        lengths = found.lengths(G.names, cutoff)
        return {node: before[node] for node in lengths}, lengths

    @serves(GROUP, ONE)
    def bidirectional_dijkstra(
        self,
        G: Any,
        source: Any,
        target: Any,
        weight: Any = "weight",
    ) -> tuple[Any, list[Any]]:
        """Length of a shortest path between two nodes, and the path."""
        known_node(G, source, f"Source {source} is not in G")
        known_node(G, target, f"Target {target} is not in G")
        if source == target:
            return 0, [source]
        found = _one_path(G, search(G, [source], weight, tree=True), target)
        if found is None:
            raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
        return found

    @serves(GROUP, ONE)
    def bellman_ford_path_length(
        self,
        G: Any,
        source: Any,
        target: Any,
        weight: Any = "weight",
    ) -> Any:
        """Length of a shortest path between two nodes; weights may be negative."""
        if source == target:
            known_node(G, source, f"Node {source} not found in graph")
            return 0
        known_node(G, source, f"Source {source} not in G")
        found = search(G, [source], weight, tree=False, negative=True)
        end = G.vertex(target)
        if end is None or found.distances[end] == found.unreached:
            raise nx.NetworkXNoPath(f"node {target} not reachable from {source}")
        return found.distances[end].item()

    @serves(GROUP, ONE)
    def single_source_bellman_ford(
        self,
        G: Any,
        source: Any,
        target: Any = None,
        weight: Any = "weight",
    ) -> Any:
        """Lengths of shortest paths from a node, and the paths; weights may be negative."""
        if source == target:
            known_node(G, source, f"Node {source} is not found in the graph")
            return 0, [source]
        known_node(G, source, f"Source {source} not in G")
        found = search(G, [source], weight, tree=True, negative=True)
        if target is None:
            return found.lengths(G.names), found.tree(G.names)
        to_target = _one_path(G, found, target)
        if to_target is None:
            raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
        return to_target

    @serves(GROUP, ONE)
    def single_source_bellman_ford_path_length(
        self,
        G: Any,
        source: Any,
        weight: Any = "weight",
    ) -> dict[Any, Any]:
        """Lengths of shortest paths from a node; weights may be negative."""
        known_node(G, source, f"Source {source} not in G")
        return search(G, [source], weight, tree=False, negative=True).lengths(G.names)

    @serves(GROUP, ONE, refuses={"target": "networkx stops there"})
    def bellman_ford_predecessor_and_distance(
        self,
        G: Any,
        source: Any,
        target: Any = None,
        weight: Any = "weight",
        heuristic: bool = False,
    ) -> tuple[dict[Any, list[Any]], dict[Any, Any]]:
        """Nodes before each on all shortest paths from a node, and their lengths."""
        known_node(G, source, f"Node {source} is not found in the graph")
        _unbounded_by_loops(G, weight)
        found = search(G, [source], weight, tree=False, negative=True)
        before = _tight_before(G, found, weight)
        return before, found.lengths(G.names)

    @serves(GROUP, ONE)
    def goldberg_radzik(
        self,
        G: Any,
        source: Any,
        weight: Any = "weight",
    ) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """Node before each on a shortest path from a node, and the lengths."""
        known_node(G, source, f"Node {source} is not found in the graph")
        _unbounded_by_loops(G, weight)
        found = search(G, [source], weight, tree=True, negative=True)
        names, before = G.names, found.predecessors
        if before is None:
            raise AssertionError("the search labelled no tree")
        pairs = ((v, int(before[v])) for v in found.reached().tolist())
        tree = {names[v]: None if u == v else names[u] for v, u in pairs}
        return tree, found.lengths(names)

    @serves(GROUP, ONE)
    def negative_edge_cycle(
        self,
        G: Any,
        weight: Any = "weight",
        heuristic: bool = True,
    ) -> bool:
        """Whether some cycle has negative weight."""
        weights = G.weights(weight)
        if not weights.size or weights.min() >= 0:
            return False
        if not G.directed:  # there and back again
            return True
        try:
            Searches.of(G).paths(weight, range(G.n))
        except nx.NetworkXUnbounded:
            return True
        return False

    @serves(GROUP, ONE)
    def find_negative_cycle(self, G: Any, source: Any, weight: Any = "weight") -> list[Any]:
        """Nodes of a cycle of negative weight that a node leads to, its first again as its last."""
        known_node(G, source, f"Source {source} not in G")
        try:
            search(G, [source], weight, tree=False, negative=True)
        except Unbounded as error:
            if not error.cycle:
                raise NotImplementedError("the cycle is not known") from error
            return [G.names[v] for v in (*error.cycle, error.cycle[0])]
        raise nx.NetworkXError("No negative cycles detected.")
