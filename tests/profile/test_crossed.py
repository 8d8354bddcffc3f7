"""The study of predicted and measured times, each plan in a process of its own."""

import argparse
import json
import subprocess
from pathlib import Path

from bench.studies.profiling import crossed


def test_a_plan_that_is_given_up_takes_no_other_with_it(monkeypatch, capsys):
    """One process writes nothing, one is ended after its first row, and the others go on."""
    asked = []

    def run(command, *, timeout, check):
        assert check is False
        assert timeout <= 70
        own = {word: command[command.index(word) + 1] for word in ("--plans", "--output")}
        asked.append((own["--plans"], "--corpus-seconds" in command))
        if own["--plans"] == "cores":
            return
        kernels = [] if own["--plans"] == "none" else [own["--plans"]]
        rows = {"kernels": kernels, "corpus": ["searched"] if asked[-1][1] else []}
        Path(own["--output"]).write_text(json.dumps(rows))
        if own["--plans"] == "triangles":
            raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(crossed.subprocess, "run", run)
    plans, corpus = crossed.apart(
        argparse.Namespace(
            plans=["components", "cores", "triangles", "truss"],
            graphs=["rmat14"],
            repeats=1,
            device="pocl",
            commit=None,
            seconds=50.0,
            corpus_seconds=20.0,
        )
    )
    assert plans == ["components", "triangles", "truss"]
    assert corpus == ["searched"] * crossed.CORPUS_PARTS
    assert asked[4:] == [("none", True)] * crossed.CORPUS_PARTS
    assert "['--plans', 'triangles']: given up" in capsys.readouterr().out
