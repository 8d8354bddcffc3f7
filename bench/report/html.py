"""A run as one page that needs nothing else: tables, and plots as inline SVG."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from . import text
from .svg import Axis, Plot, Range, ranges

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..runner.records import Record

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
figure { margin: 1.2rem 0 0; max-width: 600px; } figcaption { font-weight: 600; }
svg { max-width: 100%; height: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .6rem; text-align: right; border-bottom: 1px solid var(--faint);
  white-space: nowrap; }
th:first-child, td:first-child, .two th:nth-child(2), .two td:nth-child(2) { text-align: left; }
svg text { font: 11px system-ui, sans-serif; fill: var(--ink); }
svg .middle { text-anchor: middle; } svg .end { text-anchor: end; }
.axis, .grid { fill: none; stroke: var(--faint); } .axis { stroke: var(--more); }
.whisker { fill: none; stroke-width: 5; stroke-linecap: round; opacity: .35; }
polyline { fill: none; stroke-width: 1.5; } .size { stroke: var(--more); }
.time { stroke: var(--push); } .roof { stroke: var(--pull); }
.c0 { --c: #2266aa; } .c1 { --c: #c2571a; } .c2 { --c: #2f8f5b; } .c3 { --c: #a03a8c; }
.c4 { --c: #8a7a10; } .c5 { --c: #c0394b; } .c6 { --c: #2a8a9c; } .c7 { --c: #6a59c8; }
@media (prefers-color-scheme: dark) { .c0 { --c: #6cb0f0; } .c1 { --c: #f0985a; }
  .c2 { --c: #6fce98; } .c3 { --c: #de8ad0; } .c4 { --c: #d4c24e; } .c5 { --c: #f0808e; }
  .c6 { --c: #6cc8da; } .c7 { --c: #aa9df5; } }
svg [class^="c"] { fill: var(--c); } .key [class^="c"] { background: var(--c); }
svg .whisker { stroke: var(--c); }
.push { fill: var(--push); } .pull { fill: var(--pull); } .stop { fill: var(--more); }
.key { flex-basis: 100%; margin: .6rem 0 0; } .key span { margin-right: 1.2rem; }
.key i { display: inline-block; width: .8em; height: .8em;
  margin-right: .4em; border-radius: 50%; }
"""


# Classes of points by what a level did; the stages of shortest paths are levels too.
MODES = {"push": "push", "near": "push", "pull": "pull", "far": "pull"}


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
        ("commit", text.commit(machine)),
        ("when", f"{record['started']} to {record['finished'] or 'an interruption'}"),
    ]
    parts = [
        "<section><h2>" + escape(f"{device['name']}, suite {record['suite']}") + "</h2>",
        '<div class="facts">' + _table(("what", "value"), facts) + "</div>",
    ]
    for algorithm, cases in text.groups(record["cases"]).items():
        parts.append(f"<h2>Results: {escape(algorithm)}</h2>")
        shown = [case for case in cases if not case.get("stand_in")]
        if shown:
            parts.append(_table(*text.results(shown, device["name"]), style="two"))
    rivals = text.rivals(record["cases"])
    if rivals:
        parts.append(
            "<h2>Other libraries in the same run</h2>" + _table(text.PEER_HEAD, rivals, style="two")
        )
    reasons = [f"<li>{escape(line)}</li>" for line in text.unmeasured(record["cases"])]
    if reasons:
        parts.append(f"<ul>{''.join(reasons)}</ul>")
    for algorithm, cases in text.groups(measured).items():
        parts.append(f"<h2>Plots: {escape(algorithm)}</h2>")
        parts.append(f'<div class="plots">{_overview(cases, device["name"])}</div>')
    numbered = [case for case in measured if case.get("histogram")]
    if numbered:
        parts.append("<h2>Histograms</h2>")
        parts.append(f'<div class="plots">{"".join(map(_histogram, numbered))}</div>')
    profiled = [case for case in measured if case["per_level"]]
    if profiled:
        parts.append("<h2>Level by level, from the source of median time</h2>")
        parts.append(
            '<p class="key"><span><i style="background:var(--push)"></i>push, near</span>'
            '<span><i style="background:var(--pull)"></i>pull, far</span>'
            "<span>grey line: frontier; blue line: microseconds</span></p>"
        )
        parts.append(f'<div class="plots">{"".join(map(_profile, profiled))}</div>')
    return "".join(parts) + "</section>"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], *, style: str = "one") -> str:
    """`style` "two" for tables whose first two columns are words."""
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    lines = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f'<div class="wide"><table class="{style}"><tr>{top}</tr>{lines}</table></div>'


def _figure(caption: str, picture: str) -> str:
    return f"<figure><figcaption>{escape(caption)}</figcaption>{picture}</figure>"


def _overview(cases: Sequence[Record], device: str) -> str:
    styles = _styles(cases)
    legend = "".join(
        f'<span><i class="{style}"></i>{escape(preset)}</span>' for preset, style in styles.items()
    )
    return (
        (f'<p class="key">{legend}</p>' if len(styles) > 1 else "")
        + _throughput(cases, styles)
        + _roofline(cases, styles)
        + _joules(cases, device, styles)
    )


