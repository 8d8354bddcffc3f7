"""The study of what a user waits for, on a small graph."""

import json

import numpy as np
import pytest

import clgraph as cg
from bench.studies.searches import first_answer

STAGES = {"import_ms", "graph_ms", "device_ms", "plan_ms", "first_ms", "second_plan_ms"}


@pytest.mark.rest
def test_every_stage_is_timed_and_shown(any_device, tmp_path, capsys):
    spec = ":".join(map(str, any_device.index))
    file = tmp_path / "out.json"
    words = ["--device", spec, "--scales", "7", "--processes", "1", "--json", str(file)]
    assert first_answer.main(words) == 0
    (record,) = json.loads(file.read_text())["records"]
    for caches in ("cold", "warm"):
        assert set(record[caches]) > STAGES
        stages = sum(record[caches][name] for name in STAGES)
        assert 0 < stages < record[caches]["process_ms"]
    shown = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in shown[-2:]] == [["kron7", "cold"], ["kron7", "warm"]]


def test_wrong_distances_are_refused(any_device, monkeypatch):
    monkeypatch.setattr(first_answer, "_distances", lambda graph, _: np.zeros(graph.n))
    spec = ":".join(map(str, any_device.index))
    with pytest.raises(ValueError, match="process 0 are not scipy's"):
        first_answer.measure(cg.generate.path(9), 0, spec, processes=1)
