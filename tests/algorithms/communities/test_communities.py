"""Louvain, Leiden and modularity, against networkx, igraph and NumPy, on all runtimes."""

import random

import igraph
import networkx as nx
import numpy as np
import pytest
from community_graphs import on_pocl, refined_parts, small_graphs

import clgraph as cg
from clgraph.algorithms.communities import iterating, moving
from clgraph.algorithms.communities.verify import host_modularity, verify_communities
from clgraph.engine.sweeps import SweepLog
from clgraph.errors import InvalidArgumentError, InvalidGraphError, VerificationError

on_both = pytest.mark.runtimes("pocl", "intel")
everywhere = pytest.mark.runtimes("pocl", "pocl+lanes8", "intel")


def as_igraph(graph):
    sources, targets, weights = graph.listed_edges()
    made = igraph.Graph(n=graph.n, edges=np.column_stack([sources, targets]))
    return made, None if weights is None else weights.tolist()


def as_networkx(graph, directed=False):
    made = nx.MultiDiGraph() if directed else nx.MultiGraph()
    made.add_nodes_from(range(graph.n))
    sources, targets, weights = graph.listed_edges()
    weights = np.ones(sources.size) if weights is None else weights
    made.add_weighted_edges_from(
        zip(sources.tolist(), targets.tolist(), weights.tolist(), strict=True)
    )
    return made


def as_sets(labels):
    return [set(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)]


@everywhere
@pytest.mark.parametrize("kind", ["louvain", "leiden"])
@pytest.mark.parametrize("name", small_graphs())
def test_communities_and_their_modularity(device, name, kind):
    graph = small_graphs()[name]
    result = getattr(cg, kind)(graph, seed=5, device=device, verify=True)
    # Bit-equal with the same seed on all runtimes.
    np.testing.assert_array_equal(result.labels, on_pocl(kind, name).labels)
    assert result.modularity == on_pocl(kind, name).modularity
    first = np.unique(result.labels, return_index=True)[1]
    assert (np.diff(first) > 0).all()  # numbered by smallest member
    assert result.count == len(first)
    assert result.sizes.sum() == graph.n
    if graph.m and (graph.weights is None or graph.weights.any()):
        made, weights = as_igraph(graph)
        wanted = made.modularity(result.labels.tolist(), weights=weights)
        assert result.modularity == pytest.approx(wanted, abs=1e-7)
        theirs = nx.community.modularity(as_networkx(graph), as_sets(result.labels))
        assert result.modularity == pytest.approx(theirs, abs=1e-7)
    else:
        assert result.modularity == 0.0
        assert result.count == graph.n


@everywhere
def test_communities_are_parted_into_what_hangs_together(device):
    """By pieces of any length: scattered paths, three of them in one community."""
    rng = np.random.default_rng(4)
    number = rng.permutation(180)
    paths = number.reshape(6, 30)
    ends = paths[:, :-1].ravel(), paths[:, 1:].ravel()
    # The third path and the fourth hang together, in two communities.
    ends = np.append(ends[0], paths[2, 5]), np.append(ends[1], paths[3, 7])
    plan = cg.Leiden(cg.from_edges(*ends, n=180, directed=False, symmetrize=True), device=device)
    labels = np.empty(180, np.uint32)
    for path, label in zip(paths, (9, 9, 9, 5, 5, 170), strict=True):
        labels[path] = label
    plan._first.labels.write(labels)
    log = SweepLog()
    plan._turns.order(log, plan._first, 1)
    plan._levels.parted(log, plan._first, plan._levels.pieces(log, plan._first))
    log.wait()
    found = plan._first.labels.read(180)
    assert np.unique(found).size == 6
    assert all(np.unique(found[path]).size == 1 for path in paths)


@pytest.mark.runtimes("pocl")
def test_quality_is_igraphs(device):
    random.seed(4)  # which igraph draws from
    for graph in (cg.generate.kron(11, seed=2), cg.generate.road(60, seed=2)):
        made, _ = as_igraph(graph)
        wanted = made.modularity(made.community_leiden("modularity"))
        assert cg.leiden(graph, iterations=3, device=device).modularity > 0.99 * wanted
        wanted = made.modularity(made.community_multilevel())
        assert cg.louvain(graph, device=device).modularity > 0.98 * wanted


def best_modularity(graph):
    """Try all ways to part a few vertices."""
    sources, targets, weights = graph.listed_edges()
    ways = [[0]]
    for _ in range(graph.n - 1):
        ways = [[*way, label] for way in ways for label in range(max(way) + 2)]
    network = igraph.Graph(n=graph.n, edges=np.column_stack([sources, targets]))
    return max(network.modularity(way, weights=weights.tolist()) for way in ways)


