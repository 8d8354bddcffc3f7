"""The study of what changing graphs costs, and the picture of their rates."""

import json

import pytest

from bench.studies import dynamic, dynamic_costs, primitives


def test_study_of_what_follows(tmp_path, capsys):
    out = tmp_path / "record.json"
    given = ["--device", "pocl", "--scale", "8", "--most", "2", "--updates", "200"]
    assert dynamic_costs.main([*given, "--output", str(out)]) == 0
    record = json.loads(out.read_text())
    assert record["schema"] == "clgraph-study-dynamic-costs"
    for name in ("triangles", "triangles of vertices", "distances", "components"):
        figures = record["following"][name]["0"]
        assert figures["in_ms"] >= figures["in_follow_ms"] > 0
        assert figures["followed"] > 0
    assert record["energy"]["road uniform"]["updates"] > 300
    assert "joules per million updates" in capsys.readouterr().out


def study_of_rates(monkeypatch, pocl, out):
    """Run that of rates on one small graph, each batch a few times."""
    for name in ("REPEATS", "SMALL_REPEATS", "SMALL_WARM"):
        monkeypatch.setattr(dynamic, name, 1)
    every = dynamic.batches
    monkeypatch.setattr(dynamic, "batches", lambda scale: dict([*every(scale).items()][:1]))
    words = ["--device", "{}:{}".format(*pocl.index), "--scale", "7", "--most", "2"]
    return dynamic.main([*words, "--elements", "0", "--output", str(out)])


def test_study_of_rates(pocl, monkeypatch, tmp_path, capsys):
    """DH-32: every way to bring a batch in, beside the bytes of rows and what making them takes."""
    out = tmp_path / "record.json"
    assert study_of_rates(monkeypatch, pocl, out) == 0
    record = json.loads(out.read_text())
    assert (record["wrong"], list(record["graphs"])) == ([], ["kron uniform"])
    figures = record["graphs"]["kron uniform"]
    for way in ("host", "rows", "auto"):
        times = figures[f"2 {way}"]
        assert 0 < times["edges"] <= 100
        assert min(times[f"{what}_ms"] for what in ("insert", "delete")) > 0
    assert set(figures["2 stages"]) == {"insert", "delete"}
    assert figures["over_csr"] > 1
    assert min(record["building"][name] for name in ("edges", "device_ms", "wall_ms")) > 0
    assert "out M/s" in capsys.readouterr().out


def test_wrong_contents_have_no_rates(pocl, monkeypatch, tmp_path, capsys):
    """DH-32: contents are compared with those of NumPy's sets before anything is timed."""
    monkeypatch.setattr(dynamic.clgraph.DynamicGraph, "delete_edges", lambda *_, **__: None)
    out = tmp_path / "record.json"
    assert study_of_rates(monkeypatch, pocl, out) == 1
    assert "WRONG contents after kron uniform: rows by the device" in capsys.readouterr().out
    assert not out.exists()


def test_study_of_primitives(tmp_path, capsys):
    out = tmp_path / "record.json"
    given = ["--device", "pocl", "--elements", "4096", "--output", str(out)]
    assert primitives.main(given) == 0
    found = json.loads(out.read_text())["primitives"]
    assert found["copy"]["share"] == 1
    assert all(figures["ms"] > 0 for figures in found.values())
    assert "sort u8+u8, a pass" in capsys.readouterr().out


def test_picture_of_rates(tmp_path):
    pytest.importorskip("matplotlib")
    auto = {"insert_ms": 0.2, "delete_ms": 0.1}
    rates = {"4 auto": auto | {"edges": 9000}, "5 auto": auto | {"edges": 90_000}}
    record = {"device": "a card", "graphs": {"kron rmat": rates | {"n": 5, "4 rows": {}}}}
    (tmp_path / "record.json").write_text(json.dumps(record))
    out = tmp_path / "rates.svg"
    given = ["--record", str(tmp_path / "record.json"), "--plot", str(out)]
    assert dynamic.main(given) == 0
    assert "kron rmat, delete" in out.read_text()
