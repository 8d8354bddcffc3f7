"""Vertices that searches set aside until their frontier is empty, and lengths found that way."""

import numpy as np
import pytest
import scipy.sparse.csgraph
from graphs import SHAPES
from searches import MIXED, MIXED_SOURCES, SEARCH_RUNTIMES, expected_distances

import clgraph as cg
from clgraph.algorithms.multi_search.state import library_snippets
from clgraph.algorithms.multi_search.weighted import WeightedSearcher

pytestmark = pytest.mark.runtimes(*SEARCH_RUNTIMES)

# What is found is set aside at once, and is the frontier when it is asked about again.
BY_TURNS = {
    "state": {"hops": cg.State("int32", fill=-1), "asked": cg.State("int32")},
    "init": "if (lid == 0) hops[src] = 0;",
    "visit": "if (FIRST(v)) { hops[v] = hops[u] + 1; ASIDE(v); }",
    "again": "ADD(asked, v, 1); if (asked[v] == 1) ASIDE(v); else ENQ(v);",
}


def weighted(graph, weights):
    return cg.Graph(graph.indptr, graph.indices, weights, directed=True)


def check_lengths(graph, sources, device, config=None):
    searcher = WeightedSearcher(graph, device, "multi-search", config)
    found = searcher.distances(np.asarray(sources))
    known = np.where(found == searcher.unreached, np.inf, found)
    matrix = graph.to_scipy().astype(np.float64)
    matrix.data = np.where(matrix.data == 0, 1e-300, matrix.data)  # scipy leaves out what is 0
    expected = scipy.sparse.csgraph.dijkstra(matrix, indices=sources)
    rounding = 1e-5 if found.dtype == np.float32 else 1e-12
    np.testing.assert_allclose(known, expected, rtol=rounding, atol=1e-290)


def weights_of(kind, m):
    rng = np.random.default_rng(3)
    if kind == "many bands":
        return rng.integers(500, 1000, m).astype(np.int32)
    if kind == "all sizes":
        return 10.0 ** rng.integers(-9, 9, m)
    if kind == "nothing":
        return np.zeros(m, np.float32)
    return np.where(rng.random(m) < 0.5, 0, rng.random(m))


