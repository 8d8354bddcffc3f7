"""What many searches gave is checked by a sample: right results pass, each wrong one is named."""

import numpy as np
import pytest
from paths import weighted
from searches import MIXED, MIXED_ONE_WAY

import clgraph as cg
from clgraph.algorithms.centrality import betweenness, closeness
from clgraph.algorithms.multi_search import apsp, bounds, eccentricity, reachable
from clgraph.algorithms.multi_search import plan as module
from clgraph.algorithms.multi_search.totals import Searcher

pytestmark = pytest.mark.runtimes("pocl")

GRAPHS = {"undirected": MIXED, "directed": MIXED_ONE_WAY}
SOURCES = [5, 3, 400, 17, 17, 900]
SMALL = cg.generate.kron(6, 4, seed=1, weights=(1, 5))
HOPS = {
    "state": {"hops": cg.State("int32", fill=-1), "mean": cg.State("float32", size=1)},
    "init": "if (lid == 0) hops[src] = 0;",
    "visit": "if (FIRST(v)) { hops[v] = level + 1; ENQ(v); }",
    "finalize": "if (lid == 0) mean[0] = (float)hops[0];",
}
CALLS = {
    "apsp": cg.apsp,
    "closeness": cg.closeness_centrality,
    "harmonic": cg.harmonic_centrality,
    "eccentricity": lambda g, s, **how: cg.eccentricity(g, s, disconnected="ignore", **how),
    "diameter": lambda g, _, **how: cg.diameter(g, disconnected="ignore", **how),
}


@pytest.mark.parametrize("kind", GRAPHS)
@pytest.mark.parametrize("name", CALLS)
def test_right_results_pass(name, kind, device):
    """Issue 16, 3: of searches in hops, repeated sources among them."""
    CALLS[name](GRAPHS[kind], SOURCES, device=device, verify=True)


@pytest.mark.parametrize("name", CALLS)
def test_right_results_by_weight_pass(name, device):
    for dtype in (np.int32, np.float32):
        graph = weighted(cg.generate.grid2d(8, 7), dtype, 1, 9)
        CALLS[name](graph, None, weighted=True, device=device, verify=True)


@pytest.mark.parametrize("how", [{}, {"weighted": True}, {"dtype": np.float32}])
@pytest.mark.parametrize("sources", [None, [3, 9, 9], 5])
def test_right_shares_of_paths_pass(sources, how, device):
    cg.betweenness_centrality(SMALL, sources, seed=3, device=device, verify=True, **how)


def test_right_batches_and_reachability_pass(device):
    assert cg.reachable(MIXED_ONE_WAY, SOURCES, [0, 5], device=device, verify=True).shape == (6, 2)
    plan = cg.MultiSearch(SMALL, device=device, **HOPS)
    assert plan.run([3, 4, 60], verify=True)["hops"].shape == (3, SMALL.n)
    for none in (np.zeros(0, int), np.array([7])):
        cg.apsp(SMALL, none, device=device, verify=True)
        plan.run(none, verify=True)


@pytest.mark.parametrize("config", ["warp-based", "edge-parallel"])
def test_a_diameter_takes_a_configuration_of_its_batches(config, device, monkeypatch):
    """Issue 16, 3: few single searches, so that some are in batches."""
    monkeypatch.setattr(bounds, "PIVOTS", 2)
    graph, seen = cg.generate.random(300, 8, seed=2), []
    run = module.MultiSearch.run

    def noted(plan, *args, **how):
        seen.append(plan.config.asked)
        return run(plan, *args, **how)

    monkeypatch.setattr(module.MultiSearch, "run", noted)
    monkeypatch.setattr(Searcher, "_shares_bits", lambda *_: False)
    monkeypatch.setattr(Searcher, "_one_by_one", lambda *_: False)
    expected = int(cg.apsp(graph, device=device).max())
    seen.clear()
    assert cg.diameter(graph, disconnected="ignore", config=config, device=device) == expected
    assert seen
    wanted = cg.MultiSearchConfig.preset(config)
    assert {(each.method, each.threshold) for each in seen} == {(wanted.method, wanted.threshold)}
    with pytest.raises(cg.InvalidArgumentError, match="no-such"):
        cg.diameter(graph, config="no-such", device=device)


