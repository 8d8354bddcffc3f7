"""A run as a table for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clgraph.cli.text import pairs, table

from . import published

if TYPE_CHECKING:
    from .records import Record

__all__ = ["HEAD", "figure", "headline", "line", "render", "told"]

HEAD = (
    *("graph", "n", "m", "levels", "median ms", "quartiles", "GTEPS", "us/level", "overhead us"),
    *("J/search", "x floor", "x best public"),
)


PEER_HEAD = ("graph", "peer", "median ms", "conversion s", "x ours", "quartiles")


def figure(value: float | None, digits: int = 3) -> str:
    """Give a number in a few significant digits, or a dash."""
    if value is None:
        return "-"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def headline(case: Record, device: str) -> dict[str, Any]:
    """Figures of a measured case that tables and pages show."""
    summary = case["summary"]
    median_ms = summary["kernel_ms"]["median"]
    best = published.best(case["graph"]["name"], device) if case["algorithm"] == "bfs" else None
    floor = case.get("floor")
    return {
        "levels": summary["levels"]["median"],
        "median_ms": median_ms,
        "quartiles_ms": summary["kernel_ms"]["quartiles"],
        "gteps": None
        if summary["teps_harmonic_mean"] is None
        else summary["teps_harmonic_mean"] / 1e9,
        "us_per_level": summary["us_per_level"]["median"],
        "overhead_us": summary["overhead_us"]["median"],
        "joules": (case.get("energy") or {}).get("joules_per_search"),
        "over_floor": None if floor is None else floor["ratio"],
        "best": best,
        "over_best": None if best is None else median_ms / best[1],
    }


def told(case: Record) -> str:
    """One line on a case that is done."""
    if case["status"] == "ok":
        shown = headline(case, "")
        said = f"{figure(shown['median_ms'])} ms, {figure(shown['gteps'])} GTEPS"
    else:
        said = f"{case['status']}: {case['reason']}"
    return f"{case['key']}: {said} ({case['seconds']:.1f} s)"


def line(case: Record, device: str) -> list[str]:
    """One row of the table."""
    name = case["graph"]["name"] if isinstance(case["graph"], dict) else case["graph"]
    if case["status"] != "ok":
        return [name, case["status"], *[""] * (len(HEAD) - 2)]
    shown = headline(case, device)
    low, high = shown["quartiles_ms"]
    return [
        name + ("" if case["graph"]["pinned"] is not False else " *"),
        f"{case['graph']['n']:,}",
        f"{case['graph']['m']:,}",
        figure(shown["levels"], 4),
        figure(shown["median_ms"]),
        f"{figure(low)}-{figure(high)}",
        figure(shown["gteps"]),
        figure(shown["us_per_level"]),
        figure(shown["overhead_us"]),
        figure(shown["joules"]),
        figure(shown["over_floor"]),
        figure(shown["over_best"]),
    ]


def _peer_rows(record: Record) -> list[list[str]]:
    rows = []
    for case in record["cases"]:
        for name, peer in case.get("peers", {}).items():
            ratio = peer.get("ratio")
            if ratio is None:
                rows.append([case["graph"]["name"], name, peer.get("reason", ""), "", "", ""])
                continue
            low, high = ratio["quartiles"]
            rows.append(
                [
                    case["graph"]["name"],
                    f"{name} {peer['version']}",
                    figure(peer["ms"]["median"]),
                    figure(peer["convert_s"]),
                    figure(ratio["median"]),
                    f"{figure(low)}-{figure(high)}",
                ]
            )
    return rows


def render(record: Record) -> str:
    """Whole run: where, the table, and what could not run."""
    about = record["machine"]
    device = about["device"]["name"]
    parts = [
        pairs(
            [
                ("device", f"{device}, {about['device']['platform']}, {about['device']['driver']}"),
                ("commit", f"{about['commit']}{' with changes' if about['dirty'] else ''}"),
                ("suite", f"{record['suite']}, preset {record['settings']['config']}"),
            ]
        ),
        table(HEAD, [line(case, device) for case in record["cases"]]),
    ]
    rivals = _peer_rows(record)
    if rivals:
        parts.append(table(PEER_HEAD, rivals))
    parts += [
        f"{case['key']} {case['status']}: {case['reason']}"
        for case in record["cases"]
        if case["status"] != "ok"
    ]
    if any(
        isinstance(case["graph"], dict) and case["graph"].get("pinned") is False
        for case in record["cases"]
    ):
        parts.append("* not bit for bit the graph that the suite names")
    return "\n\n".join(parts)
