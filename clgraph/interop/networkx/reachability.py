"""What reaches what: descendants, closures, cycles and orders of acyclic graphs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from clgraph.interop.networkx.derived import double_cover
from clgraph.interop.networkx.searching import Searches
from clgraph.interop.networkx.serving import as_networkx_has_it, serves

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from clgraph.interop.networkx.graph import NetworkxGraph

__all__ = ["Reachability", "acyclic"]

GROUP = "reachability"
ONE, ALL, SWEEP = "one search", "all pairs", "sweep"
NO_ORDER = "Topological sort not defined on undirected graphs."


def acyclic(graph: NetworkxGraph) -> bool:
    """Whether a directed graph has no cycle."""
    return not graph.loops and Searches.of(graph).strong_components().count == graph.n


def generations(graph: NetworkxGraph) -> Iterator[list[int]]:
    """Vertices all of whose predecessors came before, round by round, as networkx finds them."""
    # Lists, since there may be as many rounds as vertices; with wide ones arrays are no faster.
    waits_for = np.bincount(graph.edge_targets, minlength=graph.n).tolist()
    starts, edge_targets = graph.starts.tolist(), graph.edge_targets.tolist()
    ready = [vertex for vertex, count in enumerate(waits_for) if not count]
    while ready:
        yield ready
        free = []  # in the order in which the last edge into each is looked at
        for source in ready:
            for target in edge_targets[starts[source] : starts[source + 1]]:
                waits_for[target] -= 1
                if not waits_for[target]:
                    free.append(target)
        ready = free


def _reached(graph: NetworkxGraph, source: Any, *, back: bool) -> set[Any]:
    vertex = graph.vertex(source)
    if vertex is None:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    found = Searches.of(graph).hops(vertex, back=back) > 0
    return {graph.names[v] for v in np.flatnonzero(found).tolist()}


class Reachability:
    """Functions of networkx's modules on directed acyclic graphs and reachability."""

    @serves(GROUP, ONE)
    def descendants(self, G: Any, source: Any) -> set[Any]:
        """Nodes that a node reaches."""
        return _reached(G, source, back=False)

    @serves(GROUP, ONE)
    def ancestors(self, G: Any, source: Any) -> set[Any]:
        """Nodes that reach a node."""
        return _reached(G, source, back=True)

    @serves(GROUP, ALL)
    def transitive_closure(self, G: Any, reflexive: Any = False) -> Any:
        """Graph with an edge wherever there is a path."""
        closure = G.to_networkx().copy()
        if reflexive not in {None, True, False}:
            raise nx.NetworkXError("Incorrect value for the parameter `reflexive`")
        own = np.zeros(G.n, bool)
        if reflexive:
            own[:] = True
        elif reflexive is False and G.directed:
            sizes = Searches.of(G).strong_components()
            own = sizes.sizes[sizes.labels] > 1
        _close(G, closure, own)
        return closure

    @serves(GROUP, ALL, undirected=False, refuses={"topo_order": "networkx takes it as it is"})
    def transitive_closure_dag(self, G: Any, topo_order: Any = None) -> Any:
        """Graph with an edge wherever there is a path, of a graph without cycles."""
        closure = G.to_networkx().copy()
        if not acyclic(G):
            raise nx.NetworkXUnfeasible("Graph contains a cycle or graph changed during iteration")
        _close(G, closure, np.zeros(G.n, bool))
        return closure

    @serves(GROUP, SWEEP)
    def is_directed_acyclic_graph(self, G: Any) -> bool:
        """Whether the graph is directed and has no cycle."""
        return bool(G.directed and acyclic(G))

    @serves(GROUP, SWEEP)
    def has_cycle(self, G: Any) -> bool:
        """Whether a directed graph has a cycle."""
        if not G.directed:
            raise nx.NetworkXError(NO_ORDER)
        return not acyclic(G)

    @serves(GROUP, SWEEP)
    def topological_generations(self, G: Any) -> Iterator[list[Any]]:
        """Nodes by the longest path to them, from those without predecessors on."""
        if not G.directed:
            raise nx.NetworkXError(NO_ORDER)
        done = 0
        for ready in generations(G):
            done += len(ready)
            yield [G.names[v] for v in ready]
        if done < G.n:
            raise nx.NetworkXUnfeasible("Graph contains a cycle or graph changed during iteration")

    topological_sort = as_networkx_has_it("topological_sort", GROUP, SWEEP)

    @serves(GROUP, ONE, undirected=False, multigraph=False)
    def is_reachable(self, G: Any, s: Any, t: Any) -> bool:
        """Whether one node of a tournament reaches another."""
        source, target = G.vertex(s), G.vertex(t)
        if source is None or target is None:
            return True  # no closed set has one of them only, says networkx
        return bool(Searches.of(G).hops(source)[target] >= 0)

    @serves(GROUP, SWEEP, undirected=False, multigraph=False)
    def tournament_is_strongly_connected(self, G: Any) -> bool:
        """Whether the nodes of a tournament reach one another."""
        return G.n == 0 or bool(Searches.of(G).strong_components().count == 1)

    @serves(GROUP, ALL, directed=False, multigraph=False)
    def girth(self, G: Any) -> float:
        """Length of a shortest cycle; infinite without cycles."""
        shortest = math.inf
        edge_sources, edge_targets = G.edge_sources, G.edge_targets
        for _, rows in Searches.of(G).hop_blocks(np.arange(G.n)):
            for row in rows:
                level, step = row[edge_sources], row[edge_targets] - row[edge_sources]
                across = level[(step == 0) & (level >= 0)]
                if across.size:
                    shortest = min(shortest, 2 * int(across.min()) + 1)
                ways = np.bincount(edge_targets[(step == 1) & (level >= 0)], minlength=G.n)
                if (ways > 1).any():
                    shortest = min(shortest, 2 * int(row[ways > 1].min()))
        return shortest

    @serves(GROUP, SWEEP)
    def is_bipartite(self, G: Any) -> bool:
        """Whether nodes can have two colours so that no edge joins two of one."""
        here, there = double_cover(G)
        return not bool((here == there).any())


def _close(graph: NetworkxGraph, closure: Any, own: NDArray[np.bool_]) -> None:
    """Add an edge for every path, and for each vertex marked one to itself."""
    searcher, names = Searches.of(graph).searcher(), graph.names
    for block in searcher.blocks(np.arange(graph.n), 1):
        marks = searcher.marks(block)
        marks[np.arange(block.size), block] = own[block]
        for vertex, row in zip(block.tolist(), marks, strict=True):
            name = names[vertex]
            there = closure[name]
            reached = (names[v] for v in np.flatnonzero(row).tolist())
            closure.add_edges_from([(name, other) for other in reached if other not in there])
