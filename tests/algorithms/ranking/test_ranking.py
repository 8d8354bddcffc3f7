"""PageRank, eigenvector and Katz centrality, hubs and authorities, against networkx and scipy."""

from functools import cache
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
import scipy.sparse

import clgraph as cg
from clgraph.algorithms.ranking import placing, power, row_shares
from clgraph.algorithms.ranking.arranged import WINDOW, Arranged
from clgraph.algorithms.ranking.pagerank import PageRank
from clgraph.algorithms.ranking.power import Affine
from clgraph.algorithms.ranking.row_shares import RowShares
from clgraph.device import Memory
from clgraph.engine.sweeps import SweepLog

TIGHT = {"tol": 1e-11, "max_iter": 400}
on_both = pytest.mark.runtimes("pocl", "intel")


@cache
def named_graphs():
    rng = np.random.default_rng(3)
    ends = rng.integers(0, 60, (2, 300))
    kron = cg.generate.kron(7, 8, seed=1)
    return {
        "kron": kron,
        "star": cg.generate.star(300),  # one long row
        "directed": cg.from_edges(*ends, rng.random(300) + 0.1, n=60, dedup=True),
        "drains": cg.from_edges([0, 0, 1, 5, 1], [1, 1, 2, 0, 1], [1.5, 2, 3, 1, 2], n=7),
        "edgeless": cg.from_edges([], [], n=3),
    }


def as_networkx(graph):
    made = nx.DiGraph()
    made.add_nodes_from(range(graph.n))
    coo = graph.to_scipy().tocsr()
    coo.sum_duplicates()
    coo = coo.tocoo()
    made.add_weighted_edges_from(
        zip(coo.row.tolist(), coo.col.tolist(), coo.data.tolist(), strict=True)
    )
    return made


def listed(scores):
    return np.array([scores[v] for v in range(len(scores))])


def by_matrix(graph, *, alpha=0.85, p=None, to=None, vanish=False, iterations=300):
    """PageRank by scipy alone."""
    matrix = graph.to_scipy().astype(float)
    n = graph.n
    p = np.full(n, 1 / n) if p is None else p / p.sum()
    to = p if to is None else to / to.sum()
    out = np.asarray(matrix.sum(axis=1)).ravel()
    x = np.full(n, 1 / n)
    for _ in range(iterations):
        flow = np.divide(x, out, out=np.zeros(n), where=out > 0)
        held = 0.0 if vanish else x[out == 0].sum()
        x = alpha * (matrix.T @ flow + held * to) + (1 - alpha) * p
    return x


@pytest.mark.runtimes("pocl", "pocl+lanes32", "intel")
@pytest.mark.slow_on("pocl+lanes32")  # 160 s of processor time on kron, seconds elsewhere
@pytest.mark.parametrize("name", ["kron", "star", "drains"])
def test_a_few_iterations(device, name):
    graph = named_graphs()[name]
    result = cg.pagerank(graph, tol=0, max_iter=5, device=device)
    np.testing.assert_allclose(result.ranks, by_matrix(graph, iterations=5), atol=1e-13)


@on_both
@pytest.mark.parametrize("name", named_graphs())
def test_pagerank(device, name):
    graph = named_graphs()[name]
    result = cg.pagerank(graph, device=device, verify=True, **TIGHT)
    expected = listed(nx.pagerank(as_networkx(graph), **TIGHT))
    np.testing.assert_allclose(result.ranks, expected, atol=1e-10)
    np.testing.assert_allclose(result.ranks, by_matrix(graph), atol=1e-10)
    assert result.converged
    assert result.error < 1e-11 * graph.n
    assert result.stats.edges == result.iterations * graph.m


@on_both
@pytest.mark.parametrize("name", ["directed", "drains"])
def test_many_personalizations_are_each_what_they_are_alone(device, name):
    graph = named_graphs()[name]
    rng = np.random.default_rng(4)
    shares = rng.random((18, graph.n))  # more than are taken at once
    shares[0] = 0
    shares[0, 1] = 2
    plan = cg.PageRank(graph, device=device)
    together = plan.run(personalization=shares, verify=True, **TIGHT)
    for row in (0, 1, 9, 17):
        expected = by_matrix(graph, p=shares[row])
        np.testing.assert_allclose(together.ranks[row], expected, atol=1e-10)
    alone = plan.run(personalization=dict(enumerate(shares[5])), **TIGHT)
    np.testing.assert_allclose(alone.ranks, together.ranks[5], atol=1e-12)
    assert together.iterations.shape == (18,)
    assert alone.iterations == together.iterations[5]
    elsewhere = plan.run(dangling=shares[2], nstart=shares[3], verify=True, **TIGHT)
    np.testing.assert_allclose(elsewhere.ranks, by_matrix(graph, to=shares[2]), atol=1e-10)


