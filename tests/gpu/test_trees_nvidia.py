"""Rankings, spanning forests, independent sets, colours and walks on an NVIDIA GPU."""

import numpy as np
import pytest

import clgraph as cg

pytestmark = pytest.mark.gpu
WEIGHTS = (1, 1000)  # many equal ones


@pytest.fixture(scope="module")
def made():
    return {
        "kron": cg.generate.kron(15, seed=3, weights=WEIGHTS),
        "road": cg.generate.road(300, 300, seed=3, weights=WEIGHTS),
        "star": cg.generate.star(100_000, seed=3, weights=WEIGHTS),
    }


@pytest.fixture(scope="module", params=["kron", "road", "star"])
def graph(request, made):
    return made[request.param]


@pytest.mark.parametrize("config", cg.SpanningForestConfig.presets())
def test_forests_are_those_of_a_processor(config, graph, gpu, pocl):
    expected = cg.minimum_spanning_forest(graph, device=pocl)
    plan = cg.SpanningForest(graph, config=config, device=gpu)
    for _ in range(5):
        found = plan.run()
        np.testing.assert_array_equal(found.edges, expected.edges)
        np.testing.assert_array_equal(found.labels, expected.labels)
    plan.run(verify=True)


def test_sets_and_colours_are_those_of_a_processor(graph, gpu, pocl):
    for seed in (0, 1):
        ours = cg.maximal_independent_set(graph, seed=seed, device=gpu, verify=True)
        theirs = cg.maximal_independent_set(graph, seed=seed, device=pocl)
        np.testing.assert_array_equal(ours.mask, theirs.mask)
        colors = cg.greedy_color(graph, seed=seed, device=gpu, verify=True)
        np.testing.assert_array_equal(
            colors.colors, cg.greedy_color(graph, seed=seed, device=pocl).colors
        )


def test_walks_are_those_of_a_processor(graph, gpu, pocl):
    starts = np.arange(0, graph.n, 11)
    for p, q in ((1.0, 1.0), (0.25, 4.0), (30.0, 1.0)):
        options = {"p": p, "q": q, "seed": 9}
        ours = cg.random_walks(graph, starts, 30, device=gpu, verify=True, **options)
        theirs = cg.random_walks(graph, starts, 30, device=pocl, **options)
        np.testing.assert_array_equal(ours.walks, theirs.walks)


def test_ranks_are_those_of_a_processor(graph, gpu, pocl):
    plain = cg.Graph(graph.indptr, graph.indices, directed=False)
    options = {"tol": 1e-10, "max_iter": 300}
    ours = cg.pagerank(plain, device=gpu, verify=True, **options)
    theirs = cg.pagerank(plain, device=pocl, **options)
    np.testing.assert_allclose(ours.ranks, theirs.ranks, rtol=1e-7, atol=1e-12)
    starts = np.eye(3, plain.n)
    several = cg.pagerank(plain, personalization=starts, device=gpu, verify=True, **options)
    assert several.ranks.shape == (3, plain.n)
    for scores in (cg.eigenvector_centrality, cg.hits):
        scores(plain, max_iter=1000, device=gpu, verify=True)
    cg.katz_centrality(plain, alpha=1e-4, device=gpu, verify=True)
    cg.pagerank(plain, dtype="float32", device=gpu, verify=True)
