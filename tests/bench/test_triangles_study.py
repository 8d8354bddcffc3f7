"""The study of triangles: TC-25 on graphs that a CPU has done with at once."""

import json
from types import SimpleNamespace

import pytest

import clgraph as cg
from bench.studies import triangles
from clgraph.algorithms.triangles.config import Merge


def study(device, *words):
    place = "{}:{}".format(*device.index)
    return triangles.main(["--device", place, "--scale", "7", "--seeds", "1", *words])


@pytest.fixture
def short(monkeypatch):
    """Nothing is run more often than once, nor in more ways."""
    for name in ("REPEATS", "SHORT_REPEATS"):
        monkeypatch.setattr(triangles, name, 1)
    monkeypatch.setattr(triangles, "VARIANTS", ((Merge("row", span=2), ("vertex",)),))


@pytest.mark.usefixtures("short")
def test_tc25_times_and_joules_of_graphs_and_presets(any_device, tmp_path, monkeypatch, capsys):
    """Totals, vertices and edges, with preparation and without; what is measured is not again."""
    head = triangles.machine.head_of("triangles", any_device)  # the checkout may change meanwhile
    monkeypatch.setattr(triangles.machine, "head_of", lambda *_: dict(head))
    out = tmp_path / "record.json"
    words = ["--graphs", "mesh,kron", "--presets", "--output", str(out)]
    assert study(any_device, *words) == 0
    graphs = json.loads(out.read_text("utf-8"))["graphs"]
    seed = triangles.SEEDS[0]
    assert set(graphs) == {f"mesh/{seed}", f"kron/{seed}"}
    for found in graphs.values():
        assert found["wrong"] == []
        for per in ("total", "vertex", "edge"):
            assert min(found[per]["with_ms"], found[per]["without_ms"]) > 0
        assert set(found["presets"]) == set(cg.TrianglesConfig.presets()) - {"auto"}
    assert list(graphs[f"mesh/{seed}"]["variants"]) == ["merge(span=2) vertex"]
    monkeypatch.setattr(triangles, "energy_of", lambda run, _: {"joules_per_run": run().count})
    assert study(any_device, "--graphs", "mesh,kron,rgg", "--add", "--energy", *words[3:]) == 0
    again = json.loads(out.read_text("utf-8"))["graphs"]
    joules = again.pop(f"rgg/{seed}")
    assert joules["energy"] == {"joules_per_run": joules["count"]}
    assert again == graphs
    assert "rgg" in capsys.readouterr().out


@pytest.mark.usefixtures("short")
def test_what_is_counted_wrong_is_not_timed(any_device, monkeypatch, tmp_path):
    out = tmp_path / "record.json"
    monkeypatch.setattr(triangles, "differences", lambda *_: ["vertex"])
    assert study(any_device, "--graphs", "mesh", "--output", str(out)) == 1
    (found,) = json.loads(out.read_text("utf-8"))["graphs"].values()
    assert found["wrong"] == ["vertex"]
    assert not {"total", "vertex", "edge"} & set(found)


def test_counts_are_compared_with_another_preset_s(pocl):
    graph = cg.generate.mesh(6, 6, seed=1)
    right = cg.Triangles(graph, device=pocl)
    assert triangles.differences(right, ("total", "vertex", "edge")) == []

    def wrong(per):
        found = right.run(per)
        values = found.values if found.values is None else found.values + 1
        return SimpleNamespace(count=found.count + (per == "total"), values=values)

    plan = SimpleNamespace(simple=graph, device=pocl, run=wrong)
    assert triangles.differences(plan, ("total", "vertex", "edge")) == ["total", "vertex", "edge"]
