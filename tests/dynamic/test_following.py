"""Triangles, distances and components that follow a graph: TC-13 to TC-22."""

import numpy as np
import pytest

import clgraph as cg
from clgraph import dynamic
from clgraph.device.hardware.measured import Constant
from clgraph.dynamic.maintained import searches
from clgraph.engine.sweeps import LazyKernels
from clgraph.errors import InvalidArgumentError, VerificationError


def counted(graph):
    """Triangles in all and of each vertex, from the matrix's powers."""
    matrix = graph.to_graph().to_scipy().astype(np.int64)
    matrix.setdiag(0)
    matrix.eliminate_zeros()
    closed = (matrix @ matrix).multiply(matrix)
    per = np.asarray(closed.sum(axis=1)).reshape(-1) // 2
    return int(per.sum()) // 3, per


def check(counter):
    total, per = counted(counter.graph)
    assert counter.count == total
    if counter._per_vertex:
        np.testing.assert_array_equal(counter.per_vertex, per)


def start(device, seed=1, n=60, m=400):
    graph = cg.generate.random(n, m, seed=seed)
    sources, targets, _ = graph.listed_edges()
    whole = cg.from_edges(sources, targets, n=n, symmetrize=True, dedup=True)
    return dynamic.DynamicGraph(whole, device=device, block_edges=32)


def counters(graph):
    yield dynamic.TriangleCounter(graph)
    yield dynamic.TriangleCounter(graph, per_vertex=False, method="inclusion-exclusion")
    yield dynamic.TriangleCounter(graph, method="recount")


@pytest.mark.parametrize("regime", ["rows", "rewrite"])
def test_tc15_tc16_tc17_and_tc21_random_batches(device, regime):
    graph = start(device)
    all_of_them = list(counters(graph))
    for one in all_of_them:
        check(one)
    rng = np.random.default_rng(2)
    for size in (1, 40, 300):
        src, dst = rng.integers(0, 66, (2, size))
        graph.insert_edges(src, dst, regime=regime)
        for one in all_of_them:
            check(one)
        graph.delete_edges(*rng.integers(0, 66, (2, size)), regime=regime)
        for one in all_of_them:
            check(one)
    # The large batches are counted anew by all of them.
    assert all(one.updates >= 3 for one in all_of_them[:2])
    assert all(one.recounts < all_of_them[2].recounts for one in all_of_them[:2])


@pytest.mark.parametrize("edges", [1, 2, 3])
def test_tc14_and_tc15_whole_triangles_by_edges_of_the_batch(any_device, edges):
    ends = np.array([[0, 0, 1], [1, 2, 2]])
    graph = dynamic.DynamicGraph(n=3, directed=False, device=any_device)
    all_of_them = list(counters(graph))
    graph.insert_edges(*ends[:, edges:])
    for one in all_of_them:
        assert one.count == 0
    graph.insert_edges(*ends[:, :edges])
    for one in all_of_them:
        assert one.count == 1
        check(one)
    graph.delete_edges(*ends[::-1, :edges])
    for one in all_of_them:
        assert one.count == 0
        check(one)


def followed(sums, changed=list, launch=LazyKernels.launch):
    """Note which form of a batch' triangles the device sums up, and the sums; or change these."""

    def launched(self, log, name, items, *args, **params):
        launch(self, log, name, items, *args, **params)
        if name == "follow_triangles":
            log.wait()
            apart, tally = args[6:8]
            tally.write(np.array(changed(tally.read()), np.uint64))
            sums.append((int(apart), tally.read().tolist()[:3]))

    return launched


def test_tc17_two_forms_of_one_number(any_device, monkeypatch):
    """Cases of the graph without the batch; of the graph with it sums S1, S2 and S3.

    There is a triangle each with one, two and three edges of the batch: 6 S1 - 3 S2 + 2 S3 is 18.
    """
    ends = np.array([[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3], [6, 7], [7, 8], [8, 6]]).T
    there = [1, 2, 5]  # none of the last triangle's, one of the second's, two of the first's
    new = np.setdiff1d(np.arange(9), there)
    graph = dynamic.DynamicGraph(n=9, directed=False, device=any_device)
    graph.insert_edges(*ends[:, there])
    cases = dynamic.TriangleCounter(graph, per_vertex=False)
    sums = dynamic.TriangleCounter(graph, per_vertex=False, method="inclusion-exclusion")
    assert cases.count == sums.count == 0
    seen = []
    with monkeypatch.context() as patch:
        patch.setattr(LazyKernels, "launch", followed(seen))
        graph.insert_edges(*ends[:, new])
    assert cases.count == sums.count == 3
    assert sorted(seen) == [(0, [1 + 2 + 3, 2 + 6, 3]), (1, [1, 1, 1])]


