"""The example of docs/matching.md prints what it says, on the real network it names."""

import io
import lzma
import re
from pathlib import Path

import numpy as np
from graphs import DATA, load

import clgraph as cg

PAGE = Path(__file__).resolve().parents[3] / "docs" / "matching.md"


def test_example(capsys, monkeypatch, any_device, tmp_path):
    (example,) = re.findall(
        r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    monkeypatch.setenv("CLGRAPH_DEVICE", f"{any_device.index[0]}:{any_device.index[1]}")
    monkeypatch.chdir(tmp_path)
    file = DATA / "hprd-labelled.npz.xz"
    cg.write(load(file), "hprd.npz")
    with lzma.open(file) as packed:
        labels = np.load(io.BytesIO(packed.read()), allow_pickle=False)["vlabel"]
    np.savetxt("hprd-labels.txt", labels, fmt="%d")
    exec(compile(example, PAGE.name, "exec"), {})  # noqa: S102 - the text of our own page
    said = re.findall(r"^print\(.*\)  # (.*)$", example, re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == said
