"""clgraph centrality: every measure, what is written, what is refused."""

import json

import networkx as nx
import numpy as np
import pytest

import clgraph as cg
from clgraph.cli.main import main


@pytest.fixture
def run(capsys, any_device):
    spec = f"{any_device.index[0]}:{any_device.index[1]}"

    def call(*argv):
        status = main(["centrality", *map(str, argv), "--device", spec])
        out, err = capsys.readouterr()
        return status, out, err

    return call


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "grid.mtx"
    cg.write(cg.generate.grid2d(5, 3), path)
    return path


@pytest.mark.parametrize(
    ("measure", "function"),
    [
        ("betweenness", nx.betweenness_centrality),
        ("closeness", nx.closeness_centrality),
        ("harmonic", nx.harmonic_centrality),
        ("eccentricity", nx.eccentricity),
    ],
)
def test_measures(measure, function, run, file):
    status, out, _ = run(file, "--measure", measure, "--top", 15, "--json")
    assert status == 0
    expected = function(cg.generate.grid2d(5, 3).to_networkx())
    found = {entry["vertex"]: entry["value"] for entry in json.loads(out)["top"]}
    assert found == pytest.approx(expected)


def test_edges_and_the_diameter(run, file):
    _, out, _ = run(file, "--measure", "edge-betweenness", "--json", "--top", 1)
    top = json.loads(out)["top"][0]
    values = nx.edge_betweenness_centrality(cg.generate.grid2d(5, 3).to_networkx())
    assert top["value"] == pytest.approx(max(values.values()))
    assert json.loads(run(file, "--measure", "diameter", "--json")[1])["diameter"] == 6
    assert "6 hops" in run(file, "--measure", "diameter")[1]


def test_measures_by_weight(run, tmp_path):
    graph = cg.generate.grid2d(5, 3, seed=2, weights=(1, 9))
    cg.write(graph, tmp_path / "grid.mtx")
    for measure, function, options in (
        ("betweenness", nx.betweenness_centrality, {"weight": "weight"}),
        ("closeness", nx.closeness_centrality, {"distance": "weight"}),
    ):
        argv = ("--measure", measure, "--weighted", "--top", 15, "--json")
        top = json.loads(run(tmp_path / "grid.mtx", *argv)[1])["top"]
        found = {entry["vertex"]: entry["value"] for entry in top}
        assert found == pytest.approx(function(graph.to_networkx(), **options))
    expected = nx.diameter(graph.to_networkx(), weight="weight")
    out = run(tmp_path / "grid.mtx", "--measure", "diameter", "--weighted")[1]
    assert f"{expected:,.1f} by weight" in out


def test_what_a_person_sees(run, file):
    status, out, _ = run(file, "--samples", 5, "--raw", "--top", 3)
    assert status == 0
    assert "betweenness, from 5 sources" in out


@pytest.mark.parametrize("ending", ["npz", "csv"])
def test_output(ending, run, file, tmp_path, any_device):
    output = tmp_path / f"values.{ending}"
    assert run(file, "--measure", "closeness", "--output", output)[0] == 0
    expected = cg.closeness_centrality(cg.generate.grid2d(5, 3), device=any_device)
    if ending == "npz":
        found = np.load(output)["closeness"]
    else:
        found = np.loadtxt(output, delimiter=",", skiprows=1)[:, 1]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("argv", "complaint"),
    [
        (("--output", "x.txt"), "ends in neither"),
        (("--measure", "diameter", "--output", "x.csv"), "no value per vertex"),
        (("--measure", "closeness", "--samples", 3), "--samples is for"),
        (("--measure", "closeness", "--raw"), "--raw is for"),
        (("--ignore-disconnected",), "--ignore-disconnected is for eccentricity and diameter"),
    ],
)
def test_refusals(argv, complaint, run, file):
    status, _, err = run(file, *argv)
    assert status == 2
    assert complaint in err


def test_a_graph_in_two_parts(run, tmp_path):
    path = tmp_path / "two.mtx"
    cg.write(cg.from_edges([0, 2], [1, 3], symmetrize=True), path)
    status, _, err = run(path, "--measure", "diameter")
    assert (status, "ignore" in err) == (2, True)
    status, out, _ = run(path, "--measure", "diameter", "--ignore-disconnected", "--json")
    assert json.loads(out)["diameter"] == 1
