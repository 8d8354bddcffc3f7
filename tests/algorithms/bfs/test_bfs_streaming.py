"""Searches of graphs whose rows stay in host memory or in a mapped file: memory="stream"."""

import gc
import logging

import numpy as np
import pyopencl as cl
import pytest
from graphs import SHAPES
from searches import (
    MIXED,
    MIXED_ONE_WAY,
    MIXED_ONE_WAY_SOURCES,
    MIXED_SOURCES,
    check_search,
    expected_distances,
)

import clgraph as cg
from clgraph.algorithms.bfs import copied_rows, row_chunks, rows_in_place, streaming
from clgraph.algorithms.bfs.copied_rows import CopiedRows
from clgraph.algorithms.bfs.likely import likely_parents
from clgraph.algorithms.bfs.row_chunks import GATHER_COST, RowChunks
from clgraph.algorithms.bfs.rows_in_place import state_bytes
from clgraph.algorithms.bfs.streaming import Streamed
from clgraph.cluster.parts.part import Part

ONE_RUNTIME = pytest.mark.runtimes("intel")
LIMIT = "CLGRAPH_MEMORY_LIMIT"


@pytest.fixture
def copied(monkeypatch):
    """Have rows copied although the device could read them in place, as those of a card are."""
    monkeypatch.setattr(Streamed, "_reads_in_place", lambda *_: False)


@pytest.fixture
def addressed(monkeypatch):
    """Have kernels get at rows by their address, as cards get at pinned memory."""
    monkeypatch.setattr(rows_in_place, "is_addressed", lambda _: True)


@pytest.mark.runtimes("intel", "pocl")
def test_rows_are_read_in_place(device):
    for graph, sources in ((MIXED, MIXED_SOURCES), (MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES)):
        for tree in (True, False):
            plan = cg.BFS(graph, tree, device=device, memory="stream")
            for source in sources:
                result = plan.run(source, verify=True)
                check_search(graph, source, result)
            assert result.stats.partition == "in place"
            assert result.stats.per_level["sent_bytes"].sum() == 0
    check_star(device)


@pytest.mark.usefixtures("addressed")
@pytest.mark.runtimes("intel", "pocl")
def test_rows_are_read_by_their_address(device):
    for graph, sources in ((MIXED, MIXED_SOURCES), (MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES)):
        for pulls in {not graph.directed, False}:
            plan = Streamed(graph, device, predecessors=True, pulls=pulls)
            assert isinstance(plan._rows.part._indices, np.uint64)
            for source in sources:
                check_search(graph, source, plan.search(source, graph.n))
    check_star(device)


@ONE_RUNTIME
@pytest.mark.parametrize("by_address", [True, False])
def test_levels_in_place_pull(by_address, device, monkeypatch):
    """Where the graph is undirected, so that its rows are those of in-neighbours too."""
    monkeypatch.setattr(rows_in_place, "is_addressed", lambda _: by_address)
    graph = cg.generate.kron(13, seed=3)
    one_way = cg.Graph(graph.indptr, graph.indices)
    source = int(np.argmax(graph.degrees))
    for which, pulls, directions in (
        (graph, None, {"push", "pull"}),
        (graph, False, {"push"}),
        (one_way, None, {"push"}),
    ):
        plan = Streamed(which, device, predecessors=True, pulls=pulls)
        result = plan.search(source, which.n)
        check_search(which, source, result)
        assert set(result.stats.directions) == directions
        assert plan.config.row_line == (32 if by_address else 0)


@pytest.mark.runtimes("intel", "pocl")
@pytest.mark.parametrize("by_address", [True, False])
def test_narrow_levels_in_place_take_few_launches(by_address, device, monkeypatch):
    monkeypatch.setattr(rows_in_place, "is_addressed", lambda _: by_address)
    path = cg.generate.path(600)
    plan = Streamed(path, device, predecessors=True)
    result = plan.search(0, path.n)
    check_search(path, 0, result)
    assert result.stats.levels > 100
    assert result.stats.launches < 10


