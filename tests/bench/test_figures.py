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
RECORD = re.compile(r"(?:probes/)?(?:h200|pocl|cpu)[\w.-]*\.(?:json|txt)")
RESULTS = ROOT / "bench" / "results"
NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?")
CODE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)


def sections(page):
    """Give the parts of a page that begin with a heading, without examples."""
    return re.split(r"^(?=#+ )", CODE.sub("", page.read_text("utf-8")), flags=re.MULTILINE)


def named(section):
    """Give the records that a section names, by their place in the folder of results."""
    return sorted(set(RECORD.findall(section)))


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
    text = (RESULTS / name).read_text("utf-8")
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


if __name__ == "__main__":
    for page in PAGES:
        for line in unbacked(page):
            print(page.name, line)
