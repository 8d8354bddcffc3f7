"""Components, connected and strongly connected, and what follows from them."""

from __future__ import annotations

from functools import cached_property
from itertools import chain, compress, pairwise
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from clgraph.graph.csr import simple_matrix
from clgraph.graph.modules import module
from clgraph.interop.networkx.graph import NetworkxGraph
from clgraph.interop.networkx.reachability import generations
from clgraph.interop.networkx.searching import Searches
from clgraph.interop.networkx.serving import serves

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

__all__ = ["Components"]

GROUP = "components"
SWEEP = "sweep"
NOTHING = "Connectivity is undefined for the null graph."


def _members(graph: NetworkxGraph, labels: NDArray[Any], count: int) -> Iterator[set[Any]]:
    """Give sets of nodes by label."""
    ordered = graph.objects[np.argsort(labels, kind="stable")].tolist()
    ends = [0, *np.cumsum(np.bincount(labels, minlength=count)).tolist()]
    return (set(ordered[begin:end]) for begin, end in pairwise(ends))


def _weak(graph: NetworkxGraph) -> Iterator[set[Any]]:
    if graph.n:
        found = Searches.of(graph).components()
        yield from _members(graph, found.labels, found.count)


def _downhill(dag: NetworkxGraph) -> NDArray[np.int64]:
    """Give the vertices of an acyclic graph numbers that get smaller along edges.

    SciPy's strong components of it are its vertices, numbered so in a tenth of the time that rounds
    take; but nothing promises their order, which is therefore looked at.
    """
    components = module("scipy.sparse.csgraph").connected_components
    _, found = components(simple_matrix(dag.starts, dag.edge_targets), connection="strong")
    number: NDArray[np.int64] = found.astype(np.int64)
    if (number[dag.edge_sources] > number[dag.edge_targets]).all():
        return number
    order = np.fromiter(chain.from_iterable(generations(dag)), np.int64, dag.n)
    number[order[::-1]] = np.arange(dag.n)
    return number


def _is_weak(graph: NetworkxGraph) -> bool:
    if not graph.n:
        raise nx.NetworkXPointlessConcept(NOTHING)
    return bool(Searches.of(graph).components().count == 1)


class Contracted:
    """Strongly connected components and the edges between them.

    Attributes
    ----------
    labels : int64 [n]
        Component of each vertex, numbered so that edges lead to smaller numbers.
    count : int
        How many there are.
    edge_sources, edge_targets : int64 arrays
        Edges between different components, each once.
    """

    def __init__(self, graph: NetworkxGraph) -> None:
        found = Searches.of(graph).strong_components()
        self.count = int(found.count)
        labels = found.labels.astype(np.int64)
        edge_sources, edge_targets = labels[graph.edge_sources], labels[graph.edge_targets]
        apart = edge_sources != edge_targets
        # Sorted and compared: of so many different numbers numpy.unique makes a table, which takes
        # ten times as long. Shifted and masked, since divisions take as long as the sort.
        bits = self.count.bit_length()
        between = np.sort(edge_sources[apart] << bits | edge_targets[apart])
        between = between[np.diff(between, prepend=-1) > 0]
        edge_sources, edge_targets = between >> bits, between & ((1 << bits) - 1)
        starts = np.searchsorted(edge_sources, np.arange(self.count + 1))
        self.dag = NetworkxGraph(list(range(self.count)), (starts, edge_targets), directed=True)
        number = _downhill(self.dag)
        self.labels = number[labels]
        self.edge_sources, self.edge_targets = number[edge_sources], number[edge_targets]

    @cached_property
    def rounds(self) -> list[list[int]]:
        """Components all of whose predecessors came before, round by round."""
        return list(generations(self.dag))

    @classmethod
    def of(cls, graph: NetworkxGraph) -> Contracted:
        """Contract a graph once."""
        found: Contracted | None = graph.kept.get(cls)
        if found is None:
            found = graph.kept[cls] = cls(graph)
        return found


def _strong(graph: NetworkxGraph) -> Iterator[set[Any]]:
    if not graph.n:
        return iter([])
    found = Contracted.of(graph)
    return _members(graph, found.labels, found.count)


def _attracting(graph: NetworkxGraph) -> list[set[Any]]:
    if not graph.n:
        return []
    found = Contracted.of(graph)
    leads_on = np.zeros(found.count, bool)
    leads_on[found.edge_sources] = True
    return list(compress(_members(graph, found.labels, found.count), ~leads_on))


