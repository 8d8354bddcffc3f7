"""Shortest paths by weight: Dijkstra's, Bellman and Ford's, and what is made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from clgraph.interop.networkx.breadth_first import known_node
from clgraph.interop.networkx.searching import Paths, Searches, Unbounded, by_distance
from clgraph.interop.networkx.serving import as_networkx_has_it, serves

if TYPE_CHECKING:
    from clgraph.interop.networkx.graph import NetworkxGraph

__all__ = ["ShortestPaths"]

FRONT = "path front ends"
GROUP = "shortest paths by weight"
ONE, ALL = "one search", "all pairs"


def _search(
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
    loops = graph.tails == graph.heads
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
    arcs = np.flatnonzero(known[graph.tails])
    tails, heads = graph.tails[arcs], graph.heads[arcs]
    with np.errstate(over="ignore"):
        tight = distances[tails] + graph.weights(weight)[arcs] == distances[heads]
    arcs = by_distance(distances[graph.tails], arcs[tight])
    before: dict[Any, list[Any]] = {names[v]: [] for v in reached.tolist()}
    for u, v in zip(graph.tails[arcs].tolist(), graph.heads[arcs].tolist(), strict=True):
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
    all_pairs_dijkstra = as_networkx_has_it("all_pairs_dijkstra", GROUP, ALL)
    all_pairs_dijkstra_path = as_networkx_has_it("all_pairs_dijkstra_path", GROUP, ALL)
    all_pairs_bellman_ford_path = as_networkx_has_it("all_pairs_bellman_ford_path", GROUP, ALL)
    all_pairs_bellman_ford_path_length = as_networkx_has_it(
        "all_pairs_bellman_ford_path_length", GROUP, ALL
    )
    all_pairs_dijkstra_path_length = as_networkx_has_it(
        "all_pairs_dijkstra_path_length", GROUP, ALL
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
        found = _search(G, chosen, weight, tree=True)
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
        found = _search(G, _check_sources(G, sources), weight, tree=False)
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
        lengths = _search(G, [source], weight, tree=False)
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
        found = _search(G, [source], weight, tree=False)
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
        found = _one_path(G, _search(G, [source], weight, tree=True), target)
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
        found = _search(G, [source], weight, tree=False, negative=True)
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
        found = _search(G, [source], weight, tree=True, negative=True)
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
        return _search(G, [source], weight, tree=False, negative=True).lengths(G.names)

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
        found = _search(G, [source], weight, tree=False, negative=True)
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
        found = _search(G, [source], weight, tree=True, negative=True)
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
            _search(G, [source], weight, tree=False, negative=True)
        except Unbounded as error:
            if not error.cycle:
                raise NotImplementedError("the cycle is not known") from error
            return [G.names[v] for v in (*error.cycle, error.cycle[0])]
        raise nx.NetworkXError("No negative cycles detected.")

    @serves(GROUP, ALL)
    def johnson(self, G: Any, weight: Any = "weight") -> dict[Any, dict[Any, list[Any]]]:
        """Shortest paths between all pairs; weights may be negative."""
        return {
            node: _search(G, [node], weight, tree=True, negative=True).tree(G.names) for node in G
        }

    @serves(GROUP, ALL)
    def floyd_warshall(self, G: Any, weight: Any = "weight") -> dict[Any, dict[Any, Any]]:
        """Distances between all pairs of nodes, infinite ones too."""
        return _distance_table(G, weight)

    @serves(GROUP, ALL)
    def floyd_warshall_predecessor_and_distance(
        self,
        G: Any,
        weight: Any = "weight",
    ) -> tuple[dict[Any, dict[Any, Any]], dict[Any, dict[Any, Any]]]:
        """Node before each on a shortest path from each, and all distances."""
        _refuse_negative(G, weight)
        before, table = {}, {}
        for node in G:
            found = _search(G, [node], weight, tree=True)
            vertices = found.reached()
            tree = found.predecessors
            if tree is None:
                raise AssertionError("the search labelled no tree")
            own = G.vertex(node)
            rest = vertices[vertices != own]
            row = {
                G.names[v]: G.names[u]
                for v, u in zip(rest.tolist(), tree[rest].tolist(), strict=True)
            }
            if own in G.heads[G.starts[own] : G.starts[own + 1]]:
                row[node] = node
            if row:
                before[node] = row
            table[node] = _complete_row(G, found)
        return before, table

    @serves(GROUP, ALL)
    def floyd_warshall_numpy(self, G: Any, nodelist: Any = None, weight: Any = "weight") -> Any:
        """Distances between all pairs of nodes as an array [n, n]."""
        if nodelist is not None and not len(nodelist) == len(G) == len(set(nodelist)):
            raise nx.NetworkXError(
                "nodelist must contain every node in G with no repeats."
                "If you wanted a subgraph of G use G.subgraph(nodelist)"
            )
        if not len(G):
            raise nx.NetworkXError("Graph has no nodes or edges")
        vertices = np.arange(G.n) if nodelist is None else G.vertices(nodelist)
        return _matrix(G, weight)[np.ix_(vertices, vertices)]

    @serves(FRONT, ALL)
    def average_shortest_path_length(
        self,
        G: Any,
        weight: Any = None,
        method: Any = None,
    ) -> float:
        """Mean distance over all ordered pairs of nodes."""
        methods = (
            "unweighted",
            "dijkstra",
            "bellman-ford",
            "floyd-warshall",
            "floyd-warshall-numpy",
        )
        method = method or ("unweighted" if weight is None else "dijkstra")
        if method not in methods:
            raise ValueError(f"method not supported: {method}")
        n = len(G)
        if n == 0:
            raise nx.NetworkXPointlessConcept(
                "the null graph has no paths, thus there is no average shortest path length"
            )
        if n == 1:
            return 0
        everyone = np.arange(n)
        if method == "unweighted" or weight is None:
            found = Searches.of(G).totals(everyone)
        else:
            _refuse_negative(G, weight)
            found = Searches.of(G).weighted_searcher(weight).totals(everyone)
        if (found.reached < n).any():
            kind = "strongly connected" if G.directed else "connected"
            raise nx.NetworkXError(f"Graph is not {kind}.")
        return float(found.total.sum() / (n * (n - 1)))


def _refuse_negative(graph: NetworkxGraph, weight: Any) -> None:
    weights = graph.weights(weight)
    if weights.size and weights.min() < 0:
        raise NotImplementedError("some weights are negative")


def _matrix(graph: NetworkxGraph, weight: Any) -> Any:
    """Distances float64 [n, n], infinite where there is no path."""
    everyone = np.arange(graph.n)
    if weight is None:
        hops = np.concatenate([rows for _, rows in Searches.of(graph).hop_blocks(everyone)])
        return np.where(hops < 0, np.inf, hops)
    _refuse_negative(graph, weight)
    searcher = Searches.of(graph).weighted_searcher(weight)
    found = searcher.distances(everyone)
    return np.where(found == searcher.unreached, np.inf, found.astype(np.float64))


def _complete_row(graph: NetworkxGraph, found: Paths) -> dict[Any, Any]:
    infinite = (found.distances == found.unreached).tolist()
    values = zip(graph.names, found.distances.tolist(), infinite, strict=True)
    return {node: float("inf") if far else value for node, value, far in values}


def _distance_table(graph: NetworkxGraph, weight: Any) -> dict[Any, dict[Any, Any]]:
    _refuse_negative(graph, weight)
    table: dict[Any, dict[Any, Any]] = {}
    for node in graph:
        table[node] = _complete_row(graph, _search(graph, [node], weight, tree=False))
    return table
