"""The command ``clgraph triangles``: what it prints, writes and refuses."""

import json

import networkx as nx
import numpy as np
import pytest

import clgraph as cg
from clgraph.cli.main import main

pytestmark = pytest.mark.runtimes("pocl")


@pytest.fixture(scope="module")
def friends(tmp_path_factory):
    """A small network as networkx has it, and its file."""
    network = nx.karate_club_graph()
    path = tmp_path_factory.mktemp("friends") / "friends.mtx"
    ends = np.array(network.edges)
    graph = cg.from_edges(*ends.T, n=network.number_of_nodes(), directed=False, symmetrize=True)
    cg.write(graph, path)
    return network, cg.read(path), str(path)


def run(capsys, *words):
    status = main(["triangles", *words, "--device", "pocl", "--json"])
    captured = capsys.readouterr()
    assert status == 0, captured.err
    return json.loads(captured.out)


def test_totals_and_clustering_are_networkx_own(friends, capsys, tmp_path):
    network, _, path = friends
    output = tmp_path / "vertices.npz"
    record = run(capsys, path, "--clustering", "--repeat", "2", "--output", str(output))
    of_vertex = list(nx.triangles(network).values())
    assert record["triangles"] == sum(of_vertex) // 3
    assert record["average_clustering"] == pytest.approx(nx.average_clustering(network))
    assert record["transitivity"] == pytest.approx(nx.transitivity(network))
    with np.load(output) as written:
        assert written["triangles"].tolist() == of_vertex
        np.testing.assert_allclose(written["clustering"], list(nx.clustering(network).values()))


@pytest.mark.parametrize("kind", ["npz", "csv"])
def test_edges_are_written_with_their_ends(kind, friends, capsys, tmp_path):
    network, graph, path = friends
    output = tmp_path / f"edges.{kind}"
    run(capsys, path, "--per", "edge", "--config", "bitmap", "--output", str(output))
    if kind == "npz":
        with np.load(output) as written:
            rows = np.column_stack([written["sources"], written["targets"], written["triangles"]])
    else:
        assert output.read_text().startswith("source,target,triangles\n")
        rows = np.loadtxt(output, delimiter=",", skiprows=1, dtype=int)
        if graph.labels is not None:
            known = {label: vertex for vertex, label in enumerate(graph.labels.tolist())}
            rows[:, :2] = np.vectorize(known.get)(rows[:, :2])
    assert len(rows) == graph.m
    for source, target, count in rows.tolist():
        assert count == len(list(nx.common_neighbors(network, source, target)))


def test_it_reads_well(friends, capsys):
    _, _, path = friends
    assert main(["triangles", path, "--clustering", "--device", "pocl"]) == 0
    said = capsys.readouterr().out
    assert "45 triangles" in said
    assert "transitivity 0.2557" in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--clustering", "--per", "edge"], "leave out --per edge"),
        (["--output", "found.npz"], "--per vertex"),
        (["--per", "vertex", "--output", "found.txt"], ".npz"),
        (["--config", "fast"], "not a preset"),
    ],
)
def test_what_makes_no_sense_is_refused(words, message, friends, capsys):
    assert main(["triangles", friends[2], *words, "--device", "pocl"]) == 2
    assert message in capsys.readouterr().err
