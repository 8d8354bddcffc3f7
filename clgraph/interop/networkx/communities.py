"""Communities, their modularity, and how alike nodes are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from clgraph.algorithms.communities.detection import Leiden, Louvain
from clgraph.algorithms.communities.modularity import modularity as modularity_of
from clgraph.algorithms.similarity.plan import Similarity
from clgraph.interop.networkx.searching import Searches
from clgraph.interop.networkx.serving import serves

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from clgraph.interop.networkx.graph import NetworkxGraph

__all__ = ["Communities"]

GROUP = "communities and similarity"
WORK = "triangles"
LEVEL = {"max_level": "levels are as many as it takes"}
OTHERS = "other communities of about the same modularity; a threshold is ours"


def _seed(seed: Any) -> int:
    """Give a seed of ours for whatever networkx takes."""
    if isinstance(seed, int):
        return seed % 2**32
    if seed is None:
        return 0
    drawn = seed.random() if hasattr(seed, "random") else 0.5
    return int(float(np.ravel(drawn)[0]) * 2**32) % 2**32


def _detected(
    graph: NetworkxGraph, kind: type[Leiden | Louvain], weight: Any, resolution: Any, seed: Any
) -> list[set[Any]]:
    """Give communities as sets of nodes."""
    if not graph.n:
        return []
    plan = kind(graph.weighted(weight), device=Searches.of(graph).device)
    found = plan.run(resolution=float(resolution), seed=_seed(seed))
    return [{graph.names[v] for v in part.tolist()} for part in found.groups()]


class Communities:
    """Functions of networkx's modules on communities and link prediction."""

    @serves(
        GROUP,
        WORK,
        directed=False,
        multigraph=False,
        refuses=LEVEL,
        note=OTHERS,
        later={"metric": "modularity", "theta": 0.01},
    )
    def leiden_communities(
        self,
        G: Any,
        weight: Any = "weight",
        resolution: Any = 1,
        max_level: Any = None,
        seed: Any = None,
    ) -> list[set[Any]]:
        """Communities of high modularity that are connected."""
        return _detected(G, Leiden, weight, resolution, seed)

    @serves(GROUP, WORK, directed=False, multigraph=False, refuses=LEVEL, note=OTHERS)
    def louvain_communities(
        self,
        G: Any,
        weight: Any = "weight",
        resolution: Any = 1,
        threshold: Any = 1e-07,
        max_level: Any = None,
        seed: Any = None,
    ) -> list[set[Any]]:
        """Communities of high modularity."""
        return _detected(G, Louvain, weight, resolution, seed)

    @serves(GROUP, WORK, multigraph=False)
    def modularity(
        self, G: Any, communities: Any, weight: Any = "weight", resolution: Any = 1
    ) -> float:
        """Share of edges within communities beyond that which is expected."""
        listed = [set(community) for community in communities]
        covered = set().union(*listed)
        if sum(map(len, listed)) != G.n or not all(node in G for node in covered):
            raise nx.community.quality.NotAPartition(G, communities)
        if len(covered) != G.n:
            raise nx.community.quality.NotAPartition(G, communities)
        if not G.edge_targets.size:
            raise ZeroDivisionError("division by zero")  # as networkx has it
        labels = np.zeros(G.n, np.int64)
        for number, community in enumerate(listed):
            labels[G.vertices(community)] = number
        device = Searches.of(G).device
        return modularity_of(
            G.weighted(weight), labels, resolution=float(resolution), device=device
        )

    @serves(GROUP, WORK, directed=False, multigraph=False)
    def jaccard_coefficient(self, G: Any, ebunch: Any = None) -> Iterator[tuple[Any, Any, float]]:
        """Share of the neighbours of either node that both have."""
        ebunch = _pairs(G, ebunch)
        plan = Similarity(G.plain, device=Searches.of(G).device) if ebunch else None
        pairs = [[G.vertex(u), G.vertex(v)] for u, v in ebunch]
        values = plan.run(pairs).values.tolist() if plan is not None else []
        return iter([(u, v, p) for (u, v), p in zip(ebunch, values, strict=True)])

    @serves(GROUP, "all pairs", directed=False, multigraph=False)
    def common_neighbor_centrality(
        self, G: Any, ebunch: Any = None, alpha: float = 0.8
    ) -> Iterator[tuple[Any, Any, float]]:
        """Neighbours that both nodes have, and how near they are, in shares of alpha."""
        chosen = _pairs(G, ebunch)
        if G.loops:
            raise NotImplementedError("a node is no neighbour of itself here")
        if any(u == v for u, v in chosen):
            raise nx.NetworkXAlgorithmError("Self loops are not supported")
        if not chosen:
            return iter([])
        pairs = np.array([[G.vertex(u), G.vertex(v)] for u, v in chosen])
        searches = Searches.of(G)
        common = Similarity(G.plain, device=searches.device).run(pairs).common.astype(np.int64)
        values = common if alpha == 1 else alpha * common + (1 - alpha) * _near(G, pairs)
        return iter([(u, v, p) for (u, v), p in zip(chosen, values.tolist(), strict=True)])


def _near(graph: NetworkxGraph, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """Nodes over the distance of each pair; 0 if there is no path."""
    sources, row_of = np.unique(pairs[:, 0], return_inverse=True)
    order = np.argsort(row_of, kind="stable")
    away = np.empty(len(pairs))
    done = 0
    for block, rows in Searches.of(graph).hop_blocks(sources):
        end = int(np.searchsorted(row_of[order], done + block.size))
        these = order[int(np.searchsorted(row_of[order], done)) : end]
        away[these] = rows[row_of[these] - done, pairs[these, 1]]
        done += block.size
    return np.divide(graph.n, away, out=np.zeros(len(pairs)), where=away > 0)


def _pairs(graph: NetworkxGraph, given: Any) -> list[tuple[Any, Any]]:
    """List the pairs that are given, or those that no edge joins."""
    if given is None:
        return _not_joined(graph)
    listed = list(given)
    for node in (node for pair in listed for node in pair):
        if node not in graph:
            raise nx.NodeNotFound(f"Node {node} not in G.")
    return listed


def _not_joined(graph: NetworkxGraph) -> list[tuple[Any, Any]]:
    """Give the pairs of nodes that no edge joins, each once, in networkx's order."""
    found = []
    nodes = set(graph.names)
    while nodes:
        u = nodes.pop()
        vertex = graph.vertex(u)
        row = graph.edge_targets[graph.starts[vertex] : graph.starts[vertex + 1]].tolist()  # type: ignore[operator]
        found += [(u, v) for v in nodes - {graph.names[target] for target in row}]
    return found