@on_both
def test_conventions(device):
    graph = named_graphs()["drains"]
    gap = cg.pagerank(graph, convention="gap", tol=1e-13, max_iter=300, device=device, verify=True)
    np.testing.assert_allclose(gap.ranks, by_matrix(graph, vanish=True), atol=1e-12)
    ten = cg.pagerank(graph, convention="graphalytics", device=device)
    assert ten.iterations == 10
    assert not ten.converged
    np.testing.assert_allclose(ten.ranks, by_matrix(graph, iterations=10), atol=1e-14)
    loose = cg.pagerank(graph, device=device)
    assert loose.error < 1e-6 * graph.n


@on_both
def test_iterations_launched_ahead_change_nothing(device):
    """What was launched after a column converged leaves it as it was."""
    graph = named_graphs()["directed"]
    result = cg.pagerank(graph, tol=1e-4, device=device)
    again = cg.pagerank(graph, tol=0, max_iter=result.iterations, device=device)
    np.testing.assert_array_equal(result.ranks, again.ranks)
    assert result.stats.launches >= 2 * result.iterations
    short = cg.pagerank(graph, tol=0, max_iter=result.iterations - 1, device=device)
    assert short.error > result.error
    assert (result.ranks != short.ranks).any()


@on_both
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_precision_and_weights(device, dtype):
    graph = named_graphs()["directed"]
    plain = cg.Graph(graph.indptr, graph.indices)
    result = cg.pagerank(graph, weights=False, dtype=dtype, device=device, verify=True)
    assert result.ranks.dtype == dtype
    np.testing.assert_allclose(result.ranks, by_matrix(plain), rtol=1e-3, atol=1e-6)
    assert result.ranks.sum() == pytest.approx(1, abs=1e-5)


@on_both
@pytest.mark.parametrize("name", ["kron", "directed", "star"])
def test_eigenvector(device, name):
    graph = named_graphs()[name]
    ends = {"tol": 1e-9, "max_iter": 200}
    result = cg.eigenvector_centrality(graph, device=device, verify=True, **ends)
    matrix = graph.to_scipy().toarray()
    values, vectors = np.linalg.eig(matrix.T)
    expected = np.abs(vectors[:, np.argmax(values.real)].real)
    np.testing.assert_allclose(result.ranks, expected, atol=1e-5)
    assert np.linalg.norm(result.ranks) == pytest.approx(1)
    if name == "directed":
        peer = nx.eigenvector_centrality(as_networkx(graph), weight="weight", **ends)
        np.testing.assert_allclose(result.ranks, listed(peer), atol=1e-6)


@on_both
@pytest.mark.parametrize("name", ["kron", "directed", "drains"])
def test_katz(device, name):
    graph = named_graphs()[name]
    beta = np.linspace(0, 2, graph.n)
    walks = np.eye(graph.n) - 0.005 * graph.to_scipy().toarray().T
    for own in (1.5, beta):
        result = cg.katz_centrality(
            graph, alpha=0.005, beta=own, normalized=False, tol=1e-12, device=device, verify=True
        )
        expected = np.linalg.solve(walks, np.broadcast_to(own, graph.n))
        np.testing.assert_allclose(result.ranks, expected, rtol=1e-9)
    peer = nx.katz_centrality(as_networkx(graph), alpha=0.005, weight="weight")
    found = cg.katz_centrality(graph, alpha=0.005, device=device)
    np.testing.assert_allclose(found.ranks, listed(peer), atol=1e-5)


def test_katz_of_a_hub_is_right(intel):
    """A small last step of the hub is ten times as large in the next of its neighbours' sum."""
    star = cg.generate.star(100_000, seed=3)
    result = cg.katz_centrality(star, alpha=1e-4, device=intel, verify=True)
    hub = (1 + 1e-4 * (star.n - 1)) / (1 - 1e-8 * (star.n - 1))
    leaf = 1 + 1e-4 * hub
    expected = np.where(star.degrees > 1, hub, leaf)
    np.testing.assert_allclose(result.ranks, expected / np.linalg.norm(expected), rtol=1e-6)


