"""What a search gives back: results that live as long as they are wanted, and honest stats."""

import gc
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from configs import bfs_config
from searches import MIXED, MIXED_SOURCES, SEARCH_RUNTIMES, check_search

import clgraph as cg
from clgraph.device import Memory
from clgraph.errors import DeviceMemoryError

pytestmark = pytest.mark.runtimes(*SEARCH_RUNTIMES)

ALWAYS_PULL = {"alpha": 2**30, "pull_floor": 2**30}


@pytest.fixture
def allocations(monkeypatch):
    """Names of everything allocated on a device from here on."""
    names = []
    allocate = Memory.allocate

    def noted(self, name, count, dtype):
        names.append(name)
        return allocate(self, name, count, dtype)

    monkeypatch.setattr(Memory, "allocate", noted)
    return names


@pytest.mark.parametrize("predecessors", [False, True])
def test_two_results_of_one_plan_are_apart(predecessors, device):
    plan = cg.BFS(MIXED, predecessors=predecessors, device=device)
    for first, second in pairwise(MIXED_SOURCES):
        results = [plan.run(first), plan.run(second), plan.run(first)]
        for result in results:  # all read after all were searched
            check_search(MIXED, result.source, result)


def test_buffers_of_forgotten_results_serve_again(allocations, device):
    plan = cg.BFS(MIXED, predecessors=True, device=device)
    before = plan.run(MIXED_SOURCES[0])
    plan.run(MIXED_SOURCES[0])
    held = len(allocations)
    assert "distances" in allocations
    for source in MIXED_SOURCES * 5:
        result = plan.run(source)
        assert before.reached >= 1  # two are alive
        before = result
    assert allocations[held:] == []


def test_a_detached_result_needs_no_buffers(allocations, device):
    plan = cg.BFS(MIXED, predecessors=True, device=device)
    held = len(allocations)
    results = []
    for source in MIXED_SOURCES:
        results.append(plan.run(source))
        results[-1].detach()
        results[-1].detach()
    assert allocations[held:] == []
    for source, result in zip(MIXED_SOURCES, results, strict=True):
        check_search(MIXED, source, result)
        check_stats(MIXED, result)


def test_results_kept_alive_take_buffers_of_their_own(allocations, device):
    plan = cg.BFS(MIXED, device=device)
    held = len(allocations)
    results = [plan.run(source) for source in MIXED_SOURCES]
    assert allocations[held:].count("distances") == len(results) - 1
    for result in results:
        check_search(MIXED, result.source, result)


def test_full_memory_makes_room_by_reading_what_is_held(monkeypatch, device):
    plan = cg.BFS(MIXED, predecessors=True, device=device)

    def full():
        raise DeviceMemoryError("distances needs 6000 bytes, but 0 are free")

    monkeypatch.setattr(plan._pool, "_make", full)
    results = [plan.run(source) for source in MIXED_SOURCES]
    for result in results:
        check_search(MIXED, result.source, result)
        check_stats(MIXED, result)


def test_results_outlive_their_plan(device):
    plan = cg.BFS(MIXED, predecessors=True, device=device)
    results = [plan.run(source) for source in MIXED_SOURCES[:2]]
    del plan
    gc.collect()
    cg.bfs(MIXED, MIXED_SOURCES[2], predecessors=True, device=device)
    for result in results:
        check_search(MIXED, result.source, result)
        check_stats(MIXED, result)


def test_stats_outlive_their_result(device):
    plan = cg.BFS(MIXED, device=device)
    stats = plan.run(MIXED_SOURCES[0]).stats
    gc.collect()
    other = plan.run(MIXED_SOURCES[3])
    expected = np.bincount(cg.bfs(MIXED, MIXED_SOURCES[0], device=device).distances + 1)[1:]
    np.testing.assert_array_equal(stats.per_level["frontier"], expected)
    check_search(MIXED, MIXED_SOURCES[3], other)


def test_arrays_are_copied_once_and_are_the_callers(device):
    plan = cg.BFS(MIXED, predecessors=True, device=device)
    result = plan.run(MIXED_SOURCES[0])
    assert result.distances is result.distances
    assert result.predecessors is result.predecessors
    result.distances[:] = 7
    check_search(MIXED, MIXED_SOURCES[0], plan.run(MIXED_SOURCES[0]))


def test_a_failed_run_leaves_a_plan_that_works(monkeypatch, allocations, device):
    plan = cg.BFS(MIXED, device=device)
    held = len(allocations)
    with pytest.raises(cg.InvalidArgumentError):
        plan.run(MIXED.n)
    with monkeypatch.context() as patch:

        def interrupted(*_args, **_hooks):
            raise KeyboardInterrupt

        patch.setattr(plan._stages, "finish", interrupted)
        with pytest.raises(KeyboardInterrupt):
            plan.run(0)
    check_search(MIXED, MIXED_SOURCES[0], plan.run(MIXED_SOURCES[0]))
    assert allocations[held:] == []