@pytest.mark.runtimes("pocl")
@pytest.mark.parametrize("kind", [cg.Louvain, cg.Leiden])
def test_neighbours_do_not_take_each_others_places_for_ever(device, kind, monkeypatch):
    """Those of one class move at once; found on six vertices and a parallel edge."""

    def found():
        results = [kind(graph, device=device).run() for graph in graphs]
        return max(level["passes"] for one in results for level in one.stats.levels), results

    graphs = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        ends, weights = rng.integers(0, 6, (2, 8)), rng.integers(1, 10, 8)
        graphs.append(cg.from_edges(*ends, weights, n=6, directed=False, symmetrize=True))
    passes, results = found()
    assert passes < moving.MOST_PASSES
    wanted = [best_modularity(graph) for graph in graphs]
    np.testing.assert_allclose([one.modularity for one in results], wanted, atol=0.1)
    assert np.mean([one.modularity for one in results]) > 0.95 * np.mean(wanted)
    monkeypatch.setattr(moving, "OTHER_CLASSES", 0)
    assert found()[0] == moving.MOST_PASSES


@on_both
def test_planted_parts_are_found(device):
    rng = np.random.default_rng(1)
    parts = np.repeat(np.arange(12), 30)
    sources, targets = np.nonzero(
        rng.random((360, 360)) < np.where(parts[:, None] == parts, 0.4, 0.01)
    )
    graph = cg.from_edges(sources, targets, n=360, directed=False, symmetrize=True, dedup=True)
    for call in (cg.leiden, cg.louvain):
        np.testing.assert_array_equal(call(graph, device=device).labels, parts)


@on_both
def test_communities_of_leiden_are_connected(device):
    graph = cg.generate.kron(10, 6, seed=4)
    result = cg.leiden(graph, device=device, verify=True)
    network = as_networkx(graph)
    for community in as_sets(result.labels):
        assert nx.is_connected(network.subgraph(community))


@everywhere
def test_refinement_parts_a_community_into_what_is_connected(device):
    clique = [(i, j) for i in range(6) for j in range(i)]
    edges = np.array(clique + [(i + 6, j + 6) for i, j in clique] + [(0, 6)])
    graph = cg.from_edges(*edges.T, directed=False, symmetrize=True)
    parts, _, _ = refined_parts(graph, device)
    assert len(np.unique(parts[:6])) < 6  # they have been joined
    assert not set(parts[:6]) & set(parts[6:])  # but not over the bridge


@everywhere
def test_refinement_knows_cuts_and_totals_of_its_parts(device):
    graph = small_graphs()["planted"]
    parts, cuts, totals = refined_parts(graph, device)
    sources = np.repeat(np.arange(graph.n), graph.degrees)
    straight = sources != graph.indices
    sources, targets = sources[straight], graph.indices[straight]
    leaving = parts[sources] != parts[targets]
    wanted = np.bincount(parts[sources[leaving]], minlength=graph.n)
    representatives = np.unique(parts)
    assert 1 < representatives.size < graph.n
    np.testing.assert_array_equal(parts[representatives], representatives)
    np.testing.assert_array_equal(cuts[representatives], wanted[representatives])
    loops = np.bincount(graph.indices[~straight], minlength=graph.n)
    strengths = np.bincount(parts, graph.degrees + loops, minlength=graph.n)
    np.testing.assert_array_equal(totals[representatives], strengths[representatives])
    network = as_networkx(graph)
    for representative in representatives:
        assert nx.is_connected(network.subgraph(np.flatnonzero(parts == representative).tolist()))


@on_both
def test_the_seed_decides(device):
    graph = small_graphs()["kron"]
    plan = cg.Leiden(graph, device=device)
    found = [plan.run(seed=seed) for seed in (0, 0, 1, 2)]
    np.testing.assert_array_equal(found[0].labels, found[1].labels)
    assert any((found[0].labels != other.labels).any() for other in found[2:])
    assert min(result.modularity for result in found) > 0.9 * found[0].modularity


@pytest.mark.rest
@on_both
def test_resolution(device):
    graph = small_graphs()["planted"]
    counts = [
        cg.leiden(graph, resolution=gamma, device=device, verify=True).count
        for gamma in (0, 0.3, 1, 8, 1000)
    ]
    assert counts == sorted(counts)
    assert counts[0] == cg.connected_components(graph, device=device).count
    assert counts[-1] == graph.n
    made, _ = as_igraph(graph)
    labels = cg.louvain(graph, resolution=3.5, device=device)
    wanted = made.modularity(labels.labels.tolist(), resolution=3.5)
    assert labels.modularity == pytest.approx(wanted, abs=1e-9)


@on_both
def test_weights_are_left_out_where_that_is_wanted(device):
    graph = small_graphs()["whole"]
    plain = cg.Graph(graph.indptr, graph.indices, directed=False)
    found = cg.leiden(graph, weights=False, device=device, verify=True)
    np.testing.assert_array_equal(found.labels, cg.leiden(plain, device=device).labels)
    assert (found.labels != cg.leiden(graph, device=device).labels).any()


