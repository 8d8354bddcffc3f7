"""Frontier Bellman-Ford as published: its dimensions one by one, and its basic form."""

import dataclasses

import numpy as np
import pytest
from configs import sssp_config
from paths import check_paths, weighted
from searches import MIXED_ONE_WAY

import clgraph as cg
from clgraph.algorithms.sssp import plan as sssp_module
from clgraph.errors import QueueOverflowError

pytestmark = pytest.mark.runtimes("intel")

LEANING = cg.generate.kron(9, 12, seed=5)


def leaning(dtype=np.int32):
    """Negative weights without a cycle of them: costs shifted by potentials."""
    rng = np.random.default_rng(3)
    potentials = rng.integers(-30, 30, LEANING.n)
    sources = np.repeat(np.arange(LEANING.n), LEANING.degrees)
    costs = rng.integers(0, 20, LEANING.m) + potentials[LEANING.indices] - potentials[sources]
    return cg.Graph(LEANING.indptr, LEANING.indices, costs.astype(dtype))


def relaxing(**fields):
    return sssp_config(method="bellman-ford", **fields)


@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_vertices_that_are_queued_as_often_as_they_fall(dtype, device):
    """sssp-hbf checklist 11 and 21: the basic form is right, and a queue too small is told."""
    graph = leaning(dtype)
    config = relaxing(claims="none")
    plan = cg.SSSP(graph, predecessors=True, config=config, device=device)
    # Of one work-group, whose order is the same each time: several race, and who wins differs.
    often, once = (
        cg.SSSP(graph, config=relaxing(claims=claims, groups=1), device=device)
        for claims in ("none", None)
    )
    for source in (0, 5, [1, 300]):
        result = plan.run(source, verify=True)
        check_paths(graph, source, result)
        assert often.run(source).stats.relaxations > once.run(source).stats.relaxations
    # A clique in which everyone falls again and again in the second round.
    n = 400
    sources, targets = np.nonzero(~np.eye(n, dtype=bool))
    costs = np.where(sources == 0, 1000 * (n - targets), 1).astype(np.int32)
    clique = cg.from_edges(sources, targets, costs)
    small = cg.SSSP(clique, config=relaxing(claims="none", queue_percent=100), device=device)
    with pytest.raises(QueueOverflowError, match="queues of 100 percent can hold"):
        small.run(0)
    check_paths(clique, 0, cg.sssp(clique, 0, config=relaxing(), device=device))


@pytest.mark.runtimes("pocl")
def test_queued_often_on_one_lane(device):
    """sssp-hbf checklist 11: by processor cores too."""
    graph = leaning()
    result = cg.sssp(graph, 0, config=relaxing(claims="none"), device=device, verify=True)
    check_paths(graph, 0, result)


@pytest.mark.parametrize("width", [1, 16])
def test_virtual_groups_of_a_fixed_width(width, device):
    """sssp-hbf checklist 12: static widths."""
    graph = leaning()
    config = relaxing(balance="vwarp", virtual_warp=width)
    check_paths(graph, 2, cg.sssp(graph, 2, config=config, device=device))


@pytest.mark.parametrize(("least", "several"), [(4, 32), (1, 3)])
def test_virtual_groups_whose_width_follows_the_frontier(least, several, device):
    """sssp-hbf checklist 12 and 13: width by the formula, several vertices to a virtual group."""
    graph = leaning()
    config = relaxing(balance="dyn_vwarp", min_virtual_warp=least, vertices_per_warp=several)
    plan = cg.SSSP(graph, config=config, device=device)
    assert (plan.config.balance.width, plan.config.balance.vertices) == (least, several)
    for source in (2, 77):
        check_paths(graph, source, plan.run(source))


