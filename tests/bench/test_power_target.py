"""Holding power targets for some time, on a made-up meter."""

import json

import numpy as np
import pytest
from paths import weighted

import clgraph as cg
from bench.studies.power import power_target
from clgraph.energy import target as power
from clgraph.energy.readings import Reading
from clgraph.energy.window import Window

pytestmark = pytest.mark.runtimes("intel")


class Meter:
    """One that shows the same power whatever is done.

    It is its own clock, which every look moves on: what is controlled is looks, not this machine.
    """

    source, note, poll_s, update_s = "nvml-counter", "made up", 0.004, 0.01

    def __init__(self):
        self.moment, self.action = 0.0, None

    def now(self):
        self.moment += 0.004
        action, self.action = self.action, None  # which asks for the time itself
        if action is not None and action():
            self.action = action
        return self.moment

    def every(self, _period_s, action):
        self.action = action

    def perf_counter(self):
        self.moment += 0.06
        return self.moment

    def read(self):
        return Reading(self.moment * 150.0, None)

    def close(self):
        pass


@pytest.mark.rest
def test_targets_are_held_for_some_time(tmp_path, capsys, device, monkeypatch):
    """sssp-self-tuning checklist 23: a row for each target, missed ones told by the status."""
    meter = Meter()
    monkeypatch.setattr(power, "open_meter", lambda *_: (meter, None))
    monkeypatch.setattr(power, "RealTime", lambda: meter)
    monkeypatch.setattr(power_target, "time", meter)
    monkeypatch.setattr(power, "idle_watts", lambda *_: 80.0)
    path, record = tmp_path / "grid.npz", tmp_path / "record.json"
    cg.write(weighted(cg.generate.grid2d(30, 30), np.int32, 1, 90), path)
    words = ["--watts", "120,150", "--seconds", "1.2", "--device", "intel", "--sources", "0,7"]
    status = power_target.main([str(path), *words, "--json", str(record)])
    rows = json.loads(record.read_text())["rows"]
    assert [row["target"] for row in rows] == [120, 150]
    assert all(row["searches"] > 1 and row["reached"] == 900 for row in rows)
    # The card's own meter, which a processor may not have, is what decides; so short a time has no
    # settled window.
    assert status == 1
    assert all(row["windows"] == [] and row["within"] is None for row in rows)
    assert abs(rows[0]["last_half_watts"] - 150) < 15
    assert rows[0]["set_point"] < rows[1]["set_point"]
    assert capsys.readouterr().out.count("set-point") == 2
    assert device.name
    for near, expected in ((0.9, 0), (0.89, 1)):
        monkeypatch.setattr(power_target, "within", lambda *_, near=near: near)
        assert power_target.main([str(path), "--watts", "120", *words[2:]]) == expected


class Passing:
    """A meter of a card whose power follows what is searched, read after each search."""

    source, note, poll_s, update_s = "nvml-counter", "made up", 0.01, 0.1

    def close(self):
        pass


def test_windows_of_a_second_that_are_near(monkeypatch, tmp_path):
    """Only once settled, only whole ones, and within a twentieth of the target."""
    window = Window(Passing(), None)
    joules = 0.0
    for tenth in range(121):
        window.trace.add(10 + tenth / 10, Reading(joules, None))
        joules += (50 if tenth < 50 else 100 if tenth < 80 else 106) / 10
    window.start, window.end = 10.1, 21.9
    seen = power_target.windows(window)
    assert np.round(seen, 6).tolist() == [100, 100, 100.6, 106, 106, 106]
    assert power_target.within(100.0, seen) == 0.5
    assert power_target.within(100.0, []) is None
    assert len(power_target.windows(window, 9.0)) == 2
    path = tmp_path / "path.npz"
    cg.write(weighted(cg.generate.grid2d(20, 20), np.int32, 1, 9), path)
    tried = []
    watts = {64.0: 100.0, float(1 << 20): 300.0}

    def searching(plan, sources, _device, seconds):
        tried.append((plan.set_point, len(sources), seconds))
        window.trace.__init__()
        for tenth in range(40):
            window.trace.add(tenth / 10, Reading(tenth / 10 * watts[plan.set_point], None))
        window.start, window.end = 0.1, 3.1
        return [1.0], window

    monkeypatch.setattr(power_target, "search", searching)
    found = power_target.targets(cg.read(path), [0, 1], cg.device("intel"))
    assert found == [150, 200, 250]
    assert [one[:2] for one in tried] == [(64, 2), (1 << 20, 2)]
    monkeypatch.setattr(power_target, "search", lambda *_: ([1.0], None))
    with pytest.raises(cg.InvalidArgumentError, match="no meter"):
        power_target.targets(cg.read(path), [0], cg.device("intel"))
