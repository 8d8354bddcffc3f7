"""Scaling over several devices: bfs-merrill 22 and bfs-enterprise 23, as far as devices go."""

import json
import os

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


def test_the_model_finds_the_numbers_that_made_records(tmp_path, capsys):
    """Rows made by known numbers give these back, and the plot of them is drawn."""
    made = scaling_model.Model(50e-6, 10e-6, 2e-12, 4e-11)
    rows = []
    for parts in (1, 2, 4, 8):
        for scale in (16, 20, 24):
            shape = {"parts": parts, "levels": 5 + scale / 8, "edges": 32.0 * 2**scale}
            sent = scaling_model.paper_bytes(2.0**scale, parts)
            seconds = made.seconds(parts, shape["levels"], shape["edges"], sent)
            rows.append(
                {
                    **shape,
                    "graph": f"kron{scale}",
                    "exchange": "bits",
                    "bytes": sent,
                    "ms": 1e3 * seconds,
                    "gteps": shape["edges"] / seconds / 1e9,
                }
            )
    found = scaling_model.fitted(rows)
    for name in ("latency_s", "step_s", "edge_s", "byte_s"):
        assert getattr(found, name) == pytest.approx(getattr(made, name), rel=1e-6)
    assert found.error < 1e-6
    (tmp_path / "records.json").write_text(json.dumps({"rows": rows}))
    plot = tmp_path / "plot.svg"
    argv = [str(tmp_path / "records.json"), "--cards", "2,64", "--plot", str(plot)]
    assert scaling_model.main(argv) == 0
    assert "weak" in capsys.readouterr().out
    assert plot.stat().st_size > 1000


def test_rows_from_host_memory(monkeypatch, capsys, any_device, tmp_path):
    """Speeds beside the bus's, and nothing wrong goes into a record."""

    class Loaded:
        graph = cg.generate.random(3000, 120, seed=2)

    monkeypatch.setattr(streaming, "find", lambda *_: Loaded)
    monkeypatch.setattr(streaming, "COPY_BYTES", 1 << 16)
    file = tmp_path / "streaming.json"
    argv = ["made-up", "--device", spec_of(any_device), "--share", "0.5", "--sources", "2"]
    argv += ["--ways", "in-place,copied", "--predecessors", "--json", str(file)]
    assert streaming.main(argv) == 0
    assert "the bus carries" in capsys.readouterr().out
    record = json.loads(file.read_text())
    assert [row["way"] for row in record["rows"]] == ["in place"] * 4 + ["copied"] * 4
    assert all(row["of_bus"] > 0 for row in record["rows"])
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
