"""Shortest paths by weight between all pairs: tables, matrices and their mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from clgraph.interop.networkx.closeness import totals
from clgraph.interop.networkx.searching import Searches
from clgraph.interop.networkx.serving import as_networkx_has_it, serves
from clgraph.interop.networkx.shortest_paths import FRONT, GROUP, search

if TYPE_CHECKING:
    from clgraph.interop.networkx.graph import NetworkxGraph
    from clgraph.interop.networkx.searching import Paths

__all__ = ["AllPairs"]

ALL = "all pairs"


class AllPairs:
    """Functions of networkx's modules on shortest paths between all pairs."""

    all_pairs_dijkstra = as_networkx_has_it("all_pairs_dijkstra", GROUP, ALL)
    all_pairs_dijkstra_path = as_networkx_has_it("all_pairs_dijkstra_path", GROUP, ALL)
    all_pairs_bellman_ford_path = as_networkx_has_it("all_pairs_bellman_ford_path", GROUP, ALL)
    all_pairs_bellman_ford_path_length = as_networkx_has_it(
        "all_pairs_bellman_ford_path_length", GROUP, ALL
    )
    all_pairs_dijkstra_path_length = as_networkx_has_it(
        "all_pairs_dijkstra_path_length", GROUP, ALL
    )

    @serves(GROUP, ALL)
    def johnson(self, G: Any, weight: Any = "weight") -> dict[Any, dict[Any, list[Any]]]:
        """Shortest paths between all pairs; weights may be negative."""
        return {
            node: search(G, [node], weight, tree=True, negative=True).tree(G.names) for node in G
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
        before, table = {}, {}
        for node in G:
            found = search(G, [node], weight, tree=True)
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
            if own in G.edge_targets[G.starts[own] : G.starts[own + 1]]:
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
        found = totals(G, np.arange(n), None if method == "unweighted" else weight)
        if (found.reached < n).any():
            kind = "strongly connected" if G.directed else "connected"
            raise nx.NetworkXError(f"Graph is not {kind}.")
        return float(found.total.sum() / (n * (n - 1)))


def _matrix(graph: NetworkxGraph, weight: Any) -> Any:
    """Distances float64 [n, n], infinite where there is no path."""
    everyone = np.arange(graph.n)
    if weight is None:
        hops = np.concatenate([rows for _, rows in Searches.of(graph).hop_blocks(everyone)])
        return np.where(hops < 0, np.inf, hops)
    searcher = Searches.of(graph).weighted_searcher(weight)
    found = searcher.distances(everyone)
    return np.where(found == searcher.unreached, np.inf, found.astype(np.float64))


def _complete_row(graph: NetworkxGraph, found: Paths) -> dict[Any, Any]:
    infinite = (found.distances == found.unreached).tolist()
    values = zip(graph.names, found.distances.tolist(), infinite, strict=True)
    return {node: float("inf") if far else value for node, value, far in values}


def _distance_table(graph: NetworkxGraph, weight: Any) -> dict[Any, dict[Any, Any]]:
    table: dict[Any, dict[Any, Any]] = {}
    for node in graph:
        table[node] = _complete_row(graph, search(graph, [node], weight, tree=False))
    return table