@on_both
@pytest.mark.parametrize("name", ["kron", "directed"])
def test_hits(device, name):
    graph = named_graphs()[name]
    result = cg.hits(graph, max_iter=300, device=device, verify=True)
    left, _, right = np.linalg.svd(graph.to_scipy().toarray())
    hubs, authorities = np.abs(left[:, 0]), np.abs(right[0])
    np.testing.assert_allclose(result.hubs, hubs / hubs.sum(), atol=1e-6)
    np.testing.assert_allclose(result.authorities, authorities / authorities.sum(), atol=1e-6)
    peer_hubs, peer_authorities = nx.hits(as_networkx(graph))
    np.testing.assert_allclose(result.hubs, listed(peer_hubs), atol=1e-6)
    np.testing.assert_allclose(result.authorities, listed(peer_authorities), atol=1e-6)


PLANS = {
    "eigenvector": (cg.EigenvectorCentrality, cg.eigenvector_centrality, {"max_iter": 300}),
    "katz": (cg.KatzCentrality, cg.katz_centrality, {"alpha": 0.005}),
    "hits": (cg.Hits, cg.hits, {"max_iter": 300}),
}


@on_both
@pytest.mark.parametrize("name", PLANS)
def test_plans_run_many_times(device, name):
    """Runs leave nothing behind: whatever came between, one gives what a fresh plan does."""
    graph = named_graphs()["directed"]
    kind, call, options = PLANS[name]
    fresh = call(graph, device=device, **options)
    plan = kind(graph, device=device)
    taken = plan.device_bytes
    assert taken > 0
    assert len(plan.source_hash) >= 16
    for _ in range(2):
        plan.run(tol=0, max_iter=3)
        found = plan.run(verify=True, **options)
        np.testing.assert_array_equal(found.ranks, fresh.ranks)
        assert found.iterations == fresh.iterations
        assert found.stats.device_bytes == taken  # runs take nothing that they keep
    if name == "katz":  # kernels of its own, which leave those of a number for all as they are
        each = plan.run(beta=np.full(graph.n, 1.0), **options)
        np.testing.assert_allclose(each.ranks, fresh.ranks, rtol=1e-12)
        assert each.stats.device_bytes > taken
        np.testing.assert_array_equal(plan.run(**options).ranks, fresh.ranks)
    else:
        other = plan.run(nstart=np.arange(graph.n), **options)
        np.testing.assert_allclose(other.ranks, fresh.ranks, atol=1e-4)
    nothing = kind(cg.from_edges([], [], n=0), device=device).run(verify=True)
    assert nothing.ranks.shape == (0,)
    assert nothing.converged


@on_both
@pytest.mark.runtimes("pocl", "pocl+lanes32", "intel")
@pytest.mark.slow_on("pocl+lanes32")  # minutes of processor time, a second elsewhere
@pytest.mark.parametrize("placed", [False, True])
def test_where_all_begin_alike_is_worked_out_once(device, placed, monkeypatch):
    """And again for others: rankings of other columns, and those that begin elsewhere."""
    if placed:
        monkeypatch.setattr(placing, "NEAR_BYTES", 64)
        monkeypatch.setattr(placing, "NEAR_PORTION", 0.0)
        monkeypatch.setattr(placing, "placed_on", lambda _: True)
        monkeypatch.setattr(power, "Arranged", SimpleNamespace(by_length=lambda _: None))
    graph, calls, begun = cg.generate.kron(8, seed=3), [], Affine._shared_out
    monkeypatch.setattr(Affine, "_shared_out", lambda *given: calls.append(given) or begun(*given))
    rng = np.random.default_rng(1)
    begin, spread = rng.random(graph.n), rng.random((4, graph.n))
    asked = [{}, {"alpha": 0.5}, {"nstart": begin}, {}]
    asked += [{"personalization": spread[:k]} for k in (3, 4, 3, 4)]
    plan = cg.PageRank(graph, device=device)
    found = [plan.run(max_iter=3, tol=0.0, **options).ranks for options in asked]
    assert len(calls) == 2 + 4  # three and four share a plan, in turn
    for ranks, options in zip(found, asked, strict=True):
        alone = cg.PageRank(graph, device=device).run(max_iter=3, tol=0.0, **options).ranks
        np.testing.assert_array_equal(ranks, alone)
    np.testing.assert_array_equal(found[0], found[3])


