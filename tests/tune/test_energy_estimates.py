"""``stats.energy_estimate``: by the energy model, and None with a reason where there is none."""

import json
from pathlib import Path

import pytest

import clgraph as cg
from clgraph.energy import estimating

RECORD = Path(__file__).resolve().parents[2] / "bench/results/h200-20261122-microbenchmarks.json"
GRAPH = cg.generate.kron(8, 8, seed=1, weights=(1, 9))


def runs(device):
    return {
        "bfs": cg.bfs(GRAPH, 0, device=device),
        "sssp": cg.sssp(GRAPH, 0, device=device),
        "components": cg.connected_components(GRAPH, device=device),
        "scc": cg.scc(cg.generate.rmat(6, 4, seed=1), device=device),
        "triangles": cg.Triangles(GRAPH, device=device).run(),
    }


def test_without_a_model_there_is_no_estimate(pocl, tmp_path, monkeypatch):
    """Never invented."""
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path))
    estimating._model_of.cache_clear()
    for result in runs(pocl).values():
        assert result.stats.energy_estimate is None
        assert "has no energy model" in result.stats.energy_estimate_note
    estimating._model_of.cache_clear()


@pytest.fixture
def modelled(monkeypatch):
    model = estimating.fit_record(json.loads(RECORD.read_text())).model
    monkeypatch.setattr(estimating, "_model_of", lambda _: model)
    return model


def test_estimates_are_what_the_model_says_of_the_counts(pocl, modelled):
    found = runs(pocl)
    for name in ("bfs", "sssp", "components"):
        stats = found[name].stats
        least = modelled.prices["seconds"] * stats.total_ms * 1e-3
        assert stats.energy_estimate > least  # more than the device at rest
        assert "by the energy model" in stats.energy_estimate_note
    for name in ("scc", "triangles"):
        assert found[name].stats.energy_estimate is None
        assert "does not count" in found[name].stats.energy_estimate_note


def test_twice_the_edges_cost_more(pocl, modelled):
    stats = cg.bfs(GRAPH, 0, device=pocl).stats
    first = stats._work()
    assert first.edges == stats.per_level["edges"][stats.per_level["direction"] == "push"].sum() + (
        GRAPH.n * (stats.per_level["direction"] == "pull").sum()
    )
    before = stats.energy_estimate
    stats._work = lambda: first._replace(edges=2e9)
    assert stats.energy_estimate > before + 1e9 * modelled.prices["integer_operations"]


def test_what_has_no_price_has_no_estimate(pocl, modelled):
    stats = cg.bfs(GRAPH, 0, device=pocl).stats
    del modelled.prices["memory_bytes"]
    assert stats.energy_estimate is None
    assert "no price" in stats.energy_estimate_note
