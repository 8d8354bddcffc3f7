"""What holds of rows and blocks whatever a batch does: DH-11, 14, 19, 20, 26 and 31."""

import re

import numpy as np
import pytest
from dynamic.dynamic_reference import Reference, check

import clgraph as cg
from clgraph.device import Memory
from clgraph.device.rendering.sources import source_folders
from clgraph.dynamic.storage.sizes import Sizes

WAYS = [("rows", "device"), ("rows", "host"), ("rewrite", "device")]


def test_dh11_a_graph_is_brought_in_few_pieces(pocl, monkeypatch):
    """As many transfers as columns, and two for vertices, however many block arrays there are."""
    start = cg.generate.random(200, 15, seed=1, weights=(1, 9))
    upload, sent = Memory.upload, []

    def counted(self, name, *args, **options):
        sent.append(name)
        return upload(self, name, *args, **options)

    monkeypatch.setattr(Memory, "upload", counted)
    for block_edges in (16, 1 << 16):
        sent.clear()
        graph = cg.DynamicGraph(start, device=pocl, block_edges=block_edges)
        assert sent == ["row_pointers", "row_lengths", "targets", "weights"]
        arrays = graph.memory_usage().block_arrays
        assert arrays > 100 if block_edges == 16 else arrays < 12


@pytest.mark.parametrize(("regime", "allocator"), WAYS)
def test_dh14_and_dh15_batches_of_1_to_100000(any_device, regime, allocator):
    n = 3000
    graph = cg.DynamicGraph(n=n, device=any_device, allocator=allocator)
    rng, held = np.random.default_rng(1), np.zeros(0, np.int64)
    for size in (1, 10, 100, 1000, 10_000, 100_000)[: 5 if allocator == "host" else 6]:
        src, dst = rng.integers(0, n, (2, size))
        src[: size // 3] = 7  # a hub
        keys = np.unique(src * n + dst)
        result = graph.insert_edges(src, dst, regime=regime)
        assert result.new == len(np.setdiff1d(keys, held))
        assert result.repeated == size - len(keys)
        held = np.union1d(held, keys)
        gone = rng.choice(held, len(held) // 4, replace=False)
        assert graph.delete_edges(gone // n, gone % n, regime=regime).gone == len(gone)
        held = np.setdiff1d(held, gone)
        rows = graph.to_graph()
        sources = np.repeat(np.arange(n), rows.degrees)
        np.testing.assert_array_equal(sources * n + rows.indices, held)


def test_dh19_lengths_are_not_counted_up():
    """One work-item says how long a row is: no kernel does arithmetic there that others see."""
    texts = {path.name: path.read_text() for path in (source_folders()[0] / "dynamic").iterdir()}
    assert "used[row.vertex] = row.length;" in texts["update.cl"]
    counted = re.compile(r"atom(?:ic)?_\w+\([^;]*\b(?:used|lengths?|row_lengths)\b")
    assert counted.search("atomic_add(&used[u], 1u);")
    assert [name for name, text in texts.items() if counted.search(text)] == []


@pytest.mark.parametrize("allocator", ["device", "host"])
@pytest.mark.parametrize("joins", [True, False])
def test_dh20_no_row_comes_to_a_block_that_one_leaves(any_device, allocator, joins):
    """A batch's rows are copied while the old ones are whole, so the blocks are all different."""
    rng = np.random.default_rng(2)
    start = cg.generate.random(100, 15, seed=3)
    graph = cg.DynamicGraph(start, device=any_device, block_edges=32, allocator=allocator)
    call = graph.insert_edges if joins else graph.delete_edges
    for _ in range(6):
        src, dst = rng.integers(0, 100, (2, 150))
        before, lengths = graph.rows.pointer.read(graph.n), graph.degrees
        call(src, dst, regime="rows")
        after, now = graph.rows.pointer.read(graph.n), graph.degrees
        moved = before != after
        assert moved.any()
        left = set()
        for place, length in zip(before[moved].tolist(), lengths[moved].tolist(), strict=True):
            left |= set(range(place, place + Sizes(32).room(length)))
        come = set()
        for place, length in zip(after[moved].tolist(), now[moved].tolist(), strict=True):
            come |= set(range(place, place + Sizes(32).room(length)))
        assert not left & come


@pytest.mark.parametrize("allocator", ["device", "host"])
def test_dh09_sizes_with_free_blocks_get_no_block_array(any_device, allocator):
    """Where a batch lacks blocks of one size, and has those of another."""
    graph = cg.DynamicGraph(n=400, device=any_device, block_edges=16, allocator=allocator)
    one = np.arange(100)
    graph.insert_edges(one, one, regime="rows")
    graph.delete_edges(one, one, regime="rows")
    before = graph.rows.blocks.free_blocks()
    one, many = np.arange(before[0].sum() * 3 // 4), np.repeat(np.arange(300, 400), 8)
    src, dst = np.concatenate([one, many]), np.concatenate([one, np.tile(np.arange(8), 100)])
    assert one.max() < 300
    graph.insert_edges(src, dst, regime="rows")
    after = graph.rows.blocks.free_blocks()
    assert len(after[3]) >= 50 > len(before.get(3, []))
    assert len(after[0]) == len(before[0]) >= 7


@pytest.mark.parametrize("allocator", ["device", "host"])
def test_dh28_rows_that_no_batch_touches_stay_where_they_are(any_device, allocator):
    """However often the pool is replaced by a larger one."""
    held = cg.generate.random(300, 8, seed=4)
    start = cg.Graph(held.indptr, held.indices, directed=True)
    graph = cg.DynamicGraph(start, device=any_device, block_edges=16, allocator=allocator)
    places, entries = graph.rows.pointer.read(graph.n), set()
    for most in (10, 100, 1000, 10_000):
        graph.insert_edges(np.zeros(most, int), np.arange(most), regime="rows")
        entries.add(graph.rows.pools[0].count)
        np.testing.assert_array_equal(graph.rows.pointer.read(300)[1:], places[1:])
    assert len(entries) > 1


def test_dh26_a_thousand_rounds_by_a_dictionary(pocl):
    graph = cg.DynamicGraph(n=60, weights="f4", device=pocl, block_edges=64)
    reference, sizes = Reference(60, True), set()
    rng = np.random.default_rng(5)
    held = rng.integers(0, 60, (2, 300))
    graph.insert_edges(*held, held[0])
    reference.insert(*held, held[0])
    src, dst = rng.integers(0, 60, (2, 50))
    fresh = ~graph.has_edges(src, dst)
    src, dst = src[fresh], dst[fresh]
    for turn in range(1000):
        graph.insert_edges(src, dst, dst)
        graph.delete_edges(src, dst)
        if turn > 2:
            usage = graph.memory_usage()
            sizes.add((usage.block_arrays, usage.total_bytes))
        if turn % 250 == 249:
            check(graph, reference)
    assert len(sizes) == 1


@pytest.mark.parametrize("weights", [None, "f8"])
def test_dh31_figures_of_memory(any_device, weights):
    start = cg.generate.random(300, 8, seed=4)
    graph = cg.DynamicGraph(start, weights=weights, device=any_device, block_edges=64)
    rng = np.random.default_rng(6)
    src, dst = rng.integers(0, 300, (2, 400))
    values = None if weights is None else np.ones(400)
    for regime in ("rows", "rewrite"):
        graph.insert_edges(src, dst, values, regime=regime)
        graph.delete_edges(dst, src, regime=regime)
        usage, entry = graph.memory_usage(), 4 if weights is None else 12
        room = sum(Sizes(64).room(int(d)) for d in graph.degrees)
        assert usage.block_utilisation == graph.m / room
        assert usage.block_bytes == usage.block_arrays * 64 * entry
        assert usage.array_utilisation == room * entry / usage.block_bytes
        assert usage.vertex_bytes == 8 * graph.n
        assert usage.csr_bytes == 4 * (graph.n + 1) + entry * graph.m
        assert usage.coo_bytes == (4 + entry) * graph.m
        assert usage.over_csr == (usage.block_bytes + usage.vertex_bytes) / usage.csr_bytes
        held = [graph.rows.pointer, graph.rows.used, *graph.rows.pools]
        assert usage.structure_bytes + usage.reserved_bytes == sum(a.size_bytes for a in held)


@pytest.mark.parametrize("allocator", ["device", "host"])
def test_dh03_and_dh16_rows_of_many_block_arrays(any_device, allocator):
    """Rows grow and shrink through the sizes beyond a block array, of which there are four each."""
    graph = cg.DynamicGraph(n=400, device=any_device, block_edges=4, allocator=allocator)
    reference = Reference(400, True)
    rng = np.random.default_rng(8)
    for regime in ("rows", "rewrite", "rows", "rows"):
        src, dst = rng.integers(0, 4, 700), rng.integers(0, 400, 700)
        graph.insert_edges(src, dst, regime=regime)
        reference.insert(src, dst, dst)
        check(graph, reference)
        src, dst = rng.integers(0, 4, 300), rng.integers(0, 400, 300)
        graph.delete_edges(src, dst, regime=regime)
        reference.delete(src, dst)
        check(graph, reference)
    assert graph.degrees.max() > 100


STARTS = {
    **{f"kron-{scale}": lambda scale=scale: cg.generate.kron(scale, seed=1) for scale in (10, 13)},
    "kron-16": lambda: cg.generate.kron(16, seed=1),
    "rmat-13": lambda: cg.generate.rmat(13, seed=2),
    "road": lambda: cg.generate.road(200, 200, seed=3),
    "star": lambda: cg.generate.star(5000),
}


@pytest.mark.parametrize("name", STARTS)
def test_memory_beside_compressed_rows(pocl, name):
    """At most 1.4 times as many bytes, from a graph's beginning on and after it was compacted."""
    start = STARTS[name]()
    graph = cg.DynamicGraph(start, device=pocl)
    assert graph.memory_usage().over_csr <= 1.4
    rng = np.random.default_rng(1)
    graph.insert_edges(*rng.integers(0, graph.n, (2, graph.m // 20)))
    sources, targets, _ = start.listed_edges()
    chosen = rng.choice(len(sources), len(sources) // 20, replace=False)
    graph.delete_edges(sources[chosen], targets[chosen])
    graph.compact()
    assert graph.memory_usage().over_csr <= 1.4
