"""The notebooks of the gallery run from top to bottom, and are stored without results."""

import json

import matplotlib as mpl
import pytest
from runtimes import ROOT

mpl.use("agg")
plt = pytest.importorskip("matplotlib.pyplot")
GALLERY = ROOT / "docs" / "gallery"
NOTEBOOKS = sorted(GALLERY.glob("*.ipynb"))
LONG = {"proteins", "energy"}


def cells(path, kind):
    book = json.loads(path.read_text("utf-8"))
    return [cell for cell in book["cells"] if cell["cell_type"] == kind]


def test_there_are_five_studies_and_the_page_names_them():
    assert len(NOTEBOOKS) == 5
    page = (ROOT / "docs" / "pandas.md").read_text("utf-8")
    assert [path.name for path in NOTEBOOKS if f"gallery/{path.name}" not in page] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_stored_without_results(path):
    code = cells(path, "code")
    assert code
    assert cells(path, "markdown")[0]["source"][0].startswith("# ")
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in code)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.slow] if path.stem in LONG else [])
        for path in NOTEBOOKS
    ],
)
def test_notebooks_run(path, monkeypatch, any_device, capsys):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("CLGRAPH_DEVICE", "{}:{}".format(*any_device.index))
    names = {}
    for number, cell in enumerate(cells(path, "code")):
        text = "".join(cell["source"])
        exec(compile(text, f"{path.name}, cell {number}", "exec"), names)  # noqa: S102 (our own)
    plt.close("all")
    assert capsys.readouterr().out.strip()
