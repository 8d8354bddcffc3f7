"""Runs of small suites on PoCL: what is recorded, what is kept, what goes wrong."""

import json

import numpy as np
import pytest

import clgraph as cg
from bench.peers import reference
from bench.problems import bfs
from bench.report import text
from bench.runner import graphs, machine, measure, problem, records, runner, suites
from bench.runner.measure import Settings
from bench.runner.pinned import Pinned
from bench.runner.suites import Case
from clgraph import energy
from clgraph.errors import InvalidArgumentError

SUITE = (
    Case("bfs", "tiny-kron", shows="skew"),
    Case("bfs", "tiny-missing", shows="a graph that nobody has"),
    Case("bfs", "tiny-grid", shows="depth"),
)
SETTINGS = Settings(sources=6, passes=2, validate=2)


@pytest.fixture(autouse=True)
def small_suite(monkeypatch):
    monkeypatch.setitem(suites.SUITES, "tiny", SUITE)
    monkeypatch.setitem(graphs.GRAPHS, "tiny-kron", Pinned("kron", (9, 8), "kron:9,8"))
    monkeypatch.setitem(graphs.GRAPHS, "tiny-grid", Pinned("grid2d", (40, 30)))
    monkeypatch.setitem(graphs.GRAPHS, "tiny-missing", Pinned())
    monkeypatch.setattr(machine, "COPY_BYTES", 1 << 20)


@pytest.fixture(scope="module")
def record(pocl):
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(suites.SUITES, "tiny", SUITE)
        patch.setitem(graphs.GRAPHS, "tiny-kron", Pinned("kron", (9, 8), "kron:9,8"))
        patch.setitem(graphs.GRAPHS, "tiny-grid", Pinned("grid2d", (40, 30)))
        patch.setattr(machine, "COPY_BYTES", 1 << 20)
        return runner.run(
            "tiny",
            Settings(sources=6, passes=2, energy_s=0.1, peers=("scipy", "igraph", "networkx")),
            device=pocl,
            inputs=runner.Inputs(commit="0123abc"),
        )


def test_a_record_says_what_was_measured_where_and_how(record, pocl):
    assert record["schema"] == records.SCHEMA
    assert record["machine"]["commit"] == "0123abc"
    assert record["machine"]["device"]["name"] == pocl.name
    assert record["machine"]["copy_gb_per_s"] > 0.05
    assert record["settings"]["sources"] == 6
    kron, missing, grid = record["cases"]
    assert (missing["status"], kron["status"], grid["status"]) == ("skipped", "ok", "ok")
    assert "no folder of graphs was given" in missing["reason"]
    assert len(kron["source_hash"]) >= 16
    assert kron["graph"]["spec"] == "kron:9,8"
    assert kron["graph"]["seed"] == graphs.SEED
    assert kron["verified"]["against"] in {"scipy", "numba"}
    assert kron["verified"]["rules"] is True
    assert grid["summary"]["levels"]["max"] <= 69 + 1


def test_figures_of_searches_are_consistent(record):
    for case in (record["cases"][0], record["cases"][2]):
        searches, summary = case["searches"], case["summary"]
        assert all(len(column) == 6 for column in searches.values())
        assert len(set(searches["source"])) == 6
        edges, ms = (np.array(searches[name], float) for name in ("edges", "kernel_ms"))
        assert (edges > 0).all()
        assert summary["teps_harmonic_mean"] == pytest.approx(6 / (ms / (edges * 1e3)).sum())
        assert summary["kernel_ms"]["median"] == pytest.approx(np.median(ms))
        assert min(searches["total_ms"]) > 0
        levels = case["per_level"]
        assert sum(levels["edges"]) == edges[searches["source"].index(levels["source"])]
        assert case["floor"]["floor_ms"] > 0


def test_edges_are_those_of_the_component(record):
    graph = cg.generate.kron(9, 8, seed=graphs.SEED)
    searches = record["cases"][0]["searches"]
    _, search = reference.bfs_reference(graph)
    for source, edges, reached, levels in zip(
        *(searches[name] for name in ("source", "edges", "reached", "levels")), strict=True
    ):
        distances = search(source)
        assert reached == np.count_nonzero(distances >= 0)
        assert edges == graph.degrees[distances >= 0].sum()
        assert levels == distances.max() + 1


def test_peers_are_checked_and_compared(record):
    for case in (record["cases"][0], record["cases"][2]):
        assert case["peers"].keys() == {"scipy", "igraph", "networkx"}
        for name, peer in case["peers"].items():
            assert peer["status"] == "ok", (name, peer)
            assert peer["ratio"]["count"] == 6
            assert peer["convert_s"] >= 0
    shown = text.render(record)
    assert "tiny-kron" in shown
    assert "igraph" in shown
    assert "tiny-missing/auto skipped" in shown


def test_joules_are_measured_or_their_absence_explained(record):
    """bfs-enterprise 25, bfs-helix 24, bfs-4k: joules of every preset that a run measures."""
    taken = record["cases"][0]["energy"]
    if taken["joules_per_search"] is None:
        assert taken["meter"] == "none"
        assert taken["note"]
    else:
        assert taken["joules_per_search"] > 0


