"""Trusses on the dynamic store: KT-07 to KT-12, KT-14 and KT-15."""

import numpy as np
import pytest
from peeling import hub_and_cliques, random_graph, truss_numbers_of, truss_rounds_of, undirected

import clgraph as cg
from clgraph import dynamic
from clgraph.dynamic import contents
from clgraph.engine.sweeps import SweepLog
from clgraph.errors import InvalidArgumentError, VerificationError

on_both = pytest.mark.runtimes("pocl", "intel")
METHODS = ("subtract", "recount")


def mixed():
    return hub_and_cliques()


def dense():
    return random_graph(50, 600, 5)


def recounted(graph):
    """Supports of stored edges, from the matrix's square."""
    matrix = graph.to_graph().to_scipy().astype(np.int64)
    held = graph.to_graph()
    sources = np.repeat(np.arange(held.n), held.degrees)
    return np.asarray((matrix @ matrix)[sources, held.indices]).ravel()


def watched(monkeypatch):
    """What followers of supports were told: the version before and after, and the batch's graph."""
    seen = []
    advanced = dynamic.EdgeSupports.advanced

    def watch(self, steps, state, change):
        log = SweepLog()
        first = self.removed_rows(log, change.batch, change.bits, change.after.n)
        log.wait()
        keys = change.batch.keys.read(change.batch.count)
        seen.append((change, first.read(change.after.n + 1), keys))
        return advanced(self, steps, state, change)

    monkeypatch.setattr(dynamic.EdgeSupports, "advanced", watch)
    return seen


@on_both
@pytest.mark.parametrize("method", METHODS)
def test_kt12_and_kt15_both_variants_peel_the_same_store(device, method, monkeypatch):
    """Deletions alone, never a rebuilt store, rows that stay sorted, and the oracle's rounds."""
    for make in (mixed, dense):
        whole = make()
        graph = dynamic.DynamicGraph(whole, device=device, block_edges=64)
        deleted, version = [], graph.version
        delete = dynamic.DynamicGraph.delete_edges

        def counted(self, *ends, deleted=deleted, delete=delete, **more):
            result = delete(self, *ends, **more)
            deleted.append((result.gone, result.absent + result.repeated))
            for v in range(self.n):
                assert (np.diff(self.neighbors(v)) > 0).all()
            return result

        with monkeypatch.context() as patched:
            patched.setattr(dynamic.DynamicGraph, "delete_edges", counted)
            patched.setattr(dynamic.DynamicGraph, "insert_edges", None)
            patched.setattr(dynamic.DynamicGraph, "to_graph", None)  # nor packed anew
            peeled = dynamic.peel_trusses(graph, method=method)
        rounds = truss_rounds_of(whole)
        assert list(zip(peeled.rounds["k"], peeled.rounds["removed"], strict=True)) == rounds
        assert deleted == [(removed, 0) for _, removed in rounds]
        assert graph.version == version + len(rounds)
        numbers = {}
        for u, v, number in zip(peeled.src, peeled.dst, peeled.numbers, strict=True):
            numbers[u, v] = numbers[v, u] = number
        sources = np.repeat(np.arange(whole.n), whole.degrees)
        found = [numbers[edge] for edge in zip(sources, whole.indices, strict=True)]
        np.testing.assert_array_equal(found, truss_numbers_of(whole))
        assert peeled.max_k == truss_numbers_of(whole).max()


@on_both
def test_one_k_leaves_its_truss_in_the_graph(device):
    whole = mixed()
    numbers = truss_numbers_of(whole)
    for k in (2, 4, 12, int(numbers.max()), int(numbers.max()) + 1):
        for method in METHODS:
            graph = dynamic.DynamicGraph(whole, device=device)
            peeled = dynamic.peel_trusses(graph, k, method=method)
            assert peeled.max_k is None
            assert graph.m == (numbers >= k).sum()
            left = graph.to_graph()
            sources = np.repeat(np.arange(whole.n), whole.degrees)
            np.testing.assert_array_equal(left.indices, whole.indices[numbers >= k])
            np.testing.assert_array_equal(
                left.degrees, np.bincount(sources[numbers >= k], minlength=whole.n)
            )


