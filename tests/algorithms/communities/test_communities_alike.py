"""Louvain and Leiden find the same labels, whatever lanes, tables or launches serve the rows."""

import numpy as np
import pytest
from community_graphs import CHECKSUMS, SEED, checksum, large_graphs, on_pocl, small_graphs

import clgraph as cg
from bench.studies.renderings import on_device
from clgraph.algorithms.communities import tallies, turns
from clgraph.algorithms.communities.level import Levels
from clgraph.engine.sweeps import SweepLog
from clgraph.errors import InvalidArgumentError

on_both = pytest.mark.runtimes("pocl", "intel")


@pytest.mark.rest
@pytest.mark.runtimes("pocl+lanes32")
@pytest.mark.parametrize("name", ["planted", "star", "real"])
def test_thirty_two_lanes_find_the_same(name, device):
    found = cg.leiden(small_graphs()[name], seed=5, device=device)
    np.testing.assert_array_equal(found.labels, on_pocl("leiden", name).labels)


@on_both
@pytest.mark.slow_on("pocl")
@pytest.mark.parametrize("name", ["kron", "star", "real"])
@pytest.mark.parametrize("preset", ["dense", "local", "global"])
def test_a_configuration_changes_no_result(device, preset, name):
    if preset == "dense" and device.traits.lanes > 1:
        with pytest.raises(InvalidArgumentError, match="use 'local' or 'global'"):
            cg.leiden(small_graphs()[name], config=preset, device=device)
        return
    found = cg.leiden(small_graphs()[name], seed=5, config=preset, device=device)
    np.testing.assert_array_equal(found.labels, on_pocl("leiden", name).labels)


@on_both
@pytest.mark.parametrize("name", ["kron", "star", "real"])
def test_hubs_are_shared_by_work_groups(device, name, monkeypatch):
    """Tables in local memory so small that many rows do not fit."""
    monkeypatch.setattr(tallies, "LOCAL_BYTES", 512)
    graph = small_graphs()[name]
    plan = cg.Leiden(graph, device=device)
    found = plan.run(seed=5)
    np.testing.assert_array_equal(found.labels, on_pocl("leiden", name).labels)
    if device.traits.lanes > 1:
        assert graph.degrees.max() > plan._levels.tallies.bounds[-1]


@pytest.mark.rest
@pytest.mark.runtimes("intel")
@pytest.mark.parametrize("local_bytes", [512, tallies.LOCAL_BYTES], ids=["hubs", "steps"])
@pytest.mark.parametrize("name", ["kron", "star"])
def test_a_launch_of_several_passes_finds_the_same(device, name, local_bytes, monkeypatch):
    """Where tables are large, rows take several steps; as groups are few, all lanes have one."""
    monkeypatch.setattr(tallies, "LOCAL_BYTES", local_bytes)
    plan = cg.Leiden(small_graphs()[name], device=device)
    plan._turns.together, plan._turns.groups = True, 1  # others may not be resident
    found = plan.run(seed=5)
    assert plan._turns.together
    np.testing.assert_array_equal(found.labels, on_pocl("leiden", name).labels)
    assert found.stats.levels == on_pocl("leiden", name).stats.levels
    monkeypatch.setattr(turns, "ENTRIES", 1)  # a launch then takes one pass
    again = plan.run(seed=5)
    np.testing.assert_array_equal(again.labels, found.labels)
    assert again.stats.launches > found.stats.launches


@pytest.mark.runtimes("intel")
def test_small_levels_are_moved_without_a_look_at_their_order(device, monkeypatch):
    """Tables that have room for a level in any case need nobody who counts its hubs."""
    monkeypatch.setattr(tallies, "LOCAL_BYTES", 512)
    plan = cg.Leiden(small_graphs()["kron"], device=device)
    plan._turns.together, plan._turns.groups = True, 1
    seen, look = [], Levels.look

    def looking(levels, name, source):
        seen.append(name)
        waits = look(levels, name, source)
        return lambda: (seen.append(f"{name} waited"), waits())[1]

    monkeypatch.setattr(Levels, "look", looking)
    found = plan.run(seed=5)
    np.testing.assert_array_equal(found.labels, on_pocl("leiden", "kron").labels)
    orders = [seen[place + 1] for place, name in enumerate(seen) if name == "chunks"]
    assert orders[0] == "chunks waited"
    assert orders.count("passes") > 1


