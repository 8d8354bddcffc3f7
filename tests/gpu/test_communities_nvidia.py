"""Communities on an NVIDIA device: what PoCL finds, however launches are cut."""

import pytest
from community_graphs import CHECKSUMS, SEED, checksum, large_graphs

import clgraph as cg
from clgraph.algorithms.communities import turns

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("kind", [cg.Louvain, cg.Leiden])
@pytest.mark.parametrize("name", CHECKSUMS)
def test_communities_are_what_pocl_finds(gpu, name, kind):
    plan = kind(large_graphs()[name], device=gpu)
    for _ in range(3):  # what a run leaves does not disturb the next
        found = plan.run(seed=SEED, verify=True)
        assert checksum(found.labels) == CHECKSUMS[name][kind is cg.Leiden]
    assert plan.total == 0 or plan._turns.together


@pytest.mark.parametrize("config", ["local", "global"])
def test_a_launch_for_each_phase_finds_the_same(gpu, config):
    plan = cg.Leiden(large_graphs()["kron"], config=config, device=gpu)
    plan._turns.together = False
    found = plan.run(seed=SEED)
    assert checksum(found.labels) == CHECKSUMS["kron"][1]
    assert found.stats.launches > 8 * sum(level["passes"] for level in found.stats.levels)


def test_missing_work_groups_are_not_waited_for_for_ever(gpu, monkeypatch, caplog):
    plan = cg.Leiden(large_graphs()["kron"], device=gpu)
    monkeypatch.setattr(plan._turns, "_resident", lambda *_: 1 << 13)
    monkeypatch.setattr(plan._turns, "spin_limit", 1 << 12)
    found = plan.run(seed=SEED)
    assert "in vain" in caplog.text
    assert not plan._turns.together
    assert checksum(found.labels) == CHECKSUMS["kron"][1]


def test_a_launch_is_bounded(gpu, monkeypatch):
    plan = cg.Leiden(large_graphs()["kron"], device=gpu)
    launches = plan.run(seed=SEED).stats.launches
    monkeypatch.setattr(turns, "ENTRIES", 1)
    found = plan.run(seed=SEED)
    assert checksum(found.labels) == CHECKSUMS["kron"][1]
    assert found.stats.launches > launches