@pytest.mark.usefixtures("addressed")
@ONE_RUNTIME
@pytest.mark.parametrize("kept", [4, 2, 1, 0])
def test_as_many_likely_parents_as_fit(kept, device, monkeypatch):
    """They are those of rows on the device, and the search keeps to what it may take."""
    graph = cg.generate.kron(13, seed=3)
    expected = likely_parents(graph, graph, kept, device).read() if kept else None
    gc.collect()
    used = device.ledger.used_bytes
    limit = used + state_bytes(graph, predecessors=True) + 4 * kept * graph.n
    monkeypatch.setenv(LIMIT, str(limit))
    plan = Streamed(graph, device, predecessors=True)
    assert plan.config.pull.likely == kept
    back = plan._rows.part._back
    assert len(back) == (4 if kept else 3)
    if kept:
        np.testing.assert_array_equal(back[-1].read(), expected)
    source = int(np.argmax(graph.degrees))
    result = plan.search(source, graph.n)
    check_search(graph, source, result)
    assert "pull" in result.stats.directions


def check_star(device):
    star = cg.generate.star(5000)  # whose middle is shared out among all work-groups
    plan = cg.BFS(star, True, device=device, memory="stream")
    for source in (0, 1, star.n - 1):
        check_search(star, source, plan.run(source, verify=True))


@pytest.mark.usefixtures("copied")
@pytest.mark.runtimes("intel", "pocl")
@pytest.mark.parametrize("chunk_bytes", [1, 2000, 20_000, None])
def test_rows_are_copied(chunk_bytes, device):
    """In chunks of any size: rows longer than a chunk are cut."""
    for graph, sources in ((MIXED, MIXED_SOURCES), (MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES)):
        for tree in (True, False):
            plan = Streamed(graph, device, predecessors=tree, chunk_bytes=chunk_bytes)
            for source in sources:
                check_search(graph, source, plan.search(source, graph.n))
    for name in ("star", "hub", "no-edges", "one-vertex", "self-loops", "one-way-path"):
        plan = Streamed(SHAPES[name], device, predecessors=True, chunk_bytes=chunk_bytes)
        for source in {0, SHAPES[name].n - 1}:
            check_search(SHAPES[name], source, plan.search(source, SHAPES[name].n))


@pytest.mark.usefixtures("copied")
@ONE_RUNTIME
def test_whole_ranges_or_rows_one_by_one(device):
    """Whichever is less by bytes: a level of most vertices takes ranges, one of few its rows."""
    n = 4000
    step = 8 * GATHER_COST  # the frontier of level 1 is every so many-th vertex
    few = np.arange(step, n - 1, step)
    src = np.concatenate([np.zeros_like(few), np.arange(n - 1)])
    dst = np.concatenate([few, np.arange(1, n)])
    graph = cg.from_edges(src, dst, n=n)
    chunks = RowChunks(graph, device, None)
    dense = chunks.pieces(np.arange(n))
    assert [piece[0] for piece in dense] == [0]
    ((first, offsets, edge_targets, _, names),) = chunks.pieces(few)
    assert first is None
    assert edge_targets.size == offsets[-1] == graph.degrees[few].sum()
    np.testing.assert_array_equal(names, few)
    check_search(graph, 0, Streamed(graph, device, predecessors=False).search(0, n))


