"""The sweep over fixed steps and set-points."""

import json

import numpy as np
import pytest
from paths import weighted

import clgraph as cg
from bench.studies.power import tuning_sweep

pytestmark = pytest.mark.runtimes("pocl")


def test_sweep(tmp_path, capsys, device):
    """sssp-self-tuning checklist 21: a table against the fastest fixed step, and a picture."""
    pytest.importorskip("matplotlib", reason="matplotlib is an extra")
    path, record, plot = (tmp_path / name for name in ("grid.npz", "record.json", "plot.png"))
    cg.write(weighted(cg.generate.grid2d(20, 20), np.int32, 1, 90), path)
    words = ["--deltas", "50,400", "--set-points", "40,90", "--repeats", "1"]
    files = ["--json", record, "--plot", plot, "--device", "pocl"]
    assert tuning_sweep.main([str(word) for word in (path, *words, *files)]) == 0
    printed = capsys.readouterr().out
    assert printed.count(" *") == 1
    assert "self-tuning set-point 90" in printed
    rows = json.loads(record.read_text())["rows"]
    assert [row["baseline"] for row in rows].count(True) == 1
    assert rows[0]["joules"] is None
    assert max(row["speed_up"] for row in rows[:2]) == 1
    # A larger step, and more edges to a step, take fewer of them.
    steps = [row["steps"] for row in rows]
    assert steps[0] > steps[1]
    assert steps[2] > steps[3]
    assert plot.read_bytes()[1:4] == b"PNG"
    assert device.name
