"""Ranks of one process: partitions, slices, paths and components equal to one device's."""

import dataclasses
import threading

import numpy as np
import pytest
from graphs import SHAPES, graphs
from hypothesis import given, settings
from searches import MIXED, MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES, MIXED_SOURCES, check_search

import clgraph as cg
from clgraph.cluster.findings import DividedFindings
from clgraph.cluster.multi_search import dealt
from clgraph.cluster.parts import slices as slices_module
from clgraph.cluster.parts.partition import PARTITIONS, Grid, chosen, made
from clgraph.cluster.parts.slices import FileSlices, GraphSlices, Kronecker
from clgraph.cluster.ranks.comm import AllGather, Mail, Piece, Swap, run
from clgraph.cluster.ranks.together import messages_of

ONE_RUNTIME = pytest.mark.runtimes("intel")
HEAD = b"\0" + (2).to_bytes(8, "little") + (1).to_bytes(8, "little")  # two edges, a vertex
NOBODY = np.zeros(0, np.int64)


def together(device, ranks):
    return cg.cluster.Together([device] * ranks)


@pytest.mark.parametrize("name", PARTITIONS)
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 6, 8])
def test_every_edge_is_held_once(name, ranks):
    """Every vertex has an owner and every edge a holder, who has a row for it."""
    hubs = np.sort(np.argsort(-MIXED.degrees)[:5])
    parts = made(name, MIXED.n, ranks, hubs)
    owners = parts.owner(np.arange(MIXED.n))
    for rank, share in enumerate(parts.shares):
        names = share.names
        np.testing.assert_array_equal(np.flatnonzero(owners == rank), names)
        np.testing.assert_array_equal(parts.owned(names, rank), np.arange(names.size))
    edge_sources = np.repeat(np.arange(MIXED.n), MIXED.degrees)
    edge_targets = np.asarray(MIXED.indices)
    holders = parts.holder(edge_sources, edge_targets)
    for rank in range(ranks):
        rows = parts.rows(rank)
        numbers = rows.numbers(edge_sources[holders == rank])
        assert (numbers < rows.count).all()
        np.testing.assert_array_equal(rows.names[numbers], edge_sources[holders == rank])
    if not parts.spreads:
        return
    # Whoever has a row with edges of a vertex is told of it by its owner, and nobody else.
    for rank in range(ranks):
        names = parts.shares[rank].names
        for peer, told in enumerate(parts.spread(rank, names)):
            wanted = np.unique(edge_sources[(holders == peer) & (owners[edge_sources] == rank)])
            assert np.isin(wanted, told).all()
            assert (parts.rows(peer).numbers(told) < parts.rows(peer).count).all()


def test_partitions_follow_from_the_graph():
    assert chosen(1000, 9000, 4, 10, bits=True) == "block"
    assert chosen(1000, 9000, 4, 10, bits=False) == "cyclic"
    assert chosen(1000, 9000, 4, 3000, bits=False) == "1.5d"
    assert chosen(1000, 9000, 16, 10, bits=False) == "2d"
    assert chosen(1000, 9000, 17, 10, bits=False) == "cyclic"  # a single line
    assert (Grid(0, 12).lines, Grid(0, 12).columns) == (3, 4)
    with pytest.raises(cg.InvalidArgumentError, match="not one of block, cyclic"):
        made("3d", 10, 2, NOBODY)


@ONE_RUNTIME
@pytest.mark.parametrize("ranks", [2, 4, pytest.param(6, marks=pytest.mark.slow)])
@pytest.mark.parametrize("partition", ["cyclic", "2d", "1.5d"])
def test_partitions_equal_one_device(partition, ranks, device):
    for graph, sources in ((MIXED, MIXED_SOURCES), (MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES)):
        plan = cg.DividedBFS(graph, [device] * ranks, predecessors=True, partition=partition)
        assert plan.partition.name == partition
        for source in sources:
            result = plan.run(source, verify=True)
            check_search(graph, source, result)
            reached = result.distances >= 0
            assert result.stats.edges_traversed == graph.degrees[reached].sum()
        check_search(graph, sources[3], plan.run(sources[3], max_depth=3), max_depth=3)


