"""One to eight ranks, every partition: results of one device, and as many bytes as a model says."""

from collections import Counter

import numpy as np
import pytest
from graphs import SHAPES
from searches import MIXED, MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES, MIXED_SOURCES, check_search

import clgraph as cg
from clgraph.cluster.parts.partition import PARTITIONS

POCL = pytest.mark.runtimes("pocl")
# Even numbers are also in test_ranks_together.
RANKS = [pytest.param(p, marks=[pytest.mark.slow] * (p in (2, 4, 6))) for p in range(1, 9)]
GRAPHS = {
    "mixed": (MIXED, MIXED_SOURCES[:2]),
    "one-way": (MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES[:2]),
    # Fewer vertices than ranks, none in some ranges, a row longer than a rank's share.
    **{
        name: (SHAPES[name], (0, SHAPES[name].n - 1))
        for name in ("one-vertex", "no-edges", "self-loops", "star", "path", "two-components")
    },
}


class Counting(cg.cluster.Together):
    """Ranks whose messages are counted, whatever they are for."""

    def __init__(self, *args):
        super().__init__(*args)
        self.sent = Counter()

    def mail(self, requests):
        for rank, request in enumerate(requests):
            assert all(piece.peer != rank for piece in request.sends)
            self.sent["mail"] += sum(piece.size_bytes for piece in request.sends)
        return super().mail(requests)

    def swap(self, requests):
        for rank, request in enumerate(requests):
            for peer, array in enumerate(request.arrays):
                self.sent["swap"] += array.nbytes * (peer != rank)
        return super().swap(requests)

    def taken(self):
        """Give the bytes since the last time."""
        counted, self.sent = self.sent, Counter()
        return counted["mail"] + counted["swap"]


class Placed:
    """Who has what, by the rules of docs/several-devices.md."""

    def __init__(self, graph, name, ranks):
        self.ranks = ranks
        self.sources = np.repeat(np.arange(graph.n), graph.degrees)
        self.targets = np.asarray(graph.indices, np.int64)
        vertices = np.arange(graph.n)
        words = -(-graph.n // 64)
        ends = [min(words * part // ranks * 64, graph.n) for part in range(1, ranks + 1)]
        ranges = np.searchsorted(ends, vertices, side="right")
        self.owner = ranges if name == "block" else vertices % ranks
        self.holder = self.owner[self.sources]
        self.told = np.zeros(graph.n, np.int64)  # how many others have rows of a vertex
        if name == "2d":
            lines = max(d for d in range(1, ranks + 1) if ranks % d == 0 and d * d <= ranks)
            columns = ranks // lines
            line = self.owner[self.targets] // columns
            self.holder = line * columns + self.sources % columns
            self.told[:] = lines - 1
        elif name == "1.5d":
            hubs = graph.degrees > graph.m / (4 * ranks)
            self.holder = np.where(hubs[self.sources], self.owner[self.targets], self.holder)
            self.told[hubs] = ranks - 1


def bytes_of_candidates(placed, source, distances, levels, tree):
    """A rank sends a vertex once, to its owner; owners pass new ones on."""
    ranks = range(placed.ranks)
    claimed = np.zeros((placed.ranks, distances.size), bool)
    claimed[:, source] = True
    sent = []
    for level in range(levels):
        count = 0
        for rank in ranks:
            expanded = (distances[placed.sources] == level) & (placed.holder == rank)
            found = np.unique(placed.targets[expanded])
            found = found[~claimed[rank, found]]
            claimed[rank, found] = True
            count += np.count_nonzero(placed.owner[found] != rank) * (8 if tree else 4)
        sent.append(count + 8 * int(placed.told[distances == level + 1].sum()))
    return sent


def bytes_of_bits(placed, graph, distances, ways):
    """A bit for each vertex, or a list where that is less, by who has edges of the frontier."""
    whole = 8 * -(-graph.n // 64)
    sent = []
    for level, way in enumerate(ways):
        edges = np.bincount(
            placed.owner[distances == level],
            weights=graph.degrees[distances == level],
            minlength=placed.ranks,
        )
        lists, pushing = 4 * (edges + 1), edges > 0
        if way == "pull":
            size = whole
        elif (lists <= whole).all() and lists.sum() < whole * placed.ranks:
            size = lists[pushing].sum()
        else:
            size = whole * pushing.sum()
        sent.append(int(size) * (placed.ranks - 1))
    return sent


@POCL
@pytest.mark.parametrize("partition", PARTITIONS)
@pytest.mark.parametrize("ranks", RANKS)
def test_searches(ranks, partition, device):
    """Distances, trees, and the bytes of each level."""
    for name, (graph, sources) in GRAPHS.items():
        comm = Counting([device] * ranks)
        tree = name != "path"
        plan = cg.cluster.BFS(graph, comm, predecessors=tree, partition=partition)
        assert plan.partition.name == partition
        placed = Placed(graph, partition, ranks)
        for source in sources:
            comm.taken()
            result = plan.run(source)
            counted = comm.taken()
            check_search(graph, source, result)
            stats = result.stats
            assert stats.exchanged_bytes.sum() == counted
            if partition == "block":
                expected = bytes_of_bits(placed, graph, result.distances, stats.directions)
            else:
                levels = len(stats.directions)
                expected = bytes_of_candidates(placed, source, result.distances, levels, tree)
            assert stats.exchanged_bytes.tolist() == expected, name
            plan.run(source, verify=True)


@POCL
@pytest.mark.parametrize("ranks", RANKS)
def test_components_paths_and_ranks(ranks, device):
    """What they say that ranks sent is what these sent, and by the model."""
    partition = list(PARTITIONS)[ranks % 4]
    for name, (graph, (source, *_)) in GRAPHS.items():
        comm = Counting([device] * ranks)
        plan = cg.cluster.ConnectedComponents(graph, comm, partition=partition)
        comm.taken()
        result = plan.run()
        assert result.stats.sent_bytes == comm.taken(), name
        alone = cg.connected_components(graph, device=device)
        np.testing.assert_array_equal(result.labels, alone.labels)
        # In each step at most 8 bytes of each vertex from one of two, at last 4 from the first.
        assert result.stats.sent_bytes <= (8 * (ranks - 1) + 4) * graph.n
        costs = 1 + (np.repeat(np.arange(graph.n), graph.degrees) + graph.indices) % 7
        weighted = cg.Graph(graph.indptr, graph.indices, costs, directed=graph.directed)
        paths = cg.cluster.SSSP(weighted, comm)
        comm.taken()
        found = paths.run(source)
        assert found.stats.sent_bytes == comm.taken(), name
        expected = cg.sssp(weighted, source, device=device)
        np.testing.assert_array_equal(found.distances, expected.distances)
        if name not in ("mixed", "star"):
            continue
        ranking = cg.cluster.PageRank(graph, comm, dtype="float64")
        comm.taken()
        ranked = ranking.run()
        assert ranked.stats.sent_bytes == comm.taken(), name
        placed = Placed(graph, "block", ranks)
        # A rank, and a vertex that has edges into its own.
        pairs = np.unique(placed.holder * graph.n + placed.targets)
        others = np.count_nonzero(placed.owner[pairs % graph.n] != pairs // graph.n)
        each = 8 * graph.n * (ranks - 1)
        assert ranked.stats.sent_bytes == 16 * others + ranked.iterations * each
        one = cg.pagerank(graph, device=device)
        np.testing.assert_allclose(ranked.ranks, one.ranks, rtol=1e-9)
