"""``clgraph tune`` and ``--config tuned``."""

import json

import pytest

import clgraph as cg
from clgraph.cli.main import main


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "kron.npz"
    cg.write(cg.generate.kron(7, 8, seed=1, weights=(1, 9)), path)
    return str(path)


def test_the_command_tunes_and_the_search_uses_it(file, tmp_path, capsys):
    words = [file, "--device", "pocl"]
    assert main(["tune", *words, "--budget", "5", "--trials", "2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["tried"] <= 2
    assert told["meter"] == "none"
    assert told["best"]["joules"] is None
    assert told["stored"].startswith(str(tmp_path))
    assert main(["bfs", *words, "--config", "tuned", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert "user entry" in found["config"]["origin"]
    assert "kron.npz" in found["config"]["origin"]


def test_the_table_names_best_and_auto(file, tmp_path, capsys):
    picture = tmp_path / "front.svg"
    words = ["--algorithm", "triangles", "--budget", "4", "--trials", "1", "--no-store"]
    assert main(["tune", file, "--device", "pocl", *words, "--svg", str(picture)]) == 0
    shown = capsys.readouterr().out
    assert "tuned" in shown
    assert "no power meter" in shown
    assert "\nstored" not in shown
    assert picture.read_text().lstrip().startswith("<?xml")
    assert "<svg" in picture.read_text()
    assert not (tmp_path / "cache" / "tuned").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--objective", "joy"], "power:WATTS"),
        (["--objective", "energy", "--device", "pocl"], "needs a power meter"),
        (["--algorithm", "nothing"], "invalid choice"),
        (["--budget", "-1"], "not a positive number"),
    ],
)
def test_what_cannot_be_done_takes_one_line(file, capsys, words, said):
    assert main(["tune", file, *words]) == 2
    complaint = capsys.readouterr().err
    assert said in complaint
    assert complaint.count("\n") == 1


def test_settings_do_not_go_with_what_was_tuned(file, capsys):
    assert main(["bfs", file, "--config", "tuned", "--set", "frontier=edge"]) == 2
    assert "leave one out" in capsys.readouterr().err
