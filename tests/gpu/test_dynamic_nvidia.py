"""Batches in place and the sort by look-back on a card, against NumPy; seconds in all."""

import numpy as np
import pytest

import clgraph as cg
from clgraph.device import Memory
from clgraph.engine.sweeps import SweepLog
from clgraph.primitives.stages import RadixSort

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
        one = 1 if gpu.traits.grid_barrier else 3
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
