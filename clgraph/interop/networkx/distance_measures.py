"""Eccentricity and what follows from it, indices of distances, efficiency."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from clgraph.algorithms.multi_search.eccentricity import diameter as exact_diameter
from clgraph.interop.networkx.closeness import _distances, totals
from clgraph.interop.networkx.searching import Searches, by_distance
from clgraph.interop.networkx.serving import as_networkx_has_it, serves

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.interop.networkx.graph import NetworkxGraph

__all__ = ["DistanceMeasures"]

GROUP = "distances"
ALL = "all pairs"
GIVEN = {"sp": "distances that are given are networkx's business"}
MEASURED = {"e": "eccentricities that are given are networkx's business"}
DIRECTED = "Found infinite path length because the digraph is not strongly connected"
UNDIRECTED = "Found infinite path length because the graph is not connected"


def _eccentricities(graph: NetworkxGraph, vertices: NDArray[np.int64], weight: Any) -> list[Any]:
    found = totals(graph, vertices, weight)
    if (found.reached < graph.n).any():
        raise nx.NetworkXError(DIRECTED if graph.directed else UNDIRECTED)
    return _whole(graph, found.farthest, weight).tolist()  # type: ignore[no-any-return]


def _whole(graph: NetworkxGraph, values: Any, weight: Any) -> Any:
    """Give integers for integer weights."""
    if weight is not None and graph.weights(weight).dtype.kind == "i":
        return np.asarray(values).astype(np.int64)
    return values


def _those(graph: NetworkxGraph, weight: Any, wanted: Any) -> list[Any]:
    values = _eccentricities(graph, np.arange(graph.n), weight)
    if not values:
        raise ValueError("a graph without nodes has no eccentricities")
    limit = wanted(values)
    return [node for node, value in zip(graph, values, strict=True) if value == limit]


def _connected(graph: NetworkxGraph) -> bool:
    if not graph.n:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    searches = Searches.of(graph)
    found = searches.strong_components() if graph.directed else searches.components()
    return bool(found.count == 1)


class DistanceMeasures:
    """Functions of networkx's modules on distance measures, efficiency and Wiener's index."""

    @serves(GROUP, ALL, refuses=GIVEN)
    def eccentricity(
        self,
        G: Any,
        v: Any = None,
        sp: Any = None,
        weight: Any = None,
    ) -> Any:
        """Distance from each node, or some, to the one farthest from it."""
        nodes = list(G.nbunch_iter(v))
        values = _eccentricities(G, G.vertices(nodes), weight)
        found = dict(zip(nodes, values, strict=True))
        return found[v] if v in G else found

    @serves(GROUP, ALL, refuses=MEASURED)
    def diameter(
        self,
        G: Any,
        e: Any = None,
        usebounds: bool = False,
        weight: Any = None,
    ) -> Any:
        """Largest distance between two nodes."""
        if weight is not None or not G.n:
            return max(_eccentricities(G, np.arange(G.n), weight))
        if not _connected(G):
            raise nx.NetworkXError(DIRECTED if G.directed else UNDIRECTED)
        return int(exact_diameter(G.plain, disconnected="ignore", device=Searches.of(G).device))

    @serves(GROUP, ALL, refuses=MEASURED)
    def radius(
        self,
        G: Any,
        e: Any = None,
        usebounds: bool = False,
        weight: Any = None,
    ) -> Any:
        """Smallest eccentricity."""
        return min(_eccentricities(G, np.arange(G.n), weight))

    @serves(GROUP, ALL, refuses=MEASURED)
    def center(
        self,
        G: Any,
        e: Any = None,
        usebounds: bool = False,
        weight: Any = None,
    ) -> list[Any]:
        """Nodes of the smallest eccentricity."""
        return _those(G, weight, min)

    @serves(GROUP, ALL, refuses=MEASURED)
    def periphery(
        self,
        G: Any,
        e: Any = None,
        usebounds: bool = False,
        weight: Any = None,
    ) -> list[Any]:
        """Nodes of the largest eccentricity."""
        return _those(G, weight, max)

    @serves(GROUP, ALL, refuses=GIVEN | {"attr": "networkx writes it into the graph"})
    def barycenter(
        self,
        G: Any,
        weight: Any = None,
        attr: Any = None,
        sp: Any = None,
    ) -> list[Any]:
        """Nodes of the smallest sum of distances."""
        found = totals(G, np.arange(G.n), weight)
        if (found.reached < G.n).any():
            raise nx.NetworkXNoPath(
                f"Input graph {G} is disconnected, so every induced subgraph "
                "has infinite barycentricity."
            )
        least = found.total.min() if G.n else 0
        return [G.names[v] for v in np.flatnonzero(found.total == least).tolist()]

    @serves(GROUP, ALL, refuses=GIVEN)
    def harmonic_diameter(
        self,
        G: Any,
        sp: Any = None,
        *,
        weight: Any = None,
    ) -> float:
        """Harmonic mean of the distances of all pairs."""
        total = float(totals(G, np.arange(G.n), weight).harmonic.sum())
        if total:
            return float(G.n * (G.n - 1) / total)
        return math.inf if G.n > 1 else math.nan

    @serves(GROUP, "one search by weight")
    def approximate_diameter(self, G: Any, seed: Any = None) -> int:
        """Lower bound on the largest distance, by two searches from a random node."""
        if not G.n:
            raise nx.NetworkXError("Expected non-empty NetworkX graph!")
        if G.n == 1:
            return 0
        searches = Searches.of(G)
        source = G.vertex(seed.choice(G.names))
        longest = 0
        for back in (False, True)[: 1 + G.directed]:
            away = searches.hops(source, back=back)
            if (away < 0).any():
                kind = "DiGraph not strongly" if G.directed else "Graph not"
                raise nx.NetworkXError(f"{kind} connected.")
            last = int(by_distance(away, np.arange(G.n))[-1])
            # The farthest from the source is searched from the other way round.
            other_way = searches.hops(last, back=G.directed and not back)
            longest = max(longest, int(other_way.max()))
        return longest

    @serves(GROUP, ALL)
    def wiener_index(self, G: Any, weight: Any = None) -> float:
        """Sum of the distances of all pairs; infinite if some have no path."""
        if not _connected(G):
            return math.inf
        total = _whole(G, totals(G, np.arange(G.n), weight).total, weight).sum().item()
        return total if G.directed else total / 2  # type: ignore[no-any-return]

    @serves(GROUP, ALL, directed=False, multigraph=False)
    def hyper_wiener_index(self, G: Any, weight: Any = None) -> float:
        """Sum of distances and of their squares over all pairs."""
        if not _connected(G):
            return math.inf
        rows = _distances(G, np.arange(G.n), weight)
        return float(sum((apart + apart**2).sum() for apart in rows) / 2)

    @serves(GROUP, ALL, directed=False, multigraph=False)
    def schultz_index(self, G: Any, weight: Any = None) -> float:
        """Sum over all pairs of their distance times the sum of their degrees."""
        if not _connected(G):
            return math.inf
        # Each vertex has its degree with all its distances, from either end. Degrees are counted in
        # edges, as networkx does it by weight too.
        return float(G.degrees @ totals(G, np.arange(G.n), weight).total)

    @serves(GROUP, ALL, directed=False, multigraph=False)
    def gutman_index(self, G: Any, weight: Any = None) -> float:
        """Sum over all pairs of their distance times the product of their degrees."""
        if not _connected(G):
            return math.inf
        degrees, total, begin = G.degrees, 0.0, 0
        for rows in _distances(G, np.arange(G.n), weight):
            total += float(degrees[begin : begin + len(rows)] @ (rows @ degrees))
            begin += len(rows)
        return total / 2

    efficiency = as_networkx_has_it("efficiency", GROUP, "one search", directed=False)

    @serves(GROUP, ALL, directed=False)
    def global_efficiency(self, G: Any) -> float:
        """Mean of the reciprocals of the distances of all pairs."""
        pairs = G.n * (G.n - 1)
        if not pairs:
            return 0
        return float(totals(G, np.arange(G.n), None).harmonic.sum() / pairs)

    voronoi_cells = as_networkx_has_it("voronoi_cells", GROUP, "one search")