def test_threads_may_share_a_plan(device):
    plan = cg.BFS(MIXED, predecessors=True, device=device)
    sources = MIXED_SOURCES * 4
    with ThreadPoolExecutor(4) as pool:
        for source, result in zip(sources, pool.map(plan.run, sources), strict=True):
            assert result.source == source
            check_search(MIXED, source, result)


def check_stats(graph, result):
    """Everything that API.md promises of the stats of a traversal, against the distances."""
    stats, reached = result.stats, result.distances >= 0
    assert stats.levels == result.depth + 1
    assert isinstance(stats.edges_traversed, int)
    assert stats.edges_traversed == graph.degrees[reached].sum()
    assert stats.kernel_ms > 0
    assert stats.teps == pytest.approx(1e3 * stats.edges_traversed / stats.kernel_ms)
    assert stats.mode in ("persistent", "stepped")
    assert stats.launches >= 1
    assert stats.energy is None
    levels = stats.per_level
    assert levels.dtype.names == ("frontier", "edges", "direction", "microseconds")
    assert len(levels) == stats.levels
    np.testing.assert_array_equal(levels["frontier"], np.bincount(result.distances[reached]))
    degrees = graph.degrees[reached].astype(float)
    edges = np.bincount(result.distances[reached], weights=degrees)
    np.testing.assert_array_equal(levels["edges"], edges)
    assert levels["edges"].sum() == stats.edges_traversed
    # What is done with a level is to expand it; nothing is done with the last.
    assert set(levels["direction"][:-1]) <= {"push", "pull"}
    assert levels["direction"][-1] in ("push", "pull", "end")
    expanded = levels["microseconds"][levels["direction"] != "end"]
    known = expanded[~np.isnan(expanded)]
    assert (known >= 0).all()
    assert known.sum() <= 1e3 * stats.kernel_ms + 50


@pytest.mark.parametrize(("max_depth", "expected"), [(None, [3.0] * 6), (3, [3.0] * 3 + [0.0])])
def test_microseconds_of_levels_are_those_of_the_clock(max_depth, expected, pocl):
    """Of nanoseconds modulo 2**32, until the next level; where nothing is expanded, none."""
    config = bfs_config(direction="push")
    plan = cg.BFS(cg.generate.path(6), config=config, device=pocl)
    stats = plan.run(0, max_depth=max_depth).stats
    recorded = stats._findings.levels
    recorded[:, 3] = (2**32 - 5000 + 3000 * np.arange(len(recorded))) % 2**32
    assert stats.per_level["microseconds"].tolist() == expected


@pytest.mark.parametrize("max_depth", [None, 0, 2])
@pytest.mark.parametrize("synchronisation", ["persistent", "stepped"])
@pytest.mark.parametrize(
    "rest",
    [{}, {"direction": "push"}, {"single_group": False}, {**ALWAYS_PULL, "single_group": False}],
    ids=str,
)
def test_stats(rest, synchronisation, max_depth, device):
    config = bfs_config(synchronisation=synchronisation, **rest)
    plan = cg.BFS(MIXED, config=config, device=device)
    for source in MIXED_SOURCES:
        start = time.perf_counter()
        result = plan.run(source, max_depth=max_depth)
        wall_ms = 1e3 * (time.perf_counter() - start)
        check_stats(MIXED, result)
        assert 0 < result.stats.total_ms <= wall_ms
        assert result.stats.mode == synchronisation
        assert result.stats.config == plan.config
        if "direction" in rest:
            assert "pull" not in result.stats.per_level["direction"]
        if synchronisation == "persistent":
            # Where work is claimed, groups that were sent away come back with another launch.
            claimed = result.stats.config.distribution == "claimed"
            assert result.stats.launches == 1 or claimed


def test_levels_beyond_those_that_are_kept(pocl):
    graph = cg.generate.path(70_000)
    result = cg.bfs(graph, 0, device=pocl)
    assert result.stats.levels == 70_000
    assert len(result.stats.per_level) == 2**16
    assert (result.stats.per_level["frontier"] == 1).all()
    assert (result.stats.per_level["edges"][1:] == 2).all()
    assert result.stats.edges_traversed == graph.m


def test_a_result_tells_what_it_is(any_device):
    result = cg.bfs(MIXED, MIXED_SOURCES[-1], device=any_device)
    assert repr(result) == f"BFSResult(source={MIXED_SOURCES[-1]}, depth=0, reached=1)"
    assert result.predecessors is None
