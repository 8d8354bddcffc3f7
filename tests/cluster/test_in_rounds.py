"""Paths and components send as searches do: straight or in rounds, whichever a model says is less.

On one to eight ranks, of degenerate and real graphs: results of scipy, and bytes and rounds of a
model that is computed here.
"""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from graphs import SHAPES, load
from scipy.sparse.csgraph import connected_components, dijkstra
from sending import Counting, Placed, rounds_to_each, told_of

import clgraph as cg
from clgraph.cluster import sssp
from clgraph.cluster.parts.partition import PARTITIONS

DATA = Path(__file__).resolve().parents[1] / "data"
POCL = pytest.mark.runtimes("pocl")
RANKS = [pytest.param(p, marks=[pytest.mark.slow] * (p not in (1, 3, 5))) for p in range(1, 9)]
NAMES = (
    *("one-vertex", "one-self-loop", "no-edges", "one-edge", "one-way-path", "star"),
    *("two-components", "parallel-edges", "isolated-vertices", "last-vertex-only", "clique"),
)
REAL = ("classic-karate", "wiki-vote")
COSTS = (0, 300, 1 << 40)  # of a message, in bytes: straight, either, rounds


def graph_of(name):
    return SHAPES[name] if name in SHAPES else load(DATA / f"{name}.npz.xz")


def matrix(graph, values):
    shape = (graph.n, graph.n)
    return sp.csr_array((values, graph.indices, graph.indptr), shape=shape)


def weighted(graph):
    sources = np.repeat(np.arange(graph.n), graph.degrees)
    costs = 1 + (sources + graph.indices) % 7
    return cg.Graph(graph.indptr, graph.indices, costs, directed=graph.directed)


@pytest.mark.rest
@POCL
@pytest.mark.parametrize("ranks", RANKS)
def test_paths(ranks, device, monkeypatch):
    """What bins hold goes to its owners; all know how much that is, which is what counts here."""
    seen, ways = [], Counter()
    exchanged = sssp.bins_exchanged

    def noted(butterfly, part, counts):
        if part.rank == 0:
            seen.append(part.candidate_bytes * counts)
        return exchanged(butterfly, part, counts)

    monkeypatch.setattr(sssp, "bins_exchanged", noted)
    for name in (*NAMES, *REAL):
        if name == "parallel-edges":  # whose weights scipy adds up
            continue
        graph = weighted(graph_of(name))
        source = int(np.argmax(graph.degrees))
        comm = Counting([device] * ranks)
        plan = cg.cluster.SSSP(graph, comm, predecessors=True)
        expected = dijkstra(matrix(graph, graph.weights), indices=source)
        for comm.message_bytes in (None, *COSTS):
            seen.clear()
            comm.taken()
            result = plan.run(source, gather=False)
            rounds = comm.sent["rounds"]
            # A tree asks owners, which is not counted: nor are swaps.
            sent = comm.sent["mail"]
            lengths = np.where(
                result.distances == np.iinfo(result.distances.dtype).max, np.inf, result.distances
            )
            np.testing.assert_array_equal(lengths, expected)
            told = [
                told_of(straight, rounds_to_each(straight), comm.message_bytes)
                if comm.message_bytes is not None
                else (int(straight.sum()), int(straight.any()))
                for straight in seen
            ]
            stats = result.stats
            assert stats.sent_bytes == sent == sum(size for size, _ in told), name
            assert stats.rounds == len(seen)
            assert stats.message_rounds == sum(count for _, count in told)
            assert rounds == sum(count for _, count in told if count > 1)
            ways.update("rounds" if count > 1 else "straight" for _, count in told)
        plan.run(source, verify=True)
    assert (ways["rounds"] > 0) == (ranks > 3)
    assert ways["straight"]


def pairs_of(graph, edges):
    """How many vertices are not the smallest of their component, by some of the edges."""
    sources = np.repeat(np.arange(graph.n), graph.degrees)[edges]
    ends = sources, graph.indices[edges]
    known = sp.csr_array((np.ones(sources.size), ends), shape=(graph.n, graph.n))
    return graph.n - connected_components(known, directed=False)[0]


def united(graph, held, message_bytes):
    """Have the first know what all know; give bytes and rounds."""
    ranks = len(held)
    sizes = [8 * pairs_of(graph, edges) for edges in held]
    straight = np.zeros((ranks, ranks), np.int64)
    straight[1:, 0] = sizes[1:]
    # A rank is as many places from the first as bits say, and passes on at the lowest of them.
    hops = [1 << number for number in range((ranks - 1).bit_length())]
    most, at_most = list(sizes), []
    sent, knows = [], [edges.copy() for edges in held]
    for hop in hops:
        moving = [rank for rank in range(ranks) if -rank % ranks & (2 * hop - 1) == hop]
        at_most.append([most[rank] if rank in moving else 0 for rank in range(ranks)])
        sent += [8 * pairs_of(graph, knows[rank]) for rank in moving]
        for rank in moving:
            nearer = (rank + hop) % ranks
            most[nearer] = min(most[nearer] + most[rank], 8 * (graph.n - 1))
            knows[nearer] |= knows[rank]
    if message_bytes is None:
        return int(straight.sum()), int(straight.any())
    size, count = told_of(straight, at_most, message_bytes)
    return (sum(sent) if count > 1 else size), count


@POCL
@pytest.mark.parametrize("ranks", RANKS)
def test_components(ranks, device):
    """The first puts together what all have, and owners hear of it from there."""
    ways = Counter()
    for number, name in enumerate((*NAMES, *REAL)):
        graph = graph_of(name)
        partition = list(PARTITIONS)[(ranks + number) % 4]
        comm = Counting([device] * ranks)
        plan = cg.cluster.ConnectedComponents(graph, comm, partition=partition)
        count, labels = connected_components(matrix(graph, np.ones(graph.m)), directed=False)
        placed = Placed(graph, partition, ranks)
        held = [placed.holder == rank for rank in range(ranks)]
        dealt = np.zeros((ranks, ranks), np.int64)
        dealt[0] = 4 * np.bincount(placed.owner, minlength=ranks)
        dealt[0, 0] = 0
        for comm.message_bytes in (None, *COSTS):
            comm.taken()
            result = plan.run()
            rounds, sent = comm.sent["rounds"], comm.taken()
            assert result.count == count
            _, first = np.unique(labels, return_index=True)
            np.testing.assert_array_equal(first[result.labels], first[labels])
            told = [united(graph, held, comm.message_bytes)]
            told.append(
                told_of(dealt, rounds_to_each(dealt), comm.message_bytes)
                if comm.message_bytes is not None
                else (int(dealt.sum()), int(dealt.any()))
            )
            stats = result.stats
            assert stats.sent_bytes == sent == sum(size for size, _ in told), name
            assert stats.rounds == sum(count > 0 for _, count in told)
            assert stats.message_rounds == sum(count for _, count in told)
            assert rounds == sum(count for _, count in told if count > 1)
            ways.update("rounds" if count > 1 else "straight" for _, count in told)
        plan.run(verify=True)
    assert (ways["rounds"] > 0) == (ranks > 3)
    assert ways["straight"]
