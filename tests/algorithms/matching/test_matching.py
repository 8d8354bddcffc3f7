"""Approximate subgraph matching against its equations and a sequential form of it."""

import functools

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.stats import chisquare

import clgraph as cg
from bench.studies.matchers import sequential
from clgraph import SubgraphMatching
from clgraph.algorithms.matching.inputs import ONE
from clgraph.algorithms.matching.result import kept_edges
from clgraph.device import Memory

QUERY = cg.from_edges([0, 0, 1, 2], [1, 2, 2, 3], symmetrize=True)
TARGET = cg.from_edges([0, 0, 0, 1, 2, 2, 4], [1, 2, 3, 2, 3, 4, 5], symmetrize=True)
LABELS = ("ABCADB", "ABCA")
GOLDEN = np.array(
    [
        [1, 1 / 2, 1 / 3, 7 / 12, 1 / 2, 0],
        [2 / 3, 1, 1 / 3, 5 / 6, 1 / 2, 0],
        [8 / 13, 6 / 13, 1, 6 / 13, 0, 0],
        [1, 6 / 7, 0, 1, 6 / 7, 0],
    ]
)
GOLDEN_P = np.array(
    [
        [36 / 119, 18 / 119, 16 / 119, 31 / 119, 18 / 119, 0],
        [5 / 31, 9 / 31, 4 / 31, 11 / 62, 9 / 62, 3 / 31],
        [7 / 24, 1 / 12, 13 / 24, 1 / 12, 0, 0],
        [21 / 82, 13 / 82, 7 / 82, 21 / 82, 13 / 82, 7 / 82],
    ]
)


def random_graph(n, m, rng):
    src, dst = rng.integers(0, n, (2, m))
    return cg.from_edges(src, dst, n=n, symmetrize=True, dedup=True, self_loops=False)


def alike(target_labels, query_labels):
    wanted, there = np.asarray(query_labels)[:, None], np.asarray(target_labels)[None, :]
    return (wanted == there).astype(float)


def cost_of(query, target, similarity, mapping):
    """Equation 10.1, pair by pair."""
    edges = {tuple(edge) for edge in np.stack(target.to_scipy().nonzero(), 1).tolist()}
    src, dst, _ = query.listed_edges()
    costs = []
    for row in mapping.tolist():
        cost = sum(1.0 if t < 0 else 1.0 - similarity[u, t] for u, t in enumerate(row))
        cost += sum(
            (row[u], row[v]) not in edges for u, v in zip(src.tolist(), dst.tolist(), strict=True)
        )
        costs.append(cost / (query.n + len(src)))
    return np.array(costs)


@pytest.mark.parametrize("config", ["thesis", "thesis-bfs"])
def test_golden_vector(config, device):
    """Checklist 4, 5, 6, 8, 11: the worked example of the specification, both ways."""
    plan = SubgraphMatching(TARGET, labels=LABELS[0], config=config, device=device)
    found = plan.neighbourhood_similarities(QUERY, labels=LABELS[1])
    np.testing.assert_allclose(found, GOLDEN, atol=1e-12)
    shallow = plan.neighbourhood_similarities(QUERY, labels=LABELS[1], max_level=1)
    wanted = [[1, 0, 0, 0.5, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0], [1, 0, 0, 1, 0, 0]]
    np.testing.assert_array_equal(shallow, wanted)
    probabilities = plan.probabilities(QUERY, labels=LABELS[1])
    np.testing.assert_allclose(probabilities, GOLDEN_P, atol=1e-6)


