"""Triangles, by the checklist of their specification (TC-01 to TC-12, TC-23, TC-24)."""

import tracemalloc
from functools import cache
from itertools import combinations

import igraph
import networkx as nx
import numpy as np
import pytest
from graphs import SHAPES, bundled_graphs, graphs
from hypothesis import given, settings

import clgraph as cg
from clgraph.algorithms.triangles import orient, owners
from clgraph.algorithms.triangles.config import BOUND, Bitmap, Merge, Path, Search

on_both = pytest.mark.runtimes("pocl", "intel")
REAL = dict(bundled_graphs())
PRESETS = cg.TrianglesConfig.presets()


def undirected(src, dst, n=None):
    return cg.from_edges(src, dst, n=n, directed=False, symmetrize=True, dedup=True)


def simple(graph):
    """Give the graph as the plans clean it, by scipy."""
    matrix = graph.to_scipy().astype(np.int64)
    matrix = matrix + matrix.T
    matrix.setdiag(0)
    matrix.eliminate_zeros()
    matrix.data[:] = 1
    return matrix.tocsr()


def supports_of(matrix):
    """Give the triangles of each edge: the entries of A * A where A has one (TC-23)."""
    return (matrix @ matrix).multiply(matrix).tocsr()


def check(graph, device, config=None, **options):
    matrix = simple(graph)
    expected = supports_of(matrix)
    count = int(expected.sum()) // 6
    plan = cg.Triangles(graph, config=config, device=device, **options)
    assert plan.run().count == count
    vertex = plan.run("vertex")
    assert vertex.count == count
    assert vertex.values.dtype == np.int64
    np.testing.assert_array_equal(vertex.values, np.asarray(expected.sum(axis=1)).ravel() // 2)
    assert vertex.values.sum() == 3 * count  # TC-02
    if plan.config.cover:
        return count
    edge = plan.run("edge")
    assert edge.values.dtype == np.uint32
    sources = np.repeat(np.arange(graph.n), plan.graph.degrees)
    targets = plan.graph.indices
    if len(targets):  # TC-03: symmetric, since the matrix is; loops have none
        stored = np.asarray(expected[sources, targets]).ravel()
        np.testing.assert_array_equal(edge.values, stored)
    listed = plan.run("list").values
    assert len(listed) == count
    assert len(np.unique(listed, axis=0)) == count
    assert (np.diff(listed, axis=1) > 0).all()
    if count:
        sides = [matrix[listed[:, a], listed[:, b]] for a, b in ((0, 1), (0, 2), (1, 2))]
        assert all(side.sum() == count for side in sides)
    return count


@cache
def mixed():
    """A hub, a clique, a random part, a path and vertices without edges."""
    rng = np.random.default_rng(4)
    clique = np.array(list(combinations(range(30), 2))).T
    hub = np.stack([np.full(260, 3), np.arange(40, 300)])
    random = rng.integers(20, 300, (2, 900))
    random = random[:, random[0] != random[1]]
    path = np.stack([np.arange(300, 350), np.arange(301, 351)])
    return undirected(*np.concatenate([clique, hub, random, path], axis=1), n=360)


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_on_every_runtime(preset, device):
    """TC-05, TC-07, TC-08, TC-10, TC-24: one answer, whatever the way, the order or the lanes."""
    assert check(mixed(), device, preset) > 4060


@pytest.mark.parametrize(
    ("graph", "count"),
    [
        (cg.generate.complete(3), 1),
        (cg.generate.complete(40), 40 * 39 * 38 // 6),
        (undirected(np.repeat(np.arange(6), 7), np.tile(np.arange(6, 13), 6)), 0),  # bipartite
        (cg.generate.path(50), 0),
        (undirected(np.arange(9), (np.arange(9) + 1) % 9), 0),  # a cycle
        (cg.generate.star(400), 0),
        (undirected([0], [1], n=3), 0),
        (undirected([], [], n=5), 0),
        (undirected([], [], n=0), 0),
        (undirected([*[0] * 12, *range(1, 13)], [*range(1, 13), *range(2, 13), 1]), 12),  # wheel
    ],
    ids=["k3", "k40", "bipartite", "path", "cycle", "star", "edge", "no-edges", "empty", "wheel"],
)
@pytest.mark.parametrize("config", ["auto", "bitmap"])
@on_both
def test_known_numbers(graph, count, config, device):
    """TC-01."""
    plan = cg.Triangles(graph, config=config, device=device)
    assert plan.run().count == count
    assert plan.run("vertex").values.sum() == 3 * count
    assert plan.run("list").values.shape == (count, 3)


@on_both
@given(graph=graphs(max_vertices=40, max_edges=160))
@settings(max_examples=25)
def test_any_graph_is_cleaned_on_request(device, graph):
    """TC-01, TC-04: loops, parallel edges and missing mirrors change nothing."""
    for config in ("auto", "bitmap"):
        check(graph, device, config, clean=True)


@pytest.mark.parametrize("config", ["auto", "bitmap"])
def test_linear_algebra_counts_the_same(config, device):
    """TC-23: the sum of A * A where A has entries, over 6, by scipy; of hubs and of few edges."""
    for graph in (cg.generate.kron(8, seed=2), cg.generate.geometric(400, seed=2)):
        expected = int(supports_of(simple(graph)).sum()) // 6
        assert expected > 0
        assert cg.triangle_count(graph, clean=True, config=config, device=device) == expected


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (cg.from_edges([0, 1], [1, 2]), "symmetrized"),
        (cg.from_edges([0, 0], [0, 1], directed=False, symmetrize=True), "1 self-loops"),
        (
            cg.from_edges([0, 0], [1, 1], directed=False, symmetrize=True),
            "2 parallel edges",
        ),
    ],
)
def test_what_would_count_wrong_is_refused(graph, message, pocl):
    """TC-04: never counted twice silently; the sentence tells the way out."""
    with pytest.raises(cg.InvalidGraphError, match=message) as caught:
        cg.triangle_count(graph, device=pocl)
    assert "clean=True" in str(caught.value)
    assert cg.triangle_count(graph, clean=True, device=pocl) == 0


