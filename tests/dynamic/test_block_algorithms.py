"""Searches from many sources and by weight, and triangles, in blocks: DH-30, TC-13."""

import logging

import numpy as np
import pytest
import scipy.sparse.csgraph

import clgraph as cg
from clgraph.algorithms.multi_search.state import library_snippets
from clgraph.algorithms.sssp.block_weights import BlockWeights
from clgraph.algorithms.sssp.weights import Weights
from clgraph.dynamic import contents
from clgraph.engine.blocks import BlockRows
from clgraph.errors import InvalidArgumentError, InvalidGraphError

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
    """Compare what a plan finds in blocks, as the graph changes, with what is in packed rows."""
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

    in_turn(
        graph, lambda: [plan.run(sources)[name] for name in snippets["state"]], wanted, monkeypatch
    )
    assert isinstance(plan.graph, BlockRows)
    plan.run(sources, verify=True)


def test_many_searches_pack_where_edges_have_numbers(pocl):
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


def weighted(scale, dtype=np.int32, directed=True):
    start = cg.generate.rmat(scale, seed=2) if directed else cg.generate.kron(scale, seed=2)
    rng = np.random.default_rng(5)
    weights = rng.integers(1, 20, start.m).astype(dtype)
    if not directed:  # as heavy there as back
        sources = np.repeat(np.arange(start.n), start.degrees)
        weights = (1 + (sources + start.indices) % 19).astype(dtype)
    return cg.Graph(start.indptr, start.indices, weights, directed=directed)


def lengths(packed):
    return [cg.sssp(packed, 3, device="pocl").distances]


def test_dh30_searches_by_weight_follow_in_blocks(device, monkeypatch):
    follow_by_weight(device, "auto", monkeypatch)


METHODS = ("near-far", "asynchronous", "self-tuning", cg.SSSPConfig(method="bellman-ford"))


@pytest.mark.parametrize("config", METHODS, ids=str)
def test_dh30_every_method_in_blocks(any_device, config, monkeypatch):
    follow_by_weight(any_device, config, monkeypatch)


def follow_by_weight(device, config, monkeypatch):
    """Search by weight, change the graph and search again, without packing a row."""
    graph = cg.DynamicGraph(weighted(7), device=device, block_edges=64)
    search = cg.SSSP(graph, predecessors=True, config=config)
    in_turn(graph, lambda: [search.run(3).distances], lengths, monkeypatch, weighted=True)
    assert isinstance(search.graph, BlockRows)
    assert search.config.rows == "blocks"
    found = search.run([3, 9], verify=True)
    assert found.distances[9] == 0


@pytest.mark.parametrize("dtype", ["i4", "u4", "i8", "f4", "f8"])
def test_every_type_of_weights_in_blocks(any_device, dtype, monkeypatch):
    graph = cg.DynamicGraph(weighted(6, dtype, directed=False), device=any_device)
    wanted = lengths(graph.to_graph())[0]
    with monkeypatch.context() as patch:
        unpacked(patch)
        found = cg.sssp(graph, 3)
    np.testing.assert_array_equal(found.distances, wanted)
    assert found.distances.dtype == np.dtype(dtype)


def test_what_is_known_of_weights_in_blocks(any_device):
    rng = np.random.default_rng(7)
    graph = cg.DynamicGraph(weighted(8, "f4"), device=any_device)
    for _ in range(2):
        there = Weights(graph.to_graph())
        found = BlockWeights(BlockRows(graph.rows, directed=True, weighted=True), any_device)
        assert (found.least, found.largest, found.keys) == (there.least, there.largest, there.keys)
        assert found.mean == pytest.approx(there.mean, rel=1e-5)
        assert found.finite
        graph.insert_edges(*rng.integers(0, graph.n, (2, 50)), rng.random(50) * 1e4)
    graph.insert_edges([0], [1], [-3.0])
    graph.update_values([0], [1], [-3.0])
    assert BlockWeights(BlockRows(graph.rows, directed=True, weighted=True), any_device).negative


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ("delta-stepping", "orders edges by weight"),
        (cg.SSSPConfig(method=cg.method.BellmanFord(edge_classes=("self",))), "edge_classes"),
    ],
)
def test_searches_by_weight_that_need_packed_rows(pocl, config, why, caplog):
    graph = cg.DynamicGraph(weighted(6), device=pocl)
    with caplog.at_level(logging.INFO, "clgraph"):
        search = cg.SSSP(graph, config=config)
    assert why in caplog.text
    rng = np.random.default_rng(3)
    for turn in range(2):
        np.testing.assert_array_equal(search.run(3).distances, lengths(graph.to_graph())[0])
        change(graph, turn, rng, weighted=True)