@pytest.mark.parametrize("kind", ["many bands", "all sizes", "nothing", "some of nothing"])
@pytest.mark.parametrize("shape", ["path", "grid", "star", "cycle"])
def test_lengths_by_near_and_far(shape, kind, device):
    graph = SHAPES[shape]
    last = graph.n - 1
    check_lengths(weighted(graph, weights_of(kind, graph.m)), [0, last // 2, last], device)


@pytest.mark.parametrize("lanes", [8, 32])
def test_lengths_by_emulated_lanes(lanes, intel):
    graph = weighted(MIXED, weights_of("some of nothing", MIXED.m))
    for config in ("hybrid", "warp-based", "edge-parallel"):
        check_lengths(graph, MIXED_SOURCES[:2], intel.emulating(lanes), config)


def test_lengths_by_several_simd_groups(intel):
    config = cg.MultiSearchConfig(group_size=4 * intel.traits.lanes, threshold=8)
    check_lengths(weighted(MIXED, weights_of("all sizes", MIXED.m)), MIXED_SOURCES, intel, config)


def test_a_vertex_set_aside_that_comes_near_is_forgotten(device):
    """Along one edge it is 900 away, along four it is 4; what it leads to is found from there."""
    sources, targets = [0, 0, 1, 2, 3, 4], [4, 1, 2, 3, 4, 5]
    graph = cg.from_edges(sources, targets, np.array([900, 1, 1, 1, 1, 900], np.int32))
    found = WeightedSearcher(graph, device, "multi-search").distances(np.array([0, 4]))
    assert found[0].tolist() == [0, 1, 2, 3, 4, 904]
    assert found[1, 5] == 900


@pytest.mark.parametrize("config", ["auto", "hybrid"])
def test_every_vertex_set_aside_is_asked_about_once_a_turn(config, device):
    found = cg.MultiSearch(MIXED, **BY_TURNS, config=config, device=device).run(MIXED_SOURCES)
    for hops, asked, source in zip(found["hops"], found["asked"], MIXED_SOURCES, strict=True):
        expected = expected_distances(MIXED, int(source))
        np.testing.assert_array_equal(hops, expected)
        np.testing.assert_array_equal(asked, 2 * (expected > 0))


def test_turns_by_several_simd_groups(intel):
    config = cg.MultiSearchConfig(group_size=4 * intel.traits.lanes)
    found = cg.MultiSearch(MIXED, **BY_TURNS, config=config, device=intel).run(MIXED_SOURCES[:1])
    np.testing.assert_array_equal(found["hops"][0], expected_distances(MIXED, MIXED_SOURCES[0]))


def test_what_is_exhausted_comes_before_what_is_asked(device):
    plan = cg.MultiSearch(
        SHAPES["path"],
        state={"turns": cg.State("int32", size=1), "late": cg.State("int32")},
        visit="if (FIRST(v)) ASIDE(v);",
        exhausted="if (lid == 0) turns[0] += 1;",
        again="late[v] = turns[0]; ENQ(v);",
        device=device,
    )
    found = plan.run([0])
    np.testing.assert_array_equal(found["late"][0], expected_distances(SHAPES["path"], 0))
    assert found["turns"][0] == SHAPES["path"].n - 1


def test_a_turn_is_a_level(device):
    plan = cg.MultiSearch(MIXED, **BY_TURNS, max_levels=4, device=device)
    source = MIXED_SOURCES[0]
    expected = expected_distances(MIXED, source)
    # The source, two turns that end with the next frontier, and that frontier's edges.
    np.testing.assert_array_equal(
        plan.run([source])["hops"][0], np.where(expected > 2, -1, expected)
    )


def test_more_than_there_is_room_for(device):
    plan = cg.MultiSearch(MIXED, **BY_TURNS, capacity=50, device=device)
    with pytest.raises(cg.ClgraphError, match="or aside, than the 50 it can hold"):
        plan.run(MIXED_SOURCES[:1])


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"visit": "if (FIRST(v)) { ASIDE(v); ASIDE(v); }"}, "ENQ or ASIDE twice"),
        ({"visit": "ASIDE(n + v);"}, "no vertex"),
        ({"again": "ASIDE(n);"}, "no vertex"),
        ({"again": "ENQ(v); ENQ(v);"}, "ENQ or ASIDE twice"),
        ({"again": "ASIDE(v);"}, "went on after 8 levels on a graph of 2 vertices"),
    ],
)
def test_misuse(change, complaint, device):
    pair = cg.from_edges([0, 1], [1, 0])
    plan = cg.MultiSearch(pair, **{**BY_TURNS, **change}, device=device)
    with pytest.raises(cg.ClgraphError, match=complaint):
        plan.run([0])


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"again": None}, "asked about by again, which is missing"),
        ({"again": None, "visit": "", "exhausted": "hops[0] = 0;"}, "again, which is missing"),
        ({"keep_levels": True}, "again needs a frontier"),
        ({"config": "edge-parallel"}, "again needs a frontier"),
        ({"again": "GROUP_BARRIER();"}, "again has a barrier"),
        ({"state": {"again": cg.State("int32"), "ASIDE": cg.State("int32")}}, "cannot name"),
    ],
)
def test_what_cannot_be(change, complaint, any_device):
    with pytest.raises(cg.InvalidArgumentError, match=complaint):
        cg.MultiSearch(MIXED, **{**BY_TURNS, **change}, device=any_device)


def test_an_array_of_the_kernels_name(device):
    plan = cg.MultiSearch(
        SHAPES["path"],
        state={"aside": cg.State("int32", fill=7)},
        visit="if (FIRST(v)) { aside[v] = 1; ASIDE(v); }",
        again="ENQ(v);",
        device=device,
    )
    assert plan.run([0])["aside"][0].tolist() == [7] + [1] * (SHAPES["path"].n - 1)