@pytest.mark.parametrize("name", PLANS)
def test_verify_sees_wrong_scores(device, name, monkeypatch):
    kind, _, options = PLANS[name]
    graph = named_graphs()["directed"]
    plan = kind(graph, device=device)
    power = plan._affine[False] if name == "katz" else plan._power
    columns_of = power._columns

    def wrong(*args):
        found = columns_of(*args)
        found.x[3] *= 1.01
        return found

    monkeypatch.setattr(power, "_columns", wrong)
    with pytest.raises(cg.VerificationError, match="another iteration"):
        plan.run(verify=True, **options)


# Edges and weights such that the next iteration changes scores by more than the last one did.
LATE = {
    "eigenvector": (
        [4, 2, 1, 3, 1, 1, 4, 0, 1],
        [1, 3, 4, 0, 3, 2, 0, 1, 2],
        [2, 4, 2, 7, 9, 4, 6, 4, 4],
        100,
    ),
    "hits": ([4, 4, 3, 0], [4, 1, 1, 2], [3, 2, 8, 8], 3),
}


@pytest.mark.runtimes("pocl")
@pytest.mark.parametrize("name", LATE)
def test_verify_takes_scores_that_change_faster_again(device, name):
    src, dst, weights, most = LATE[name]
    graph = cg.from_edges(src, dst, np.array(weights, np.int32))
    kind, _, options = PLANS[name]
    kind(graph, device=device).run(verify=True, **options | {"max_iter": most})


@pytest.mark.runtimes("pocl", "pocl+lanes32", "intel")
@pytest.mark.parametrize("columns", [1, 4])
def test_rows_in_pieces(device, columns):
    """Long rows are cut, and their pieces put together: every row is summed once."""
    graph = named_graphs()["star"]
    memory = Memory(device)
    shares = RowShares(device, memory, graph.indptr, columns=columns, piece=64)
    if device.traits.lanes == 1:
        assert shares.parameters["ranges"]
        assert not shares.pieced_groups
        return
    assert shares.parameters["pieced"] == 1
    assert shares.pieced_groups == 1
    rng = np.random.default_rng(6)
    start = rng.random((graph.n, columns))
    ends = {"scale": 0.5, "tolerance": 0.0, "max_iter": 1, "uniform": 0.25}
    found = []
    for piece in (64, 1 << 20):
        plan = Affine(
            graph, device, memory, np.dtype(float), weighted=False, count=columns, piece=piece
        )
        assert bool(plan.pulling.shares.pieced_groups) == (piece == 64)
        found.append(plan.run(SweepLog(), start, **ends))
    expected = 0.5 * (graph.to_scipy() @ start) + 0.25
    for columns_found in found:
        np.testing.assert_allclose(columns_found.x, expected, rtol=1e-12)
        changed = np.abs(expected - start).sum(axis=0)
        np.testing.assert_allclose(columns_found.errors, changed, rtol=1e-12)