def test_weights_that_become_negative(pocl, caplog):
    graph = cg.DynamicGraph(n=6, weights="i4", device=pocl)
    graph.insert_edges(range(5), range(1, 6), [1] * 5)
    search = cg.SSSP(graph)
    assert search.run(0).distances.tolist() == [0, 1, 2, 3, 4, 5]
    graph.insert_edges([0], [4], [-2])
    with caplog.at_level(logging.INFO, "clgraph"):
        assert search.run(0).distances.tolist() == [0, 1, 2, 3, -2, -1]
    assert "negative" in caplog.text
    graph.insert_edges([5], [4], [-2])
    with pytest.raises(cg.NegativeCycleError):
        search.run(0)
    with pytest.raises(InvalidArgumentError, match="no weights"):
        cg.SSSP(cg.DynamicGraph(cg.generate.path(4), device=pocl))


def test_sums_beyond_the_type_in_blocks(pocl):
    graph = cg.DynamicGraph(n=4, weights="i4", device=pocl)
    graph.insert_edges([0, 1, 2], [1, 2, 3], [2**30] * 3)
    with pytest.raises(OverflowError, match="longer than"):
        cg.sssp(graph, 0)
    assert cg.sssp(graph, 0, max_distance=2**30).distances.tolist()[:2] == [0, 2**30]


def triangles_of(packed):
    found = cg.Triangles(packed, device="pocl", config=cg.TrianglesConfig(intersect="search"))
    listed = found.run("list").values
    return [found.run().count, found.run("vertex").values, listed[np.lexsort(listed.T[::-1])]]


def count_in_turn(device, config, monkeypatch, start):
    """Count in blocks, change the graph and count again, without packing a row."""
    graph = cg.DynamicGraph(start, device=device, block_edges=64)
    keep = graph.insert_edges

    def without_loops(src, dst):
        return keep(src[src != dst], dst[src != dst])

    monkeypatch.setattr(graph, "insert_edges", without_loops, raising=False)
    plan = cg.Triangles(graph, config=config)

    def found():
        listed = plan.run("list").values
        assert plan.run("vertex").count == len(listed)
        return [plan.run().count, plan.run("vertex").values, listed[np.lexsort(listed.T[::-1])]]

    in_turn(graph, found, triangles_of, monkeypatch)
    assert isinstance(plan.graph, BlockRows)
    plan.run("vertex", verify=True)
    packed = graph.to_graph()
    wanted = cg.triangles(packed, "edge", device="pocl")
    np.testing.assert_array_equal(plan.run("edge").values, wanted)


def test_tc13_triangles_follow_in_blocks(device, monkeypatch):
    count_in_turn(device, "auto", monkeypatch, cg.generate.kron(7, seed=3))


@pytest.mark.parametrize("order", ["id", "degree"])
@pytest.mark.parametrize("way", ["merge", "path", "search", "bitmap"])
def test_tc13_every_way_to_count_in_blocks(any_device, way, order, monkeypatch):
    config = cg.TrianglesConfig(intersect=way, order=order)
    count_in_turn(any_device, config, monkeypatch, cg.generate.kron(7, seed=3))


def test_tc13_triangles_of_flat_graphs_in_blocks(any_device, monkeypatch):
    around = np.tile(np.arange(200), 3)
    ring = cg.from_edges(around, (around + np.repeat([1, 2, 3], 200)) % 200, directed=False)
    count_in_turn(any_device, "auto", monkeypatch, ring)


def test_what_is_no_graph_of_triangles_is_refused_in_blocks(pocl):
    graph = cg.DynamicGraph(cg.generate.complete(5), device=pocl)
    plan = cg.Triangles(graph)
    assert plan.run().count == 10
    graph.insert_edges([2], [2])
    with pytest.raises(InvalidGraphError, match="1 self-loops"):
        plan.run()
    graph.delete_edges([2, 0], [2, 1])
    assert plan.run().count == 7
    with pytest.raises(InvalidGraphError, match="undirected"):
        cg.triangle_count(cg.DynamicGraph(cg.generate.rmat(4, seed=1), device=pocl))
    empty = cg.DynamicGraph(n=3, directed=False, device=pocl)
    assert cg.triangle_count(empty) == 0
    for given in ({"sorted": False}, {}):
        loose = cg.DynamicGraph(cg.generate.complete(6), device=pocl, **given)
        assert cg.triangle_count(loose) == 20
        assert cg.triangle_count(loose, clean=True) == 20


