"""Strong and weak components on a real NVIDIA card: whole results, every preset, awkward shapes."""

import dataclasses

import numpy as np
import pytest
from digraphs import (
    MILLION,
    SMALL,
    check_components,
    dag,
    different_presets,
    grid,
    million,
    random_digraph,
    small,
    tiled_components,
)

import clgraph as cg
from clgraph.algorithms.scc.config import STRATEGIES, TRIM_SIZES, VIRTUAL_WARPS

pytestmark = pytest.mark.gpu

LARGE = {
    "grid": lambda: grid(700, 600, 1),
    "random": lambda: random_digraph(300_000, 3, 2),
    "random-sparse": lambda: random_digraph(500_000, 1, 3),
    "rmat": lambda: cg.generate.rmat(17, seed=4),
}


@pytest.mark.parametrize("preset", ["auto", "sequential", "multistep", "devshatwar"])
def test_awkward_shapes(preset, gpu):
    for name in SMALL:
        check_components(small(name), cg.scc(small(name), config=preset, device=gpu))


@pytest.mark.parametrize("preset", cg.SCCConfig.presets())
def test_every_preset(preset, gpu):
    for name in ("mixed-one-way", "grid", "comb", "chain-of-2-cycles"):
        result = cg.scc(small(name), config=preset, device=gpu, verify=True)
        check_components(small(name), result)


@pytest.mark.parametrize("name", LARGE)
def test_large_graphs(name, gpu):
    graph = LARGE[name]()
    plan = cg.SCC(graph, device=gpu)
    for _ in range(3):
        check_components(graph, plan.run())


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_scans_lose_no_vertex(strategy, name, gpu):
    """Many groups reach a vertex while lanes look at it: all of them must see the same."""
    graph = LARGE[name]()
    config = cg.SCCConfig(
        trim=1,
        forward_backward=1,
        finish="coloring",
        fb_strategy=strategy,
        coloring_strategy=strategy,
    )
    plan = cg.SCC(graph, config=config, device=gpu)
    for _ in range(3):
        check_components(graph, plan.run())


@pytest.mark.parametrize("width", VIRTUAL_WARPS)
def test_virtual_warps(width, gpu):
    """Scc checklist 11: each number of lanes that share a vertex."""
    config = dataclasses.replace(cg.SCCConfig.preset("devshatwar"), virtual_warp=width)
    for name in ("mixed-one-way", "grid", "comb"):
        check_components(small(name), cg.scc(small(name), config=config, device=gpu))


@pytest.mark.parametrize("size", TRIM_SIZES)
@pytest.mark.parametrize("trim", [1, "full", "adaptive"])
def test_trimming(trim, size, gpu):
    """Issue 5: trim-1, trim-2 and trim-3, before signatures."""
    config = cg.SCCConfig(trim=trim, trim_size=size, finish="signatures")
    for make in (lambda: small("comb"), LARGE["random-sparse"], LARGE["grid"]):
        graph = make()
        check_components(graph, cg.scc(graph, config=config, device=gpu))


def test_auto_follows_what_is_live_after_trimming(gpu):
    """Issue 5, auto: a graph without cycles is trimmed away, one without ends is not trimmed."""
    plan = cg.SCC(dag(200_000, 4, 6), device=gpu)
    assert plan.method == "signatures"
    assert [step["step"] for step in plan.run().stats.steps] == ["prepare", "list", "trim"]
    steps = cg.scc(grid(300, 200, 7, two_way=1.0), device=gpu).stats.steps
    assert "trim" not in {step["step"] for step in steps}


@pytest.mark.parametrize("name", MILLION)
def test_a_million_vertices(name, gpu):
    result = cg.scc(million(name), device=gpu)
    check_components(million(name), result)
    assert result.stats.kernel_ms < 10_000


@pytest.mark.slow
@pytest.mark.parametrize("preset", different_presets())
@pytest.mark.parametrize("name", MILLION)
def test_a_million_vertices_by_every_preset(name, preset, gpu):
    """Scc checklist 21: no preset takes time quadratic in the size of a shape."""
    result = cg.scc(million(name), config=preset, device=gpu)
    check_components(million(name), result)
    assert result.stats.kernel_ms < 10_000


def test_stepped(gpu):
    config = cg.SCCConfig(schedule="stepped")
    for name in ("mixed-one-way", "grid", "comb"):
        result = cg.scc(small(name), config=config, device=gpu)
        check_components(small(name), result)
        assert result.stats.mode == "stepped"


@pytest.mark.parametrize("name", SMALL)
def test_weak_components(name, gpu):
    result = cg.connected_components(small(name), device=gpu)
    check_components(small(name), result, "weak")


@pytest.mark.parametrize("name", ["cycle-shuffled", "path-shuffled", "star-in", "star-out"])
def test_weak_components_of_a_million(name, gpu):
    check_components(million(name), cg.connected_components(million(name), device=gpu), "weak")


def test_a_hundred_repeats_agree(gpu):
    graph = random_digraph(20_000, 2, 5)
    plan = cg.SCC(graph, device=gpu)
    labels = plan.run().labels
    for _ in range(99):
        np.testing.assert_array_equal(plan.run().labels, labels)


@pytest.mark.parametrize("tile", [8, 1024])
def test_weak_components_by_tiles(tile, gpu):
    for name in SMALL:
        if small(name).n:
            check_components(small(name), tiled_components(small(name), gpu, tile).run(), "weak")


@pytest.mark.parametrize("name", ["grid2d", "road", "path"])
def test_weak_components_of_near_neighbours(name, gpu):
    size = (1_000_000,) if name == "path" else (1000, 1000)
    graph = getattr(cg.generate, name)(*size)
    plan = cg.ConnectedComponents(graph, device=gpu)
    assert plan.config["tile"] > 0
    for _ in range(3):
        check_components(graph, plan.run(), "weak")
