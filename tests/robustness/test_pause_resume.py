"""A launch whose budget of work is spent stops at a level boundary and is resumed from there."""

import dataclasses

import numpy as np
import pytest
from configs import bfs_config
from searches import (
    MIXED,
    MIXED_ONE_WAY,
    MIXED_ONE_WAY_SOURCES,
    MIXED_SOURCES,
    SEARCH_RUNTIMES,
    check_search,
)

import clgraph as cg
from clgraph.algorithms.bfs import plan as bfs_module

PATH = cg.generate.path(700)
CONFIGS = {
    "default": {},
    "push": {"direction": "push"},
    "never-single_group": {"single_group": False},
    "pull-never-single_group": {"single_group": False, "alpha": 2**30, "pull_floor": 2**30},
    "open-to-seven": {"membership": "open", "groups": 7, "single_group": False},
}
# The budget is looked at where edges are weighed: every 256 levels at least, and in every
# level. A path of 700 vertices has two such levels after the first.
FEWEST_LAUNCHES_OF_PATH = 3


@pytest.fixture
def plan_with_budget(monkeypatch):
    """Make plans whose launches may do so much work; a run-time argument, so nothing is rebuilt."""
    resolve = bfs_module.resolve

    def make(graph, budget, **options):
        def resolve_with_budget(*args, **more):
            return dataclasses.replace(resolve(*args, **more), launch_work=budget)

        monkeypatch.setattr(bfs_module, "resolve", resolve_with_budget)
        return cg.BFS(graph, **options)

    return make


@pytest.mark.runtimes(*SEARCH_RUNTIMES)
@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("predecessors", [pytest.param(False, marks=pytest.mark.slow), True])
def test_any_budget_gives_the_same_result(name, predecessors, device, plan_with_budget):
    rng = np.random.default_rng(17)
    options = {
        "device": device,
        "config": bfs_config(**CONFIGS[name]),
        "predecessors": predecessors,
    }
    graphs = ((MIXED, MIXED_SOURCES), (MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES))
    most_launches = 0
    for round_ in range(20):
        budget = int(10 ** rng.uniform(0, 5.5))
        graph, sources = graphs[round_ % 2]
        plan = plan_with_budget(graph, budget, **options)
        for source in (sources[round_ % len(sources)], sources[0]):
            result = plan.run(source)
            check_search(graph, source, result)
            assert result.stats.mode == "persistent"
            most_launches = max(most_launches, result.stats.launches)
    assert most_launches > 1


@pytest.mark.runtimes(*SEARCH_RUNTIMES)
@pytest.mark.parametrize("name", CONFIGS)
def test_a_long_search_takes_several_launches(name, device, plan_with_budget):
    config = bfs_config(**CONFIGS[name])
    result = plan_with_budget(PATH, 1, device=device, config=config).run(0)
    check_search(PATH, 0, result)
    assert result.stats.launches >= FEWEST_LAUNCHES_OF_PATH
    assert result.stats.mode == "persistent"
    in_one = plan_with_budget(PATH, 10**12, device=device, config=config).run(0)
    assert in_one.stats.launches == 1
    np.testing.assert_array_equal(
        result.stats.per_level["frontier"], in_one.stats.per_level["frontier"]
    )


@pytest.mark.runtimes(*SEARCH_RUNTIMES)
def test_depth_limit_across_launches(device, plan_with_budget):
    plan = plan_with_budget(PATH, 1, device=device)
    for max_depth in (0, 1, 255, 256, 257, 513, 698, 699, 2000):
        check_search(PATH, 0, plan.run(0, max_depth=max_depth), max_depth=max_depth)
