"""Large runs that are shared among processes: what goes first, when they end, and what is kept."""

import signal
import subprocess
import time

import ledger
import pytest
import spread

COUNTED = "tests/fuzz/test_formats.py"


def test_what_takes_long_goes_first():
    """In the order given; all others stay as they were, those too that have no case."""
    names = [
        "a.py::test[x]",
        "a.py::test[slow]",
        "a.py::test",
        "b.py::test[y]",
        "b.py::test[slower]",
    ]
    ordered = [names[4], names[1], names[0], names[2], names[3]]
    assert spread.ordered(names, ["slower", "slow", "missing"]) == ordered
    assert spread.ordered(names, []) == names


def run(seed, began, **tried):
    return {"asked": {"runs": 5, "seed": seed}, "began": began, "tried": tried}


def test_what_was_asked_for_alike_becomes_one_run():
    runs = [
        run(1, "3", test_runs={"bfs": {"runs": 5}}),
        run(2, "1", test_runs={"bfs": {"runs": 4}}),
        run(1, "2", test_runs={"scc": {"runs": 3}}, test_plans={"bfs": {"plans": 2}}),
    ]
    together = {"bfs": {"runs": 5}, "scc": {"runs": 3}}
    assert spread.merged(runs) == [
        run(1, "2", test_runs=together, test_plans={"bfs": {"plans": 2}}),
        run(2, "1", test_runs={"bfs": {"runs": 4}}),
    ]


class Deaf:
    """A process that ends at the signal given, and at no other."""

    def __init__(self, at):
        self.at, self.signals = at, []

    def send_signal(self, number):
        self.signals.append(number)

    def wait(self, timeout=None):
        if self.at in self.signals:
            return -self.at
        assert timeout is not None, "nothing would end it"
        raise subprocess.TimeoutExpired("pytest", timeout)


@pytest.mark.parametrize("at", [signal.SIGINT, signal.SIGKILL])
def test_a_process_that_outlasts_its_time_is_ended(at, tmp_path):
    """Interrupted, so that it says what it tried; killed where that does not help."""
    process = Deaf(at)
    one = spread.Spread([], time.time() - 1, tmp_path)
    assert one._wait(process) == -at
    assert process.signals == [signal.SIGINT, signal.SIGKILL][: 1 + (at == signal.SIGKILL)]


def test_nothing_begins_when_the_time_is_over(tmp_path, monkeypatch):
    monkeypatch.setattr(spread.subprocess, "Popen", lambda *_, **__: pytest.fail("it began"))
    before = spread.os.sched_getaffinity(0)
    one = spread.Spread([["a"], ["b"]], time.time(), tmp_path)
    one.run([before, before])
    assert one.ledgers() == []
    assert one.failures == 0


@pytest.mark.rest
def test_tests_get_a_process_each(tmp_path, capsys):
    """And what these counted is one run of the ledger; options and names may hold blanks."""
    file = tmp_path / "ledger.json"
    chosen = ["-k", "test_mutated_files and (csv or metis)", "--inputs", "7", "--seed", "3"]
    assert spread.main(["--ledger", str(file), "--", COUNTED, *chosen]) == 0
    (found,) = ledger.load(file)
    assert (found["asked"]["inputs"], found["asked"]["seed"]) == (7, 3)
    (cases,) = found["tried"].values()
    assert {case: figures["inputs"] for case, figures in cases.items()} == {"csv": 7, "metis": 7}
    assert capsys.readouterr().out.count("status 0: test_mutated_files[") == 2


@pytest.mark.slow
def test_parts_get_a_process_each(tmp_path):
    """Together they try every place once."""
    counts = []
    for parts in ("1", "3"):
        file = tmp_path / f"{parts}.json"
        chosen = ["-k", "test_generating and lines-star", "--interruptions", "0"]
        whole = ["--parts", parts, "--ledger", str(file), "--", "tests/fuzz", *chosen]
        assert spread.main(whole) == 0
        tried = [run["tried"]["test_generating"]["lines-star"] for run in ledger.load(file)]
        assert all(one["interruptions"] == one["places"] > 20 for one in tried)
        counts.append(ledger.sums(ledger.load(file))["test_generating"]["sum"])
    assert len(tried) == 3
    assert counts[0] == counts[1]


@pytest.mark.slow
def test_seeds_get_a_process_each(tmp_path):
    """All tests in each, with a seed that follows the one before."""
    file = tmp_path / "ledger.json"
    chosen = ["-k", "test_mutated_files and csv", "--inputs", "7"]
    seeds = ["--seeds", "2", "--first-seed", "50"]
    arguments = [*seeds, "--ledger", str(file), "--", COUNTED, *chosen]
    assert spread.main(arguments) == 0
    assert [found["asked"]["seed"] for found in ledger.load(file)] == [50, 51]
    assert ledger.sums(ledger.load(file))["test_mutated_files"]["sum"] == 14


TAKING = """
def pytest_addoption(parser):
    for name in ("--run-slow", "--until", "--ledger"):
        parser.addoption(name, nargs="?")
"""
ABORTING = """
import os

def test_made():
    os.write(2, b"what a driver says")
    os.abort()
"""


def test_what_is_said_before_a_process_is_aborted_is_shown(tmp_path, capsys, monkeypatch):
    (tmp_path / "taking.py").write_text(TAKING)
    (tmp_path / "test_aborting.py").write_text(ABORTING)
    (tmp_path / "pytest.ini").write_text("[pytest]")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    job = [str(tmp_path / "test_aborting.py"), "-p", "taking", "-c", str(tmp_path / "pytest.ini")]
    one = spread.Spread([job], time.time() + 60, tmp_path)
    one.run([spread.os.sched_getaffinity(0)])
    assert one.failures == 1
    said = capsys.readouterr().out
    assert f"status {-signal.SIGABRT}:" in said
    assert "what a driver says" in said


@pytest.mark.slow
def test_what_fails_is_counted(tmp_path, capsys):
    """And its last lines are shown."""
    file = tmp_path / "ledger.json"
    arguments = ["--seeds", "1", "--ledger", str(file), "--", COUNTED, "--inputs", "none"]
    assert spread.main(arguments) == 1
    assert "invalid int value: 'none'" in capsys.readouterr().out
    assert ledger.load(file) == []
