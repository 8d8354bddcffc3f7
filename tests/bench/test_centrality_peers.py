"""Centralities and walks of other libraries are judged by what they should solve, or step along."""

import numpy as np
import pytest

import clgraph as cg
from bench.peers import centrality, walks
from bench.peers.libraries import scipy_matrix
from bench.peers.peer import version_of

GRAPHS = {
    "directed": cg.generate.rmat(6, 6, seed=5),
    "undirected": cg.generate.kron(6, 4, seed=5),
}
KINDS = {
    "eigenvector": (centrality.EIGENVECTORS, cg.EigenvectorCentrality),
    "hits": (centrality.HUBS, cg.Hits),
    "katz": (centrality.KATZ, cg.KatzCentrality),
}
CASES = [(kind, name) for kind, (peers, _) in KINDS.items() for name in peers]
ENDS = {"tol": 1e-12, "max_iter": 5000}


def ours(kind, graph, device):
    plan = KINDS[kind][1](graph, device=device)
    alpha = {"alpha": centrality.katz_alpha(scipy_matrix(graph))} if kind == "katz" else {}
    found = plan.run(**ENDS, **alpha)
    return np.stack([found.hubs, found.authorities]) if kind == "hits" else found.ranks


def fault(kind, matrix, scores):
    if kind == "katz":
        return centrality.katz_fault(matrix, scores, centrality.katz_alpha(matrix))
    if kind == "hits":
        greatest = centrality.greatest_singular_value(matrix) ** 2
        return centrality.hubs_fault(matrix, scores, greatest)
    return centrality.eigenvector_fault(matrix, scores, centrality.greatest_eigenvalue(matrix))


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
@pytest.mark.parametrize(("kind", "name"), CASES)
def test_peers_solve_what_ours_do(kind, name, graph, pocl):
    peers = KINDS[kind][0]
    if version_of(peers[name].package) is None:
        pytest.skip(f"{peers[name].package} is not installed")
    peer = peers[name](graph)
    answer, spent_ms = peer.timed(0)
    assert spent_ms > 0
    wanted = ours(kind, graph, pocl)
    assert not peer.complaint(answer, 0, wanted, {})
    found = peer.values(answer, 0)
    found = found * np.sign((found * wanted).sum(axis=-1, keepdims=True))
    alike = [each / np.linalg.norm(each, axis=-1, keepdims=True) for each in (found, wanted)]
    np.testing.assert_allclose(*alike, atol=1e-3)
    assert peer.fault(found * np.linspace(1, 1.1, graph.n), wanted, {})


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
@pytest.mark.parametrize("kind", KINDS)
def test_wrong_scores_are_seen(kind, graph, pocl):
    matrix, scores = scipy_matrix(graph), ours(kind, graph, pocl)
    assert not fault(kind, matrix, scores)
    assert not fault(kind, matrix, 7 * scores)  # in any unit
    assert "scores of" in fault(kind, matrix, scores[..., :-1])
    assert "negative" in fault(kind, matrix, -scores)
    assert "negative" in fault(kind, matrix, np.full_like(scores, np.nan))
    assert fault(kind, matrix, scores * np.linspace(1, 1.1, graph.n))
    # So little that the eigenvalue hardly knows.
    assert "differ" in fault(kind, matrix, scores * np.where(np.arange(graph.n) % 2, 1.001, 1.0))


def test_hubs_of_bipartite_graphs_may_be_any_mixture():
    """Of an edge both ends may be hubs in any proportion, of any sign where a library says so."""
    matrix = scipy_matrix(cg.generate.path(2))
    mixed = np.array([[0.8, -0.6], [-0.6, 0.8]])
    assert "negative" in centrality.hubs_fault(matrix, mixed, 1.0)
    assert not centrality.hubs_fault(matrix, mixed, 1.0, signed=True)
    assert not centrality.hubs_fault(matrix, mixed * [[1], [-1]], 1.0, signed=True)
    wrong = centrality.hubs_fault(matrix, np.abs(mixed) * [[1, 1], [1, -1]], 1.0, signed=True)
    assert wrong.startswith("authorities")


def test_another_eigenvector_is_seen():
    """Of two cliques apart each has one without negative scores: the larger one's is wanted."""
    small, large = cg.generate.complete(3), cg.generate.complete(5)
    ends = [np.concatenate([one, two + 3]) for one, two in
            zip(small.listed_edges()[:2], large.listed_edges()[:2], strict=True)]  # fmt: skip
    matrix = scipy_matrix(cg.from_edges(*ends, symmetrize=True, dedup=True))
    assert centrality.greatest_eigenvalue(matrix) == pytest.approx(4)
    right, wrong = np.repeat([0.0, 1.0], [3, 5]), np.repeat([1.0, 0.0], [3, 5])
    assert not centrality.eigenvector_fault(matrix, right, 4.0)
    assert centrality.eigenvector_fault(matrix, wrong, 4.0) == "an eigenvalue of 2 instead of 4"
    assert not centrality.hubs_fault(matrix, np.stack([right, right]), 16.0)
    assert centrality.hubs_fault(matrix, np.stack([wrong, wrong]), 16.0).startswith("an eigenvalue")
    assert centrality.hubs_fault(matrix, np.stack([right, wrong]), 16.0).startswith("authorities")


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
@pytest.mark.parametrize("name", walks.WALKS)
def test_walks_of_peers(name, graph):
    if version_of(walks.WALKS[name].package) is None:
        pytest.skip(f"{walks.WALKS[name].package} is not installed")
    peer = walks.WALKS[name](graph)
    answer, _ = peer.timed(3)
    assert not peer.complaint(answer, 3, None, {"second_order": 0})
    assert "first order" in peer.complaint(answer, 3, None, {"second_order": 1})
    found = peer.values(answer, 3)
    assert found.shape == (graph.n, walks.LENGTH + 1)
    np.testing.assert_array_equal(found[:, 0], np.arange(graph.n))


