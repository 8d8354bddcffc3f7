"""Closeness, harmonic centrality, and how much of a graph nodes reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from clgraph.interop.networkx.graph import NetworkxGraph
from clgraph.interop.networkx.searching import Searches
from clgraph.interop.networkx.serving import as_networkx_has_it, serves

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Closeness"]

GROUP = "closeness and reaching"
ALL = "all pairs"


def totals(
    graph: NetworkxGraph, sources: NDArray[np.int64], weight: Any, *, back: bool = False
) -> Any:
    """Figures of searches from, or to, vertices, in hops or by weight."""
    searches = Searches.of(graph)
    if weight is None:
        return searches.totals(sources, back=back)
    return searches.weighted_searcher(weight, back=back).totals(sources)


def _closeness(found: Any, n: int, *, improved: bool) -> list[float]:
    others = (found.reached - 1).astype(np.float64)
    values = np.divide(others, found.total, out=np.zeros(others.size), where=found.total > 0)
    if improved and n > 1:
        values *= others / (n - 1)
    return values.tolist()  # type: ignore[no-any-return]


class Closeness:
    """Functions of networkx's modules on closeness, harmonic and reaching centrality."""

    @serves(GROUP, ALL, later={"sp": None})
    def closeness_centrality(
        self,
        G: Any,
        u: Any = None,
        distance: Any = None,
        wf_improved: bool = True,
    ) -> Any:
        """Reciprocal of the mean distance to a node from those that reach it."""
        nodes = G.names if u is None else [u]
        if u is not None and u not in G:
            raise nx.NodeNotFound(f"Source {u} is not in G")
        found = totals(G, G.vertices(nodes), distance, back=True)
        values = _closeness(found, G.n, improved=wf_improved)
        return dict(zip(nodes, values, strict=True)) if u is None else values[0]

    @serves(GROUP, ALL)
    def harmonic_centrality(
        self,
        G: Any,
        nbunch: Any = None,
        distance: Any = None,
        sources: Any = None,
    ) -> dict[Any, float]:
        """Sum of the reciprocals of the distances to a node, from all or some."""
        wanted = set(G.nbunch_iter(nbunch))
        starts = set(G.nbunch_iter(sources))
        chosen = [node for node in G if node in wanted]
        vertices = G.vertices(chosen)
        if len(starts) == G.n:
            values = totals(G, vertices, distance, back=True).harmonic
        else:
            values = np.zeros(len(chosen))
            begin = G.vertices(node for node in G if node in starts)
            for rows in _distances(G, begin, distance):
                apart = rows[:, vertices]
                far = (apart > 0) & np.isfinite(apart)
                values += np.divide(1, apart, out=np.zeros(apart.shape), where=far).sum(axis=0)
        return dict(zip(chosen, values.tolist(), strict=True))

    @serves(
        GROUP,
        ALL,
        directed=False,
        multigraph=False,
        note="with `prev_cc`; without it networkx changes the graph",
    )
    def incremental_closeness_centrality(
        self,
        G: Any,
        edge: Any,
        prev_cc: Any = None,
        insertion: bool = True,
        wf_improved: bool = True,
    ) -> dict[Any, float]:
        """Compute the closeness once an edge is there, or gone, given what it was before."""
        if prev_cc is None:
            raise NotImplementedError("without prev_cc networkx changes the graph")
        if set(prev_cc) != set(G.names):
            raise nx.NetworkXError("prev_cc and G do not have the same nodes")
        ends = G.vertices(edge)
        changed = _with_edge(G, ends, insertion=insertion)
        without = Searches.of(G if insertion else changed)
        away = [without.hops(v) for v in ends.tolist()]
        same = (away[0] >= 0) & (away[1] >= 0) & (np.abs(away[0] - away[1]) <= 1)
        vertices = np.flatnonzero(~same)
        values = {node: prev_cc[node] for node in G}
        found = totals(changed, vertices, None)
        for vertex, value in zip(
            vertices.tolist(), _closeness(found, G.n, improved=wf_improved), strict=True
        ):
            values[G.names[vertex]] = value
        return values

    group_closeness_centrality = as_networkx_has_it(
        "group_closeness_centrality", GROUP, "one search"
    )

    @serves(GROUP, ALL)
    def bipartite_closeness_centrality(
        self,
        G: Any,
        nodes: Any,
        normalized: bool = True,
    ) -> dict[Any, float]:
        """Scale closeness by the least sum of distances that two sets of nodes allow."""
        top = set(nodes)
        n, m = len(top), G.n - len(top)
        order = [node for node in G if node in top] + [node for node in G if node not in top]
        found = totals(G, G.vertices(order), None)
        is_top = np.array([node in top for node in order])
        best = np.where(is_top, m + 2 * (n - 1), n + 2 * (m - 1)).astype(np.float64)
        values = np.divide(best, found.total, out=np.zeros(G.n), where=found.total > 0)
        if normalized and G.n > 1:
            values *= (found.reached - 1) / (G.n - 1)
        return dict(zip(order, values.tolist(), strict=True))

    @serves(
        GROUP, "one search", weighted=False, refuses={"paths": "networkx takes them as they are"}
    )
    def local_reaching_centrality(
        self,
        G: Any,
        v: Any,
        paths: Any = None,
        weight: Any = None,
        normalized: bool = True,
    ) -> float:
        """Share of the other nodes that a node reaches; of an undirected graph, how near."""
        _check_reaching(G, single="local_reaching_centrality")
        if v not in G:
            raise nx.NodeNotFound(f"Source {v} not in G")
        return _reaching(G, G.vertices([v]))[0]

    @serves(GROUP, ALL, weighted=False)
    def global_reaching_centrality(
        self,
        G: Any,
        weight: Any = None,
        normalized: bool = True,
    ) -> float:
        """Mean distance of the local reaching centralities from the largest."""
        _check_reaching(G, single="local_reaching_centrality")
        values = _reaching(G, np.arange(G.n))
        most = max(values)
        return float(sum(most - value for value in values) / (G.n - 1))


