"""Triangles, squares and clustering, and quick tests of isomorphism by them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from clgraph.algorithms.triangles.calls import triangle_blocks
from clgraph.algorithms.triangles.calls import triangles as triangles_of
from clgraph.graph.csr import row_ids
from clgraph.graph.modules import module
from clgraph.interop.networkx.searching import Searches
from clgraph.interop.networkx.serving import serves

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from clgraph.interop.networkx.graph import NetworkxGraph

__all__ = ["Clustering"]

GROUP = "triangles and clustering"
WORK = "triangles"
BLOCK = 1 << 24  # pairs at distance two that are looked at together


def _counts(graph: NetworkxGraph) -> NDArray[np.int64]:
    """Triangles of each vertex, once a graph."""

    def count() -> NDArray[np.int64]:
        if not graph.n:
            return np.zeros(0, np.int64)
        device = Searches.of(graph).device
        return triangles_of(graph.plain, "vertex", clean=True, device=device)

    return _once(graph, "triangles", count)  # type: ignore[no-any-return]


def _once(graph: NetworkxGraph, key: str, work_out: Callable[[], Any]) -> Any:
    if key not in graph.kept:
        graph.kept[key] = work_out()
    return graph.kept[key]


def _neighbours(graph: NetworkxGraph) -> NDArray[np.int64]:
    """Neighbours of each vertex other than itself."""
    straight = graph.edge_sources != graph.edge_targets
    return np.bincount(graph.edge_sources[straight], minlength=graph.n)


def _chosen(graph: NetworkxGraph, nodes: Any, values: list[Any]) -> Any:
    """Values by node: of all, of some, or of one."""
    if nodes is None:
        return dict(zip(graph.names, values, strict=True))
    if nodes in graph:
        return values[graph.vertex(nodes)]  # type: ignore[index]
    return {node: values[graph.vertex(node)] for node in graph.nbunch_iter(nodes)}  # type: ignore[index]


def _shares(graph: NetworkxGraph) -> list[Any]:
    degrees = _neighbours(graph).astype(np.float64)
    pairs = degrees * (degrees - 1)
    found = 2.0 * _counts(graph)
    shares = np.divide(found, pairs, out=np.zeros(graph.n), where=found > 0)
    return [share or 0 for share in shares.tolist()]


class Clustering:
    """Functions of networkx's modules on clustering and on isomorphism at a glance."""

    @serves(GROUP, WORK, directed=False)
    def triangles(self, G: Any, nodes: Any = None) -> Any:
        """Triangles of each node, of some, or of one."""
        if nodes is not None and G.is_multigraph():
            raise nx.NetworkXNotImplemented("not implemented for multigraph type")
        return _chosen(G, nodes, _counts(G).tolist())

    @serves(GROUP, WORK, directed=False, multigraph=False)
    def transitivity(self, G: Any) -> float:
        """Share of the paths of two edges that a third edge closes."""
        degrees = _neighbours(G)
        closed = 2 * int(_counts(G).sum())
        paths = int((degrees * (degrees - 1)).sum())
        return closed / paths if closed else 0

    @serves(GROUP, WORK, directed=False, multigraph=False, weighted=False)
    def clustering(self, G: Any, nodes: Any = None, weight: Any = None) -> Any:
        """Share of the pairs of a node's neighbours that are neighbours themselves."""
        return _chosen(G, nodes, _shares(G))

    @serves(GROUP, WORK, directed=False, multigraph=False, weighted=False)
    def average_clustering(
        self,
        G: Any,
        nodes: Any = None,
        weight: Any = None,
        count_zeros: bool = True,
    ) -> float:
        """Mean of the clustering of all nodes, or some."""
        values = list(_chosen(G, nodes, _shares(G)).values())
        if not count_zeros:
            values = [value for value in values if value]
        return float(sum(values) / len(values))

    @serves(GROUP, WORK, directed=False, multigraph=False)
    def generalized_degree(self, G: Any, nodes: Any = None) -> Any:
        """How many edges of a node are in how many triangles."""

        def work_out() -> list[Counter[int]]:
            plain, found = G.plain, Searches.of(G)
            of_edges = triangles_of(plain, "edge", clean=True, device=found.device)
            edge_sources = row_ids(plain.indptr)
            straight = edge_sources != plain.indices
            pairs, times = np.unique(
                np.stack([edge_sources[straight], of_edges[straight].astype(np.int64)]),
                axis=1,
                return_counts=True,
            )
            counters: list[Counter[int]] = [Counter() for _ in range(G.n)]
            for vertex, count, often in zip(*pairs.tolist(), times.tolist(), strict=True):
                counters[vertex][count] = often
            return counters

        return _chosen(G, nodes, _once(G, "generalized degrees", work_out) if G.n else [])

    @serves(GROUP, WORK, directed=False)
    def square_clustering(self, G: Any, nodes: Any = None) -> Any:
        """Share of the possible squares at a node that there are."""
        straight = G.edge_sources != G.edge_targets
        arrays = (
            np.ones(int(straight.sum()), np.int64),
            (G.edge_sources[straight], G.edge_targets[straight]),
        )
        adjacent = module("scipy.sparse").csr_array(arrays, shape=(G.n, G.n))
        degrees = _neighbours(G)
        at_two = adjacent @ (degrees - 1)
        squares, inner = np.zeros(G.n, np.int64), np.zeros(G.n, np.int64)
        rows = max(BLOCK // max(int((adjacent @ degrees).max(initial=1)), 1), 1)
        for begin in range(0, G.n, rows):
            part = slice(begin, begin + rows)
            paths = (adjacent[part] @ adjacent).tocoo()
            others = paths.coords[0] + begin != paths.coords[1]
            row, many = paths.coords[0][others], paths.data[others]
            height = paths.shape[0]
            squares[part] = np.bincount(row, many * (many - 1), minlength=height) // 2
            inner[part] = 2 * _counts(G)[part]
        of_neighbours = (at_two + degrees) * (degrees - 1)
        possible = of_neighbours - degrees * (degrees - 1) - inner - squares
        shares = np.divide(squares, possible, out=np.zeros(G.n), where=possible > 0)
        return _chosen(G, nodes, [share or 0 for share in shares.tolist()])

    @serves(GROUP, WORK, directed=False)
    def all_triangles(self, G: Any, nbunch: Any = None) -> Iterator[tuple[Any, Any, Any]]:
        """Triangles, each once; those only that have a corner among some nodes."""
        if not G.n:
            return
        rank = np.arange(G.n)
        wanted = np.ones(G.n, bool)
        if nbunch is not None:
            first = G.vertices(dict.fromkeys(G.nbunch_iter(nbunch)))
            wanted[:] = False
            wanted[first] = True
            rank = np.argsort(np.concatenate([first, np.flatnonzero(~wanted)]))
        by_rank = np.argsort(rank)
        for corners in triangle_blocks(G.plain, clean=True, device=Searches.of(G).device):
            block = corners[wanted[corners].any(axis=1)]
            block = by_rank[np.sort(rank[block], axis=1)]
            for u, v, w in block.tolist():
                yield G.names[u], G.names[v], G.names[w]

    @serves(GROUP, WORK, directed=False)
    def fast_could_be_isomorphic(self, G1: Any, G2: Any) -> bool:
        """Whether degrees and triangles of nodes are the same."""
        return _same(G1, G2, lambda graph: [graph.degrees, _counts(graph)])

    @serves(GROUP, WORK)
    def faster_could_be_isomorphic(self, G1: Any, G2: Any) -> bool:
        """Whether degrees of nodes are the same."""
        return _same(G1, G2, lambda graph: [graph.degrees])


def _same(
    one: NetworkxGraph, other: NetworkxGraph, figures: Callable[[NetworkxGraph], list[Any]]
) -> bool:
    if one.n != other.n:
        return False
    rows = [np.stack(figures(graph)) for graph in (one, other)]
    sorted_rows = [table[:, np.lexsort(table[::-1])] for table in rows]
    return np.array_equal(sorted_rows[0], sorted_rows[1])
