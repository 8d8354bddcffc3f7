"""Edges that H-BF treats apart (sssp-hbf 17 to 20): who they are, and what kernels do with them."""

import numpy as np
import pytest
from configs import sssp_config
from paths import check_paths, expected_lengths, weighted

import clgraph as cg
from clgraph.algorithms.sssp import buffers, choose
from clgraph.algorithms.sssp.buffers import table_of
from clgraph.algorithms.sssp.classes import CLASS_SHIFT, classed_targets, has_parallel_edges
from clgraph.algorithms.sssp.config import EDGE_CLASSES
from clgraph.algorithms.sssp.stages import kernel_parameters, stages_of
from clgraph.algorithms.sssp.weights import Weights
from clgraph.device.rendering.sources import render

# 0 has a loop; only 0 leads to 1, which has a loop as well; 2 is entered twice and 3 by parallel
# edges among others; 4 is a leaf that only 1 leads to, 5 one that two lead to.
TAILS = np.array([0, 0, 1, 0, 1, 2, 2, 1, 2, 3, 3])
HEADS = np.array([0, 1, 1, 2, 2, 3, 3, 4, 5, 5, 0])
GRAPH = cg.from_edges(TAILS, HEADS, np.arange(1, 12, dtype=np.int32), directed=True)
RELAXING = {"method": "bellman-ford", "kernels": "fused"}


def codes(*wanted):
    """Class of each edge, by its ends."""
    found = classed_targets(GRAPH, Weights(GRAPH), wanted)
    edge_sources = np.repeat(np.arange(GRAPH.n), GRAPH.degrees)
    np.testing.assert_array_equal(found & (2**CLASS_SHIFT - 1), GRAPH.indices)
    names = {code: name for name, code in EDGE_CLASSES.items() if code}
    return {
        (int(u), int(v)): names[int(code)]
        for u, v, code in zip(edge_sources, GRAPH.indices, found >> CLASS_SHIFT, strict=True)
        if code
    }


def test_loops_are_a_class():
    assert codes("self") == {(0, 0): "self", (1, 1): "self"}


def test_what_one_edge_leads_to_is_a_class_loops_aside():
    """The loop of 1 is no second way to it; 0 is entered from 3 alone, its loop aside."""
    only = {(0, 1), (1, 4), (3, 0)}
    assert codes("in-degree-1") == dict.fromkeys(only, "in-degree-1")


def test_leaves_are_a_class_before_in_degrees():
    leaves = dict.fromkeys([(1, 4), (2, 5), (3, 5)], "leaf")
    assert codes("leaf") == leaves
    assert codes("leaf", "in-degree-1", "self") == {
        **dict.fromkeys([(0, 1), (3, 0)], "in-degree-1"),
        **leaves,
        **dict.fromkeys([(0, 0), (1, 1)], "self"),
    }


def rendered(device, *wanted, parallel_edges=False):
    config = sssp_config(edge_classes=wanted, **RELAXING)
    weights = Weights(GRAPH)
    resolved = choose.resolve_paths(config, device.traits, GRAPH, weights)
    stages = stages_of(resolved, predecessors=False)
    parameters = kernel_parameters(
        resolved,
        weights.keys,
        stages,
        predecessors=False,
        parallel_edges=parallel_edges,
        undirected=not GRAPH.directed,
    )
    parameters["arguments"] = table_of(GRAPH, weights, resolved, device, predecessors=False).rows
    return render("sssp/sssp.cl", {"traits": device.traits, "check": False, **parameters})


@pytest.mark.runtimes("intel")
def test_each_class_is_in_the_kernel(device):
    """Loops and leaves are skipped; one way in and the only source are stored without atomics."""
    skips = f"CLASS_OF(v0) != {EDGE_CLASSES['self']}u"
    one_way = f"direct0 |= CLASS_OF(v0) == {EDGE_CLASSES['in-degree-1']}u;"
    start = "direct0 |= now.level == 2 && source_count == 1;"
    plain = rendered(device)
    assert not any(text in plain for text in (skips, one_way, start))
    assert skips in rendered(device, "self")
    assert f"CLASS_OF(v0) != {EDGE_CLASSES['leaf']}u" in rendered(device, "leaf")
    assert one_way in rendered(device, "in-degree-1")
    assert start in rendered(device, "source")
    for text in (rendered(device, "in-degree-1"), rendered(device, "source")):
        assert "cells[target0] = CELL(to0, now.level);" in text
        assert "improves0 && !direct0" in text


@pytest.mark.runtimes("pocl", "intel")
@pytest.mark.parametrize("wanted", [("source",), tuple(EDGE_CLASSES)])
def test_parallel_edges_keep_the_atomics_of_the_source(wanted, device):
    """Two edges from the source to a vertex would race without: of both the shorter one counts."""
    edge_targets = np.repeat(np.arange(1, 200), 5)
    costs = np.random.default_rng(4).integers(1, 1000, edge_targets.size).astype(np.int32)
    fan = cg.from_edges(
        np.r_[np.zeros_like(edge_targets), [1]], np.r_[edge_targets, [200]], np.r_[costs, [1]]
    )
    assert has_parallel_edges(fan)
    config = sssp_config(edge_classes=wanted, **RELAXING)
    for graph in (fan, GRAPH):
        plan = cg.SSSP(graph, predecessors=True, config=config, device=device)
        check_paths(graph, 0, plan.run(0))
    assert "source_count == 1;" not in rendered(device, *wanted, parallel_edges=True)


