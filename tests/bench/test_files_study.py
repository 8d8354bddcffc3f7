"""The study of file formats."""

import importlib.util

import clgraph as cg
from bench.studies import files


def test_who_is_not_installed_is_not_timed(monkeypatch, tmp_path, pocl):
    """Without pyarrow the tokenizer would do its work, under its name."""
    monkeypatch.setattr(files.cg, "device", lambda _: pocl)
    path = tmp_path / "graph.el"
    cg.write(cg.generate.grid2d(9, 9), path)
    assert {*files.WAYS} <= {*files.rate_of(path, 1)}
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    row = files.rate_of(path, 1)
    assert "pyarrow" not in row
    assert row["tokenizer"]["read_s"] > 0
