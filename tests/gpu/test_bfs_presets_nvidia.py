"""Every published system's search on a real NVIDIA card: whole results, and what each must do."""

from functools import cache

import numpy as np
import pytest
from configs import bfs_config
from searches import MIXED, MIXED_ONE_WAY, check_search

import clgraph as cg
from clgraph.errors import InvalidArgumentError

pytestmark = pytest.mark.gpu

GRAPHS = {
    "kron-14": lambda: cg.generate.kron(14, seed=1),
    "kron-17": lambda: cg.generate.kron(17, seed=2),
    "rmat-directed": lambda: cg.generate.rmat(14, seed=3),
    "grid": lambda: cg.generate.grid2d(300, 300),
    "star": lambda: cg.generate.star(100_000),
    "random-directed": lambda: cg.generate.random(50_000, 8, directed=True, seed=5),
    "one-vertex": lambda: cg.from_edges([], [], n=1),
    "no-edges": lambda: cg.from_edges([], [], n=5000),
    "mixed": lambda: MIXED,
    "mixed-one-way": lambda: MIXED_ONE_WAY,
}
SHAPES = [name for name in GRAPHS if name != "kron-17"]


@cache
def graph_called(name):
    return GRAPHS[name]()


def some_sources(graph):
    """The busiest vertex, one in the middle, the last, and one without edges if there is any."""
    lone = np.flatnonzero(graph.degrees == 0)[:1].tolist()
    return sorted({int(np.argmax(graph.degrees)), graph.n // 2, graph.n - 1, *lone})


def check_everywhere(config, gpu, names, *, predecessors=True):
    for name in names:
        graph = graph_called(name)
        plan = cg.BFS(graph, predecessors=predecessors, config=config, device=gpu)
        for source in some_sources(graph):
            check_search(graph, source, plan.run(source, verify=True))


@pytest.mark.parametrize("predecessors", [False, True])
@pytest.mark.parametrize("preset", cg.BFSConfig.presets())
def test_whole_results_of_every_preset(preset, predecessors, gpu):
    check_everywhere(preset, gpu, SHAPES, predecessors=predecessors)


BESIDE = {
    "status of a byte": {"queue": "status", "status_bits": 8, "hub_cache": 64},
    "hubs in bins": {"hub_degree": 64, "hub_bins": True},
    "inexact hubs in bins": {"hub_degree": 64, "hub_bins": True, "visited": "mask"},
    "ranks in any order": {"balance": "cws", "group_scan": "unordered", "direction": "push"},
    "counting": {"counts": True, "direction": "push", "update": "registers", "scan": "binary"},
}


@pytest.mark.parametrize("name", BESIDE)
def test_dimensions_beside_the_presets(name, gpu):
    """bfs-enterprise 20, bfs-helix 11, 15 and 20, on whole graphs."""
    check_everywhere(
        bfs_config(**BESIDE[name]), gpu, ("kron-14", "mixed-one-way", "grid", "star", "no-edges")
    )


@pytest.mark.parametrize("part", range(2))
def test_points_of_the_space(part, gpu):
    """A point here and there: each is built and run on graphs of several shapes."""
    every = list(cg.BFSConfig.space())
    for index in np.random.default_rng(part).choice(len(every), 4, replace=False):
        frontier, pull = every[index].frontier, every[index].pull
        if (
            frontier is not None
            and frontier.visited == "labels"
            and pull is not None
            and pull.name != "never"
        ):
            with pytest.raises(InvalidArgumentError, match="one-lane devices"):
                cg.BFS(MIXED, config=every[index], device=gpu)
        else:
            check_everywhere(every[index], gpu, ("mixed", "mixed-one-way", "grid"))


def test_hybrid_goes_both_ways(gpu):
    stats = cg.bfs(graph_called("kron-17"), 5, config="merrill-hybrid", device=gpu).stats
    assert {"contract", "contract_expand"} == set(stats.stages)
    assert stats.redundancy.max() < 1.3


def test_enterprise_switches_once_and_uses_its_cache(gpu):
    graph = graph_called("kron-17")
    stats = cg.bfs(graph, int(np.argmax(graph.degrees)), config="enterprise", device=gpu).stats
    ways = list(stats.per_level["direction"])
    assert stats.tallies["switches"] == 1
    assert ways == sorted(ways[:-1], reverse=True) + ways[-1:]
    assert 0 < stats.hub_cache_hit_rate <= 1
    assert stats.tallies["pulled_edges"] < graph.m / 2
