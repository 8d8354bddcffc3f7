"""Colourings and independent sets of other libraries are judged by what is right of any."""

import numpy as np
import pytest

import clgraph as cg
from bench.peers.structure import coloring_fault, set_fault

SQUARE = cg.from_edges([0, 1, 2, 3, 3], [1, 2, 3, 0, 3], n=5, symmetrize=True)  # and a vertex alone


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
