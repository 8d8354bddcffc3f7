"""A record of microbenchmarks as text, and as a page with curves that needs nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from clgraph.cli.text import table
from clgraph.pages.pictures import Picture
from clgraph.pages.rendering import PAGES, render

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
# What the curves of a sweep show: quantity, what stands beside it, and by what it is multiplied.
CURVES = (
    ("rate", "10^9 operations per second", 1e-9),
    ("mean_watts", "mean power, W", 1.0),
    ("nj_per_operation", "nJ per operation", 1.0),
)
TEMPLATE = PAGES / "microbenchmarks.mako"


def _figure(value: float | None, digits: int = 4) -> str:
    return "" if value is None else f"{value:.{digits}g}"


def _rows(record: Record, kinds: Iterable[str]) -> list[tuple[str, ...]]:
    wanted = set(kinds)
    rows: list[tuple[str, ...]] = []
    for result in record["results"]:
        if result["kind"] not in wanted:
            continue
        doubts = [*result["invalid"], *result["flags"]]
        moved = result["bytes_per_s"]
        rows.append(
            (
                result["name"],
                _figure(result["throughput"]),
                _figure(result["throughput_spec"]),
                _figure(result["rate"] / 1e9),
                _figure(None if moved is None else moved / 1e9),
                _figure(result["mean_watts"]),
                _figure(result["peak_watts"]),
                _figure(result["nj_per_operation"]),
                "" if result["ptx_purity"] is None else f"{result['ptx_purity']:.2%}",
                ("invalid: " if result["invalid"] else "") + "; ".join(doubts),
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

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    values = {
        "title": f"Microbenchmarks of {record['device']}",
        "record": record,
        "head": HEAD,
        "rows": _rows(record, ("static", "cost")),
        "sweeps": _sweeps(record),
    }
    return render(TEMPLATE, values)


def _sweeps(record: Record) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Give name and unit of each family, and its curves with what they show."""
    families: dict[str, list[Record]] = {}
    for point in record["results"]:
        if point["kind"] == "dynamic" and point["occasion"] == 0:
            families.setdefault(point["family"], []).append(point)
    sweeps = []
    for family, points in families.items():
        points.sort(key=lambda point: float(point["value"]))
        curves = []
        for quantity, name, scale in CURVES:
            known = [(p["value"], p[quantity] * scale) for p in points if p[quantity] is not None]
            if known:
                curves.append((name, _curve(known, name)))
        sweeps.append((family, points[0]["unit"], curves))
    return sweeps


def _curve(points: Sequence[tuple[float, float]], name: str) -> str:
    """Draw a curve; across, equal steps are equal factors where the values span more than ten."""
    across, up = zip(*points, strict=True)
    picture = Picture(name, 420, 240)
    wide = min(across) > 0 and max(across) / min(across) > 10
    picture.scale("x", across, "", log=wide)
    picture.scale("y", up, "", log=False)
    picture.line(across, up, "c0")
    for x, y in points:
        picture.dot(x, y, "c0", f"{x:g}: {y:.4g}")
    return picture.svg()
