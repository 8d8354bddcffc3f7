"""A run as a table for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clgraph.cli.text import pairs, table

from ..peers.peer import NOT_COMPARED
from . import published

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from ..runner.records import Record

__all__ = [
    "commit",
    "figure",
    "groups",
    "headline",
    "markdown",
    "progress_line",
    "render",
    "render_list",
    "results",
    "rivals",
    "shown_joules",
    "unmeasured",
]

# Columns of words in tables of pages.
LEFT = {"graph", "preset", "library", "direction", "meter", "remarks", "record"}
LEAST_WINDOW_S = 2.0  # from which a meter that changes ten times a second resolves a few percent
PEER_HEAD = ("graph", "peer", "median ms", "conversion s", "x ours", "quartiles", "remarks")

# What is shown where cases of an algorithm have it: name in the summary, heading, digits.
COUNTS = (
    ("levels", "levels", 4),
    ("us_per_level", "us/level", 3),
    ("relaxations_per_edge", "relax/edge", 3),
    ("rounds", "rounds", 4),
    ("components", "components", 7),
    ("sources", "sources", 4),
)


def figure(value: float | None, digits: int = 3) -> str:
    """Give a number in a few significant digits, or a dash."""
    if value is None:
        return "-"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def shown_joules(joules: float | None, window_s: float, spread: float | None) -> float | None:
    """Give joules that are fit to be shown: of a window that a meter resolves, with a spread."""
    return joules if window_s >= LEAST_WINDOW_S and spread is not None else None


def headline(case: Record, device: str) -> dict[str, Any]:
    """Figures of a measured case that tables and pages show."""
    summary = case["summary"]
    median_ms = summary["kernel_ms"]["median"]
    best = published.beside(case["algorithm"], case["graph"]["name"], device)
    floor = case.get("floor")
    taken = case.get("energy") or {}
    mean = summary["teps_harmonic_mean"]
    return {
        "median_ms": median_ms,
        "quartiles_ms": summary["kernel_ms"]["quartiles"],
        "gteps": None if mean is None else mean / 1e9,
        "counts": {
            name: summary[name]["median"] for name, _, _ in COUNTS if summary.get(name) is not None
        },
        "overhead_us": summary["overhead_us"]["median"],
        "joules": shown_joules(
            taken.get("joules_per_search"), taken.get("window_s", 0.0), taken.get("spread")
        ),
        "over_floor": None if floor is None else floor["ratio"],
        "floor_ms": None if floor is None else floor["floor_ms"],
        "best": best,
        "over_best": None if best is None else median_ms / best[1],
    }


def graph_of(case: Record) -> str:
    """Name of a case's graph, whether or not it could be loaded."""
    return str(case["graph"]["name"] if isinstance(case["graph"], dict) else case["graph"])


def markdown(
    head: Sequence[str], rows: Iterable[Sequence[str]], words: Container[str] = LEFT
) -> str:
    """Give a table; columns of words are to the left."""
    ways = ("---" if name in words else "--:" for name in head)
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join(ways) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def groups(cases: Iterable[Record]) -> dict[str, list[Record]]:
    """Cases by algorithm, in the order of the run."""
    found: dict[str, list[Record]] = {}
    for case in cases:
        found.setdefault(case["algorithm"], []).append(case)
    return found


def results(
    cases: Sequence[Record], device: str, *, mark: str = " *", strong: str = ""
) -> tuple[list[str], list[list[str]]]:
    """Table of the cases of one algorithm.

    Parameters
    ----------
    cases : sequence of dict
        Measured or not.
    device : str
        Name of the device, for published figures.
    mark : str
        What follows the name of a graph that is not bit for bit the one that the suite names.
    strong : str
        What stands on both sides of the median.

    Returns
    -------
    head, rows
        Columns that no case fills are left out.
    """
    head = [
        *("graph", "preset", "n", "m"),
        *(heading for _, heading, _ in COUNTS),
        *("median ms", "quartiles", "GTEPS", "overhead us", "J/run"),
        *("floor ms", "time/floor", _best_public(device), "times as fast"),
    ]
    rows = [_row(case, device, mark, strong, len(head)) for case in cases]
    used = [place for place in range(len(head)) if any(row[place] not in "-" for row in rows)]
    return [head[place] for place in used], [[row[place] for place in used] for row in rows]


def _best_public(device: str) -> str:
    """Head the column of other codes: whose card it was, where it is not this one."""
    other = any(name in device for name in published.SLOWER)
    return f"best public ms, {published.DEVICE}" if other else "best public ms"


