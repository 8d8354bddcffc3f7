"""The example of docs/communities.md prints what the page says."""

import re
import runpy
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs" / "communities.md"


def test_the_example_prints_what_the_page_says(any_device, monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("CLGRAPH_DEVICE", "{}:{}".format(*any_device.index))
    (example,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.S | re.M)
    script = tmp_path / "example.py"
    script.write_text(example, "utf-8")
    runpy.run_path(str(script))
    said = re.findall(r"^print\(.*\)  # (.*)$", example, re.M)
    assert len(said) == 8
    assert capsys.readouterr().out.splitlines() == said
