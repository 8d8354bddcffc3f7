"""Connected components, whatever way the edges point: whole results against scipy."""

from functools import cache

import numpy as np
import pytest
from digraphs import SMALL, check_components, million, small
from graphs import bundled_graphs, graphs
from hypothesis import given, settings
from searches import EMULATED_RUNTIMES, MIXED

import clgraph as cg
from clgraph.algorithms.components import number
from clgraph.algorithms.components import plan as module

on_both = pytest.mark.runtimes("pocl", "intel")
REAL = dict(bundled_graphs())


@cache
def real_graph(name):
    return REAL[name]()


@on_both
@pytest.mark.parametrize("name", SMALL)
def test_awkward_shapes(name, device):
    check_components(small(name), cg.connected_components(small(name), device=device), "weak")


@pytest.mark.runtimes(*EMULATED_RUNTIMES)
@pytest.mark.parametrize("name", ["mixed", "mixed-one-way", "hub", "comb", "no-edges"])
def test_emulated_lanes(name, device):
    check_components(small(name), cg.connected_components(small(name), device=device), "weak")


@on_both
@given(graph=graphs(max_vertices=60))
@settings(max_examples=60)
def test_random_graphs(device, graph):
    check_components(graph, cg.connected_components(graph, device=device), "weak")


@on_both
def test_no_launch_but_those_that_wait_for_all(device, monkeypatch):
    """Issue 17: each is microseconds of a run; labels are read at the end of paths instead."""
    monkeypatch.setattr(number, "ONE_ITEM_VERTICES", 0)
    for name in SMALL:
        result = cg.connected_components(small(name), device=device)
        check_components(small(name), result, "weak")
        assert result.stats.launches == (8 if small(name).n else 0)


@on_both
def test_paths_are_shortened_where_no_hubs_are(device, monkeypatch):
    """For nothing but time."""
    for name, hubs in (("star-out", True), ("hub", True), ("grid", False), ("no-edges", False)):
        plan = cg.ConnectedComponents(small(name), device=device)
        assert plan.config["hubs"] == hubs
        monkeypatch.setattr(module, "has_hubs", lambda _, hubs=hubs: not hubs)
        other = cg.ConnectedComponents(small(name), device=device)
        monkeypatch.undo()
        assert plan.source_hash != other.source_hash
        for each in (plan, other):
            check_components(small(name), each.run(), "weak")


@on_both
@pytest.mark.parametrize("name", REAL)
def test_real_graphs(name, device):
    graph = real_graph(name)
    plan = cg.ConnectedComponents(graph, device=device)
    for _ in range(2):
        check_components(graph, plan.run(), "weak")


@pytest.mark.parametrize("name", ["path-shuffled", "star-out", "comb"])
def test_a_million_vertices(name, pocl):
    result = cg.connected_components(million(name), device=pocl)
    check_components(million(name), result, "weak")


def test_results_outlive_the_next_run(any_device):
    plan = cg.ConnectedComponents(MIXED, device=any_device)
    first, second = plan.run(), plan.run()
    np.testing.assert_array_equal(first.labels, second.labels)
    assert first.stats.launches == second.stats.launches
    assert first.stats.kernel_ms > 0
    assert first.stats.mode == "stepped"
    assert first.stats.levels == first.stats.launches == first.stats.per_level["rounds"].sum()
    assert first.stats.device_bytes >= 8 * MIXED.n
    assert str(first) == f"ComponentsResult(count={first.count})"


def test_too_many_vertices_are_refused(any_device):
    indptr = np.broadcast_to(np.int64(0), 2**31 + 1)
    graph = cg.Graph.trusted((indptr, np.zeros(0, np.int32), None), directed=True)
    for run in (cg.connected_components, cg.scc):
        with pytest.raises(cg.InvalidGraphError, match="31 bits"):
            run(graph, device=any_device)