@ONE_RUNTIME
def test_bytes_of_a_grid_by_its_model(device):
    """What is found goes along a row of ranks, what is new along a column: 4 and 8 bytes each."""
    plan = cg.DividedBFS(MIXED, [device] * 4, partition="2d")
    result = plan.run(MIXED_SOURCES[1])
    levels = result.distances
    expected = np.zeros(result.stats.levels, np.int64)
    edge_sources = np.repeat(np.arange(MIXED.n), MIXED.degrees)
    edge_targets = np.asarray(MIXED.indices, np.int64)
    holders = plan.partition.holder(edge_sources, edge_targets)
    owners = plan.partition.owner(np.arange(MIXED.n))
    claimed = np.zeros((4, MIXED.n), bool)
    claimed[:, MIXED_SOURCES[1]] = True
    for level in range(result.stats.levels):
        for rank in range(4):
            found = np.unique(edge_targets[(levels[edge_sources] == level) & (holders == rank)])
            found = found[~claimed[rank, found]]
            claimed[rank, found] = True
            expected[level] += 4 * np.count_nonzero(owners[found] != rank)
        expected[level] += 8 * np.count_nonzero(levels == level + 1)  # one other in the column
    sent = result.stats.exchanged_bytes
    np.testing.assert_array_equal(sent[: result.stats.levels], expected)
    assert not sent[result.stats.levels :].any()  # the last exchange finds that there is nothing


@ONE_RUNTIME
def test_a_wrong_result_is_found_out(device):
    """Verification sees a distance, or a predecessor, that one rank has wrong."""
    plan = cg.DividedBFS(MIXED, [device] * 3, predecessors=True, config="merrill-two-phase")
    source = MIXED_SOURCES[0]
    part, levels = plan.parts[1], np.iinfo(np.int32).max
    for array, change in (("distances", 1), ("distances", -1), ("predecessors", 1)):
        plan.run(source)
        held = getattr(part, array)
        values = held.read()
        values[np.flatnonzero(values > 0)[5]] += change
        held.write(values)
        with pytest.raises(cg.VerificationError, match="rank"):
            run(plan.comm, plan._checks(source, levels))
    plan.run(source, verify=True)


