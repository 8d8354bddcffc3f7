"""Load balancing alone, measured: best of several sizes of work-groups, and sweeps of one size."""

import json
import sys

import numpy as np
import pytest

from bench.studies import balance
from bench.studies.power import balance_energy
from clgraph.energy import SteadyPower
from clgraph.engine.strategies.balance import BALANCERS
from clgraph.primitives import Expand, ExpandConfig


def test_sizes_of_known_moments():
    """load-balancing experiments 2: eight units each, uniform sizes, those of the literature."""
    assert (balance.sizes_of("regular8", 8000) == 8).all()
    uniform = balance.sizes_of("uniform", 1 << 16)
    assert uniform.mean() == pytest.approx(8, rel=0.05)
    for name, known in balance.DISTRIBUTIONS.items():
        sizes = balance.sizes_of(name, 1 << 16)
        assert sizes.max() <= max(known.largest, 1)
        assert int(sizes.sum()) == pytest.approx(1 << 16, rel=0.6)
        np.testing.assert_array_equal(sizes, balance.sizes_of(name, 1 << 16))


def records(monkeypatch, path, *words):
    arguments = ["--device", "intel", "--units", "2000", "--repeats", "1", "--json", str(path)]
    monkeypatch.setattr(sys, "argv", ["bench.studies.balance", *arguments, *words])
    balance.main()
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.usefixtures("intel")
def test_times_by_technique_data_and_group_size(monkeypatch, tmp_path, capsys):
    """load-balancing experiments 1: a record for each, the best of them printed."""
    measure = balance.measure

    def told(sizes, config, device, **more):
        """Measure, and say that it took a millisecond a work-item of a group."""
        found = measure(sizes, config, device, **more)
        return found | {"median_ms": float(config.group_size)}

    monkeypatch.setattr(balance, "measure", told)
    words = ["--distributions", "road", "web", "--balancers", "item_thread", "cws"]
    found = records(monkeypatch, tmp_path / "t.json", *words, "--group-sizes", "64", "32", "48")
    assert {row["config"]["group_size"] for row in found} == {64, 32, 48}
    assert len(found) == 2 * 2 * 3
    assert all(row["units_per_s"] > 0 for row in found)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert all(" 32.0000 ms " in line for line in lines)


@pytest.mark.usefixtures("intel")
def test_sweeps_and_phases(monkeypatch, tmp_path):
    """load-balancing experiments 1: one size varied, with the time of the partition apart."""
    assert {"group_size", "iterations"} <= set(balance.SWEEPS)
    monkeypatch.setitem(
        balance.SWEEPS, "iterations", [{"balance.iterations": 1}, {"balance.iterations": 3}]
    )
    words = ["--distributions", "uniform", "--sweep", "iterations"]
    found = records(monkeypatch, tmp_path / "s.json", *words)
    assert [row["config"]["balance.iterations"] for row in found] == [1, 3]
    assert all(0 < row["partition_ms"] < row["median_ms"] for row in found)


def test_wrong_owners_end_the_study(monkeypatch, intel):
    """load-balancing experiments 1, energy study 1: equal results, or none."""
    sizes = balance.sizes_of("web", 2000)
    monkeypatch.setattr(Expand, "owners", lambda plan: np.zeros(plan.units, np.uint32))
    for name in BALANCERS:
        config = ExpandConfig(balance=name)
        with pytest.raises(AssertionError, match="wrong owners"):
            balance.measure(sizes, config, intel, repeats=1, check=True)


@pytest.mark.usefixtures("intel")
@pytest.mark.parametrize("metered", [True, False])
def test_watts_and_joules_of_every_balancer(metered, monkeypatch, tmp_path, capsys):
    """Energy study 1 and 2: all on all five lists; of each its best group size is metered.

    Where nobody meters there are times.
    """
    measure, took, checked = balance.measure, {64: 3.0, 128: 2.0, 256: 4.0}, set()

    def told(sizes, config, device, *, check, **more):
        """Measure, and say how many milliseconds a group size takes."""
        found = measure(sizes, config, device, check=check, **more)
        checked.add((sizes.size, config.balance.name) if check else None)
        return found | {"median_ms": took.get(config.group_size, 5.0)}

    watts = {"mean_watts": 100.0, "peak_watts": 120.0} if metered else {}
    power = SteadyPower(seconds=2.0, kernel_seconds=1.9, **watts)
    monkeypatch.setattr(balance_energy, "measure", told)
    monkeypatch.setattr(balance_energy, "TUNING", {})
    monkeypatch.setattr(balance_energy, "GROUP_SIZES", tuple(took))
    monkeypatch.setattr(balance_energy.energy, "steady_power", lambda *_, **__: power)
    monkeypatch.setattr(balance_energy.energy, "idle_baseline", lambda _: None)
    path = tmp_path / "record.json"
    words = ["--device", "intel", "--units", "2000", "--seconds", "600", "--json", str(path)]
    assert balance_energy.main(words) == 0
    rows = json.loads(path.read_text("utf-8"))["rows"]
    lists = ("road", "citations", "web", "circuit", "internet")
    assert [(row["distribution"], row["balance"]) for row in rows] == [
        (name, balancer) for name in lists for balancer in BALANCERS
    ]
    assert len(checked - {None}) == len(rows)  # the first result of each
    for row in rows:
        assert (row["config"]["group_size"], row["median_ms"]) == (128, 2.0)
        joules = pytest.approx(0.2) if metered else None
        assert (row["mean_watts"], row["joules"]) == (100.0 if metered else None, joules)
        assert row["peak_watts"] == (120.0 if metered else None)
        assert row["joules_seconds"] == (pytest.approx(4e-4) if metered else None)
    assert ("not measured" in capsys.readouterr().out) != metered
