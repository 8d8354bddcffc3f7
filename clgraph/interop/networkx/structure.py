"""Cores, trusses, spanning trees, colourings and independent sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from clgraph.algorithms.coloring.plan import greedy_color
from clgraph.algorithms.independent_set.plan import maximal_independent_set
from clgraph.algorithms.spanning_forest.plan import minimum_spanning_forest
from clgraph.algorithms.truss.calls import core_numbers, truss_numbers
from clgraph.graph import from_edges
from clgraph.graph.csr import row_ids
from clgraph.interop.networkx.searching import current_device
from clgraph.interop.networkx.serving import as_networkx_has_it, serves

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from clgraph.interop.networkx.graph import NetworkxGraph

__all__ = ["Structure"]

GROUP = "cores, trees and colours"
SWEEP = "sweep"
LOOPS = (
    "Input graph has self loops which is not permitted; "
    "Consider using G.remove_edges_from(nx.selfloop_edges(G))."
)
ONLY_KRUSKAL = "of equal weights it takes other edges, or in another order"
MOST_SEED = 2**32 - 1

simple = {"directed": False, "multigraph": False}
by_kruskal = serves(GROUP, SWEEP, **simple, refuses={"algorithm": ONLY_KRUSKAL})


def _without_loops(graph: NetworkxGraph) -> None:
    if graph.loops:
        raise nx.NetworkXNotImplemented(LOOPS)


def _kruskal(graph: NetworkxGraph, weight: Any, *, least: bool) -> NDArray[np.int64]:
    """Places of the tree's edges, in the order in which Kruskal's algorithm takes them."""
    listed = graph.listed[graph.edge_sources[graph.listed] != graph.edge_targets[graph.listed]]
    costs = graph.weights(weight)[listed]
    order = listed[np.argsort(costs if least else -costs, kind="stable")]
    # No two ranks are the same, so there is one tree.
    ranks = np.arange(order.size, dtype=np.uint32)
    ends = (graph.edge_sources[order], graph.edge_targets[order])
    ranked = from_edges(*ends, ranks, n=graph.n, symmetrize=True)
    found = minimum_spanning_forest(ranked, device=current_device())
    if ranked.weights is None:
        raise AssertionError("a graph that was made of weights has none")
    taken: NDArray[np.int64] = order[np.sort(ranked.weights[found.edges])]
    return taken


def _taken(graph: NetworkxGraph, weight: Any, data: Any, *, least: bool) -> Iterator[Any]:
    """Edges of the tree in Kruskal's order, with their attributes if those are wanted."""
    if not graph.n:
        return
    rows = graph.to_networkx()._adj if data else None  # noqa: SLF001
    places = _kruskal(graph, weight, least=least)
    for u, v in zip(
        graph.edge_sources[places].tolist(), graph.edge_targets[places].tolist(), strict=True
    ):
        ends = (graph.names[u], graph.names[v])
        yield ends if rows is None else (*ends, rows[ends[0]][ends[1]])


def _tree(graph: NetworkxGraph, weight: Any, *, least: bool) -> Any:
    """Graph of those edges, with everything that networkx copies."""
    original = graph.to_networkx()
    tree = original.__class__()
    tree.graph.update(original.graph)
    tree.add_nodes_from(original.nodes.items())
    tree.add_edges_from(_taken(graph, weight, True, least=least))
    return tree


