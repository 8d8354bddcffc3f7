"""The study of what changing graphs costs."""

import json

from bench.studies import dynamic_costs


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
