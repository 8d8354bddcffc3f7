"""Searches from many sources, by weight, and triangles, in the blocks of a dynamic graph: DH-30, TC-13."""

import numpy as np
import pytest

import clgraph as cg
from clgraph.dynamic import contents
from clgraph.engine.blocks import BlockRows

HOPS = {
    "state": {"hops": cg.State("int32", fill=-1)},
    "init": "if (lid == 0) hops[src] = 0;",
    "visit": "if (FIRST(v)) { hops[v] = level + 1; ENQ(v); }",
}
# A sum over the edges of each vertex, from the last level to the first: descendants by any way.
BACK = {
    "state": {"hops": cg.State("int32", fill=-1), "ways": cg.State("int32")},
    "init": "if (lid == 0) hops[src] = 0;",
    "visit": "if (FIRST(v)) { hops[v] = level + 1; ENQ(v); }",
    "back": "if (hops[v] == hops[u] + 1) SUM(1 + ways[v]);",
    "back_vertex": "ways[u] = (int)sum;",
}


def unpacked(monkeypatch):
    """Have nobody pack rows."""

    def refuse(_):
        raise AssertionError("rows were packed")

    monkeypatch.setattr(cg.DynamicGraph, "to_graph", refuse)


def change(graph, turn, rng, weighted=False):
    """Change it, its vertices and the places of its rows."""
    ends = rng.integers(0, graph.n + 40 * (turn == 1), (2, 100))
    graph.insert_edges(*ends, *([rng.integers(1, 20, 100)] if weighted else []))
    graph.delete_edges(*rng.integers(0, graph.n, (2, 1000)))
    if turn == 0:
        graph.compact()


def in_turn(graph, run, wanted, monkeypatch, weighted=False):
    """Compare what a plan finds in blocks with what is found in packed rows, as the graph changes."""
    rng = np.random.default_rng(1)
    for turn in range(3):
        expected = wanted(graph.to_graph())
        with monkeypatch.context() as patch:
            unpacked(patch)
            found = run()
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)
        change(graph, turn, rng, weighted)


@pytest.mark.parametrize("config", ["auto", "hybrid", "warp-based"])
@pytest.mark.parametrize("snippets", [HOPS, BACK], ids=["forward", "back"])
def test_dh30_many_searches_follow_in_blocks(any_device, config, snippets, monkeypatch):
    graph = cg.DynamicGraph(cg.generate.rmat(7, seed=2), device=any_device, block_edges=64)
    plan = cg.MultiSearch(graph, config=config, **snippets)
    sources = [3, 0, 77]

    def wanted(packed):
        found = cg.MultiSearch(packed, device="pocl", **snippets).run(sources)
        return [found[name] for name in snippets["state"]]

    in_turn(graph, lambda: [plan.run(sources)[name] for name in snippets["state"]], wanted, monkeypatch)
    assert isinstance(plan.graph, BlockRows)
    plan.run(sources, verify=True)


def test_many_searches_pack_where_edges_have_numbers(pocl, caplog):
    graph = cg.DynamicGraph(cg.generate.rmat(6, seed=2), device=pocl)
    weights = np.arange(graph.m, dtype=np.int32)
    plan = cg.MultiSearch(
        graph,
        state={"most": cg.State("int32", fill=-1, size=1)},
        arguments={"cost": weights},
        visit="if (FIRST(v)) { atomic_max(most, cost[e]); ENQ(v); }",
    )
    assert isinstance(plan.graph, cg.Graph)
    packed = graph.to_graph()
    reached = np.flatnonzero(cg.bfs(packed, 3, device=pocl).distances >= 0)
    largest = plan.run([3])["most"][0, 0]
    assert largest in weights[np.isin(packed.indices, reached)]
    for given in (
        {"config": "edge-parallel", **HOPS},
        {**HOPS, "state": HOPS["state"] | {"seen": cg.State("uint8", size="m")}},
    ):
        assert isinstance(cg.MultiSearch(graph, **given).graph, cg.Graph)


def test_many_searches_in_places_of_64_bits(any_device, monkeypatch):
    monkeypatch.setattr(contents, "WIDE_FROM", 0)
    graph = cg.DynamicGraph(cg.generate.rmat(6, seed=2), device=any_device)
    plan = cg.MultiSearch(graph, **HOPS)
    assert plan.config.wide_offsets
    wanted = cg.bfs(graph.to_graph(), 5, device="pocl").distances
    np.testing.assert_array_equal(plan.run([5])["hops"][0], wanted)
