"""Searches by SIMD groups that a scalar CPU emulates: lanes in step, whatever the hardware."""

import pytest
from configs import bfs_config
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

# The others have tests of their own: test_bfs_balance.py.
BALANCERS = ("item_thread", "vwarp", "warp_search")
# Where emulated lanes build within seconds; on one kernel, which runs both ways.
VARIANTS = {
    "default": {},
    **{name: {"balance": name} for name in BALANCERS},
    "push-never-single_group": {"direction": "push", "single_group": False},
    "pull": {"alpha": 2**30, "pull_floor": 2**30, "single_group": False},
    "pull-and-claimed": {"alpha": 2**20, "pull_floor": 64, "distribution": "claimed"},
    "barely-single_group": {"single_group_capacity": 8, "single_group_edges": 4},
    "many-hubs": {"hub_degree": 8},
    "wide-rows": {"wide": 1, "eager_limit": 0},
}
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
        assert result.stats.config.lanes == device.traits.lanes


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


@pytest.mark.parametrize("synchronisation", ["persistent", "stepped"])
@pytest.mark.parametrize("name", VARIANTS)
def test_every_dimension(name, synchronisation, intel):
    config = bfs_config(synchronisation=synchronisation, kernels="fused", **VARIANTS[name])
    for graph, sources in ((MIXED, MIXED_SOURCES), (MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES)):
        plan = cg.BFS(graph, predecessors=True, config=config, device=intel.emulating(8))
        for source in sources:
            result = plan.run(source)
            check_search(graph, source, result)
            assert result.stats.mode == synchronisation


@pytest.mark.parametrize("groups", [1, 3, 150])
def test_any_number_of_groups(groups, intel):
    config = bfs_config(synchronisation="persistent", groups=groups)
    plan = cg.BFS(MIXED, predecessors=True, config=config, device=intel.emulating(8))
    for source in MIXED_SOURCES:
        check_search(MIXED, source, plan.run(source))