@pytest.mark.runtimes("intel", "pocl")
@pytest.mark.parametrize("way", ["in place", "copied"])
def test_a_file_larger_than_the_memory(way, tmp_path, device, monkeypatch, caplog):
    """Rows in a mapped file, in less memory than they would take; chosen where they do not fit."""
    monkeypatch.setattr(Streamed, "_reads_in_place", lambda *_: way == "in place")
    drawn = cg.generate.random(3000, 60, seed=2)
    np.asarray(drawn.indices).tofile(tmp_path / "rows")
    rows = np.memmap(tmp_path / "rows", drawn.indices.dtype, "r")
    graph = cg.Graph(drawn.indptr, rows, directed=False)
    gc.collect()
    used = device.ledger.used_bytes
    limit = rows.nbytes // 2
    monkeypatch.setenv(LIMIT, str(used + limit))
    with pytest.raises(cg.DeviceMemoryError, match="'indices' needs"):
        cg.BFS(graph, device=device, memory="device")
    with pytest.raises(cg.DeviceMemoryError, match="'indices' needs"):
        cg.BFS(graph, device=device, config="enterprise")
    with caplog.at_level(logging.WARNING, "clgraph"):
        plan = cg.BFS(graph, True, device=device)
    assert "Rows stay in host memory instead" in caplog.text
    assert device.ledger.used_bytes - used < limit
    for source in (0, 1234):
        result = plan.run(source)
        np.testing.assert_array_equal(result.distances, expected_distances(drawn, source))
        assert result.stats.partition == way
        assert (result.stats.per_level["sent_bytes"].sum() >= rows.nbytes) == (way == "copied")
    monkeypatch.setenv(LIMIT, str(used + 1000))
    with pytest.raises(cg.DeviceMemoryError, match="'state' needs"):  # nor what is kept beside
        cg.BFS(graph, device=device)


@pytest.mark.usefixtures("addressed")
@ONE_RUNTIME
def test_a_mapped_file_is_pinned_where_the_host_has_room(tmp_path, device, monkeypatch):
    """On a card; what is large for the host passes through it by chunks."""
    np.asarray(MIXED.indices).tofile(tmp_path / "rows")
    rows = np.memmap(tmp_path / "rows", MIXED.indices.dtype, "r")
    graph = cg.Graph(MIXED.indptr, rows, directed=False)
    monkeypatch.setattr(type(device.traits), "is_cpu", False)
    monkeypatch.setattr(streaming, "is_addressed", lambda _: True)
    for available, way in (
        (16 * graph.m, "in place"),
        (16 * graph.m - 1, "copied"),
        (None, "copied"),
    ):
        monkeypatch.setattr(streaming, "host_available_bytes", lambda given=available: given)
        plan = Streamed(graph, device, predecessors=True)
        assert plan.way == way
        if way == "copied":  # out of the file
            assert np.shares_memory(plan._rows._chunks._rows, rows)
        check_search(MIXED, MIXED_SOURCES[0], plan.search(MIXED_SOURCES[0], graph.n))
    assert Streamed(MIXED, device, predecessors=True).way == "in place"
    monkeypatch.setenv("CLGRAPH_CHECK", "1")  # which knows no array at an address
    assert Streamed(MIXED, device, predecessors=True).way == "copied"


@pytest.mark.runtimes("intel", "pocl")
def test_who_breaks_off_leaves_no_kernel_that_reads_rows(device, monkeypatch):
    """With the plan the file may go that they are in: a kernel that read on would crash."""
    graph = cg.generate.random(1 << 16, 64, seed=1)
    plan = cg.BFS(graph, device=device, memory="stream")
    launch, events = Part._launch, []

    def broken_off(self, kernel, *of):
        events.append(launch(self, kernel, *of))
        if kernel is self._pull:
            self.device.queue.flush()
            raise KeyboardInterrupt  # in a level of many vertices
        return events[-1]

    with monkeypatch.context() as patch:
        patch.setattr(Part, "_launch", broken_off)
        with pytest.raises(KeyboardInterrupt):
            plan.run(0)
    assert events[-1].command_execution_status == cl.command_execution_status.COMPLETE
    check_search(graph, 0, plan.run(0))


@pytest.mark.usefixtures("copied")
@ONE_RUNTIME
def test_rows_that_cannot_be_pinned(device, monkeypatch, caplog):
    """They are copied from where they are; what says so is an exception of ours."""
    with pytest.raises(cg.DeviceMemoryError, match="pins no 4611686018427387904 bytes"):
        row_chunks.Pinned(device, 1 << 60, np.uint32)
    pinned = row_chunks.Pinned

    def refusing(where, count, dtype):
        return pinned(where, count if count < MIXED.m else 1 << 60, dtype)

    monkeypatch.setattr(row_chunks, "Pinned", refusing)
    with caplog.at_level(logging.WARNING, "clgraph"):
        plan = Streamed(MIXED, device, predecessors=True, chunk_bytes=20_000)
    assert "copied from where they are" in caplog.text
    check_search(MIXED, MIXED_SOURCES[0], plan.search(MIXED_SOURCES[0], MIXED.n))


