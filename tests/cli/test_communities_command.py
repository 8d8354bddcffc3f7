"""The commands ``clgraph communities`` and ``clgraph similarity``: what they print and refuse."""

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


def run(capsys, *words, text=False):
    status = main([*words, "--device", "pocl", *([] if text else ["--json"])])
    captured = capsys.readouterr()
    assert status == 0, captured.err
    return captured.out if text else json.loads(captured.out)


@pytest.mark.rest
@pytest.mark.parametrize("method", ["leiden", "louvain", "propagation"])
def test_communities_are_written_and_told(method, friends, capsys, tmp_path):
    network, graph, path = friends
    output = tmp_path / "out.npz"
    record = run(
        capsys, "communities", path, "--method", method, "--repeat", "2", "--output", str(output)
    )
    with np.load(output) as written:
        labels = written["labels"]
    assert record["communities"] == len(np.unique(labels))
    sets = [set(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)]
    wanted = nx.community.modularity(network, sets, weight=None)
    assert record["modularity"] == pytest.approx(wanted)
    assert record["largest"] == max(map(len, sets))
    text = run(capsys, "communities", path, "--method", method, text=True)
    assert f"{record['communities']} communities, modularity {wanted:.4f}" in text
    assert graph.n == len(labels)


@pytest.mark.rest
def test_resolution_and_seed_are_handed_on(friends, capsys):
    _, graph, path = friends
    words = ("--resolution", "3", "--seed", "4", "--iterations", "1", "--config", "local")
    record = run(capsys, "communities", path, *words)
    wanted = cg.leiden(graph, resolution=3, seed=4, iterations=1, device="pocl")
    assert record["communities"] == wanted.count
    assert record["modularity"] == pytest.approx(wanted.modularity)


@pytest.mark.parametrize("measure", ["jaccard", "overlap"])
def test_similarities_of_edges_and_pairs(measure, friends, capsys, tmp_path):
    _, graph, path = friends
    output = tmp_path / "edges.npz"
    words = ("similarity", path, "--measure", measure)
    record = run(capsys, *words, "--output", str(output))
    wanted = getattr(cg, measure)(graph, device="pocl")
    assert record["pairs"] == graph.m
    assert record["mean"] == pytest.approx(wanted.mean())
    with np.load(output) as written:
        np.testing.assert_allclose(written[measure], wanted)
    names = [str(graph.labels[v]) if graph.labels is not None else str(v) for v in (0, 33)]
    record = run(capsys, *words, "--pair", *names)
    assert record["values"][0][measure] == getattr(cg, measure)(graph, [[0, 33]], device="pocl")[0]
    assert "in common" in run(capsys, *words, "--pair", *names, text=True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("communities", "--method", "propagation", "--seed", "1"), "leave it out"),
        (("communities", "--method", "propagation", "--no-weights"), "ignores them anyway"),
        (("communities", "--rounds", "3"), "leave it out"),
        (("communities", "--config", "nonsense"), "not a preset"),
        (("similarity", "--pair", "1", "2", "--output", "x.csv"), "leave one out"),
        (("similarity", "--pair", "1", "99"), "99"),
    ],
)
def test_what_is_refused(words, said, friends, capsys):
    status = main([words[0], friends[2], *words[1:], "--device", "pocl"])
    assert status != 0
    assert said in capsys.readouterr().err