@pytest.mark.parametrize("cases", [20, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.parametrize("degree_test", [True, False])
def test_similarities_of_random_graphs(degree_test, cases, any_device):
    """Checklist 5, 6, 7, 9, 11: 600 small cases by brute force, by either way, to depth 5."""
    rng = np.random.default_rng(3)
    config = {"scoring": "thesis", "profile": "equal_bits", "arc_degree_test": degree_test}
    ways = [cg.MatchingConfig(similarities=way, **config) for way in ("bitset", "bfs")]
    for case in range(cases):
        target, query = random_graph(12, 16, rng), random_graph(5, int(rng.integers(0, 8)), rng)
        labels = rng.integers(0, 2, 12), rng.integers(0, 2, 5)
        depth = 1 + case % 5
        wanted = sequential.brute_similarity(
            query, target, alike(*labels), depth, degree_test=degree_test
        )
        assert (wanted >= 0).all()
        assert (wanted <= 1).all()
        for way in ways if case % 10 == 0 else ways[case % 2 : case % 2 + 1]:
            plan = SubgraphMatching(target, labels=labels[0], config=way, device=any_device)
            found = plan.neighbourhood_similarities(query, labels=labels[1], max_level=depth)
            np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_probabilities_of_rows_without_weight(any_device):
    """Checklist 8: rows sum to 1 or to 0, and nothing is NaN."""
    query = cg.from_edges([0, 1], [1, 2], n=4, symmetrize=True)
    plan = SubgraphMatching(TARGET, labels=LABELS[0], device=any_device)
    found = plan.probabilities(query, labels="ABZZ", label_floor=0)
    sums = found.sum(axis=1)
    assert np.isfinite(found).all()
    assert np.all(np.isclose(sums, 1, atol=1e-5) | (sums == 0))
    assert sums[3] == 0


SEED, SOLUTIONS = 2**40 + 5, 40
CASES = [
    ("auto", None),
    ("product", None),
    ("thesis", None),
    ("auto", 25),
    ("product", 25),
    ("thesis", 25),
    ("thesis", 3),
]


def case_of_the_sequential_form():
    """A target, a query, and the labels of both."""
    rng = np.random.default_rng(11)
    target, query = random_graph(40, 90, rng), random_graph(9, 13, rng)
    return target, query, (rng.integers(0, 3, 40), rng.integers(0, 3, 9))


@functools.cache
def solutions(config, iterations, label_floor, scores):
    """What the sequential form finds; once for all runtimes, whose scores are the same bytes."""
    target, query, labels = case_of_the_sequential_form()
    similarity = (alike(*labels) * ONE).astype(np.uint32)
    weights = np.frombuffer(scores, np.uint32).reshape(similarity.shape)
    return [
        sequential.extend(
            query,
            target,
            similarity,
            pair,
            solution,
            seed=SEED,
            profile=config.profile,
            order=config.order,
            label_floor=label_floor,
            scores=weights,
            iterations=iterations or 0,
        )
        for solution, pair in enumerate(sequential.draw_seeds(weights, SOLUTIONS, SEED))
    ]


@pytest.mark.slow_on("pocl+lanes32")
@pytest.mark.parametrize(("config", "iterations"), CASES)
def test_equals_the_sequential_form(config, iterations, device):
    """Checklist 13 to 19, 22, 25: seeds and maps, pair by pair, on every runtime."""
    target, query, labels = case_of_the_sequential_form()
    plan = SubgraphMatching(target, labels=labels[0], config=config, device=device)
    result = plan.run(
        query,
        labels=labels[1],
        k=SOLUTIONS,
        seed=SEED,
        sort=False,
        iterations=iterations,
        verify=True,
    )
    weights = plan._scores(query, labels[1], None, {})[0]
    floor = round(plan.config.label_floor * ONE)
    wanted = solutions(plan.config, iterations, floor, weights.tobytes())
    for solution, (images, parts) in enumerate(wanted):
        assert result.mapping[solution].tolist() == images
        found = [result.cost_parts[part][solution] for part in ("labels", "edges", "nodes")]
        assert found == [parts[0] / ONE, parts[1], parts[2]]
    np.testing.assert_allclose(
        result.cost, cost_of(query, target, alike(*labels), result.mapping), atol=1e-6
    )


def test_random_numbers_are_philox():
    """The published known answers of Philox4x32-10, for what kernels are compared with."""
    assert sequential.philox((0, 0, 0, 0), (0, 0)) == (
        0x6627E8D5,
        0xE169C58D,
        0xBC57AC4C,
        0x9B00DBD8,
    )
    ones = 0xFFFFFFFF
    wanted = (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)
    assert sequential.philox((ones,) * 4, (ones, ones)) == wanted


@pytest.mark.parametrize("seeds", ["rows", "flat"])
def test_seeds_are_drawn_in_proportion(seeds, any_device):
    """Checklist 12: chi-square over 1e5 draws; what has no probability is never drawn."""
    config = cg.MatchingConfig(scoring="thesis", profile="equal_bits", seeds=seeds)
    plan = SubgraphMatching(TARGET, labels=LABELS[0], config=config, device=any_device)
    result = plan.run(QUERY, labels=LABELS[1], k=100_000, iterations=1, sort=False, seed=4)
    assert (np.count_nonzero(result.mapping >= 0, axis=1) == 1).all()
    rows = (result.mapping >= 0).argmax(axis=1)
    drawn = np.zeros((4, 6))
    np.add.at(drawn, (rows, result.mapping.max(axis=1)), 1)
    possible = GOLDEN_P > 0
    assert (drawn[~possible] == 0).all()
    assert chisquare(drawn[possible], GOLDEN_P[possible] / 4 * 100_000).pvalue > 0.01


def test_one_step_is_drawn_in_proportion(any_device):
    """Checklist 17: Equation 10.6, which knows neither degrees nor neighbourhoods."""
    query = cg.from_edges([0], [1], symmetrize=True)
    target = cg.from_edges([0, 0, 0, 0, 1], [1, 2, 3, 4, 5], n=7, symmetrize=True)
    matrix = np.full((2, 7), 0.0)
    matrix[0, 0], matrix[1, 1:5] = 1, (0.1, 0.2, 0.3, 0.4)
    config = cg.MatchingConfig(scoring="product", profile="shared_ones")
    plan = SubgraphMatching(target, config=config, device=any_device)
    result = plan.run(query, similarity=matrix, k=50_000, label_floor=0, sort=False)
    from_hub = result.mapping[result.mapping[:, 0] == 0, 1]
    drawn = np.bincount(from_hub, minlength=7)[1:5]
    assert drawn.sum() > 10_000
    # Matches that began with the other end are all at the hub as well: those are left out.
    starts = plan.run(query, similarity=matrix, k=50_000, label_floor=0, sort=False, iterations=1)
    began = starts.mapping[:, 0] == 0
    drawn = np.bincount(result.mapping[began, 1], minlength=7)[1:5]
    assert chisquare(drawn, np.array([0.1, 0.2, 0.3, 0.4]) * drawn.sum()).pvalue > 0.01


@pytest.mark.parametrize("size", [2, 33, 254, 300])
def test_complete_and_identical(size, any_device):
    """Checklist 3, 22: queries beyond one word and beyond 254 vertices; identity costs nothing."""
    rng = np.random.default_rng(size)
    graph = cg.generate.path(size) if size > 2 else cg.from_edges([0], [1], symmetrize=True)
    labels = np.arange(size)
    rng.shuffle(labels)
    result = cg.subgraph_matching(
        graph.symmetrized(),
        graph.symmetrized(),
        labels=(labels, labels),
        k=3,
        device=any_device,
        verify=True,
    )
    assert (result.mapping == np.arange(size)).all()
    assert (result.cost == 0).all()


def test_profiles_up_to_254_pairs(any_device):
    """Checklist 15: profiles of up to 253 pairs, in a star whose last leaf has one place left."""
    leaves = 253
    star = cg.from_edges(np.zeros(leaves, int), np.arange(1, leaves + 1), symmetrize=True)
    result = cg.subgraph_matching(star, star, config="thesis", k=2, device=any_device, verify=True)
    assert result.mapping.shape == (2, 254)
    assert np.sort(result.mapping, axis=1)[:, 0].min() >= -1


def test_the_batch_changes_nothing(device):
    """Checklist 20, 21: several queries in the same launches give what each gives alone."""
    rng = np.random.default_rng(5)
    target, labels = random_graph(50, 120, rng), rng.integers(0, 4, 50)
    queries = [random_graph(n, 2 * n, rng) for n in (3, 40, 1, 7)]
    own = [rng.integers(0, 5, query.n) for query in queries]
    plan = SubgraphMatching(target, labels=labels, device=device)
    together = plan.run(queries, labels=own, k=12)
    for query, codes, result in zip(queries, own, together, strict=True):
        alone = plan.run(query, labels=codes, k=12)
        assert result.mapping.shape == (12, query.n)
        np.testing.assert_array_equal(result.mapping, alone.mapping)
        np.testing.assert_array_equal(result.cost, alone.cost)


def test_the_number_of_work_groups_changes_nothing(any_device):
    rng = np.random.default_rng(6)
    target, query = random_graph(50, 120, rng), random_graph(8, 12, rng)
    for config in ("auto", "thesis-bfs"):
        plan = SubgraphMatching(target, config=config, device=any_device)
        wanted = plan.run(query, k=30).mapping
        plan = SubgraphMatching(target, config=config, device=any_device)
        plan._phases.groups = 3
        np.testing.assert_array_equal(plan.run(query, k=30).mapping, wanted)


def test_state_in_global_memory_gives_the_same(any_device, monkeypatch):
    monkeypatch.setattr("clgraph.algorithms.matching.phases.STATE_BYTES", 0)
    rng = np.random.default_rng(6)
    target, query = random_graph(50, 120, rng), random_graph(8, 12, rng)
    found = cg.subgraph_matching(target, query, k=30, device=any_device).mapping
    monkeypatch.undo()
    wanted = cg.subgraph_matching(target, query, k=30, device=any_device).mapping
    np.testing.assert_array_equal(found, wanted)


def test_similarities_instead_of_labels(any_device):
    """Checklist 2: a matrix of zeros and ones is what labels are; sparse ones and files too."""
    wanted = cg.subgraph_matching(TARGET, QUERY, labels=LABELS, k=25, device=any_device)
    matrix = alike(list(LABELS[0]), list(LABELS[1]))
    for given in (matrix, sp.csr_array(matrix)):
        found = cg.subgraph_matching(TARGET, QUERY, similarity=given, k=25, device=any_device)
        np.testing.assert_array_equal(found.mapping, wanted.mapping)
    partly = cg.subgraph_matching(
        TARGET, QUERY, similarity=matrix * 0.75, k=25, device=any_device, verify=True
    )
    assert partly.cost.min() > 0


def test_similarity_from_files(any_device, tmp_path):
    matrix = np.round(np.random.default_rng(1).random((4, 6)), 3)
    np.save(tmp_path / "s.npy", matrix)
    np.savetxt(tmp_path / "s.txt", matrix)
    sp.save_npz(tmp_path / "s.npz", sp.csr_array(matrix))
    wanted = cg.subgraph_matching(TARGET, QUERY, similarity=matrix, k=9, device=any_device).mapping
    for name in ("s.npy", "s.txt", "s.npz"):
        path = tmp_path / name
        found = cg.subgraph_matching(TARGET, QUERY, similarity=path, k=9, device=any_device).mapping
        np.testing.assert_array_equal(found, wanted)


def test_partial_matches_are_kept_and_charged(any_device):
    """Checklist 18, 21: disconnected queries, queries larger than the target, nothing alike."""
    two = cg.from_edges([0, 2], [1, 3], symmetrize=True)
    result = cg.subgraph_matching(TARGET, two, k=20, device=any_device, verify=True)
    assert result.mapping.shape == (20, 4)
    assert result.partial.all()
    assert (result.cost_parts["nodes"] == 2).all()
    large = cg.subgraph_matching(
        QUERY, cg.generate.complete(6), k=20, device=any_device, verify=True
    )
    assert (large.cost_parts["nodes"] >= 2).all()
    strange = cg.subgraph_matching(
        TARGET,
        QUERY,
        labels=("AAAAAA", "XXXX"),
        label_floor=0,
        k=20,
        device=any_device,
        verify=True,
    )
    assert (strange.cost_parts["labels"] + strange.cost_parts["nodes"] == 4).all()
    empty = cg.from_edges([], [], n=0)
    nothing = cg.subgraph_matching(empty, QUERY, k=5, device=any_device)
    assert (nothing.mapping == -1).all()
    assert (nothing.cost == 1).all()


def test_sort_and_distinct(any_device):
    """Checklist 23."""
    given = {"labels": LABELS, "k": 60, "device": any_device}
    result = cg.subgraph_matching(TARGET, QUERY, **given)
    assert (np.diff(result.cost) >= 0).all()
    assert result.distinct_ratio == len(np.unique(result.mapping, axis=0)) / 60
    rows = cg.subgraph_matching(TARGET, QUERY, distinct=True, **given)
    assert len(rows.mapping) == len(np.unique(rows.mapping, axis=0))
    assert rows.distinct_ratio == result.distinct_ratio
    assert (
        cg.subgraph_matching(TARGET, QUERY, **given, seed=1).mapping.tolist()
        != result.mapping.tolist()
    )


def test_result(any_device):
    result = cg.subgraph_matching(TARGET, QUERY, labels=LABELS, k=40, device=any_device)
    assert result.best.tolist() == [0, 1, 2, 3]
    graph = result.to_networkx()
    assert graph.nodes[3]["image"] == 3
    assert all(kept for *_, kept in graph.edges(data="kept"))
    assert kept_edges(QUERY, TARGET, result.mapping).shape == (40, 4)
    stats = result.stats
    assert set(stats.phases) == {"probabilities", "seeds", "extension", "transfers"}
    assert stats.device_bytes > 0
    assert stats.total_ms >= stats.kernel_ms > 0
    result.mapping[0, 0] = result.mapping[0, 1]
    with pytest.raises(cg.VerificationError, match="more than once"):
        result.verify()


BAD = [
    ({"labels": ("ABCAD", "ABCA")}, "6 vertices and 5 labels"),
    ({"labels": ([1, 2, None, 1, 1, 1], [1] * 4)}, "vertex 2 of the target has no label"),
    ({"labels": ("ABCADB", None)}, "one of them is None"),
    ({"labels": "AB"}, "must be a pair"),
    ({"similarity": np.full((4, 6), np.nan)}, "must be in"),
    ({"similarity": np.full((4, 6), 1.5)}, "must be in"),
    ({"similarity": np.ones((6, 4))}, r"must be \(4, 6\)"),
    ({"similarity": np.ones((4, 6)), "labels": LABELS}, "one of the two"),
    ({"k": 0}, "k=0"),
    ({"max_level": 0}, "max_level=0"),
    ({"label_floor": 2}, "label_floor"),
    ({"seed": -1}, "seed=-1"),
    ({"iterations": 0}, "iterations=0"),
    ({"config": "no-such"}, "choose one of"),
    ({"queries": [QUERY]}, "either query, or queries"),
]


@pytest.mark.parametrize(("options", "message"), BAD)
def test_bad_arguments(options, message, any_device):
    with pytest.raises(cg.InvalidArgumentError, match=message):
        cg.subgraph_matching(TARGET, QUERY, device=any_device, **options)


def test_bad_graphs(any_device):
    """Checklist 1: one-way edges are refused; loops and parallel edges do not count."""
    with pytest.raises(cg.InvalidArgumentError, match="no vertices"):
        cg.subgraph_matching(TARGET, cg.from_edges([], [], n=0), device=any_device)
    with pytest.raises(cg.InvalidGraphError, match="the query has an edge without a reverse"):
        cg.subgraph_matching(TARGET, cg.from_edges([0], [1]), device=any_device)
    messy = cg.from_edges([0, 0, 1, 1, 1], [1, 1, 0, 0, 1])
    result = cg.subgraph_matching(TARGET, messy, k=4, device=any_device, verify=True)
    assert (result.query.n, result.query.m) == (2, 2)
    assert (result.cost == 0).all()
    with pytest.raises(cg.InvalidArgumentError, match="needs scoring='product'"):
        cg.MatchingConfig(scoring="thesis")


@pytest.mark.parametrize("form", ["scipy", "networkx", "pandas"])
def test_graphs_in_other_forms(form, any_device):
    """Checklist 1: what other libraries hold is matched as the same edges are."""

    def converted(graph):
        if form == "scipy":
            return graph.to_scipy()
        src, dst = graph.to_scipy().nonzero()
        if form == "networkx":
            made = nx.Graph()
            made.add_nodes_from(range(graph.n))
            made.add_edges_from(zip(src.tolist(), dst.tolist(), strict=True))
            return cg.from_networkx(made)
        return cg.from_pandas(pd.DataFrame({"src": src, "dst": dst}), "src", "dst")

    given = {"labels": LABELS, "k": 25, "device": any_device}
    wanted = cg.subgraph_matching(TARGET, QUERY, **given)
    found = cg.subgraph_matching(converted(TARGET), converted(QUERY), **given)
    np.testing.assert_array_equal(found.mapping, wanted.mapping)


def test_more_than_65536_vertices(any_device):
    """Checklist 3: images beyond 16 bits, in either half of the published limit."""
    n = 70_000
    codes = np.zeros(n, int)
    codes[n - 3 :] = 1, 2, 3
    query = cg.generate.path(3).symmetrized()
    target = cg.generate.path(n).symmetrized()
    result = cg.subgraph_matching(
        target, query, labels=(codes, [1, 2, 3]), k=20, device=any_device, verify=True
    )
    assert result.best.tolist() == [n - 3, n - 2, n - 1]
    assert result.cost[0] == 0


def test_memory_does_not_depend_on_the_number_of_labels(any_device, monkeypatch):
    """Checklist 29."""
    taken, allocate = {}, Memory.allocate

    def counted(self, name, count, dtype):
        taken[labels] = taken.get(labels, 0) + np.dtype(dtype).itemsize * count
        return allocate(self, name, count, dtype)

    monkeypatch.setattr(Memory, "allocate", counted)
    for labels in (2, 50):
        rng = np.random.default_rng(6)  # the same graphs, which are uploaded anew
        target, query = random_graph(50, 120, rng), random_graph(8, 12, rng)
        codes = np.arange(50) % labels
        for config in ("auto", "thesis-bfs"):
            plan = SubgraphMatching(target, labels=codes, config=config, device=any_device)
            result = plan.run(query, labels=codes[:8], k=5)
            assert result.stats.device_bytes > 0
    assert taken[2] == taken[50]


def test_labels_of_any_kind(any_device):
    labels = [("kinase", 1), "x", ("kinase", 1), 2.5, "x", frozenset()]
    result = cg.subgraph_matching(
        TARGET, TARGET, labels=(labels, labels), k=200, device=any_device, verify=True
    )
    assert result.cost.min() == 0
