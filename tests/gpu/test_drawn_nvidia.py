"""Graphs for studies that a card draws: what they say they are, and the same each time."""

import numpy as np
import pytest

import clgraph as cg
from bench.runner import on_card

pytestmark = pytest.mark.gpu


def test_kronecker_graphs(monkeypatch):
    pytest.importorskip("cupy", reason="there is no CuPy")
    graph = on_card.kron(14, seed=1)
    cg.Graph(graph.indptr, graph.indices, directed=False)  # rows ascend, edges go both ways
    rows = np.repeat(np.arange(graph.n), graph.degrees)
    assert not (rows == graph.indices).any()
    assert not ((np.diff(graph.indices) == 0) & (np.diff(rows) == 0)).any()
    other = cg.generate.kron(14, seed=1)
    assert graph.m == pytest.approx(other.m, rel=0.01)
    assert graph.max_degree == pytest.approx(other.max_degree, rel=0.2)
    monkeypatch.setattr(on_card, "EDGES_A_PIECE", 1 << 15)
    again = on_card.kron(14, seed=1)
    np.testing.assert_array_equal(graph.indptr, again.indptr)
    np.testing.assert_array_equal(graph.indices, again.indices)
    assert on_card.kron(14, seed=2).m != graph.m
