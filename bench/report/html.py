"""A run as one page that needs nothing else: tables, and plots inside."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from clgraph.pages.pictures import Picture
from clgraph.pages.rendering import render

from . import text
from .ranges import Range, ranges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..runner.records import Record

__all__ = ["page"]

TEMPLATE = Path(__file__).with_name("page.mako")
# Colours of dots by what a level did; the stages of shortest paths are levels too.
MODES = {"push": "c0", "near": "c0", "pull": "c1", "far": "c1"}
SMALL = (420, 260)
MOST_DOTS = 64

Figure: TypeAlias = tuple[str, str]  # a caption and a picture


def page(records: Sequence[Record]) -> str:
    """Render runs.

    Parameters
    ----------
    records : sequence of dict
        As `runner.run` gives them.

    Returns
    -------
    str
        An HTML document without scripts or references to other files.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    return render(TEMPLATE, {"title": "clgraph benchmark", "runs": [_run(run) for run in records]})


def _run(record: Record) -> dict[str, Any]:
    """Give what the template shows of a run."""
    machine = record["machine"]
    device = machine["device"]
    measured = [case for case in record["cases"] if case["status"] == "ok"]
    results = {}
    for algorithm, cases in text.groups(record["cases"]).items():
        shown = [case for case in cases if not case.get("stand_in")]
        results[algorithm] = text.results(shown, device["name"]) if shown else None
    plots = {}
    for algorithm, cases in text.groups(measured).items():
        colours = _colours(cases)
        figures = (
            _throughput(cases, colours),
            _roofline(cases, colours),
            _joules(cases, device["name"], colours),
        )
        plots[algorithm] = (colours, [figure for figure in figures if figure is not None])
    return {
        "heading": f"{device['name']}, suite {record['suite']}",
        "facts": [
            ("device", f"{device['name']}, {device['platform']}, driver {device['driver']}"),
            ("host", f"{machine['host']['processor']}, {machine['host']['cpus']} processors"),
            ("commit", text.commit(machine)),
            ("when", f"{record['started']} to {record['finished'] or 'an interruption'}"),
        ],
        "results": results,
        "peer_head": text.PEER_HEAD,
        "peers": text.rivals(record["cases"]),
        "missing": text.unmeasured(record["cases"]),
        "plots": plots,
        "histograms": [_histogram(case) for case in measured if case.get("histogram")],
        "levels": [_profile(case) for case in measured if case["per_level"]],
    }


def _colours(cases: Sequence[Record]) -> dict[str, str]:
    """Colours of presets; beyond eight they repeat, and the words beside points keep them apart."""
    presets = dict.fromkeys(str(case["preset"]) for case in cases)
    return {preset: f"c{place % 8}" for place, preset in enumerate(presets)}


def _name(case: Record, colours: dict[str, str]) -> str:
    name = str(case["graph"]["name"])
    return f"{name} {case['preset']}" if len(colours) > 1 else name


def _throughput(cases: Sequence[Record], colours: dict[str, str]) -> Figure:
    """Rows of one graph stand together, fastest preset first."""
    rows: list[Range] = []
    for case in cases:
        teps, mean = case["summary"]["teps"], case["summary"]["teps_harmonic_mean"]
        if mean is None:
            continue
        low, high = (rate / 1e9 for rate in teps["quartiles"])
        gteps, colour = mean / 1e9, colours[case["preset"]]
        rows.append(Range(_name(case, colours), gteps, (low, high), text.figure(gteps), colour))
    graphs = list(dict.fromkeys(case["graph"]["name"] for case in cases))
    rows.sort(key=lambda row: (graphs.index(row.name.split(" ")[0]), -row.value))
    by = " by preset" if len(colours) > 1 else ""
    caption = f"Throughput{by}: harmonic mean, bars between quartiles"
    return caption, ranges(Picture(caption, height=60 + 22 * len(rows)), rows, "GTEPS").svg()


