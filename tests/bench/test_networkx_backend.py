"""The study of the networkx backend and of cuRnet's sweep, at a small size."""

import json

import pytest

from bench.studies import networkx_backend

pytest.importorskip("igraph")


def test_21_the_sweep_compares_searches_components_and_construction(
    tmp_path, any_device, monkeypatch
):
    """From ten and 0.1 to 20 % of the vertices, at three densities, joules if there is a meter."""
    name = "{}:{}".format(*any_device.index)
    kept = tmp_path / "record.json"
    monkeypatch.setattr(networkx_backend, "SAMPLE", 3)
    monkeypatch.setattr(networkx_backend, "REPEATS", 1)
    options = ["--what", "sweep", "--share", "0.02", "--device", name, "--json", str(kept)]
    monkeypatch.setattr("sys.argv", ["networkx_backend", *options])
    networkx_backend.main()
    rows = json.loads(kept.read_text())["sweep"]
    assert len({row["edges_per_vertex"] for row in rows}) == 3
    shares = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
    counts = [10, *(max(round(share * 300), 1) for share in shares)]
    for kind in ("bfs", "sssp"):
        assert [row["sources"] for row in rows if row["kind"] == kind] == counts * 3
    assert [row["kind"] for row in rows if not row["sources"]] == ["construction", "scc"] * 3
    assert all(row["igraph_s"] > 0 and row["clgraph_s"] > 0 for row in rows)
    assert all("joules" in row for row in rows if row["sources"] == counts[-1])


def test_distances_that_differ_from_igraph_s_end_the_study(any_device, monkeypatch):
    name = "{}:{}".format(*any_device.index)
    monkeypatch.setattr(networkx_backend, "SAMPLE", 3)
    right = networkx_backend.cg.from_igraph

    def wrong(graph):
        made = right(graph)
        if made.weights is not None:
            made.weights.flags.writeable = True
            made.weights[:] += 1
        return made

    monkeypatch.setattr(networkx_backend.cg, "from_igraph", wrong)
    with pytest.raises(SystemExit, match="sssp: distances differ"):
        list(networkx_backend.sweep(name, 0.02, 0.005))


def test_conversions_are_timed_for_each_kind_of_node(any_device, monkeypatch):
    monkeypatch.setattr(
        networkx_backend.nx.config.backends.clgraph, "device", "{}:{}".format(*any_device.index)
    )
    rows = list(networkx_backend.conversions(2000))
    assert len({row["nodes"] for row in rows}) == len(rows) >= 3
    assert len({row["components"] for row in rows}) == 1