@pytest.mark.usefixtures("copied")
@ONE_RUNTIME
def test_copied_in_a_quarter_of_the_rows(device, monkeypatch):
    """What is copied of a search of everything is about the rows once, in so little memory."""
    graph = cg.generate.random(3000, 120, seed=2)
    gc.collect()
    used = device.ledger.used_bytes
    monkeypatch.setenv(LIMIT, str(used + 4 * graph.m // 4))
    plan = Streamed(graph, device, predecessors=False)
    result = plan.search(7, graph.n)
    check_search(graph, 7, result)
    sent_bytes = result.stats.per_level["sent_bytes"].sum()
    assert 4 * graph.m <= sent_bytes < 1.5 * 4 * graph.m


@pytest.mark.usefixtures("copied")
@pytest.mark.runtimes("intel", "pocl")
@pytest.mark.parametrize("tree", [True, False])
def test_wide_levels_sweep_all_rows(tree, device, monkeypatch):
    """Then the device finds whose rows are wanted, and the host reads no list of them."""
    graph = cg.generate.random(3000, 120, seed=2)
    plan = Streamed(graph, device, predecessors=tree, chunk_bytes=100_000)
    sweep_bytes = plan._rows._chunks.sweep_bytes
    assert sweep_bytes > 4 * graph.m
    reads = []
    read = CopiedRows._found_last
    monkeypatch.setattr(
        CopiedRows, "_found_last", lambda self, count: reads.append(count) or read(self, count)
    )
    result = plan.search(7, graph.n)
    check_search(graph, 7, result)
    table = result.stats.per_level
    wide = table["frontier"] * copied_rows.VERTEX_BYTES >= sweep_bytes
    assert wide.any()
    np.testing.assert_array_equal(table["sent_bytes"][wide], sweep_bytes)
    assert (table["sent_bytes"][~wide] < sweep_bytes).all()
    assert reads == [*table["frontier"][1:][~wide[1:]], 0]
    monkeypatch.setattr(copied_rows, "VERTEX_BYTES", 1 << 40)  # all levels but the source's
    for one in (graph, MIXED_ONE_WAY, SHAPES["self-loops"], SHAPES["one-way-path"]):
        plan = Streamed(one, device, predecessors=tree, chunk_bytes=40_000)
        assert plan._rows._chunks.sweep_bytes
        check_search(one, 0, plan.search(0, one.n))


@pytest.mark.usefixtures("copied")
@ONE_RUNTIME
def test_rows_longer_than_a_chunk_are_not_swept(device, monkeypatch):
    monkeypatch.setattr(copied_rows, "VERTEX_BYTES", 1 << 40)
    plan = Streamed(SHAPES["star"], device, predecessors=True, chunk_bytes=1)
    assert plan._rows._chunks.sweep_bytes == 0
    check_search(SHAPES["star"], 1, plan.search(1, SHAPES["star"].n))


@ONE_RUNTIME
def test_results_and_refusals(device):
    plan = cg.BFS(MIXED, device=device, memory="stream")
    results = [plan.run(source) for source in MIXED_SOURCES]
    for source, result in zip(MIXED_SOURCES, results, strict=True):
        check_search(MIXED, source, result)
    limited = plan.run(MIXED_SOURCES[3], max_depth=3)
    check_search(MIXED, MIXED_SOURCES[3], limited, max_depth=3)
    assert limited.stats.levels == 4
    assert cg.bfs(MIXED, 0, device=device, memory="stream").reached > 0
    with pytest.raises(cg.InvalidArgumentError, match="not one of device, stream"):
        cg.BFS(MIXED, memory="disk")
    with pytest.raises(cg.InvalidArgumentError, match="for rows on the device"):
        cg.BFS(MIXED, config="enterprise", memory="stream")
