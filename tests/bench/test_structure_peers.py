"""What others' answers are judged by: colourings, independent sets, trusses and cores."""

import numpy as np
import pytest
from peeling import (
    core_numbers_of,
    hub_and_cliques,
    random_graph,
    truss_numbers_of,
    tube_with_cliques,
    undirected,
)

import clgraph as cg
from bench.peers.structure import coloring_fault, set_fault
from bench.peers.truss import core_numbers, truss_numbers

SQUARE = cg.from_edges([0, 1, 2, 3, 3], [1, 2, 3, 0, 3], n=5, symmetrize=True)  # and a vertex alone
BY_ROUNDS = {
    "random": random_graph(60, 700, 1),
    "sparse": random_graph(200, 500, 2),
    "cliques": hub_and_cliques(),
    "tube": tube_with_cliques(6),
    "empty": undirected([], [], n=3),
}


@pytest.mark.parametrize(
    ("colors", "fault"),
    [
        ([0, 1, 0, 1, 0], ""),
        ([4, 1, 0, 1, 7], ""),
        ([0, 0, 1, 2, 0], "2 edges have ends of one colour"),
        ([0, 1, 0, 1], "4 colours instead of 5"),
    ],
)
def test_colourings(colors, fault):
    assert coloring_fault(SQUARE, np.array(colors)) == fault


@pytest.mark.parametrize(
    ("chosen", "fault"),
    [
        ([1, 0, 1, 0, 1], ""),
        ([1, 1, 0, 0, 1], "2 edges have both ends in the set"),
        ([1, 0, 1, 0, 0], "1 vertices could be added"),
        ([0, 0, 0, 0, 0], "5 vertices could be added"),
        ([1, 0, 1], "3 vertices instead of 5"),
    ],
)
def test_maximal_independent_sets(chosen, fault):
    assert set_fault(SQUARE, np.array(chosen)) == fault


@pytest.mark.parametrize("graph", [*BY_ROUNDS.values()], ids=[*BY_ROUNDS])
def test_numbers_of_trusses_and_cores_by_rounds(graph):
    """Where rounds take away whole triangles, two edges of some, and one, or nothing is left."""
    np.testing.assert_array_equal(truss_numbers(graph), truss_numbers_of(graph))
    np.testing.assert_array_equal(core_numbers(graph), core_numbers_of(graph))
