"""Every figure with a unit that a page shows stands in a record that the page names beside it.

Of benchmarks.md and of the picture other tests know that they are written from the records. On the
other pages a section names its records, and each of its figures in seconds, joules or watts must be
a number of one of them, as rounded as it is shown. `test_ratios` looks at ratios of such figures.
What is no measurement, a setting or somebody else's figure, is listed here.
"""

import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from made_up import case, record

from bench.report import docs, scc_page, searches_page, text

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    if page.name != "benchmarks.md"
]
# A figure times one of these is what records have, in s, ms, us or ns; in J or mJ; or per second.
TIMES, JOULES, RATES = (1.0, 1e3, 1e6, 1e9), (1.0, 1e3), (1.0, 1e-3, 1e-6, 1e-9)
UNITS = {
    "s": TIMES,
    "seconds": TIMES,
    "ms": [factor / 1e3 for factor in TIMES],
    "us": [factor / 1e6 for factor in TIMES],
    "ns": [factor / 1e9 for factor in TIMES],
    "J": JOULES,
    "joules": JOULES,
    "mJ": [factor / 1e3 for factor in JOULES],
    "W": (1.0,),
    "watts": (1.0,),
    "GB/s": [1e9 * factor for factor in RATES],
    "GTEPS": [1e9 * factor for factor in RATES],
    "MTEPS": [1e6 * factor for factor in RATES],
}
FIGURE = re.compile(
    rf"(?<![\w.,/-])(?P<number>\d[\d,]*(?:\.\d+)?) ?(?P<unit>{'|'.join(UNITS)})(?![\w/-])"
)
RECORD = re.compile(r"(?:probes/)?(?:h[12]00|pocl|cpu)[\w.-]*\.(?:json|txt)|docs/benchmarks\.md")
RESULTS = ROOT / "bench" / "results"
NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?")
TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
CELL = re.compile(r"[~<]?\d[\d.,]*(?: ?[a-z%/]+)?(?:[ ,/-]+\d[\d.,]*(?: ?[a-zA-Z%/]+)?)*")
CODE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)


def sections(page):
    """Give the parts of a page that begin with a heading, without examples."""
    return re.split(r"^(?=#+ )", CODE.sub("", page.read_text("utf-8")), flags=re.MULTILINE)


def named(section):
    """Give the records that a section names, by their place in the folder of results."""
    return sorted(set(RECORD.findall(section)))


def is_measured(table):
    """Whether two fifths of its cells, first columns aside, are figures."""
    rows = [row.strip().strip("|").split("|")[1:] for row in table.splitlines()[2:]]
    cells = [cell.strip(" *`") for row in rows for cell in row]
    return sum(bool(CELL.fullmatch(cell)) for cell in cells) >= max(0.4 * len(cells), 1)


def numbers_of(value):
    """Give every number of a record, those of its texts too."""
    if isinstance(value, dict):
        for part in value.values():
            yield from numbers_of(part)
    elif isinstance(value, list):
        for part in value:
            yield from numbers_of(part)
    elif isinstance(value, str):
        yield from (float(text.replace(",", "")) for text in NUMBER.findall(value))
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield float(value)


@cache
def recorded(name):
    """Give the numbers of a record, ascending."""
    text = (ROOT if name.startswith("docs") else RESULTS).joinpath(name).read_text("utf-8")
    found = json.loads(text) if name.endswith(".json") else text
    return np.sort(np.fromiter(numbers_of(found), float))


def is_backed(number, unit, records):
    """Whether a number of the records is this one, rounded as it is shown."""
    digits = len(number.partition(".")[2])
    shown, half = float(number.replace(",", "")), 0.5 * 10.0**-digits * (1 + 1e-9)
    for scale in UNITS[unit]:
        for name in records:
            values = recorded(name)
            first = np.searchsorted(values, (shown - half) * scale)
            if first < values.size and values[first] <= (shown + half) * scale:
                return True
    return False


def resolved_joules(value):
    """Give the joules of a record that have a spread, and no window that is known to be short."""
    if isinstance(value, list):
        for part in value:
            yield from resolved_joules(part)
    if not isinstance(value, dict):
        return
    spread = value.get("joules_spread", value.get("spread"))
    window_s = value.get("window_s", value.get("seconds", text.LEAST_WINDOW_S))
    if spread is not None and window_s >= text.LEAST_WINDOW_S:
        named = (joules for name, joules in value.items() if name.startswith("joules"))
        yield from (joules for joules in named if isinstance(joules, float))
    for part in value.values():
        yield from resolved_joules(part)


def unresolved(page):
    """Name the joules of a page that no window of two seconds with a spread has."""
    missing = []
    for section in sections(page):
        files = [RESULTS / name for name in named(section) if name.endswith(".json")]
        found = [j for file in files for j in resolved_joules(json.loads(file.read_text("utf-8")))]
        for figure in FIGURE.finditer(section):
            if figure["unit"] in {"J", "joules"}:
                digits = len(figure["number"].partition(".")[2])
                shown = float(figure["number"].replace(",", ""))
                if not any(abs(j - shown) <= 0.5 * 10.0**-digits * (1 + 1e-9) for j in found):
                    missing.append(figure[0])
    return missing


def unbacked(page, known=()):
    """Name the figures of a page that its sections' records do not have."""
    missing = []
    for section in sections(page):
        records = named(section)
        missing += [
            f"{section.partition(chr(10))[0]}: {found[0]}"
            for found in FIGURE.finditer(section)
            if found[0] not in known and not is_backed(found["number"], found["unit"], records)
        ]
    return missing


