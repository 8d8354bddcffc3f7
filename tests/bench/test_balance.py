"""Load balancing alone, measured: best of several sizes of work-groups, and sweeps of one size."""

import json
import sys

import numpy as np
import pytest

from bench.studies import balance


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
