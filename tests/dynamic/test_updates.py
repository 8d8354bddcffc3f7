"""Batches against a dictionary, on every runtime: DH-11 to DH-29."""

import itertools

import numpy as np
import pytest
from dynamic.dynamic_reference import Reference, batch, check

import clgraph as cg
from clgraph.device import Memory
from clgraph.engine.sweeps import LazyKernels
from clgraph.errors import InvalidArgumentError, InvalidGraphError

KINDS = list(itertools.product((True, False), (True, False), ("rows", "rewrite")))


def rounds(device, kind, *, count, most, n=40, seed=0, **options):
    directed, ordered, regime = kind
    rng = np.random.default_rng(seed)
    graph = cg.DynamicGraph(
        n=n, directed=directed, sorted=ordered, weights="f4", device=device, **options
    )
    reference = Reference(n, directed)
    for turn in range(count):
        src, dst, values = batch(rng, n + turn, most)
        result = graph.insert_edges(src, dst, values, regime=regime)
        wanted = reference.insert(src, dst, values)
        assert {name: getattr(result, name) for name in wanted} == wanted
        src, dst, values = batch(rng, n + turn + 2, most)
        result = graph.update_values(src, dst, values)
        wanted = reference.update(src, dst, values)
        assert {name: getattr(result, name) for name in wanted} == wanted
        src, dst, _ = batch(rng, n + turn + 2, most)
        result = graph.delete_edges(src, dst, regime=regime)
        wanted = reference.delete(src, dst)
        assert {name: getattr(result, name) for name in wanted} == wanted
        check(graph, reference)
    return graph, reference


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_dh14_dh15_and_dh16_random_batches(device, kind):
    rounds(device, kind, count=3, most=200, block_edges=16)


@pytest.mark.parametrize("kind", KINDS[:4], ids=str)
def test_dh13_blocks_of_any_least_size(any_device, kind):
    rounds(any_device, kind, count=3, most=100, block_edges=32, min_block=8)


def test_dh11_and_dh12_from_a_graph_and_edge_by_edge(any_device):
    start = cg.from_edges([0, 0, 3, 2, 2, 5], [1, 2, 2, 4, 0, 5], [3, 1, 4, 1, 5, 9], n=7)
    whole = cg.DynamicGraph(start, block_edges=8, device=any_device)
    single = cg.DynamicGraph(n=7, weights=start.weights.dtype, device=any_device)
    for u, v, x in zip(*start.listed_edges(), strict=True):
        assert single.insert_edges([u], [v], [x]).new == 1
    for graph in (whole, single):
        held = graph.to_graph()
        np.testing.assert_array_equal(held.indptr, start.indptr)
        np.testing.assert_array_equal(held.indices, start.indices)
        np.testing.assert_array_equal(held.weights, start.weights)
        assert held.weights.dtype == start.weights.dtype
    assert whole.neighbors(2).tolist() == [0, 4]
    assert whole.edge_values(2).tolist() == [5, 1]
    assert whole.neighbors(1).tolist() == []


def test_dh16_a_list_that_shrinks_to_a_power_of_two(any_device):
    graph = cg.DynamicGraph(n=20, block_edges=16, device=any_device)
    reference = Reference(20, True)
    for regime in ("rows", "rewrite"):
        for upto in (9, 8, 5, 4, 3, 2, 1, 0, 17):
            now = set(graph.neighbors(0).tolist())
            new, old = sorted(set(range(upto)) - now), sorted(now - set(range(upto)))
            for call, other, ids in (
                (graph.insert_edges, reference.insert, new),
                (graph.delete_edges, reference.delete, old),
            ):
                targets = np.array(ids, int)
                call(0 * targets, targets, regime=regime)
                values = (targets,) if other == reference.insert else ()
                other(0 * targets, targets, *values)
            check(graph, reference)


