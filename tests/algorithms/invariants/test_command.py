"""``clgraph mine``."""

import io
import json

import numpy as np
import pytest

from clgraph import energy
from clgraph.cli.main import main
from clgraph.energy.readings import Reading


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


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("watched", [True, False])
def test_a_bar_shows_how_far_it_is_on_a_terminal(
    watched, tmp_path, monkeypatch, capsys, any_device
):
    """Every phase says what it mines and how much of it is done; the line is clean afterwards."""
    np.save(tmp_path / "t.npy", np.arange(4.0).repeat(200_000).reshape(4, -1))
    terminal = Terminal()
    if watched:
        monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr("clgraph.cli.progress.QUIET_SECONDS", 0.0)
    monkeypatch.setattr("clgraph.cli.progress.REDRAW_SECONDS", 0.0)
    words = ["mine", str(tmp_path / "t.npy"), "--templates", "a < 9", "a <= b"]
    assert main([*words, "--device", "{}:{}".format(*any_device.index)]) == 0
    captured = capsys.readouterr()
    assert "v0 <= v1" in captured.out
    assert captured.err == ""
    for phase in ("mining numeric templates of 1 variables", "of 2 variables"):
        assert (phase in terminal.getvalue()) == watched
    if watched:
        assert "100%" in terminal.getvalue()
        assert terminal.getvalue().rstrip(" ").endswith("\r")


def test_joules(trace, capsys, monkeypatch, any_device):
    class Meter:
        source, note, update_s, poll_s = "rapl", "made up", 0.02, 0.005
        looks = 0

        def read(self):
            Meter.looks += 1
            return Reading(Meter.looks * 1.0, 200.0)

        def close(self):
            pass

    monkeypatch.setattr(energy, "find_meter", lambda _: Meter())
    monkeypatch.setattr("clgraph.energy.measuring.find_meter", lambda _: Meter())
    monkeypatch.setattr("clgraph.energy.measuring._idle", {})
    monkeypatch.setattr("clgraph.cli.reporting.ENERGY_SECONDS", 0.1)
    words = ["mine", trace, "--energy", "--device", "{}:{}".format(*any_device.index)]
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["energy"]["joules_per_run"] > 0
    assert main(words) == 0
    assert " J per run" in capsys.readouterr().out


def test_of_several_files_what_holds_in_all(trace, tmp_path, capsys, any_device):
    other = tmp_path / "other.csv"
    other.write_text("a,b,p\n5,4,true\n")
    words = ["mine", trace, str(other), "--device", "{}:{}".format(*any_device.index), "--json"]
    assert main(words) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["invariants"] == []
    assert record["trace"]["instants"] == 4
    table = tmp_path / "found.csv"
    assert main([*words, "--templates", "x + y > 2", "--output", str(table)]) == 0
    assert table.read_text().splitlines()[1:] == ["(v1 + v2) > 2,a,b,"]