def test_stored_edges_of_an_uncleaned_graph(pocl):
    """TC-04: repeats have what their edge has, loops nothing, in the places of the given graph."""
    graph = cg.from_edges([0, 0, 1, 2, 2, 3], [1, 1, 2, 0, 2, 0])
    found = cg.triangles(graph, "edge", clean=True, device=pocl)
    targets = graph.indices.tolist()
    sources = np.repeat(np.arange(graph.n), graph.degrees).tolist()
    expected = [0 if u == v or 3 in (u, v) else 1 for u, v in zip(sources, targets, strict=True)]
    assert found.tolist() == expected


@pytest.mark.parametrize("order", ["id", "degree"])
@on_both
def test_order_changes_nothing(order, device):
    """TC-05, TC-06: orientation by number or by degree, results by the original numbers."""
    for way in ("path", "merge", "search"):
        check(mixed(), device, cg.TrianglesConfig(intersect=way, order=order))


def test_cover_intersects_fewer_pairs_than_there_are_edges(any_device):
    """TC-07."""
    star = cg.generate.star(200)
    assert cg.Triangles(star, config="vertex-cover", device=any_device).run().count == 0
    graph = mixed()
    covered = cg.Triangles(graph, config="vertex-cover", device=any_device).run()
    plain = cg.Triangles(graph, config="intersect-path", device=any_device).run()
    assert covered.count == plain.count
    assert plain.stats.intersections == graph.m // 2
    assert 0 < covered.stats.intersections < plain.stats.intersections


@pytest.mark.parametrize("parts", [1, 2, 3, 4, 8, 16, 32, 100])
def test_merge_path_emits_every_match_once(parts, any_device):
    """TC-09: rows that are empty, disjoint, the same, interleaved, of very different length."""
    pairs = [
        (range(0), range(5)),
        (range(40), range(40, 80)),
        (range(64), range(64)),
        (range(0, 80, 2), range(1, 80, 2)),
        (range(0, 300, 3), range(0, 300, 2)),
        (range(17, 18), range(300)),
        (range(299, 300), range(300)),
    ]
    base = 2 * len(pairs)
    src, dst, expected = [], [], 0
    for k, (a, b) in enumerate(pairs):
        u, v = 2 * k, 2 * k + 1
        src += [u, *[u] * len(a), *[v] * len(b)]
        dst += [v, *(base + x for x in a), *(base + x for x in b)]
        expected += len(set(a) & set(b))
    # With the pairs' own numbers on top, their whole rows come before the other end.
    n = base + 300
    graph = undirected(n - 1 - np.array(src), n - 1 - np.array(dst), n=n)
    for config in (Path(parts), Search(parts)):
        plan = cg.Triangles(
            graph, config=cg.TrianglesConfig(intersect=config, order="id"), device=any_device
        )
        assert len(plan.run("list").values) == expected == plan.run().count