def test_dh17_duplicates_are_dropped_or_kept(any_device):
    for ordered in (True, False):
        graph = cg.DynamicGraph(n=4, sorted=ordered, weights="i4", device=any_device)
        graph.insert_edges([0, 0, 0], [1, 1, 2], [5, 6, 7])
        assert graph.m == 2
        assert graph.edge_values(0).tolist() == [5, 7]
        kept = graph.insert_edges([0, 0], [1, 3], [8, 9], duplicates="keep")
        assert (kept.new, kept.present) == (2, 0)
        assert sorted(graph.neighbors(0).tolist()) == [1, 1, 2, 3]
        assert sorted(graph.edge_values(0).tolist()) == [5, 7, 8, 9]
        gone = graph.delete_edges([0], [1])
        assert gone.gone == 1
        assert graph.neighbors(0).tolist() == [2, 3]


@pytest.mark.parametrize("ordered", [True, False])
def test_dh18_hubs(any_device, ordered, monkeypatch):
    """What is in no order is looked through by a work-item an entry, whosever row it is in."""
    launch, looked = LazyKernels.launch, []

    def noted(self, log, name, items, *args, **params):
        if name == "rows_find":
            looked.append(items)
        launch(self, log, name, items, *args, **params)

    monkeypatch.setattr(LazyKernels, "launch", noted)
    n = 120_000
    hub = cg.generate.star(n)
    graph = cg.DynamicGraph(hub, sorted=ordered, device=any_device)
    rng = np.random.default_rng(3)
    ends = rng.integers(0, n, 2000)
    fresh = graph.insert_edges(np.zeros(2000, int), ends, regime="rows")
    wanted = len(np.unique(ends)) - len(np.unique(ends[ends > 0]))
    assert fresh.new == wanted  # a loop at most
    assert fresh.present == len(np.unique(ends[ends > 0]))
    assert looked == ([] if ordered else [hub.degrees[np.union1d(0, ends)].sum()])
    gone = graph.delete_edges(ends, np.zeros(2000, int), regime="rows")
    assert gone.gone == len(np.unique(ends))
    left = np.setdiff1d(np.arange(1, n), ends)
    np.testing.assert_array_equal(np.sort(graph.neighbors(0)), left)
    assert not graph.degrees[ends[ends > 0]].any()


def test_dh21_values_change_nothing_else(any_device):
    graph, reference = rounds(any_device, KINDS[0], count=2, most=150, block_edges=16)
    store = graph._store
    before = [store.pointer.read(), store.used.read(), store.pools[0].read()]
    src, dst = (np.array(ends) for ends in zip(*reference.edges, strict=True))
    assert graph.update_values(src, dst, np.arange(len(src))).updated == len(src)
    after = graph._store
    for old, new in zip(before, (after.pointer, after.used, after.pools[0]), strict=True):
        np.testing.assert_array_equal(old, new.read())
    reference.update(src, dst, np.arange(len(src)))
    check(graph, reference)


