"""Shortest paths on an NVIDIA GPU: whole results of every preset against scipy."""

import numpy as np
import pytest
from configs import sssp_config
from paths import DTYPES, check_paths, weighted
from searches import MIXED, MIXED_ONE_WAY

import clgraph as cg

pytestmark = pytest.mark.gpu

PRESETS = tuple(name for name in cg.SSSPConfig.presets() if name != "auto")
GRAPHS = {
    "kron": lambda: weighted(cg.generate.kron(14, 16, seed=2), np.int32, 1, 101),
    "grid": lambda: weighted(cg.generate.grid2d(300, 200), np.int32, 1, 101),
    "star": lambda: weighted(cg.generate.star(50000), np.int32, 1, 101),
    "path": lambda: weighted(cg.generate.path(5000), np.int32, 0, 3),
    "mixed": lambda: weighted(MIXED, np.int32, 0, 20),
    "one-way": lambda: weighted(MIXED_ONE_WAY, np.int32, 0, 20),
}


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("name", GRAPHS)
def test_presets(name, preset, gpu):
    graph = GRAPHS[name]()
    plan = cg.SSSP(graph, predecessors=True, config=preset, device=gpu)
    for source in (0, graph.n // 2):
        check_paths(graph, source, plan.run(source, verify=True))
    assert plan.run([0, 1], target=graph.n // 3).stats.mode == "persistent"


@pytest.mark.parametrize("dtype", DTYPES)
def test_types(dtype, gpu):
    graph = weighted(cg.generate.grid2d(90, 80), dtype, 0, 50)
    check_paths(graph, 7, cg.sssp(graph, 7, predecessors=True, device=gpu, verify=True))


@pytest.mark.parametrize("synchronisation", ["persistent", "stepped"])
@pytest.mark.parametrize("single_group", [True, False])
def test_ways_of_running(single_group, synchronisation, gpu):
    graph = GRAPHS["kron"]()
    config = sssp_config(
        method="near-far", single_group=single_group, synchronisation=synchronisation
    )
    result = cg.sssp(graph, 1, config=config, device=gpu)
    assert result.stats.mode == synchronisation
    check_paths(graph, 1, result)


def test_negative_weights_and_cycles(gpu):
    rng = np.random.default_rng(1)
    graph = cg.generate.kron(13, 8, seed=4)
    potentials = rng.integers(-40, 40, graph.n)
    sources = np.repeat(np.arange(graph.n), graph.degrees)
    costs = rng.integers(0, 30, graph.m) + potentials[graph.indices] - potentials[sources]
    leaning = cg.Graph(graph.indptr, graph.indices, costs.astype(np.int32))
    for config in (None, "h-bf"):
        result = cg.sssp(leaning, 1, predecessors=True, config=config, device=gpu, verify=True)
        check_paths(leaning, 1, result)
    costs[:] = 1
    costs[graph.indptr[1] : graph.indptr[2]] = -5
    with pytest.raises(cg.NegativeCycleError):
        cg.sssp(cg.Graph(graph.indptr, graph.indices, costs), 1, device=gpu)


@pytest.mark.parametrize("heavy", ["push", "switching"])
def test_heavy_edges(heavy, gpu):
    graph = GRAPHS["kron"]()
    for delta in (5, 20, 60):
        config = sssp_config(method="delta-stepping", heavy=heavy, delta=delta, hub_degree=256)
        check_paths(graph, 1, cg.sssp(graph, 1, config=config, device=gpu))
