"""A profile as a table, and as a page with bars and a roofline that needs nothing else."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from clgraph.cli.text import table as aligned
from clgraph.pages.pictures import Picture
from clgraph.pages.rendering import PAGES, render

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clgraph.profile.characterise import Ceilings
    from clgraph.profile.report import QualityReport

__all__ = ["page", "table"]

MISSING = "-"
SECTOR_BYTES = 32.0
TEMPLATE = PAGES / "profile.mako"


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


def page(report: QualityReport) -> str:
    """Draw a report as HTML: bars for criteria, and kernels below the measured ceilings.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    roofline = None if report.ceilings is None else _roofline(report, report.ceilings)
    values = {
        "title": f"Profile on {report.device}",
        "report": report,
        "figure": figure,
        "roofline": roofline,
    }
    return render(TEMPLATE, values)


def _roofline(report: QualityReport, ceilings: Ceilings) -> str:
    """Draw operations per second over operations per byte, below what was measured."""
    points = []
    for kernel in report.kernels:
        work = kernel.work
        if work is None or not work.sectors or not work.operations or not kernel.time_s:
            continue
        moved = work.sectors * SECTOR_BYTES
        points.append((work.operations / moved, work.operations / kernel.time_s, kernel.name))
    # Bytes that random accesses to the largest array bring in; a roof is bandwidth and a name.
    reads, atomics = ceilings.random_reads[-1][1], ceilings.atomics[-1][1]
    roofs = (
        (ceilings.copy, f"copy {ceilings.copy / 1e9:,.0f} GB/s"),
        (reads * SECTOR_BYTES, f"random reads {reads / 1e9:,.2f} G/s"),
        (atomics * SECTOR_BYTES, f"atomics {atomics / 1e9:,.2f} G/s"),
    )
    knee = ceilings.integer / ceilings.copy
    picture = Picture("Roofline", 560, 340)
    left, right = picture.scale(
        "x", [knee / 60, knee * 6, *(x for x, _, _ in points)], "operations per byte moved"
    )
    picture.scale(
        "y",
        [ceilings.integer, ceilings.copy * left, *(y for _, y, _ in points)],
        f"operations per second; integer ceiling {ceilings.integer / 1e9:,.0f} G/s",
    )
    low, _ = picture.axes.get_ylim()
    for bandwidth, name in roofs:
        first = max(left, low / bandwidth)
        bend = min(max(ceilings.integer / bandwidth, first), right)
        across = (first, bend, right)
        picture.line(across, [min(bandwidth * x, ceilings.integer) for x in across], "more")
        place = math.sqrt(first * bend)
        picture.words(place, bandwidth * place, name)
    for x, y, name in points:
        picture.dot(x, y, "c0", name, name)
    return picture.svg()