# Near and far with lengths of edges by where they lead, which need no numbers of edges.
LENGTH = "(1 + (u * 31 + v * 17) % 50)"


def by_turns(numbered):
    """What `MultiSearch` needs for lengths, of edges by their numbers or by their ends."""
    least = cg.State("int32", size=1, per="group", fill=2**31 - 1)
    snippets = library_snippets("lengths")
    arguments = {"delta": np.int32(20), "unreached": np.int32(2**31 - 1)}
    if numbered:
        arguments["weights"] = np.zeros(1, np.int32)
    else:
        snippets = {hook: text.replace("weights[e]", LENGTH) for hook, text in snippets.items()}
    return {
        "state": {
            "lengths": cg.State("int32", fill=2**31 - 1),
            "queued": cg.State("uint32", per="group"),
            "high": least,
            "low": least,
            "least": least,
        },
        "arguments": arguments,
        **snippets,
    }


def by_ends(packed):
    """Give the graph with those lengths."""
    sources = np.repeat(np.arange(packed.n), packed.degrees)
    weights = 1 + (sources * 31 + packed.indices.astype(np.int64) * 17) % 50
    return cg.Graph(packed.indptr, packed.indices, weights.astype(np.int32), directed=True)


def lengths_of(packed, sources):
    found = scipy.sparse.csgraph.dijkstra(by_ends(packed).to_scipy(), indices=sources)
    return np.where(np.isinf(found), 2**31 - 1, found)


@pytest.mark.parametrize("config", ["auto", "hybrid", "warp-based"])
def test_searches_that_set_aside_follow_in_blocks(any_device, config, monkeypatch):
    graph = cg.DynamicGraph(cg.generate.rmat(7, seed=2), device=any_device, block_edges=64)
    plan = cg.MultiSearch(graph, config=config, **by_turns(numbered=False))
    sources = [3, 0, 77]
    in_turn(
        graph,
        lambda: [plan.run(sources)["lengths"]],
        lambda packed: [lengths_of(packed, sources)],
        monkeypatch,
    )
    assert isinstance(plan.graph, BlockRows)
    plan.run(sources, verify=True)


def test_searches_that_set_aside_follow_where_edges_have_numbers(any_device):
    """Weights are another array after every change, which `run` is given."""
    graph = cg.DynamicGraph(cg.generate.rmat(7, seed=2), device=any_device, block_edges=64)
    plan = cg.MultiSearch(graph, **by_turns(numbered=True))
    rng = np.random.default_rng(1)
    for turn in range(3):
        packed = graph.to_graph()
        found = plan.run([3, 0], arguments={"weights": by_ends(packed).weights})["lengths"]
        np.testing.assert_array_equal(found, lengths_of(packed, [3, 0]))
        change(graph, turn, rng)


@pytest.mark.parametrize("kind", ["bfs", "triangles", "searches"])
def test_a_plan_lets_go_of_the_rows_before_it_takes_memory_for_others(kind, pocl, monkeypatch):
    """So that a graph which fits fits after a change too: what is held would be held twice."""
    makers = {
        "bfs": cg.BFS,
        "triangles": cg.Triangles,
        "searches": lambda graph: cg.MultiSearch(graph, **HOPS),
    }
    graph = cg.DynamicGraph(cg.generate.kron(7, seed=2), device=pocl)
    plan = makers[kind](graph)
    given = ([0],) if kind == "searches" else (0,) if kind == "bfs" else ()
    plan.run(*given)
    assert plan.HELD
    assert set(plan.HELD) <= vars(plan).keys()
    prepare, held = type(plan)._prepare, []

    def noted(self, progress):
        held.append(set(self.HELD) & vars(self).keys())
        prepare(self, progress)

    monkeypatch.setattr(type(plan), "_prepare", noted)
    graph.insert_edges([1, 2], [90, 91])
    plan.run(*given)
    assert held == [set()]
