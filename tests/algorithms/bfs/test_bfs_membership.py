"""Work-groups that come late, are sent away or lose their processor change nothing but the time."""

import dataclasses

import numpy as np
import pytest
from configs import bfs_config
from runtimes import device_or_skip, run_under_pocl_threads

from clgraph.algorithms.bfs import plan as module
from clgraph.graph import generate

# Levels between these limits go back and forth between one work-group and all.
LIMITS = {
    "together": {"single_group": False},
    "alternating": {"single_group_edges": 300},
    "alone": {},
}
KNOBS = {
    "patient": {"single_patience": 2**31 - 1},
    "dismissing": {"single_patience": 0},
    "small tiles": {"push_tile": 1, "pull_tile": 1, "fill_tile": 64},
}


def distances_by_definition(graph, source):
    distances = np.full(graph.n, -1, np.int32)
    distances[source] = level = 0
    sources = np.repeat(np.arange(graph.n), graph.degrees)
    while True:
        found = graph.indices[distances[sources] == level]
        found = np.unique(found[distances[found] < 0])
        if not found.size:
            return distances
        level += 1
        distances[found] = level


@pytest.fixture(scope="module")
def searches():
    graphs = [generate.kron(11, 8, seed=3), generate.grid2d(60, 50), generate.random(3000, 6)]
    return [
        (graph, source, distances_by_definition(graph, source))
        for graph in graphs
        for source in (7, 1234)
    ]


@pytest.mark.parametrize("knobs", KNOBS)
@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("membership", ["open", "fixed"])
def test_distances_whoever_takes_part(membership, limits, knobs, searches, monkeypatch):
    device = device_or_skip("pocl")
    resolve = module.resolve
    monkeypatch.setattr(
        module,
        "resolve",
        lambda *args, **names: dataclasses.replace(resolve(*args, **names), **KNOBS[knobs]),
    )
    config = bfs_config(membership=membership, **LIMITS[limits])
    for graph, source, expected in searches:
        plan = module.BFS(graph, config=config, device=device)
        for _ in range(8):
            result = plan.run(source)
            np.testing.assert_array_equal(result.distances, expected)
            assert result.reached == np.count_nonzero(expected >= 0)
            assert result.stats.mode == "persistent"


CALLED_BACK = """
import dataclasses
import sys
sys.path.insert(0, "tests")
import clgraph as cg
from clgraph.algorithms.bfs import plan as module
from configs import bfs_config

resolve = module.resolve
module.resolve = lambda *args, **names: dataclasses.replace(
    resolve(*args, **names), single_patience=0
)
plan = cg.BFS(cg.generate.grid2d(60, 50), config=bfs_config(single_group_edges=100, groups=2))
# A group that comes only when there is work for it is not sent away: then one launch is all.
assert any(plan.run(7).stats.launches > 1 for _ in range(2000))
alone = cg.BFS(cg.generate.path(2000), config=bfs_config(groups=2))
assert all(alone.run(0).stats.launches == 1 for _ in range(5))
"""


def test_dismissed_groups_are_called_back():
    """The launch that sent them away pauses once a level is worth all of them."""
    run_under_pocl_threads(CALLED_BACK)


@pytest.mark.rest
def test_a_search_does_not_take_up_the_level_that_the_last_one_ended_with():
    """Both may publish under one number: a group paired words of one with those of the other."""
    device = device_or_skip("intel")
    graph = generate.grid2d(60, 50)
    config = bfs_config(
        membership="fixed",
        distribution="static",
        direction="push",
        hub_degree=0,
        group_size=4 * device.traits.lanes,
        single_group_edges=40,
    )
    plan = module.BFS(graph, config=config, device=device)
    expected = distances_by_definition(graph, 77)
    for _ in range(60):
        plan.run(0, max_depth=5)
        np.testing.assert_array_equal(plan.run(77).distances, expected)
