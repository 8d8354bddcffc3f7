"""The examples of docs/trees.md and docs/ranking.md print what the pages say."""

import re
import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[3] / "docs"


@pytest.mark.parametrize("name", ["trees", "ranking"])
def test_the_example_prints_what_the_page_says(name, any_device, monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("CLGRAPH_DEVICE", "{}:{}".format(*any_device.index))
    page = (DOCS / f"{name}.md").read_text("utf-8")
    (example,) = re.findall(r"^```python\n(.*?)^```$", page, re.S | re.M)
    script = tmp_path / "example.py"
    script.write_text(example, "utf-8")
    runpy.run_path(str(script))
    said = re.findall(r"^print\(.*\)  # (.*)$", example, re.M)
    assert len(said) >= 5
    assert capsys.readouterr().out.splitlines() == said
