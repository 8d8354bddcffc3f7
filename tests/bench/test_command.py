"""``clgraph bench`` as a user calls it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from made_up import case, record
from runtimes import LIMIT_S

from bench.runner import records, suites
from clgraph.cli.main import main
from clgraph.cli.tools import bench as command

ROOT = Path(__file__).resolve().parents[2]
SHORT = ("--only", "grid500", "--sources", "3", "--passes", "1", "--device", "pocl")


@pytest.mark.rest
@pytest.mark.usefixtures("pocl")
def test_a_run_writes_its_record_and_page_and_prints_a_table(tmp_path, capsys):
    file, page = tmp_path / "out.json", tmp_path / "out.html"
    words = ["bench", *SHORT, "--peers", "scipy", "--json", str(file), "--html", str(page)]
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert "grid500" in out
    assert "scipy" in out
    assert err.startswith("bfs/grid500/auto: ")
    assert records.load(file)["cases"][0]["status"] == "ok"
    assert page.read_text().startswith("<!DOCTYPE html>")


@pytest.mark.usefixtures("pocl")
def test_json_without_a_file_prints_one_object_and_nothing_else(capsys):
    assert main(["bench", *SHORT, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["schema"] == records.SCHEMA


@pytest.mark.rest
@pytest.mark.usefixtures("pocl")
def test_ctrl_c_shows_and_keeps_what_was_measured(tmp_path, capsys, monkeypatch):
    def interrupt(_case):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "_report", interrupt)
    file, page = tmp_path / "out.json", tmp_path / "out.html"
    words = ["bench", *SHORT, "--only", "bfs/grid500,bfs/road500", "--html", str(page)]
    assert main([*words, "--json", str(file)]) == 130
    out, err = capsys.readouterr()
    assert "grid500" in out
    assert "The run was interrupted" in out
    assert "Traceback" not in err
    assert "an interruption" in page.read_text()
    kept = records.load(file)
    assert (kept["finished"], len(kept["cases"])) == (None, 1)
    monkeypatch.undo()
    assert main([*words, "--json", str(file), "--resume", str(file)]) == 0
    whole = records.load(file)
    assert [case["graph"]["name"] for case in whole["cases"]] == ["grid500", "road500"]
    assert whole["cases"][0] == kept["cases"][0]


def test_comparing_two_files(tmp_path, capsys):
    for name, factor in (("a", 1.0), ("b", 1.5)):
        records.save(record(case("g", [factor, 2 * factor])), tmp_path / f"{name}.json")
    a, b = (str(tmp_path / f"{name}.json") for name in "ab")
    assert main(["bench", "compare", a, b]) == 1
    assert "slower" in capsys.readouterr().out
    assert main(["bench", "compare", b, a, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cases"][0]["verdict"] == "faster"
    file = tmp_path / "compared.json"
    assert main(["bench", "compare", b, a, "--json", str(file)]) == 0
    assert "0 regressions" in capsys.readouterr().out
    assert json.loads(file.read_text())["cases"][0]["verdict"] == "faster"


def test_a_record_that_lacks_its_parts_is_refused(tmp_path, capsys):
    file = tmp_path / "part.json"
    file.write_text(json.dumps({"schema": records.SCHEMA, "cases": {}, "machine": {}}))
    assert main(["bench", "compare", str(file), str(file)]) == 2
    assert "is no whole record: it has no settings, cases." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["compare", "a.json"], "compare A B"),
        (["compare", "missing.json", "missing.json"], "missing.json"),
        (["measure"], "is not known"),
        (["compare", "a.json", "b.json", "--html", "x.html"], "--html has no meaning"),
        (["list", "--resume", "x.json"], "--resume has no meaning"),
        (["list", "--only", "moon"], "moon is not in suite quick"),
        (["list", "--json", "no/such/folder/x.json"], "folder does not exist"),
        (["--peers", "boost"], "boost"),
        (["--only", "moon", "--device", "pocl"], "moon"),
        (["--sources", "0"], "--sources"),
        (["--reach", "-5"], "--reach: '-5' is not a whole number of at least 0"),
        (["--validate", "-3"], "--validate"),
        (["--narrow", "nan"], "--narrow: 'nan' is not a positive number"),
        (["--budget", "-1"], "--budget"),
        (["--energy", "--energy-seconds", "0"], "--energy-seconds"),
        (["--graphs", "no/such/folder"], "no folder to look for graphs"),
        (["--data", "no/such/folder"], "no folder to look for graphs"),
        (["--html", ".", "--device", "pocl"], "it is a folder"),
        (["--json", ".", "--device", "pocl"], "it is a folder"),
        (["--json", "no/such/folder/x.json", "--device", "pocl"], "folder does not exist"),
        (["--config", "fastest", "--device", "pocl"], "fastest"),
    ],
)
@pytest.mark.usefixtures("pocl")
def test_bad_arguments_are_one_line_and_status_2(words, problem, capsys):
    assert main(["bench", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert problem in err
    assert err.count("\n") == 1


def test_cases_are_listed_without_a_device(capsys, tmp_path):
    assert main(["bench", "list", "--suite", "full"]) == 0
    out = capsys.readouterr().out
    assert "generate.kron(20, 16, seed=12345)" in out
    assert "https://snap.stanford.edu/data/web-NotreDame.txt.gz" in out
    assert main(["bench", "list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["cases"]
    assert [case["graph"] for case in listed] == [case.graph for case in suites.SUITES["quick"]]
    file = tmp_path / "listed.json"
    assert main(["bench", "list", "--only", "sssp", "--json", str(file)]) == 0
    assert {case["algorithm"] for case in json.loads(file.read_text())["cases"]} == {"sssp"}


def test_the_command_lists_the_suites_that_there_are():
    assert set(command.SUITES) == set(suites.SUITES)


def test_the_runner_is_found_inside_an_installed_package(tmp_path):
    """The wheel holds bench as clgraph/bench; nothing of a checkout is needed then."""
    ignore = shutil.ignore_patterns("__pycache__", "results")
    shutil.copytree(ROOT / "clgraph", tmp_path / "clgraph", ignore=ignore)
    shutil.copytree(ROOT / "bench", tmp_path / "clgraph" / "bench", ignore=ignore)
    script = (
        "from clgraph.cli.tools.bench import load_runner; import sys; "
        "print(load_runner('runner.runner').__file__, 'bench' in sys.modules, sep='\\n')"
    )
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        check=True,
        timeout=LIMIT_S,
    )
    assert done.stdout.splitlines() == [
        str(tmp_path / "clgraph" / "bench" / "runner" / "runner.py"),
        "False",
    ]


def test_the_wheel_carries_the_runner():
    assert '"bench" = "clgraph/bench"' in (ROOT / "pyproject.toml").read_text()