@pytest.mark.rest
@ONE_RUNTIME
@pytest.mark.parametrize(
    "dtype", [np.int32, np.float64, pytest.param(np.float32, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("ranks", [1, 3])
def test_shortest_paths(ranks, dtype, device):
    """Distances of one device, to the last bit, and trees, also along edges of no weight."""
    for base, sources in ((MIXED, MIXED_SOURCES), (MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES)):
        edge_sources = np.repeat(np.arange(base.n), base.degrees)
        edge_targets = np.asarray(base.indices, np.int64)
        low, high = np.minimum(edge_sources, edge_targets), np.maximum(edge_sources, edge_targets)
        costs = ((low * 7919 + high * 104729) % 20 / 3).astype(dtype)
        graph = cg.Graph(base.indptr, base.indices, costs, directed=base.directed)
        plan = cg.cluster.SSSP(graph, together(device, ranks), predecessors=True)
        for source in sources[:4]:
            result = plan.run(source, verify=True)
            expected = cg.sssp(graph, source, device=device).distances
            np.testing.assert_array_equal(result.distances, expected)
            assert result.distances.dtype == expected.dtype
    with pytest.raises(cg.InvalidArgumentError, match="not negative"):
        cg.cluster.SSSP(cg.from_edges([0], [1], [-1]), together(device, 2))
    with pytest.raises(cg.InvalidArgumentError, match="no weights"):
        cg.cluster.SSSP(MIXED, together(device, 2))


@pytest.mark.parametrize("most", [np.int32(2**31 - 2), np.int64(2**63 - 2), 1.7e308])
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_a_path_that_is_too_long_is_no_missing_path(ranks, most, pocl):
    """It was told as one by ranks."""
    path = cg.from_edges([0, 1, 3], [1, 2, 4], np.full(3, most))
    plan = cg.cluster.SSSP(path, together(pocl, ranks))
    assert plan.run(1).distances.tolist()[1:3] == [0, most]
    with pytest.raises(cg.DistanceOverflowError, match="over edge 1 -> 2 is longer"):
        plan.run(0)
    assert plan.run(3).distances.tolist()[3:] == [0, most]


def test_ranks_take_names_of_devices(pocl):
    for names in (["pocl"], [pocl, "pocl"]):
        ranks = cg.cluster.Together(names)
        assert cg.cluster.BFS(cg.generate.path(3), ranks).run(0).distances.tolist() == [0, 1, 2]
    for wrong in ([], "pocl", None):
        with pytest.raises(cg.InvalidArgumentError, match="in a list"):
            cg.cluster.Together(wrong)


@pytest.mark.rest
@ONE_RUNTIME
def test_components_and_ranks(device):
    for graph in (MIXED, MIXED_ONE_WAY, SHAPES["two-components"], SHAPES["no-edges"]):
        alone = cg.connected_components(graph, device=device)
        one = cg.pagerank(graph, device=device)
        for ranks, partition in ((1, None), (3, "2d"), (5, "block"), (4, "1.5d")):
            comm = together(device, ranks)
            found = cg.cluster.ConnectedComponents(graph, comm, partition=partition)
            result = found.run(verify=True)
            np.testing.assert_array_equal(result.labels, alone.labels)
            assert result.count == alone.count
            rounds = 2 if ranks > 1 else 0  # to the first rank, and back
            assert (
                result.stats.rounds == rounds if graph is MIXED else result.stats.rounds <= rounds
            )
            ranking = cg.cluster.PageRank(graph, comm).run()
            np.testing.assert_allclose(ranking.ranks, one.ranks, rtol=1e-9)
            assert ranking.iterations == one.iterations


@settings(max_examples=12)
@given(graph=graphs(max_vertices=20, max_edges=60))
def test_any_graph(any_device, graph):
    alone = cg.connected_components(graph, device=any_device)
    for partition in ("2d", "1.5d"):
        plan = cg.DividedBFS(graph, [any_device] * 4, predecessors=True, partition=partition)
        check_search(graph, 0, plan.run(0, verify=True))
    found = cg.cluster.ConnectedComponents(graph, together(any_device, 3)).run()
    np.testing.assert_array_equal(found.labels, alone.labels)


@pytest.mark.parametrize("name", ["mixed.sg", "mixed.npz", "mixed.el", "mixed.wel"])
def test_slices_of_files(name, tmp_path):
    """Together they are the file's edges, however many ranks read it."""
    cg.write(MIXED_ONE_WAY, tmp_path / name)
    edge_sources = np.repeat(np.arange(MIXED.n), MIXED_ONE_WAY.degrees)
    for ranks in (1, 2, 7, 64):
        parts = [FileSlices(tmp_path / name).read(rank, ranks) for rank in range(ranks)]
        src = np.concatenate([part.src for part in parts])
        dst = np.concatenate([part.dst for part in parts])
        order = np.lexsort((dst, src))
        np.testing.assert_array_equal(src[order], edge_sources)
        np.testing.assert_array_equal(dst[order], MIXED_ONE_WAY.indices)
        assert (
            max(part.src.size for part in parts)
            < 3 * MIXED_ONE_WAY.m / ranks + MIXED_ONE_WAY.max_degree
        )


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("short.sg", b"\0" * 5),
        ("lies.sg", b"\0" + (10**12).to_bytes(8, "little") + (10**9).to_bytes(8, "little")),
        ("no.npz", b"PK nothing"),
        ("words.el", b"0 1\none two\n"),
        ("lone.el", b"0 1\n5\n"),
        ("negative.el", b"0 1\n-3 2\n"),
        ("many.el", b"0 9223372036854775807\n"),
        ("more.el", b"0 4294967296\n"),
        ("most.el", b"0 99999999999999999999\n"),
        ("trailing.sg", HEAD + b"\0" * 8 + b"\1" + b"\0" * 15),
        ("leading.sg", HEAD + b"\1" + b"\0" * 7 + b"\2" + b"\0" * 15),
    ],
)
def test_hostile_files(name, content, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(cg.GraphFormatError, match=name):
        FileSlices(tmp_path / name).read(0, 1)


@pytest.mark.parametrize(
    "arrays",
    [
        {"indptr": [], "indices": [0]},
        {"indptr": [0.0, 1.5, 2.0], "indices": [1, 0]},
        {"indptr": [0, 1, 2], "indices": [1.5, 0.5]},
        {"indptr": [0, 1, 1], "indices": [1, 0]},
        {"indptr": [1, 1, 2], "indices": [1, 0]},
        {"indptr": [[0, 1, 2]], "indices": [1, 0]},
        {"indptr": [0, 1, 2], "indices": [1, 0], "weights": [1.0]},
    ],
)
def test_hostile_archives(arrays, tmp_path):
    np.savez(tmp_path / "odd.npz", **{name: np.array(value) for name, value in arrays.items()})
    slices = FileSlices(tmp_path / "odd.npz")
    for ranks in (1, 2):
        with pytest.raises(cg.GraphFormatError, match=r"odd\.npz"):
            _ = [slices.read(rank, ranks) for rank in range(ranks)]


def test_what_cannot_be_sliced(tmp_path):
    with pytest.raises(cg.InvalidArgumentError, match="convert it to one of"):
        FileSlices(tmp_path / "graph.mtx")
    with pytest.raises(cg.InvalidArgumentError, match="from 0 to 31"):
        Kronecker(50)


@ONE_RUNTIME
def test_drawn_graphs_do_not_depend_on_the_ranks(device, monkeypatch):
    """Edges are drawn in blocks with random numbers of their own."""
    monkeypatch.setattr(slices_module, "BLOCK", 500)
    drawn = Kronecker(9, 8, seed=2)
    found = []
    for ranks in (1, 2, 5):
        plan = cg.cluster.BFS(drawn, together(device, ranks), predecessors=True)
        result = plan.run(3, verify=True)
        found.append((plan.facts.m, result.distances.tolist()))
    assert found[0] == found[1] == found[2]
    degrees = plan.facts.top_degrees
    assert plan.facts.max_degree > 4 * plan.facts.mean_degree
    assert (np.diff(degrees) <= 0).all()
    ids = drawn._mixed(np.arange(512))
    np.testing.assert_array_equal(np.sort(ids), np.arange(512))


@ONE_RUNTIME
def test_slices_make_the_graph_that_they_are_of(device):
    """Dealing out by messages gives what slicing a whole graph gives."""
    slices = GraphSlices(MIXED)

    class Parted(cg.cluster.FileSlices):
        def __init__(self):
            pass

        @property
        def named(self):
            return {}

        def read(self, rank, ranks):
            return slices.read(rank, ranks)

    for partition in ("block", "cyclic"):
        whole = cg.cluster.BFS(MIXED, together(device, 3), partition=partition)
        dealt = cg.cluster.BFS(Parted(), together(device, 3), partition=partition)
        for one, other in zip(whole._shares, dealt._shares, strict=True):
            np.testing.assert_array_equal(one.indptr, other.indptr)
            np.testing.assert_array_equal(one.indices, other.indices)
        assert whole.facts.m == dealt.facts.m
        np.testing.assert_array_equal(whole.facts.top_degrees, dealt.facts.top_degrees)


@ONE_RUNTIME
def test_ranks_that_go_different_ways_are_stopped(device):
    comm = together(device, 2)

    def program(rank):
        yield AllGather.of(rank)
        if rank:
            yield Swap([NOBODY, NOBODY])
        else:
            yield AllGather.of(rank)

    with pytest.raises(cg.ClusterError, match="different ways"):
        run(comm, [program(0), program(1)])
    memory = cg.device("intel")
    piece = Piece(1, memory, 0, 4)
    with pytest.raises(cg.ClusterError, match="expects something else"):
        messages_of([Mail([piece], []), Mail([], [])])
    with pytest.raises(cg.ClusterError, match="nobody sends"):
        messages_of([Mail([], []), Mail([], [Piece(0, memory, 0, 4)])])


@ONE_RUNTIME
def test_an_error_of_one_rank_ends_what_others_wait_for(device):
    """Before it is raised: whoever keeps the exception keeps frames of programs, too."""
    comm = together(device, 3)
    ended = []

    def program(rank):
        try:
            yield AllGather.of(rank)
            if rank == 1:
                raise ZeroDivisionError("of one rank")
            yield AllGather.of(rank)
        finally:
            ended.append(rank)

    with pytest.raises(ZeroDivisionError) as kept:
        run(comm, [program(rank) for rank in range(3)])
    assert sorted(ended) == [0, 1, 2]
    del kept


@ONE_RUNTIME
def test_mailboxes_are_refused_where_they_cannot_be(device):
    """Where an address of the host means nothing, for too many devices, and for candidates."""
    with pytest.raises(cg.InvalidArgumentError, match="for up to 8 devices, not 9"):
        cg.DividedBFS(SHAPES["clique"], [device] * 9, transfers="mailboxes")

    for options in ({"partition": "cyclic"}, {"config": "merrill-two-phase"}):
        with pytest.raises(cg.InvalidArgumentError, match="'mailboxes' is for bits"):
            cg.DividedBFS(SHAPES["clique"], [device] * 2, transfers="mailboxes", **options)

    class Elsewhere(cg.Device):
        name = "a card of somebody else's"
        traits = dataclasses.replace(device.traits, is_cpu=False, memory_ops="atomics")

        def __init__(self):
            pass

        def beside(self, **_):
            return self

    with pytest.raises(cg.InvalidArgumentError, match="not a card of somebody else's"):
        cg.cluster.Together([Elsewhere()] * 2, "mailboxes")


@ONE_RUNTIME
def test_partitions_and_configurations_that_disagree(device):
    with pytest.raises(cg.InvalidArgumentError, match="leave one of the two out"):
        cg.DividedBFS(MIXED, [device] * 2, config=cg.BFSConfig(frontier="status"), partition="2d")
    with pytest.raises(cg.InvalidArgumentError, match="not one of block"):
        cg.DividedBFS(MIXED, [device] * 2, partition="3d")
    plan = cg.DividedBFS(SHAPES["clique"], [device] * 2, partition="cyclic")
    assert plan.run(0).stats.exchange == "candidates"
    plan = cg.DividedBFS(SHAPES["grid"], [device] * 2, partition="block")
    assert plan.run(0).stats.exchange == "bits"


@ONE_RUNTIME
def test_what_each_rank_found_is_gathered_on_the_first(device):
    """As over MPI, where every process has findings of its own."""
    plan = cg.DividedBFS(MIXED, [device] * 2, predecessors=True)
    result = plan.run(MIXED_SOURCES[0])
    wanted, tree = result.distances, result.predecessors
    found = [DividedFindings(MIXED.n, [part], tree=True) for part in plan.parts]
    run(plan.comm, [one.collected(rank, 2, gather=True) for rank, one in enumerate(found)])
    np.testing.assert_array_equal(found[0].distances, wanted)
    np.testing.assert_array_equal(found[0].predecessors, tree)
    assert found[1].distances is None
    assert found[1].predecessors is None


def test_searches_that_were_dealt_out_are_put_together():
    shares = [np.array([[0, 1], [4, 5]]), np.array([[2, 3]])]
    assert dealt(shares, 3, None).tolist() == [[0, 1], [2, 3], [4, 5]]
    assert dealt([np.array([1, 2]), np.array([3, 4])], 9, np.add).tolist() == [4, 6]


def test_threads_share_plans_of_ranks(pocl):
    """PageRank mixed up what two runs gave: the plans of ranks that had no lock."""
    ranks = together(pocl, 2)
    for plan, read in (
        (cg.cluster.PageRank(MIXED, ranks), lambda r: r.ranks),
        (cg.cluster.ConnectedComponents(MIXED, ranks), lambda r: r.labels),
    ):
        expected, found = read(plan.run()), []

        def runs(plan=plan, found=found):
            found.extend(plan.run() for _ in range(8))

        threads = [threading.Thread(target=runs) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 32
        assert all(np.array_equal(read(result), expected) for result in found)
