"""``clgraph mine``."""

import json

import numpy as np
import pytest

from clgraph.cli.main import main


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text("a,b,p\n1,2,true\n2,2,false\n3,4,true\n")
    return str(path)


def test_text(trace, capsys, any_device, tmp_path):
    place = "{}:{}".format(*any_device.index)
    smt = tmp_path / "found.smt2"
    assert main(["mine", trace, "--device", place, "--output", str(smt)]) == 0
    output = capsys.readouterr().out
    assert "3 variables, 3 instants" in output
    assert "1 invariants" in output
    assert output.splitlines()[-1] == "a <= b"
    assert "(assert (<= |a| |b|))" in smt.read_text()


def test_json_with_templates_and_variables(trace, capsys, any_device):
    words = ["mine", trace, "--templates", "x < 4", "x < y + 1", "--variables", "a", "b", "--json"]
    assert main([*words, "--device", "{}:{}".format(*any_device.index)]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["trace"]["variables"] == ["a", "b"]
    assert record["invariants"] == ["a < 4", "a < (b + 1)"]
    assert record["counts"] == {"v1 < 4": 1, "v1 < (v2 + 1)": 1}
    assert record["phases"][0]["kind"] == "numeric"


@pytest.mark.parametrize(
    "words",
    [["--templates", "a +"], ["--variables", "z"], ["--output", "x.png"], ["--config", "fast"]],
)
def test_bad_input_is_told_on_one_line(words, trace, capsys):
    assert main(["mine", trace, *words]) == 2
    error = capsys.readouterr().err
    assert error.startswith("clgraph: ")
    assert error.count("\n") == 1


def test_many_are_cut_short(tmp_path, capsys, any_device):
    np.save(tmp_path / "t.npy", np.arange(12.0).reshape(12, 1))
    path = str(tmp_path / "t.npy")
    assert main(["mine", path, "--device", "{}:{}".format(*any_device.index)]) == 0
    assert "158 more; --output writes all" in capsys.readouterr().out
