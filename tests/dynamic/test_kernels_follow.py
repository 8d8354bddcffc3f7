"""Kernels of plans whose graph changes are of the rows that there are now, whatever failed."""

import dataclasses
import importlib

import numpy as np
import pytest
import scipy.sparse.csgraph

import clgraph as cg
from clgraph.engine import plan as engine_plan

bfs_plan = importlib.import_module("clgraph.algorithms.bfs.plan")
components_plan = importlib.import_module("clgraph.algorithms.components.plan")
HOPS = {
    "state": {"hops": cg.State("int32", fill=-1)},
    "init": "if (lid == 0) hops[src] = 0;",
    "visit": "if (FIRST(v)) { hops[v] = level + 1; ENQ(v); }",
}


def hops(graph, source):
    matrix = graph.to_graph().to_scipy()
    found = scipy.sparse.csgraph.shortest_path(matrix, unweighted=True, indices=source)
    return np.where(np.isinf(found), -1, found).astype(np.int32)


def broken_off(monkeypatch, owner, name, call):
    """Call while what builds kernels is interrupted."""

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, interrupted)
        with pytest.raises(KeyboardInterrupt):
            call()


def test_a_search_has_no_kernels_of_rows_before(any_device, monkeypatch):
    """Building the next ones was interrupted, and those before were for another configuration."""
    resolve, budgets = bfs_plan.resolve, [10**9, 5 * 10**8, 5 * 10**8]

    def in_turn(*args, **given):
        return dataclasses.replace(resolve(*args, **given), launch_work=budgets.pop(0))

    monkeypatch.setattr(bfs_plan, "resolve", in_turn)
    graph = cg.DynamicGraph(cg.generate.path(300), device=any_device)
    search = cg.BFS(graph)
    graph.insert_edges([3, 7], [200, 290])
    broken_off(monkeypatch, engine_plan.SearchPlan, "DRIVER", lambda: search.run(3))
    np.testing.assert_array_equal(search.run(3).distances, hops(graph, 3))
    assert not budgets
    assert search._stages._own[-1] == search.config.launch_work


@pytest.mark.parametrize("config", ["auto", "near-far", "delta-stepping", "self-tuning"])
def test_kernels_do_not_know_how_long_edges_are(config, any_device):
    """Or each change of weights would have them rendered and loaded again."""
    path = cg.generate.path(60)
    rows = cg.Graph(path.indptr, path.indices, np.ones(path.m, np.int32), directed=False)
    graph = cg.DynamicGraph(rows, device=any_device)
    search = cg.SSSP(graph, config=config)
    stages, width = search._stages, search.config.delta
    graph.insert_edges([3, 7], [40, 59], [500, 900])
    found = search.run(3).distances
    assert search.config.delta != width  # or this tests nothing
    assert search._stages is stages
    np.testing.assert_array_equal(found, np.abs(np.arange(60) - 3))


def test_many_searches_have_no_kernel_of_rows_before(any_device, monkeypatch):
    """Whose rows were shared out in another way."""
    graph = cg.DynamicGraph(cg.generate.path(300), device=any_device.emulating(8))
    config = cg.MultiSearchConfig(threshold="auto", balance="item_thread")
    search = cg.MultiSearch(graph, config=config, **HOPS)
    before = search.config
    graph.insert_edges(np.zeros(290, int), np.arange(5, 295))
    broken_off(monkeypatch, cg.MultiSearch, "_compile", lambda: search.run([3]))
    kernel = search._kernel
    np.testing.assert_array_equal(search.run([3])["hops"][0], hops(graph, 3))
    assert search.config != before  # or this tests nothing
    assert search._kernel is not kernel


def test_components_have_no_kernels_of_rows_before(any_device, monkeypatch):
    """Rows are packed for a plan elsewhere, and tiles suit them or not."""
    tiles = [0, 64, 64]
    monkeypatch.setattr(components_plan, "tile_of", lambda *_: tiles.pop(0))
    graph = cg.DynamicGraph(cg.generate.path(300), device=any_device)
    search = cg.ConnectedComponents(graph, device=any_device.beside())
    graph.delete_edges([7], [8])
    broken_off(monkeypatch, components_plan, "Tiles", search.run)
    assert search.run().count == 2
    assert not tiles
    assert search._tiles is not None


@pytest.mark.parametrize("more", [0, 100])
def test_tiles_are_of_the_rows_and_vertices_that_there_are(any_device, more, monkeypatch):
    monkeypatch.setattr(components_plan, "tile_of", lambda *_: 64)
    graph = cg.DynamicGraph(cg.generate.path(300), device=any_device)
    search = cg.ConnectedComponents(graph, device=any_device.beside())
    assert search.run().count == 1
    graph.insert_vertices(more)
    for cut, sizes in ((100, [101, 199]), (200, [101, 100, 99])):
        graph.delete_edges([cut], [cut + 1])
        alone = np.arange(len(sizes), len(sizes) + more)
        labels = np.concatenate([np.repeat(np.arange(len(sizes)), sizes), alone])
        np.testing.assert_array_equal(search.run().labels, labels)


def test_a_search_learns_that_edges_are_parallel(any_device):
    """Then the source's neighbours are not just given the weights of their edges."""
    config = cg.SSSPConfig(method=cg.method.BellmanFord(edge_classes=("source",)))
    graph = cg.DynamicGraph(n=3, weights="int32", device=any_device)
    graph.insert_edges([0, 1], [1, 2], [5, 5])
    search = cg.SSSP(graph, config=config)
    assert search.run(0).distances.tolist() == [0, 5, 10]
    before = search._stages
    for weight, least in ((2, 2), (9, 2), (1, 1), (7, 1)):
        graph.insert_edges([0], [1], [weight], duplicates="keep")
        assert search.run(0).distances.tolist() == [0, least, least + 5]
    assert search._stages is not before  # which of two lanes writes last is a matter of luck


def test_a_set_point_outlives_the_rows(any_device):
    graph = cg.DynamicGraph(cg.generate.grid2d(20, 20, weights=(1, 9)), device=any_device)
    search = cg.SSSP(graph, config="self-tuning")
    search.set_point = 777
    graph.delete_edges([0], [1])
    search.run(0, verify=True)
    assert search.set_point == 777
