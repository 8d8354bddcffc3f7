"""What every rank of an MPI job runs: everything in one job, or the checks that are named.

``mpiexec -n P python tests/cluster/rank_checks.py DEVICE FOLDER [CHECK ...]``; ranks compare with
one device on the first, and count what is sent by a model of their own.
"""

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pytest
from graphs import SHAPES
from searches import MIXED, MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES, MIXED_SOURCES, check_search

import clgraph as cg
from clgraph.cluster.ranks import over_mpi
from clgraph.cluster.ranks.comm import AllGather, Swap, run

DEVICE, FOLDER = sys.argv[1], Path(sys.argv[2])
FORMS = (
    {"config": "merrill-two-phase"},
    {"config": cg.BFSConfig(frontier="status")},
    {"partition": "2d"},
    {"partition": "1.5d"},
)


def say(what):
    if comm.rank == 0:
        print("checked", what, flush=True)  # noqa: T201 - to the job's output


def exchanged():
    """Arrays of any length arrive, empty ones and such as one message does not hold."""
    arrays = [np.arange(10 * comm.rank + peer) for peer in range(comm.size)]

    def program():
        received = yield Swap(arrays)
        rows = yield AllGather(lambda: np.array([comm.rank, 7]))
        return received, rows

    most, over_mpi.MOST_BYTES = over_mpi.MOST_BYTES, 24
    received, rows = run(comm, [program()])[0]
    over_mpi.MOST_BYTES = most
    for peer, array in enumerate(received):
        np.testing.assert_array_equal(array, np.arange(10 * peer + comm.rank))
    np.testing.assert_array_equal(rows, [[peer, 7] for peer in range(comm.size)])
    say("exchange")


def searched():
    """Distances and trees of one device, and bytes of ranks in one process."""
    for form in FORMS:
        for graph, sources in ((MIXED, MIXED_SOURCES), (MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES)):
            if graph.directed and "partition" not in form:
                continue  # builds no other kernels
            plan = cg.cluster.BFS(graph, comm, predecessors=True, **form)
            for source in sources[:4]:
                result = plan.run(source, verify=True)
                assert (result.distances is None) == (comm.rank > 0)
                np.testing.assert_array_equal(
                    cg.bfs(graph, source, device=DEVICE).distances[result.vertices],
                    result.own_distances,
                )
                if comm.rank == 0:
                    check_search(graph, source, result)
                    sent = result.stats.exchanged_bytes
                    reached = result.distances >= 0
                    assert result.stats.edges_traversed == graph.degrees[reached].sum()
                    name = f"{len(form)}{plan.partition.name}-{graph.directed}-{source}"
                    np.save(FOLDER / name, sent)
        say(form)
    for name in ("one-vertex", "no-edges", "star"):  # empty ranks
        for form in FORMS[:1] + FORMS[2:3]:
            plan = cg.cluster.BFS(SHAPES[name], comm, predecessors=True, **form)
            result = plan.run(0, verify=True)
            if comm.rank == 0:
                check_search(SHAPES[name], 0, result)
    # One rank has the whole anyway.
    assert (plan.run(0, gather=False).distances is None) == (comm.size > 1)
    say("empty ranks")


def staged():
    """An MPI that does not take pinned memory gets other, and sends the same."""
    assert comm._pins
    pinned = over_mpi.Pinned

    class Refusing:
        rank = comm.rank

        def Irecv(self, *_, **__):  # noqa: N802 - as MPI has it
            raise ValueError("not this memory")

    kept, comm.job.comm = comm.job.comm, Refusing()
    assert not comm._passes(np.zeros(16, np.uint8))
    comm.job.comm = kept
    comm._pins = False
    comm._staging.clear()
    over_mpi.Pinned = None  # nobody asks for it
    for form in FORMS[:2]:
        plan = cg.cluster.BFS(MIXED, comm, predecessors=True, **form)
        result = plan.run(MIXED_SOURCES[0], verify=True)
        if comm.rank == 0:
            check_search(MIXED, MIXED_SOURCES[0], result)
    over_mpi.Pinned = pinned
    comm._pins = True
    comm._staging.clear()
    say("plain staging")


def others():
    """Paths, components, ranks and searches of one device."""
    costs = (np.repeat(np.arange(MIXED.n), MIXED.degrees) + MIXED.indices) % 7
    graph = cg.Graph(MIXED.indptr, MIXED.indices, costs.astype(np.float32), directed=False)
    source = MIXED_SOURCES[1]
    found = cg.cluster.SSSP(graph, comm, predecessors=True).run(source, verify=True)
    single = cg.sssp(graph, source, device=DEVICE)
    np.testing.assert_array_equal(found.own["distances"], single.distances[found.vertices])
    labels = cg.cluster.ConnectedComponents(MIXED, comm).run(verify=True)
    alone = cg.connected_components(MIXED, device=DEVICE)
    np.testing.assert_array_equal(labels.own["labels"], alone.labels[labels.vertices])
    assert labels.count == alone.count
    ranks = cg.cluster.PageRank(graph, comm).run()
    one = cg.pagerank(graph, device=DEVICE)
    np.testing.assert_allclose(ranks.own["ranks"], one.ranks[ranks.vertices], rtol=1e-9)
    searches = cg.cluster.Searches(
        MIXED,
        comm,
        totals={"reached": np.add},
        state={"hops": cg.State("int32", fill=-1), "reached": cg.State("uint32", per="run")},
        init="if (lid == 0) { hops[src] = 0; ADD(reached, src, 1u); }",
        visit="if (FIRST(v)) { hops[v] = level + 1; ADD(reached, v, 1u); ENQ(v); }",
    )
    many = searches.run(range(0, MIXED.n, 300))
    if comm.rank == 0:
        np.testing.assert_array_equal(found.distances, single.distances)
        np.testing.assert_array_equal(labels.labels, alone.labels)
        for row, start in zip(many["hops"], range(0, MIXED.n, 300), strict=True):
            np.testing.assert_array_equal(row, cg.bfs(MIXED, start, device=DEVICE).distances)
        np.testing.assert_array_equal(many["reached"], (many["hops"] >= 0).sum(axis=0))
    else:
        assert found.distances is None
        assert many["hops"] is None
    say("others")