@pytest.mark.parametrize("wanted", [None, (0.0, 2.5)])
def test_rows_arranged_for_a_processor(wanted):
    """Within windows rows go by their length; they are the same rows under new numbers."""
    graph = cg.generate.rmat(12, 6, seed=7, weights=wanted)
    rows = Arranged.by_length(graph)
    n, order = graph.n, rows.order.astype(int)
    assert n > 2 * WINDOW
    np.testing.assert_array_equal(np.sort(order), np.arange(n))
    np.testing.assert_array_equal(order // WINDOW, np.arange(n) // WINDOW)
    lengths = np.diff(graph.indptr)[order].astype(int)
    rises = np.diff(lengths) >= 0
    assert rises[np.arange(1, n) % WINDOW != 0].all()
    assert not rises.all()  # a window begins with short rows again
    data = np.ones(graph.m) if wanted is None else rows.weights
    assert (rows.weights is None) == (wanted is None)
    made = scipy.sparse.csr_matrix((data, rows.indices, rows.indptr.astype(int)), shape=(n, n))
    assert (made != graph.to_scipy()[order][:, order]).nnz == 0


@pytest.mark.runtimes("pocl", "intel")
def test_ranks_over_several_windows(device):
    """All that is of vertices goes into the order of the rows, and ranks come back from it."""
    graph = cg.generate.rmat(12, 6, seed=7, weights=(0.0, 2.5))
    rng = np.random.default_rng(8)
    given = {
        "personalization": rng.random((3, graph.n)),
        "dangling": rng.random(graph.n),
        "nstart": rng.random(graph.n),
    }
    plan = cg.PageRank(graph, device=device)
    affine = plan._plan(3, given=True, way="own")
    assert (affine._order is not None) == (device.traits.lanes == 1)
    found = plan.run(**given, tol=0, max_iter=3).ranks
    matrix, out = graph.to_scipy(), np.asarray(graph.to_scipy().sum(axis=1)).ravel()
    personal, dangling, start = (row / row.sum(axis=-1, keepdims=True) for row in given.values())
    for row, known in zip(personal, found, strict=True):
        x = start
        for _ in range(3):
            flow = np.divide(x, out, out=np.zeros(graph.n), where=out > 0)
            x = 0.85 * (matrix.T @ flow + x[out == 0].sum() * dangling) + 0.15 * row
        np.testing.assert_allclose(known, x, rtol=1e-9)


@pytest.mark.runtimes("pocl+lanes32", "intel")
def test_groups_take_rows_after_each_other(device, monkeypatch):
    """No group is left without rows, none takes those of another class, and all are summed."""
    monkeypatch.setattr(row_shares, "Sweeper", lambda *_: SimpleNamespace(groups=3))
    graph = cg.generate.rmat(11, 3, seed=7)
    shares = RowShares(device, Memory(device), graph.indptr)
    if not shares.parameters["ranges"]:
        groups, slots, tiles = shares.arguments[0].read().reshape(-1, 3).astype(int).T
        rows = tiles[:-1] * (shares.group_size // np.array(shares.parameters["teams"]))
        taken, there = np.diff(groups) * rows, np.diff(slots)
        assert tiles.max() > 1
        assert (taken >= there).all()
        assert (taken - rows < there).all()
        assert shares.groups == groups[-1]
    found = cg.pagerank(graph, device=device, tol=0, max_iter=5).ranks
    np.testing.assert_allclose(found, by_matrix(graph, iterations=5), rtol=1e-9)


@pytest.mark.runtimes("pocl", "pocl+lanes32", "intel")
def test_classes_of_rows(device):
    """Every row is in one class, and its team is as wide as its length asks for."""
    degrees = np.array([0, 1, 4, 5, 9, 40, 70, 3000, 200_000, 2, 70_000])
    indptr = np.concatenate([[0], np.cumsum(degrees)])
    shares = RowShares(device, Memory(device), indptr)
    begins = shares.arguments[0].read()
    if shares.parameters["ranges"]:
        assert begins[0] == 0
        assert begins[-1] == len(degrees)
        assert (np.diff(begins.astype(int)) >= 0).all()
        return
    teams = shares.parameters["teams"]
    slots = begins.reshape(-1, 3)[:, 1]
    order, parts = shares.arguments[1].read(), shares.arguments[2].read()
    assert sorted(set(order.tolist())) == list(range(len(degrees)))
    assert slots[-1] == len(order)
    assert parts.tolist() == [0, 1, 2, 3, 0, 1]  # of 200,000 and of 70,000 edges
    assert order[: len(parts)].tolist() == [8, 8, 8, 8, 10, 10]
    for index, team in enumerate(teams[1:], 1):
        for row in order[slots[index] : slots[index + 1]]:
            most = 4 if team < device.traits.lanes else 32
            assert team == max(teams) or degrees[row] <= most * team
    narrow = order[slots[-2] :]
    assert set(narrow.tolist()) >= {0, 1, 2, 9}


@pytest.mark.runtimes("pocl")
def test_what_is_refused(device):
    graph = named_graphs()["directed"]
    negative = cg.Graph(graph.indptr, graph.indices, -np.asarray(graph.weights))
    for call, words in (
        (lambda: cg.pagerank(graph, alpha=1.0), "alpha"),
        (lambda: cg.pagerank(graph, tol=-1), "tol"),
        (lambda: cg.pagerank(graph, tol=float("nan")), "tol"),
        (lambda: cg.pagerank(graph, max_iter=0), "max_iter"),
        (lambda: cg.pagerank(graph, personalization=np.zeros(graph.n)), "positive"),
        (lambda: cg.pagerank(graph, personalization=[1.0]), "shape"),
        (lambda: cg.pagerank(graph, personalization={graph.n: 1}), "vertex"),
        (lambda: cg.pagerank(graph, personalization={0: float("inf")}), "finite"),
        (lambda: cg.pagerank(graph, dangling=np.full((2, graph.n), 1.0)), "shape"),
        (lambda: cg.pagerank(graph, convention="google"), "convention"),
        (lambda: cg.pagerank(graph, convention="gap", dangling={0: 1}), "dangling"),
        (lambda: cg.pagerank(graph, dtype="int32"), "dtype"),
        (lambda: cg.katz_centrality(graph, beta=[1, 2]), "beta"),
        (lambda: cg.katz_centrality(graph, alpha=float("nan")), "alpha"),
        (lambda: cg.eigenvector_centrality(graph, max_iter=2.5), "max_iter"),
        (lambda: cg.hits(graph, nstart={0: -1}), "nstart"),
    ):
        with pytest.raises(cg.InvalidArgumentError, match=words):
            call()
    with pytest.raises(cg.InvalidGraphError, match="weights=False"):
        cg.pagerank(negative, device=device)
    cg.pagerank(negative, weights=False, device=device)


@pytest.mark.runtimes("pocl")
def test_no_vertices_and_no_convergence(device):
    nothing = cg.from_edges([], [], n=0)
    assert cg.pagerank(nothing, device=device).ranks.shape == (0,)
    assert cg.pagerank(nothing, personalization=np.zeros((2, 0)), device=device).ranks.shape == (
        2,
        0,
    )
    assert cg.hits(nothing, device=device).authorities.shape == (0,)
    assert cg.katz_centrality(nothing, device=device).converged
    assert cg.eigenvector_centrality(nothing, device=device).ranks.shape == (0,)
    grown = cg.katz_centrality(named_graphs()["kron"], alpha=0.5, max_iter=20, device=device)
    assert not grown.converged
    assert grown.iterations == 20


@pytest.mark.runtimes("pocl")
def test_verify_sees_wrong_ranks(device, monkeypatch):
    whole = PageRank._iterated

    def wrong(self, *args):
        ranks, *others = whole(self, *args)
        return (ranks * 1.01, *others)

    monkeypatch.setattr(PageRank, "_iterated", wrong)
    with pytest.raises(cg.VerificationError, match="another iteration"):
        cg.pagerank(named_graphs()["kron"], device=device, verify=True)


@pytest.mark.runtimes("pocl", "pocl+lanes32", "intel")
@pytest.mark.slow_on("pocl+lanes32")
@pytest.mark.parametrize("weights", [None, (0.5, 2.5)])
def test_shares_that_are_read_often_lie_together(device, weights, monkeypatch):
    """Edges name places, rows are in their order, and ranks stay what they are."""
    graph = cg.generate.rmat(11, 6, seed=7, weights=weights)
    start = np.random.default_rng(8).random(graph.n)
    given = {"personalization": start, "nstart": start[::-1], "tol": 0, "max_iter": 7}
    plan = cg.PageRank(graph, device=device)
    expected = plan.run(**given).ranks
    assert plan._plan(1, given=True, way="own")._places is None
    monkeypatch.setattr(placing, "placed_on", lambda _: True)
    monkeypatch.setattr(placing, "NEAR_BYTES", 4096)
    monkeypatch.setattr(power, "Arranged", SimpleNamespace(by_length=lambda _: None))
    plan = cg.PageRank(graph, device=device)
    found = plan.run(**given, verify=True).ranks
    affine = plan._plan(1, given=True, way="own")
    places = affine._places
    assert places is not None
    assert (np.diff(graph.degrees[np.argsort(places)]) <= 0).all()
    pulled = graph.transpose()
    rows = np.repeat(np.arange(graph.n), pulled.degrees)
    order = np.lexsort((places[pulled.indices], rows))
    for found_rows, theirs in zip(
        affine.pulling.rows[1:], (places[pulled.indices], pulled.weights), strict=False
    ):
        np.testing.assert_array_equal(found_rows.read(), theirs[order])
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    crowded = SimpleNamespace(ledger=SimpleNamespace(free_bytes=8 * graph.m), traits=device.traits)
    for where, portion in ((crowded, 0.25), (device, 1.0)):
        monkeypatch.setattr(placing, "NEAR_PORTION", portion)
        assert placing.places_of(graph.degrees, graph.m, where, np.dtype(float)) is None