@pytest.mark.runtimes("intel")
@pytest.mark.parametrize("tables", ["local", "global"])
def test_chunks_of_hubs_are_no_more_than_their_bound(device, tables, monkeypatch):
    monkeypatch.setattr(tallies, "LOCAL_BYTES", 512)
    graph = small_graphs()["kron"]
    plan = cg.Leiden(graph, config=tables, device=device)
    levels, degrees = plan._levels, np.diff(np.asarray(graph.indptr)).astype(np.int64)
    plan._turns.order(SweepLog(), plan._first, 3)
    order, bounds = plan._first.order, levels.tallies.bounds
    hubs = degrees[degrees > (bounds[-1] if bounds else 0)]
    chunks = -(-hubs // levels.chunk)
    assert 0 < sum(order.chunk_counts) == chunks.sum() <= order.most_chunks
    # The turns follow each other, and their words say how many vertices of each kind there are.
    table = order.turns.read().reshape(len(order.chunk_counts), -1).astype(np.int64)
    np.testing.assert_array_equal(table[:, 2], order.chunk_counts)
    np.testing.assert_array_equal(table[:, 1], np.cumsum(table[:, 2]) - table[:, 2])
    if levels.kinds:
        assert table[:, 4:].sum() == graph.n - hubs.size
    assert sorted(order.vertices.read(graph.n).tolist()) == list(range(graph.n))
    parts = order.chunks.read(2 * chunks.sum()).reshape(-1, 2)
    assert np.unique(parts, axis=0).shape == (chunks.sum(), 2)


@pytest.mark.runtimes("intel")
def test_a_work_group_that_does_not_come_is_not_waited_for_for_ever(device, caplog):
    plan = cg.Leiden(small_graphs()["kron"], device=device)
    plan._turns.together, plan._turns.groups, plan._turns.spin_limit = True, 64, 0
    found = plan.run(seed=5)
    assert "in vain" in caplog.text
    assert not plan._turns.together
    np.testing.assert_array_equal(found.labels, on_pocl("leiden", "kron").labels)


@pytest.mark.runtimes("pocl")
@pytest.mark.parametrize("name", CHECKSUMS)
def test_what_devices_elsewhere_are_to_find(device, name):
    graph = large_graphs()[name]
    for kind, expected in zip((cg.louvain, cg.leiden), CHECKSUMS[name], strict=True):
        assert checksum(kind(graph, seed=SEED, device=device).labels) == expected


@pytest.mark.parametrize("sizes", [{}, {"group": 128, "slots": 1024}], ids=["usual", "small"])
@pytest.mark.parametrize("wide", [False, True], ids=["narrow", "wide"])
def test_rows_of_every_length_have_somebody_who_takes_them(any_device, wide, sizes):
    made = tallies.Tallies(any_device, "local", wide=wide, **sizes)
    bounds = made.bounds
    assert bounds == sorted(bounds)
    assert made.kinds[-1].slots == 0
    for kind in made.kinds[:-1]:
        assert kind.unit == "item" or 2 * kind.longest <= kind.slots
    if sizes:
        assert all(kind.slots <= sizes["slots"] for kind in made.kinds)
        traits = any_device.traits
        assert traits.is_cpu or traits.emulated or made.group_size == sizes["group"]


@pytest.mark.parametrize("wide", [False, True], ids=["narrow", "wide"])
def test_cards_take_the_sizes_that_were_measured(wide):
    made = Levels(on_device("h200"), "local", wide=wide).tallies
    assert made.group_size == 128
    assert max(kind.slots for kind in made.kinds) == 1024


@pytest.mark.runtimes("pocl")
@pytest.mark.parametrize("kind", [cg.Leiden, cg.Louvain])
@pytest.mark.parametrize("name", ["planted", "star", "real"])
def test_a_thread_alone_finds_on_small_levels_what_several_find(device, kind, name, monkeypatch):
    """It takes all turns of several passes in one launch."""
    graph = small_graphs()[name]
    plan = kind(graph, device=device)
    monkeypatch.setattr(turns, "FEW_ENTRIES", 0)
    shared = plan.run(seed=5)
    monkeypatch.setattr(turns, "FEW_ENTRIES", 1 << 30)
    alone = plan.run(seed=5)
    np.testing.assert_array_equal(alone.labels, shared.labels)
    assert alone.stats.levels == shared.stats.levels
    passes = sum(level["passes"] for level in shared.stats.levels)
    assert alone.stats.launches < shared.stats.launches - 8 * passes


@pytest.mark.runtimes("pocl")
def test_threads_have_room_for_a_key_that_is_written_in_vain(device):
    """Each key is written before it is known whether it is new; the next table is another's."""
    made = tallies.Tallies(device, "dense", wide=False)
    assert made.table_slots(made.kinds[0], 7, 7) == 7 + 1
