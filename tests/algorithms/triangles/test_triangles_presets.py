"""Triangles by every preset on every runtime, what a run reports, and what checking it finds."""

from functools import cache
from itertools import combinations

import igraph
import numpy as np
import pytest

import clgraph as cg
from clgraph.algorithms.triangles.config import (
    BINS,
    BOUND,
    SKEWED_DEGREE,
    Bitmap,
    Merge,
    Path,
    Search,
)

PRESETS = cg.TrianglesConfig.presets()


def undirected(src, dst, n=None):
    return cg.from_edges(src, dst, n=n, directed=False, symmetrize=True, dedup=True)


@cache
def known():
    """Graphs by name, and how many triangles a formula says they have."""
    ring = np.arange(1, 101)
    clique = np.array([*combinations(range(40), 2)]).T
    spokes = np.stack([np.full(300, 39), np.arange(40, 340)])
    return {
        "clique": (cg.generate.complete(90), 90 * 89 * 88 // 6),
        "bipartite": (undirected(np.repeat(np.arange(70), 75), np.tile(np.arange(70, 145), 70)), 0),
        "wheel": (undirected([*ring * 0, *ring], [*ring, *ring % 100 + 1]), 100),
        "small wheel": (undirected([0, 0, 0, 0, 1, 2, 3, 4], [1, 2, 3, 4, 2, 3, 4, 1]), 4),
        "star and clique": (undirected(*np.concatenate([clique, spokes], axis=1)), 9880),
        "star": (cg.generate.star(100), 0),
        "ring": (undirected(ring - 1, ring % 100), 0),
    }


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_has_the_known_numbers(preset, device):
    """TC-01, TC-11."""
    for name, (graph, count) in known().items():
        plan = cg.Triangles(graph, config=preset, device=device)
        assert plan.run().count == count, name
        vertex = plan.run("vertex")
        assert (vertex.count, vertex.values.sum()) == (count, 3 * count), name


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_cleans_random_graphs(preset, device):
    """TC-01, TC-04: loops, repeats and missing mirrors, against triangles that igraph lists."""
    rng = np.random.default_rng(26)
    for n, m in ((40, 500), (300, 2500)):
        ends = rng.integers(0, n, (2, m)) // rng.integers(1, 4, m)
        ends = np.concatenate([ends, ends[:, :50], np.stack([np.arange(9)] * 2)], axis=1)
        listed = np.array(igraph.Graph(n=n, edges=ends.T).simplify().cliques(3, 3))
        graph = cg.from_edges(*ends, n=n)
        plan = cg.Triangles(graph, config=preset, device=device, clean=True)
        assert plan.run().count == len(listed) > 100
        counts = np.bincount(listed.ravel(), minlength=n)
        np.testing.assert_array_equal(plan.run("vertex").values, counts)
        if not plan.config.cover:
            listed = np.sort(listed, axis=1)
            listed = listed[np.lexsort(listed.T[::-1])]
            np.testing.assert_array_equal(plan.run("list").values, listed)


def test_auto_goes_by_the_greatest_degree(pocl):
    """Stored rows by number where none is long, tables of bits by degree where one is."""
    for degree, order, way in (
        (SKEWED_DEGREE, "id", Merge),
        (SKEWED_DEGREE + 1, "degree", Bitmap),
    ):
        config = cg.Triangles(cg.generate.star(degree + 1), device=pocl).config
        assert (config.order, type(config.intersect)) == (order, way)


def test_bins_bound_what_a_work_item_walks(intel):
    """TC-11: of rows of up to two million edges each; no test here walks the longest."""
    least, parts = zip(*BINS, strict=True)
    for end, shared in zip((*least[1:], 2 * 2_000_000), parts, strict=True):
        assert -(-end // shared) <= BOUND
    config = cg.TrianglesConfig(intersect=Path(), order="id")
    shown = [
        cg.Triangles(cg.generate.star(degree + 1), config=config, device=intel).config.binned
        for degree in (31, 32, 40_000)
    ]
    assert shown == [BINS[:1], BINS[:2], BINS[:5]]


@pytest.mark.parametrize("preset", PRESETS)
def test_a_run_reports_what_it_did(preset, pocl):
    graph, count = known()["star and clique"]
    plan = cg.Triangles(graph, config=preset, device=pocl)
    first, second = plan.run(), plan.run()
    assert first.count == second.count == count
    for stats in (first.stats, second.stats):
        assert stats.kernel_ms > 0
        assert sum(stats.parts.values()) <= stats.kernel_ms * 1.001
        assert stats.device_bytes > 0
        assert 0 < stats.intersections <= graph.m // 2
        if preset != "vertex-cover":
            assert stats.intersections == graph.m // 2
    if preset != "vertex-cover":
        before, after = second.stats.device_bytes, plan.run("edge").stats.device_bytes
        assert after - before >= 4 * graph.m  # what is found of edges has room from then on


def test_as_many_as_are_allowed_are_listed(pocl):
    graph = cg.generate.complete(6)
    assert len(cg.triangles(graph, "list", max_triangles=20, device=pocl)) == 20


@pytest.mark.parametrize("per", ["vertex", "edge", "list"])
@pytest.mark.parametrize("preset", ["auto", "binary-search"])
def test_verify_finds_wrong_values(per, preset, pocl, monkeypatch):
    """Also where the total is right: of vertices, of edges, and corners that no edges join."""
    graph, count = known()["star and clique"]
    plan = cg.Triangles(graph, config=preset, device=pocl)
    plan.run(per, verify=True)
    right = plan._found

    def wrong(*given):
        found, values = right(*given)
        values = values.copy()
        if per == "list":
            values[0] = [39, 100, 101]  # neighbours of the hub, but not of each other
        else:
            values[[0, -1]] = values[[-1, 0]]  # the clique's and a spoke's
        assert found == count
        return found, values

    monkeypatch.setattr(plan, "_found", wrong)
    with pytest.raises(cg.VerificationError, match=f"per {per}"):
        plan.run(per, verify=True)


def test_searches_go_on_from_the_last_find(pocl):
    """TC-10: where one work-item looks all of a row up, from where it was, by doubled strides."""
    few, many = np.array([1, 2, 4, 300, 306, 999]), np.arange(1000)
    ends = [[np.full(len(x), u), x] for u, x in ((1001, few), (1002, many), (1002, [1001]))]
    graph = undirected(*np.concatenate(ends, axis=1))
    config = cg.TrianglesConfig(intersect=Search(1), order="id")
    listed = cg.Triangles(graph, config=config, device=pocl).run("list").values
    assert listed[:, 0].tolist() == few.tolist()
    assert (listed[:, 1:] == [1001, 1002]).all()


@pytest.mark.parametrize("way", [Path(), Path(3), Search()], ids=["path", "parts", "search"])
def test_rows_with_an_empty_partner_are_not_walked(way, device):
    """A hub after its leaves: each edge has a leaf's row beside it, which leads to nobody."""
    leaves = np.arange(3000)
    graph = undirected(leaves, np.full(3000, 3000))
    config = cg.TrianglesConfig(intersect=way, order="id", counters=True)
    result = cg.Triangles(graph, config=config, device=device).run()
    assert result.count == 0
    assert result.stats.longest == 0
    assert result.stats.intersections == graph.m // 2
    launched = [name for name in result.stats.parts if name.startswith("triangles_edges")]
    assert launched == [f"triangles_edges_{3 if way == Path(3) else 1}"]  # nobody shares nothing
