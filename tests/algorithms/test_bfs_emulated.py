"""Searches by SIMD groups that a scalar CPU emulates: lanes in step, whatever the hardware."""

import pytest
from graphs import SHAPES, graphs
from hypothesis import given, settings
from hypothesis import strategies as st
from searches import (
    EMULATED_RUNTIMES,
    MIXED,
    MIXED_ONE_WAY,
    MIXED_ONE_WAY_SOURCES,
    MIXED_SOURCES,
    check_search,
)

import clgraph as cg

emulated = pytest.mark.runtimes(*EMULATED_RUNTIMES)


@emulated
@pytest.mark.parametrize("shape", [name for name in SHAPES if name != "long-path"])
def test_awkward_shapes(shape, device):
    graph = SHAPES[shape]
    plan = cg.BFS(graph, predecessors=True, device=device)
    for source in sorted({0, graph.n // 2, graph.n - 1}):
        result = plan.run(source)
        check_search(graph, source, result)
        assert result.stats.mode == "stepped"
        assert result.stats.config["lanes"] == device.traits.lanes


@emulated
@given(graphs(max_vertices=80), st.data())
@settings(max_examples=20)
def test_random_graphs(device, graph, data):
    source = data.draw(st.integers(0, graph.n - 1))
    depth = data.draw(st.none() | st.integers(0, 5))
    result = cg.bfs(graph, source, predecessors=True, max_depth=depth, device=device)
    check_search(graph, source, result, depth)


@emulated
@pytest.mark.parametrize(
    ("graph", "sources"),
    [(MIXED, MIXED_SOURCES), (MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES)],
    ids=["undirected", "directed"],
)
def test_sources_of_every_kind(graph, sources, device):
    plan = cg.BFS(graph, predecessors=True, device=device)
    for source in sources:
        check_search(graph, source, plan.run(source))