def _roofline(cases: Sequence[Record], colours: dict[str, str]) -> Figure | None:
    """Edges per second against edges per byte that must move; the roof is the copy bandwidth."""
    points = []
    for case in cases:
        floor = case.get("floor")
        edges = case["summary"]["edges"]["median"]
        if floor and floor["bytes"] and edges:
            gteps = edges / case["summary"]["kernel_ms"]["median"] / 1e6
            points.append((case, edges / floor["bytes"], gteps))
    if not points:
        return None
    bandwidth = points[0][0]["floor"]["bandwidth_gb_per_s"]
    caption = f"Roofline: the line is a copy at {bandwidth:,.0f} GB/s"
    picture = Picture(caption)
    ends = picture.scale("x", [x for _, x, _ in points], "edges per byte that must move")
    reach = [bandwidth * end for end in ends]
    picture.scale("y", [*(up for _, _, up in points), *reach], "GTEPS")
    picture.line(ends, reach, "c1")
    for case, across, up in points:
        name, share = _name(case, colours), 100 * up / (across * bandwidth)
        hint = f"{name}: {up:.3g} GTEPS, {share:.2g} % of the roof"
        picture.dot(across, up, colours[case["preset"]], hint, name)
    return caption, picture.svg()


def _joules(cases: Sequence[Record], device: str, colours: dict[str, str]) -> Figure | None:
    shown = [(case, text.headline(case, device)) for case in cases]
    points = [(case, line["median_ms"], line["joules"]) for case, line in shown if line["joules"]]
    if not points:
        return None
    caption = "Time against energy of a run"
    picture = Picture(caption)
    picture.scale("x", [ms for _, ms, _ in points], "milliseconds")
    picture.scale("y", [joules for _, _, joules in points], "joules")
    for case, ms, joules in points:
        name = _name(case, colours)
        hint = f"{name}: {ms:.3g} ms, {joules:.3g} J"
        picture.dot(ms, joules, colours[case["preset"]], hint, name)
    return caption, picture.svg()


def _histogram(case: Record) -> Figure:
    """How many items have each number."""
    found = case["histogram"]
    pairs = list(zip(map(float, found["values"]), map(float, found["counts"]), strict=True))
    caption = f"{case['graph']['name']} {case['preset']}: {found['what']}"
    picture = Picture(caption, *SMALL)
    picture.scale("x", [value for value, _ in pairs] + [1.0], "number", log=False)
    low, _ = picture.scale("y", [count for _, count in pairs], found["what"])
    for value, count in pairs:
        picture.line((value, value), (low, count), "more")
        if len(pairs) <= MOST_DOTS:
            picture.dot(value, count, "c0", f"{value:g}: {count:,.0f}")
    return caption, picture.svg()


def _profile(case: Record) -> Figure:
    """Frontier and time of each level of one search."""
    levels = case["per_level"]
    step = levels["levels_per_row"]
    distances = [float(step * row) for row in range(len(levels["frontier"]))]
    frontier = [float(size) for size in levels["frontier"]]
    times = [math.nan if us is None else float(us) for us in levels["microseconds"]]
    name = f"{case['algorithm']} {case['graph']['name']} {case['preset']}"
    each = "" if step == 1 else f", {step} levels a point"
    caption = f"{name}: {text.figure(levels['kernel_ms'])} ms{each}"
    picture = Picture(caption, *SMALL)
    picture.scale("x", [*distances, 1.0], "level", log=False)
    picture.scale("y", [*frontier, *times], "vertices; microseconds")
    picture.line(distances, frontier, "more")
    picture.line(distances, times, "c0")
    rows = zip(distances, frontier, levels["direction"], times, strict=True)
    for distance, size, direction, us in rows if len(distances) <= MOST_DOTS else ():
        took = "" if math.isnan(us) else f", {us:.3g} us"
        hint = f"level {distance:g}: {size:,.0f} vertices, {direction}{took}"
        picture.dot(distance, size, MODES.get(direction, "more"), hint)
    return caption, picture.svg()