def test_tc17_sums_that_are_no_number_of_triangles_are_refused(pocl, monkeypatch):
    graph = dynamic.DynamicGraph(cg.generate.complete(5), device=pocl)
    counter = dynamic.TriangleCounter(graph, per_vertex=False, method="inclusion-exclusion")
    assert counter.count == 10

    def one_more(tally):
        return [tally[0], tally[1] + np.uint64(1), *tally[2:]]

    with monkeypatch.context() as patch:
        patch.setattr(LazyKernels, "launch", followed([], one_more))
        with pytest.raises(VerificationError, match="/ 6 triangles"):
            graph.delete_edges([0, 1, 2], [1, 2, 0])


def test_tc18_repeated_present_and_absent_edges_and_loops(any_device):
    graph = start(any_device)
    counter = dynamic.TriangleCounter(graph, verify=True)
    held = graph.to_graph()
    sources, targets, _ = held.listed_edges()
    src = np.concatenate([sources[:20], [1, 1, 2, 5, 5], targets[:5]])
    dst = np.concatenate([targets[:20], [2, 2, 1, 5, 5], sources[:5]])
    assert counter.count >= 0
    graph.insert_edges(src, dst)
    check(counter)
    graph.delete_edges(np.concatenate([src, [0, 3]]), np.concatenate([dst, [0, 3]]))
    check(counter)


def test_tc19_and_tc20_mixed_batches_and_back_again(any_device):
    graph = start(any_device)
    counter = dynamic.TriangleCounter(graph)
    before = counter.count, counter.per_vertex
    rng = np.random.default_rng(3)
    src, dst = rng.integers(0, 60, (2, 100))
    fresh = ~graph.has_edges(src, dst)
    graph.insert_edges(src[fresh], dst[fresh])
    graph.delete_edges(src[fresh], dst[fresh])
    assert counter.count == before[0]
    np.testing.assert_array_equal(counter.per_vertex, before[1])
    held = graph.to_graph().listed_edges()
    new, gone = counter.update(([0, 1, 2], [7, 8, 9]), ([0, *held[0][:30]], [7, *held[1][:30]]))
    assert new.given == 3
    assert gone.given == 31
    assert graph.has_edges([0], [7]).all()
    check(counter)