def test_the_preset_is_the_published_one():
    """sssp-hbf checklist 12, 13, 14, 16: widths from 4, 32 vertices, hubs from 4096, streaming."""
    preset = cg.SSSPConfig.preset("h-bf")
    assert preset.balance == cg.balance.DynVwarp(width=4, vertices=32)
    assert (preset.hub_degree, preset.cache) == (4096, "streaming")
    with pytest.raises(cg.InvalidArgumentError, match=r"balance\.vertices is of dyn_vwarp"):
        sssp_config(balance="vwarp", vertices_per_warp=3)
    with pytest.raises(cg.InvalidArgumentError, match="claims='none' is not one of packed"):
        sssp_config(method="near-far", claims="none")
    with pytest.raises(cg.InvalidArgumentError, match="claims='none' goes without hub_degree"):
        relaxing(claims="none", hub_degree=9)
    with pytest.raises(cg.InvalidArgumentError, match="queue_percent=9 is for claims='none'"):
        relaxing(queue_percent=9)


@pytest.mark.parametrize("update", ["buffer", "registers"])
def test_enqueueing_through_the_least_local_memory(update, device, monkeypatch):
    """sssp-hbf checklist 15: buffers that are full after every round are written in many."""
    resolve = sssp_module.resolve_paths

    def resolve_smallest(*args):
        found = resolve(*args)
        return dataclasses.replace(found, buffer=found.lanes)

    monkeypatch.setattr(sssp_module, "resolve_paths", resolve_smallest)
    graph = leaning()
    plan = cg.SSSP(graph, config=relaxing(update=update), device=device)
    assert plan.config.buffer == plan.config.lanes
    for source in (0, 9):
        check_paths(graph, source, plan.run(source))


@pytest.mark.parametrize(
    ("method", "dtype"),
    [("bellman-ford", np.float64), ("near-far", np.float32), ("delta-stepping", np.int32)],
)
def test_edges_past_the_nearest_cache(method, dtype, device):
    """sssp-hbf checklist 16: a policy for edges and weights; results are the same."""
    graph = weighted(MIXED_ONE_WAY, dtype, 0, 40)
    results = [
        cg.sssp(graph, 7, config=sssp_config(method=method, cache=cache), device=device)
        for cache in ("default", "streaming")
    ]
    np.testing.assert_array_equal(results[0].distances, results[1].distances)
    check_paths(graph, 7, results[1])


def test_both_words_of_an_edge_pass_the_nearest_cache(device):
    """sssp-hbf checklist 16, in the text: where the relaxation reads its head and its weight."""
    graph = weighted(MIXED_ONE_WAY, np.int32, 0, 40)
    for cache, of_weights in (("default", "edges[e_]"), ("streaming", "load_streaming((")):
        text = cg.SSSP(graph, config=relaxing(cache=cache), device=device)._stages.program.source
        (macro,) = [line for line in text.splitlines() if line.startswith("#define WEIGHT_AT")]
        assert of_weights in macro
        kernel = text[text.index("now.mode == RELAX") :]
        assert ("load_streaming(indices + e0)" in kernel) == (cache == "streaming")
        assert ("indices[e0]" in kernel) == (cache == "default")


def test_a_long_row_is_put_apart(device):
    """sssp-hbf checklist 14: as its vertex is queued, from just so many edges on."""
    leaves = np.arange(2, 199)
    ends = np.r_[0, np.zeros(98, int), np.ones(99, int)], np.r_[1, leaves]
    graph = weighted(cg.from_edges(*ends, symmetrize=True), np.int32, 1, 9)
    assert graph.degrees[:2].tolist() == [99, 100]
    plan = cg.SSSP(graph, config=relaxing(hub_degree=100, groups=2), device=device)
    check_paths(graph, 50, plan.run(50))
    table = plan._stages.table
    rows = [table[f"hubs_{side}"].read().reshape(-1, 4) for side in ("even", "odd")]
    apart = {tuple(row) for row in np.concatenate(rows).tolist()}
    expected = [(int(graph.indptr[v]), 0, int(graph.degrees[v]), v) for v in (0, 1)]
    assert [row in apart for row in expected] == [False, True]
