"""Jaccard and overlap, of pairs and of all edges, against networkx and igraph."""

from functools import cache

import igraph
import networkx as nx
import numpy as np
import pytest

import clgraph as cg
from clgraph.algorithms.similarity import plan as plans
from clgraph.errors import InvalidArgumentError, InvalidGraphError, VerificationError

everywhere = pytest.mark.runtimes("pocl", "pocl+lanes32", "intel")


@cache
def named_graphs():
    rng = np.random.default_rng(5)
    ends = rng.integers(0, 60, (2, 500))
    return {
        "kron": cg.generate.kron(8, 8, seed=1),
        "star": cg.generate.star(300),
        "loops": cg.from_edges(*ends, n=63, directed=False, symmetrize=True, dedup=True),
        "directed": cg.from_edges(*ends, n=63, dedup=True),
        "edgeless": cg.from_edges([], [], n=3, directed=False),
    }


def by_sets(graph, pairs):
    rows = [set(part.tolist()) for part in np.split(graph.indices, graph.indptr[1:-1])]
    found = {"jaccard": [], "overlap": [], "common": []}
    for u, v in pairs.tolist():
        both, either = len(rows[u] & rows[v]), len(rows[u] | rows[v])
        fewer = min(len(rows[u]), len(rows[v]))
        found["common"].append(both)
        found["jaccard"].append(both / either if either else 0.0)
        found["overlap"].append(both / fewer if fewer else 0.0)
    return found


def stored_edges(graph):
    return np.column_stack([np.repeat(np.arange(graph.n), graph.degrees), graph.indices])


@everywhere
@pytest.mark.parametrize("name", named_graphs())
def test_pairs_and_all_edges(device, name):
    graph = named_graphs()[name]
    pairs = np.random.default_rng(1).integers(0, graph.n, (400, 2))
    plan = cg.Similarity(graph, device=device)
    for given, listed in ((pairs, pairs), (None, stored_edges(graph))):
        wanted = by_sets(graph, listed)
        for measure in ("jaccard", "overlap"):
            result = plan.run(given, measure=measure, verify=True)
            assert result.values.tolist() == wanted[measure]
            assert result.common.tolist() == wanted["common"]
            assert result.stats.pairs == len(listed)


@everywhere
@pytest.mark.parametrize("preset", ["merge", "search", "path", "triangles"])
def test_a_configuration_changes_no_result(device, preset):
    graph = named_graphs()["kron"]
    wanted = by_sets(graph, stored_edges(graph))
    assert cg.jaccard(graph, config=preset, device=device).tolist() == wanted["jaccard"]
    assert cg.overlap(graph, config=preset, device=device).tolist() == wanted["overlap"]


@pytest.mark.runtimes("pocl")
def test_values_are_networkx_and_igraphs_own(device):
    graph = named_graphs()["kron"]
    pairs = np.random.default_rng(2).integers(0, graph.n, (300, 2))
    pairs = pairs[(pairs[:, 0] != pairs[:, 1]) & (graph.degrees[pairs].min(axis=1) > 0)]
    found = cg.jaccard(graph, pairs, device=device)
    sources, targets, _ = graph.listed_edges()
    network = nx.Graph(zip(sources.tolist(), targets.tolist(), strict=True))
    network.add_nodes_from(range(graph.n))
    listed = [tuple(pair) for pair in pairs.tolist()]
    theirs = [p for _, _, p in nx.jaccard_coefficient(network, listed)]
    np.testing.assert_allclose(found, theirs, rtol=1e-14)
    other = igraph.Graph(n=graph.n, edges=np.column_stack([sources, targets]))
    theirs = other.similarity_jaccard(pairs=pairs.tolist(), loops=False)
    np.testing.assert_allclose(found, theirs, rtol=1e-14)


def test_pairs_go_in_blocks(any_device, monkeypatch):
    monkeypatch.setattr(plans, "BLOCK", 70)
    graph = named_graphs()["directed"]
    told = []
    pairs = np.random.default_rng(3).integers(0, graph.n, (200, 2))
    plan = cg.Similarity(graph, device=any_device)
    result = plan.run(pairs, progress=lambda *what: told.append(what))
    assert result.values.tolist() == by_sets(graph, pairs)["jaccard"]
    assert [done for done, _, _ in told] == [70, 140, 200, 200]
    assert result.stats.launches == 3
    assert result.stats.kernel_ms > 0


def test_what_is_refused(any_device):
    graph = named_graphs()["kron"]
    for pairs in ([[0]], [[0, 0.5]], [0, 1]):
        with pytest.raises(InvalidArgumentError, match="shape"):
            cg.jaccard(graph, pairs, device=any_device)
    for pairs in ([[0, graph.n]], [[-1, 0]]):
        with pytest.raises(InvalidArgumentError, match="names vertex"):
            cg.overlap(graph, pairs, device=any_device)
    with pytest.raises(InvalidGraphError, match="dedup=True"):
        cg.jaccard(cg.from_edges([0, 0], [1, 1]), device=any_device)
    with pytest.raises(InvalidArgumentError, match="leave it out"):
        cg.jaccard(named_graphs()["directed"], config="triangles", device=any_device)
    with pytest.raises(InvalidArgumentError, match="measure"):
        cg.Similarity(graph, device=any_device).run(measure="cosine")
    assert cg.jaccard(graph, [], device=any_device).size == 0


def test_a_wrong_count_is_seen(any_device, monkeypatch):
    plan = cg.Similarity(named_graphs()["directed"], device=any_device)
    monkeypatch.setattr(
        plan, "_common", lambda _, sources, *__: np.full(len(sources), 77, np.uint32)
    )
    with pytest.raises(VerificationError, match="in common, not 77"):
        plan.run(verify=True)
