"""The command ``clgraph sssp``: what it prints, writes and refuses."""

import json

import numpy as np
import pytest

import clgraph as cg
from clgraph.cli.main import main

pytestmark = pytest.mark.runtimes("pocl")


@pytest.fixture(scope="module")
def roads(tmp_path_factory):
    """A grid with weights, as a DIMACS file."""
    grid = cg.generate.grid2d(12, 9)
    tails = np.repeat(np.arange(grid.n), grid.degrees)
    costs = 1 + (tails + grid.indices).astype(np.int32) % 7
    graph = cg.Graph(grid.indptr, grid.indices, costs, directed=False)
    path = tmp_path_factory.mktemp("roads") / "roads.gr"
    cg.write(graph, path)
    return cg.read(path), str(path)


def run(capsys, *words):
    status = main(["sssp", *words, "--device", "pocl", "--json"])
    captured = capsys.readouterr()
    assert status == 0, captured.err
    return json.loads(captured.out)


def test_it_tells_and_writes_what_the_library_finds(roads, capsys, tmp_path, pocl):
    graph, path = roads
    output = tmp_path / "found.npz"
    words = (
        path,
        "--source",
        "3",
        "--predecessors",
        "--target",
        "100",
        "--levels",
        "--repeat",
        "2",
    )
    record = run(capsys, *words, "--output", str(output))
    result = cg.sssp(graph, 3, predecessors=True, target=100, device=pocl)
    assert record["target_distance"] == result.distances[100]
    assert record["reached"] == result.reached
    assert record["path"][0] == 3
    assert record["path"][-1] == 100
    assert len(record["levels"]) == record["stages"]
    with np.load(output) as written:
        np.testing.assert_array_equal(written["distances"], result.distances)


def test_several_sources_and_a_limit(roads, capsys, pocl):
    graph, path = roads
    record = run(capsys, path, "--source", "0", "50", "--max-distance", "9", "--delta", "3")
    result = cg.sssp(graph, [0, 50], max_distance=9, device=pocl)
    assert record["reached"] == result.reached
    assert record["source"] == [0, 50]
    assert (record["preset"], record["delta"]) == ("near-far", 3)


def test_readable_text(roads, capsys):
    assert main(["sssp", roads[1], "--device", "pocl", "--target", "107"]) == 0
    text = capsys.readouterr().out
    for words in ("near-far", "108 vertices (100.0 %)", "target", "107: "):
        assert words in text


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--source", "999"), "source=999 is not a vertex"),
        (("--config", "h-bf", "--delta", "2"), "--delta is for the preset near-far"),
        (("--output", "found.txt"), "ends in neither .npz nor .csv"),
    ],
)
def test_bad_arguments(roads, words, problem, capsys):
    assert main(["sssp", roads[1], "--device", "pocl", *words]) == 2
    assert problem in capsys.readouterr().err


def test_bad_weights_are_bad_input(tmp_path, capsys):
    path = tmp_path / "cycle.gr"
    path.write_text("p sp 3 3\na 1 2 1\na 2 3 -5\na 3 1 1\n", encoding="ascii")
    assert main(["sssp", str(path), "--device", "pocl"]) == 2
    assert "around the cycle" in capsys.readouterr().err


@pytest.mark.rest
@pytest.mark.parametrize("ending", ["png", "svg"])
def test_traces_are_drawn(roads, tmp_path, capsys, ending):
    """sssp-self-tuning checklist 21: the profile and the distribution, before and after."""
    pytest.importorskip("matplotlib", reason="matplotlib is an extra")
    path = tmp_path / f"trace.{ending}"
    words = ["sssp", roads[1], "--device", "pocl", "--set-point", "50", "--trace", str(path)]
    assert main([*words, "--json", "--levels"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["preset"] == "self-tuning"
    assert record["config"]["method.set_point"] == record["set_point"] == 50
    assert record["trace"] == str(path)
    assert {"X1", "X2", "X3", "X4", "delta", "d", "alpha"} <= set(record["levels"][0])
    start = path.read_bytes()[:100]
    assert b"PNG" in start if ending == "png" else b"<?xml" in start
    assert main(words) == 0
    assert "50 edges per step" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ("--trace", "trace.txt"),
        ("--set-point", "50", "--config", "near-far"),
        ("--set-point", "0"),
        ("--power-target", "0.001"),  # there is no meter, or the device draws more at rest
    ],
)
def test_tuning_that_is_refused(roads, capsys, words):
    assert main(["sssp", roads[1], "--device", "pocl", *words]) == 2
    assert capsys.readouterr().err.count("\n") >= 1


def test_a_file_without_weights_is_told_by_its_name(tmp_path, capsys):
    """The way out is a command, not a constructor."""
    path = tmp_path / "hops.edges"
    path.write_text("0 1\n1 2\n", encoding="ascii")
    assert main(["sssp", str(path), "--device", "pocl"]) == 2
    told = capsys.readouterr().err
    assert f"{path} has no weights; 'clgraph bfs' finds distances in hops." in told