def read():
    """Every rank reads its slice of a file, or draws it; none holds more than some of the rows."""
    for name in ("mixed.sg", "mixed.npz", "mixed.el"):
        plan = cg.cluster.BFS(FOLDER / name, comm, predecessors=True)
        held = plan._shares[0].indices.size
        assert held < 0.8 * MIXED.m or comm.size == 1
        result = plan.run(MIXED_SOURCES[0], verify=True)
        if comm.rank == 0:
            assert result.reached == np.count_nonzero(
                cg.bfs(MIXED, MIXED_SOURCES[0], device=DEVICE).distances >= 0
            )
            check_search(MIXED, MIXED_SOURCES[0], result)
    drawn = cg.cluster.Kronecker(8, 8, seed=3)
    plan = cg.cluster.BFS(drawn, comm, predecessors=True)
    result = plan.run(5, verify=True)
    np.save(FOLDER / f"kron-{comm.rank}-of-{comm.size}.npy", result.own_distances)
    say("slices")


def rounds():
    """In rounds as straight; and a path in blocks is exchanged where it leaves a rank."""
    usual = comm.message_bytes
    counts = {}
    for comm.message_bytes in (usual, 0, 1 << 40):
        for form in ({"partition": "block"}, {"partition": "cyclic"}):
            plan = cg.cluster.BFS(MIXED, comm, predecessors=True, **form)
            for source in MIXED_SOURCES[:2]:
                result = plan.run(source, verify=True)
                if comm.rank == 0:
                    check_search(MIXED, source, result)
                most = max(result.stats.per_level["rounds"])
                counts[comm.message_bytes] = max(counts.get(comm.message_bytes, 0), most)
    assert counts[1 << 40] == ((comm.size - 1).bit_length() if comm.size > 3 else comm.size > 1)
    costs = (np.repeat(np.arange(MIXED.n), MIXED.degrees) + MIXED.indices) % 7
    weighted = cg.Graph(MIXED.indptr, MIXED.indices, costs, directed=False)
    paths = cg.cluster.SSSP(weighted, comm, predecessors=True)
    components = cg.cluster.ConnectedComponents(MIXED_ONE_WAY, comm)
    lengths = cg.sssp(weighted, MIXED_SOURCES[1], device=DEVICE).distances
    labels = cg.connected_components(MIXED_ONE_WAY, device=DEVICE).labels
    most = (comm.size - 1).bit_length()
    shift, went = comm.shift, Counter()

    def counted(requests):
        went[comm.message_bytes] += 1
        return shift(requests)

    comm.shift = counted
    for comm.message_bytes in (usual, 0, 1 << 40):
        found = paths.run(MIXED_SOURCES[1], verify=True)
        np.testing.assert_array_equal(found.own["distances"], lengths[found.vertices])
        parts = components.run(verify=True)
        np.testing.assert_array_equal(parts.own["labels"], labels[parts.vertices])
        if comm.message_bytes == 1 << 40 and comm.size > 3:
            assert parts.stats.message_rounds == 2 * most
            assert went[comm.message_bytes] > 2 * most  # those of paths, too
        elif comm.size < 4:
            assert not went
    comm.shift = shift
    comm.message_bytes = usual
    path = cg.generate.path(1500)
    plan = cg.cluster.BFS(path, comm, predecessors=True, partition="block")
    result = plan.run(0, verify=True)
    assert np.count_nonzero(result.stats.per_level["rounds"]) == comm.size - 1
    assert (result.stats.frontiers == 1).all()
    if comm.rank == 0:
        check_search(path, 0, result)
    say("rounds")


def refused():
    """What one rank cannot do all refuse, and what differs between ranks."""
    plan = cg.cluster.BFS(MIXED, comm, predecessors=True, config="merrill-two-phase")
    mixed = ("auto", "merrill-two-phase")[comm.rank > 0]
    calls = (
        (lambda: cg.cluster.BFS(MIXED, comm, config=mixed), "config="),
        (lambda: plan.run(comm.rank), "source="),
        (lambda: plan.run(-1 if comm.rank == 1 else 0), "not a vertex"),
        (lambda: comm.check_alike({"file": "one"} if comm.rank == 1 else {}), "file="),
    )
    for call, complaint in calls if comm.size > 1 else ():
        with pytest.raises(cg.ClgraphError, match=complaint):
            call()
    say("refusals")


if __name__ == "__main__":
    comm = cg.cluster.world(DEVICE)
    CHECKS = {
        check.__name__: check
        for check in (exchanged, searched, staged, others, read, refused, rounds)
    }
    for name in sys.argv[3:] or CHECKS:
        CHECKS[name]()
    say("everything")
