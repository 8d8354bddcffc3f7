"""What README.md and docs/ show works as shown."""

import importlib.util
import operator
import re
import runpy
import shlex
from pathlib import Path

import pytest

import clgraph as cg
from clgraph.cli.main import build_parser

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page, language):
    return re.findall(
        rf"^```{language}\n(.*?)^```$", page.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )


@pytest.mark.parametrize(("number", "printed"), [(0, "114599 1034\n"), (1, "Valjean\n")])
def test_examples_of_the_readme(number, printed, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(ROOT)
    script = tmp_path / "example.py"
    script.write_text(blocks(ROOT / "README.md", "python")[number], "utf-8")
    runpy.run_path(str(script))
    assert capsys.readouterr().out.startswith(printed)


EXAMPLES = [
    pytest.param(example, id=f"{page.stem}-{number}")
    for page in PAGES[2:]
    # Others have tests that compare what is printed.
    if page.stem not in {"multi-search", "matching", "triangles", "dynamic"}
    for number, example in enumerate(blocks(page, "python"))
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_of_the_pages_run(example, monkeypatch, tmp_path, any_device):
    """Each by itself: on a small graph, a machine without a GPU, and a file of that name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLGRAPH_DEVICE", "{}:{}".format(*any_device.index))
    cg.write(cg.generate.road(40, weights=(1, 100)), "roads.gr")
    example = example.replace('device("gpu")', "device()").replace("kron(20)", "kron(8)")
    example = example.replace("cg.BFSConfig.space()", "()")  # seconds; has tests of its own
    exec(compile(example, "example", "exec"), {})  # noqa: S102 (the text of our own pages)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#]+)", page.read_text("utf-8"))
    local = [link for link in links if "://" not in link]
    assert [link for link in local if not (page.parent / link).exists()] == []


def test_the_index_lists_every_page():
    linked = set(re.findall(r"\]\(([^)#]+)", (ROOT / "docs" / "index.md").read_text("utf-8")))
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} - {"index.md"}
    assert pages - linked == set()


def test_places_that_contributing_names_are_there():
    """And the modules and names of Python."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    named = re.findall(r"`([\w.]+/[\w./]*)`", text)
    places = [name for name in named if "NAME" not in name and name != "build/site"]
    inside = (ROOT, ROOT / "templates", ROOT / "clgraph" / "graph", ROOT / "bench")
    assert len(places) > 20
    assert [name for name in places if not any((base / name).exists() for base in inside)] == []
    modules = re.findall(r"python -m ([a-z]+(?:\.[a-z]+)+)", text)
    assert [name for name in modules if importlib.util.find_spec(name) is None] == []
    for name in re.findall(r"`clgraph\.([\w.]+)`", text):
        operator.attrgetter(name)(cg)


def test_the_first_screen_shows_one_picture_of_the_records():
    first = (ROOT / "README.md").read_text("utf-8").split("\n## ")[0]
    assert re.findall(r"!\[[^\]]+\]\((\S+)\)", first) == ["docs/overview.svg"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_shown_are_commands(page):
    lines = "".join(blocks(page, "")).splitlines()
    shown = [
        line.split("clgraph ", 1)[1] for line in lines if re.match(r"(\S*/)?clgraph \w+", line)
    ]
    for command in shown:
        words = shlex.split(re.split(r"\s{3,}|\s#", command)[0])
        if not any(word.isupper() or word.startswith("[") for word in words):
            build_parser().parse_args(words)
