"""Communities where weights are zero, or near the ends of the range of floats."""

from functools import cache

import numpy as np
import pytest

import clgraph as cg
from clgraph.algorithms.communities.scale import whole_weights
from clgraph.engine.sweeps import SweepLog

everywhere = pytest.mark.runtimes("pocl", "pocl+lanes8", "intel")


@cache
def graphs_with_weights_of_zero():
    made = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        ends, weights = rng.integers(0, 30, (2, 70)), rng.integers(0, 3, 70)
        made.append(cg.from_edges(*ends, weights, n=30, directed=False, symmetrize=True))
    return made


@cache
def of_zeros_on_pocl(number, seed):
    graph = graphs_with_weights_of_zero()[number]
    return cg.leiden(graph, resolution=0.3, seed=seed, device="pocl")


@pytest.mark.rest
@everywhere
def test_edges_that_weigh_nothing_join_nothing(device):
    for number, graph in enumerate(graphs_with_weights_of_zero()):
        plan = cg.Leiden(graph, device=device)
        for seed in range(6):
            found = plan.run(resolution=0.3, seed=seed, verify=True)
            expected = of_zeros_on_pocl(number, seed)
            np.testing.assert_array_equal(found.labels, expected.labels)


@everywhere
def test_pieces_are_not_held_together_by_edges_that_weigh_nothing(device):
    ends, weights = ([0, 1, 2, 3], [1, 2, 3, 4]), [1, 0, 2, 1]
    graph = cg.from_edges(*ends, weights, directed=False, symmetrize=True)
    plan, log = cg.Leiden(graph, device=device), SweepLog()
    plan._first.labels.write(np.zeros(5, np.uint32))
    plan._turns.order(log, plan._first, 1)
    pieces = plan._levels.pieces(log, plan._first)
    np.testing.assert_array_equal(pieces.read(5), [0, 0, 2, 2, 2])


@pytest.mark.parametrize("weight", [5e-324, 1e-200, 1e300])
def test_weights_near_the_ends_of_the_range(any_device, weight):
    ends = [0, 1, 2, 3, 4, 5, 0], [1, 2, 0, 4, 5, 3, 3]
    plain = cg.from_edges(*ends, directed=False, symmetrize=True)
    graph = cg.from_edges(*ends, [weight] * 7, directed=False, symmetrize=True)
    whole, _, unit = whole_weights(graph, weighted=True)
    np.testing.assert_allclose(whole * unit, graph.weights, rtol=1e-10)
    found = cg.leiden(graph, device=any_device, verify=True)
    np.testing.assert_array_equal(found.labels, [0, 0, 0, 1, 1, 1])
    labels = [0, 0, 1, 1, 2, 2]
    wanted = cg.modularity(plain, labels, device=any_device)
    found = cg.modularity(graph, labels, device=any_device, verify=True)
    assert found == pytest.approx(wanted, abs=1e-9)