def test_work_is_shared_within_long_rows(intel):
    """TC-11: beside a hub and a clique no work-item walks more than its part of a row."""
    hub = 3000
    clique = np.array(list(combinations(range(64), 2))).T
    spokes = np.stack([np.full(hub, 64 + hub), np.arange(64, 64 + hub)])
    rims = np.stack([np.full(hub, 65 + hub), np.arange(64, 64 + hub)])
    graph = undirected(*np.concatenate([clique, spokes, rims, [[64 + hub], [65 + hub]]], axis=1))
    alone = cg.TrianglesConfig(intersect=Merge(), order="id", counters=True)
    shared = cg.TrianglesConfig(intersect=Path(), order="id", counters=True)
    one = cg.Triangles(graph, config=alone, device=intel).run()
    many = cg.Triangles(graph, config=shared, device=intel).run()
    assert one.count == many.count == 64 * 63 * 62 // 6 + hub
    assert one.stats.longest >= hub
    assert many.stats.longest <= BOUND


@pytest.mark.parametrize("way", [Path(), Search()])
@pytest.mark.parametrize("hub", [100, 3000, 12_000])
def test_a_hub_of_any_degree_is_shared(way, hub, intel):
    """TC-11: the bound does not grow with the hub, whose rows are cut in more parts."""
    ends = np.arange(2, hub + 2)
    spokes = [np.stack([np.full(hub, end), ends]) for end in (0, 1)]
    # By number both hubs' rows come first: their common edge walks all of both.
    n = hub + 2
    graph = undirected(*(n - 1 - np.concatenate([*spokes, [[0], [1]]], axis=1)), n=n)
    config = cg.TrianglesConfig(intersect=way, order="id", counters=True)
    found = cg.Triangles(graph, config=config, device=intel).run()
    assert found.count == hub
    assert 0 < found.stats.longest <= BOUND


@cache
def clique_of_3000():
    """Give K_3000, which has 4,495,501,000 triangles, as rows that are written down."""
    n = 3000
    indices = np.arange(n * (n - 1)).reshape(n, n - 1) % (n - 1)
    indices += indices >= np.arange(n)[:, None]
    return cg.Graph(np.arange(n + 1) * (n - 1), indices.ravel(), directed=False)


@pytest.mark.slow
@pytest.mark.optimised
@pytest.mark.runtimes("pocl")
@pytest.mark.parametrize("preset", [*PRESETS, "rows"])
def test_a_total_beyond_32_bits(preset, device):
    """TC-12: every preset, and rows by number, of which "auto" makes others.

    Intel's runtime takes up to twenty minutes for one, emulated lanes hours; what is added to there
    passes 32 bits further below.
    """
    config = cg.TrianglesConfig(intersect=Merge("row")) if preset == "rows" else preset
    plan = cg.Triangles(clique_of_3000(), config=config, device=device)
    assert plan.run().count == 4_495_501_000


