"""Betweenness, its variants, and load."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from clgraph.algorithms.centrality.sums import edge_sums, reverse_places, vertex_sums
from clgraph.algorithms.centrality.variants import load_sums, subset_sums
from clgraph.apart import apart
from clgraph.errors import ClgraphError, DeviceMemoryError
from clgraph.graph.csr import row_ids
from clgraph.interop.networkx.searching import Searches
from clgraph.interop.networkx.serving import as_networkx_has_it, serves

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from clgraph.interop.networkx.graph import NetworkxGraph

__all__ = ["Betweenness"]

GROUP = "betweenness and load"
WORK = "betweenness"
CUT = {"cutoff": "networkx cuts searches off"}


def _exact(sums: Callable[[], NDArray[Any]]) -> NDArray[np.float64]:
    """Give sums in float64, or leave it to networkx where floating point is not enough."""
    try:
        return sums().astype(np.float64)
    except DeviceMemoryError:
        raise
    except ClgraphError as error:  # too many paths, or weights that are not positive
        raise NotImplementedError(str(error)) from error


def _scale(
    graph: NetworkxGraph,
    sources: NDArray[np.int64] | None,
    *,
    normalized: bool,
    endpoints: bool = False,
) -> NDArray[np.float64] | float:
    """Factors of sums over ordered pairs, as networkx 3.6 has them."""
    n = graph.n
    others = n if endpoints else n - 1
    if others < 2:
        return 1.0
    both = 1 if graph.directed else 2
    k = others if sources is None else sources.size
    if not k:
        raise ZeroDivisionError("k is 0, so there is nothing to scale")
    if sources is None or endpoints:
        return 1 / (k * (others - 1)) if normalized else others / (k * both)
    seen = k - np.bincount(sources, minlength=n)
    scale = apart(
        np.errstate(divide="ignore")(
            lambda: 1 / (seen * (others - 1)) if normalized else others / (seen * both)
        )
    )
    return np.where(seen > 0, scale, math.nan)


def _drawn(graph: NetworkxGraph, k: int | None, seed: Any) -> NDArray[np.int64] | None:
    """Draw sources by networkx's own generator; None for all."""
    return None if k is None else graph.vertices(seed.sample(graph.names, k))


def _named(graph: NetworkxGraph, values: NDArray[np.float64]) -> dict[Any, float]:
    return dict(zip(graph.names, values.tolist(), strict=True))


def _by_edge(
    graph: NetworkxGraph, values: NDArray[np.float64], *, both: bool = False
) -> dict[tuple[Any, Any], float]:
    """Values of the sorted arcs by pairs of nodes, in networkx's order of edges."""
    plain = graph.plain
    edge_sources = row_ids(plain.indptr, np.int64)
    place = np.argsort(edge_sources * graph.n + plain.indices)  # sorted already: the identity
    keys = (edge_sources * graph.n + plain.indices)[place]
    arcs = graph.listed
    wanted = graph.edge_sources[arcs].astype(np.int64) * graph.n + graph.edge_targets[arcs]
    found = values[place[np.searchsorted(keys, wanted)]].tolist()
    if not both:
        return dict(zip(graph.edges, found, strict=True))
    return {
        edge: value
        for (u, v), value in zip(graph.edges, found, strict=True)
        for edge in ((u, v), (v, u))
    }


