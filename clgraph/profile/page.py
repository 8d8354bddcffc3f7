"""A profile as a table, and as a page with bars and a roofline that needs nothing else."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Any

from clgraph.cli.text import table as aligned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clgraph.profile.criteria import Criterion
    from clgraph.profile.report import KernelReport, QualityReport

__all__ = ["page", "table"]

MISSING = "-"


def figure(value: float | None, form: str = ".3f") -> str:
    """Give a number, or a dash for what is not known."""
    return MISSING if value is None else format(value, form)


def table(report: QualityReport) -> str:
    """Show a report in lines for a terminal."""
    prediction = report.prediction
    lines = [
        f"{report.device}: {report.time_s * 1e3:.4g} ms in {len(report.kernels)} kernel(s), "
        f"quality {figure(report.quality)} ({report.weights.origin} weights)",
        "",
    ]
    rows = [
        (
            row["name"],
            figure(row["value"]),
            f"{row['weight']:.0f}",
            figure(row["gap"], ".1f"),
            figure(row["potential_speedup"], ".2f"),
            row["reason"] if row["value"] is None else row["hint"],
        )
        for row in report.rows()
    ]
    lines += _aligned(
        ("criterion", "value", "weight", "gap", "potential", "hint, or why not"), rows
    )
    if prediction.time_s is not None:
        lines += [
            "",
            f"predicted {prediction.time_s * 1e3:.4g} ms; {prediction.bound} bound, limiter "
            f"{prediction.limiter}, potential speed-up "
            f"{figure(prediction.potential_speedup, '.2f')}",
        ]
    else:
        lines += ["", f"no prediction: {prediction.reason}"]
    lines += ["", *_kernels(report)]
    if report.kernels and (places := report.kernels[0].hot_places()):
        lines += ["", f"most moved by {report.kernels[0].name}:"]
        lines += _aligned(
            ("line", "kind", "requests", "a request", "access"),
            [
                (
                    str(place["line"]),
                    place["kind"],
                    f"{place['requests']:,.0f}",
                    f"{place['per_request']:.1f}",
                    place["access"],
                )
                for place in places
            ],
        )
    if report.card is not None and report.card.joules is not None:
        joules = report.card.joules / max(report.card.runs, 1)
        lines += ["", f"energy {joules:.4g} J a run over {report.card.runs} runs"]
    return "\n".join(lines)


def _aligned(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """Give columns under their names: the last, which is text, to the left."""
    shown = aligned(head[:-1], [row[:-1] for row in rows]).splitlines()
    last = [head[-1], *(row[-1] for row in rows)]
    return [f"{line}  {text}".rstrip() for line, text in zip(shown, last, strict=True)]


def _kernels(report: QualityReport) -> list[str]:
    return _aligned(
        ("kernel", "launches", "ms", "predicted", "quality", "limiter", "registers", "occupancy"),
        [
            (
                kernel.name,
                str(kernel.launches),
                f"{kernel.time_s * 1e3:.4g}",
                MISSING
                if kernel.prediction.time_s is None
                else f"{kernel.prediction.time_s * 1e3:.4g}",
                figure(kernel.quality),
                kernel.limiter or MISSING,
                MISSING if kernel.static.registers is None else str(kernel.static.registers),
                MISSING
                if kernel.occupancy is None
                else f"{kernel.occupancy.unit:.2f} ({kernel.occupancy.limiter})",
            )
            for kernel in report.kernels
        ],
    )


STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 62em; padding: 0 1em; }
table { border-collapse: collapse; } td, th { padding: .15em .7em; text-align: left; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
.bar { background: #e6e6e6; width: 12em; height: .9em; }
.bar div { height: 100%; background: #2b6cb0; }
.missing { color: #777; } svg text { font: 12px system-ui, sans-serif; }
"""


def page(report: QualityReport) -> str:
    """Draw a report as HTML: bars for criteria, and kernels below the measured ceilings."""
    kernels = "".join(
        f"<h2>{escape(kernel.name)} <small>{escape(kernel.label)}</small></h2>"
        f"<p>{kernel.launches} launch(es), {kernel.time_s * 1e3:.4g} ms, quality "
        f"{figure(kernel.quality)}, limiter {escape(kernel.limiter or 'unknown')}</p>"
        f"{_bars(list(kernel.criteria.values()))}{_places(kernel)}"
        for kernel in report.kernels
    )
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        f"<title>Profile on {escape(report.device)}</title><style>{STYLE}</style>"
        f"<h1>Profile on {escape(report.device)}</h1>"
        f"<p>Driver {escape(report.driver)}; {report.time_s * 1e3:.4g} ms in "
        f"{len(report.kernels)} kernel(s); quality {figure(report.quality)} with "
        f"{report.weights.origin} weights; limiter {escape(report.limiter or 'unknown')}.</p>"
        f"{_bars(list(report.criteria.values()))}{_roofline(report)}{kernels}</html>\n"
    )