@pytest.mark.slow
@pytest.mark.optimised
@pytest.mark.runtimes("pocl")
@pytest.mark.parametrize("config", ["auto", cg.TrianglesConfig(intersect=Merge("row"))])
def test_vertices_and_edges_of_a_total_beyond_32_bits(config, device):
    """TC-02, TC-03, TC-12: what vertices and edges have adds up to it."""
    n, plan = 3000, cg.Triangles(clique_of_3000(), config=config, device=device)
    vertex, edge = plan.run("vertex"), plan.run("edge")
    assert vertex.count == edge.count == 4_495_501_000
    assert (vertex.values == (n - 1) * (n - 2) // 2).all()
    assert (edge.values == n - 2).all()


@pytest.mark.parametrize("preset", [*PRESETS, "rows"])
def test_partial_sums_pass_32_bits(preset, device, monkeypatch):
    """TC-12, quickly, on every runtime: what each SIMD group has found goes on from nearly 2^32."""
    config = cg.TrianglesConfig(intersect=Merge("row")) if preset == "rows" else preset
    plan = cg.Triangles(mixed(), config=config, device=device)
    count = plan.run().count
    counting = plan._counting
    before, launch, begun = 2**32 - 1, counting.launch, []

    def added(log, step, given, **options):
        if step.kernel.name not in {"triangles_bin", "triangles_cover"} and not begun:
            log.wait()  # sums of edges are cleared before
            counting.partial.write(np.full(counting.sums, before, np.uint64))
            begun.append(step.kernel.name)
        given = {**given, "anew": np.uint32(0)} if "anew" in given else given
        launch(log, step, given, **options)

    monkeypatch.setattr(counting, "launch", added)
    assert plan.run().count == count + counting.sums * before
    assert begun


def test_counts_of_vertices_begin_with_zeros(any_device, monkeypatch):
    """A run leaves zeros for the next one; one that failed does not, and is not trusted to."""
    plan = cg.Triangles(cg.generate.mesh(9, 9, seed=1), device=any_device)
    expected = plan.run("vertex").values
    np.testing.assert_array_equal(plan.run("vertex").values, expected)
    right = plan._counting.run

    def failing(*given):
        right(*given)
        raise KeyboardInterrupt

    monkeypatch.setattr(plan._counting, "run", failing)
    with pytest.raises(KeyboardInterrupt):
        plan.run("vertex")
    monkeypatch.undo()
    for _ in range(3):
        np.testing.assert_array_equal(plan.run("vertex").values, expected)


def test_a_counter_of_owners_serves_one_launch(any_device, monkeypatch):
    """What claims owners may be launched when Ctrl-C comes: the next run has another counter."""
    plan = cg.Triangles(mixed(), config="bitmap", device=any_device)
    expected = plan.run("vertex").values
    assert expected.any()
    launch = plan._counting.launch

    def interrupted(*given, **options):
        launch(*given, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(plan._counting, "launch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        plan.run("vertex")
    monkeypatch.undo()
    np.testing.assert_array_equal(plan.run("vertex").values, expected)


@pytest.mark.parametrize("group_size", [32, 64, 128])
def test_group_size_changes_nothing(group_size, intel):
    """TC-24."""
    for way in ("bitmap", "path"):
        check(mixed(), intel, cg.TrianglesConfig(intersect=way, group_size=group_size))


def test_small_tables_share_bits_and_stay_exact(device):
    """Ranks above a table's bits hit others' bits; those hits are looked up."""
    rng = np.random.default_rng(9)
    ends = rng.integers(0, 6000, (2, 40000))
    ends = ends[:, ends[0] != ends[1]]
    graph = undirected(*ends, n=6000)
    tables = cg.TrianglesConfig(intersect=Bitmap(bits=1024, pieces=3))
    expected = int(supports_of(simple(graph)).sum()) // 6
    plan = cg.Triangles(graph, config=tables, device=device)
    assert plan.run().count == expected
    assert plan.run("vertex").values.sum() == 3 * expected
    assert plan.run("edge").values.sum(dtype=np.int64) == 6 * expected
    launches = plan._counting._launches("total", 0, graph.n)
    assert plan.run().count == expected  # by the same launches, which nobody puts together again
    assert plan._counting._launches("total", 0, graph.n) is launches
    assert plan._counting._launches("total", 0, 9) is not launches


@pytest.mark.slow
@pytest.mark.runtimes("pocl+lanes8")
def test_long_rows_beyond_16_bits(device):
    """Rows that a work-group sorts, of ranks that are packed and of ranks that are not."""
    n, steps = 66500, 33  # degree 66; SIMD groups of 8 lanes sort rows of up to 64
    ring = np.arange(n)
    graph = undirected(
        *(
            np.concatenate(ends)
            for ends in zip(
                *((ring, np.roll(ring, step)) for step in range(1, steps + 1)), strict=True
            )
        ),
        n=n,
    )
    assert (
        cg.Triangles(graph, config="bitmap", device=device).run().count
        == n * steps * (steps - 1) // 2
    )


@cache
def beyond_16_bits():
    """Hubs, a ring nearly as long as there are words of 16 bits, and fewer edges beyond it."""
    rng = np.random.default_rng(2)
    clique = np.array(list(combinations(range(300), 2))).T
    hubs = np.stack([rng.integers(0, 300, 4000), rng.integers(300, 1500, 4000)])
    ring = np.arange(1500, 66500)
    rings = [np.stack([ring, np.roll(ring, step)]) for step in (1, 2, 3, 300)]
    last = rng.integers(66500, 69500, (2, 7500))
    last = last[:, last[0] != last[1]]
    fans = np.stack([np.arange(67000, 68000), rng.integers(0, 300, 1000)])
    return undirected(*np.concatenate([clique, hubs, *rings, last, fans], axis=1), n=69500)


@cache
def counted_beyond_16_bits():
    """Count the triangles of each vertex."""
    return np.asarray(supports_of(simple(beyond_16_bits())).sum(axis=1)).ravel() // 2


@pytest.mark.parametrize(
    "way",
    [
        Bitmap(
            byte_ranks=0, pieces=1
        ),  # some SIMD group meets more rows of bits than a plane counts
        Bitmap(byte_ranks=1024, stream=8),
        Bitmap(packed=False, pieces=1),
    ],
    ids=["bits", "both", "unpacked"],
)
def test_packed_rows_count_the_same(way, device, monkeypatch):
    """TC-24: rows of 16-bit words and of bits, tables of bytes and of bits, ranks beyond both.

    So few bits are shared there that others hit them.
    """
    monkeypatch.setattr(owners, "SMALL_TABLE_BITS", 64)
    expected = counted_beyond_16_bits()
    config = cg.TrianglesConfig(intersect=way, order="degree")
    plan = cg.Triangles(beyond_16_bits(), config=config, device=device)
    assert plan.run().count == int(expected.sum()) // 3
    np.testing.assert_array_equal(plan.run("vertex").values, expected)


@pytest.mark.rest
@pytest.mark.optimised  # where PoCL once gave all work-items of a group the planes of one
@pytest.mark.parametrize("planes", [6, owners.PLANES])
def test_blocks_of_bits_of_long_rows(planes, device, monkeypatch):
    """TC-24: where there are lanes, rows have from none to all of their first blocks as bits.

    Counts of bits go from the planes to the tallies before they are full, and at the end.
    """
    monkeypatch.setattr(owners, "PLANES", planes)
    rng = np.random.default_rng(7)
    n = 2300
    chance = np.where(np.arange(n) < 700, 0.3, 0.05)
    ends = np.array(np.nonzero(np.triu(rng.random((n, n)) < np.maximum.outer(chance, chance), 1)))
    graph = undirected(*ends, n=n)
    expected = np.asarray(supports_of(simple(graph)).sum(axis=1)).ravel() // 2
    plan = cg.Triangles(graph, config="bitmap", device=device)
    assert plan.run().count == int(expected.sum()) // 3
    np.testing.assert_array_equal(plan.run("vertex").values, expected)
    if packed := plan._counting.turned.packed:
        blocks = packed[0].read().reshape(-1, 2)[:, 1] >> 29
        assert {0, 1, 2} < set(blocks.tolist())


def test_ranks_beyond_the_tallies_are_added_at_once(device):
    """TC-24: counts of vertices from packed rows have local memory for so many ranks."""
    # A clique of 30 leaders, and cliques of 8 that all know the first of them: 2,400 ranks.
    cliques = [combinations(range(first, first + 8), 2) for first in range(30, 2430, 8)]
    ends = np.array([*combinations(range(30), 2), *(pair for each in cliques for pair in each)]).T
    follows = np.stack([np.zeros(2400, np.int64), np.arange(30, 2430)])
    graph = undirected(*np.concatenate([ends, follows], axis=1), n=2430)
    expected = np.asarray(supports_of(simple(graph)).sum(axis=1)).ravel() // 2
    plan = cg.Triangles(graph, config="bitmap", device=device)
    np.testing.assert_array_equal(plan.run("vertex").values, expected)
    if plan._counting.turned.packed:
        steps = [key for key in plan._counting._steps if key[0] == "triangles_packed_vertices"]
        assert [dict(key[2:])["tallies"] for key in steps] == [2048]


@pytest.mark.parametrize(("shared", "tallied"), [(255, "register"), (257, "local")])
def test_tallies_of_a_short_row_are_bytes(device, shared, tallied):
    """TC-06: unless a count may pass a byte; what has no place among eight is added at once."""
    # Vertex 0 and the last have all others as neighbours, which close a triangle each with both.
    others = np.arange(1, shared)
    last, n = np.full(shared, 2000), 2001
    hubs = np.stack([np.append(others * 0, last), np.append(others, np.arange(shared))])
    clique = 1000 + np.array([*combinations(range(12), 2)]).T
    graph = undirected(*np.concatenate([hubs, clique], axis=1), n=n)
    assert graph.max_degree == shared
    expected = np.asarray(supports_of(simple(graph)).sum(axis=1)).ravel() // 2
    plan = cg.Triangles(graph, config=cg.TrianglesConfig(order="id"), device=device)
    np.testing.assert_array_equal(plan.run("vertex").values, expected)
    (step,) = (key for key in plan._counting._steps if key[1] == "vertex")
    assert dict(step[2:])["tallied"] == tallied


@pytest.mark.parametrize(
    ("local_bytes", "ranks"), [(8 << 10, 0), (16 << 10, 0), (17 << 10, 2048), (32 << 10, 2048)]
)
def test_ranks_are_tallied_that_fit_local_memory(local_bytes, ranks):
    assert owners._rank_tallies(local_bytes) == ranks


def test_the_last_owners_lie_abreast(device):
    """As many as have eight lanes each, with rows of other lengths side by side."""
    rng = np.random.default_rng(5)
    ends = rng.integers(0, 3000, (2, 15_000)) // rng.integers(1, 9, 15_000)
    graph = undirected(*ends[:, ends[0] != ends[1]], n=3000)
    expected = np.asarray(supports_of(simple(graph)).sum(axis=1)).ravel() // 2
    config = cg.TrianglesConfig(intersect=Bitmap(packed=False), order="degree")
    plan = cg.Triangles(graph, config=config, device=device)
    np.testing.assert_array_equal(plan.run("vertex").values, expected)
    steps = [dict(key[2:]) for key in plan._counting._steps]
    lanes = plan.config.lanes
    assert [each["abreast"] for each in steps if each["sifted"]] == [lanes // 8] * (lanes > 1)


def test_counters_of_owners_are_cleared_once_in_several_runs(device, monkeypatch):
    monkeypatch.setattr(owners, "RUNS", 2)
    graph = cg.generate.kron(8, seed=4)
    plan = cg.Triangles(graph, config="bitmap", device=device)
    expected = plan.run("edge").values
    cleared = []
    for _ in range(owners.RUNS * owners.PHASES):
        found = plan.run("edge")
        np.testing.assert_array_equal(found.values, expected)
        cleared.append(found.stats.launches)
    assert max(cleared) > min(cleared) == cleared[0]


def test_long_rows_are_sorted_by_windows(pocl, monkeypatch):
    """A work-group sorts as many ranks at a time as its bits tell apart."""
    monkeypatch.setattr(orient, "WINDOW", 1024)
    rng = np.random.default_rng(3)
    ends = rng.integers(0, 3000, (2, 150_000))
    graph = undirected(*ends[:, ends[0] != ends[1]], n=3000)
    expected = int(supports_of(simple(graph)).sum()) // 6
    assert cg.Triangles(graph, config="bitmap", device=pocl).run().count == expected


@pytest.mark.parametrize(
    "way",
    [
        Merge("row", 4, tile=0),
        Merge("row", 2, 4),
        Merge("row", tile=3),
        Merge("row", 2, tile=8),
        Merge("row", slots=8),
        Merge("row", 4, slots=64),
    ],
)
def test_rows_by_blocks_and_spans(way, device):
    """TC-08, TC-24: rows compared four places at a time, wherever they begin and end.

    Of rows too long for registers or a table a part is kept after the other.
    """
    check(mixed(), device, cg.TrianglesConfig(intersect=way))
    check(cg.generate.mesh(9, 8, seed=3), device, cg.TrianglesConfig(intersect=way))


def test_bitmap_probes_are_those_of_its_orientation(any_device):
    """Each row is streamed to every edge's middle vertex up to it: d (d - 1) / 2 of d edges."""
    graph = mixed()
    for _ in range(graph.m):
        sources, targets = np.repeat(np.arange(graph.n), graph.degrees), graph.indices
        alike = graph.degrees[sources] == graph.degrees[targets]
        if not alike.any():
            break
        # Vertices of one degree are ranked as they come: no edge joins two of them.
        graph = undirected(sources[~alike], targets[~alike], n=graph.n)
    assert cg.Triangles(graph, config="bitmap", device=any_device).run().stats.probes is None
    config = cg.TrianglesConfig(intersect="bitmap", order="degree", counters=True)
    result = cg.Triangles(graph, config=config, device=any_device).run()
    outs = np.bincount(sources[graph.degrees[targets] > graph.degrees[sources]], minlength=graph.n)
    assert outs.max() > 10
    assert result.stats.probes == (outs * (outs - 1) // 2).sum()


@pytest.mark.parametrize("config", ["auto", "bitmap"])
def test_a_total_makes_no_arrays_on_the_host(config, pocl):
    """What was not asked for, counts of vertices and edges or of probes, costs a run nothing."""
    graph = cg.generate.mesh(300, 300, seed=3)
    plan = cg.Triangles(graph, config=config, device=pocl)
    plan.run()
    tracemalloc.start()
    plan.run()
    plan.run(prepare=True)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < graph.n


@pytest.mark.parametrize("name", ["classic-karate", "classic-lesmis", "wiki-vote"])
def test_real_graphs_against_networkx(name, any_device):
    """TC-01, TC-02 on graphs that others counted too."""
    graph = cg.Triangles(REAL[f"{name}.npz.xz"](), clean=True, device=any_device).simple
    theirs = nx.Graph(graph.to_networkx())
    counts = cg.triangles(graph, "vertex", device=any_device)
    assert counts.tolist() == list(nx.triangles(theirs).values())
    np.testing.assert_allclose(
        cg.local_clustering(graph, device=any_device), list(nx.clustering(theirs).values())
    )
    assert cg.average_clustering(graph, device=any_device) == pytest.approx(
        nx.average_clustering(theirs)
    )
    assert cg.transitivity(graph, device=any_device) == pytest.approx(nx.transitivity(theirs))


@pytest.mark.parametrize("shape", ["self-loops", "isolated-vertices", "one-way-random", "clique"])
def test_clustering_against_two_libraries(shape, any_device):
    """Of graphs with directions, loops and parts, as they are once they are cleaned."""
    found = cg.local_clustering(SHAPES[shape], clean=True, device=any_device, verify=True)
    matrix = simple(SHAPES[shape])
    network = nx.from_scipy_sparse_array(matrix)
    np.testing.assert_allclose(found, list(nx.clustering(network).values()), rtol=1e-12)
    other = igraph.Graph(n=matrix.shape[0], edges=np.column_stack(matrix.nonzero())).simplify()
    theirs = other.transitivity_local_undirected(mode="zero")
    np.testing.assert_allclose(found, theirs, rtol=1e-12)


def test_clustering_of_few_neighbours_is_zero(pocl):
    """TC-02: degree below two gives 0; no division by zero."""
    graph = undirected([0, 1], [1, 2], n=5)
    assert cg.local_clustering(graph, device=pocl).tolist() == [0.0] * 5
    assert cg.transitivity(undirected([0], [1], n=2), device=pocl) == 0.0
    assert cg.average_clustering(undirected([], [], n=0), device=pocl) == 0.0


def test_blocks_are_the_list_in_parts(any_device):
    graph = mixed()
    whole = cg.triangles(graph, "list", device=any_device)
    blocks = list(cg.triangle_blocks(graph, 500, device=any_device))
    assert len(blocks) > 3
    together = np.concatenate(blocks)
    np.testing.assert_array_equal(together[np.lexsort(together.T[::-1])], whole)
    assert list(cg.triangle_blocks(undirected([], [], n=4), device=any_device)) == []


def test_blocks_leave_the_plan_to_others(pocl):
    """Whoever takes blocks may run the plan between two of them."""
    plan = cg.Triangles(mixed(), config="bitmap", device=pocl)
    counts = [(len(block), plan.run().count) for block in plan.blocks(2000)]
    assert len(counts) > 1
    assert {count for _, count in counts} == {sum(size for size, _ in counts)}


def test_a_list_that_is_too_long_is_refused(pocl):
    with pytest.raises(cg.InvalidArgumentError, match=r"20 triangles.*triangle_blocks"):
        cg.triangles(cg.generate.complete(6), "list", max_triangles=19, device=pocl)


def test_verify_finds_a_wrong_count(pocl, monkeypatch):
    plan = cg.Triangles(mixed(), config="bitmap", device=pocl)
    for per in ("total", "vertex", "edge", "list"):
        plan.run(per, verify=True)
    right = plan._counting.run
    monkeypatch.setattr(plan._counting, "run", lambda *given: right(*given) + 1)
    with pytest.raises(cg.VerificationError, match="in another way"):
        plan.run(verify=True)


def test_the_graph_keeps_its_turned_edges(any_device):
    graph = undirected(*np.random.default_rng(1).integers(0, 90, (2, 700)))
    graph = cg.Triangles(graph, clean=True, device=any_device).simple
    first = cg.Triangles(graph, config="bitmap", device=any_device).run()
    second = cg.Triangles(graph, config="bitmap", device=any_device).run()
    anew = cg.Triangles(graph, config="bitmap", device=any_device).run(prepare=True)
    assert first.stats.launches == anew.stats.launches > second.stats.launches
    assert second.stats.prepare_ms == 0.0
    assert first.count == second.count == anew.count


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"intersect": "hash"}, "merge, path, search, bitmap"),
        ({"intersect": 3}, "name of one"),
        ({"order": "size"}, "order"),
        ({"order": "degree", "cover": True}, "leave out"),
        ({"intersect": "bitmap", "cover": True}, "leave out"),
        ({"intersect": Merge("row"), "order": "degree"}, "leave out"),
        ({"intersect": Merge("row"), "counters": True}, "edges and bitmaps"),
        ({"group_size": 0}, "group_size=0"),
        ({"group_size": True}, "group_size=True"),
    ],
)
def test_illegal_configurations_are_refused(wrong, message):
    with pytest.raises(cg.InvalidArgumentError, match=message):
        cg.TrianglesConfig(**wrong)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Bitmap(1000),
        lambda: Bitmap(stream=3),
        lambda: Bitmap(byte_ranks=512),
        lambda: Path(0),
        lambda: Merge("none"),
        lambda: Merge("row", width=2),
        lambda: Merge("edge", span=2),
        lambda: Merge("edge", tile=4),
        lambda: Merge("row", tile=33),
        lambda: Merge("row", slots=24),
    ],
)
def test_illegal_ways_are_refused(make):
    with pytest.raises(cg.InvalidArgumentError):
        make()


