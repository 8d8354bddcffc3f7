"""Levels of the median and of the slowest sources: what they had to do, and what pulling costs."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

import clgraph as cg
from bench.studies.searches import levels


def test_a_level_has_what_was_left_when_it_began(pocl):
    """A star whose first leaf leads on, and a pair apart."""
    graph = cg.from_edges([0, 0, 0, 1, 5], [1, 2, 3, 4, 6], n=8, symmetrize=True)
    rows = levels.levels_of(graph, cg.bfs(graph, 2, device=pocl))
    had = [[row[key] for key in levels.HEAD[:6]] for row in rows]
    assert had == [[0, 1, 1, 1, 6, 9], [1, 1, 3, 3, 5, 6], [2, 2, 3, 2, 3, 3], [3, 1, 1, 1, 2, 2]]


def level(direction, edges, unvisited, unexplored, us):
    keys = ("direction", "edges", "unvisited", "unexplored", "us")
    return dict(zip(keys, (direction, edges, unvisited, unexplored, us), strict=True))


def test_costs_of_pulling_are_found_again():
    """Tries of a vertex are unexplored edges over the frontier's, at least one, at most all."""
    rng = np.random.default_rng(5)
    rows = []
    for _ in range(60):
        unvisited = int(rng.integers(10, 10**6))
        unexplored = unvisited * int(rng.integers(1, 40))
        edges = int(rng.integers(1, 2 * unexplored))
        probes = min(unvisited * max(unexplored / edges, 1.0), unexplored)
        rows.append(
            level("pull", edges, unvisited, unexplored, 4.5 + 2e-5 * unvisited + 3e-6 * probes)
        )
    wrong = [level("push", 10, 10, 10, 1e9), level("pull", 0, 10, 10, 1e9)]
    found = levels.fitted({"pull": [rows[:30], rows[30:], wrong]})
    assert found["us"] == pytest.approx([4.5, 2e-5, 3e-6])
    assert found["fit over measured"] == pytest.approx([1.0, 1.0, 1.0])


def test_without_a_clock_nothing_is_fitted():
    assert levels.fitted({"pull": [[level("pull", 5, 10, 20, float("nan"))] * 9]}) == {}


def test_slowest_sources_are_shown_and_all_are_kept(tmp_path, capsys, monkeypatch, pocl):
    graph = cg.generate.kron(9, 8, seed=3)
    monkeypatch.setattr(levels, "find", lambda *_, **__: SimpleNamespace(graph=graph))
    output = tmp_path / "levels.json"
    words = ["--device", "pocl", "--on", "kron9", "--sources", "6", "--shown", "1", "--rounds", "2"]
    assert levels.main([*words, "--output", str(output)]) == 0
    record = json.loads(output.read_text("utf-8"))
    assert record["device"] == pocl.name
    kept = record["graphs"]["kron9"]
    slowest = int(np.argmax(kept["kernel_ms"]["auto"]))
    text = capsys.readouterr().out
    assert f"from {kept['sources'][slowest]} with" in text
    for variant, ways in (("push", {"push", "end"}), ("pull", {"push", "pull", "end"})):
        rows = [row for search in kept["levels"][variant] for row in search]
        assert {row["direction"] for row in rows} <= ways
    assert all(search[1]["direction"] == "pull" for search in kept["levels"]["pull"])


def test_searches_that_differ_are_refused(monkeypatch, pocl):
    graph = cg.generate.kron(7, 8, seed=3)
    other = cg.BFSConfig(pull="never", limits=cg.limits.Limits(single_group_edges=1))
    monkeypatch.setitem(levels.VARIANTS, "push", other)
    real = cg.BFS.run

    def run(plan, source):
        return real(plan, source, max_depth=1 if plan.config.pull is None else None)

    monkeypatch.setattr(levels.BFS, "run", run)
    with pytest.raises(SystemExit, match="push finds something else"):
        levels.searched(graph, pocl, [int(np.argmax(graph.degrees == 3))], 1)
