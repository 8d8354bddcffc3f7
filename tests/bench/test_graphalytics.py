"""Results as Graphalytics has them, and suites that follow its rules and those of GAP."""

import networkx as nx
import numpy as np
import pytest

import clgraph as cg
from bench.runner import suites
from bench.runner.graphalytics import ALGORITHMS, matches, read_values, write_values
from bench.runner.graphs import Loaded
from bench.runner.problem import problem_of
from bench.studies import graphalytics
from clgraph.errors import GraphFormatError, InvalidArgumentError

# The example graphs' kind of file: vertices with gaps, a vertex that nothing reaches.
NAMES = np.array([2, 3, 5, 8, 13, 21])
GRAPH = cg.from_edges([0, 1, 2, 3], [1, 2, 0, 0], [0.5, 2.0, 1.0, 4.0], n=6)


def results(device):
    both = GRAPH.symmetrized()
    return {
        "bfs": cg.bfs(GRAPH, 0, device=device).distances,
        "sssp": cg.sssp(GRAPH, 0, device=device).distances,
        "propagation": cg.label_propagation(GRAPH, 10, device=device).labels,
        "components": cg.connected_components(GRAPH, device=device).labels,
        "pagerank": cg.pagerank(
            GRAPH, weights=False, convention="graphalytics", device=device
        ).ranks,
        "clustering": cg.local_clustering(both, clean=True, device=device),
    }


def references():
    """The same by networkx, as lines of the benchmark's files."""
    ends = zip([0, 1, 2, 3], [1, 2, 0, 0], [0.5, 2.0, 1.0, 4.0], strict=True)
    network = nx.DiGraph()
    network.add_nodes_from(range(6))
    network.add_weighted_edges_from(ends)
    hops = nx.single_source_shortest_path_length(network, 0)
    far = nx.single_source_dijkstra_path_length(network, 0)
    sets = {v: min(part) for part in nx.weakly_connected_components(network) for v in part}
    matrix = nx.to_numpy_array(network, weight=None)
    out, ranks = matrix.sum(axis=1), np.full(6, 1 / 6)
    for _ in range(10):
        flow = np.divide(ranks, out, out=np.zeros(6), where=out > 0)
        ranks = 0.85 * (matrix.T @ flow + ranks[out == 0].sum() / 6) + 0.15 / 6
    return {
        "bfs": {v: hops.get(v, 9223372036854775807) for v in range(6)},
        "sssp": {v: float(far.get(v, np.inf)) for v in range(6)},
        "components": sets,
        "clustering": nx.clustering(network.to_undirected()),
        "pagerank": dict(enumerate(ranks.tolist())),
    }


def test_values_are_written_and_match_references(any_device, tmp_path):
    wanted = references()
    for kind, values in results(any_device).items():
        path = tmp_path / f"{ALGORITHMS[kind][0]}.txt"
        write_values(path, kind, values, NAMES)
        found = read_values(path)
        assert list(found) == NAMES.tolist()
        if kind in wanted:
            reference = {int(NAMES[v]): value for v, value in wanted[kind].items()}
            assert not matches(kind, found, reference), kind
        else:
            assert set(found.values()) <= set(NAMES.tolist())
    assert (tmp_path / "BFS.txt").read_text().splitlines()[4] == "13 9223372036854775807"
    assert (tmp_path / "SSSP.txt").read_text().splitlines()[4] == "13 infinity"


def test_differences_are_told_by_rule():
    assert not matches("components", {1: 7, 2: 7, 3: 9}, {1: 0, 2: 0, 3: 1})
    assert "vertex 3" in matches("components", {1: 7, 2: 7, 3: 7}, {1: 0, 2: 0, 3: 1})
    assert "vertex 2" in matches("components", {1: 7, 2: 8}, {1: 0, 2: 0})
    assert not matches("pagerank", {1: 0.100001}, {1: 0.1})
    assert "vertex 1" in matches("pagerank", {1: 0.1001}, {1: 0.1})
    assert not matches("sssp", {1: np.inf}, {1: np.inf})
    assert "vertex 1" in matches("sssp", {1: np.inf}, {1: 3.0})
    assert "vertex 1" in matches("propagation", {1: 2}, {1: 3})
    assert "vertex 4" in matches("bfs", {1: 0, 4: 1}, {1: 0})