def off_by_one(kind, name, change=lambda found: found + 1):
    """Have what a class gives be wrong in its last entry."""

    def patch(monkeypatch):
        right = getattr(kind, name)

        def wrong(self, *args, **how):
            found = right(self, *args, **how)
            if hasattr(found, "reached"):
                for field in ("total", "farthest", "harmonic"):
                    getattr(found, field)[-1] = change(getattr(found, field)[-1])
            else:
                found[-1] = change(found[-1])
            return found

        monkeypatch.setattr(kind, name, wrong)

    return patch


BROKEN = {
    "apsp": (off_by_one(apsp.Searcher, "distances"), "from vertex 63 entry 0 is"),
    "closeness": (off_by_one(closeness.Searcher, "totals"), "vertex 63 has .* by itself gives"),
    "harmonic": (off_by_one(closeness.Searcher, "totals"), "vertex 63 has .* by itself gives"),
    "eccentricity": (off_by_one(eccentricity.Searcher, "totals"), "vertex 63 has"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_wrong_results_are_named(name, device, monkeypatch):
    patch, said = BROKEN[name]
    patch(monkeypatch)
    graph = cg.generate.grid2d(8, 8)
    CALLS[name](graph, None, device=device)
    with pytest.raises(cg.VerificationError, match=said):
        CALLS[name](graph, None, device=device, verify=True)


@pytest.mark.parametrize("error", [-1, 7])
def test_a_wrong_diameter_is_named(error, device, monkeypatch):
    graph = cg.generate.path(9)
    right = bounds.MutualBounds.narrow
    narrow = lambda self, progress: right(self, progress) + error  # noqa: E731
    monkeypatch.setattr(bounds.MutualBounds, "narrow", narrow)
    if error > 0:  # twice as far as any vertex is from another
        narrow = lambda self, progress: 3 * right(self, progress)  # noqa: E731
        monkeypatch.setattr(bounds.MutualBounds, "narrow", narrow)
    with pytest.raises(cg.VerificationError, match=r"the diameter is .* from the one farthest"):
        cg.diameter(graph, device=device, verify=True)


def test_a_wrong_reachability_is_named(device, monkeypatch):
    off_by_one(reachable.Searcher, "marks", lambda found: ~found)(monkeypatch)
    with pytest.raises(cg.VerificationError, match="from vertex 4 entry 0 is"):
        cg.reachable(SMALL, [3, 4], device=device, verify=True)


@pytest.mark.parametrize("how", [{}, {"weighted": True}])
@pytest.mark.parametrize("change", [0.5, 3.0])
def test_wrong_shares_of_paths_are_named(change, how, device, monkeypatch):
    """A vertex that has too little by one source, or too much of all."""
    right = betweenness.vertex_sums

    def wrong(*args, **options):
        sums = right(*args, **options)
        sums[np.argmax(sums)] *= change
        return sums

    monkeypatch.setattr(betweenness, "vertex_sums", wrong)
    with pytest.raises(cg.VerificationError, match="shortest paths pass through vert"):
        cg.betweenness_centrality(SMALL, [3, 9], device=device, verify=True, **how)
    if change > 1 and not how:  # of many sources the sum over all vertices tells
        with pytest.raises(cg.VerificationError, match="by their lengths"):
            cg.betweenness_centrality(SMALL, device=device, verify=True)


def test_searches_that_disturb_one_another_are_named(device):
    """A search that reads what all have counted gives something else by itself."""
    counting = HOPS | {
        "state": HOPS["state"] | {"all": cg.State("uint32", size=1, per="run")},
        "finalize": "if (lid == 0) mean[0] = (float)atomic_inc(&all[0]);",
    }
    plan = cg.MultiSearch(SMALL, device=device, **counting)
    plan.run([3])
    with pytest.raises(cg.VerificationError, match=r"mean\[0\] of the search from vertex"):
        plan.run([3, 4, 5, 6], verify=True)
