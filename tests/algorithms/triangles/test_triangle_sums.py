"""Counts of vertices in sums as narrow as they may be."""

import numpy as np
import pytest

import clgraph as cg
from clgraph.algorithms.triangles.config import Merge

BY_ROW = cg.TrianglesConfig(intersect=Merge("row"))
TYPES = [np.uint8, np.uint16, np.uint32, np.uint64]


def undirected(src, dst):
    return cg.from_edges(src, dst, directed=False, symmetrize=True, dedup=True)


def counts_of(graph):
    matrix = graph.to_scipy().astype(np.int64)
    matrix.data[:] = 1
    return np.asarray((matrix @ matrix).multiply(matrix).sum(axis=1)).ravel() // 2


@pytest.mark.parametrize(
    ("n", "bits"), [(24, 8), (25, 16), (363, 16), (364, 32)], ids=["k24", "k25", "k363", "k364"]
)
def test_sums_are_as_narrow_as_pairs_of_neighbours_allow(n, bits, pocl):
    """TC-02: in a clique every pair of neighbours closes a triangle; no count reaches the next."""
    plan = cg.Triangles(cg.generate.complete(n), config=BY_ROW, device=pocl)
    assert plan._counting.sum_bits == bits
    for _ in range(3):  # zeros that the run before has left
        assert (plan.run("vertex").values == (n - 1) * (n - 2) // 2).all()


@pytest.mark.parametrize(("tile", "slots"), [(8, 0), (0, 64)])
def test_sums_have_room_for_what_is_counted_twice(tile, slots, pocl):
    """K_17 has 120 triangles a vertex, K_18 136: twice that does not fit a byte."""
    config = cg.TrianglesConfig(intersect=Merge("row", tile=tile, slots=slots))
    for n, bits in ((17, 8), (18, 16)):
        plan = cg.Triangles(cg.generate.complete(n), config=config, device=pocl)
        assert plan._counting.sum_bits == bits
        assert (plan.run("vertex").values == (n - 1) * (n - 2) // 2).all()


def test_edges_across_bound_sums_too(pocl):
    """A hub without triangles has many pairs of neighbours, but the graph few edges."""
    for config, bits in ((BY_ROW, 16), ("bitmap", 32)):
        plan = cg.Triangles(cg.generate.star(1000), config=config, device=pocl)
        assert plan._counting.sum_bits == bits
        assert not plan.run("vertex").values.any()


@pytest.mark.parametrize("width", TYPES, ids=lambda width: width.__name__)
def test_rows_add_to_sums_of_any_width(width, device):
    """TC-02, TC-24: words hold four, two or one, and the last word may hold fewer."""
    for graph in (cg.generate.mesh(9, 7, seed=1), cg.generate.geometric(301, seed=2)):
        expected = counts_of(graph)
        assert 0 < expected.max() <= 255
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
