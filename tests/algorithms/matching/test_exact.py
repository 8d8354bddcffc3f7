"""Exact matches of labelled queries against igraph's LAD and networkx's VF2."""

import igraph
import networkx as nx
import numpy as np
import pytest
from networkx.algorithms.isomorphism import GraphMatcher

import clgraph as cg


def random_graph(n, m, rng):
    src, dst = rng.integers(0, n, (2, m))
    return cg.from_edges(src, dst, n=n, symmetrize=True, dedup=True, self_loops=False)


def as_igraph(graph):
    src, dst, _ = graph.listed_edges()
    return igraph.Graph(graph.n, list(zip(src.tolist(), dst.tolist(), strict=True)))


def domains(target_labels, query_labels):
    return [np.flatnonzero(target_labels == label).tolist() for label in query_labels]


def test_all_exact_matches_are_found(device):
    """Issue: exact=True, listed and counted, as igraph's LAD finds them; disconnected too."""
    rng = np.random.default_rng(2)
    for _ in range(12):
        target, query = random_graph(25, 60, rng), random_graph(4, int(rng.integers(1, 6)), rng)
        labels = rng.integers(0, 2, 25), rng.integers(0, 2, 4)
        result = cg.subgraph_matching(
            target, query, labels=labels, exact=True, k=10_000, device=device, verify=True
        )
        wanted = as_igraph(target).get_subisomorphisms_lad(
            as_igraph(query), domains=domains(*labels), induced=False
        )
        assert result.mapping.tolist() == sorted(wanted)
        assert (result.count, result.complete) == (len(wanted), True)


def test_as_vf2_counts_them(any_device):
    rng = np.random.default_rng(4)
    target, query = random_graph(30, 70, rng), cg.generate.path(4).symmetrized()
    labels = rng.integers(0, 3, 30), np.array([0, 1, 2, 1])
    graphs = target.to_networkx(), query.to_networkx()
    for graph, own in zip(graphs, labels, strict=True):
        nx.set_node_attributes(graph, dict(enumerate(own.tolist())), "label")
    matcher = GraphMatcher(*graphs, node_match=lambda a, b: a["label"] == b["label"])
    wanted = sum(1 for _ in matcher.subgraph_monomorphisms_iter())
    result = cg.subgraph_matching(
        target, query, labels=labels, exact=True, k=1, limit=10**6, device=any_device
    )
    assert (result.count, result.complete) == (wanted, True)
    assert len(result.mapping) == min(wanted, 1)


def test_the_limit_stops_the_search(any_device):
    graph = cg.generate.complete(9)
    result = cg.subgraph_matching(
        graph, graph, exact=True, k=5, limit=100, device=any_device, verify=True
    )
    assert (result.count, result.complete, len(result.mapping)) == (100, False, 5)
    none = cg.subgraph_matching(
        graph, graph, labels=("aaaaaaaaa", "aaaaaaaab"), exact=True, device=any_device
    )
    assert (none.count, none.complete, none.mapping.shape) == (0, True, (0, 9))
    with pytest.raises(cg.InvalidArgumentError, match="no match"):
        _ = none.best
    full = cg.subgraph_matching(
        cg.generate.complete(5), cg.generate.complete(5), exact=True, k=120, device=any_device
    )
    assert (full.count, full.complete) == (120, True)


def test_one_vertex(any_device):
    query = cg.from_edges([], [], n=1)
    result = cg.subgraph_matching(
        cg.generate.complete(3), query, labels=("aba", "a"), exact=True, device=any_device
    )
    assert result.mapping.tolist() == [[0], [2]]
