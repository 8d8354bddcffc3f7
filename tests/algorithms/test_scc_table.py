"""The program that measures presets and iterations of the strong-component scheme."""

import json

import pytest
from digraphs import small

from bench import scc_table


@pytest.fixture(autouse=True)
def short(monkeypatch):
    class Loaded:
        graph = small("mixed-one-way")

    monkeypatch.setattr(scc_table, "find", lambda *_: Loaded)
    monkeypatch.setattr(scc_table, "TRIMS", (0, "full"))
    monkeypatch.setattr(scc_table, "PAIRS", (0, 2))


@pytest.mark.parametrize("way", [["--presets", "auto,multistep"], ["--map"]])
def test_table_and_map(way, tmp_path, capsys, any_device):
    """Scc checklist 16 and 17: presets with their phases, and the map of iterations."""
    spec = f"{any_device.index[0]}:{any_device.index[1]}"
    path = tmp_path / "record.json"
    given = ["--device", spec, "--repeats", "1", "--json", str(path), *way]
    assert scc_table.main(given) == 0
    rows = json.loads(path.read_text())["rows"]
    assert len(rows) == (4 if "--map" in way else 2)
    assert all(row["median_ms"] > 0 for row in rows)
    shown = capsys.readouterr().out
    assert ("fb 2" if "--map" in way else "multistep") in shown