def test_tc22_work_is_bounded_by_the_batch(any_device):
    look_ups = []
    for m in (2000, 6000):
        graph = dynamic.DynamicGraph(n=2000, directed=False, device=any_device)
        rng = np.random.default_rng(4)
        graph.insert_edges(*rng.integers(0, 2000, (2, m // 2)))
        counter = dynamic.TriangleCounter(graph)
        assert counter.count == counted(graph)[0]
        src, dst = np.arange(0, 20), np.arange(20, 40)
        graph.delete_edges(src, dst)
        bound = 2 * (graph.degrees[src] + graph.degrees[dst] + 2).sum()
        graph.insert_edges(src, dst)
        assert 0 < counter.look_ups <= bound
        look_ups.append(counter.look_ups)
        check(counter)
    assert look_ups[1] < 10 * look_ups[0]


def test_tc22_the_shorter_row_is_looked_through(any_device):
    """An edge of a hub costs what its other end has, however long the hub's row is."""
    hub, leaf = 0, 2000
    graph = dynamic.DynamicGraph(n=2001, directed=False, device=any_device)
    spokes = np.arange(1, 2000)
    graph.insert_edges(0 * spokes, spokes)
    graph.insert_edges([leaf] * 3, [5, 6, 7])
    counter = dynamic.TriangleCounter(graph)
    assert counter.count == 0
    for change in (graph.insert_edges, graph.delete_edges, graph.insert_edges):
        change([hub], [leaf])
        check(counter)
        assert counter.look_ups == 3
    assert counter.count == 3


def test_tc13_a_recount_is_that_of_compressed_rows(any_device):
    graph = start(any_device)
    held = graph.to_graph()
    counter = dynamic.TriangleCounter(graph)
    assert counter.count == cg.triangle_count(held, clean=True, device=any_device)
    per = cg.triangles(held, per="edge", clean=True, device=any_device)
    np.testing.assert_array_equal(counter.per_edge(), per)


def test_distances_follow(device):
    graph = dynamic.DynamicGraph(cg.generate.path(60), device=device)
    search = dynamic.BFS(graph, 0, verify=True)
    rng = np.random.default_rng(5)
    assert search.distances[59] == 59
    for turn in range(6):
        graph.insert_edges(*rng.integers(0, 64, (2, 3)))
        fresh = cg.bfs(graph.to_graph(), 0, device=device).distances
        np.testing.assert_array_equal(search.distances, fresh)
        graph.delete_edges(*rng.integers(0, 64, (2, 3 + 40 * turn)))
        fresh = cg.bfs(graph.to_graph(), 0, device=device).distances
        np.testing.assert_array_equal(search.distances, fresh)
    assert search.updates >= 6


@pytest.mark.parametrize("anew", [False, True])
def test_components_follow(any_device, anew, monkeypatch):
    """Where that takes less, they are found anew after batches that join some."""
    rule = Constant("", "", neutral=anew, cpu=anew)
    monkeypatch.setattr(searches, "JOINED_COMPONENTS_ANEW", rule)
    graph = dynamic.DynamicGraph(n=200, device=any_device)
    parts = dynamic.ConnectedComponents(graph, verify=True)
    rng = np.random.default_rng(6)
    assert parts.count == 200
    for _ in range(6):
        graph.insert_edges(*rng.integers(0, 210, (2, 25)))
        fresh = cg.connected_components(graph.to_graph(), device=any_device)
        np.testing.assert_array_equal(parts.labels, fresh.labels)
        assert parts.count == fresh.count
    assert (parts.updates, parts.recounts) == ((0, 7) if anew else (6, 1))
    graph.insert_edges([0], [0])  # joins nothing
    assert parts.count == fresh.count
    assert parts.recounts == (7 if anew else 1)
    graph.delete_edges(*rng.integers(0, 200, (2, 4000)))
    fresh = cg.connected_components(graph.to_graph(), device=any_device)
    np.testing.assert_array_equal(parts.labels, fresh.labels)


def test_other_changes_and_large_batches_make_values_stale(any_device):
    graph = start(any_device)
    counter, search = dynamic.TriangleCounter(graph), dynamic.BFS(graph, 0)
    assert counter.count
    assert len(search.distances) == graph.n
    graph.delete_vertices([3, 5])
    check(counter)
    list(graph.insert_vertices(3))
    check(counter)
    assert len(search.distances) == graph.n
    graph.compact()
    check(counter)
    recounts = counter.recounts
    rng = np.random.default_rng(7)
    graph.insert_edges(*rng.integers(0, 60, (2, 3000)))
    check(counter)
    assert counter.recounts == recounts + 1
    counter.close()
    assert graph.state_of(counter) is None


def test_a_wrong_count_is_found(any_device):
    graph = start(any_device)
    counter = dynamic.TriangleCounter(graph, verify=True)
    held = counter.state
    graph.keep_state(counter, type(held)(held.total + 1, held.vertices, held.n))
    with pytest.raises(VerificationError, match="triangles were kept count of"):
        _ = counter.count


def test_wrong_distances_and_components_are_found(any_device):
    graph = dynamic.DynamicGraph(cg.generate.path(9), device=any_device)
    search = dynamic.BFS(graph, 0, verify=True)
    assert search.distances[8] == 8
    hops = search.state.hops
    hops.write(hops.read() + np.uint32(np.arange(hops.count) == 4))
    with pytest.raises(VerificationError, match="vertex 4 was kept at 5 hops, but is at 4"):
        _ = search.distances
    parts = dynamic.ConnectedComponents(graph, verify=True)
    assert parts.count == 1
    graph.keep_state(parts, np.int32(np.arange(9) > 4))
    with pytest.raises(VerificationError, match="components that were kept are not those"):
        _ = parts.labels


@pytest.mark.parametrize(
    ("options", "more", "message"),
    [
        ({"directed": True}, {}, "directed=False"),
        ({"directed": False, "sorted": False}, {}, "sorted=True"),
        ({"directed": False}, {"method": "guess"}, "cases, inclusion-exclusion"),
        ({"directed": False}, {"method": "inclusion-exclusion"}, "per_vertex=False"),
    ],
)
def test_what_cannot_be_followed_is_refused(any_device, options, more, message):
    graph = dynamic.DynamicGraph(n=3, device=any_device, **options)
    with pytest.raises(InvalidArgumentError, match=message):
        dynamic.TriangleCounter(graph, **more)