@on_both
def test_kt14_the_graph_of_a_batch_has_sorted_rows(device, monkeypatch):
    """For every batch: both directions, row by row, ascending."""
    seen = watched(monkeypatch)
    graph = dynamic.DynamicGraph(dense(), device=device)
    peeled = dynamic.peel_trusses(graph)
    assert len(seen) == len(peeled.rounds)
    at = 0
    for (change, first, keys), removed in zip(seen, peeled.rounds["removed"], strict=True):
        src, dst = peeled.src[at : at + removed], peeled.dst[at : at + removed]
        at += removed
        ends = np.concatenate([src, dst]), np.concatenate([dst, src])
        order = np.lexsort(ends[::-1])
        sources, targets = keys >> np.uint64(change.bits), keys & np.uint64((1 << change.bits) - 1)
        np.testing.assert_array_equal(sources, ends[0][order])
        np.testing.assert_array_equal(targets, ends[1][order])
        counts = np.bincount(ends[0], minlength=change.after.n)
        np.testing.assert_array_equal(np.diff(first.astype(int)), counts)


@on_both
def test_kt07_to_kt09_each_set_of_edges_of_a_triangle(device):
    """One edge costs the others one each, two cost the third one, three cost nobody."""
    for corners in ((0, 1, 2), (2, 0, 1), (1, 2, 0)):
        for chosen in range(1, 8):
            # A fourth vertex next to all: every edge of the triangle is in one more.
            src, dst = np.array([corners[0], corners[1], corners[2]]), np.roll(corners, -1)
            graph = dynamic.DynamicGraph(
                undirected(np.append(src, [0, 1, 2]), np.append(dst, [3, 3, 3])), device=device
            )
            supports = dynamic.EdgeSupports(graph)
            assert (supports.supports == 2).all()
            batch = [edge for edge in range(3) if chosen >> edge & 1]
            graph.delete_edges(src[batch], dst[batch])
            np.testing.assert_array_equal(supports.supports, recounted(graph))
            assert (supports.updates, supports.recounts) == (1, 1)


def test_kt10_random_batches_leave_what_a_recount_gives(device):
    rng = np.random.default_rng(4)
    for make in (mixed, dense):
        graph = dynamic.DynamicGraph(make(), device=device)
        supports = dynamic.EdgeSupports(graph, verify=True)
        np.testing.assert_array_equal(supports.supports, recounted(graph))
        for share in (0.02, 0.3, 0.7):
            sources, targets, _ = graph.to_graph().listed_edges()
            gone = rng.random(len(sources)) < share
            graph.delete_edges(sources[gone], targets[gone])
            np.testing.assert_array_equal(supports.supports, recounted(graph))
        assert supports.recounts == 1
        graph.insert_edges([0, 1], [9, 9])
        np.testing.assert_array_equal(supports.supports, recounted(graph))


def test_supports_of_rows_that_are_written_elsewhere(any_device):
    graph = dynamic.DynamicGraph(mixed(), device=any_device)
    supports = dynamic.EdgeSupports(graph)
    rng = np.random.default_rng(6)
    for _ in range(2):
        sources, targets, _ = graph.to_graph().listed_edges()
        gone = rng.random(len(sources)) < 0.3
        graph.delete_edges(sources[gone], targets[gone], regime="rows")
        np.testing.assert_array_equal(supports.supports, recounted(graph))
        places = graph.rows.pointer.read(graph.n)
        graph.compact()
        assert (graph.rows.pointer.read(graph.n) != places).any()  # or this tests nothing
        np.testing.assert_array_equal(supports.supports, recounted(graph))


def test_supports_are_of_places_of_32_bits(pocl, monkeypatch):
    monkeypatch.setattr(contents, "WIDE_FROM", 0)
    graph = dynamic.DynamicGraph(cg.generate.complete(4), device=pocl)
    with pytest.raises(InvalidArgumentError, match="32-bit places"):
        _ = dynamic.EdgeSupports(graph).supports


def test_what_is_refused_and_found_wrong(pocl):
    with pytest.raises(InvalidArgumentError, match="subtract, recount"):
        dynamic.peel_trusses(dynamic.DynamicGraph(n=3, directed=False, device=pocl), method="x")
    with pytest.raises(InvalidArgumentError, match="use k=2"):
        dynamic.peel_trusses(dynamic.DynamicGraph(n=3, directed=False, device=pocl), 1)
    with pytest.raises(InvalidArgumentError, match="directed=False"):
        dynamic.peel_trusses(dynamic.DynamicGraph(n=3, device=pocl))
    empty = dynamic.peel_trusses(dynamic.DynamicGraph(n=3, directed=False, device=pocl))
    assert (empty.max_k, len(empty.src), len(empty.rounds)) == (0, 0, 0)
    graph = dynamic.DynamicGraph(cg.generate.complete(4), device=pocl)
    supports = dynamic.EdgeSupports(graph, verify=True)
    state = supports.state
    state.values.write(state.values.read() + np.uint32(1))
    with pytest.raises(VerificationError, match="supports that were kept"):
        _ = supports.supports
