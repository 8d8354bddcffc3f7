"""Batches in place and the sort by look-back on a card, against NumPy; seconds in all."""

import numpy as np
import pytest

import clgraph as cg
from clgraph.device import Memory
from clgraph.dynamic.inplace import STAGES
from clgraph.engine.sweeps import SweepLog
from clgraph.primitives.radix import RadixSort

pytestmark = pytest.mark.gpu


def numbered(graph):
    sources = np.repeat(np.arange(graph.n, dtype=np.int64), graph.degrees)
    return sources * graph.n + graph.indices


@pytest.mark.parametrize("name", ["kron", "road"])
def test_batches_in_one_launch(gpu, name):
    start = cg.generate.kron(16, seed=1) if name == "kron" else cg.generate.road(300, 300, seed=1)
    start = cg.Graph(start.indptr, start.indices, directed=True)
    graph = cg.DynamicGraph(start, device=gpu)
    held, n = numbered(start), start.n
    memory = Memory(gpu)
    rng = np.random.default_rng(2)
    for count in (1, 100, 10_000, 200_000):
        src, dst = rng.integers(0, n, (2, count))
        leaving = held[rng.choice(len(held), min(count, len(held) // 2), replace=False)]
        ends = [memory.upload("ends", ids.astype(np.uint32)) for ids in (src, dst)]
        for _ in range(3):  # the last time there are blocks enough
            into = graph.insert_edges(*ends, regime="rows")
            out = graph.delete_edges(leaving // n, leaving % n, regime="rows")
            wanted = np.setdiff1d(np.union1d(held, src * n + dst), leaving)
            np.testing.assert_array_equal(numbered(graph.to_graph()), wanted)
            graph.insert_edges(held // n, held % n, regime="rows")
            graph.delete_edges(*ends, regime="rows")
            # Those of the batch that the graph had are put back.
            graph.insert_edges(held // n, held % n, regime="rows")
            np.testing.assert_array_equal(numbered(graph.to_graph()), held)
        one = 1 if gpu.traits.grid_barrier else len(STAGES)
        assert (into.launches, out.launches) == (one, one)
    assert graph._updater.in_place.together == gpu.traits.grid_barrier


@pytest.mark.parametrize(("key", "bits"), [(np.uint32, 32), (np.uint64, 40)])
def test_millions_of_keys_sorted(gpu, key, bits):
    n = 5_000_011
    keys = np.random.default_rng(3).integers(0, 2**bits, n, dtype=key)
    memory = Memory(gpu)
    stage, log = RadixSort(gpu, key, np.uint32), SweepLog()
    given = memory.upload("keys", keys), memory.upload("values", np.arange(n, dtype=np.uint32))
    found, order = stage.enqueue(log, given[0], n, given[1], bits=bits)
    log.wait()
    wanted = np.argsort(keys, kind="stable")
    np.testing.assert_array_equal(found.read(n), keys[wanted])
    np.testing.assert_array_equal(order.read(n), wanted)
    assert log.launches == 2 + -(-bits // 8)


def test_a_batch_that_is_all_one_row(gpu):
    n = 50_000
    graph = cg.DynamicGraph(cg.generate.star(n), device=gpu)
    targets = np.arange(n)
    assert graph.insert_edges(0 * targets + 1, targets, regime="rows").new == n - 1
    assert graph.delete_edges(targets, 0 * targets, regime="rows").gone == n - 1
    assert graph.m == 2 * (n - 2) + 1


@pytest.mark.parametrize("directed", [True, False])
def test_algorithms_read_blocks(gpu, directed, monkeypatch):
    """What is found in blocks, before and after batches, is what is found in packed rows."""
    make = cg.generate.rmat if directed else cg.generate.kron
    start = make(14, seed=3)
    sources = np.repeat(np.arange(start.n), start.degrees)
    weights = (1 + (sources + start.indices) % 97).astype(np.int32)  # as heavy there as back
    start = cg.Graph(start.indptr, start.indices, weights, directed=directed)
    graph = cg.DynamicGraph(start, device=gpu)
    hops = {
        "state": {"hops": cg.State("int32", fill=-1)},
        "init": "if (lid == 0) hops[src] = 0;",
        "visit": "if (FIRST(v)) { hops[v] = level + 1; ENQ(v); }",
    }

    def plans(of):
        triangles = (
            []
            if directed
            else [
                cg.Triangles(of, device=gpu, config=config)
                for config in ("auto", cg.TrianglesConfig(order="id"))
            ]
        )
        return (
            [cg.BFS(of, device=gpu), cg.MultiSearch(of, device=gpu, **hops)],
            [cg.SSSP(of, device=gpu, config=name) for name in ("auto", "near-far", "self-tuning")],
            triangles,
        )

    def answers(made):
        (search, several), by_weight, triangles = made
        found = [search.run(5).distances, several.run([5, 9, 77])["hops"]]
        found += [one.run(5).distances for one in by_weight]
        found += [one.run("vertex").values for one in triangles]
        return found + [one.run().count for one in triangles]

    here = plans(graph)
    rng = np.random.default_rng(4)
    for _ in range(2):
        wanted = answers(plans(graph.to_graph()))
        with monkeypatch.context() as patch:
            patch.setattr(cg.DynamicGraph, "to_graph", None)
            for one, other in zip(answers(here), wanted, strict=True):
                np.testing.assert_array_equal(one, other)
        u, v = rng.integers(0, graph.n, (2, 20_000))
        graph.insert_edges(u[u != v], v[u != v], (1 + (u + v)[u != v] % 97).astype(np.int32))
        graph.delete_edges(*rng.integers(0, graph.n, (2, 20_000)))


def test_records_hold_what_arrays_do(gpu):
    """DH-25: records of 16 bytes and of 8, values of the batch in host memory and on the card."""
    memory = Memory(gpu)
    for kinds in ({"a": "f4", "b": "i4", "c": "u4", "d": "f4"}, {"a": "u1", "b": "f4", "c": "i2"}):
        fits = len(kinds) == 4
        start = cg.generate.kron(12, seed=1)
        made = [
            cg.DynamicGraph(start, weights="f4", properties=kinds, layout=layout, device=gpu)
            for layout in ("auto", "arrays")
        ]
        assert len(made[0].rows.pools) == (3 if fits else 5)
        rng = np.random.default_rng(5)
        for turn, regime in enumerate(("rows", "rewrite", "auto")):
            src, dst = rng.integers(0, start.n, (2, 3000))
            values = {name: rng.integers(0, 99, 3000).astype(kind) for name, kind in kinds.items()}
            if turn:
                values = {name: memory.upload(name, one) for name, one in values.items()}
            weights = rng.random(3000).astype(np.float32)
            for graph in made:
                graph.insert_edges(src, dst, weights, properties=values, regime=regime)
                graph.delete_edges(src[::3], dst[::3], regime=regime)
                graph.update_values(src[1::3], dst[1::3], properties={"b": np.full(1000, 7 + turn)})
        for u in (*src[:40].tolist(), 0, 1):
            for name in ("weights", *kinds):
                found, wanted = (graph.edge_values(u, name) for graph in made)
                np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [5000, 300_000])  # keys of an even and of an odd number of digits
def test_rows_of_edges_are_numpy_s(gpu, weighted, n):
    rng = np.random.default_rng(6)
    src, dst = rng.integers(0, n, (2, 400_000)) // rng.integers(1, 9, 400_000)
    weights = rng.integers(1, 50, 400_000).astype(np.float32) if weighted else None
    for wishes in ({"symmetrize": True, "dedup": True}, {"directed": True}):
        found, wanted = (
            cg.from_edges(src, dst, weights=weights, n=n, device=device, **wishes)
            for device in (gpu, None)
        )
        np.testing.assert_array_equal(found.indptr, wanted.indptr)
        np.testing.assert_array_equal(found.indices, wanted.indices)
        if weighted:
            np.testing.assert_array_equal(found.weights, wanted.weights)


def test_products_and_components_follow_blocks(gpu):
    rng = np.random.default_rng(7)
    for start in (cg.generate.road(200, 200, seed=1), cg.generate.kron(13, seed=1)):
        graph = cg.DynamicGraph(start, device=gpu)
        product, parts = cg.SpMV(graph), cg.dynamic.ConnectedComponents(graph, verify=True)
        x = rng.random(start.n).astype(np.float32)
        for _ in range(3):
            product.run(x, verify=True)
            assert parts.count == cg.connected_components(graph.to_graph(), device="pocl").count
            graph.insert_edges(*rng.integers(0, start.n, (2, 300)))