def _check_reaching(graph: NetworkxGraph, single: str) -> None:
    if not graph.edge_targets.size:
        raise nx.NetworkXError("Size of G must be positive")
    if graph.n == 1:
        raise nx.NetworkXError(f"{single} of a single node with self-loop not well-defined")


def _reaching(graph: NetworkxGraph, vertices: NDArray[np.int64]) -> list[float]:
    found = Searches.of(graph).totals(vertices)
    values = found.reached - 1 if graph.directed else found.harmonic
    return (values / (graph.n - 1)).tolist()  # type: ignore[no-any-return]


def _distances(graph: NetworkxGraph, sources: NDArray[np.int64], weight: Any) -> Any:
    """Blocks of distances [k, n] as float64, infinite where there is no path."""
    searches = Searches.of(graph)
    if weight is None:
        for _, rows in searches.hop_blocks(sources):
            yield np.where(rows < 0, np.inf, rows)
        return
    searcher = searches.weighted_searcher(weight)
    for vertex in sources.tolist():
        row = searcher.distances(np.array([vertex]))
        yield np.where(row == searcher.unreached, np.inf, row.astype(np.float64))


def _with_edge(graph: NetworkxGraph, ends: NDArray[np.int64], *, insertion: bool) -> NetworkxGraph:
    """Copy of an undirected graph with one edge more, or less."""
    edge_sources, edge_targets = (
        graph.edge_sources.astype(np.int64),
        graph.edge_targets.astype(np.int64),
    )
    u, v = ends.tolist()
    here = ((edge_sources == u) & (edge_targets == v)) | ((edge_sources == v) & (edge_targets == u))
    edge_sources, edge_targets = edge_sources[~here], edge_targets[~here]
    if insertion:
        more = [[u, v], [v, u]][: 2 - (u == v)]
        edge_sources = np.concatenate([edge_sources, [pair[0] for pair in more]])
        edge_targets = np.concatenate([edge_targets, [pair[1] for pair in more]])
    order = np.argsort(edge_sources, kind="stable")
    starts = np.zeros(graph.n + 1, graph.starts.dtype)
    np.cumsum(np.bincount(edge_sources, minlength=graph.n), out=starts[1:])
    arrays = (starts, edge_targets[order].astype(graph.edge_targets.dtype))
    return NetworkxGraph(graph.names, arrays, directed=False)
