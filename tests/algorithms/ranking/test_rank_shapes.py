"""Scores after a few iterations, on graphs of every shape and devices of every kind, by NumPy."""

import numpy as np
import pytest
from graphs import SHAPES

import clgraph as cg

ROUNDS = 3
MIXED = cg.from_edges(
    [0, 0, 1, 2, 4, 4, 5, 7, 7, 3],
    [1, 2, 2, 0, 5, 5, 4, 7, 6, 3],
    [0.5, 2.0, 1.0, 3.0, 1.0, 4.0, 0.0, 2.0, 1.5, 1.0],
    n=10,
)
CHOSEN = (
    *("one-vertex", "one-self-loop", "no-edges", "one-way-path", "star", "two-components"),
    *("power-law", "one-way-random", "self-loops", "parallel-edges", "isolated-vertices"),
)
# The last is directed and has weights, parallel edges, self-loops and several components.
GRAPHS = {name: SHAPES[name] for name in CHOSEN} | {"mixed": MIXED}
everywhere = pytest.mark.runtimes("pocl", "pocl+lanes8", "intel")


def long(x):
    return x / (np.linalg.norm(x) or 1.0)


def shared(x):
    return x / (x.sum() or 1.0)


def by_rule(name, matrix):
    """Scores after some rounds, by the definition of a round."""
    n = matrix.shape[0]
    x = np.full(n, 1.0 / n)
    if name == "katz":
        x = np.zeros(n)
    out = matrix.sum(axis=1)
    for _ in range(ROUNDS):
        if name == "eigenvector":
            x = long(matrix.T @ x + x)
        elif name == "katz":
            x = 0.05 * (matrix.T @ x) + np.arange(n)
        elif name == "hits":
            x = long(matrix @ (matrix.T @ x))
        else:
            flow = np.divide(x, out, out=np.zeros(n), where=out > 0)
            x = 0.85 * (matrix.T @ flow + x[out == 0].sum() / n) + 0.15 / n
    if name == "hits":
        return [shared(x), shared(matrix.T @ x)]
    return [long(x) if name == "katz" else x]


CALLS = {
    "pagerank": lambda g, **ends: [cg.pagerank(g, **ends).ranks],
    "eigenvector": lambda g, **ends: [cg.eigenvector_centrality(g, **ends).ranks],
    "katz": lambda g, **ends: [
        cg.katz_centrality(g, alpha=0.05, beta=np.arange(g.n), **ends).ranks
    ],
    "hits": lambda g, **ends: [
        getattr(found, side) for found in [cg.hits(g, **ends)] for side in ("hubs", "authorities")
    ],
}


@everywhere
@pytest.mark.parametrize("shape", GRAPHS)
@pytest.mark.parametrize("name", CALLS)
def test_a_few_rounds(name, shape, device):
    graph = GRAPHS[shape]
    matrix = graph.to_scipy().toarray().astype(float)
    found = CALLS[name](graph, tol=0, max_iter=ROUNDS, device=device, verify=True)
    for scores, wanted in zip(found, by_rule(name, matrix), strict=True):
        np.testing.assert_allclose(scores, wanted, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("name", CALLS)
def test_every_run_gives_the_same(name, any_device):
    ends = {"tol": 0, "max_iter": ROUNDS, "device": any_device}
    for graph in (SHAPES["power-law"], MIXED):
        first = CALLS[name](graph, **ends)
        for _ in range(3):
            np.testing.assert_array_equal(CALLS[name](graph, **ends), first)
