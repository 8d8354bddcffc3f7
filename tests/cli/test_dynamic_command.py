"""The command ``clgraph dynamic``: what it replays, prints and refuses."""

import json

import networkx as nx
import numpy as np
import pytest

import clgraph as cg
from clgraph.cli.main import main
from clgraph.dynamic.stream import read_updates
from clgraph.errors import GraphFormatError

pytestmark = pytest.mark.runtimes("pocl")


def run(capsys, *words):
    status = main(["dynamic", *map(str, words), "--device", "pocl", "--json"])
    captured = capsys.readouterr()
    assert status == 0, captured.err
    return json.loads(captured.out)


@pytest.fixture
def files(tmp_path):
    """A path of ten vertices, undirected, and updates of it."""
    cg.write(cg.generate.path(10), tmp_path / "path.mtx")
    lines = ["operation,u,v", "+,0,2", "+,1,3", "insert,0,2", "-,8,9", "delete,0,9", "+,3,5"]
    (tmp_path / "updates.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "path.mtx", tmp_path / "updates.csv"


@pytest.mark.rest
def test_a_stream_of_operations(files, capsys):
    record = run(
        capsys, files[0], "--updates", files[1], "--batch", 2, "--track",
        "triangles,components,bfs:0",
    )  # fmt: skip
    assert [record[name] for name in ("updates", "batches", "new", "gone", "absent")] == [
        6,
        4,
        3,
        1,
        1,
    ]
    assert record["before"] == {"triangles": 0, "components": 1, "bfs:0": 10}
    assert [row["triangles"] for row in record["tracked"]] == [2, 2, 2, 3]
    assert record["tracked"][-1]["components"] == 2
    assert record["tracked"][-1]["bfs:0"] == 9
    assert record["edges_after"] == 2 * 11
    assert record["memory"]["over_csr"] > 0
    assert record["updates_per_s"] > 0


def test_a_temporal_network_is_taken_in_the_order_of_its_times(tmp_path, capsys):
    """Edges named as in a file of SNAP, with gaps in their ids."""
    rng = np.random.default_rng(1)
    ends = 7 * rng.integers(0, 30, (2, 200)) + 3
    (tmp_path / "first.txt").write_text("".join(f"{u} {v}\n" for u, v in ends[:, :50].T))
    times = rng.permutation(150)
    rows = [f"{t} {u} {v}" for t, (u, v) in zip(times, ends[:, 50:].T, strict=True)]
    (tmp_path / "rest.txt").write_text("\n".join(rows))
    record = run(
        capsys, tmp_path / "first.txt", "--directed", "--updates", tmp_path / "rest.txt",
        "--batch", 40, "--track", "components",
    )  # fmt: skip
    network = nx.DiGraph(ends.T.tolist())
    assert record["vertices_after"] == network.number_of_nodes()
    assert record["edges_after"] == network.number_of_edges()
    assert record["tracked"][-1]["components"] == nx.number_weakly_connected_components(network)
    taken = read_updates(tmp_path / "rest.txt")
    assert (np.diff(taken.times) > 0).all()


def test_the_text_for_people(files, capsys):
    words = ["dynamic", str(files[0]), "--updates", str(files[1]), "--track", "triangles"]
    assert main([*words, "--device", "pocl"]) == 0
    out = capsys.readouterr().out
    assert "updates/s" in out
    assert "3 new, 0 present, 1 gone, 1 absent, 1 repeated" in out
    assert "triangles" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--track", "cliques"), "none of triangles, components and bfs:SOURCE"),
        (("--track", "bfs:77"), "no such vertex"),
        (("--track", "bfs:x"), "must be a number"),
        (("--batch", "0"), "--batch"),
    ],
)
def test_what_is_refused(files, capsys, words, message):
    assert main(["dynamic", str(files[0]), "--updates", str(files[1]), *words]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("+,1,2\n5,1,2\n", "mixed"),
        ("+,1\n", ":1:"),
        ("+,1,x\n+,1,2\n", "named"),
        ("+,1,2,3\n+,1,2\n", "some updates have weights"),
        ("operation,a,b\n+,1,2\n", "no column is named u or source"),
    ],
)
def test_lines_that_do_not_follow_are_named(tmp_path, text, message):
    (tmp_path / "updates.csv").write_text(text)
    with pytest.raises(GraphFormatError, match=message):
        read_updates(tmp_path / "updates.csv")
