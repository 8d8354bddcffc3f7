"""Levels whose frontier stays with the work-groups that found it, with one meeting between two."""

import dataclasses

import numpy as np
import pytest
from configs import bfs_config, changed
from graphs import SHAPES
from runtimes import device_or_skip
from searches import check_search

import clgraph as cg
from clgraph.algorithms.bfs import plan as module

GRID = cg.generate.grid2d(40, 30)
GRAPHS = {
    "grid": GRID,
    "random": cg.generate.random(1500, 6, seed=2),
    "geometric": cg.generate.geometric(1000, seed=2),
    "path": cg.generate.path(60),
    **{name: SHAPES[name] for name in ("hub", "no-edges", "one-self-loop")},
}
LIMITS = {
    "as-chosen": {},
    "never-alone": {"single_group": False},
    "in-turns": {"single_group_edges": 40, "direction": "push"},
    "little-room": {"single_group_capacity": 16, "single_group": False},
}


def resident_config(device, **more):
    """Give a configuration in which groups of several SIMD groups may hold their frontiers."""
    return bfs_config(
        membership="fixed",
        distribution="static",
        group_resident=True,
        hub_degree=0,
        group_size=4 * device.traits.lanes,
        **more,
    )


@pytest.fixture(scope="module")
def intel():
    return device_or_skip("intel")


@pytest.fixture
def resolved_with(monkeypatch):
    def patch(**changes):
        resolve = module.resolve
        monkeypatch.setattr(
            module, "resolve", lambda *a, **k: dataclasses.replace(resolve(*a, **k), **changes)
        )

    return patch


@pytest.mark.parametrize(
    ("limits", "predecessors"), [(limits, limits != "as-chosen") for limits in LIMITS]
)
def test_distances_and_trees(limits, predecessors, intel):
    for graph in GRAPHS.values():
        plan = cg.BFS(
            graph,
            predecessors=predecessors,
            config=resident_config(intel, **LIMITS[limits]),
            device=intel,
        )
        for source, max_depth in ((graph.n // 3, None), (0, 4), (graph.n - 1, None)):
            result = plan.run(source, max_depth=max_depth)
            check_search(graph, source, result, max_depth)
            assert result.stats.mode == "persistent"


def test_levels_are_recorded_and_counted_as_without(intel):
    without = changed(resident_config(intel), group_resident=False)
    one, other = (
        cg.BFS(GRID, config=config, device=intel).run(77)
        for config in (resident_config(intel), without)
    )
    for field in ("frontier", "edges"):
        np.testing.assert_array_equal(one.stats.per_level[field], other.stats.per_level[field])
    assert set(one.stats.per_level["direction"][:-1]) == {"push"}
    assert (one.reached, one.depth) == (other.reached, other.depth)
    assert one.stats.edges_traversed == other.stats.edges_traversed


def test_a_stage_of_resident_levels_ends_in_time_for_the_launch_to_pause(intel, resolved_with):
    resolved_with(resident_levels=3, launch_work=1)
    plan = cg.BFS(GRID, config=resident_config(intel, single_group=False), device=intel)
    result = plan.run(0)
    check_search(GRID, 0, result)
    assert result.stats.mode == "persistent"
    assert result.stats.launches > GRID.n**0.5 / 4


def test_uneven_groups_share_anew(intel, resolved_with):
    """With one vertex a group to bear, every level goes back to the queue."""
    resolved_with(resident_overfull=1, resident_uneven=0)
    result = cg.BFS(GRID, config=resident_config(intel, single_group=False), device=intel).run(5)
    check_search(GRID, 5, result)


def test_a_group_that_waits_in_vain_leaves_and_the_search_is_run_stepped(intel):
    """More groups than are resident: nobody hangs, the result is right."""
    config = resident_config(intel, groups=16, spin_limit=20_000, single_group=False)
    result = cg.BFS(GRID, config=config, device=intel).run(0)
    check_search(GRID, 0, result)


@pytest.mark.parametrize(
    "wrong", [{"membership": "open"}, {"distribution": "claimed"}, {"hub_degree": 1}]
)
def test_what_it_needs_is_said(wrong, intel):
    given = {
        "membership": "fixed",
        "distribution": "static",
        "hub_degree": 0,
        "group_size": 4 * intel.traits.lanes,
        **wrong,
    }
    with pytest.raises(
        cg.InvalidArgumentError, match="group_resident=True needs a persistent kernel"
    ):
        cg.BFS(GRID, config=bfs_config(group_resident=True, **given), device=intel)
    with pytest.raises(TypeError, match="group_resident"):
        cg.schedule.Stepped(group_resident=True)
