"""Every problem that the runner knows is measured with presets, and wrong results are seen."""

import networkx as nx
import numpy as np
import pytest

import clgraph as cg
from bench.peers import triangles
from bench.problems import propagation, truss
from bench.problems.centrality import betweenness
from bench.runner import graphs, machine, runner, suites
from bench.runner.measure import Settings
from bench.runner.pinned import Pinned
from bench.runner.problem import problem_of
from bench.runner.suites import SUITES, Case
from clgraph.algorithms.communities.propagation import host_round
from clgraph.errors import VerificationError

KINDS = tuple(dict.fromkeys(case.algorithm for cases in SUITES.values() for case in cases))
SLOW_TO_BUILD = {"bfs", "sssp", "scc", "leiden", "louvain"}  # many seconds for each preset
GRAPHS = {"tiny-web": Pinned("rmat", (7, 5)), "tiny-road": Pinned("road", (12, 9))}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    for name, pinned in GRAPHS.items():
        monkeypatch.setitem(graphs.GRAPHS, name, pinned)
    monkeypatch.setattr(machine, "COPY_BYTES", 1 << 16)


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=[pytest.mark.long] * (kind in SLOW_TO_BUILD)) for kind in KINDS],
)
def test_presets_are_measured_and_checked(kind, intel, monkeypatch):
    known = problem_of(kind).presets
    presets = known[:1] if kind in SLOW_TO_BUILD else tuple(dict.fromkeys((known[0], known[-1])))
    cases = tuple(Case(kind, name, shows="nothing", presets=presets) for name in GRAPHS)
    monkeypatch.setitem(suites.SUITES, "made-up", cases)
    settings = Settings(sources=3, passes=1, validate=2, peers=("scipy", "networkx", "igraph"))
    found = runner.run("made-up", settings, device=intel)["cases"]
    assert len(found) == len(GRAPHS) * len(presets)
    for case in found:
        assert case["status"] == "ok", (case["key"], case["reason"])
        assert case["verified"]["against"]
        assert "config" in case  # what differs from the defaults, for SCC's first preset nothing
        assert len(case["source_hash"]) >= 16
        assert case["floor"]["bytes"] > 0
        assert case["summary"]["kernel_ms"]["median"] > 0
        for name, peer in case.get("peers", {}).items():
            compared = name in problem_of(kind).peers
            assert peer["status"] == ("ok" if compared else "skipped"), (case["key"], name, peer)


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_result_is_seen(kind, intel, monkeypatch):
    problem_type = problem_of(kind)
    preset = problem_type.presets[0]
    loaded = graphs.find("tiny-web", weighted=problem_type.weighted)
    problem = problem_type(loaded, intel, preset)
    given = problem.inputs(1)
    assert problem.check(given)["against"]
    plan_run = problem.run

    def wrong(one):
        result = plan_run(one)
        values = np.array(problem_type.values(problem, result))
        values.flat[-1] = values.flat[-1] + 1 if np.isfinite(values.flat[-1]) else 5
        return Changed(result, problem_type.result, values)

    monkeypatch.setattr(problem, "run", wrong)
    monkeypatch.setattr(problem, "values", lambda result: getattr(result, problem_type.result))
    with pytest.raises(VerificationError, match="not what"):
        problem.check(given)


class Changed:
    """A result of which one attribute is another."""

    def __init__(self, result, name, values):
        self._result = result
        setattr(self, name, values)

    def __getattr__(self, name):
        return getattr(self._result, name)


def test_trusses_of_large_graphs_are_checked_in_other_ways(intel, monkeypatch):
    problem = truss.EdgeTrusses(graphs.find("tiny-web", weighted=False), intel, "auto")
    assert problem.check([0]) == {"against": "scipy"}
    monkeypatch.setattr(truss, "MOST_CHECKED", 0)
    assert problem.check([0]) == {"against": "iterative"}
    monkeypatch.setattr(truss, "MOST_RECOUNTED", 0)
    assert problem.check([0]) == {"against": "delta"}


