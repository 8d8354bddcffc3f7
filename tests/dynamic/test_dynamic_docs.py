"""The examples of docs/dynamic.md print what the page says."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "dynamic.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_print_what_the_page_says(example, any_device, monkeypatch, capsys):
    monkeypatch.setenv("CLGRAPH_DEVICE", "{}:{}".format(*any_device.index))
    exec(compile(example, "example", "exec"), {})  # noqa: S102 (the text of our own page)
    said = re.findall(r"^ *print\(.*\)  # (.*)$", example, re.MULTILINE)
    printed = capsys.readouterr().out.splitlines()
    if "for regime" in example:
        assert printed[:2] == ["rows 100", "rewrite 100"]
        printed, said = printed[2:], said[1:]
    assert printed == said
