"""The study of rows in blocks: DH-32 on a graph that a CPU has done with at once."""

import json

import pytest

from bench.studies import dynamic_rows


def test_dh32_speeds_and_bytes_of_both_layouts(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(dynamic_rows, "REPEATS", 1)
    monkeypatch.setattr(dynamic_rows, "LAYOUT_BATCHES", (10, 100))
    out = tmp_path / "record.json"
    assert dynamic_rows.main(["--device", "pocl", "--scale", "9", "--output", str(out)]) == 0
    record = json.loads(out.read_text())
    assert set(record["graphs"]) == {"kron", "road"}
    for figures in record["graphs"].values():
        assert figures["beginnings"]["default"]["over_csr"] <= 1.4
        assert figures["beginnings"]["4194304"]["over_csr"] > 1.4
        for what in ("bfs", "components", "spmv"):
            assert figures[what]["speed"] > 0
        assert figures["upload_ms"] > 0
        assert set(figures["layouts"]) == {"10", "100"}
        for told in figures["layouts"].values():
            assert all(ms > 0 for layout in ("arrays", "records") for ms in told[layout].values())
    assert "blocks ms" in capsys.readouterr().out


def test_different_answers_are_no_figures():
    with pytest.raises(SystemExit, match="WRONG"):
        dynamic_rows.compared(lambda: (1, 1.0), lambda: (2, 1.0))