class Betweenness:
    """Functions of networkx's modules on betweenness, percolation and load."""

    @serves(GROUP, WORK)
    def betweenness_centrality(
        self,
        G: Any,
        k: int | None = None,
        normalized: bool = True,
        weight: Any = None,
        endpoints: bool = False,
        seed: Any = None,
    ) -> dict[Any, float]:
        """Share of all shortest paths that pass through each node."""
        sources = _drawn(G, None if k == len(G) else k, seed)
        chosen = np.arange(G.n) if sources is None else sources
        searches = Searches.of(G)
        sums = self._sums(G, chosen, weight)
        if endpoints:
            searcher = searches.searcher()
            for block in searcher.blocks(chosen, 1):
                marks = searcher.marks(block)
                sums += marks.sum(axis=0)
                np.add.at(sums, block, marks.sum(axis=1) - 2.0)  # its own mark is no path
        sums *= _scale(G, sources, normalized=normalized, endpoints=endpoints)
        return _named(G, sums)

    def _sums(
        self, graph: NetworkxGraph, chosen: NDArray[np.int64], weight: Any
    ) -> NDArray[np.float64]:
        if not graph.n:
            return np.zeros(0)
        device = Searches.of(graph).device
        weighted = weight is not None
        held = graph.weighted(weight) if weighted else graph.plain
        return _exact(lambda: vertex_sums(held, chosen, weighted=weighted, device=device))

    @serves(GROUP, WORK, multigraph=False)
    def edge_betweenness_centrality(
        self,
        G: Any,
        k: int | None = None,
        normalized: bool = True,
        weight: Any = None,
        seed: Any = None,
    ) -> dict[tuple[Any, Any], float]:
        """Share of all shortest paths that pass along each edge."""
        sources = _drawn(G, k, seed)
        chosen = np.arange(G.n) if sources is None else sources
        weighted = weight is not None
        held = G.weighted(weight) if weighted else G.plain
        device = Searches.of(G).device
        sums = _exact(lambda: edge_sums(held, chosen, weighted=weighted, device=device))
        count = None if sources is None else np.zeros(len(sources), np.int64)
        scale = _scale(G, count, normalized=normalized, endpoints=True)
        return _by_edge(G, sums * scale)

    @serves(GROUP, WORK, weighted=False)
    def betweenness_centrality_subset(
        self,
        G: Any,
        sources: Any,
        targets: Any,
        normalized: bool = False,
        weight: Any = None,
    ) -> dict[Any, float]:
        """Share of the shortest paths between some nodes that pass through each."""
        chosen, aims = _ends(G, sources, targets)
        device = Searches.of(G).device
        sums = _exact(lambda: subset_sums(G.plain, chosen, aims, device))
        return _named(G, sums * _scale(G, None, normalized=normalized))

    @serves(GROUP, WORK, weighted=False, multigraph=False)
    def edge_betweenness_centrality_subset(
        self,
        G: Any,
        sources: Any,
        targets: Any,
        normalized: bool = False,
        weight: Any = None,
    ) -> dict[tuple[Any, Any], float]:
        """Share of the shortest paths between some nodes that pass along each edge."""
        chosen, aims = _ends(G, sources, targets)
        device = Searches.of(G).device
        sums = _exact(lambda: subset_sums(G.plain, chosen, aims, device, edges=True))
        if not G.directed:
            sums = sums + sums[reverse_places(G.plain)]
        return _by_edge(G, sums * _scale(G, None, normalized=normalized, endpoints=True))

    @serves(GROUP, WORK, weighted=False, refuses=CUT)
    def newman_betweenness_centrality(
        self,
        G: Any,
        v: Any = None,
        cutoff: Any = None,
        normalized: bool = True,
        weight: Any = None,
    ) -> Any:
        """Load of each node, or of one: what passes if packets part evenly."""
        device = Searches.of(G).device
        sums = load_sums(G.plain, np.arange(G.n), device).astype(np.float64)
        if normalized and G.n > 2:
            sums *= 1 / ((G.n - 1) * (G.n - 2))
        return _named(G, sums) if v is None else _named(G, sums)[v]

    @serves(GROUP, WORK, refuses=CUT, directed=False, multigraph=False)
    def edge_load_centrality(self, G: Any, cutoff: Any = False) -> dict[tuple[Any, Any], float]:
        """Load of each edge in both directions."""
        device = Searches.of(G).device
        sums = load_sums(G.plain, np.arange(G.n), device, edges=True).astype(np.float64)
        return _by_edge(G, G.n + sums + sums[reverse_places(G.plain)], both=True)

    @serves(GROUP, WORK, weighted=False)
    def percolation_centrality(
        self,
        G: Any,
        attribute: Any = "percolation",
        states: Any = None,
        weight: Any = None,
    ) -> dict[Any, float]:
        """Betweenness in which sources count by how far something has spread to them."""
        if states is None:
            states = {
                node: 1 if value is None else value
                for node, value in G.node_values.get(attribute, dict.fromkeys(G, 1)).items()
            }
        own = np.array([states[node] for node in G], np.float64)
        device, everyone = Searches.of(G).device, np.arange(G.n)
        sums = _exact(lambda: subset_sums(G.plain, everyone, np.ones(G.n), device, shares=own))
        rest = float(sum(states.values())) - own
        scaled = np.divide(sums, rest, out=np.zeros(G.n), where=sums != 0)
        return _named(G, scaled * (1 / (G.n - 2)))

    bipartite_betweenness_centrality = as_networkx_has_it(
        "bipartite_betweenness_centrality", GROUP, WORK
    )


def _ends(
    graph: NetworkxGraph, sources: Any, targets: Any
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    chosen = list(sources)
    for node in chosen:
        if node not in graph:
            raise nx.NodeNotFound(f"Node {node} is not in G")
    aims = np.zeros(graph.n)
    aims[graph.vertices(node for node in targets if node in graph)] = 1
    return graph.vertices(chosen), aims
