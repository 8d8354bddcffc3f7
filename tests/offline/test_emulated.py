"""What AMD's waves get, run: instructions emulated by the lanes of a processor's work-group."""

import dataclasses

import numpy as np
import pytest
from digraphs import check_components
from graphs import SHAPES, bundled_graphs, shared_graphs, shared_parts
from scipy.sparse import csgraph
from searches import MIXED, MIXED_ONE_WAY, check_search

import clgraph as cg
from clgraph.errors import InvalidArgumentError
from clgraph.primitives import check_lanes

WAVES = (32, 64)
# Intel's runtime builds lanes that barriers emulate within seconds; PoCL takes ten times as long.
RUNTIMES = ("intel", pytest.param("pocl", marks=pytest.mark.slow))


@pytest.fixture(params=WAVES)
def wave(request, intel):
    return intel.emulating(request.param, "amdgcn")


@pytest.fixture(scope="session")
def wide(intel):
    """Waves of 64, whose masks are twice as wide as all others."""
    return intel.emulating(64, "amdgcn")


def weighted(graph):
    """Give the same graph, with weights that are the same both ways."""
    ends = np.repeat(np.arange(graph.n), graph.degrees), graph.indices.astype(np.int64)
    weights = (1 + (ends[0] + ends[1]) % 17).astype(np.int32)
    return cg.Graph(graph.indptr, graph.indices, weights, directed=graph.directed)


def check_paths(graph, source, device):
    graph = weighted(cg.from_edges(*endpoints(graph), n=graph.n, dedup=True))
    expected = csgraph.dijkstra(graph.to_scipy().astype(float), indices=source)
    found = cg.sssp(graph, source, device=device).distances.astype(float)
    reached = np.isfinite(expected)
    np.testing.assert_array_equal(found[reached], expected[reached])
    assert (found[~reached] > expected[reached].max(initial=0)).all()


def endpoints(graph):
    return np.repeat(np.arange(graph.n), graph.degrees), graph.indices.astype(np.int64)


def check_strong_components(graph, device):
    check_components(graph, cg.scc(graph, config="multistep", device=device))


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("lanes", WAVES)
def test_every_word_does_what_it_promises(lanes, runtime, intel, pocl):
    """The contract of the vocabulary, in the text that the offline compilers get."""
    there = {"intel": intel, "pocl": pocl}[runtime]
    assert [found for found in check_lanes(there.emulating(lanes, "amdgcn")) if not found[1]] == []


# Enough to notice a break; searches on all of them, and all their forms, take minutes to build.
FEW_SHAPES = {"one-vertex", "no-edges", "two-components", "one-way-random"}
FEW_GRAPHS = {"classic-karate", "wiki-vote"}


def slow_but_for(few, name):
    return pytest.param(name, marks=[] if name in few else pytest.mark.slow)


@pytest.mark.rest
@pytest.mark.parametrize("shape", [slow_but_for(FEW_SHAPES, name) for name in SHAPES])
def test_awkward_shapes(shape, wide):
    graph = SHAPES[shape]
    plan = cg.BFS(graph, predecessors=True, device=wide)
    for source in sorted({0, graph.n // 2, graph.n - 1}):
        check_search(graph, source, plan.run(source))
    check_paths(graph, 0, wide)
    check_strong_components(graph, wide)


@pytest.mark.rest
@pytest.mark.parametrize("graph", [MIXED, MIXED_ONE_WAY], ids=["undirected", "directed"])
def test_both_widths(graph, wave):
    check_search(graph, 0, cg.bfs(graph, 0, predecessors=True, device=wave))
    check_paths(graph, 0, wave)
    check_strong_components(graph, wave)


@pytest.mark.parametrize(
    "preset", [slow_but_for({"enterprise"}, name) for name in cg.BFSConfig.presets()]
)
def test_every_form_of_search(preset, wide):
    for graph in (MIXED, MIXED_ONE_WAY):
        check_search(graph, 0, cg.bfs(graph, 0, predecessors=True, config=preset, device=wide))


@pytest.mark.slow
def test_persistent_kernels_of_many_groups(wave):
    config = cg.BFSConfig(schedule=cg.schedule.Persistent(groups=7))
    for graph in (MIXED, MIXED_ONE_WAY):
        result = cg.bfs(graph, 0, predecessors=True, config=config, device=wave)
        check_search(graph, 0, result)


def real_graphs():
    """Give a few of those that come with the tests; others and those of a collection are slow."""
    for name, load in bundled_graphs():
        for lanes in WAVES:
            marks = [] if name in FEW_GRAPHS and lanes == 64 else [pytest.mark.slow]
            yield pytest.param(load, lanes, id=f"{name}-{lanes}", marks=marks)
    for name, load in (*shared_graphs(), *shared_parts()):
        for lanes in WAVES:
            yield pytest.param(load, lanes, id=f"shared-{name}-{lanes}", marks=pytest.mark.slow)


@pytest.mark.parametrize(("load", "lanes"), list(real_graphs()))
def test_real_graphs(load, lanes, intel):
    """Searches equal SciPy's; a folder of graphs is CLGRAPH_TEST_GRAPHS, or beside the checkout."""
    graph, device = load(), intel.emulating(lanes, "amdgcn")
    source = int(np.argmax(graph.degrees))
    expected = csgraph.dijkstra(graph.to_scipy(), indices=source, unweighted=True)
    expected[np.isinf(expected)] = -1
    found = cg.bfs(graph, source, device=device)
    np.testing.assert_array_equal(found.distances, expected.astype(np.int32))
    check_paths(graph, source, device)
    check_strong_components(graph, device)


def test_emulation_is_of_waves_only(pocl):
    for lanes in (8, 16, 128):
        with pytest.raises(InvalidArgumentError, match="use 32 or 64"):
            pocl.emulating(lanes, "amdgcn")
    with pytest.raises(InvalidArgumentError, match="'local' or 'amdgcn'"):
        pocl.emulating(32, "ptx")
    named = cg.device("pocl+amdgcn64")
    assert named == pocl.emulating(64, "amdgcn") != pocl.emulating(64)
    assert "64 lanes of amdgcn" in repr(named)
    facts = dataclasses.asdict(named.traits)
    assert (facts["lane_ops"], facts["memory_ops"], facts["lanes"]) == ("amdgcn", "amdgcn", 64)
    assert facts["emulated"]
    assert not facts["grid_barrier"]