def by_near_and_far(graph, delta, device):
    """Search from 0, noting by vertex how often it is set aside, stays there, and comes back."""
    notes = (
        ("visit", "ASIDE(v);", "{ ADD(set_aside, v, 1); ASIDE(v); }"),
        ("again", "ASIDE(v);", "ADD(stayed, v, 1); ASIDE(v);"),
        ("again", "ENQ(v);", "ADD(back_near, v, 1); ENQ(v);"),
    )
    snippets = library_snippets("lengths")
    for hook, old, new in notes:
        assert snippets[hook].count(old) == 1
        snippets[hook] = snippets[hook].replace(old, new)
    most = np.int32(2**31 - 1)
    bound = cg.State("int32", size=1, per="group", fill=most)
    plan = cg.MultiSearch(
        graph,
        state={
            "lengths": cg.State("int32", fill=most),
            "queued": cg.State("uint32", per="group"),
            **dict.fromkeys(("high", "low", "least"), bound),
            **dict.fromkeys(("set_aside", "stayed", "back_near"), cg.State("int32")),
        },
        arguments={"weights": graph.weights, "delta": np.int32(delta), "unreached": most},
        **snippets,
        device=device,
    )
    found = plan.run([0])
    return [found[name][0] for name in ("lengths", "set_aside", "stayed", "back_near")]


def test_a_bound_rises_by_delta_from_the_least_that_is_aside(device):
    """Along a path of edges of 10, with 25 beyond the first: 30, then 60, 90 and so on."""
    path = SHAPES["path"]
    weights = np.full(path.n - 1, 10, np.int32)
    graph = cg.from_edges(np.arange(path.n - 1), np.arange(1, path.n), weights)
    lengths, set_aside, stayed, back_near = by_near_and_far(graph, 25, device)
    np.testing.assert_array_equal(lengths, 10 * np.arange(path.n))
    every_third = (np.arange(path.n) % 3 == 0) & (np.arange(path.n) > 0)
    np.testing.assert_array_equal(set_aside, every_third)
    assert not stayed.any()
    np.testing.assert_array_equal(back_near, every_third)


def test_what_was_reached_by_a_shorter_way_does_not_come_back(device):
    """Vertex 4 is 900 away at first; the bound before is beyond its 4 when it is asked about."""
    sources, targets = [0, 0, 1, 2, 3, 0, 5], [4, 1, 2, 3, 4, 5, 6]
    graph = cg.from_edges(sources, targets, np.array([900, 1, 1, 1, 1, 30, 3], np.int32))
    lengths, set_aside, stayed, back_near = by_near_and_far(graph, 20, device)
    assert lengths.tolist() == [0, 1, 2, 3, 4, 30, 33]
    assert set_aside.tolist() == [0, 0, 0, 0, 1, 1, 0]
    assert not stayed.any()
    assert back_near.tolist() == [0, 0, 0, 0, 0, 1, 0]


def test_a_vertex_stays_aside_until_the_least_that_stays_is_near(device):
    """Vertex 3 comes nearer while it is aside, where it is once all the same."""
    sources, targets = [0, 0, 0, 0, 4], [1, 2, 3, 4, 3]
    graph = cg.from_edges(sources, targets, np.array([30, 100, 200, 5, 190], np.int32))
    lengths, set_aside, stayed, back_near = by_near_and_far(graph, 20, device)
    assert lengths.tolist() == [0, 30, 100, 195, 5]
    assert set_aside.tolist() == back_near.tolist() == [0, 1, 1, 1, 0]
    assert stayed.tolist() == [0, 0, 1, 2, 0]


def test_what_a_search_that_was_cut_short_left_aside_is_not_the_next_ones(device):
    """One work-group searches from both, and ends the first with a vertex set aside."""
    apart = cg.from_edges([0, 2, 3], [1, 3, 4], n=5)
    config = cg.MultiSearchConfig(groups=1)
    plan = cg.MultiSearch(apart, **BY_TURNS, max_levels=1, config=config, device=device)
    found = plan.run([0, 2])
    assert found["hops"].tolist() == [[0, 1, -1, -1, -1], [-1, -1, 0, 1, -1]]
    plan = cg.MultiSearch(apart, **BY_TURNS, max_levels=2, config=config, device=device)
    assert plan.run([0, 2])["asked"].tolist() == [[0, 1, 0, 0, 0], [0, 0, 0, 1, 0]]
