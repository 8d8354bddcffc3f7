"""Searches that read the rows of a dynamic graph in their blocks: DH-30."""

import logging

import numpy as np
import pytest

import clgraph as cg
from clgraph.device import Memory
from clgraph.dynamic import contents
from clgraph.engine.blocks import BlockRows
from clgraph.engine.driver import Driver
from clgraph.errors import DeviceMemoryError, InvalidArgumentError

# Presets and strategies that read rows in blocks.
CONFIGS = {
    "enterprise": "enterprise",
    "merrill-hybrid": "merrill-hybrid",
    "merrill-two-phase": "merrill-two-phase",
    "merrill-contract-expand": "merrill-contract-expand",
    "merrill-expand-contract": "merrill-expand-contract",
    "status, no queues": cg.BFSConfig(frontier=cg.frontier.StatusArray(generation="none")),
    "direct": cg.BFSConfig(balance="direct"),
    "vwarp": cg.BFSConfig(balance="vwarp"),
    "labels": cg.BFSConfig(frontier=cg.frontier.VertexQueue(visited="labels"), pull="never"),
}


def start(directed):
    if directed:
        return cg.generate.rmat(8, seed=2)
    return cg.generate.kron(8, seed=1)


def unpacked(monkeypatch):
    """Have nobody pack rows."""

    def refuse(_):
        raise AssertionError("rows were packed")

    monkeypatch.setattr(cg.DynamicGraph, "to_graph", refuse)


def wanted(graph, source=3):
    packed = graph.to_graph()
    return (
        cg.bfs(packed, source, device="pocl").distances,
        cg.connected_components(packed, device="pocl").labels,
    )


def change(graph, turn, rng):
    graph.insert_edges(*rng.integers(0, graph.n + 40 * (turn == 1), (2, 100)))
    graph.delete_edges(*rng.integers(0, graph.n, (2, 1000)))
    if turn == 0:
        graph.compact()


def test_dh30_searches_follow_in_blocks(device, monkeypatch):
    follows(device, False, monkeypatch)


def test_dh30_searches_of_directed_graphs_follow_too(any_device, monkeypatch):
    follows(any_device, True, monkeypatch)


def follows(device, directed, monkeypatch):
    """Search, change the graph and search again, without packing a row."""
    graph = cg.DynamicGraph(start(directed), device=device, block_edges=64)
    assert graph.directed == directed
    search, parts = cg.BFS(graph, predecessors=True), cg.ConnectedComponents(graph)
    rng = np.random.default_rng(1)
    for turn in range(3):
        distances, labels = wanted(graph)
        with monkeypatch.context() as patch:
            unpacked(patch)
            found = search.run(3)
            np.testing.assert_array_equal(found.distances, distances)
            np.testing.assert_array_equal(parts.run().labels, labels)
        assert isinstance(search.graph, BlockRows)
        assert search.config.rows == "blocks"
        cg.verify.shortest_path_tree(graph.to_graph(), 3, found)
        change(graph, turn, rng)
    search.run(3, verify=True)
    parts.run(verify=True)


@pytest.mark.parametrize(
    ("name", "directed"),
    # The first of these asks levels to pull.
    [(name, False) for name in CONFIGS] + [(name, True) for name in list(CONFIGS)[1:]],
)
def test_dh30_every_way_of_searching(pocl, name, directed, monkeypatch):
    graph = cg.DynamicGraph(start(directed), device=pocl, block_edges=64)
    search = cg.BFS(graph, config=CONFIGS[name])
    rng = np.random.default_rng(2)
    for turn in range(2):
        distances, _ = wanted(graph)
        with monkeypatch.context() as patch:
            unpacked(patch)
            np.testing.assert_array_equal(search.run(3).distances, distances)
        change(graph, turn, rng)


def test_launches_are_numbered_when_rows_have_changed(pocl, monkeypatch):
    """The same kernels with arguments of other rows: each launch still has its own number."""
    graph = cg.DynamicGraph(start(False), device=pocl, block_edges=64)
    search = cg.BFS(graph, config=cg.BFSConfig(schedule="stepped"))
    change(graph, 1, np.random.default_rng(3))
    search.run(3)
    driver = search._stages
    change(graph, 1, np.random.default_rng(4))
    distances, _ = wanted(graph)
    launch, numbers = Driver._launch, []

    def numbered(self, args, number, *rest, **keywords):
        assert number < 500, "the search begins again and again"
        event = launch(self, args, number, *rest, **keywords)
        numbers.append(number)
        return event

    monkeypatch.setattr(Driver, "_launch", numbered)
    np.testing.assert_array_equal(search.run(3).distances, distances)
    assert search._stages is driver  # or this tests nothing
    assert numbers == list(range(len(numbers)))


