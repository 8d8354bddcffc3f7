"""The commands ``rank``, ``core``, ``mst``, ``color`` and ``walk``: what they print and write."""

import itertools
import json

import networkx as nx
import numpy as np
import pytest

import clgraph as cg
from clgraph.cli.main import main

DEVICE = ("--device", "pocl")


@pytest.fixture(scope="module")
def friends(tmp_path_factory):
    """A small weighted network as networkx has it, and its file."""
    network = nx.karate_club_graph()
    path = tmp_path_factory.mktemp("friends") / "friends.mtx"
    ends = np.array(network.edges)
    weights = np.array([data["weight"] for *_, data in network.edges(data=True)])
    n = network.number_of_nodes()
    cg.write(cg.from_edges(*ends.T, weights, n=n, symmetrize=True), path)
    return network, str(path)


def run(capsys, *words):
    status = main([*words, *DEVICE, "--json"])
    captured = capsys.readouterr()
    assert status == 0, captured.err
    record = json.loads(captured.out)
    assert record["kernel_ms"] > 0
    assert record["launches"] > 0
    return record


def said(capsys, *words):
    assert main([*words, *DEVICE]) == 0
    return capsys.readouterr().out


def test_rank(friends, capsys, tmp_path):
    network, path = friends
    output = tmp_path / "ranks.csv"
    record = run(capsys, "rank", path, "--tol", "1e-10", "--top", "3", "--output", str(output))
    expected = nx.pagerank(network, tol=1e-10)
    assert record["converged"]
    assert [entry["vertex"] for entry in record["top"]] == sorted(
        expected, key=expected.get, reverse=True
    )[:3]
    table = np.loadtxt(output, delimiter=",", skiprows=1)
    np.testing.assert_allclose(table[:, 1], list(expected.values()), atol=1e-8)
    hits = run(capsys, "rank", path, "--measure", "hits", "--tol", "1e-12")
    hubs, _ = nx.hits(network)
    assert hits["top"][0]["hub"] == pytest.approx(max(hubs.values()), abs=1e-6)
    assert "authority" in hits["top"][0]
    katz = run(capsys, "rank", path, "--measure", "katz", "--alpha", "0.01", "--unweighted")
    central = nx.katz_centrality(network, alpha=0.01, weight=None)
    assert katz["top"][0]["katz"] == pytest.approx(max(central.values()), abs=1e-5)
    text = said(capsys, "rank", path, "--measure", "eigenvector", "--dtype", "float32")
    assert "converged" in text
    gap = run(capsys, "rank", path, "--convention", "graphalytics", "--energy")
    assert gap["iterations"] == 10
    assert "energy" in gap


def test_core(friends, capsys, tmp_path):
    network, path = friends
    output = tmp_path / "cores.npz"
    record = run(capsys, "core", path, "--output", str(output))
    expected = nx.core_number(network)
    assert record["max_k"] == max(expected.values())
    with np.load(output) as written:
        assert written["core_number"].tolist() == list(expected.values())
    core = run(capsys, "core", path, "--k", "3", "--config", "recount")
    assert core["vertices"] == nx.k_core(network, 3).number_of_nodes()
    assert "core numbers up to 4 of 34 vertices" in said(capsys, "core", path)


def test_mst(friends, capsys, tmp_path):
    network, path = friends
    output = tmp_path / "tree.npz"
    record = run(capsys, "mst", path, "--repeat", "2", "--output", str(output))
    expected = nx.minimum_spanning_tree(network).size(weight="weight")
    assert (record["weight"], record["edges"], record["trees"]) == (expected, 33, 1)
    with np.load(output) as written:
        assert written["chosen"].sum() == 33
    assert "33 edges of weight" in said(capsys, "mst", path, "--config", "filtered")


def test_color(friends, capsys, tmp_path):
    network, path = friends
    output = tmp_path / "colors.npz"
    record = run(capsys, "color", path, "--seed", "3", "--output", str(output))
    with np.load(output) as written:
        colors = written["color"]
    assert record["count"] == colors.max() + 1 <= 5
    assert all(colors[u] != colors[v] for u, v in network.edges)
    chosen = run(capsys, "color", path, "--independent", "--output", str(output))
    with np.load(output) as written:
        vertices = np.flatnonzero(written["chosen"]).tolist()
    assert chosen["count"] == len(vertices)
    assert not network.subgraph(vertices).edges
    assert "none of them neighbours" in said(capsys, "color", path, "--independent")
    assert "colours" in said(capsys, "color", path, "--order", "random_sequential")


def test_walk(friends, capsys, tmp_path):
    network, path = friends
    output = tmp_path / "walks.npz"
    words = ("--length", "6", "--walks", "2", "--p", "0.5", "--seed", "4")
    record = run(capsys, "walk", path, *words, "--output", str(output))
    assert (record["walks"], record["steps"]) == (68, 68 * 6)
    with np.load(output) as written:
        walks = written["walks"]
    assert walks[:, 0].tolist() == np.repeat(np.arange(34), 2).tolist()
    assert all(network.has_edge(u, v) for walk in walks for u, v in itertools.pairwise(walk))
    lines = tmp_path / "walks.csv"
    said(capsys, "walk", path, "--source", "3", "--source", "5", "--output", str(lines))
    rows = [line.split(",") for line in lines.read_text().splitlines()]
    assert [(row[0], len(row)) for row in rows] == [("3", 81), ("5", 81)]


@pytest.mark.parametrize(
    "words",
    [
        ("rank", "--measure", "hits", "--alpha", "0.5"),
        ("rank", "--measure", "katz", "--convention", "gap"),
        ("rank", "--alpha", "1.5"),
        ("core", "--k", "-1"),
        ("core", "--config", "fastest"),
        ("mst", "--config", "fastest"),
        ("color", "--independent", "--order", "random_sequential"),
        ("color", "--seed", str(2**64)),
        ("walk", "--source", "99"),
        ("walk", "--p", "0"),
        ("walk", "--length", "0"),
    ],
)
def test_what_is_refused(words, friends, capsys):
    assert main([words[0], friends[1], *words[1:], *DEVICE]) == 2
    assert capsys.readouterr().err.count("\n") == 1
