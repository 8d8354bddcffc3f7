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
        self.runs = {}
        self.config = "as planned"

    def run(self, source):
        # The first run from a source takes long, later ones 2 ms, but longer from the greatest.
        self.runs[source] = runs = self.runs.get(source, 0) + 1
        last, other = source == max(self.runs), len(self.runs) >= OTHER_FROM
        ms = 100.0 if runs == 1 else 2.0 + SLOWER * last
        # Runs of some rounds are made again otherwise, which takes ten times as long.
        again = runs - 1 in AGAIN
        config = "otherwise" if again else self.config
        stats = types.SimpleNamespace(kernel_ms=FACTOR * ms * (10 if again else 1), config=config)
        return types.SimpleNamespace(distances=np.arange(4) + SHIFT * other, stats=stats)
"""


def checkout(folder, factor=1.0, shift=0, slower=0.0, other_from=1, again=()):
    package = folder / "clgraph"
    package.mkdir(parents=True)
    numbers = f"FACTOR, SHIFT, SLOWER, OTHER_FROM = {factor}, {shift}, {slower}, {other_from}"
    numbers += f"\nAGAIN = {again!r}"
    text = f"{numbers}\n{OLD}"
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


def test_searches_that_were_made_again_are_compared_with_such(tmp_path, capsys):
    """Whether duplicates overflow a queue is chance, and no reason to be called slower."""
    sides = checkout(tmp_path / "a"), checkout(tmp_path / "b", factor=1.5, again=(1,))
    _, record = run(tmp_path, *sides)
    (case,) = record["cases"]
    assert (case["least"], case["ratio"], case["most"]) == (1.5, 1.5, 1.5)
    assert (case["by_source"], case["worst_source"]) == (1.5, 1.5)
    assert case["again"] == pytest.approx([0, 1 / 3])
    assert "0% 33%" in capsys.readouterr().out
    both = checkout(tmp_path / "c", again=(1, 2)), checkout(tmp_path / "d", again=(1, 2))
    assert run(tmp_path, *both)[1]["cases"][0]["ratio"] == 1
    never = checkout(tmp_path / "e"), checkout(tmp_path / "f", again=(1, 2, 3))
    assert "in the same way" in run(tmp_path, *never)[1]["cases"][0]["error"]


def test_other_results_are_told(tmp_path, capsys):
    status, record = run(tmp_path, checkout(tmp_path / "a"), checkout(tmp_path / "b", shift=1))
    assert status == 1
    assert not record["cases"][0]["same"]
    assert "DIFFER" in capsys.readouterr().out


def test_sources_that_lose_are_seen_beside_those_that_win(tmp_path, capsys):
    """One of four takes three times as long, which the median does not show."""
    sides = checkout(tmp_path / "a"), checkout(tmp_path / "b", slower=4.0)
    _, record = run(tmp_path, *sides, "--sources", "4")
    (case,) = record["cases"]
    assert (case["before_ms"], case["after_ms"]) == (2.0, 2.0)
    assert (case["before_p90_ms"], case["worst_source"]) == (2.0, 3.0)
    assert case["after_p90_ms"] == pytest.approx(2.0 + 0.7 * 4.0)
    assert case["by_source"] == pytest.approx(3.0**0.25)
    assert case["ratio"] == 1.5
    assert "3.00" in capsys.readouterr().out


def test_other_results_from_one_source_of_several_are_told(tmp_path):
    sides = checkout(tmp_path / "a"), checkout(tmp_path / "b", shift=1, other_from=4)
    status, record = run(tmp_path, *sides, "--sources", "4")
    assert status == 1
    assert not record["cases"][0]["same"]


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
