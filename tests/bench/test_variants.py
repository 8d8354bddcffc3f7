"""Studies of single features: what the papers' own ablations measure."""

import json

import numpy as np
import pytest

import clgraph as cg
from bench.runner.graphs import with_weights
from bench.studies.searches import variants

GRAPH = cg.generate.kron(9, seed=2)


def test_every_variant_is_a_configuration():
    """bfs-merrill 22, bfs-enterprise 23, bfs-4k's ablation and baselines, bfs-helix 19 and 26,

    sssp-hbf 12, 13, 16 and 21.
    """
    for name, study in variants.STUDIES.items():
        for dimensions in study.values():
            variants.split(dimensions, variants.search_of(name))
    assert {"expand-contract", "hybrid"} < set(variants.STUDIES["merrill"])
    assert {"BL", "TS", "WB", "HC", "HC alpha"} < set(variants.STUDIES["enterprise"])
    assert {"VW", "+ED", "+DP", "+hash"} < set(variants.STUDIES["bfs-4k"])
    assert {"CSR", "CSR-M"} < set(variants.STUDIES["helix"])


@pytest.mark.parametrize("study", variants.STUDIES)
def test_no_variant_is_another_one(study):
    """What a study compares differs in the configuration, the order or the plan."""
    search = variants.search_of(study)
    found = [
        repr((dimensions.get("plan"), variants.split(dimensions, search)))
        for dimensions in variants.STUDIES[study].values()
    ]
    assert len(set(found)) == len(found)


@pytest.mark.slow
@pytest.mark.parametrize("study", variants.STUDIES)
def test_every_study_runs(study, intel):
    search = variants.search_of(study)
    graph = with_weights(GRAPH) if search is variants.PATHS else GRAPH
    found = variants.measure(
        graph, variants.STUDIES[study], intel, search=search, sources=3, passes=1
    )
    assert set(found) == set(variants.STUDIES[study])
    for row in found.values():
        assert row["ms"] > 0


def test_orders_of_the_vertices(any_device):
    """Issue 3: what preparing a graph brings, with its cost; distances by the given numbers."""
    graph = cg.generate.rmat(8, seed=3)
    found = variants.measure(graph, variants.STUDIES["orders"], any_device, sources=4, passes=1)
    assert found["as given"]["prepared_s"] == 0
    assert {"degree", "hub", "rcm"} < set(found)
    for order in ("degree", "hub", "rcm"):
        assert found[order]["prepared_s"] > 0
    one = variants._variant(graph, {"order": "degree"}, variants.LEVELS, device=any_device)
    source = int(np.argmax(graph.degrees))
    assert one.numbers[source] == 0
    given = cg.bfs(graph, source, device=any_device).distances
    np.testing.assert_array_equal(one.distances(one.run(source)), given)


@pytest.mark.runtimes("pocl", "intel")
def test_the_edge_parallel_baseline(device):
    """bfs-4k's baselines and bfs-helix 26: right distances, every edge in every level."""
    study = {name: variants.STUDIES["bfs-4k"][name] for name in ("VW", "all edges")}
    for graph in (GRAPH, cg.generate.path(40)):
        found = variants.measure(graph, study, device, sources=2, passes=1)
        levels = int(found["all edges"]["pulled"].split(" of ")[1])
        assert found["all edges"]["ms"] > 0
        plan = variants._variant(graph, study["all edges"], variants.LEVELS, device=device)
        result = plan.run(3)
        np.testing.assert_array_equal(result.distances, cg.bfs(graph, 3, device=device).distances)
        assert result.expanded_edges.tolist() == [graph.m] * (int(result.distances.max()) + 1)
        assert levels >= 2


@pytest.mark.usefixtures("intel")
def test_a_table_and_a_record(tmp_path, capsys, monkeypatch):
    """bfs-enterprise 14 and 23: gamma against alpha, and the gain of each feature, as a table."""
    record = tmp_path / "found.json"
    few = {name: variants.STUDIES["enterprise"][name] for name in ("TS", "HC alpha")}
    monkeypatch.setitem(variants.STUDIES, "enterprise", few)
    arguments = ["--on", "rmat14", "--study", "enterprise", "--sources", "2", "--passes", "1"]
    assert variants.main([*arguments, "--device", "intel", "--json", str(record)]) == 0
    printed = capsys.readouterr().out
    assert "| HC alpha |" in printed
    found = json.loads(record.read_text())["studies"]["enterprise"]["rmat14"]
    assert found["TS"]["redundancy"] == pytest.approx(1)


def test_sizes_of_frontiers(any_device):
    """bfs-merrill 22, its figure 3: edges, different vertices among them, new vertices by level."""
    graph = cg.from_edges([0, 0, 1, 2], [1, 2, 3, 3], n=4)
    assert variants.frontiers(graph, 0, any_device) == [(2, 2, 2), (2, 1, 1), (0, 0, 0)]
    sizes = np.array(variants.frontiers(GRAPH, int(np.argmax(GRAPH.degrees)), any_device))
    assert (sizes[:, 0] >= sizes[:, 1]).all()
    assert (sizes[:, 1] >= sizes[:, 2]).all()