def test_a_line_that_is_no_value_is_refused(tmp_path):
    path = tmp_path / "bad.txt"
    path.write_text("1 2\n3 x\n")
    with pytest.raises(GraphFormatError, match=r"bad.txt:2"):
        read_values(path)


ASKED = {
    "bfs.source-vertex": 2,
    "sssp.source-vertex": 2,
    "pr.damping-factor": 0.85,
    "pr.num-iterations": 10,
    "cdlp.max-iterations": 10,
    "algorithms": "bfs, cdlp, lcc, pr, sssp, wcc",
}


def data_set(folder, *, directed, references):
    """Write the graph above as the benchmark has it: an undirected one has each edge once."""
    asked = ASKED | {"directed": "true" if directed else "false"}
    lines = ["# a comment", *(f"graph.tiny.{key} = {value}" for key, value in asked.items())]
    (folder / "tiny.properties").write_text("\n".join(lines))
    (folder / "tiny.v").write_text("".join(f"{name}\n" for name in NAMES[::-1]))
    sources, targets, weights = GRAPH.listed_edges()
    edges = zip(NAMES[sources], NAMES[targets], weights, strict=True)
    (folder / "tiny.e").write_text("".join(f"{u} {v} {w}\n" for u, v, w in edges))
    for kind, values in references.items():
        path = folder / f"tiny-{ALGORITHMS[kind][0]}"
        path.write_text("".join(f"{NAMES[v]} {value}\n" for v, value in values.items()))


def test_a_data_set_is_compared_with_its_references(pocl, tmp_path, capsys):
    data_set(tmp_path, directed=True, references=references())
    assert graphalytics.main([str(tmp_path), "tiny", "--device", "pocl"]) == 0
    said = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines())
    assert {name for name, words in said.items() if words == "as the reference has it"} == {
        *("BFS", "PR", "SSSP", "WCC")
    }
    assert said["CDLP"] == "not compared"  # there is no reference
    assert said["LCC"].startswith("not compared: of directed graphs")
    (tmp_path / "tiny-BFS").write_text("".join(f"{name} 1\n" for name in NAMES))
    assert graphalytics.main([str(tmp_path), "tiny", "--device", "pocl"]) == 1
    assert "BFS: vertex 2 has 0 instead of 1" in capsys.readouterr().out
    (tmp_path / "tiny.e").write_text("2 4 1.0\n")
    with pytest.raises(InvalidArgumentError, match=r"tiny\.e has an edge"):
        graphalytics.compared(tmp_path, "tiny", pocl)


def test_an_undirected_data_set_goes_both_ways(pocl, tmp_path):
    clustering = {"clustering": references()["clustering"]}
    data_set(tmp_path, directed=False, references=clustering)
    data = graphalytics.read_data_set(tmp_path, "tiny")
    assert data.graph.m == 2 * GRAPH.m
    np.testing.assert_array_equal(data.names, NAMES)
    assert data.source("bfs") == 0
    (tmp_path / "out").mkdir()
    found = graphalytics.compared(tmp_path, "tiny", pocl, tmp_path / "out")
    assert found["lcc"] == ""
    assert found["bfs"] is None
    hops = read_values(tmp_path / "out" / "tiny-BFS.ours")
    assert list(hops.values())[:4] == [0, 1, 1, 1]


def test_ranks_end_by_the_rules_of_their_suite(any_device):
    """GAP's where an iteration changes less than 1e-4 in all, Graphalytics' after ten."""
    graph = cg.generate.rmat(8, 5, seed=2)
    loaded = Loaded("rmat", graph, "generated", 0.0, "", None)
    for rule, converged in (("gap", True), ("graphalytics", False)):
        problem = problem_of("pagerank")(loaded, any_device, rule)
        found = problem.run(0)
        assert found.converged == converged
        assert problem.check([0]) == {"against": "scipy"}
        if converged:
            least = found.iterations - 1
            before = problem.plan.run(convention="gap", tol=0.0, max_iter=least)
            assert found.error < 1e-4 <= before.error
        else:
            assert found.iterations == 10


def test_suites_have_all_of_their_algorithms():
    gap = {case.algorithm for case in suites.SUITES["gap"]}
    assert gap == {"bfs", "sssp", "pagerank", "components", "betweenness", "triangles"}
    assert {case.algorithm for case in suites.SUITES["graphalytics"]} == set(ALGORITHMS)
    assert {case.presets for case in suites.SUITES["gap"] if case.algorithm == "pagerank"} == {
        ("gap",)
    }