# Settings, and what others took for granted: nothing that was measured.
SETTINGS = {
    "energy.md": {"0.1 s", "50 ms"},  # between two looks at a meter
    "microbenchmarks.md": {"2 s"},  # the shortest window
    "profiling.md": {"0.35 s"},  # of a pass
    # Until a rank that says nothing is given up, and the aim for a level.
    "several-devices.md": {"300 s", "120 us"},
    "truss.md": {"350 W"},  # of the seed's authors
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_figure_stands_in_a_record_that_is_named_beside_it(page):
    assert unbacked(page, SETTINGS.get(page.name, ())) == []


# What was counted while it was tried to break something: no timings, and whoever tries again may
# count other faults.
COUNTED = {
    "### Before the ledger: | What | Tried | Wrong results, hangs, crashes or foreign errors |",
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_table_of_figures_names_its_record(page):
    nameless = [
        f"{section.partition(chr(10))[0]}: {table.partition(chr(10))[0]}"
        for section in sections(page)
        for table in TABLE.findall(section)
        if is_measured(table) and not named(section)
    ]
    assert [line for line in nameless if line not in COUNTED] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_joules_are_of_two_seconds_and_have_a_spread(page):
    assert unresolved(page) == []


def test_other_joules_are_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# One\n\n0.447 J and 0.44 J (h200-20261122-tuning.json)\n")
    assert unresolved(page) == ["0.44 J"]
    fit = {"joules_per_run": 1.5, "spread": 0.1, "seconds": 2.0}
    assert list(resolved_joules([{"energy": fit}])) == [1.5]
    assert not list(resolved_joules([fit | {"seconds": 1.9}, fit | {"spread": None}]))


def test_written_pages_leave_out_joules_that_no_meter_resolves():
    """Of short windows and of none that has a spread: breadth-first searches, the two tables."""
    for wrong in ({"window_s": 1.9}, {"spread": None}):
        made = case("kron22", [0.5])
        made["energy"] |= wrong
        assert "J/run" not in docs.page([("a.json", record(made))])
    assert "J/run" in docs.page([("a.json", record(case("kron22", [0.5])))])
    assert text.shown_joules(1.0, 2.0, 0.1) == 1.0
    assert text.shown_joules(None, 2.0, 0.1) is None


def test_pages_of_this_checkout_have_no_joules_of_short_windows():
    """The records that there are have windows of half a second to one."""
    page = (ROOT / "docs" / "benchmarks.md").read_text("utf-8")
    shown = re.findall(r"[\d,]+ in ([\d.]+) s \|", page)
    assert all(float(seconds) >= text.LEAST_WINDOW_S for seconds in shown)
    results = ROOT / "bench" / "results"
    for module, kept in ((scc_page, "energy_seconds"), (searches_page, "energy_s")):
        for name, found in module.recorded(results):
            if found[kept] < text.LEAST_WINDOW_S:
                written = module.section([(name, found)])
                assert " J |" not in written
                assert "| joules |" not in written


def faults(name):
    """Say what is unknown of the commit that a record is of, or wrong with it."""
    found = (RESULTS / name).read_text("utf-8")
    if not name.endswith(".json"):
        head = "".join(line for line in found.splitlines() if line.startswith(("#", "commit ")))
        return "" if re.search(r"\b(?=[a-f]*\d)[0-9a-f]{7,40}\b", head) else "no commit"
    parsed = json.loads(found)
    machine = parsed.get("machine", {})
    commit = parsed.get("commit") or machine.get("commit")
    dirty = parsed.get("dirty") or machine.get("dirty")
    return "files differed" if dirty else "" if commit else "no commit"


def test_records_that_pages_name_know_their_commit():
    pages = [*PAGES, ROOT / "docs" / "benchmarks.md"]
    quoted = {name for page in pages for name in RECORD.findall(page.read_text("utf-8"))}
    quoted = {name for name in quoted if not name.startswith("docs")}
    older = re.search(r"Older records: (.*)", (ROOT / "docs" / "benchmarks.md").read_text("utf-8"))
    quoted -= set(RECORD.findall(older[1])) if older else set()
    assert {name: faults(name) for name in quoted if faults(name)} == {}


def test_records_know_their_commit_whether_a_page_names_them_or_not():
    """But for probes: what a figure may be taken from next can be measured again."""
    wrong = {path.name: faults(path.name) for path in RESULTS.glob("*.json")}
    assert len(wrong) > 50
    assert {name: fault for name, fault in wrong.items() if fault} == {}


def test_settings_are_still_on_their_pages():
    for name, figures in SETTINGS.items():
        text = (ROOT / "docs" / name).read_text("utf-8")
        assert all(figure in text for figure in figures), name


def test_a_figure_that_nobody_measured_is_found(tmp_path):
    """Also one that stands beside a record which has another one, and a table without a record."""
    record = "h200-20261122-balance-energy.json"
    page = tmp_path / "page.md"
    page.write_text(f"# One\n\n0.107 ms and 1.2345 ms ({record})\n\n# Two\n\n0.107 ms\n")
    assert unbacked(page) == ["# One: 1.2345 ms", "# Two: 0.107 ms"]
    assert is_measured("| | a | b |\n|---|---|---|\n| x | 1.5 | 2 ms |\n")
    assert not is_measured("| name | meaning |\n|---|---|\n| x | the first of 3 |\n")