def test_wrong_walks_are_seen():
    path = cg.from_edges([0, 1], [1, 2])
    assert not walks.walks_fault(path, np.array([[0, 1, 2, -1], [2, -1, -1, -1]]))
    assert walks.walks_fault(path, np.array([[0, 2, -1]])) == "1 steps are along no edge"
    assert walks.walks_fault(path, np.array([[0, 1, -1]])) == "1 walks end at vertices with edges"
    assert walks.walks_fault(path, np.array([[2, -1, 1]])) == "walks go on that had ended"
    there_are_not = "walks to vertices that there are not"
    assert walks.walks_fault(path, np.array([[0, 5, -1]])) == there_are_not  # 0 * 3 + 5 is 1 -> 2
    nothing = cg.from_edges([], [], n=2)
    assert not walks.walks_fault(nothing, np.array([[0, -1], [1, -1]]))
    assert walks.walks_fault(nothing, np.array([[0, 1]])) == "1 steps are along no edge"


@pytest.mark.parametrize("together", [1, 3, 64, 1 << 12])
def test_each_step_along_no_edge_is_counted(together, monkeypatch):
    """However many steps are looked for together; edges are parallel, and rows as they came."""
    monkeypatch.setattr(walks, "TOGETHER", together)
    rng = np.random.default_rng(3)
    indptr = np.append(0, np.cumsum(rng.integers(0, 6, 30)))
    graph = cg.Graph.trusted((indptr, rng.integers(0, 30, indptr[-1]), None), directed=True)
    pairs = np.argwhere(np.ones((30, 30), bool))
    rows = [graph.indices[graph.indptr[v] : graph.indptr[v + 1]].tolist() for v in range(30)]
    wrong = np.array([v not in rows[u] for u, v in pairs.tolist()])
    for some in (pairs, pairs[wrong], pairs[:1], pairs[-1:]):
        missing = int(sum(v not in rows[u] for u, v in some.tolist()))
        fault = walks.walks_fault(graph, np.concatenate([some, some]))
        assert fault.startswith(f"{2 * missing} steps" if missing else ("", "0"))
    ended = np.flatnonzero(graph.degrees == 0)
    right = pairs[~wrong & ~np.isin(pairs[:, 1], ended)]
    assert not walks.walks_fault(graph, right)
    for place in rng.integers(0, len(right), 8):
        broken = right.copy()
        broken[place] = pairs[wrong][place % wrong.sum()]
        assert walks.walks_fault(graph, broken) == "1 steps are along no edge"


def test_walks_of_every_vertex_begin_at_each():
    ring = cg.from_edges([0, 1, 2], [1, 2, 0])
    taken = (np.arange(3)[:, None] + np.arange(walks.LENGTH + 1)) % 3
    assert not walks.every_walk_fault(ring, taken)
    assert walks.every_walk_fault(ring, taken[[0, 2, 1]]) == "2 walks begin elsewhere"
    for shape in (taken[:2], taken[:, :-1]):
        assert "shape" in walks.every_walk_fault(ring, shape)


@pytest.mark.parametrize(("p", "q"), [(1, 1), (0.25, 4), (4, 0.25)])
def test_second_steps_are_counted(p, q, pocl):
    """Walks by the rule pass, by seeds drawn once, and those by any other rule do not."""
    graph = GRAPHS["undirected"]
    plan = cg.RandomWalks(graph, device=pocl)
    starts = np.full(40_000, int(np.abs(graph.degrees.astype(int) - 8).argmin()))
    taken = plan.run(starts, 2, p=p, q=q, seed=5).walks
    assert not walks.second_steps_fault(graph, taken, p, q)
    for other in ((1, 1), (0.25, 4), (4, 0.25), (p, 2 * q), (2 * p, q)):
        if other != (p, q):
            assert "chance" in walks.second_steps_fault(graph, taken, *other)
    uneven = taken.copy()
    of_first = np.flatnonzero(taken[:, 1] == taken[0, 1])
    uneven[of_first[::2], 2] = taken[0, 2]
    assert "chance" in walks.second_steps_fault(graph, uneven, p, q)
    uneven[0, 1:] = graph.n - 1, 0
    assert "chance" in walks.second_steps_fault(graph, uneven, p, q)


def test_second_steps_that_end(pocl):
    fan = cg.from_edges([0, 0, 1], [1, 2, 0], n=3)
    taken = cg.random_walks(fan, np.zeros(4000, int), 2, p=2.0, seed=1, device=pocl).walks
    assert not walks.second_steps_fault(fan, taken, 2.0, 1.0)
    assert "no chance" in walks.second_steps_fault(fan, np.array([[0, 2, 1]]), 2.0, 1.0)