class Structure:
    """Functions of networkx's modules on cores, spanning trees, colouring and independent sets."""

    @serves(GROUP, SWEEP, directed=False, multigraph=False)
    def core_number(self, G: Any) -> dict[Any, int]:
        """Greatest k whose core each node is in."""
        _without_loops(G)
        numbers = core_numbers(G.plain, device=current_device()) if G.n else np.zeros(0, int)
        return dict(zip(G.names, numbers.tolist(), strict=True))

    k_core = as_networkx_has_it("k_core", GROUP, SWEEP, directed=False, multigraph=False)
    k_shell = as_networkx_has_it("k_shell", GROUP, SWEEP, directed=False, multigraph=False)
    k_crust = as_networkx_has_it("k_crust", GROUP, SWEEP, directed=False, multigraph=False)

    @serves(GROUP, SWEEP, directed=False, multigraph=False)
    def k_corona(self, G: Any, k: int, core_number: Any = None) -> Any:
        """Subgraph of the nodes of the core of k that have k neighbours in it."""
        cores = self.core_number(G) if core_number is None else core_number
        numbers = np.array([cores[node] for node in G.names], np.int64)
        inside = np.bincount(G.edge_sources[numbers[G.edge_targets] >= k], minlength=G.n)
        chosen = np.flatnonzero((numbers == k) & (inside == k))
        return G.to_networkx().subgraph(G.names[v] for v in chosen.tolist()).copy()

    @serves(GROUP, "triangles", directed=False, multigraph=False)
    def k_truss(self, G: Any, k: int) -> Any:
        """Subgraph in which every edge is in k - 2 triangles at least."""
        _without_loops(G)
        left = G.to_networkx().copy()
        plain = G.plain
        if plain.m and k > 2:
            numbers = truss_numbers(plain, device=current_device())
            edge_sources = row_ids(plain.indptr)
            gone = np.flatnonzero((np.asarray(numbers) < k) & (edge_sources < plain.indices))
            ends = zip(edge_sources[gone].tolist(), plain.indices[gone].tolist(), strict=True)
            left.remove_edges_from((G.names[u], G.names[v]) for u, v in ends)
        left.remove_nodes_from(list(nx.isolates(left)))
        return left

    @by_kruskal
    def minimum_spanning_edges(
        self,
        G: Any,
        algorithm: str = "kruskal",
        weight: Any = "weight",
        keys: bool = True,
        data: bool = True,
        ignore_nan: bool = False,
    ) -> Iterator[Any]:
        """Lightest edges that join all nodes that are joined, by weight."""
        yield from _taken(G, weight, data, least=True)

    @by_kruskal
    def maximum_spanning_edges(
        self,
        G: Any,
        algorithm: str = "kruskal",
        weight: Any = "weight",
        keys: bool = True,
        data: bool = True,
        ignore_nan: bool = False,
    ) -> Iterator[Any]:
        """Heaviest edges that join all nodes that are joined, by weight."""
        yield from _taken(G, weight, data, least=False)

    @serves(
        GROUP,
        SWEEP,
        directed=False,
        multigraph=False,
        refuses={"partition": "it says of edges whether the tree must have them"},
    )
    def kruskal_mst_edges(
        self,
        G: Any,
        minimum: bool,
        weight: Any = "weight",
        keys: bool = True,
        data: bool = True,
        ignore_nan: bool = False,
        partition: Any = None,
    ) -> Iterator[Any]:
        """Lightest, or heaviest, edges that join all nodes that are joined."""
        yield from _taken(G, weight, data, least=minimum)

    @by_kruskal
    def minimum_spanning_tree(
        self, G: Any, weight: Any = "weight", algorithm: str = "kruskal", ignore_nan: bool = False
    ) -> Any:
        """Graph of the lightest edges that join all nodes that are joined."""
        return _tree(G, weight, least=True)

    @by_kruskal
    def maximum_spanning_tree(
        self, G: Any, weight: Any = "weight", algorithm: str = "kruskal", ignore_nan: bool = False
    ) -> Any:
        """Graph of the heaviest edges that join all nodes that are joined."""
        return _tree(G, weight, least=False)

    @serves(
        GROUP,
        SWEEP,
        directed=False,
        multigraph=False,
        refuses={
            "strategy": "networkx has the order from Python",
            "interchange": "it changes colours one after the other",
        },
    )
    def greedy_color(
        self, G: Any, strategy: Any = "largest_first", interchange: bool = False
    ) -> dict[Any, int]:
        """Colours such that neighbours differ, given to the nodes with most neighbours first."""
        if not G.n:
            return {}
        # As a sort in descending order leaves them: stable, by degrees with loops twice.
        order = np.argsort(-G.degrees, kind="stable")
        found = greedy_color(G.plain, order=order, device=current_device())
        colors = found.colors.tolist()
        return {G.names[v]: colors[v] for v in order.tolist()}

    @serves(
        GROUP,
        SWEEP,
        directed=False,
        refuses={"nodes": "the set grows from nowhere"},
        note="another set than networkx has of the same seed",
    )
    def maximal_independent_set(self, G: Any, nodes: Any = None, seed: Any = None) -> list[Any]:
        """Nodes none of which are neighbours, and to which none can be added."""
        state = nx.utils.create_py_random_state(seed)
        state.choice(G.names)  # as networkx begins, which fails where there are none
        drawn = state.randint(0, MOST_SEED)
        found = maximal_independent_set(G.plain, seed=drawn, device=current_device())
        return [G.names[v] for v in found.vertices.tolist()]
