"""Scaling over several devices: bfs-merrill 22 and bfs-enterprise 23, as far as devices go."""

import json

import clgraph as cg
from bench.studies import scaling


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
