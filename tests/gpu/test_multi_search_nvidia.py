"""Many searches at once on a real NVIDIA card: whole results, every way to run."""

import math

import numpy as np
import pyopencl as cl
import pytest
from scipy.sparse.csgraph import shortest_path
from searches import MIXED, MIXED_ONE_WAY, MIXED_SOURCES, expected_distances

import clgraph as cg

pytestmark = pytest.mark.gpu

DISTANCES = {
    "state": {"hops": cg.State("int32", fill=-1)},
    "init": "if (lid == 0) hops[src] = 0;",
    "visit": "if (FIRST(v)) { hops[v] = level + 1; ENQ(v); }",
}
CONFIGS = {name: name for name in cg.MultiSearchConfig.presets()} | {
    **{f"groups-of-{size}": cg.MultiSearchConfig(group_size=size) for size in (32, 256, 1024)},
    "threshold-4-warp-search": cg.MultiSearchConfig(threshold=4, balance="warp_search"),
    "warp-search": cg.MultiSearchConfig(threshold=math.inf, balance="warp_search"),
}
METHODS = ("multi-search", "bit-parallel", "auto")


@pytest.mark.parametrize("config", CONFIGS)
def test_checklist_2_every_variant(config, gpu):
    kron = cg.generate.kron(13, seed=8)
    for graph in (MIXED, MIXED_ONE_WAY, kron, cg.generate.road(60, seed=2)):
        plan = cg.MultiSearch(graph, **DISTANCES, config=CONFIGS[config], device=gpu)
        sources = np.random.default_rng(1).integers(0, graph.n, 300)
        hops = plan.run(sources)["hops"]
        for j in range(0, 300, 37):
            np.testing.assert_array_equal(hops[j], expected_distances(graph, int(sources[j])))
        again = plan.run(sources)["hops"]
        np.testing.assert_array_equal(hops, again)


def test_kernels_fit_their_registers(gpu):
    plan = cg.MultiSearch(MIXED, **DISTANCES, config="hybrid", device=gpu)
    assert plan._kernel.registers is not None
    assert plan._kernel.spill_bytes == 0


@pytest.mark.filterwarnings("ignore::pyopencl.CompilerWarning")  # the assembler tells registers
def test_checklist_10_rows_are_read_by_the_non_coherent_path(gpu):
    plan = cg.MultiSearch(MIXED, **DISTANCES, config="hybrid", device=gpu)
    program = cl.Program(gpu.context, plan._source).build(options=list(gpu.traits.build_options))
    text = program.binaries[0].decode(errors="replace")
    loads = [line for line in text.splitlines() if "ld.global.nc.u32" in line]
    assert len(loads) >= 2  # of rows, and of their edge_targets


@pytest.mark.parametrize(
    "options", [{}, {"method": "shared"}, {"method": "ordered"}, {"config": "hybrid"}]
)
def test_betweenness(options, gpu):
    digraphs = () if options.get("method") == "ordered" else (MIXED_ONE_WAY,)
    for graph in (cg.generate.kron(8, seed=3), cg.generate.grid2d(15, 12), MIXED, *digraphs):
        some = np.arange(0, graph.n, 5)
        found = cg.betweenness_centrality(graph, some, False, device=gpu, **options)
        expected = brandes(graph, some)
        seen = np.full(graph.n, some.size)
        seen[some] -= 1
        paths = found * seen * (1 if graph.directed else 2) / (graph.n - 1)
        np.testing.assert_allclose(paths, expected, rtol=1e-6, atol=1e-9)


def test_betweenness_by_weight(gpu):
    """Weights that are all alike count the paths of hops; others are added up."""
    for graph in (cg.generate.kron(8, seed=3), MIXED, MIXED_ONE_WAY):
        for dtype in (np.int32, np.float64):
            alike = np.full(graph.m, 3, dtype)
            thin = cg.Graph(graph.indptr, graph.indices, alike, directed=graph.directed)
            some = np.arange(0, graph.n, 9)
            for function in (cg.betweenness_centrality, cg.edge_betweenness_centrality):
                found = function(thin, some, weighted=True, device=gpu)
                np.testing.assert_allclose(found, function(graph, some, device=gpu), rtol=1e-6)
    steps = cg.from_edges([0, 1, 0, 2], [1, 3, 2, 3], np.array([1, 2, 2, 1], np.int32))
    found = cg.betweenness_centrality(steps, [0], False, weighted=True, device=gpu)
    assert found[1:].tolist() == [1.5, 1.5, 0]


def brandes(graph, sources):
    """Betweenness by matrices: paths and shares level by level."""
    thin = graph.to_scipy().astype(float)
    thin.sum_duplicates()
    thin.data[:] = 1
    total = np.zeros(graph.n)
    hops = shortest_path(thin, unweighted=True, indices=sources)
    for row, source in zip(hops, sources, strict=True):
        depth = int(row[np.isfinite(row)].max())
        paths = np.zeros(graph.n)
        paths[source] = 1
        for level in range(1, depth + 1):
            step = thin.T @ np.where(row == level - 1, paths, 0)
            paths = np.where(row == level, step, paths)
        shares = np.zeros(graph.n)
        for level in range(depth - 1, -1, -1):
            here = row == level + 1
            parts = np.where(here, (1 + shares) / np.where(here, paths, 1), 0)
            shares = np.where(row == level, paths * (thin @ parts), shares)
        shares[source] = 0
        total += shares
    return total


@pytest.mark.parametrize("method", METHODS)
def test_distances_and_totals(method, gpu):
    options = {"method": method, "device": gpu}
    for graph in (MIXED, MIXED_ONE_WAY, cg.generate.kron(10, seed=3), cg.generate.road(30, seed=2)):
        found = shortest_path(graph.to_scipy(), unweighted=True)
        expected = np.where(np.isinf(found), -1, found).astype(np.int32)
        for count in (1, 20, 100, graph.n):
            some = np.random.default_rng(count).choice(graph.n, count, replace=False)
            np.testing.assert_array_equal(cg.apsp(graph, some, **options), expected[some])
            np.testing.assert_array_equal(cg.reachable(graph, some, **options), expected[some] >= 0)
            farthest = cg.eccentricity(graph, some, disconnected="ignore", **options)
            np.testing.assert_array_equal(farthest, expected[some].max(axis=1))
            closeness = cg.closeness_centrality(graph, some, wf_improved=False, **options)
            inward = np.where(expected < 0, 0, expected)[:, some].sum(axis=0)
            reached = (expected >= 0)[:, some].sum(axis=0) - 1
            np.testing.assert_allclose(closeness, reached / np.maximum(inward, 1))
        assert cg.diameter(graph, disconnected="ignore", device=gpu) == expected.max()


def test_sources_of_every_kind(gpu):
    hops = cg.apsp(MIXED, MIXED_SOURCES, device=gpu)
    for row, source in zip(hops, MIXED_SOURCES, strict=True):
        np.testing.assert_array_equal(row, expected_distances(MIXED, source))