def test_asking_for_what_is_not_there(pocl):
    with pytest.raises(cg.InvalidArgumentError, match="vertex, edge, list"):
        cg.triangles(mixed(), "total", device=pocl)
    with pytest.raises(cg.InvalidArgumentError, match="cover"):
        cg.Triangles(mixed(), config="vertex-cover", device=pocl).run("edge")
    with pytest.raises(cg.InvalidArgumentError, match="not a preset"):
        cg.triangle_count(mixed(), config="fast", device=pocl)


def test_a_configuration_reads_as_the_call_that_makes_it():
    config = cg.TrianglesConfig(intersect=Path(8), order="id")
    assert repr(config) == "TrianglesConfig(intersect=Path(parts=8), order='id')"
    assert repr(cg.TrianglesConfig()) == "TrianglesConfig()"


def test_supports_stand_at_both_places_of_an_edge(device):
    """TC-03: rows merged as they are stored prepare nothing and store what they found twice."""
    graph = cg.generate.geometric(300, seed=3)
    plan = cg.Triangles(graph, config=cg.TrianglesConfig(intersect=Merge("row")), device=device)
    result = plan.run("edge", prepare=True)
    sources = np.repeat(np.arange(graph.n), graph.degrees)
    expected = np.asarray(supports_of(simple(graph))[sources, graph.indices]).ravel()
    assert expected.any()
    np.testing.assert_array_equal(result.values, expected)
    assert result.stats.prepare_ms == 0.0
