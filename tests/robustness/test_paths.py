"""Searches by weight that are paused, overfull, emulated, and watched by Oclgrind."""

import dataclasses
import json

import numpy as np
import pytest
from configs import sssp_config
from paths import check_paths, weighted
from runtimes import run_under_oclgrind, run_under_pocl_threads
from searches import MIXED, MIXED_ONE_WAY

import clgraph as cg
from clgraph.algorithms.sssp import choose as sssp_choose
from clgraph.algorithms.sssp import plan as sssp_module
from clgraph.engine import resident

METHODS = {
    "near-far": {"method": "near-far", "delta": 9},
    "delta-stepping": {"method": "delta-stepping", "delta": 9},
    "bellman-ford": {"method": "bellman-ford"},
    "self-tuning": {"method": "self-tuning", "set_point": 60},
}
# Oclgrind crashes where it tracks uninitialised values through builtins of doubles, so there the
# controller is the host's; all else is the same.
WATCHED = METHODS | {"self-tuning": {**METHODS["self-tuning"], "controller": "host"}}
GRID = weighted(cg.generate.grid2d(30, 20), np.int32, 0, 40)

CHECKED = """
import json, sys
sys.path.insert(0, "tests")
import numpy as np
import clgraph as cg
from configs import sssp_config
from paths import check_paths

case = json.loads(sys.argv[1])
spec, sizes, trees = case.pop("device"), case.pop("sizes"), case.pop("trees", (True, False))
rng = np.random.default_rng(2)
n, m = sizes
src = np.concatenate([rng.integers(0, n - 10, m), np.zeros(40, int), [7, 7]])
dst = np.concatenate([rng.integers(0, n - 10, m), rng.integers(0, n - 3, 40), [7, 7]])
graph = cg.from_edges(src, dst, rng.integers(0, 30, src.size).astype(np.int32), n=n)
for predecessors in trees:
    config = sssp_config(**case)
    plan = cg.SSSP(graph, predecessors=predecessors, config=config, device=spec)
    for source in (0, n // 2, [1, n - 1, 5]):
        check_paths(graph, source, plan.run(source))
        plan.run(source, target=3)
"""


