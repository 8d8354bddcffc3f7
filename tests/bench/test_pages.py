"""The page of results and the HTML report."""

import importlib.util
import itertools
import math
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import pytest
from made_up import case, record, skipped
from runtimes import LIMIT_S

from bench.report import docs, html, text
from bench.runner import records
from clgraph.cli.main import main
from clgraph.pages.pictures import COLOURS, Picture, label

ROOT = Path(__file__).resolve().parents[2]
SVG = "{http://www.w3.org/2000/svg}"
RUN = record(case("kron22", [0.5, 0.52, 0.49]), case("usa-road-nw", [5.0]), skipped("mesh"))


def test_page_of_results_is_up_to_date():
    done = subprocess.run(
        [sys.executable, "-m", "bench.report.docs", "--check"],
        cwd=ROOT,
        check=False,
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, "run: python -m bench.report.docs"


def test_page_without_records_says_so():
    assert "No run has been recorded yet" in docs.page([])


def test_page_shows_results_floors_energy_levels_and_what_is_missing():
    page = docs.page([("h200.json", RUN)])
    row = next(line for line in page.splitlines() if line.startswith("| kron22"))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[1:4] == ["auto", "1,000", "8,000"]
    assert cells[6] == "**0.5**"
    assert cells[10:] == ["0.125", "0.01", "50", "0.29 (BLEST)", "0.58"]
    assert "| 2 | 600 | 5,000 | pull | 20.2 |" in page
    assert "| kron22 | auto | 0.125 | 3.1 % | 390 | 80 | 64 | 0.0001 | 20,000 in 2.5 s |" in page
    assert "| kron22 | scipy 1.17.1 | 20 | 0.5 | 40 | 38-44 |  |" in page
    assert "- bfs/mesh/auto skipped: mesh is <not> here" in page
    assert "`0123456789ab`" in page


@pytest.mark.parametrize("page", [text.render, lambda run: html.page([run])])
def test_a_run_outside_a_checkout_has_no_commit(page):
    machine = RUN["machine"] | {"commit": None, "dirty": None}
    shown = page(RUN | {"machine": machine})
    assert "unknown" in shown
    assert "None" not in shown


def test_newest_record_of_a_device_is_shown_and_older_ones_listed(tmp_path):
    newer = RUN | {"started": "2027-01-01T00:00:00+00:00"}
    for name, run in (("old.json", RUN), ("new.json", newer)):
        records.save(run, tmp_path / name)
    (tmp_path / "tests.json").write_text('{"schema": "of something else"}')
    found = docs.recorded(tmp_path)
    assert [name for name, _ in found] == ["new.json", "old.json"]
    page = docs.page(found)
    assert "`bench/results/new.json`" in page
    assert "Older records: `old.json`" in page


def test_records_of_changed_files_are_not_shown(tmp_path):
    for name, dirty in (("changed.json", True), ("clean.json", False), ("unknown.json", None)):
        machine = RUN["machine"] | {"dirty": dirty}
        records.save(RUN | {"machine": machine}, tmp_path / name)
    assert {name for name, _ in docs.recorded(tmp_path)} == {"clean.json", "unknown.json"}


def drawn(seed, ms):
    made = case("kron20", [ms])
    made["graph"] |= {"seed": seed, "pinned": None}
    return made


def test_other_draws_stand_beside_the_usual_one():
    """A newer run on another draw takes nobody's place, and is compared with the first."""
    first = record(drawn(docs.SEED, 0.2))
    second = record(drawn(7, 0.3), started="2027-01-01T00:00:00+00:00")
    page = docs.page([("second.json", second), ("first.json", first)])
    assert "| **0.2** |" in page
    assert "| kron20 | auto | 7 | 8,000 | 0.3 | 0.3-0.3 | 0.0267 | 1.5 | (a) |" in page
    assert "Older records" not in page
    assert "Other draws of" not in docs.page([("first.json", first)])


def test_figures_of_another_card_are_said_to_be_so():
    """Beside an H100 stand what other codes took on an H200, and on other devices nothing."""
    for device, head in (
        ("NVIDIA H200", "| best public ms |"),
        ("NVIDIA H100 80GB HBM3", "| best public ms, H200 |"),
    ):
        page = docs.page([("a.json", record(case("kron22", [0.5]), device=device))])
        assert head in page
        assert "| 0.29 (BLEST) | 0.58 |" in page
    assert "(BLEST)" not in docs.page([("a.json", record(case("kron22", [0.5]), device="other"))])


def test_the_newest_measurement_of_each_case_is_shown():
    """A later run of some cases takes their places, and not those of the others."""
    old = record(case("kron20", [0.9]), case("road", [9.0], key="bfs/road/auto"))
    new = record(case("kron20", [0.4]), skipped("road"), started="2027-01-01T00:00:00+00:00")
    page = docs.page([("new.json", new), ("old.json", old)])
    kron, road = (
        next(line for line in page.splitlines() if line.startswith(f"| {name}"))
        for name in ("kron20", "road")
    )
    assert "**0.4**" in kron
    assert kron.endswith("| (a) |")
    assert "**9**" in road
    assert road.endswith("| (b) |")
    assert "- (b) `bench/results/old.json`" in page
    assert "Older records" not in page
    assert "road is <not> here" not in page


def test_what_no_record_has_is_listed_with_its_stand_in():
    page = docs.page([("h200.json", RUN)])
    assert "not run on this device yet: bfs/kron20," in page
    assert "europe-osm (road)" in page


def preset_case(graph, preset, ms, joules=None):
    changes = {"preset": preset, "key": f"bfs/{graph}/{preset}"}
    made = case(graph, [ms], **changes)
    made["energy"]["joules_per_search"] = joules
    return made


TIMES = {
    "kron20": {"auto": 0.1, "merrill-expand-contract": 2.0, "merrill-hybrid": 2.5},
    "road": {"auto": 8.0, "merrill-expand-contract": 20.0, "merrill-hybrid": 10.0},
}


def page_of_presets(joules):
    made = [preset_case(g, p, ms, joules) for g, all_ in TIMES.items() for p, ms in all_.items()]
    return docs.page([("h200.json", record(*made) | {"suite": "presets"})])


def test_page_has_a_table_of_presets_by_graphs():
    """The table of issue 3: time, rate, joules and time over the floor, the best of each bold."""
    page = page_of_presets(0.5)
    head = page[page.index("| median ms | kron20") :]
    assert head.splitlines()[:5] == [
        "| median ms | kron20 | road |",
        "|---|--:|--:|",
        "| auto | **0.1** | **8** |",
        "| merrill-expand-contract | 2 | 20 |",
        "| merrill-hybrid | 2.5 | 10 |",
    ]
    assert "| joules per run | kron20 | road |" in page
    assert "| MTEPS | kron20 | road |" in page
    assert "| auto | **80** | **1** |" in page
    assert "| time over floor | kron20 | road |" in page
    assert "| auto | **10** | **800** |" in page
    assert "| joules per run" not in page_of_presets(None)
    assert "Preset by graph" not in docs.page([("h200.json", RUN | {"suite": "presets"})])


def test_page_says_which_findings_hold():
    """By the recorded times, graph by graph; what was not measured is left out."""
    page = page_of_presets(0.5)
    lines = [line for line in page.splitlines() if line.startswith(("| Merrill", "| clgraph"))]
    assert lines == [
        "| Merrill | the hybrid meets or beats expand-contract on every graph | "
        "kron20 1.25, road 0.5 | not on kron20 |",
        "| clgraph | auto is at least as fast as every published preset | "
        "kron20 0.05, road 0.8 | yes |",
    ]


def test_why_presets_differ_is_said_once_whatever_cards_there_are():
    made = [preset_case(g, p, ms) for g, all_ in TIMES.items() for p, ms in all_.items()]
    runs = [
        (f"{n}.json", record(*made, device=device) | {"suite": "presets"})
        for n, device in enumerate(("NVIDIA H200", "NVIDIA H100 80GB HBM3"))
    ]
    assert docs.page(runs).count("## Why presets differ") == 1
    assert "## Why presets differ" not in docs.page([("a.json", RUN)])


class Structure(HTMLParser):
    """Tags that are open, and what was seen."""

    VOID = frozenset({"meta", "br"})

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.references, self.text = [], [], [], ""

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.references += [
            value for name, value in attrs if name in {"src", "href", "onclick", "onload"}
        ]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def report():
    parsed = Structure()
    parsed.feed(html.page([RUN]))
    return parsed


def test_report_is_well_formed_and_needs_nothing_else(report):
    assert report.open == []
    assert report.references == []
    assert "script" not in report.seen
    assert "link" not in report.seen


def test_report_shows_each_plot_and_table(report):
    assert report.seen.count("table") == 3  # facts, results, peers
    assert report.seen.count("svg") == 3 + 2  # throughput, roofline, energy, and a profile a case
    for words in (
        "Roofline",
        "Time against energy",
        "Level by level",
        "a <fast> one",
        "<not> here",
    ):
        assert words in report.text
    assert "nan" not in report.text.lower()


def test_report_compares_presets_and_keeps_algorithms_apart():
    cases = [
        case("kron20", [0.5, 0.6]),
        case("kron20", [0.2, 0.3], preset="helix", key="bfs/kron20/helix"),
        case("road", [5.0, 6.0], algorithm="sssp", key="sssp/road/auto", per_level=None),
    ]
    page = html.page([record(*cases)])
    parsed = Structure()
    parsed.feed(page)
    assert parsed.open == []
    assert parsed.seen.count("svg") == 2 * 3 + 2
    for words in ("Throughput by preset", "Results: bfs", "Results: sssp", "kron20 helix"):
        assert words in parsed.text
    assert page.index("kron20 helix: ") < page.index("kron20 auto: ")  # the faster one first


def test_report_draws_how_many_edges_have_each_truss_number():
    found = {"what": "edges by truss number", "values": [2, 3, 7], "counts": [40, 900, 21]}
    peeled = case("enron", [5.0], algorithm="truss", key="t", per_level=None, histogram=found)
    parsed = Structure()
    page = html.page([record(case("kron20", [0.5]), peeled)])
    parsed.feed(page)
    assert parsed.open == []
    assert "enron auto: edges by truss number" in parsed.text
    drawn = page.split("<figcaption>enron auto: edges by truss number")[1].split("</figure>")[0]
    assert drawn.count("<circle") == 3
    assert "7: 21" in drawn


def test_page_keeps_algorithms_apart():
    relaxing = case("road", [5.0, 6.0], algorithm="sssp", preset="h-bf", per_level=None)
    relaxing["summary"]["relaxations_per_edge"] = {"median": 1.25}
    page = docs.page([("a.json", record(case("kron20", [0.5]), relaxing))])
    bfs, sssp = page.split("### Breadth-first search")[1].split("### Shortest paths")
    assert "| kron20 | auto |" in bfs
    assert "relax/edge" not in bfs
    assert "| road | h-bf |" in sssp
    assert "| 1.25 |" in sssp


def test_report_of_a_run_that_measured_nothing():
    parsed = Structure()
    parsed.feed(html.page([record(skipped("mesh"))]))
    assert parsed.open == []
    assert "svg" not in parsed.seen


def numbers(drawn, what):
    return [float(number) for number in re.findall(what, drawn)]


def test_points_are_drawn_within_the_picture():
    picture = Picture("p")
    picture.scale("x", [0.0, 1.0, math.nan, 1000.0], "x")
    picture.scale("y", [5.0, 50.0], "y", log=False)
    for x, y in ((1.0, 5.0), (1000.0, 50.0), (0.0, 0.0), (1e9, 1e9)):
        picture.dot(x, y, "c0", f"{x:g}, {y:g}")
    picture.line((1.0, 10.0, 100.0, 200.0), (5.0, math.nan, 9.0, 9.0), "c0")
    drawn = picture.svg()
    across, up = numbers(drawn, r'cx="([^"]+)"'), numbers(drawn, r'cy="([^"]+)"')
    assert across[0] < across[1]
    assert up[0] > up[1]
    assert len(across) == len(up) == 4
    assert all(0 <= x <= 600 for x in across)
    assert all(0 <= y <= 360 for y in up)
    assert across[3] >= across[1]
    (line,) = re.findall(r'<g class="line">\s*<path d="([^"]+)"', drawn)
    assert line.count("M") == 2  # with a gap


@pytest.mark.parametrize(
    ("low", "high", "log"),
    [(1.0, 1.0, True), (0.3, 0.4, True), (1e-9, 1e9, True), (0, 3, False), (0, 6172, False)],
)
def test_axes_have_a_few_round_ticks(low, high, log):
    picture = Picture("p")
    low, high = picture.scale("x", [low, high], "x", log=log)
    picture.scale("y", [1.0], "y")
    shown = [tick for tick in picture.axes.get_xticks() if low <= tick <= high]
    assert 1 <= len(shown) <= 12
    assert all(re.fullmatch(r"-?[\d.,e-]+", label(tick)) for tick in shown)
    drawn = picture.svg()
    assert all(f">{label(tick)}</text>" in drawn for tick in shown)


def test_labels_do_not_cover_each_other():
    picture = Picture("p")
    picture.scale("x", [1, 100], "x")
    picture.scale("y", [1, 100], "y")
    for _ in range(5):
        picture.dot(10, 10, "c0", "hint", "same place")
    found = re.findall(r"text-anchor: (\w+)[^>]* y=\"([\d.]+)\"[^>]*>same", picture.svg())
    assert len(found) >= 4
    for anchor in ("start", "end"):
        rows = sorted(float(y) for side, y in found if side == anchor)
        assert all(below - above >= 10 for above, below in itertools.pairwise(rows))


def test_a_label_without_room_is_left_out():
    picture = Picture("p", 200, 120)
    picture.scale("x", [1, 100], "x")
    picture.scale("y", [1, 100], "y")
    picture.dot(10, 10, "c0", "hint", "longer than the axes are wide" * 3)
    assert "longer" not in picture.svg()


def test_what_is_drawn_twice_is_the_same():
    """A picture that is committed changes only when what it shows does."""

    def drawn():
        picture = Picture("<p>")
        picture.scale("x", [1, 100], "dollars $x$")
        picture.dot(10, 0, "c0", "a <hint>", "name")
        return picture.svg(file=True)

    assert drawn() == drawn()
    assert "date" not in drawn().lower()
    assert "id=" not in drawn()
    titles = ET.fromstring(drawn()).iter(SVG + "title")  # noqa: S314 (our own)
    assert [title.text for title in titles] == ["<p>", "a <hint>"]


def test_colours_are_those_of_the_page_that_a_picture_is_in():
    picture = Picture("p")
    picture.dot(0, 0, "c3", "hint")
    style = html.page([])
    assert "var(--c3, #a03a8c)" in picture.svg()
    for name, colour in COLOURS.items():
        assert f"--{name}: {colour};" in style
        assert style.count(f"--{name}: ") == 2  # in the light and in the dark
    assert "var(" not in picture.svg(file=True)


@pytest.mark.parametrize("words", [["bench", "--html"], ["microbench", "--html"]])
def test_a_page_is_refused_at_once_without_matplotlib(words, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert main([*words, str(tmp_path / "page.html")]) == 2
    assert "--html needs matplotlib, which is not installed" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_runner_s_own_page_names_what_is_there():
    page = (ROOT / "bench" / "README.md").read_text("utf-8")
    files = set(re.findall(r"`([\w/]+\.py)`", page))
    folders = set(re.findall(r"`([\w/]+)/`", page))
    assert len(files) > 8
    assert len(folders) > 8
    there = {path.relative_to(ROOT / "bench") for path in (ROOT / "bench").rglob("*")}
    names = {path.name for path in there} | {path.as_posix() for path in there}
    names |= {f"bench/{path.as_posix()}" for path in there} | {"docs"}
    assert files | folders <= names
