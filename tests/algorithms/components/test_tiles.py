"""Components joined tile by tile: the same as others, and most of it within tiles."""

from types import SimpleNamespace

import numpy as np
import pytest
from digraphs import SMALL, check_components, digraph, small, tiled_components
from graphs import graphs
from hypothesis import given, settings
from searches import EMULATED_RUNTIMES

import clgraph as cg
from clgraph.algorithms.components import plan as module
from clgraph.algorithms.components import tiles
from clgraph.device import Memory
from clgraph.engine.sweeps import SweepLog

on_both = pytest.mark.runtimes("pocl", "intel")
GRID = cg.generate.grid2d(40, 30)


def card(units=100, local_bytes=48 << 10, is_cpu=False):
    traits = SimpleNamespace(is_cpu=is_cpu, compute_units=units, local_bytes=local_bytes)
    return SimpleNamespace(traits=traits)


@on_both
@pytest.mark.parametrize("name", [name for name in SMALL if small(name).n])
def test_awkward_shapes(name, device):
    for tile in (1, 8, 1024):
        plan = tiled_components(small(name), device, tile)
        for _ in range(2):
            check_components(small(name), plan.run(), "weak")


@pytest.mark.runtimes(*EMULATED_RUNTIMES)
@pytest.mark.parametrize("name", ["mixed", "mixed-one-way", "hub", "comb", "no-edges"])
def test_emulated_lanes(name, device):
    for tile in (8, 64):
        check_components(small(name), tiled_components(small(name), device, tile).run(), "weak")


@on_both
@given(graph=graphs(max_vertices=60))
@settings(max_examples=60)
def test_random_graphs(device, graph):
    check_components(graph, tiled_components(graph, device, 16).run(), "weak")


@on_both
@pytest.mark.parametrize("step", [1, 7, 64, 65, -63])
def test_ways_from_tile_to_tile(step, device):
    """Of which every link, one in some or none is between tiles of 64 vertices."""
    v = np.arange(3000)
    for directed in (True, False):
        graph = digraph(v, (v + step) % 3000)
        graph = graph if directed else graph.symmetrized()
        check_components(graph, tiled_components(graph, device, 64).run(), "weak")


@on_both
def test_what_lies_within_a_tile_is_joined_within_it(device, monkeypatch):
    """Links within tiles are followed by the first launch, those between them by the next."""
    tile = 400  # ten rows of the grid
    plan = tiled_components(GRID, device, tile)
    within = plan._tiles
    launch, seen = within._launch, {}

    def looked(log, name, *args, **how):
        launch(log, name, *args, **how)
        seen[name] = plan._parent.read()

    monkeypatch.setattr(within, "_launch", looked)
    labels = plan.run().labels
    v = np.arange(GRID.n)
    np.testing.assert_array_equal(seen["tiles"], v // tile * tile)
    np.testing.assert_array_equal(within._counts.read(), [0, 40, 40])
    assert (seen["borders"] // tile == v // tile).sum() == GRID.n - 2  # two roots were hooked
    assert not labels.any()


def test_roots_of_tiles_come_to_point_to_the_root_of_all(pocl):
    """Whose labels would be found all the same, after a way through all tiles."""
    tile = 40
    plan = tiled_components(GRID, pocl, tile)
    v = np.arange(GRID.n, dtype=np.uint32)
    chain = np.where(v % tile, v // tile * tile, np.maximum(v, tile) - tile)
    parent = Memory(pocl).upload("parents", chain.astype(np.uint32))
    plan._tiles._launch(SweepLog(), "settle", plan._rows[-1], parent)
    got = parent.read()
    assert not got[::tile].any()
    np.testing.assert_array_equal(got[v % tile > 0], chain[v % tile > 0])


def test_tiles_are_for_near_neighbours_on_gpus():
    wide, narrow, v = cg.generate.grid2d(1000, 1000), cg.generate.grid2d(1000, 300), np.arange(100)
    assert tiles.tile_of(wide, card()) == tiles.tile_of(wide, card(units=10)) == 8192
    assert tiles.tile_of(narrow, card()) == 2048
    assert tiles.tile_of(wide, card(local_bytes=32 << 10)) == 4096
    assert tiles.tile_of(wide, card(is_cpu=True)) == 0
    for graph in (
        digraph([], [], n=5),
        cg.generate.random(20000, 4, seed=1),
        digraph(np.repeat(v, 100), np.tile(v, 100)),
        cg.generate.grid2d(3000, 100),  # a tile is less than a row
    ):
        assert tiles.tile_of(graph, card()) == 0


def test_hubs_and_blocks_have_no_tiles(any_device, monkeypatch):
    monkeypatch.setattr(module, "tile_of", lambda *_: 64)
    assert cg.ConnectedComponents(small("hub"), device=any_device).config["tile"] == 0
    assert cg.ConnectedComponents(GRID, device=any_device).config["tile"] == 64
    dynamic = cg.DynamicGraph(GRID, device=any_device)
    assert cg.ConnectedComponents(dynamic).config["tile"] == 0