def test_calls_read_blocks(any_device, monkeypatch):
    graph = cg.DynamicGraph(start(False), device=any_device)
    distances, labels = wanted(graph)
    unpacked(monkeypatch)
    np.testing.assert_array_equal(cg.bfs(graph, 3).distances, distances)
    np.testing.assert_array_equal(cg.connected_components(graph).labels, labels)
    with pytest.raises(InvalidArgumentError, match="not a vertex"):
        cg.bfs(graph, graph.n)


@pytest.mark.parametrize(
    ("config", "directed", "why"),
    [
        ("helix", False, "rules='helix' looks at their statistics"),
        ("bfs-4k", False, "rules='bfs-4k' looks at their statistics"),
        (cg.BFSConfig(frontier=cg.frontier.VertexQueue(rows="pairs")), False, "a layout of packed"),
        (cg.BFSConfig(pull="edges"), True, "reads the transpose of a directed graph"),
    ],
)
def test_what_blocks_cannot_give_is_packed(pocl, config, directed, why, caplog):
    graph = cg.DynamicGraph(start(directed), device=pocl)
    with caplog.at_level(logging.INFO, "clgraph"):
        search = cg.BFS(graph, config=config)
    assert why in caplog.text
    rng = np.random.default_rng(3)
    for turn in range(2):
        np.testing.assert_array_equal(search.run(3).distances, wanted(graph)[0])
        assert isinstance(search.graph, cg.Graph)
        change(graph, turn, rng)


def test_rows_are_packed_for_another_device(pocl, caplog):
    graph = cg.DynamicGraph(start(False), device="pocl+lanes32")
    with caplog.at_level(logging.INFO, "clgraph"):
        found = cg.bfs(graph, 3, device=pocl)
    assert "where this does not run" in caplog.text
    np.testing.assert_array_equal(found.distances, wanted(graph)[0])


def test_rows_stay_in_host_memory(pocl):
    graph = cg.DynamicGraph(start(False), device=pocl)
    search = cg.BFS(graph, memory="stream")
    for turn in range(2):
        np.testing.assert_array_equal(search.run(3).distances, wanted(graph)[0])
        change(graph, turn, np.random.default_rng(4))


def test_places_of_64_bits(any_device, monkeypatch):
    monkeypatch.setattr(contents, "WIDE_FROM", 0)
    graph = cg.DynamicGraph(start(False), device=any_device)
    distances, labels = wanted(graph)
    search = cg.BFS(graph)
    assert search.config.wide_offsets
    np.testing.assert_array_equal(search.run(3).distances, distances)
    np.testing.assert_array_equal(cg.connected_components(graph).labels, labels)


def test_graphs_of_little(any_device):
    graph = cg.DynamicGraph(device=any_device)
    search, parts = cg.BFS(graph), cg.ConnectedComponents(graph)
    assert parts.run().count == 0
    graph.insert_vertices(3)
    assert search.run(1).distances.tolist() == [-1, 0, -1]
    assert parts.run().labels.tolist() == [0, 1, 2]
    graph.insert_edges([1], [2])
    assert search.run(1).distances.tolist() == [-1, 0, 1]
    assert parts.run().labels.tolist() == [0, 1, 1]
    graph.delete_edges([1], [2])
    assert search.run(1).distances.tolist() == [-1, 0, -1]


def test_results_are_of_the_graph_they_were_found_in(pocl):
    graph = cg.DynamicGraph(cg.generate.path(6), device=pocl)
    search = cg.BFS(graph)
    before = search.run(0)
    graph.insert_edges([0], [5])
    after = search.run(0)
    assert before.distances.tolist() == [0, 1, 2, 3, 4, 5]
    assert before.stats.per_level["edges"].tolist() == [1, 2, 2, 2, 2, 1]
    assert after.distances.tolist() == [0, 1, 2, 3, 2, 1]


@pytest.mark.parametrize("make", [cg.BFS, cg.ConnectedComponents])
def test_no_memory_to_follow(pocl, make, monkeypatch):
    """A plan that finds no memory for what a graph has become finds it the next time."""
    run = {cg.BFS: lambda plan: plan.run(3).distances}.get(make, lambda plan: plan.run().labels)
    graph = cg.DynamicGraph(start(False), device=pocl)
    plan = make(graph)
    run(plan)
    allocate, failed = Memory.allocate, 0
    for turn in range(60):
        graph.insert_vertices(1)
        asked = []

        def refusing(self, what, count, dtype, asked=asked, turn=turn):
            asked.append(what)
            if len(asked) == turn + 1:
                raise DeviceMemoryError(f"{what} refused")
            return allocate(self, what, count, dtype)

        monkeypatch.setattr(Memory, "allocate", refusing)
        try:
            run(plan)
        except DeviceMemoryError:
            failed += 1
        else:
            break
        finally:
            monkeypatch.setattr(Memory, "allocate", allocate)
        expected = wanted(graph)[0 if make is cg.BFS else 1]
        np.testing.assert_array_equal(run(plan), expected)
    else:
        pytest.fail("it never succeeded")
    assert failed
