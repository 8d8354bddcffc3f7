"""Plots of the study of matching: time and energy of a call by the sizes of what it is given."""

from __future__ import annotations

import json
import statistics
from typing import TYPE_CHECKING

from clgraph.pages.pictures import Picture

from .overview import GREY
from .text import figure

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ..runner.records import Record

__all__ = ["SERIES", "plots", "recorded"]

RECORDS = "h200-*-matching.json"
# Series of the record, the field that changes along each, and what the axis is called.
SERIES = {
    "query size": ("size", "vertices of the query"),
    "target": ("n", "vertices of the target"),
    "labels": ("labels", "labels"),
    "k": ("k", "matches"),
}
LINES = {"whole call, ms": "#3b82c4", "on the device, ms": "#d2691e", "energy, J": "#2f8f5b"}
FAINT = "#7a828a59"
WIDTH, HEIGHT = 440, 300


def recorded(folder: Path) -> Record:
    """Read the newest record of the study on an H200."""
    newest = max(folder.glob(RECORDS))
    record: Record = json.loads(newest.read_text("utf-8"))
    return record


def plots(record: Record) -> dict[str, str]:
    """Draw a plot for each series.

    Parameters
    ----------
    record : dict
        As `bench.studies.matching` writes it.

    Returns
    -------
    dict
        Name of the series to an SVG file.
    """
    return {name: _plot(name, record["cases"]) for name in SERIES}


def _plot(name: str, cases: Sequence[Record]) -> str:
    field, axis = SERIES[name]
    found = sorted((case for case in cases if case["what"] == name), key=lambda case: case[field])
    lines = {line: [_value(line, case) for case in found] for line in LINES}
    picture = Picture(f"Matching by {axis}", WIDTH, HEIGHT, ink=GREY, faint=FAINT)
    across = [float(case[field]) for case in found]
    picture.scale("x", across, axis)
    picture.scale("y", [value for values in lines.values() for value in values], "ms, J")
    networks = {case["network"] for case in found}
    for line, values in lines.items():
        if len(networks) == 1:
            picture.line(across, values, LINES[line])
        for case, x, value in zip(found, across, values, strict=True):
            hint = f"{case['network']}, {case[field]:,} {axis}: {line} {figure(value)}"
            last = case is found[-1]
            words = line if last else case["network"] if len(networks) > 2 else ""
            picture.dot(x, value, LINES[line], hint, words)
    return picture.svg(file=True)


def _value(line: str, case: Record) -> float:
    if line == "energy, J":
        return float(case["joules"]["per_run"])
    return float(
        case["median_ms"] if line == "whole call, ms" else statistics.median(case["kernel_ms"])
    )