def test_dh22_vertices_come_and_go(device):
    for directed in (True, False):
        graph = cg.DynamicGraph(n=3, directed=directed, device=device, block_edges=8)
        graph.insert_edges([0, 7, 2, 5, 5], [1, 2, 7, 5, 0])
        assert graph.n == 8
        assert list(graph.insert_vertices(2)) == [8, 9]
        edges = {(0, 1), (7, 2), (2, 7), (5, 5), (5, 0)}
        if not directed:
            edges |= {(v, u) for u, v in edges}
        gone = graph.delete_vertices([2, 5, 2])
        left = {edge for edge in edges if not {2, 5} & set(edge)}
        assert gone.repeated == 1
        assert gone.gone == (4 if directed else 3)
        assert {(u, int(v)) for u in range(10) for v in graph.neighbors(u)} == left
        assert (graph.n, graph.m) == (10, len(left))
        with pytest.raises(InvalidArgumentError, match="no vertex 10"):
            graph.delete_vertices([10])


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("count", [0, 1, 3, 5])
def test_dh23_properties_follow_their_edges(any_device, count, ordered):
    kinds = dict(zip("abcde", ("u1", "f8", "i2", "u4", "f4"), strict=True))
    kinds = dict(itertools.islice(kinds.items(), count))
    graph = cg.DynamicGraph(
        n=30, sorted=ordered, properties=kinds, device=any_device, block_edges=16
    )
    rng = np.random.default_rng(4)
    held = {}
    for regime in ("rows", "rewrite", "rows"):
        src, dst, _ = batch(rng, 30, 150)
        values = {name: (src * 7 + dst * 3) % 100 + i for i, name in enumerate(kinds)}
        graph.insert_edges(src, dst, properties=values, regime=regime)
        held |= dict.fromkeys(zip(src.tolist(), dst.tolist(), strict=True))
        src, dst, _ = batch(rng, 30, 100)
        graph.delete_edges(src, dst, regime=regime)
        for edge in zip(src.tolist(), dst.tolist(), strict=True):
            held.pop(edge, None)
        assert graph.m == len(held)
        for u in range(30):
            targets = graph.neighbors(u)
            assert set(targets.tolist()) == {v for w, v in held if w == u}
            for i, name in enumerate(kinds):
                wanted = (u * 7 + targets * 3) % 100 + i
                np.testing.assert_array_equal(graph.edge_values(u, name), wanted)


@pytest.mark.parametrize(
    ("kinds", "bytes_each", "allocator"),
    [
        ({"a": "f4", "b": "i4", "c": "u4", "d": "f4"}, [16], "device"),
        ({"a": "u1", "b": "f4", "c": "i2", "d": "u1"}, [8], "host"),
        ({"a": "u1", "b": "i1"}, [2], "device"),
        ({"a": "u2", "b": "f8", "c": "u4", "d": "u2"}, [16], "host"),
        ({"a": "f4", "b": "f8"}, [4, 8], "device"),
        ({"a": "f4"}, [4], "device"),
    ],
)
def test_dh25_records_hold_what_arrays_do(any_device, kinds, bytes_each, allocator):
    """Records where 2 to 16 bytes are one load, arrays otherwise; equal contents and bytes."""
    graphs = [
        cg.DynamicGraph(
            n=40,
            weights="f4",
            properties=kinds,
            layout=layout,
            allocator=allocator,
            block_edges=16,
            device=any_device,
        )
        for layout in ("auto", "arrays")
    ]
    sizes = [[pool.dtype.itemsize for pool in graph.rows.pools[2:]] for graph in graphs]
    assert sizes == [bytes_each, [np.dtype(kind).itemsize for kind in kinds.values()]]
    rng = np.random.default_rng(9)
    memory = Memory(graphs[0].device)
    for turn, regime in enumerate(("rows", "rewrite", "rows")):
        src, dst, weights = batch(rng, 40, 200)
        values = {name: rng.integers(0, 100, len(src)).astype(kind) for name, kind in kinds.items()}
        out, change = batch(rng, 40, 60)[:2], batch(rng, 40, 60)[:2]
        fresh = np.arange(len(change[0]))[::-1] % 90 + turn
        last = list(kinds)[-1]
        given = dict(values)
        if turn == 2:  # some of them from the device
            given["a"] = memory.upload("a", values["a"])
        for graph in graphs:
            graph.insert_edges(src, dst, weights, properties=given, regime=regime)
            graph.delete_edges(*out, regime=regime)
            graph.update_values(*change, properties={last: fresh})
        both = [graphs, [graph.snapshot() for graph in graphs]]
        for one, other in both:
            assert one.m == other.m > 0
            for u in range(40):
                np.testing.assert_array_equal(one.neighbors(u), other.neighbors(u))
                for name in ("weights", *kinds):
                    found, wanted = one.edge_values(u, name), other.edge_values(u, name)
                    assert found.dtype == wanted.dtype
                    np.testing.assert_array_equal(found, wanted)
    usages = [graph.memory_usage() for graph in graphs]
    assert usages[0].structure_bytes == usages[1].structure_bytes
    assert graphs[0].properties == graphs[1].properties == ("weights", *kinds)


