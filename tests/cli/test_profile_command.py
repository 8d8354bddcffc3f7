"""The command ``clgraph profile``: what it prints, writes and refuses."""

import json

import pytest

import clgraph as cg
from clgraph.cli.main import main
from clgraph.profile.quality import Weights


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("profile") / "kron.mtx"
    cg.write(cg.generate.kron(6, seed=1, weights=(1, 9)), path)
    return str(path)


def run(capsys, *words):
    status = main(["profile", *words, "--device", "pocl", "--json"])
    captured = capsys.readouterr()
    assert status == 0, captured.err
    return json.loads(captured.out)


@pytest.mark.rest
def test_a_search_with_a_preset_and_a_page(file, capsys, tmp_path):
    page = tmp_path / "page.html"
    told = run(capsys, "bfs", file, "--preset", "helix", "--source", "1", "--html", str(page))
    assert told["preset"] == "helix"
    assert told["criteria"]["HSync"]["value"] is not None
    assert told["criteria"]["TDiv"]["value"] is None
    assert told["criteria"]["TDiv"]["reason"]
    assert told["device"] in page.read_text(encoding="utf-8")


@pytest.mark.long
@pytest.mark.parametrize("algorithm", ["sssp", "scc", "components", "triangles"])
def test_other_algorithms(algorithm, file, capsys):
    told = run(capsys, algorithm, file, "--passes", "counters")
    assert told["kernels"]
    assert told["quality"] is not None


def test_a_table_by_default(file, capsys):
    assert main(["profile", "bfs", file, "--device", "pocl", "--passes", "time"]) == 0
    shown = capsys.readouterr().out
    assert "criterion" in shown
    assert "Gran_L2" in shown


def test_weights_from_a_file(file, capsys, tmp_path):
    Weights({"HSync": 1.0}).save(tmp_path / "weights.json")
    told = run(capsys, "bfs", file, "--weights", str(tmp_path / "weights.json"), "--passes", "time")
    assert told["quality"] == told["criteria"]["HSync"]["value"]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["bfs", "FILE", "--passes", "fast"], "no pass fast"),
        (["scc", "FILE", "--source", "0"], "starts from no vertex"),
        (["bfs", "FILE", "--preset", "fastest"], "fastest"),
        (["bfs", "FILE", "--html", "/nowhere/at/all.html"], "folder does not exist"),
        (["walk", "FILE"], "invalid choice"),
        (["bfs", "/nowhere.mtx"], "nowhere.mtx"),
        (["bfs", "FILE", "--source", "999"], "999"),
    ],
)
def test_bad_arguments_take_one_line(words, part, file, capsys):
    status = main(["profile", *(file if word == "FILE" else word for word in words)])
    captured = capsys.readouterr()
    assert status == 2
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert part in captured.err
