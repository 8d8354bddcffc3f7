"""Every figure with a unit that a page shows stands in a record that the page names beside it.

Of benchmarks.md and of the picture other tests know that they are written from the records. On the
other pages a section names its records, and each of its figures in seconds, joules or watts must be
a number of one of them, as rounded as it is shown. Ratios are of such figures and are not looked
up. What is no measurement, a setting or somebody else's figure, is listed here.
"""

import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    if page.name != "benchmarks.md"
]
# A figure times one of these is what records have, in s, ms, us or ns; in J or mJ; or per second.
TIMES, JOULES, RATES = (1.0, 1e3, 1e6, 1e9), (1.0, 1e3), (1.0, 1e-3, 1e-6, 1e-9)
UNITS = {
    **{"s": TIMES, "seconds": TIMES, "J": JOULES, "joules": JOULES, "W": (1.0,), "watts": (1.0,)},
    **{"ms": [f / 1e3 for f in TIMES], "us": [f / 1e6 for f in TIMES]},
    **{"ns": [f / 1e9 for f in TIMES], "mJ": [f / 1e3 for f in JOULES]},
    **{"GB/s": [1e9 * f for f in RATES], "GTEPS": [1e9 * f for f in RATES]},
    "MTEPS": [1e6 * f for f in RATES],
}
FIGURE = re.compile(
    rf"(?<![\w.,/-])(?P<number>\d[\d,]*(?:\.\d+)?) ?(?P<unit>{'|'.join(UNITS)})(?![\w/-])"
)
RECORD = re.compile(r"(?:probes/)?(?:h200|pocl|cpu)[\w.-]*\.(?:json|txt)|docs/benchmarks\.md")
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
        for record in records:
            values = recorded(record)
            first = np.searchsorted(values, (shown - half) * scale)
            if first < values.size and values[first] <= (shown + half) * scale:
                return True
    return False


def unbacked(page, known=()):
    """Name the figures of a page that its sections' records do not have."""
    missing = []
    for section in sections(page):
        records = named(section)
        for found in FIGURE.finditer(section):
            if found[0] not in known and not is_backed(found["number"], found["unit"], records):
                missing.append(f"{section.partition(chr(10))[0]}: {found[0]}")
    return missing


# Settings, and what others took for granted: nothing that was measured.
SETTINGS = {
    "energy.md": {"0.1 s", "50 ms"},  # between two looks at a meter
    "microbenchmarks.md": {"2 s"},  # the shortest window
    "profiling.md": {"0.35 s"},  # of a pass
    "several-devices.md": {"300 s"},  # until a rank that says nothing is given up
    "truss.md": {"350 W"},  # of the seed's authors
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_figure_stands_in_a_record_that_is_named_beside_it(page):
    assert unbacked(page, SETTINGS.get(page.name, ())) == []


# What was counted while it was tried to break something: no timings, and whoever tries again may
# count other faults.
COUNTED = {
    "## What was counted: | What | Tried | Wrong results, hangs, crashes or foreign errors |",
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
