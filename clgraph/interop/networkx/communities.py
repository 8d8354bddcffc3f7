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

    @serves(GROUP, WORK, directed=False, multigraph=False, refuses=LEVEL, note=OTHERS)
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
        if not G.heads.size:
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
        if ebunch is None:
            ebunch = _not_joined(G)
        else:
            ebunch = list(ebunch)
            for node in (node for pair in ebunch for node in pair):
                if node not in G:
                    raise nx.NodeNotFound(f"Node {node} not in G.")
        plan = Similarity(G.plain, device=Searches.of(G).device) if ebunch else None
        pairs = [[G.vertex(u), G.vertex(v)] for u, v in ebunch]
        values = plan.run(pairs).values.tolist() if plan is not None else []
        return iter([(u, v, p) for (u, v), p in zip(ebunch, values, strict=True)])


def _not_joined(graph: NetworkxGraph) -> list[tuple[Any, Any]]:
    """Give the pairs of nodes that no edge joins, each once, in networkx's order."""
    found = []
    nodes = set(graph.names)
    while nodes:
        u = nodes.pop()
        vertex = graph.vertex(u)
        row = graph.heads[graph.starts[vertex] : graph.starts[vertex + 1]].tolist()  # type: ignore[operator]
        found += [(u, v) for v in nodes - {graph.names[head] for head in row}]
    return found
