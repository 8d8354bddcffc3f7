"""The table of simultaneous searches: methods agree, oracle and savings are what they should be."""

import json

import pytest

import clgraph as cg
from bench.report import searches_page
from bench.studies.searches import search_table


@pytest.fixture
def small(monkeypatch):
    class Loaded:
        graph = cg.generate.kron(8, seed=1)

    monkeypatch.setattr(search_table, "find", lambda *_: Loaded)


@pytest.mark.usefixtures("small")
def test_checklist_18_five_methods_from_one_script(capsys, any_device, tmp_path):
    spec = f"{any_device.index[0]}:{any_device.index[1]}"
    file = tmp_path / "table.json"
    argv = ["made-up", "--device", spec, "--searches", "20", "--json", str(file)]
    assert search_table.main(argv) == 0
    head, row = capsys.readouterr().out.splitlines()
    assert head.split() == ["seconds", *search_table.COLUMNS]
    assert row.split()[0] == "made-up"
    record = json.loads(file.read_text())
    methods = record["graphs"]["made-up"]["methods"]
    assert set(methods) == set(search_table.METHODS)
    ran = [methods[name]["threshold"] for name in ("warp-based", "work-efficient")]
    assert ran == [0, "inf"]
    page = searches_page.section(searches_page.recorded(tmp_path))
    assert "table.json` (made-up)" in page
    assert "| made-up | made-up | 256 |" in page
    assert "In seconds the paper's finding" in page
    assert "In joules the paper's finding" not in page  # nothing was measured


@pytest.mark.usefixtures("small")
def test_checklist_19_a_sweep_of_thresholds(capsys, any_device, tmp_path):
    spec = f"{any_device.index[0]}:{any_device.index[1]}"
    argv = ["made-up", "--device", spec, "--searches", "8", "--thresholds"]
    search_table.main([*argv, "--json", str(tmp_path / "sweep.json")])
    page = searches_page.section(searches_page.recorded(tmp_path))
    assert "| seconds at T | 0 | 4 | 8 | 16 | 32 | 64 | inf |" in page
    assert "paper's finding" not in page
    record = json.loads((tmp_path / "sweep.json").read_text())
    rows = record["graphs"]["made-up"]["methods"]
    ran = [float(row["threshold"]) for row in rows.values()]
    assert ran == [float(asked) for asked in rows]
    head, row = (line.split() for line in capsys.readouterr().out.splitlines())
    assert head == ["seconds", "0", "4", "8", "16", "32", "64", "inf"]
    assert all(float(cell) > 0 for cell in row[1:])


def test_oracle_and_savings():
    rows = {
        "edge-parallel": {"seconds": 4.0, "joules": 100.0},
        "work-efficient": {"seconds": 2.0, "joules": 300.0},
        "warp-based": {"seconds": 3.0, "joules": 50.0},
        "hybrid": {"seconds": 1.5, "joules": 25.0},
        "fitted": {"seconds": 1.25, "joules": 20.0},
        "auto": {"seconds": 1.0, "joules": None},
    }
    seconds = search_table.render({"g": rows}, "seconds").splitlines()[1].split()
    assert seconds == ["g", "4", "2", "2", "3", "1.5", "1.25", "1", "25", "%"]
    joules = search_table.render({"g": rows}, "joules").splitlines()[1].split()
    assert joules == ["g", "100", "300", "100", "50", "25", "20", "-", "75", "%"]
