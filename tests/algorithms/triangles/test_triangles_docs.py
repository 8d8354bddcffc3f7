"""The example of docs/triangles.md prints what the page says, and its figures are a record's."""

import json
import re
import runpy
from collections import Counter
from pathlib import Path

from bench.report.triangles import page
from bench.studies.processors import page as raced

# Of an H200: totals, and supports of edges where they have one.
BARS_MS = {
    "road": (0.06, 0.11),
    "mesh": (0.085, 0.3),
    "rgg": (0.27, 0.6),
    "kron": (2.0, 9.0),
    "kron+2": (9.0, None),
}
# What networkit's TriangleEdgeScore adds up to on the record's graphs of the first seed.
NETWORKIT = {
    "road/20261122": 0,
    "mesh/20261122": 4_494_002,
    "rgg/20261122": 17_738_449,
    "kron/20261122": 423_652_200,
}
PAGE = Path(__file__).resolve().parents[3] / "docs" / "triangles.md"


def test_the_example_prints_what_the_page_says(any_device, monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("CLGRAPH_DEVICE", "{}:{}".format(*any_device.index))
    (example,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.S | re.M)
    script = tmp_path / "example.py"
    script.write_text(example, "utf-8")
    runpy.run_path(str(script))
    said = re.findall(r"^print\(.*\)  # (.*)$", example, re.M)
    assert len(said) == 6
    assert capsys.readouterr().out.splitlines() == said


def test_the_tables_are_those_of_the_record():
    """TC-25: milliseconds and joules by graph and preset, as the study prints a record."""
    text = PAGE.read_text("utf-8")
    (record,) = re.findall(r"\]\((\S*/h200-\S*?\.json)\)", text)
    lines = page(json.loads((PAGE.parent / record).read_text("utf-8"))).splitlines()
    table = [line for line in lines if line]
    assert sum(line.startswith("| `") for line in table) == 5
    assert len(table) == 2 + 5 + 2 + 5  # five graphs, and presets of the first seed
    assert [line for line in table if line not in text.splitlines()] == []


def test_the_recorded_runs_meet_the_bars():
    """Totals, counts of vertices and supports of every graph and seed, preparation included."""
    (record,) = re.findall(r"\]\((\S*/h200-\S*?\.json)\)", PAGE.read_text("utf-8"))
    graphs = json.loads((PAGE.parent / record).read_text("utf-8"))["graphs"]
    assert len(graphs) == 15
    for name, graph in graphs.items():
        total_ms, edge_ms = BARS_MS[name.partition("/")[0]]
        assert not graph["wrong"]
        assert graph["total"]["with_ms"] <= total_ms
        if edge_ms is not None:
            assert graph["edge"]["with_ms"] <= edge_ms
            assert graph["vertex"]["with_ms"] <= 1.5 * graph["total"]["with_ms"]


def test_recorded_totals_are_those_of_networkit():
    (record,) = re.findall(r"\]\((\S*/h200-\S*?\.json)\)", PAGE.read_text("utf-8"))
    graphs = json.loads((PAGE.parent / record).read_text("utf-8"))["graphs"]
    assert {key: graphs[key]["count"] for key in NETWORKIT} == NETWORKIT


def test_no_preset_is_ahead_of_auto():
    """By more than noise, which two runs of one configuration show: on "kron" auto is "bitmap"."""
    (record,) = re.findall(r"\]\((\S*/h200-\S*?\.json)\)", PAGE.read_text("utf-8"))
    graphs = json.loads((PAGE.parent / record).read_text("utf-8"))["graphs"]
    tried = [graph for graph in graphs.values() if "presets" in graph]
    assert len(tried) == 4
    for graph in tried:
        assert len(graph["presets"]) == 5
        least_ms = min(preset["with_ms"] for preset in graph["presets"].values())
        assert graph["total"]["with_ms"] <= 1.05 * least_ms


def test_the_recorded_peers_are_behind_and_on_the_page():
    """At least 2.5 times as fast as igraph and as fast as GAP at each seed, in turn."""
    text = PAGE.read_text("utf-8")
    (record,) = re.findall(r"\]\((\S*/pocl-\S*?cores\.json)\)", text)
    found = json.loads((PAGE.parent / record).read_text("utf-8"))
    assert not found["dirty"]
    graphs = Counter(key.split("/")[1] for key in found["found"])
    assert graphs == dict.fromkeys(("kron16", "kron18", "rgg", "road"), 3)
    for who in found["found"].values():
        assert not any(each["wrong"] for each in who.values())
        assert who["igraph"]["ms"] >= 2.5 * who["clgraph"]["ms"]
        assert who["gap"]["ms"] >= who["clgraph"]["ms"]
    table = raced(found, "triangles").splitlines()
    assert len(table) == 2 + 4
    assert [line for line in table if line not in text.splitlines()] == []
