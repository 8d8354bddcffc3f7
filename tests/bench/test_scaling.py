"""Scaling over several devices: bfs-merrill 22 and bfs-enterprise 23, as far as devices go."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

import clgraph as cg
from bench.studies.searches import scaling, scaling_model, streaming


def spec_of(device):
    return f"{device.index[0]}:{device.index[1]}"


def test_strong_scaling(monkeypatch, capsys, any_device, tmp_path):
    """bfs-merrill 22: parts, speeds and bytes a level, beside a search that is not divided."""

    class Loaded:
        graph = cg.generate.kron(8, seed=1)

    monkeypatch.setattr(scaling, "find", lambda *_: Loaded)
    file = tmp_path / "scaling.json"
    argv = ["made-up", "--devices", spec_of(any_device), "--parts", "1,2", "--sources", "2"]
    argv += ["--exchanges", "candidates,bits", "--json", str(file)]
    assert scaling.main(argv) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split()[:4] == ["graph", "exchange", "parts", "devices"]
    assert len(lines) == 5
    rows = json.loads(file.read_text())["rows"]
    assert [row["exchange"] for row in rows] == ["undivided", *["candidates", "bits"] * 2]
    assert [row["bytes"] > 0 for row in rows] == [False, False, False, True, True]
    assert "shared" in lines[-1]
    assert all(row["gteps"] > 0 for row in rows)


def test_weak_scaling(capsys, any_device):
    """bfs-enterprise 23: edges, or vertices, grow with the parts."""
    for grow, graphs in (
        ("edges", ["kron7x16", "kron7x32"]),
        ("vertices", ["kron7x16", "kron8x16"]),
    ):
        argv = ["kron7", "--grow", grow, "--devices", spec_of(any_device), "--parts", "1,2"]
        scaling.main([*argv, "--sources", "1", "--exchanges", "candidates", "--predecessors"])
        lines = capsys.readouterr().out.splitlines()[1:]
        assert [line.split()[0] for line in lines] == [name for name in graphs for _ in range(2)]


def row_of(made, scale, parts, devices):
    """A row as a model would have it."""
    row = {"graph": f"kron{scale}x16", "exchange": "bits", "parts": parts, "devices": devices}
    row |= {"levels": 5 + scale / 8, "edges": 32.0 * 2**scale, "n": 2**scale}
    # The larger the graph, the more of what is sent is lists.
    row["bytes"] = (parts - 1) * row["n"] * (0.375 + scale / 100)
    seconds = made.seconds(row)
    return {**row, "ms": 1e3 * seconds, "gteps": row["edges"] / seconds / 1e9}


def test_the_model_finds_the_numbers_that_made_records(tmp_path, capsys):
    """Rows made by known numbers give these back, and the plot of them is drawn."""
    made = scaling_model.Model(50e-6, 10e-6, 2e-12, 4e-11)
    sizes = [(scale, parts) for parts in (1, 2, 4, 8) for scale in (16, 20, 24)]
    rows = [row_of(made, scale, parts, min(parts, 4)) for scale, parts in sizes]
    (found,) = scaling_model.models(rows).values()
    for name in ("latency_s", "step_s", "edge_s", "byte_s"):
        assert getattr(found, name) == pytest.approx(getattr(made, name), rel=1e-6)
    assert found.error < 1e-6
    assert scaling_model.left_out(rows) == pytest.approx([row["ms"] / 1e3 for row in rows])
    # Another eight cards' largest graph on paper is what the model says of it.
    (strong, weak) = scaling_model.on_paper(found, rows[-1], [16])
    assert strong["ms"] == pytest.approx(row_of(made, 24, 16, 16)["ms"])
    assert (weak["scale"], weak["received_gb"]) == (25, pytest.approx(15 * 0.615 * 2**25 / 16e9))
    (tmp_path / "records.json").write_text(json.dumps({"rows": rows}))
    plot, text = tmp_path / "plot.svg", tmp_path / "scaling.txt"
    argv = [str(tmp_path / "records.json"), "--cards", "2,64"]
    assert scaling_model.main([*argv, "--plot", str(plot), "--text", str(text)]) == 0
    assert text.read_text() == capsys.readouterr().out
    assert "weak" in text.read_text()
    assert plot.stat().st_size > 1000


def test_what_rows_of_as_many_ranks_cannot_say(tmp_path, capsys):
    """How latency grows, so that there are two models; nor, without a bus, what a byte costs."""
    made = scaling_model.Model(70e-6, 0.0, 1.3e-12, 2e-11)
    rows = [row_of(made, scale, 2, 2) for scale in (20, 24, 26)]
    found = scaling_model.models(rows, made.byte_s)
    assert list(found) == ["latency stays", "latency grows"]
    assert found["latency stays"].latency_s == pytest.approx(70e-6)
    assert found["latency grows"].step_s == pytest.approx(70e-6)
    for model in found.values():
        assert (model.error, model.byte_s) == (pytest.approx(0, abs=1e-9), made.byte_s)
        assert model.edge_s == pytest.approx(1.3e-12)
    assert scaling_model.models(rows[:1], made.byte_s) == {}
    assert np.isnan(scaling_model.left_out(rows[:2], made.byte_s)).all()
    (tmp_path / "one.json").write_text(json.dumps({"rows": rows[:1]}))
    (tmp_path / "bus.json").write_text(json.dumps({"bus_gb_per_s": 50.0}))
    argv = [str(tmp_path / "one.json"), "--bus", str(tmp_path / "bus.json")]
    assert scaling_model.main(argv) == 0
    assert "Too few rows" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        scaling_model.main([*argv, "--exchange", "none"])


def test_graphs_are_drawn(capsys, any_device):
    """KronN that no folder has, for strong scaling on a processor."""
    argv = ["kron7", "--draw", "--devices", spec_of(any_device), "--parts", "2", "--sources", "1"]
    assert scaling.main([*argv, "--exchanges", "bits"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split()[:3] == ["kron7", "bits", "2"]


def test_rows_from_host_memory(monkeypatch, capsys, any_device, tmp_path):
    """Speeds beside the bus's, and nothing wrong goes into a record."""

    class Loaded:
        graph = cg.generate.random(3000, 120, seed=2)

    monkeypatch.setattr(streaming, "find", lambda *_: Loaded)
    monkeypatch.setattr(streaming, "COPY_BYTES", 1 << 16)
    file = tmp_path / "streaming.json"
    argv = ["made-up", "--device", spec_of(any_device), "--share", "0.5", "--sources", "2"]
    argv += ["--ways", "in-place,pushed,copied", "--predecessors", "--json", str(file)]
    assert streaming.main(argv) == 0
    assert "the bus carries" in capsys.readouterr().out
    record = json.loads(file.read_text())
    assert [row["way"] for row in record["rows"]] == ["in place"] * 8 + ["copied"] * 4
    assert [row["pulls"] for row in record["rows"]] == [True] * 4 + [False] * 8
    assert all(row["of_bus"] > 0 for row in record["rows"])
    assert all(row["sent_gb"] < row["edge_gb"] for row in record["rows"][:4])
    assert all(row["sent_gb"] >= row["edge_gb"] for row in record["rows"][4:])
    monkeypatch.setenv(streaming.LIMIT, str(1 << 40))
    monkeypatch.setattr(streaming, "pick_sources", lambda *_: [1])
    monkeypatch.setattr(streaming.Streamed, "search", lambda *_: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        streaming.main(argv)
    assert os.environ[streaming.LIMIT] == str(1 << 40)
    monkeypatch.undo()
    plan = streaming.Streamed(Loaded.graph, any_device, predecessors=False)
    with pytest.raises(SystemExit, match="wrong"):
        streaming.measure(Loaded.graph, plan, 1, np.zeros(3000, np.int32))


RECORDS = Path(__file__).resolve().parents[2] / "bench" / "results"


def test_the_page_has_what_the_model_says(tmp_path, capsys):
    """Its table is of the output that is kept, and this of the records."""
    names = ["h100-20261128-scaling.json", "pocl-20261128-scaling.json"]
    argv = [str(RECORDS / name) for name in names]
    argv += ["--bus", str(RECORDS / "h100-20261128-streaming.json")]
    argv += ["--cards", "1,2,4,8,16,32,64,8192", "--text", str(tmp_path / "model.txt")]
    assert scaling_model.main(argv) == 0
    capsys.readouterr()
    text = (tmp_path / "model.txt").read_text()
    assert text == (RECORDS / "h100-20261128-scaling-model.txt").read_text()
    page = (RECORDS.parents[1] / "docs" / "several-devices.md").read_text()
    paper = [
        line.split() for line in text.splitlines() if line.split()[:1] in (["strong"], ["weak"])
    ]
    half = len(paper) // 2  # latency stays, and grows; of each strong first
    for cards in ("2", "4", "8", "16", "32", "64", "8192"):
        rows = [[row for row in part if row[1] == cards] for part in (paper[:half], paper[half:])]
        (strong, weak), (strong_too, weak_too) = rows
        cells = [cards, strong[4], strong_too[4], weak[2], weak[4], weak_too[4], weak[5]]
        assert f"| {' | '.join(cells)} |" in page
