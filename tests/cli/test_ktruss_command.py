"""The command ``clgraph ktruss``: what it prints, writes and refuses."""

import json

import networkx as nx
import numpy as np
import pytest

import clgraph as cg
from clgraph import energy
from clgraph.cli import reporting
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
    return network, str(path)


def run(capsys, *words):
    status = main(["ktruss", *words, "--device", "pocl", "--json"])
    captured = capsys.readouterr()
    assert status == 0, captured.err
    return json.loads(captured.out)


def test_numbers(friends, capsys, tmp_path):
    network, path = friends
    output = tmp_path / "numbers.npz"
    record = run(capsys, path, "--repeat", "2", "--output", str(output))
    assert (record["k"], record["max_k"], record["edges"]) == (None, 5, 78)
    assert sum(level["removed"] for level in record["levels"]) == 78
    with np.load(output) as written:
        for k in range(2, 7):
            left = nx.k_truss(network, k).number_of_edges()
            assert (written["truss_number"] >= k).sum() == 2 * left
    assert run(capsys, path, "--numbers", "--config", "iterative")["max_k"] == 5


def test_one_truss_and_the_greatest(friends, capsys, tmp_path):
    network, path = friends
    output = tmp_path / "truss.csv"
    record = run(capsys, path, "--k", "4", "--output", str(output))
    assert (record["k"], record["max_k"]) == (4, None)
    assert record["edges"] == nx.k_truss(network, 4).number_of_edges()
    assert output.read_text().startswith("source,target,truss\n")
    assert np.loadtxt(output, delimiter=",", skiprows=1)[:, 2].sum() == 2 * record["edges"]
    greatest = run(capsys, path, "--max")
    assert (greatest["k"], greatest["max_k"]) == (5, 5)
    assert greatest["edges"] == nx.k_truss(network, 5).number_of_edges()
    assert greatest["probes"] == [[5, True]]  # the bound that so few triangles leave


def test_energy_is_told(friends, capsys, monkeypatch):
    """KT-20: joules of runs of the plan, as other commands have them; None without a meter."""
    monkeypatch.setattr(energy, "find_meter", lambda _: energy.NoMeter("nobody put one in."))
    assert run(capsys, friends[1], "--energy")["energy"]["joules_per_run"] is None
    monkeypatch.setattr(reporting, "energy_of", lambda of, _: {"joules_per_run": of().max_k / 4})
    assert run(capsys, friends[1], "--energy")["energy"] == {"joules_per_run": 5 / 4}


def test_it_reads_well(friends, capsys):
    assert main(["ktruss", friends[1], "--device", "pocl"]) == 0
    said = capsys.readouterr().out
    assert "truss numbers up to 5 of 78 edges" in said
    assert main(["ktruss", friends[1], "--max", "--device", "pocl"]) == 0
    assert "the 5-truss, the greatest, of" in capsys.readouterr().out


@pytest.mark.parametrize("words", [("--k", "1"), ("--k", "3", "--max"), ("--config", "fastest")])
def test_what_is_refused(words, friends, capsys):
    assert main(["ktruss", friends[1], *words, "--device", "pocl"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