@on_both
def test_more_iterations_are_no_worse(device):
    graph = cg.generate.kron(10, seed=3)
    plan = cg.Leiden(graph, device=device)
    found = [plan.run(iterations=k) for k in (1, 3)]
    assert found[1].modularity >= found[0].modularity
    assert max(level["iteration"] for level in found[1].stats.levels) > 0


def test_few_moves_are_looked_for_longer(any_device, monkeypatch):
    """Only the first level of the first iteration ends where there is still something to gain."""
    asked = []

    def noting(log, levels, level, scale, *, tolerance, report):
        asked.append(tolerance)
        return moving.moved(log, levels, level, scale, tolerance=tolerance, report=report)

    monkeypatch.setattr(iterating, "moved", noting)
    plan = cg.Leiden(cg.generate.kron(8, seed=3), device=any_device)
    found = plan.run(iterations=2)
    assert {level["iteration"] for level in found.stats.levels} == {0, 1}
    assert asked[0] == pytest.approx(iterating.FIRST_TOLERANCE)
    assert len(asked) == len(found.stats.levels)
    np.testing.assert_allclose(asked[1:], iterating.TOLERANCE)


@on_both
def test_what_a_run_tells(device):
    graph = small_graphs()["kron"]
    told = []
    result = cg.leiden(graph, device=device, progress=lambda *what: told.append(what))
    assert told[-1] == (graph.n, graph.n, "merging vertices")
    stats = result.stats
    assert stats.levels[0]["vertices"] == graph.n
    assert stats.levels[0]["edges"] == graph.m
    assert stats.kernel_ms > 0
    assert stats.launches > 10
    assert {"move_turns", "refine_turns"} <= set(stats.parts)
    assert stats.device_bytes > 0
    assert "modularity=0." in repr(result)
    assert [group[0] for group in result.groups()] == sorted(group[0] for group in result.groups())


def test_what_is_refused(any_device):
    graph = small_graphs()["pair"]
    with pytest.raises(InvalidGraphError, match="symmetrized"):
        cg.leiden(cg.from_edges([0], [1]), device=any_device)
    negative = cg.from_edges([0], [1], [-1.0], directed=False, symmetrize=True)
    for call in (cg.louvain, lambda g, **how: cg.modularity(g, [0, 0], **how)):
        with pytest.raises(InvalidGraphError, match="weights=False"):
            call(negative, device=any_device)
    for options in ({"resolution": -1}, {"resolution": True}, {"seed": -1}, {"iterations": 1.5}):
        with pytest.raises(InvalidArgumentError, match=next(iter(options))):
            cg.leiden(graph, device=any_device, **options)
    for labels in ([0], [0.5, 1], [[0, 1]]):
        with pytest.raises(InvalidArgumentError, match="one for each of 2 vertices"):
            cg.modularity(graph, labels, device=any_device)


def test_a_wrong_result_is_seen():
    graph = small_graphs()["kron"]
    labels = on_pocl("leiden", "kron").labels
    quality = on_pocl("leiden", "kron").modularity
    how = {"weighted": False, "unit": 1.0, "connected": True}
    verify_communities(graph, labels, quality, 1.0, **how)
    with pytest.raises(VerificationError, match="modularity"):
        verify_communities(graph, labels, quality + 1e-6, 1.0, **how)
    path = cg.generate.path(3)
    apart = np.array([0, 1, 0])
    quality = host_modularity(path, apart, 1.0, weighted=False)
    with pytest.raises(VerificationError, match="connected sets"):
        verify_communities(path, apart, quality, 1.0, **how)


@everywhere
@pytest.mark.parametrize("directed", [False, True])
def test_modularity(device, directed):
    rng = np.random.default_rng(7)
    ends, weights = rng.integers(0, 50, (2, 300)), rng.integers(1, 6, 300)
    labels = rng.integers(0, 6, 53)
    way = {} if directed else {"directed": False, "symmetrize": True}
    for given in (None, weights, weights / 7):
        graph = cg.from_edges(*ends, given, n=53, **way)
        network = as_networkx(graph, directed)
        for gamma in (1.0, 2.5):
            found = cg.modularity(graph, labels, resolution=gamma, device=device, verify=True)
            wanted = nx.community.modularity(network, as_sets(labels), resolution=gamma)
            assert found == pytest.approx(wanted, abs=1e-9)
            assert found == pytest.approx(
                host_modularity(graph, labels, gamma, weighted=True), abs=1e-9
            )
    shifted = cg.modularity(graph, labels * 10**6 - 3, device=device)
    assert shifted == cg.modularity(graph, labels, device=device)
    assert cg.modularity(cg.from_edges([], [], n=2), [0, 1], device=device) == 0.0