def test_parallel_edges_are_found():
    assert has_parallel_edges(GRAPH)
    assert not has_parallel_edges(cg.from_edges([0, 1, 1], [1, 0, 2], n=3))
    assert not has_parallel_edges(cg.from_edges([0, 1], [1, 1], n=2))


def test_graphs_of_more_vertices_than_numbers_have_room_for_are_refused(intel, monkeypatch):
    monkeypatch.setattr(choose, "CLASSED_VERTICES", GRAPH.n - 1)
    with pytest.raises(cg.InvalidArgumentError, match="two highest bits of a vertex number"):
        cg.SSSP(GRAPH, config="h-bf", device=intel)
    monkeypatch.setattr(choose, "CLASSED_VERTICES", GRAPH.n)
    check_paths(GRAPH, 0, cg.sssp(GRAPH, 0, config="h-bf", device=intel))


def test_edges_are_marked_once_for_all_starts(intel, monkeypatch):
    """sssp-hbf checklist 24: searches from one source or several reuse what a plan has marked."""
    marked = []

    def counted(*given):
        marked.append(given)
        return classed_targets(*given)

    monkeypatch.setattr(buffers, "classed_targets", counted)
    plan = cg.SSSP(GRAPH, config="h-bf", device=intel)
    for sources in (0, [1, 3], 2):
        check_paths(GRAPH, sources, plan.run(sources))
    assert len(marked) == 1


@pytest.mark.runtimes("pocl", "intel")
def test_classes_are_not_relaxed(device):
    """sssp-hbf checklist 8: each class alone, by relaxations; edges are looked at all the same.

    All weights are alike, so that the first distance of a vertex is its last: it is expanded once,
    however work-groups are scheduled, and every count is exact.
    """
    rng = np.random.default_rng(5)
    edge_sources, edge_targets = rng.integers(0, 200, (2, 900))
    edge_targets = np.r_[
        edge_targets, np.arange(200, 300), np.arange(0, 100)
    ]  # a hundred leaves, and loops
    edge_sources = np.r_[edge_sources, rng.integers(0, 200, 100), np.arange(0, 100)]
    graph = weighted(cg.from_edges(edge_sources, edge_targets, directed=True), np.int32, 3, 4)
    reached = np.isfinite(expected_lengths(graph, 0))
    sources, targets = np.repeat(np.arange(graph.n), graph.degrees), graph.indices
    looked_at = reached[sources]
    loops = sources == targets
    leads_on = np.bincount(sources[~loops], minlength=graph.n) > 0
    to_leaves = ~leads_on[targets] & ~loops
    assert min(np.count_nonzero(looked_at & some) for some in (loops, to_leaves)) > 50
    skipped = {(): 0, ("self",): loops, ("leaf",): to_leaves, ("in-degree-1",): 0}
    skipped[tuple(EDGE_CLASSES)] = loops | to_leaves
    for wanted, some in skipped.items():
        config = sssp_config(edge_classes=wanted, counts=True, **RELAXING)
        result = cg.sssp(graph, 0, config=config, device=device)
        check_paths(graph, 0, result)
        assert result.stats.relaxations == np.count_nonzero(looked_at), wanted
        relaxed = np.count_nonzero(looked_at & ~np.asarray(some, bool))
        assert result.stats.counters["RELAXED"] == relaxed, wanted


@pytest.mark.runtimes("intel")
@pytest.mark.parametrize("several", [1, 4, 32])
def test_several_vertices_to_a_virtual_group(several, device):
    """sssp-hbf checklist 13: a frontier is taken in so many vertices for each virtual group.

    As many SIMD groups as are resident have work all the same: two, of one vertex a lane.
    """
    leaves = 1000
    star = weighted(cg.generate.star(leaves + 1), np.int32, 1, 2)
    lanes = device.traits.lanes
    config = sssp_config(
        balance="dyn_vwarp", min_virtual_warp=1, vertices_per_warp=several, counts=True,
        hub_degree=0, groups=2, group_size=lanes, **RELAXING,
    )  # fmt: skip
    result = cg.sssp(star, 0, config=config, device=device)
    check_paths(star, 0, result)
    assert result.stats.per_level["frontier"].tolist() == [1, leaves]
    each = min(several, -(-leaves // (2 * lanes)))
    # Of the leaves; the hub alone is a level that one work-group runs by itself.
    assert result.stats.counters["TILES"] == -(-leaves // (lanes * each))


# Mechanism, what switches it off, and what the kernel then lacks or has.
H_BF = {
    "edge classes": {"method.edge_classes": ()},
    "widths follow the frontier": {"balance": "vwarp"},
    "several vertices to a virtual group": {"balance.vertices": 1},
    "edges pass by the nearest cache": {"cache": "default"},
    "long rows are the grid's": {"hub_degree": 0},
}


@pytest.mark.parametrize("mechanism", H_BF)
def test_what_the_preset_switches_on(mechanism, intel):
    """H-BF as published: by the source, and by the decision that the plan ran with."""
    preset = cg.SSSPConfig.preset("h-bf")
    off = preset.with_values(H_BF[mechanism])
    star = weighted(cg.generate.star(5000))
    plans = [cg.SSSP(star, config=config, device=intel) for config in (preset, off)]
    assert plans[0].source_hash != plans[1].source_hash
    decisions = [plan.config.as_dict() for plan in plans]
    assert decisions[0] != decisions[1]
    for plan in plans:
        check_paths(star, 1, plan.run(1))
