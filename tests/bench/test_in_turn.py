"""Two checkouts of clgraph in turn: ratios, other results, and what an old version cannot do."""

import json
from pathlib import Path

import pytest

from bench.studies.searches import in_turn

ROOT = Path(__file__).resolve().parents[2]

# What the study needs of a version, on four vertices in a row.
OLD = """
import types
import numpy as np

def device(spec):
    return spec

class Graph:
    def __init__(self, indptr, indices, weights, *, directed):
        self.m = len(indices)

class BFS:
    def __init__(self, graph, device):
        self.runs = 0

    def run(self, source):
        self.runs += 1
        stats = types.SimpleNamespace(kernel_ms=FACTOR * (100.0 if self.runs == 1 else 2.0))
        return types.SimpleNamespace(distances=np.arange(4) + SHIFT, stats=stats)
"""


def checkout(folder, factor=1.0, shift=0):
    package = folder / "clgraph"
    package.mkdir(parents=True)
    text = f"FACTOR, SHIFT = {factor}, {shift}\n{OLD}"
    (package / "__init__.py").write_text(text, encoding="utf-8")
    return folder


def run(tmp_path, before, after, *more):
    output = tmp_path / "record.json"
    words = ["--before", str(before), "--after", str(after), "--output", str(output)]
    words += ["--device", "pocl", "--only", "bfs/grid500", "--sources", "1", "--rounds", "3", *more]
    return in_turn.main(words), json.loads(output.read_text("utf-8"))


def test_ratios_are_of_rounds_that_follow_each_other(tmp_path, capsys, pocl):
    """The first round, which takes longer, is for nothing."""
    sides = checkout(tmp_path / "a"), checkout(tmp_path / "b", factor=1.5)
    status, record = run(tmp_path, *sides)
    assert status == 0
    (case,) = record["cases"]
    assert case["case"] == "bfs/grid500/auto"
    assert (case["before_ms"], case["after_ms"]) == (2.0, 3.0)
    assert (case["least"], case["ratio"], case["most"]) == (1.5, 1.5, 1.5)
    assert case["same"]
    assert record["device"] == pocl.name
    assert record["before"] == [None, None]
    assert "1.500" in capsys.readouterr().out


def test_other_results_are_told(tmp_path, capsys):
    status, record = run(tmp_path, checkout(tmp_path / "a"), checkout(tmp_path / "b", shift=1))
    assert status == 1
    assert not record["cases"][0]["same"]
    assert "DIFFER" in capsys.readouterr().out


def test_what_a_version_cannot_do_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(in_turn, "cases", lambda *_: iter([("bfs", "grid500", ["auto", "helix"])]))
    _, record = run(tmp_path, checkout(tmp_path / "a"), checkout(tmp_path / "b"))
    plain, other = record["cases"]
    assert plain["same"]
    assert other["error"].startswith("TypeError: BFS.__init__() got an unexpected keyword")


@pytest.mark.usefixtures("pocl")
def test_this_checkout_and_itself(tmp_path):
    """The real classes, from the sources that both are given."""
    status, record = run(tmp_path, ROOT, ROOT)
    assert status == 0
    (case,) = record["cases"]
    assert case["same"]
    assert 0 < case["least"] <= case["ratio"] <= case["most"]


@pytest.mark.parametrize("suite", ["papers", "presets", "processors", "quick"])
def test_presets_are_those_of_both_versions(suite):
    found = list(in_turn.cases(suite, None))
    assert {algorithm for algorithm, *_ in found} <= {"bfs", "sssp", "scc", "components"}
    assert all(presets[0] == "auto" for *_, presets in found)
    assert any(len(presets) > 1 for *_, presets in found) == (suite == "presets")
    only = list(in_turn.cases(suite, "bfs"))
    assert only == [case for case in found if case[0] == "bfs"]
