"""``clgraph scc`` and ``clgraph components``."""

import json

import numpy as np
import pytest
from digraphs import oracle
from searches import MIXED_ONE_WAY

import clgraph as cg
from clgraph.cli.main import main


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "graph.mtx"
    cg.write(MIXED_ONE_WAY, path)
    return str(path)


@pytest.mark.parametrize(("command", "kind"), [("scc", "strong"), ("components", "weak")])
def test_commands(command, kind, file, tmp_path, capsys, any_device):
    spec = f"{any_device.index[0]}:{any_device.index[1]}"
    out = tmp_path / "out.npz"
    given = [command, file, "--device", spec, "--repeat", "3", "--energy", "--output", str(out)]
    assert main([*given, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    expected = oracle(MIXED_ONE_WAY, kind)
    assert (record["components"], record["connection"]) == (expected.max() + 1, kind)
    with np.load(out) as archive:
        np.testing.assert_array_equal(archive["labels"], expected)
    table = tmp_path / "out.csv"
    assert main([*given[:-1], str(table)]) == 0
    text = capsys.readouterr().out
    assert f"{expected.max() + 1:,} " in text
    assert table.read_text().splitlines()[:2] == ["vertex,component", f"0,{expected[0]}"]


@pytest.mark.parametrize("wrong", [["--config", "no-such"], ["--output", "x.txt"]])
def test_what_is_refused(wrong, file, capsys):
    assert main(["scc", file, *wrong]) == 2
    assert capsys.readouterr().err.count("\n") == 1
