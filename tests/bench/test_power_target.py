"""Holding power targets for some time, on a made-up meter."""

import json

import numpy as np
import pytest
from paths import weighted

import clgraph as cg
from bench.studies.power import power_target
from clgraph.energy import target as power
from clgraph.energy.readings import Reading

pytestmark = pytest.mark.runtimes("intel")


class Meter:
    """One that shows the same power whatever is done.

    It is its own clock, which every look moves on: what is controlled is looks, not this machine.
    """

    source, note, poll_s, update_s = "nvml-counter", "made up", 0.004, 0.01

    def __init__(self):
        self.moment = 0.0

    def now(self):
        self.moment += 0.004
        return self.moment

    def perf_counter(self):
        self.moment += 0.06
        return self.moment

    def read(self):
        return Reading(self.moment * 150.0, None)

    def close(self):
        pass


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
    # The card's own meter, which a processor may not have, is what decides.
    assert status == any(row["off"] is None or abs(row["off"]) > 0.1 for row in rows)
    assert abs(rows[0]["last_half_watts"] - 150) < 15
    assert rows[0]["set_point"] < rows[1]["set_point"]
    assert capsys.readouterr().out.count("set-point") == 2
    assert device.name
