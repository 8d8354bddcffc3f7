"""The example of docs/triangles.md prints what the page says, and its figures are a record's."""

import json
import re
import runpy
from pathlib import Path

from bench.studies.triangles import page

PAGE = Path(__file__).resolve().parents[3] / "docs" / "triangles.md"


def test_the_example_prints_what_the_page_says(any_device, monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("CLGRAPH_DEVICE", "{}:{}".format(*any_device.index))
    (example,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.S | re.M)
    script = tmp_path / "example.py"
    script.write_text(example, "utf-8")
    runpy.run_path(str(script))
    said = re.findall(r"^print\(.*\)  # (.*)$", example, re.M)
    assert len(said) == 5
    assert capsys.readouterr().out.splitlines() == said


def test_the_tables_are_those_of_the_record():
    """TC-25: milliseconds and joules by graph and preset, as the study prints a record."""
    text = PAGE.read_text("utf-8")
    first, second = re.findall(r"\]\((\S*/h200-\S*?\.json)\)", text)
    table = printed(first)
    presets = [line for line in printed(second) if line.startswith("| `")]
    assert (len(table), len(presets)) == (6, 5)
    assert [line for line in table + presets if line not in text.splitlines()] == []


def printed(record):
    lines = page(json.loads((PAGE.parent / record).read_text("utf-8"))).splitlines()
    return [line for line in lines if line]
