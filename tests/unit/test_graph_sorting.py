"""Graphs of edge lists made on a device equal those that NumPy makes."""

import itertools

import numpy as np
import pytest

import clgraph as cg
from clgraph.engine.resident import resident

OPTIONS = [
    dict(zip(("directed", "symmetrize", "dedup", "self_loops"), flags, strict=True))
    for flags in itertools.product((True, False), repeat=4)
]


def check(device, edges, weights, **options):
    made = cg.from_edges(*edges, weights, device=device, **options)
    wanted = cg.from_edges(*edges, weights, **options)
    assert (made.n, made.directed) == (wanted.n, wanted.directed)
    for name in ("indptr", "indices", "weights"):
        found, right = getattr(made, name), getattr(wanted, name)
        assert (found is None) == (right is None)
        if right is not None:
            np.testing.assert_array_equal(found, right)
            assert found.dtype == right.dtype
    held = made.kept[resident][device]
    np.testing.assert_array_equal(held.indptr.read(), wanted.indptr)
    np.testing.assert_array_equal(held.indices.read(), wanted.indices)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_all_options(device, options):
    rng = np.random.default_rng(1)
    edges = rng.integers(0, 40, (2, 500))
    check(device, edges, None, **options)
    if options["directed"] or options["symmetrize"]:
        check(device, edges, rng.integers(0, 99, 500), **options)
    one_way = edges[:, edges[0] < edges[1]]
    both = np.concatenate([one_way, one_way[::-1], [[3, 3], [3, 3]]], axis=1)
    check(device, both, None, **options)
    costs = np.tile(rng.random(one_way.shape[1]), 2)
    check(device, both, np.concatenate([costs, [5.0, 6.0]]), **options)


@pytest.mark.parametrize("dtype", ["i4", "i8", "u4", "f4", "f8"])
def test_weights_of_any_type(any_device, dtype):
    rng = np.random.default_rng(2)
    edges = rng.integers(0, 30, (2, 2000)).astype(np.int32)
    weights = rng.integers(0, 2**31 - 1, 2000).astype(dtype)
    for dedup in (True, False):
        check(any_device, edges, weights, symmetrize=True, dedup=dedup)


def test_many_edges_and_few(any_device):
    rng = np.random.default_rng(3)
    check(any_device, rng.integers(0, 70_000, (2, 150_000)), None, symmetrize=True, dedup=True)
    check(any_device, ([0], [0]), None)
    check(any_device, ([5], [2]), [7], n=9)
    empty = cg.from_edges([], [], n=3, device=any_device)
    assert (empty.n, empty.m) == (3, 0)


def test_a_graph_made_there_is_not_uploaded_again(any_device):
    graph = cg.from_edges([0, 1, 2], [1, 2, 3], device=any_device)
    held = graph.kept[resident][any_device]
    assert cg.bfs(graph, 0, device=any_device).distances.tolist() == [0, 1, 2, 3]
    assert graph.kept[resident][any_device] is held