def test_sources_reach_as_far_as_is_asked(intel, monkeypatch):
    """sssp-hbf checklist 22: drawn sources of large components; time, rate, relaxations, joules."""
    cases = tuple(Case("sssp", name, shows="nothing", presets=("near-far",)) for name in GRAPHS)
    monkeypatch.setitem(suites.SUITES, "made-up", cases)
    settings = Settings(sources=5, passes=1, validate=1, reach=60, energy_s=0.01)
    web, road = runner.run("made-up", settings, device=intel)["cases"]
    for case in (web, road):
        assert len(case["searches"]["source"]) == 5
        assert min(case["searches"]["reached"]) >= 60
        summary = case["summary"]
        assert summary["kernel_ms"]["median"] > 0
        assert summary["teps_harmonic_mean"] > 0
        assert summary["relaxations_per_edge"]["median"] >= 1
        counts = [case["searches"][name] for name in ("relaxations", "edges")]
        of_each = np.divide(*counts)
        assert summary["relaxations_per_edge"]["median"] == pytest.approx(np.median(of_each))
        assert "joules_per_search" in case["energy"]
    batches = (Case("multi-search", "tiny-web", shows="nothing", presets=("auto",)),)
    monkeypatch.setitem(suites.SUITES, "batches", batches)
    assert runner.run("batches", settings, device=intel)["cases"][0]["status"] == "ok"
    far = Settings(sources=5, passes=1, validate=1, reach=10**6)
    skipped = runner.run("made-up", far, device=intel)["cases"][0]
    assert skipped["status"] == "skipped"
    assert "none that was drawn reaches far enough" in skipped["reason"]


def test_triangles_of_a_large_graph_are_checked_at_some_vertices(monkeypatch):
    """Where the square of its matrix would fill the memory; exact there."""
    graph = cg.generate.kron(11, 8, seed=1)
    everywhere, counts, name = triangles.triangles_of_vertices(graph)
    assert (everywhere.size, name) == (graph.n, "scipy")
    monkeypatch.setattr(triangles, "SQUARED_EDGES", graph.m - 1)
    monkeypatch.setattr(triangles, "DRAWN_VERTICES", 100)
    some, fewer, name = triangles.triangles_of_vertices(graph)
    assert (some.size, name) == (100, "numpy, of 100 vertices")
    np.testing.assert_array_equal(fewer, counts[some])
    assert fewer.sum() > 1000


@pytest.mark.parametrize("rows", [7, 1 << 16])
@pytest.mark.parametrize("kind", ["kron", "rmat", "road", "none"])
def test_labels_around_vertices_are_counted_in_pieces(kind, rows, monkeypatch):
    """As the library's own check counts them, edges both ways."""
    monkeypatch.setattr(propagation, "ROWS", rows)
    graph = {
        "kron": lambda: cg.generate.kron(8, 6, seed=1),
        "rmat": lambda: cg.generate.rmat(8, 3, seed=1),
        "road": lambda: cg.generate.road(12, 9, seed=1),
        "none": lambda: cg.from_edges([], [], n=9),
    }[kind]()
    labels = np.arange(graph.n, dtype=np.uint32)
    for _ in range(3):
        after = propagation.round_by_numpy(graph, labels)
        np.testing.assert_array_equal(after, host_round(graph, labels))
        labels = after


def test_dependencies_are_counted_frontier_by_frontier():
    """Against networkx, whose scores count each pair of an undirected graph once."""
    graph = cg.generate.kron(7, 4, seed=1)
    other = nx.Graph()
    other.add_nodes_from(range(graph.n))
    pairs = zip(np.repeat(np.arange(graph.n), graph.degrees), graph.indices, strict=True)
    other.add_edges_from((int(a), int(b)) for a, b in pairs if a != b)
    some = [3, 5, 9]
    scores = nx.betweenness_centrality_subset(other, some, list(other))
    expected = [2 * scores[vertex] for vertex in range(graph.n)]
    np.testing.assert_allclose(betweenness.brandes(graph, some), expected, atol=1e-9)
    assert max(expected) > 1


@pytest.mark.parametrize("backwards", [False, True])
def test_one_path_beside_more_than_numbers(backwards):
    """Two ways a link along a chain, and one plain path to the same end: 2^1200 beside 1."""
    links = 1200
    first = 3 * np.arange(links)
    chain = [(first, first + 1), (first, first + 2), (first + 1, first + 3), (first + 2, first + 3)]
    last = 3 * links
    plain = np.concatenate([[0], np.arange(last + 1, last + 2 * links), [last]])
    ends = np.concatenate([np.column_stack(pair) for pair in (*chain, (plain[:-1], plain[1:]))])
    n = int(ends.max()) + 1
    name = np.arange(n)[::-1] if backwards else np.arange(n)
    graph = cg.from_edges(*name[ends.T], n=n, symmetrize=True)
    scores = betweenness.brandes(graph, [int(name[0])])[name]
    # Half of what lies behind the chain's first link; the plain path leads nowhere else.
    assert scores[1] == pytest.approx((last - 2) / 2)
    assert scores[last + 1] == pytest.approx(2 * links - 2)


def test_more_paths_than_numbers(pocl):
    """From corner to corner of a grid there are some 10^335: logarithms hold them, and we do."""
    graph = cg.generate.grid2d(560, 560)
    expected = betweenness.brandes(graph, [0])
    assert np.isfinite(expected).all()
    found = betweenness.vertex_sums(graph, np.array([0]), dtype=np.float64, device=pocl)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
