"""The program that measures presets and iterations of the strong-component scheme."""

import json

import pytest
from digraphs import small

from bench.report import scc_page
from bench.studies.searches import scc_table
from clgraph import energy
from clgraph.energy.readings import Reading


@pytest.fixture(autouse=True)
def short(monkeypatch):
    class Loaded:
        graph = small("mixed-one-way")

    monkeypatch.setattr(scc_table, "find", lambda *_: Loaded)
    monkeypatch.setattr(scc_table, "TRIMS", (0, "full"))
    monkeypatch.setattr(scc_table, "PAIRS", (0, 2))
    monkeypatch.setattr(scc_table, "LONG_MS", 1e6)  # joules are measured on a busy machine too


@pytest.mark.parametrize("way", [["--presets", "auto,multistep"], ["--map"]])
def test_table_and_map(way, tmp_path, capsys, any_device, monkeypatch):
    """Scc checklist 16 and 17: presets with phases and joules, and the map of iterations."""

    class Meter:
        source, note, update_s, poll_s = "rapl", "made up", 0.05, 0.005
        looks = 0

        def read(self):
            Meter.looks += 1
            return Reading(Meter.looks * 1.0, 200.0)

        def close(self):
            pass

    monkeypatch.setattr(energy, "find_meter", lambda _: Meter())
    monkeypatch.setattr("clgraph.energy.measuring.find_meter", lambda _: Meter())
    spec = f"{any_device.index[0]}:{any_device.index[1]}"
    path = tmp_path / "record.json"
    given = ["--device", spec, "--repeats", "1", "--energy-seconds", "0.5"]
    given += ["--json", str(path), *way]
    assert scc_table.main(given) == 0
    rows = json.loads(path.read_text())["rows"]
    assert len(rows) == (4 if "--map" in way else 2)
    assert all(row["median_ms"] > 0 for row in rows)
    shown = capsys.readouterr().out
    assert ("fb 2" if "--map" in way else "multistep") in shown
    if "--map" in way:
        ran = [(row["config"]["trim"], row["config"]["forward_backward"]) for row in rows]
        assert ran == [(0, 0), (0, 2), ("full", 0), ("full", 2)]
        assert scc_page.recorded(tmp_path) == []
        return
    assert all(row["joules"] > 0 for row in rows)
    page = scc_page.section(scc_page.recorded(tmp_path))
    assert "| multistep | full | 1 | L | L | coloring | **" in page
    assert f"| {rows[0]['components']:,} | multistep | L | L | full | 1 |" in page
