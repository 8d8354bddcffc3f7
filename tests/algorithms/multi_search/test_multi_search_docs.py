"""The worked examples of docs/multi-search.md print what they say (multi-search checklist 17)."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[3] / "docs" / "multi-search.md"
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)


def test_there_are_four():
    assert len(EXAMPLES) == 4


@pytest.mark.parametrize("example", EXAMPLES, ids=range(1, len(EXAMPLES) + 1))
def test_example(example, capsys, monkeypatch, any_device):
    monkeypatch.setenv("CLGRAPH_DEVICE", f"{any_device.index[0]}:{any_device.index[1]}")
    exec(compile(example, PAGE.name, "exec"), {})  # noqa: S102 - the text of our own page
    said = re.findall(r"^print\(.*\)  # (.*)$", example, re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == said
