"""What the study of mining records."""

import json
import sys

import pytest

from bench.report import docs
from bench.studies import mining


def test_a_record_has_times_bandwidth_and_energy(monkeypatch, capsys, any_device, tmp_path):
    """Checklist 25: kernels, the whole run, effective bandwidth, energy where there is a meter."""
    file = tmp_path / "mining.json"
    monkeypatch.setattr(mining, "CHECK_LENGTH", 2000)
    monkeypatch.setattr(mining, "SHORT", 3000)
    argv = ["mining", "--device", "{}:{}".format(*any_device.index), "--length", "3000"]
    argv += ["--traces", "2", "--repeat", "1", "--longest", "6000", "--json", str(file)]
    monkeypatch.setattr(sys, "argv", argv)
    mining.main()
    cases = json.loads(file.read_text())["cases"]
    names = {case["case"] for case in cases}
    assert names == {"published", "pageable", "overlap", "random", "energy"}
    for case in cases:
        if case["case"] == "energy":
            assert ("joules_per_run" in case) != ("skipped" in case)
        elif case["case"] != "overlap":
            assert case["kernel_ms_median"] > 0
            assert case["total_ms_median"] > case["kernel_ms_median"]
            assert case["asked_gb_s"] > 0
    (overlap,) = (case for case in cases if case["case"] == "overlap")
    for name in ("copy", "kernel", "in_turn", "overlapping"):
        assert min(overlap[f"{name}_ms"]) > 0
    in_turn, overlapping = (overlap["device"][name] for name in ("in_turn", "overlapping"))
    assert in_turn["both_ms"] == 0 < in_turn["copies_ms"]
    assert overlapping["copies_ms"] >= overlapping["both_ms"] >= 0
    assert [case["length"] for case in cases if case["case"] == "random"] == [3000, 6000] * 2
    printed = capsys.readouterr().out
    assert "GB/s" in printed
    assert "energy" in printed or "skipped" in str(cases)


def test_the_recorded_runs_meet_the_bars():
    """Issue: kernels on an H200, with and without a hundredfold length, and PoCL on two cores."""
    cases = json.loads((docs.RESULTS / "h200-20261123-mining.json").read_text("utf-8"))["cases"]
    auto = [case for case in cases if case.get("variant") == "auto"]
    published = {(c["set"], c["trace"]): c for c in auto if c["case"] == "published"}
    assert set(published) == {(name, trace) for name in mining.SETS for trace in (1, 2, 3, 4)}
    for (name, _), case in published.items():
        assert case["kernel_ms_median"] <= {"I": 2.0, "II": 150.0}[name]
    for name in mining.SETS:
        random = {c["length"]: c for c in auto if (c["case"], c["set"]) == ("random", name)}
        longest = random[mining.LONG]["kernel_ms_median"]
        assert longest < 2 * random[mining.SHORT]["kernel_ms_median"]
    (energy,) = (case for case in cases if case["case"] == "energy")
    assert energy["joules_per_run"] > 0
    record = docs.RESULTS / "pocl-20261123-mining-reference.json"
    ratios = {c["set"]: c["ratio"] for c in json.loads(record.read_text("utf-8"))["cases"]}
    assert set(ratios) == set(mining.SETS)
    assert min(ratios.values()) >= 20


@pytest.mark.parametrize(
    ("memory", "record"),
    [
        ("pinned", "h200-20261123-mining-copies.json"),
        ("pageable", "h100-20261128-mining-copies.json"),
    ],
)
def test_the_recorded_runs_end_in_time(memory, record):
    """Issue: trace 4 of set I, end to end with transfers, at most 25 ms."""
    cases = json.loads((docs.RESULTS / record).read_text("utf-8"))["cases"]
    (case,) = (c for c in cases if (c["case"], c.get("variant")) == (memory, "auto"))
    assert (case["trace"], case["set"], case["invariants"]) == (4, "I", 1788)
    assert case["total_ms_median"] <= 25