def test_figures_made_of_joules(monkeypatch, pocl):
    """bfs-enterprise 25: mean watts and edges a second and watt."""
    taken = energy.RunEnergy(
        joules_per_run=2e-3, spread=0.1, runs=1000, seconds=2.5, seconds_per_run=2.5e-3,
        mean_watts=0.8, peak_watts=1.0, idle_watts=0.5, samples=25, source="nvml-counter", note="",
    )  # fmt: skip
    monkeypatch.setattr(measure.energy, "per_run", lambda *_, **__: taken)
    settings = Settings(sources=4, passes=1, energy_s=2.5)
    found = runner.run("tiny", settings, device=pocl, only=["tiny-grid"])["cases"][0]
    assert found["energy"]["mteps_per_watt"] == pytest.approx(2 * (39 * 30 + 29 * 40) / 2e-3 / 1e6)
    assert found["energy"]["energy_delay_js"] == pytest.approx(5e-6)


def test_a_wrong_search_fails_its_case_and_no_other(monkeypatch, pocl):
    real = bfs.bfs_reference

    def wrong_on_grids(graph):
        name, search = real(graph)
        return name, search if graph.n != 1200 else lambda source: search(source) + 1

    monkeypatch.setattr(bfs, "bfs_reference", wrong_on_grids)
    found = runner.run("tiny", SETTINGS, device=pocl)
    kron, _, grid = found["cases"]
    assert kron["status"] == "ok"
    assert grid["status"] == "failed"
    assert "1200 distances from" in grid["reason"]


def test_an_interrupted_run_keeps_its_cases_and_is_resumed(tmp_path, pocl):
    file = tmp_path / "run.json"
    inputs = runner.Inputs(record=file, commit="a")

    def interrupt(_case):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runner.run("tiny", SETTINGS, device=pocl, inputs=inputs, report=interrupt)
    kept = records.load(file)
    assert kept["finished"] is None
    assert [case["graph"]["name"] for case in kept["cases"]] == ["tiny-kron"]
    again = runner.Inputs(record=file, resume=file, commit="a")
    whole = runner.run("tiny", SETTINGS, device=pocl, inputs=again)
    assert whole["finished"] is not None
    assert whole["cases"][0] == kept["cases"][0]
    assert [case["status"] for case in whole["cases"]] == ["ok", "skipped", "ok"]
    assert records.load(file)["cases"][0] == kept["cases"][0]
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


@pytest.mark.parametrize(
    ("commit", "settings", "seed", "problem"),
    [
        ("b", SETTINGS, graphs.SEED, "another commit"),
        ("a", Settings(sources=5), graphs.SEED, "other settings"),
        ("a", SETTINGS, 7, "other settings"),
    ],
)
def test_only_the_same_run_is_resumed(tmp_path, pocl, commit, settings, seed, problem):
    file = tmp_path / "run.json"
    first = runner.Inputs(record=file, commit="a")
    runner.run("tiny", SETTINGS, device=pocl, inputs=first, only=["tiny-missing"])
    again = runner.Inputs(graphs.Places(seed=seed), resume=file, commit=commit)
    with pytest.raises(InvalidArgumentError, match=problem):
        runner.run("tiny", settings, device=pocl, inputs=again)


def test_unknown_suites_graphs_and_presets_are_refused(pocl):
    with pytest.raises(InvalidArgumentError, match="quick"):
        runner.run("huge", SETTINGS, device=pocl)
    with pytest.raises(InvalidArgumentError, match="tiny-kron"):
        runner.run("tiny", SETTINGS, device=pocl, only=["elsewhere"])
    with pytest.raises(InvalidArgumentError, match="preset"):
        runner.run("tiny", Settings(presets=("fastest",)), device=pocl)


def test_a_graph_without_edges_is_skipped(monkeypatch, pocl):
    monkeypatch.setitem(graphs.GRAPHS, "tiny-grid", Pinned("path", (1,)))
    found = runner.run("tiny", SETTINGS, device=pocl, only=["tiny-grid"])["cases"][0]
    assert (found["status"], found["reason"]) == ("skipped", "no vertex of the graph has an edge")


def test_deep_profiles_are_shortened_without_losing_vertices(monkeypatch, pocl):
    monkeypatch.setitem(graphs.GRAPHS, "tiny-grid", Pinned("path", (1000,)))
    found = runner.run("tiny", SETTINGS, device=pocl, only=["tiny-grid"])["cases"][0]
    profile = found["per_level"]
    assert len(profile["frontier"]) <= bfs.SHOWN_LEVELS
    assert profile["levels_per_row"] > 1
    assert sum(profile["frontier"]) == 1000


def test_sources_are_seeded_distinct_and_have_edges():
    degrees = np.array([0, 3, 0, 1, 2, 5])
    picked = problem.pick_sources(degrees, 3, "name")
    assert picked == problem.pick_sources(degrees, 3, "name")
    assert len(set(picked)) == 3
    assert set(problem.pick_sources(degrees, 64, "name")) == {1, 3, 4, 5}


def test_records_that_cannot_be_used_are_refused(tmp_path):
    file = tmp_path / "other.json"
    for content, told in (
        ("{", "not JSON"),
        ("[]", "no record"),
        ('{"schema": 9}', "no record"),
    ):
        file.write_text(content)
        with pytest.raises(InvalidArgumentError, match=told):
            records.load(file)


def test_a_record_is_replaced_whole_or_not_at_all(tmp_path):
    file = tmp_path / "run.json"
    records.save({"schema": records.SCHEMA, "cases": [{"x": float("nan")}]}, file)
    before = file.read_text()
    assert json.loads(before) == {"schema": records.SCHEMA, "cases": [{"x": None}]}

    class Unprintable:
        def __str__(self):
            raise RuntimeError

    with pytest.raises(RuntimeError):
        records.save({"schema": records.SCHEMA, "cases": [Unprintable()]}, file)
    assert file.read_text() == before