def test_dh25_layouts_that_cannot_be_are_refused():
    with pytest.raises(InvalidArgumentError, match="'rows' is not one of auto, arrays, records"):
        cg.DynamicGraph(n=2, layout="rows")
    with pytest.raises(InvalidArgumentError, match="take 12 bytes; records are of two"):
        cg.DynamicGraph(n=2, properties={"a": "f4", "b": "f8"}, layout="records")
    with pytest.raises(InvalidArgumentError, match="take 4 bytes; records are of two"):
        cg.DynamicGraph(n=2, weights="f4", properties={"a": "f4"}, layout="records")


def test_dh24_vertex_properties_survive_growth(any_device):
    graph = cg.DynamicGraph(n=3, vertex_properties={"rank": "f4"}, device=any_device)
    graph.set_vertex_property("rank", [1, 2, 3])
    graph.insert_edges([0], [9])
    graph.insert_vertices(1)
    assert graph.vertex_property("rank").tolist() == [1, 2, 3] + [0] * 8
    with pytest.raises(InvalidArgumentError, match="no 'age'"):
        graph.vertex_property("age")


def thousand(device, turns, regime):
    graph = cg.DynamicGraph(cg.generate.random(300, 2000, seed=1), device=device, block_edges=64)
    rng = np.random.default_rng(5)
    src, dst = rng.integers(0, 300, (2, 400))
    before = graph.to_graph()
    fresh = ~graph.has_edges(src, dst)
    src, dst = src[fresh], dst[fresh]
    sizes = set()
    for turn in range(turns):
        graph.insert_edges(src, dst, regime=regime)
        graph.delete_edges(src, dst, regime=regime)
        if turn > 2:
            usage = graph.memory_usage()
            sizes.add((usage.block_arrays, usage.total_bytes))
    assert len(sizes) == 1
    np.testing.assert_array_equal(graph.to_graph().indices, before.indices)


def test_dh26_rounds_take_no_more_memory(any_device):
    for regime in ("rows", "rewrite"):
        thousand(any_device, 12, regime)


@pytest.mark.slow
def test_dh26_a_thousand_rounds(device):
    thousand(device, 1000, "auto")


def test_dh27_trim_and_compact(any_device):
    graph = cg.DynamicGraph(
        cg.generate.random(200, 3000, seed=2), device=any_device, block_edges=16
    )
    held = graph.to_graph()
    sources, targets, _ = held.listed_edges()
    graph.delete_edges(sources[100:], targets[100:], regime="rows")
    arrays = graph.memory_usage().block_arrays
    assert graph.trim() > 0
    assert graph.memory_usage().block_arrays < arrays
    assert graph.memory_usage().spare_bytes == 0
    total = graph.memory_usage().total_bytes
    graph.compact()
    assert graph.memory_usage().total_bytes < total
    assert graph.m == 200
    assert graph.has_edges(sources[:100], targets[:100]).all()


def test_dh28_growth_a_thousandfold(any_device):
    graph = cg.DynamicGraph(n=2, device=any_device)
    reference = Reference(2, True)
    rng = np.random.default_rng(6)
    for regime in ("rows", "rewrite", "rows", "auto"):
        for size in (2, 20, 200, 2000):
            src, dst, _ = batch(rng, 100 * size, size)
            graph.insert_edges(src, dst, regime=regime)
            reference.insert(src, dst, dst)
    check(graph, reference)


def test_dh29_rows_ascend(device):
    graph, _ = rounds(device, KINDS[0], count=1, most=300, block_edges=16, seed=9)
    for v in range(graph.n):
        assert (np.diff(graph.neighbors(v)) > 0).all()


