"""One to eight ranks, every partition: results of one device, and as many bytes as a model says."""

from collections import Counter

import numpy as np
import pytest
from graphs import SHAPES
from searches import MIXED, MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES, MIXED_SOURCES, check_search
from sending import (
    Counting,
    Placed,
    bits_sent,
    bytes_of_bits,
    bytes_of_candidates,
    candidates_sent,
    rounds_to_all,
    rounds_to_each,
    told_of,
)

import clgraph as cg
from clgraph.cluster import running_on
from clgraph.cluster.parts import bits
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


@pytest.mark.rest
@POCL
@pytest.mark.parametrize(
    "ranks", [pytest.param(p, marks=[pytest.mark.slow] * (p not in (3, 5))) for p in range(1, 9)]
)
def test_straight_or_in_rounds(ranks, device):
    """Whichever is less, by bytes and messages: distances, trees, bytes of each level, rounds."""
    ways = Counter()
    pushing = cg.BFSConfig(frontier="status", pull=cg.pull.Never())  # bitmaps of all ranks
    for partition, name, config in (
        *(("block", name, pushing) for name in ("mixed", "one-way")),
        *(("block", name, None) for name in ("mixed", "star", "no-edges", "one-vertex")),
        *(("cyclic", name, None) for name in ("mixed", "two-components", "one-vertex")),
        ("2d", "one-way", None),
    ):
        graph, (source, *_) = GRAPHS[name]
        comm = Counting([device] * ranks)
        plan = cg.cluster.BFS(graph, comm, predecessors=True, partition=partition, config=config)
        placed = Placed(graph, partition, ranks)
        for message_bytes in (0, 200, 1 << 40):
            comm.message_bytes = message_bytes
            comm.taken()
            result = plan.run(source)
            rounds = comm.sent["rounds"]
            counted = comm.taken()
            check_search(graph, source, result)
            stats, distances = result.stats, result.distances
            expected = []
            if partition == "block":
                for sizes, unite in bits_sent(placed, graph, distances, stats.directions):
                    straight = np.repeat(sizes[:, None], ranks, axis=1)
                    np.fill_diagonal(straight, 0)
                    expected.append(told_of(straight, rounds_to_all(sizes, unite), message_bytes))
            else:
                levels = len(stats.directions)
                sent = candidates_sent(placed, source, distances, levels, True)
                for level, straight in enumerate(sent):
                    size, count = told_of(straight, rounds_to_each(straight), message_bytes)
                    told = 8 * int(placed.told[distances == level + 1].sum())
                    expected.append((size + told, count))
            assert stats.exchanged_bytes.tolist() == [size for size, _ in expected]
            assert stats.exchanged_bytes.sum() == counted
            told = stats.per_level["rounds"].tolist()
            assert told == [count for _, count in expected][: len(told)]
            assert rounds == sum(count for _, count in expected if count > 1)
            ways.update("rounds" if count > 1 else "straight" for _, count in expected)
    assert (ways["rounds"] > 0) == (ranks > 3)  # three send twice as well as in two rounds
    assert ways["straight"]


@POCL
@pytest.mark.parametrize("ranks", RANKS)
def test_who_has_the_frontier_alone_runs_on(ranks, device):
    """A path in blocks is launched, looked at and exchanged where it leaves a block."""
    graph = cg.generate.path(1500)
    borders = np.count_nonzero(np.diff(Placed(graph, "block", ranks).owner))
    comm = Counting([device] * ranks)
    comm.runs_on = True
    plan = cg.cluster.BFS(graph, comm, predecessors=True, partition="block")
    runs = borders + 1 if ranks > 1 else 2  # of 1,024 levels at most
    for source in (0, graph.n - 1):
        for comm.message_bytes in (None, 1 << 40):
            comm.taken()
            result = plan.run(source)
            # Who begins; what came of each run; what is there behind a border; and how much it was.
            assert comm.sent["looks"] == 1 + runs + borders + 1
            check_search(graph, source, result)
            stats = result.stats
            assert np.count_nonzero(stats.per_level["rounds"]) == borders
            assert (stats.frontiers == 1).all()
            assert set(stats.directions) == {"push"}
            # What a block has is more than its bitmap, so nobody marks what others list.
            assert stats.launches == ranks + runs + borders * ranks
            sizes = np.array([8 * 24] + [0] * (ranks - 1))
            straight = np.repeat(sizes[:, None], ranks, axis=1)
            straight[0, 0] = 0
            cost = 0 if comm.message_bytes is None else comm.message_bytes
            each, _ = told_of(straight, rounds_to_all(sizes, True) if cost else [[1 << 50]], cost)
            assert stats.exchanged_bytes.sum() == comm.taken() == borders * each
        check_search(graph, source, plan.run(source, max_depth=700), max_depth=700)
        assert plan.run(source, verify=True).distances[source] == 0


@pytest.mark.rest
@POCL
@pytest.mark.parametrize("ranks", [2, pytest.param(5, marks=pytest.mark.slow)])
def test_searches_with_levels_run_alone(ranks, device, monkeypatch):
    """Narrow levels before, between and after wide ones; lists that run over; paths that wander."""
    monkeypatch.setattr(bits, "NARROW_EDGES", 40)
    monkeypatch.setattr(running_on, "NARROW_EDGES", 40)
    monkeypatch.setattr(running_on, "MOST_ALONE", 7)
    order = np.random.default_rng(5).permutation(300)
    wandering = cg.from_edges(order[:-1], order[1:], n=300, symmetrize=True)
    # Between two halves, so that each level leaves its rank.
    to_and_fro = np.arange(256).reshape(2, 128).T.ravel()
    leaving = cg.from_edges(to_and_fro[:-1], to_and_fro[1:], symmetrize=True)
    core = cg.generate.kron(9, seed=2)
    src, dst, _ = core.listed_edges()
    tail = np.concatenate([[int(np.argmax(core.degrees))], np.arange(core.n, core.n + 150)])
    tailed = cg.from_edges(
        np.concatenate([src, tail[:-1]]), np.concatenate([dst, tail[1:]]), symmetrize=True
    )
    cases = {
        "tailed": (tailed, (0, tailed.n - 1, core.n + 90)),
        "grid": (cg.generate.grid2d(60, 6), (0, 200, 359)),
        "leaving": (leaving, (0, 255)),
        "wandering": (wandering, (int(order[0]), int(order[150]))),
        "mixed": (MIXED, MIXED_SOURCES),
        "one-way": (MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES),
        "no-edges": (SHAPES["no-edges"], (0,)),
        "self-loops": (SHAPES["self-loops"], (0, SHAPES["self-loops"].n - 1)),
    }
    for pull in (cg.pull.ByEdges(), cg.pull.ByHubs()):
        config = cg.BFSConfig(frontier="status", pull=pull)
        for name, (graph, sources) in cases.items():
            comm = Counting([device] * ranks)
            comm.runs_on = True
            plan = cg.cluster.BFS(graph, comm, predecessors=True, config=config)
            for source, comm.message_bytes in zip(sources, (None, 1 << 40, 200), strict=False):
                comm.taken()
                result = plan.run(source)
                looks, sent = comm.sent["looks"], comm.taken()
                check_search(graph, source, result)
                assert result.stats.exchanged_bytes.sum() == sent
                found = np.bincount(result.distances[result.distances >= 0])
                np.testing.assert_array_equal(result.stats.frontiers, found)
                # Running on is left where it saves nothing.
                assert looks <= 1.25 * result.stats.levels + 12, name
            plan.run(sources[0], verify=True)


@pytest.mark.rest
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


@pytest.mark.rest
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