def _bars(criteria: list[Criterion]) -> str:
    rows = []
    for told in criteria:
        if told.value is None:
            shown = f'<td colspan="3" class="missing">{escape(told.reason or "not known")}</td>'
        else:
            shown = (
                f'<td><div class="bar"><div style="width:{100 * told.value:.1f}%"></div></div></td>'
                f'<td class="number">{told.value:.3f}</td>'
                f'<td class="number">{figure(told.potential_speedup, ".2f")}</td>'
            )
        rows.append(f"<tr><th>{told.name}</th>{shown}<td>{escape(told.hint)}</td></tr>")
    head = "<tr><th>criterion</th><th></th><th>value</th><th>potential</th><th>hint</th></tr>"
    return f"<table>{head}{''.join(rows)}</table>"


def _places(kernel: KernelReport) -> str:
    places = kernel.hot_places()
    if not places:
        return ""
    rows = "".join(
        f'<tr><td class="number">{place["line"]}</td><td>{place["kind"]}</td>'
        f'<td class="number">{place["requests"]:,.0f}</td>'
        f'<td class="number">{place["per_request"]:.1f}</td>'
        f"<td><code>{escape(str(place['access']))}</code></td></tr>"
        for place in places
    )
    head = "<tr><th>line</th><th>kind</th><th>requests</th><th>a request</th><th>access</th></tr>"
    return f"<table>{head}{rows}</table>"


WIDTH, HEIGHT, MARGIN = 560, 340, 46


def _roofline(report: QualityReport) -> str:
    """Draw operations per second over operations per byte, below what was measured."""
    ceilings = report.ceilings
    if ceilings is None:
        return "<p class='missing'>No ceilings were measured, so there is no roofline.</p>"
    points = []
    for kernel in report.kernels:
        work = kernel.work
        if work is None or not work.sectors or not work.operations or not kernel.time_s:
            continue
        moved = work.sectors * 32.0
        points.append((work.operations / moved, work.operations / kernel.time_s, kernel.name))
    knee = ceilings.integer / ceilings.copy
    left = min([knee / 100, *(x / 2 for x, _, _ in points)])
    right = max([knee * 10, *(x * 2 for x, _, _ in points)])
    top = ceilings.integer * 2
    bottom = min([ceilings.copy * left / 2, *(y / 2 for _, y, _ in points)])

    def across(x: float) -> float:
        return MARGIN + (WIDTH - 2 * MARGIN) * math.log(x / left) / math.log(right / left)

    def down(y: float) -> float:
        return (
            HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * math.log(y / bottom) / math.log(top / bottom)
        )

    def roof(bandwidth: float, name: str) -> str:
        bend = min(max(ceilings.integer / bandwidth, left), right)
        first = max(bandwidth * left, bottom)
        path = (
            f"M{across(first / bandwidth):.1f},{down(first):.1f}"
            f"L{across(bend):.1f},{down(min(bandwidth * bend, ceilings.integer)):.1f}"
            f"L{across(right):.1f},{down(ceilings.integer):.1f}"
        )
        place = math.sqrt(max(left, first / bandwidth) * bend)
        return (
            f'<path d="{path}" fill="none" stroke="#444"/>'
            f'<text x="{across(place):.1f}" y="{down(bandwidth * place) - 6:.1f}">{name}</text>'
        )

    roofs = [roof(ceilings.copy, f"copy {ceilings.copy / 1e9:,.0f} GB/s")]
    for points_of, name in ((ceilings.random_reads, "random reads"), (ceilings.atomics, "atomics")):
        # Sectors that random accesses to the largest array bring in.
        roofs.append(roof(points_of[-1][1] * 32.0, f"{name} {points_of[-1][1] / 1e9:,.2f} G/s"))
    dots = "".join(
        f'<circle cx="{across(x):.1f}" cy="{down(max(y, bottom)):.1f}" r="5" fill="#2b6cb0">'
        f"<title>{escape(name)}</title></circle>"
        f'<text x="{across(x) + 8:.1f}" y="{down(max(y, bottom)) + 4:.1f}">{escape(name)}</text>'
        for x, y, name in points
    )
    return (
        f'<h2>Roofline</h2><svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img"><rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>{"".join(roofs)}{dots}'
        f'<text x="{WIDTH / 2 - 70}" y="{HEIGHT - 10}">operations per byte moved</text>'
        f'<text x="8" y="16">operations per second; integer ceiling '
        f"{ceilings.integer / 1e9:,.0f} G/s</text></svg>"
    )
