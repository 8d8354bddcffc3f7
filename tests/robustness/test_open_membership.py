"""Groups that join in any order, and late, share static work completely and without overlap."""

import pytest
from runtimes import run_under_pocl_threads

SEARCHES = """
import numpy as np
import clgraph as cg
from clgraph import verify

graph = cg.generate.random(20_000, 8, seed=3)
config = cg.BFSConfig(
    schedule=cg.schedule.Persistent(
        membership="open", distribution="static", groups={groups}, single_group=False
    ),
    limits=cg.limits.Limits(patience=0),
    pull={pull!r},
)
plan = cg.BFS(graph, config=config, device="pocl")
for source in range(0, graph.n, 500):
    result = plan.run(source)
    assert result.stats.mode == "persistent"
    verify.distances(graph, source, result.distances)
print("right")
"""


@pytest.mark.rest
@pytest.mark.parametrize("groups", [8, 24])
@pytest.mark.parametrize("pull", ["never", "edges"])
def test_groups_may_join_in_any_order(groups: int, pull: str) -> None:
    """A group that counted itself by its id took another's share when ids joined out of order."""
    run_under_pocl_threads(SEARCHES.format(groups=groups, pull=pull))


STRESS = """
import time
import clgraph as cg
from clgraph import verify

graphs = [cg.generate.kron(11, 8, seed=3), cg.generate.random(3000, 6)]
config = cg.BFSConfig(
    schedule=cg.schedule.Persistent(membership="open", single_group=False),
    limits=cg.limits.Limits(patience=0),
)
plans = [cg.BFS(graph, config=config, device="pocl") for graph in graphs]
until = time.monotonic() + 60
while time.monotonic() < until:
    for plan in plans:
        for source in (7, 1234):
            result = plan.run(source)
            assert result.stats.mode == "persistent"
            assert result.reached == (result.distances >= 0).sum()
            verify.distances(plan.graph, source, result.distances)
print("right")
"""


@pytest.mark.slow
def test_a_group_that_loses_its_processor_while_it_arrives_decides_nothing() -> None:
    """Such a group once closed a later stage: one search in 60,000 counted its vertices twice."""
    run_under_pocl_threads(STRESS)
