"""The study of ranks, communities and cores on a processor: its ratios, and what it continues."""

import itertools
import json
from pathlib import Path

import pytest

import clgraph as cg
from bench.peers import contestants
from bench.peers.external import Code
from bench.studies import processors
from clgraph.errors import InvalidArgumentError

ROOT = Path(__file__).resolve().parent.parent.parent


def row(ms, beside="clgraph", **more):
    return {"ms": ms, "beside": beside, **more}


FOUND = {
    "leiden/kron16/1": {
        "clgraph": row(10.0, modularity=0.5),
        "networkit": row(20.0, modularity=0.25),
    },
    "leiden/kron16/2": {
        "clgraph": row(10.0, modularity=0.5),
        "networkit": row(15.0, modularity=0.25),
    },
    "pagerank/road/1": {
        "clgraph, single": row(2.0),
        "clgraph, double": row(4.0),
        "gap": row(3.0, "clgraph, single"),
        "scipy": row(6.0, "clgraph, double"),
    },
}


def test_everybody_is_compared_with_ours_of_the_same_precision_and_seed():
    assert list(processors.ratios(FOUND)) == [
        ("leiden", "kron16", "networkit", [2.0, 1.5]),
        ("pagerank", "road", "gap", [1.5]),
        ("pagerank", "road", "scipy", [1.5]),
    ]


def test_a_table_has_medians_and_the_least_ratio():
    assert processors.page({"found": FOUND}, "leiden").splitlines() == [
        "| graph | clgraph | networkit |",
        "|---|--:|--:|",
        "| kron16 | 10.0, 0.5000 | 17.5, 0.2500 (1.50) |",
    ]


def test_short_turns_are_repeated(monkeypatch):
    for enough_s, turns in ((1e9, processors.MOST_TURNS), (0.0, processors.TURNS)):
        monkeypatch.setattr(processors, "ENOUGH_S", enough_s)
        found = processors.raced({"clgraph": contestants.Contestant(lambda: (1.0, None))})
        assert found["clgraph"]["turns"] == turns


def test_who_takes_long_counts_once_and_what_it_builds_does_not(monkeypatch):
    monkeypatch.setattr(processors, "LONG_S", 0.001)
    monkeypatch.setattr(processors, "ENOUGH_S", 0.0)
    runs = {"clgraph": 0, "slow": 0}

    def contestant(name, ms):
        def run():
            runs[name] += 1
            return (ms if runs[name] > 1 else 100.0 + ms), ms  # kernels are built in the first

        return contestants.Contestant(run, lambda answer: {"said": answer})

    found = processors.raced(
        {"clgraph": contestant("clgraph", 0.5), "slow": contestant("slow", 9.0)}
    )
    assert runs == {"clgraph": processors.TURNS + 1, "slow": 2}
    assert found["slow"]["said"] == found["slow"]["most"] == 9.0
    assert found["slow"]["turns"] == 1
    assert found["clgraph"]["turns"] == processors.TURNS


def test_what_the_first_turn_takes_is_not_kept(monkeypatch):
    """It may take long only because kernels are loaded: that says nothing of those after it."""
    monkeypatch.setattr(processors, "ENOUGH_S", 0.0)
    times = itertools.chain([2e3 * processors.LONG_S], itertools.repeat(1.0))
    found = processors.raced({"clgraph": contestants.Contestant(lambda: (next(times), None))})
    assert found["clgraph"]["turns"] == processors.TURNS
    assert found["clgraph"]["most"] == 1.0


@pytest.mark.runtimes("pocl")
def test_a_record_is_continued_only_where_it_is_of_the_same_commit(tmp_path, device):
    output = tmp_path / "record.json"
    begun = processors.begun(output, device, 10)
    begun["found"]["cores/road/1"] = {"clgraph": row(1.0)}
    output.write_text(json.dumps(begun), encoding="utf-8")
    assert processors.begun(output, device, 10)["found"] == begun["found"]
    with pytest.raises(InvalidArgumentError, match="is of scale 10, not 11"):
        processors.begun(output, device, 11)


@pytest.mark.runtimes("pocl")
def test_answers_of_all_are_right_where_everybody_is_installed(device):
    for name in ("igraph", "networkit", "scipy"):
        pytest.importorskip(name)
    graph = cg.generate.kron(7, seed=3)
    for problem in ("pagerank", "cores", "triangles", "leiden"):
        field = processors.FIELDS[problem](graph, device, {})
        for name, each in field.items():
            _, answer = each.run()
            assert not each.told(answer).get("wrong"), (problem, name)


def test_a_native_code_is_told_a_wrong_count():
    """Of triangles: what it prints must be ours."""
    code = Code("tc", ("tc", "{graph}"), "([0-9.]+)", checks={"triangles": r"(\d+) triangles"})
    each = contestants.counted(code(cg.generate.complete(5)), 10)
    told = each.told
    assert told("10 triangles\n") == {"wrong": False}
    assert told("11 triangles\n") == told("nothing\n") == {"wrong": True}
    each.close()


def test_the_recorded_runs_are_ahead_of_libraries():
    """PageRank of networkit's everywhere, core numbers of igraph's, at every seed."""
    name = "pocl-20261123-ranks-cores.json"
    record = json.loads((ROOT / "bench" / "results" / name).read_text("utf-8"))
    assert not record["dirty"]
    for peer, problem in (("networkit", "pagerank"), ("igraph", "cores")):
        found = {k: v for k, v in record["found"].items() if k.startswith(f"{problem}/")}
        assert len(found) == 6 * 3
        for who in found.values():
            assert not who[peer]["wrong"]
            assert who[peer]["ms"] >= who[who[peer]["beside"]]["ms"]