def pyopencl_array(device, values, dtype):
    arrays = pytest.importorskip("pyopencl.array")
    return arrays.to_device(device.queue, np.array(values, dtype))


HELD = {
    "allocation": lambda device, values: Memory(device).upload("ids", np.array(values, np.uint32)),
    "uint32": lambda device, values: pyopencl_array(device, values, np.uint32),
    "int32": lambda device, values: pyopencl_array(device, values, np.int32),
    "part": lambda device, values: pyopencl_array(device, [7, *values], np.uint32)[1:],
}


@pytest.mark.parametrize("kind", HELD)
def test_arrays_on_the_device(kind, any_device):
    graph = cg.DynamicGraph(n=10, directed=False, device=any_device)

    def held(*values):
        return HELD[kind](graph.device, values)

    assert graph.insert_edges(held(0, 3, 3, 12), held(1, 2, 2, 0)).new == 3
    assert graph.n == 13
    assert graph.has_edges(held(1, 2, 5, 99), held(0, 3, 6, 0)).tolist() == [
        True,
        True,
        False,
        False,
    ]
    gone = graph.delete_edges(held(1, 99, 5), held(0, 0, 6))
    assert (gone.gone, gone.absent) == (1, 2)
    with pytest.raises(InvalidArgumentError, match="both be on the device"):
        graph.insert_edges(held(1), [2])


def test_arrays_of_pyopencl(any_device):
    """Weights too; what is negative, too wide or of another queue is as it should be."""
    cl = pytest.importorskip("pyopencl")
    graph = cg.DynamicGraph(n=4, device=any_device)
    ids = [pyopencl_array(graph.device, values, np.int32) for values in ([0, 1], [1, 2])]
    before = [array.get() for array in ids]
    weights = pyopencl_array(graph.device, [5, 7], np.int32)
    graph.insert_edges(*ids, weights)
    assert graph.edge_values(1).tolist() == [7]
    assert graph.edge_values(1).dtype == np.int32
    with pytest.raises(cg.InvalidGraphError, match="the largest vertex id is"):
        graph.insert_edges(pyopencl_array(graph.device, [-1], np.int32), ids[1][:1], weights[:1])
    with pytest.raises(InvalidArgumentError, match="on the device are of uint32"):
        graph.delete_edges(*(pyopencl_array(graph.device, [0], np.int64) for _ in "ab"))
    with pytest.raises(cg.InvalidGraphError, match="copy it to host memory first"):
        graph.has_edges(*(pyopencl_array(graph.device, [0, 1, 2], np.uint32)[::2] for _ in "ab"))
    other = cl.CommandQueue(graph.device.context)
    there = [array.with_queue(other) + 0 for array in ids]
    assert graph.delete_edges(*there).gone == 2
    for array, values in zip(ids, before, strict=True):
        np.testing.assert_array_equal(array.get(), values)  # they stay their owner's


def test_a_batch_of_pyopencl_is_not_copied(any_device, monkeypatch):
    graph = cg.DynamicGraph(n=10, device=any_device)
    ids = [pyopencl_array(graph.device, values, np.uint32) for values in ([0, 3], [1, 2])]
    monkeypatch.setattr(type(ids[0]), "get", None)
    assert graph.insert_edges(*ids).new == 2


