"""A run as one page that needs nothing else: tables, and plots as inline SVG."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from . import text
from .svg import Axis, Plot, ranges

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .records import Record

__all__ = ["page"]

STYLE = """
:root { --ink: #1c2126; --faint: #d9dee3; --paper: #ffffff; --push: #2266aa; --pull: #c2571a;
  --more: #6b7480; color-scheme: light dark; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e7eb; --faint: #343b42; --paper: #15191d;
  --push: #6cb0f0; --pull: #f0985a; --more: #98a2ac; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 1340px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
.wide { overflow-x: auto; } .plots { display: flex; flex-wrap: wrap; gap: 1rem; }
.facts th { text-align: left; } .facts td { text-align: left; white-space: normal; }
figure { margin: 1.2rem 0 0; } figcaption { font-weight: 600; }
svg { max-width: 100%; height: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .6rem; text-align: right; border-bottom: 1px solid var(--faint);
  white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
svg text { font: 11px system-ui, sans-serif; fill: var(--ink); }
svg .middle { text-anchor: middle; } svg .end { text-anchor: end; }
.axis, .grid { fill: none; stroke: var(--faint); } .axis { stroke: var(--more); }
.whisker { stroke: var(--push); stroke-width: 5; stroke-linecap: round; opacity: .35; }
polyline { fill: none; stroke-width: 1.5; } .size { stroke: var(--more); }
.time { stroke: var(--push); } .roof { stroke: var(--pull); }
.push, .ok { fill: var(--push); } .pull { fill: var(--pull); } .stop { fill: var(--more); }
.key span { margin-right: 1.2rem; } .key i { display: inline-block; width: .8em; height: .8em;
  margin-right: .4em; border-radius: 50%; }
"""


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
    """
    body = "".join(_run(record) for record in records)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>clgraph benchmark</title><style>{STYLE}</style></head>"
        f"<body><h1>clgraph benchmark</h1>{body}</body></html>\n"
    )


def _run(record: Record) -> str:
    machine = record["machine"]
    device = machine["device"]
    measured = [case for case in record["cases"] if case["status"] == "ok"]
    facts = [
        ("device", f"{device['name']}, {device['platform']}, driver {device['driver']}"),
        ("host", f"{machine['host']['processor']}, {machine['host']['cpus']} processors"),
        ("commit", f"{machine['commit']}{', with changes' if machine['dirty'] else ''}"),
        ("when", f"{record['started']} to {record['finished'] or 'an interruption'}"),
        ("preset", str(record["settings"]["config"])),
    ]
    parts = [
        "<section><h2>" + escape(f"{device['name']}, suite {record['suite']}") + "</h2>",
        '<div class="facts">' + _table(("what", "value"), facts) + "</div>",
        "<h2>Results</h2>",
        _table(text.HEAD, [text.line(case, device["name"]) for case in record["cases"]]),
    ]
    reasons = [
        f"<li>{escape(case['key'])} {escape(case['status'])}: {escape(str(case['reason']))}</li>"
        for case in record["cases"]
        if case["status"] != "ok"
    ]
    if reasons:
        parts.append(f"<ul>{''.join(reasons)}</ul>")
    if measured:
        parts.append(f'<div class="plots">{_overview(measured, device["name"])}</div>')
        parts.append("<h2>Level by level, from the source of median time</h2>")
        parts.append(
            '<p class="key"><span><i style="background:var(--push)"></i>push</span>'
            '<span><i style="background:var(--pull)"></i>pull</span>'
            "<span>grey line: frontier; blue line: microseconds</span></p>"
        )
        parts.append(f'<div class="plots">{"".join(map(_profile, measured))}</div>')
    return "".join(parts) + "</section>"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    lines = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f'<div class="wide"><table><tr>{top}</tr>{lines}</table></div>'


def _figure(caption: str, picture: str) -> str:
    return f"<figure><figcaption>{escape(caption)}</figcaption>{picture}</figure>"


def _overview(cases: Sequence[Record], device: str) -> str:
    return _throughput(cases) + _roofline(cases) + _joules(cases, device)


def _throughput(cases: Sequence[Record]) -> str:
    rows = []
    for case in cases:
        teps, mean = case["summary"]["teps"], case["summary"]["teps_harmonic_mean"]
        if mean is None:
            continue
        low, high = (rate / 1e9 for rate in teps["quartiles"])
        gteps = mean / 1e9
        rows.append((case["graph"]["name"], gteps, (low, high), text.figure(gteps)))
    values = [value for _, mean, (low, high), _ in rows for value in (mean, low, high)]
    caption = "Throughput: harmonic mean, bars from the lower to the upper quartile"
    return _figure(caption, ranges(caption, rows, Axis.around(values, "GTEPS")))


def _roofline(cases: Sequence[Record]) -> str:
    """Edges per second against edges per byte that must move; the roof is the copy bandwidth."""
    points = []
    for case in cases:
        floor = case.get("floor")
        edges = case["summary"]["edges"]["median"]
        if floor and edges:
            gteps = edges / case["summary"]["kernel_ms"]["median"] / 1e6
            points.append((case["graph"]["name"], edges / floor["bytes"], gteps))
    if not points:
        return ""
    bandwidth = next(case["floor"]["bandwidth_gb_per_s"] for case in cases if case.get("floor"))
    x = Axis.around([across for _, across, _ in points], "edges per byte that must move")
    reach = [bandwidth * x.low, bandwidth * x.high]
    y = Axis.around([*(up for _, _, up in points), *reach], "GTEPS")
    caption = f"Roofline: the line is a copy at {bandwidth:,.0f} GB/s"
    plot = Plot(caption, x, y)
    plot.line([(x.low, reach[0]), (x.high, reach[1])], "roof")
    for name, across, up in points:
        share = 100 * up / (across * bandwidth)
        plot.point(across, up, "ok", f"{name}: {up:.3g} GTEPS, {share:.2g} % of the roof", name)
    return _figure(caption, plot.svg())


def _joules(cases: Sequence[Record], device: str) -> str:
    points = []
    for case in cases:
        shown = text.headline(case, device)
        if shown["joules"]:
            points.append((case["graph"]["name"], shown["median_ms"], shown["joules"]))
    if not points:
        return ""
    caption = "Time against energy of a search"
    plot = Plot(
        caption,
        Axis.around([ms for _, ms, _ in points], "milliseconds"),
        Axis.around([joules for _, _, joules in points], "joules"),
    )
    for name, ms, joules in points:
        plot.point(ms, joules, "ok", f"{name}: {ms:.3g} ms, {joules:.3g} J", name)
    return _figure(caption, plot.svg())


def _profile(case: Record) -> str:
    """Frontier and time of each level of one search."""
    levels = case["per_level"]
    step = levels["levels_per_row"]
    distances = [float(step * row) for row in range(len(levels["frontier"]))]
    frontier = [float(size) for size in levels["frontier"]]
    times = [math.nan if us is None else float(us) for us in levels["microseconds"]]
    name = case["graph"]["name"]
    each = "" if step == 1 else f", {step} levels a point"
    caption = f"{name}: {text.figure(levels['kernel_ms'])} ms{each}"
    plot = Plot(
        caption,
        Axis.around([*distances, 1.0], "distance from the source", log=False),
        Axis.around([*frontier, *times], "vertices; microseconds"),
        width=420,
        height=260,
    )
    plot.line(list(zip(distances, frontier, strict=True)), "size")
    plot.line([(x, y) for x, y in zip(distances, times, strict=True)], "time")
    rows = zip(distances, frontier, levels["direction"], times, strict=True)
    for distance, size, direction, us in rows:
        if len(distances) <= 64:
            took = "" if math.isnan(us) else f", {us:.3g} us"
            hint = f"distance {distance:g}: {size:,.0f} vertices, {direction}{took}"
            plot.point(distance, size, direction if direction in {"push", "pull"} else "stop", hint)
    return _figure(caption, plot.svg())
