"""Components joined tile by tile: the same as others, and most of it within tiles."""

from types import SimpleNamespace

import numpy as np
import pytest
from digraphs import SMALL, check_components, digraph, small
from graphs import graphs
from hypothesis import given, settings
from searches import EMULATED_RUNTIMES

import clgraph as cg
from clgraph.algorithms.components import plan as module
from clgraph.algorithms.components import tiles

on_both = pytest.mark.runtimes("pocl", "intel")
GRID = cg.generate.grid2d(40, 30)
CARD = SimpleNamespace(traits=SimpleNamespace(is_cpu=False, compute_units=100))


def tiled(graph, device, tile):
    """A plan by tiles, whatever would be chosen."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "tile_of", lambda *_: tile)
        patch.setattr(module, "has_hubs", lambda _: False)
        plan = cg.ConnectedComponents(graph, device=device)
    assert plan.config["tile"] == tile
    return plan


@on_both
@pytest.mark.parametrize("name", [name for name in SMALL if small(name).n])
def test_awkward_shapes(name, device):
    for tile in (1, 8, 1024):
        plan = tiled(small(name), device, tile)
        for _ in range(2):
            check_components(small(name), plan.run(), "weak")


@pytest.mark.runtimes(*EMULATED_RUNTIMES)
@pytest.mark.parametrize("name", ["mixed", "mixed-one-way", "hub", "comb", "no-edges"])
def test_emulated_lanes(name, device):
    for tile in (8, 64):
        check_components(small(name), tiled(small(name), device, tile).run(), "weak")


@on_both
@given(graph=graphs(max_vertices=60))
@settings(max_examples=60)
def test_random_graphs(device, graph):
    check_components(graph, tiled(graph, device, 16).run(), "weak")


@on_both
@pytest.mark.parametrize("step", [1, 7, 64, 65, -63])
def test_ways_from_tile_to_tile(step, device):
    """Of which every link, one in some or none is between tiles of 64 vertices."""
    v = np.arange(3000)
    for directed in (True, False):
        graph = digraph(v, (v + step) % 3000)
        graph = graph if directed else graph.symmetrized()
        check_components(graph, tiled(graph, device, 64).run(), "weak")


@on_both
def test_what_lies_within_a_tile_is_joined_within_it(device, monkeypatch):
    """Links of a grid are followed once each: within tiles by the first launch, others by the next."""
    tile = 400  # ten rows of the grid
    plan = tiled(GRID, device, tile)
    within = plan._tiles
    launch, seen = within._launch, {}

    def looked(log, name, *args, given=()):
        launch(log, name, *args, given=given)
        seen[name] = plan._parent.read()

    monkeypatch.setattr(within, "_launch", looked)
    labels = plan.run().labels
    v = np.arange(GRID.n)
    np.testing.assert_array_equal(seen["tiles"], v // tile * tile)
    np.testing.assert_array_equal(within._counts.read(), [0, 40, 40])
    assert (seen["borders"] // tile == v // tile).sum() == GRID.n - 2  # two roots were hooked
    assert not seen["settle"][::tile].any()
    assert not labels.any()


def test_tiles_are_for_near_neighbours_on_gpus():
    road = cg.generate.grid2d(1000, 1000)
    assert tiles.tile_of(road, CARD) == 8192
    assert tiles.tile_of(cg.generate.grid2d(1000, 300), CARD) == 2048
    assert tiles.tile_of(road, SimpleNamespace(traits=SimpleNamespace(is_cpu=True))) == 0
    assert tiles.tile_of(digraph([], [], n=5), CARD) == 0
    assert tiles.tile_of(cg.generate.random(20000, 4, seed=1), CARD) == 0
    v = np.arange(100)
    assert tiles.tile_of(digraph(np.repeat(v, 100), np.tile(v, 100)), CARD) == 0


def test_hubs_and_blocks_have_no_tiles(any_device, monkeypatch):
    monkeypatch.setattr(module, "tile_of", lambda *_: 64)
    assert cg.ConnectedComponents(small("hub"), device=any_device).config["tile"] == 0
    assert cg.ConnectedComponents(GRID, device=any_device).config["tile"] == 64
    dynamic = cg.DynamicGraph(GRID, device=any_device)
    assert cg.ConnectedComponents(dynamic).config["tile"] == 0