class Components:
    """Functions of networkx's modules on connected, weak, strong and attracting components."""

    @serves(GROUP, "one search", directed=False)
    def connected_components(self, G: Any) -> Iterator[set[Any]]:
        """Find the sets of nodes that are joined by edges."""
        yield from _weak(G)

    @serves(GROUP, "one search", directed=False)
    def number_connected_components(self, G: Any) -> int:
        """How many sets of nodes are joined by edges."""
        return int(Searches.of(G).components().count) if G.n else 0

    @serves(GROUP, "one search", directed=False)
    def is_connected(self, G: Any) -> bool:
        """Whether edges join all nodes."""
        return _is_weak(G)

    @serves(GROUP, "one search", directed=False)
    def node_connected_component(self, G: Any, n: Any) -> set[Any]:
        """Nodes that edges join with one."""
        vertex = G.vertex(n)
        if vertex is None:
            raise KeyError(n)
        labels = Searches.of(G).components().labels
        return {G.names[v] for v in np.flatnonzero(labels == labels[vertex]).tolist()}

    @serves(GROUP, SWEEP, undirected=False)
    def weakly_connected_components(self, G: Any) -> Iterator[set[Any]]:
        """Find the sets of nodes that are joined by edges, whatever way these point."""
        yield from _weak(G)

    @serves(GROUP, SWEEP, undirected=False)
    def number_weakly_connected_components(self, G: Any) -> int:
        """How many sets of nodes are joined by edges, whatever way these point."""
        return int(Searches.of(G).components().count) if G.n else 0

    @serves(GROUP, SWEEP, undirected=False)
    def is_weakly_connected(self, G: Any) -> bool:
        """Whether edges join all nodes, whatever way these point."""
        return _is_weak(G)

    @serves(GROUP, SWEEP, undirected=False, note="those that lead to others come after these")
    def strongly_connected_components(self, G: Any) -> Iterator[set[Any]]:
        """Find the sets of nodes that reach one another."""
        yield from _strong(G)

    @serves(
        GROUP,
        SWEEP,
        undirected=False,
        refuses={"source": "networkx begins there, and leaves out what it does not reach"},
    )
    def kosaraju_strongly_connected_components(
        self,
        G: Any,
        source: Any = None,
    ) -> Iterator[set[Any]]:
        """Find the sets of nodes that reach one another."""
        yield from _strong(G)

    @serves(GROUP, SWEEP, undirected=False)
    def number_strongly_connected_components(self, G: Any) -> int:
        """How many sets of nodes reach one another."""
        return int(Searches.of(G).strong_components().count) if G.n else 0

    @serves(GROUP, SWEEP, undirected=False)
    def is_strongly_connected(self, G: Any) -> bool:
        """Whether all nodes reach one another."""
        if not G.n:
            raise nx.NetworkXPointlessConcept(NOTHING)
        return bool(Searches.of(G).strong_components().count == 1)

    @serves(
        GROUP,
        SWEEP,
        undirected=False,
        note="numbers differ from networkx's where its components come in another order",
    )
    def condensation(self, G: Any, scc: Iterable[Any] | None = None) -> Any:
        """Graph of the strongly connected components, or of sets that are given."""
        sets = list(_strong(G) if scc is None else scc)
        contracted = nx.DiGraph()
        mapping = {node: i for i, members in enumerate(sets) for node in members}
        contracted.graph["mapping"] = mapping
        if not G.n:
            return contracted
        contracted.add_nodes_from((i, {"members": members}) for i, members in enumerate(sets))
        of_vertex = np.array([mapping[node] for node in G], np.int64)
        edge_sources, edge_targets = of_vertex[G.edge_sources], of_vertex[G.edge_targets]
        edges = np.unique(
            np.stack([edge_sources, edge_targets], axis=1)[edge_sources != edge_targets], axis=0
        )
        contracted.add_edges_from(map(tuple, edges.tolist()))
        return contracted

    @serves(GROUP, SWEEP, undirected=False)
    def attracting_components(self, G: Any) -> Iterator[set[Any]]:
        """Find the sets of nodes that reach one another and nothing else."""
        yield from _attracting(G)

    @serves(GROUP, SWEEP, undirected=False)
    def number_attracting_components(self, G: Any) -> int:
        """How many sets of nodes reach one another and nothing else."""
        return len(_attracting(G))

    @serves(GROUP, SWEEP, undirected=False)
    def is_attracting_component(self, G: Any) -> bool:
        """Whether all nodes reach one another."""
        return bool(G.n and Searches.of(G).strong_components().count == 1)

    @serves(GROUP, SWEEP, undirected=False)
    def is_semiconnected(self, G: Any) -> bool:
        """Whether of any two nodes one reaches the other."""
        if not G.n:
            raise nx.NetworkXPointlessConcept(NOTHING)
        # Then there is one order of the components, each of which leads to the next.
        return all(len(ready) == 1 for ready in Contracted.of(G).rounds)

    @serves(GROUP, "one search")
    def is_tree(self, G: Any) -> bool:
        """Whether edges join all nodes and there is one less of them."""
        if not G.n:
            raise nx.NetworkXPointlessConcept("G has no nodes.")
        return G.n - 1 == G.number_of_edges() and _is_weak(G)

    @serves(GROUP, "one search")
    def is_forest(self, G: Any) -> bool:
        """Whether every component has one edge less than nodes."""
        if not G.n:
            raise nx.NetworkXPointlessConcept("G has no nodes.")
        return bool(G.n - G.number_of_edges() == Searches.of(G).components().count)

    @serves(GROUP, SWEEP, undirected=False)
    def is_arborescence(self, G: Any) -> bool:
        """Whether it is a tree whose nodes have one predecessor at most."""
        return bool(self.is_tree(G) and _in_degrees(G).max(initial=0) <= 1)

    @serves(GROUP, SWEEP, undirected=False)
    def is_branching(self, G: Any) -> bool:
        """Whether it is a forest whose nodes have one predecessor at most."""
        return bool(self.is_forest(G) and _in_degrees(G).max(initial=0) <= 1)


def _in_degrees(graph: NetworkxGraph) -> NDArray[Any]:
    return np.bincount(graph.edge_targets, graph.copies, minlength=graph.n)
