"""Louvain and Leiden find the same labels, whatever lanes, tables or launches serve the rows."""

import numpy as np
import pytest
from community_graphs import CHECKSUMS, SEED, checksum, large_graphs, on_pocl, small_graphs

import clgraph as cg
from clgraph.algorithms.communities import turns
from clgraph.engine import tallies
from clgraph.errors import InvalidArgumentError

on_both = pytest.mark.runtimes("pocl", "intel")


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


@pytest.mark.runtimes("intel")
@pytest.mark.parametrize("name", ["kron", "star"])
def test_a_launch_of_several_passes_finds_the_same(device, name, monkeypatch):
    monkeypatch.setattr(tallies, "LOCAL_BYTES", 512)
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


def test_rows_of_every_length_have_somebody_who_takes_them(any_device):
    made = tallies.Tallies(any_device, "local", wide=False)
    bounds = made.bounds
    assert bounds == sorted(bounds)
    assert made.kinds[-1].slots == 0
    for kind in made.kinds[:-1]:
        assert kind.unit == "item" or 2 * kind.longest <= kind.slots
