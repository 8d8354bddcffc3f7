"""What follows from distances and components: regularity, colours, vitality, hierarchy, A*."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from clgraph.algorithms.components.plan import connected_components
from clgraph.graph import from_edges
from clgraph.interop.networkx.graph import NetworkxGraph
from clgraph.interop.networkx.searching import Searches
from clgraph.interop.networkx.serving import as_networkx_has_it, serves

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["Derived", "double_cover"]

GROUP = "regularity and colours"
ALL, ONE, SWEEP = "all pairs", "one search by weight", "sweep"
GOAL = {
    "heuristic": "it is a function, which only networkx can call",
    "cutoff": "networkx gives up there",
}
IRREGULAR = "Graph is not distance regular."


def double_cover(graph: NetworkxGraph) -> tuple[NDArray[Any], NDArray[Any]]:
    """Components of a graph of every vertex twice, with all edges between the two copies.

    Returns
    -------
    int arrays [n], [n]
        Of the first copies and of the second. An odd cycle joins both copies of its vertices.
    """
    if not graph.n:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    double = from_edges(
        np.concatenate([graph.edge_sources, graph.edge_sources + graph.n]),
        np.concatenate([graph.edge_targets + graph.n, graph.edge_targets]),
        n=2 * graph.n,
    )
    labels = connected_components(double, device=Searches.of(graph).device).labels
    return labels[: graph.n], labels[graph.n :]


def _without(graph: NetworkxGraph, vertex: int, weight: Any) -> NetworkxGraph:
    """Copy without a vertex and its edges."""
    kept = (graph.edge_sources != vertex) & (graph.edge_targets != vertex)
    number = np.arange(graph.n) - (np.arange(graph.n) > vertex)
    degrees = np.bincount(number[graph.edge_sources[kept]], minlength=graph.n - 1)
    starts = np.zeros(graph.n, graph.starts.dtype)
    np.cumsum(degrees, out=starts[1:])
    names = graph.names[:vertex] + graph.names[vertex + 1 :]
    arrays = (starts, number[graph.edge_targets[kept]].astype(graph.edge_targets.dtype))
    made = NetworkxGraph(names, arrays, directed=graph.directed)
    if weight is not None:
        made.take_attributes({weight: graph.weights(weight)[kept]}, {})
    return made


class _Counts:
    """A count that is the same for all vertices at a distance."""

    def __init__(self, n: int) -> None:
        self._known = np.full(n, -1)

    def take(self, levels: NDArray[Any], counts: NDArray[Any]) -> None:
        found, first = np.unique(levels, return_index=True)
        fresh = self._known[found] < 0
        self._known[found[fresh]] = counts[first[fresh]]
        if (self._known[levels] != counts).any():
            raise nx.NetworkXError(IRREGULAR)

    def listed(self, begin: int, end: int) -> list[int]:
        listed: list[int] = np.maximum(self._known[begin:end], 0).tolist()
        return listed


class Derived:
    """Functions of several of networkx's modules."""

    # Of the classes that the backend is made of beside this one.
    dijkstra_path: Callable[..., list[Any]]
    dijkstra_path_length: Callable[..., Any]
    wiener_index: Callable[..., Any]

    @serves("shortest paths by weight", ONE, refuses=GOAL)
    def astar_path(
        self,
        G: Any,
        source: Any,
        target: Any,
        heuristic: Any = None,
        weight: Any = "weight",
        *,
        cutoff: Any = None,
    ) -> list[Any]:
        """Shortest path by weight between two nodes."""
        _ends(G, source, target)
        return self.dijkstra_path(G, source, target, weight)

    @serves("shortest paths by weight", ONE, refuses=GOAL)
    def astar_path_length(
        self,
        G: Any,
        source: Any,
        target: Any,
        heuristic: Any = None,
        weight: Any = "weight",
        *,
        cutoff: Any = None,
    ) -> Any:
        """Length of a shortest path by weight between two nodes."""
        _ends(G, source, target)
        return self.dijkstra_path_length(G, source, target, weight)

    @serves("closeness and reaching", ALL)
    def closeness_vitality(
        self, G: Any, node: Any = None, weight: Any = None, wiener_index: Any = None
    ) -> Any:
        """How much less all distances sum up to without each node, or one."""
        wiener = self.wiener_index
        whole = wiener(G, weight=weight) if wiener_index is None else wiener_index
        nodes = G.names if node is None else [node]
        values = []
        for each in nodes:
            vertex = G.vertex(each)
            less = G if vertex is None else _without(G, vertex, weight)
            values.append(whole - wiener(less, weight=weight))
        return dict(zip(nodes, values, strict=True)) if node is None else values[0]

    @serves("components", SWEEP, undirected=False, multigraph=False)
    def flow_hierarchy(self, G: Any, weight: Any = None) -> float:
        """Share of the edges, by weight, that lie on no cycle."""
        if not G.edge_targets.size:
            raise nx.NetworkXError("flow_hierarchy not applicable to empty graphs")
        labels = Searches.of(G).strong_components().labels
        within = labels[G.edge_sources] == labels[G.edge_targets]
        costs = np.ones(G.edge_targets.size, np.int64) if weight is None else G.weights(weight)
        return float(1 - costs[within].sum() / costs.sum())

    @serves("reachability", SWEEP)
    def is_aperiodic(self, G: Any) -> bool:
        """Whether the lengths of all cycles have no common divisor."""
        if not G.directed:
            raise nx.NetworkXError("is_aperiodic not defined for undirected graphs")
        if not G.n:
            raise nx.NetworkXPointlessConcept("Graph has no nodes.")
        searches = Searches.of(G)
        if searches.strong_components().count != 1:
            raise nx.NetworkXError("Graph is not strongly connected.")
        away = searches.hops(0).astype(np.int64)
        return bool(np.gcd.reduce(away[G.edge_sources] - away[G.edge_targets] + 1) == 1)

    @serves(GROUP, SWEEP)
    def color(self, G: Any) -> dict[Any, int]:
        """Colours 0 and 1 of nodes such that no edge joins two of one."""
        here, there = double_cover(G)
        if (here == there).any():
            raise nx.NetworkXError("Graph is not bipartite.")
        # Networkx begins with the first node of each component that an edge leads out of.
        begins = np.flatnonzero(np.diff(G.starts) > 0)
        component = np.minimum(here, there)
        parts, first = np.unique(component[begins], return_index=True)
        root = np.full(2 * G.n, -1, np.int64)
        root[parts] = here[begins[first]]
        colors = (root[component] == here).astype(np.int64)
        return dict(zip(G.names, colors.tolist(), strict=True))

    sets = as_networkx_has_it("sets", GROUP, SWEEP)

    @serves(GROUP, ALL, directed=False, multigraph=False)
    def intersection_array(self, G: Any) -> tuple[list[int], list[int]]:
        """Neighbours farther and nearer of a node at each distance, if all have as many."""
        if not G.n:
            raise nx.NetworkXPointlessConcept("Graph has no nodes.")
        searches = Searches.of(G)
        if np.unique(G.degrees).size > 1 or searches.components().count != 1:
            raise nx.NetworkXError(IRREGULAR)
        farther, nearer, deepest = _Counts(G.n), _Counts(G.n), 0
        for block, rows in searches.hop_blocks(np.arange(G.n)):
            for u, row in zip(block.tolist(), rows, strict=True):
                deepest = max(deepest, int(row.max()))
                if deepest > 8 * math.log2(G.n) / 3:
                    raise nx.NetworkXError(IRREGULAR)
                step = row[G.edge_targets] - row[G.edge_sources]
                for counts, way in ((farther, 1), (nearer, -1)):
                    met = np.bincount(G.edge_sources[step == way], minlength=G.n)
                    counts.take(row[u:], met[u:])
        return farther.listed(0, deepest), nearer.listed(1, deepest + 1)

    is_distance_regular = as_networkx_has_it(
        "is_distance_regular", GROUP, ALL, directed=False, multigraph=False
    )
    is_strongly_regular = as_networkx_has_it(
        "is_strongly_regular", GROUP, ALL, directed=False, multigraph=False
    )


def _ends(graph: NetworkxGraph, source: Any, target: Any) -> None:
    if source not in graph or target not in graph:
        raise nx.NodeNotFound(f"Either source {source} or target {target} is not in G")