def _row(case: Record, device: str, mark: str, strong: str, width: int) -> list[str]:
    name, preset = graph_of(case), str(case.get("preset", ""))
    if case["status"] != "ok":
        row = [name, preset, case["status"]]
        return [*row, *[""] * (width - len(row))]
    graph, shown = case["graph"], headline(case, device)
    low, high = shown["quartiles_ms"]
    best: tuple[str, float] | None = shown["best"]
    return [
        name + (mark if graph["pinned"] is False else ""),
        preset,
        f"{graph['n']:,}",
        f"{graph['m']:,}",
        *(figure(shown["counts"].get(count), digits) for count, _, digits in COUNTS),
        f"{strong}{figure(shown['median_ms'])}{strong}",
        f"{figure(low)}-{figure(high)}",
        figure(shown["gteps"]),
        figure(shown["overhead_us"]),
        figure(shown["joules"]),
        figure(shown["floor_ms"]),
        figure(shown["over_floor"]),
        "-" if best is None else f"{figure(best[1])} ({best[0]})",
        figure(None if best is None else 1 / shown["over_best"]),
    ]


def progress_line(case: Record) -> str:
    """One line on a case that is done."""
    if case["status"] == "ok":
        shown = headline(case, "")
        said = f"{figure(shown['median_ms'])} ms, {figure(shown['gteps'])} GTEPS"
    else:
        said = f"{case['status']}: {case['reason']}"
    return f"{case['key']}: {said} ({case['seconds']:.1f} s)"


def rivals(cases: Iterable[Record], *, failed: bool = True) -> list[list[str]]:
    """Rows of `PEER_HEAD`: what other libraries took.

    Parameters
    ----------
    cases : iterable of dict
        Of one algorithm or several.
    failed : bool
        Whether to show peers that could not run too, and the algorithm before each graph.

    Returns
    -------
    list of list of str
        Peers that know nothing like the algorithm are left out.
    """
    rows = []
    for case in cases:
        place = f"{case['algorithm']} {graph_of(case)}" if failed else graph_of(case)
        for name, peer in case.get("peers", {}).items():
            ratio = peer.get("ratio")
            if ratio is None:
                if failed and not peer["reason"].endswith(NOT_COMPARED):
                    rows.append([place, name, *[""] * 4, peer["reason"]])
                continue
            low, high = ratio["quartiles"]
            rows.append(
                [
                    place,
                    f"{name} {peer['version']}",
                    figure(peer["ms"]["median"]),
                    figure(peer["convert_s"]),
                    figure(ratio["median"]),
                    f"{figure(low)}-{figure(high)}",
                    "unchecked" if peer.get("checked") is False else "",
                ]
            )
    return rows


def unmeasured(cases: Iterable[Record]) -> list[str]:
    """Lines on what did not run and why; graphs that others stand in for share a line."""
    failed = [case for case in cases if case["status"] != "ok"]
    lines = [
        f"{case['key']} {case['status']}: {case['reason']}"
        for case in failed
        if not case.get("stand_in")
    ]
    replaced = {graph_of(case): case["stand_in"] for case in failed if case.get("stand_in")}
    if replaced:
        names = ", ".join(f"{name} ({instead})" for name, instead in replaced.items())
        lines.append(f"Not to be had here, with the graph that stands in for each: {names}")
    return lines


def commit(machine: Record) -> str:
    """Say what was measured, also where the runner was installed and no checkout could tell."""
    return f"{machine['commit'] or 'unknown'}{', with changes' if machine['dirty'] else ''}"


def render(record: Record) -> str:
    """Whole run: where, a table for each algorithm, and what could not run."""
    about = record["machine"]
    device = about["device"]["name"]
    parts = [
        pairs(
            [
                ("device", f"{device}, {about['device']['platform']}, {about['device']['driver']}"),
                ("commit", commit(about)),
                ("suite", str(record["suite"])),
            ]
        )
    ]
    for algorithm, cases in groups(record["cases"]).items():
        shown = [case for case in cases if not case.get("stand_in")]
        if shown:
            parts.append(algorithm + "\n" + table(*results(shown, device)))
    rows = rivals(record["cases"])
    if rows:
        parts.append(table(PEER_HEAD, rows))
    parts += unmeasured(record["cases"])
    if any(
        isinstance(case["graph"], dict) and case["graph"].get("pinned") is False
        for case in record["cases"]
    ):
        parts.append("* not bit for bit the graph that the suite names")
    if record["finished"] is None:
        parts.append("The run was interrupted; --resume goes on from its record.")
    return "\n\n".join(parts)


def render_list(record: Record) -> str:
    """Cases of a suite, a line each: presets, where the graph is from, and what it shows."""
    lines = []
    for case in record["cases"]:
        presets = "" if case["presets"] == ["auto"] else f", presets {', '.join(case['presets'])}"
        about = f"{case['origin']}{presets}; {case['shows']}"
        lines.append((f"{case['algorithm']}/{case['graph']}", about))
    return pairs(lines)
