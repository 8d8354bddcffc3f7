"""Counts of vertices in sums of 32 bits, and of 64 where those may not hold them."""

from types import SimpleNamespace

import numpy as np
import pytest

import clgraph as cg
from clgraph.algorithms.triangles.config import Merge
from clgraph.algorithms.triangles.rows import RowCounting

BY_ROW = cg.TrianglesConfig(intersect=Merge("row"))
TYPES = [np.uint32, np.uint64]


def undirected(src, dst):
    return cg.from_edges(src, dst, directed=False, symmetrize=True, dedup=True)


def counts_of(graph):
    matrix = graph.to_scipy().astype(np.int64)
    matrix.data[:] = 1
    return np.asarray((matrix @ matrix).multiply(matrix).sum(axis=1)).ravel() // 2


@pytest.mark.parametrize(
    ("way", "m", "degree", "bits"),
    [
        (Merge("row"), 2**40, 92_682, 32),
        (Merge("row"), 2**40, 92_683, 64),
        (Merge("row", tile=8), 2**40, 65_536, 32),
        (Merge("row", tile=8), 2**40, 65_537, 64),
        (Merge("row", slots=64), 2**40, 65_537, 64),
        (Merge("row"), 2**33 - 2, 10**6, 32),
        (Merge("row"), 2**33, 10**6, 64),
    ],
)
def test_sums_have_room_for_pairs_of_neighbours_or_for_edges(way, m, degree, bits, pocl):
    """TC-12: whichever are fewer, and twice what each vertex has where that is counted."""
    plan = cg.Triangles(cg.generate.path(9), config=cg.TrianglesConfig(intersect=way), device=pocl)
    rows = SimpleNamespace(n=2**24, m=m, max_degree=degree)
    assert RowCounting(plan.config, pocl, rows).sum_bits == bits


@pytest.mark.parametrize("width", TYPES, ids=lambda width: width.__name__)
def test_rows_add_to_sums_of_any_width(width, device):
    """TC-02, TC-24: zeros that the run before has left are added to."""
    for graph in (cg.generate.mesh(9, 7, seed=1), cg.generate.geometric(301, seed=2)):
        expected = counts_of(graph)
        assert expected.max() > 0
        plan = cg.Triangles(graph, config=BY_ROW, device=device)
        plan._counting.sum_type = width
        for _ in range(3):
            np.testing.assert_array_equal(plan.run("vertex").values, expected)


@pytest.mark.parametrize("config", ["bitmap", "intersect-path"])
def test_sums_of_two_words(config, device):
    """TC-12: of graphs with 2^32 edges, of which a vertex may have more triangles than that."""
    graph = undirected(*np.triu(np.random.default_rng(2).random((90, 90)) < 0.4, 1).nonzero())
    plan = cg.Triangles(graph, config=config, device=device)
    assert plan._counting.sum_type is np.uint32
    plan._counting.sum_type = np.uint64
    np.testing.assert_array_equal(plan.run("vertex").values, counts_of(graph))
    if config == "bitmap":
        assert sum(len(block) for block in plan.blocks(500)) == plan.run().count