def _styles(cases: Sequence[Record]) -> dict[str, str]:
    """Colours of presets; beyond eight they repeat, and the words beside points tell them apart."""
    presets = dict.fromkeys(str(case["preset"]) for case in cases)
    return {preset: f"c{place % 8}" for place, preset in enumerate(presets)}


def _name(case: Record, styles: dict[str, str]) -> str:
    name = str(case["graph"]["name"])
    return f"{name} {case['preset']}" if len(styles) > 1 else name


def _throughput(cases: Sequence[Record], styles: dict[str, str]) -> str:
    """Rows of one graph stand together, fastest preset first."""
    rows: list[Range] = []
    for case in cases:
        teps, mean = case["summary"]["teps"], case["summary"]["teps_harmonic_mean"]
        if mean is None:
            continue
        low, high = (rate / 1e9 for rate in teps["quartiles"])
        gteps, style = mean / 1e9, styles[case["preset"]]
        rows.append(Range(_name(case, styles), gteps, (low, high), text.figure(gteps), style))
    graphs = list(dict.fromkeys(case["graph"]["name"] for case in cases))
    rows.sort(key=lambda row: (graphs.index(row.name.split(" ")[0]), -row.value))
    values = [value for row in rows for value in (row.value, *row.span)]
    by = " by preset" if len(styles) > 1 else ""
    caption = f"Throughput{by}: harmonic mean, bars between quartiles"
    return _figure(caption, ranges(caption, rows, Axis.around(values, "GTEPS")))


def _roofline(cases: Sequence[Record], styles: dict[str, str]) -> str:
    """Edges per second against edges per byte that must move; the roof is the copy bandwidth."""
    points = []
    for case in cases:
        floor = case.get("floor")
        edges = case["summary"]["edges"]["median"]
        if floor and floor["bytes"] and edges:
            gteps = edges / case["summary"]["kernel_ms"]["median"] / 1e6
            points.append((case, edges / floor["bytes"], gteps))
    if not points:
        return ""
    bandwidth = points[0][0]["floor"]["bandwidth_gb_per_s"]
    x = Axis.around([across for _, across, _ in points], "edges per byte that must move")
    reach = [bandwidth * x.low, bandwidth * x.high]
    y = Axis.around([*(up for _, _, up in points), *reach], "GTEPS")
    caption = f"Roofline: the line is a copy at {bandwidth:,.0f} GB/s"
    plot = Plot(caption, x, y)
    plot.line([(x.low, reach[0]), (x.high, reach[1])], "roof")
    for case, across, up in points:
        name, share = _name(case, styles), 100 * up / (across * bandwidth)
        hint = f"{name}: {up:.3g} GTEPS, {share:.2g} % of the roof"
        plot.point(across, up, styles[case["preset"]], hint, name)
    return _figure(caption, plot.svg())


def _joules(cases: Sequence[Record], device: str, styles: dict[str, str]) -> str:
    shown = [(case, text.headline(case, device)) for case in cases]
    points = [(case, told["median_ms"], told["joules"]) for case, told in shown if told["joules"]]
    if not points:
        return ""
    caption = "Time against energy of a run"
    plot = Plot(
        caption,
        Axis.around([ms for _, ms, _ in points], "milliseconds"),
        Axis.around([joules for _, _, joules in points], "joules"),
    )
    for case, ms, joules in points:
        name = _name(case, styles)
        hint = f"{name}: {ms:.3g} ms, {joules:.3g} J"
        plot.point(ms, joules, styles[case["preset"]], hint, name)
    return _figure(caption, plot.svg())


def _histogram(case: Record) -> str:
    """How many items have each number."""
    found = case["histogram"]
    pairs = list(zip(map(float, found["values"]), map(float, found["counts"]), strict=True))
    caption = f"{case['graph']['name']} {case['preset']}: {found['what']}"
    plot = Plot(
        caption,
        Axis.around([value for value, _ in pairs] + [1.0], "number", log=False),
        Axis.around([count for _, count in pairs], found["what"]),
        width=420,
        height=260,
    )
    for value, count in pairs:
        plot.line([(value, plot.y.low), (value, count)], "size")
        if len(pairs) <= 64:
            plot.point(value, count, "push", f"{value:g}: {count:,.0f}")
    return _figure(caption, plot.svg())


def _profile(case: Record) -> str:
    """Frontier and time of each level of one search."""
    levels = case["per_level"]
    step = levels["levels_per_row"]
    distances = [float(step * row) for row in range(len(levels["frontier"]))]
    frontier = [float(size) for size in levels["frontier"]]
    times = [math.nan if us is None else float(us) for us in levels["microseconds"]]
    name = f"{case['algorithm']} {case['graph']['name']} {case['preset']}"
    each = "" if step == 1 else f", {step} levels a point"
    caption = f"{name}: {text.figure(levels['kernel_ms'])} ms{each}"
    plot = Plot(
        caption,
        Axis.around([*distances, 1.0], "level", log=False),
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
            hint = f"level {distance:g}: {size:,.0f} vertices, {direction}{took}"
            plot.point(distance, size, MODES.get(direction, "stop"), hint)
    return _figure(caption, plot.svg())
