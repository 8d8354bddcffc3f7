"""Products against scipy, on graphs and on dynamic graphs: DH-30."""

import numpy as np
import pytest

import clgraph as cg
from bench.studies.renderings import rendered
from clgraph.errors import InvalidArgumentError, VerificationError

GRAPHS = {
    "nothing": cg.Graph([0], []),
    "no edges": cg.Graph([0, 0, 0], []),
    "random": cg.generate.random(300, 4000, seed=1),
    "star": cg.generate.star(3000),
    "path": cg.generate.path(100),
    "parallel": cg.from_edges([0, 0, 1, 1], [1, 1, 1, 0], [1.5, 2.5, 3, 4]),
}


def weighted(graph, dtype):
    if graph.weights is not None:
        return graph
    values = np.random.default_rng(2).integers(1, 9, graph.m).astype(dtype)
    if not graph.directed:
        values[:] = 3
    return cg.Graph.trusted((graph.indptr, graph.indices, values), directed=graph.directed)


@pytest.mark.parametrize("name", GRAPHS)
def test_dh30_products_of_both_layouts(device, name):
    graph = GRAPHS[name]
    x = np.random.default_rng(3).integers(-9, 9, graph.n).astype(np.float64)
    wanted = graph.to_scipy() @ x
    found = cg.spmv(graph, x, device=device, verify=True)
    np.testing.assert_array_equal(found, wanted)  # whole numbers below 2**24, so nothing is rounded
    assert found.dtype == (np.float32 if graph.weights is None else np.float64)
    dynamic = cg.DynamicGraph(graph, device=device, block_edges=64)
    np.testing.assert_array_equal(cg.spmv(dynamic, x, verify=True), wanted)


@pytest.mark.parametrize("weights", [np.int32, np.uint32, np.float32, np.float64, np.int64])
@pytest.mark.parametrize("dtype", [None, np.float32, np.float64])
def test_weights_of_any_type(any_device, weights, dtype):
    graph = weighted(GRAPHS["random"], weights)
    x = np.random.default_rng(4).random(graph.n)
    found = cg.spmv(graph, x, dtype=dtype, device=any_device, verify=True)
    np.testing.assert_allclose(found, graph.to_scipy() @ x, rtol=1e-4)


def test_sums_are_the_same_every_time_and_in_both_layouts(device):
    graph = weighted(GRAPHS["star"], np.float32)
    x = np.random.default_rng(5).random(graph.n)
    plan = cg.SpMV(graph, device=device)
    first = plan.run(x).values
    np.testing.assert_array_equal(plan.run(x).values, first)
    np.testing.assert_array_equal(cg.spmv(cg.DynamicGraph(graph, device=device), x), first)


def test_only_products_in_blocks_ask_ahead_where_a_row_is(pocl):
    """Packed rows, whose places lie side by side, were slower by it on an H200."""
    packed = GRAPHS["path"]
    for graph in (packed, cg.DynamicGraph(packed, device=pocl)):
        found = rendered(lambda device, of=graph: cg.spmv(of, np.ones(of.n), device=device), pocl)
        (text,) = (what.source for what in found if what.label == "spmv/spmv.cl")
        assert ("ROW_BEGIN(asked)" in text) == (graph is not packed)


def test_a_plan_follows_its_dynamic_graph(any_device):
    graph = cg.DynamicGraph(n=3, device=any_device)
    plan = cg.SpMV(graph)
    assert plan.run([1, 2, 3]).values.tolist() == [0, 0, 0]
    graph.insert_edges([0, 2, 4], [1, 2, 0])
    assert plan.run([1, 2, 3, 4, 5]).values.tolist() == [2, 0, 3, 0, 1]
    graph.delete_edges([2], [2])
    assert plan.run([1, 2, 3, 4, 5]).values.tolist() == [2, 0, 0, 0, 1]


def test_stats_and_verification(any_device, monkeypatch):
    graph = GRAPHS["star"]
    plan = cg.SpMV(graph, device=any_device)
    result = plan.run(np.ones(graph.n), verify=True)
    assert result.stats.entries == graph.m
    assert result.stats.kernel_ms > 0
    assert result.stats.launches == 1 + bool(result.stats.long_rows)
    plain = plan.enqueue
    monkeypatch.setattr(plan, "enqueue", lambda log, x, y: plain(log, x, y) or y.write([7.0]))
    with pytest.raises(VerificationError, match="row 0"):
        plan.run(np.ones(graph.n), verify=True)


@pytest.mark.parametrize(
    ("options", "x", "message"),
    [
        ({}, [1, 2], "for each of 100 vertices"),
        ({}, ["a"] * 100, "real number"),
        ({"dtype": np.int32}, np.ones(100), "neither float32 nor float64"),
    ],
)
def test_what_cannot_be_multiplied_is_refused(any_device, options, x, message):
    with pytest.raises(InvalidArgumentError, match=message):
        cg.spmv(GRAPHS["path"], x, device=any_device, **options)