@pytest.mark.runtimes("pocl")
@pytest.mark.parametrize("single_group", [True, False])
@pytest.mark.parametrize("name", METHODS)
def test_any_budget_gives_the_same_result(name, single_group, device, monkeypatch):
    resolve = sssp_module.resolve_paths
    config = sssp_config(**METHODS[name], single_group=single_group)
    launches = []
    for budget in (1, 40, 3000, 10**12):

        def resolve_with_budget(*args, work=budget):
            return dataclasses.replace(resolve(*args), launch_work=work)

        monkeypatch.setattr(sssp_module, "resolve_paths", resolve_with_budget)
        for graph in (GRID, weighted(MIXED_ONE_WAY)):
            plan = cg.SSSP(graph, predecessors=True, config=config, device=device)
            for source in (0, graph.n // 2):
                result = plan.run(source)
                check_paths(graph, source, result)
                assert result.stats.mode == "persistent"
            launches.append(result.stats.launches)
    assert launches[0] > 5
    assert launches[-1] == 1


@pytest.mark.parametrize("name", WATCHED)
@pytest.mark.parametrize("group_size", [1, 2])
def test_no_word_is_used_that_was_not_written(name, group_size, tmp_path):
    """Nor any out of bounds; one group, so that races would be those of its own work-items."""
    case = {"device": "oclgrind", "sizes": (40, 90), "group_size": group_size, **WATCHED[name]}
    checks = ("UNINITIALIZED", "DATA_RACES") if group_size == 1 else ("UNINITIALIZED",)
    case |= {"groups": 1}
    run_under_oclgrind(CHECKED, json.dumps(case), log_folder=tmp_path, checks=checks)


def test_the_controller_of_the_device_is_faultless(tmp_path):
    case = {"device": "oclgrind", "sizes": (40, 90), "groups": 1, **METHODS["self-tuning"]}
    run_under_oclgrind(CHECKED, json.dumps(case), log_folder=tmp_path, checks=("DATA_RACES",))


@pytest.mark.rest
@pytest.mark.parametrize("trees", [True, False])
def test_several_groups_use_only_what_was_written(trees, tmp_path):
    case = {
        "device": "oclgrind",
        "sizes": (40, 90),
        "groups": 3,
        "single_group": False,
        "trees": [trees],
    }
    run_under_oclgrind(
        CHECKED, json.dumps(case), log_folder=tmp_path, checks=("UNINITIALIZED",), threads=2
    )


@pytest.mark.rest
@pytest.mark.parametrize("name", METHODS)
def test_more_groups_than_processors(name):
    case = {
        "device": "pocl",
        "sizes": (4000, 30000),
        "groups": 8,
        "single_group": False,
        **METHODS[name],
    }
    run_under_pocl_threads(CHECKED, json.dumps(case))


@pytest.mark.parametrize(
    ("drift", "synchronisation"),
    [
        (0, "persistent"),
        (5, "stepped"),
        pytest.param(0, "stepped", marks=pytest.mark.slow),
        pytest.param(5, "persistent", marks=pytest.mark.slow),
    ],
)
def test_emulated_lanes(drift, synchronisation, intel):
    """The stepped form is the oracle of the persistent one, also where groups drift apart."""
    device = intel.emulating(8)
    config = sssp_config(
        method="near-far", drift=drift, synchronisation=synchronisation, kernels="fused"
    )
    for graph in (GRID, weighted(MIXED, np.int32, 0, 9)):
        plan = cg.SSSP(graph, predecessors=True, config=config, device=device)
        for source in (0, graph.n // 2, graph.n - 1):
            result = plan.run(source)
            assert result.stats.mode == synchronisation
            check_paths(graph, source, result)


@pytest.mark.runtimes("pocl")
@pytest.mark.parametrize("name", METHODS)
def test_row_offsets_of_64_bits(name, device, monkeypatch):
    """As graphs of 2**32 edges need them: the same kernels, rendered for those."""
    resolve = sssp_choose.resolve
    monkeypatch.setattr(
        sssp_choose, "resolve", lambda *args, **more: resolve(*args, **{**more, "m": 2**33})
    )
    monkeypatch.setattr(resident, "offsets_dtype", lambda _m: np.dtype(np.uint64))
    # A graph of its own, so that nobody else's resident arrays are found.
    graph = weighted(cg.generate.grid2d(31, 20), np.int32, 0, 40)
    config = sssp_config(**METHODS[name])
    plan = cg.SSSP(graph, predecessors=True, config=config, device=device)
    assert plan.config.wide_offsets
    for source in (0, 300):
        check_paths(graph, source, plan.run(source, verify=True))


@pytest.mark.slow
def test_split_kernels(intel):
    """A kernel for each stage, as for compilers that one kernel of all overwhelms."""
    config = sssp_config(synchronisation="stepped", kernels="split")
    result = cg.sssp(GRID, 5, config=config, device=intel.emulating(8))
    assert result.stats.config.kernels == "split"
    check_paths(GRID, 5, result)


@pytest.mark.rest
def test_groups_that_drift_apart(intel):
    """More hops than there are, none, frontiers beyond the limit, and hubs."""
    for drift, limit, hubs in ((1000, 1 << 15, 0), (16, 1, 8)):
        config = sssp_config(drift=drift, drift_limit=limit, hub_degree=hubs, delta=60)
        for graph in (GRID, weighted(MIXED)):
            plan = cg.SSSP(graph, config=config, device=intel)
            assert plan.config.drift == drift
            for source in (0, 7, graph.n - 1):
                result = plan.run(source)
                check_paths(graph, source, result)
            levels = plan.run(0).stats
            near = levels.per_level["direction"] == "near"
            assert levels.per_level["edges"][near].sum() == levels.relaxations


@pytest.mark.parametrize(
    ("drift", "limit", "hubs"), [(16, 1 << 15, 0), (3, 1 << 15, 0), (16, 1, 0), (16, 1 << 15, 8)]
)
@pytest.mark.parametrize("lanes", [pytest.param(0, id="subgroups"), 8])
def test_edges_are_counted_where_groups_drift_apart(lanes, drift, limit, hubs, intel):
    """Each that is relaxed once, also of what a tile left for the next one, and of hubs."""
    device = intel.emulating(lanes) if lanes else intel
    config = sssp_config(
        method="near-far", drift=drift, drift_limit=limit, hub_degree=hubs, delta=60,
        counts=True, kernels="fused", single_group=False,
    )  # fmt: skip
    for graph in (GRID, weighted(cg.generate.kron(8, 8, seed=1), np.int32, 1, 60)):
        plan = cg.SSSP(graph, config=config, device=device)
        assert plan.config.drift == drift
        result = plan.run(5)
        assert result.stats.relaxations == result.stats.counters["RELAXED"]
        assert result.stats.relaxations >= result.stats.edges_traversed


@pytest.mark.slow
def test_heavy_edges_that_are_looked_along(intel):
    """Fewer edges are looked at where few vertices have most; whole numbers or rounded ones."""
    skewed = weighted(cg.generate.kron(10, 16, seed=3))
    hub = int(np.argmax(skewed.degrees))
    costs = np.random.default_rng(4).choice([1e-6, 1.0, 1e6], MIXED_ONE_WAY.m).astype(np.float32)
    rounded = cg.Graph(MIXED_ONE_WAY.indptr, MIXED_ONE_WAY.indices, costs)
    work = {}
    for heavy, graphs in (("push", [skewed]), ("switching", [skewed, rounded])):
        config = sssp_config(method="delta-stepping", heavy=heavy, hub_degree=8, delta=20)
        for graph in graphs:
            plan = cg.SSSP(graph, config=config, device=intel)
            for source in (hub, 0, graph.n // 2, [1, 2, 3]):
                check_paths(graph, source, plan.run(source))
            work[heavy, graph.m] = plan.run(hub).stats.relaxations
    assert work["switching", skewed.m] < 0.7 * work["push", skewed.m]