def test_nothing_to_do(any_device):
    graph = cg.DynamicGraph(device=any_device)
    assert graph.insert_edges([], []).given == 0
    assert graph.delete_edges([3], [4]).absent == 1
    assert (graph.n, graph.m, graph.version) == (0, 0, 0)
    assert graph.to_graph().n == 0
    assert graph.has_edges([0], [0]).tolist() == [False]
    graph.insert_edges([1], [1])
    version = graph.version
    assert graph.insert_edges([1], [1]).present == 1
    assert graph.version == version


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda g: g.insert_edges([0, 1], [1]), "2 entries and dst has 1"),
        (lambda g: g.insert_edges([-1], [1]), "edge 0 is -1 -> 1"),
        (lambda g: g.insert_edges([0.5], [1]), "integers"),
        (lambda g: g.insert_edges([2**40], [0], [1]), "the largest vertex id"),
        (lambda g: g.insert_edges([10**9], [0], [1]), "insert_vertices before"),
        (lambda g: g.insert_edges([0], [1]), "every edge of this graph has 'weights'"),
        (lambda g: g.insert_edges([0], [1], [1, 2]), "for each of 1 edges"),
        (lambda g: g.insert_edges([0], [1], [np.inf]), "finite"),
        (lambda g: g.insert_edges([0], [1], [1], properties={"x": [1]}), "no 'x'"),
        (lambda g: g.insert_edges([0], [1], [1], duplicates="maybe"), "not one of drop, keep"),
        (lambda g: g.insert_edges([0], [1], [1], regime="fast"), "auto, rows, rewrite"),
        (lambda g: g.update_values([0], [1]), "nothing to update"),
        (lambda g: g.neighbors(4), "no vertex 4"),
        (lambda g: g.edge_values(0, "time"), "no 'time'"),
    ],
)
def test_what_is_refused_leaves_the_graph_alone(any_device, call, message):
    graph = cg.DynamicGraph(n=4, weights="f4", device=any_device)
    graph.insert_edges([0, 1], [1, 2], [1, 2])
    version = graph.version
    with pytest.raises((InvalidArgumentError, InvalidGraphError), match=message):
        call(graph)
    assert (graph.version, graph.n, graph.m) == (version, 4, 2)


def test_snapshots_stay_as_they_are(any_device):
    graph, reference = rounds(any_device, KINDS[0], count=1, most=200, block_edges=16)
    before = dict(reference.edges)
    copy = graph.snapshot()
    for one in (graph, copy):
        src, dst, values = batch(np.random.default_rng(8 if one is graph else 9), 40, 200)
        one.insert_edges(src, dst, values)
        one.delete_edges(dst, src)
        wanted = Reference(reference.n, True)
        wanted.edges = dict(before)
        wanted.insert(src, dst, values)
        wanted.delete(dst, src)
        check(one, wanted)


def test_algorithms_take_dynamic_graphs(any_device):
    start = cg.generate.random(200, 800, seed=3)
    graph = cg.DynamicGraph(start, device=any_device)
    graph.insert_edges([0, 1, 2], [150, 160, 170])
    same = graph.to_graph()
    assert graph.to_graph() is same
    np.testing.assert_array_equal(
        cg.bfs(graph, 0, device=any_device).distances, cg.bfs(same, 0, device=any_device).distances
    )
    labels = cg.connected_components(graph, device=any_device).labels
    np.testing.assert_array_equal(labels, cg.connected_components(same, device=any_device).labels)
    count = cg.triangle_count(graph, clean=True, device=any_device)
    assert count == cg.triangle_count(cg.Graph(same.indptr, same.indices), clean=True)
    graph.delete_edges([0], [150])
    assert graph.to_graph() is not same


def test_a_graph_that_begins_without_edges_takes_weights(any_device):
    graph = cg.DynamicGraph(n=3, device=any_device)
    assert not graph.weighted
    graph.insert_edges([0, 1], [1, 2], np.array([5, 6], np.int64))
    assert graph.weighted
    assert graph.to_graph().weights.tolist() == [5, 6]
    assert graph.to_graph().weights.dtype == np.int64
    assert cg.sssp(graph, 0, device=any_device).distances[2] == 11
    with pytest.raises(InvalidArgumentError, match="every edge"):
        graph.insert_edges([2], [0])
    plain = cg.DynamicGraph(n=3, weights=False, device=any_device)
    with pytest.raises(InvalidArgumentError, match="no 'weights'"):
        plain.insert_edges([0], [1], [1])
