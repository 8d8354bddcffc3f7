"""A record of microbenchmarks as text, and as a page with curves that needs nothing else."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Any, TypeAlias

from clgraph.cli.text import table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["page", "static_table", "text"]

Record: TypeAlias = dict[str, Any]

HEAD = (
    "microbenchmark",
    "ops/clk/unit",
    "stated",
    "Gops/s",
    "GB/s",
    "W",
    "max W",
    "nJ/op",
    "purity",
    "",
)
WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 420, 240, 62, 36, 26, 14
# What the curves of a sweep show: quantity, what stands beside it, and by what it is multiplied.
CURVES = (
    ("rate", "10^9 operations per second", 1e-9),
    ("mean_watts", "mean power, W", 1.0),
    ("nj_per_operation", "nJ per operation", 1.0),
)
STYLE = """
:root { --ink: #1c2126; --faint: #d9dee3; --paper: #fff; --line: #2266aa;
  color-scheme: light dark; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e7eb; --faint: #343b42; --paper: #15191d;
  --line: #6cb0f0; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 1340px; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .6rem; text-align: right; border-bottom: 1px solid var(--faint); }
th:first-child, td:first-child { text-align: left; } .wide { overflow-x: auto; }
.plots { display: flex; flex-wrap: wrap; gap: 1rem; } svg { max-width: 100%; height: auto; }
svg text { font: 11px system-ui, sans-serif; fill: var(--ink); }
svg path { fill: none; stroke: var(--faint); }
svg polyline { fill: none; stroke: var(--line); stroke-width: 1.5; }
svg circle { fill: var(--line); }
"""


def _figure(value: float | None, digits: int = 4) -> str:
    return "" if value is None else f"{value:.{digits}g}"


def _rows(record: Record, kinds: Iterable[str]) -> list[tuple[str, ...]]:
    wanted = set(kinds)
    rows: list[tuple[str, ...]] = []
    for told in record["results"]:
        if told["kind"] not in wanted:
            continue
        doubts = [*told["invalid"], *told["flags"]]
        moved = told["bytes_per_s"]
        rows.append(
            (
                told["name"],
                _figure(told["throughput"]),
                _figure(told["throughput_spec"]),
                _figure(told["rate"] / 1e9),
                _figure(None if moved is None else moved / 1e9),
                _figure(told["mean_watts"]),
                _figure(told["peak_watts"]),
                _figure(told["nj_per_operation"]),
                "" if told["ptx_purity"] is None else f"{told['ptx_purity']:.2%}",
                ("invalid: " if told["invalid"] else "") + "; ".join(doubts),
            )
        )
    return rows


def static_table(record: Record) -> str:
    """Give static characteristics and costs as a table for a terminal."""
    return table(HEAD, _rows(record, ("static", "cost")))


def text(record: Record) -> str:
    """Give everything for a terminal."""
    idle = record["idle_watts"]
    lines = [
        f"{record['device']} ({record['platform']}, driver {record['driver']}), "
        f"{record['compute_units']} compute units",
        "no power meter: times only" if idle is None else f"{idle:.1f} W at rest",
        "",
        table(HEAD, _rows(record, ("static", "cost", "dynamic"))),
    ]
    lines += [f"left out: {out['name']}: {out['reason']}" for out in record["skipped"]]
    return "\n".join(lines)


def page(record: Record) -> str:
    """Render a record.

    Parameters
    ----------
    record : dict
        As `run` gives it.

    Returns
    -------
    str
        An HTML document without scripts or references to other files: a table of the static
        characteristics, and a curve for every quantity of every sweep.
    """
    title = f"Microbenchmarks of {escape(record['device'])}"
    idle = record["idle_watts"]
    power = (
        "There is no power meter, so there are times only."
        if idle is None
        else (f"At rest the device takes {idle:.1f} W.")
    )
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
        for row in _rows(record, ("static", "cost"))
    )
    head = "".join(f"<th>{escape(name)}</th>" for name in HEAD)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{STYLE}</style></head><body><h1>{title}</h1>"
        f"<p>{escape(record['platform'])}, driver {escape(record['driver'])}, "
        f"{escape(record['when'])}. {power}</p>"
        f'<div class="wide"><table><tr>{head}</tr>{rows}</table></div>'
        f"{_sweeps(record)}</body></html>\n"
    )


def _sweeps(record: Record) -> str:
    families: dict[str, list[Record]] = {}
    for told in record["results"]:
        if told["kind"] == "dynamic" and told["occasion"] == 0:
            families.setdefault(told["family"], []).append(told)
    parts = []
    for family, points in families.items():
        points.sort(key=lambda told: told["value"])
        plots = []
        for quantity, name, scale in CURVES:
            known = [(p["value"], p[quantity] * scale) for p in points if p[quantity] is not None]
            if known:
                plots.append(_plot(known, name))
        unit = escape(points[0]["unit"])
        parts.append(
            f"<h2>{escape(family)}</h2><p>One operation is one {unit}.</p>"
            f'<div class="plots">{"".join(plots)}</div>'
        )
    return "".join(parts)


def _plot(points: Sequence[tuple[float, float]], name: str) -> str:
    """Draw a curve; across, equal steps are equal factors where the values span more than ten."""
    across = [x for x, _ in points]
    log = min(across) > 0 and max(across) / min(across) > 10
    top = max(y for _, y in points) * 1.08 or 1.0
    low, high = (
        (math.log(min(across)), math.log(max(across))) if log else (min(across), max(across))
    )

    def at(x: float, y: float) -> tuple[float, float]:
        share = ((math.log(x) if log else x) - low) / (high - low) if high > low else 0.5
        return (
            round(LEFT + share * (WIDTH - LEFT - RIGHT), 1),
            round(HEIGHT - BOTTOM - y / top * (HEIGHT - BOTTOM - TOP), 1),
        )

    marks = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        _, up = at(across[0], top * share)
        marks.append(
            f'<path d="M{LEFT},{up}H{WIDTH - RIGHT}"/>'
            f'<text x="{LEFT - 6}" y="{up + 4}" text-anchor="end">{top * share:.3g}</text>'
        )
    dots = []
    for place, (x, y) in enumerate(points):
        left, up = at(x, y)
        dots.append(f'<circle cx="{left}" cy="{up}" r="3"><title>{x:g}: {y:.4g}</title></circle>')
        if len(points) <= 9 or place % 4 == 0:
            dots.append(
                f'<text x="{left}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{x:g}</text>'
            )
    line = " ".join("{},{}".format(*at(x, y)) for x, y in points)
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" role="img">'
        f"<title>{escape(name)}</title>"
        f'<text x="4" y="14">{escape(name)}</text>{"".join(marks)}<polyline points="{line}"/>'
        f"{''.join(dots)}</svg>"
    )
