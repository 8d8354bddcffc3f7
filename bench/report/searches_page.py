"""Methods of simultaneous searches by graph, as a part of docs/benchmarks.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..runner.records import by_device, tables
from ..studies.searches.search_table import COLUMNS, ORACLE, SCHEMA, figures_of
from .text import figure, markdown, shown_joules

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ..runner.records import Record

__all__ = ["recorded", "section"]

NOISE = 0.03

ABOUT = """
The table of the paper that defines the abstraction ([multi-search.md](multi-search.md)): searches
for sums of distances, all in one launch, by each of its methods on graphs of its classes
(`bench/studies/searches/search_graphs.py`: small ones, so that edge-parallel ends too). The oracle
is the better of edge-parallel and work-efficient, chosen after the fact; savings are those of the
hybrid (threshold 16) over it. `fitted` is the hybrid with the threshold T that the degrees suggest,
which is the very kernel of work-efficient where T is inf; `auto` is the default of
`clgraph.MultiSearch`. Seconds are device times, the best of up to three launches; joules, where a
window of them lasted two seconds, are those of the whole device, idle power and the host's share of
the time included.
"""


def recorded(folder: Path) -> list[tuple[str, Record]]:
    """List records of `search_table` as file name and record, newest first."""
    return tables(folder, "schema", SCHEMA)


def section(records: Sequence[tuple[str, Record]]) -> str:
    """Write tables in Markdown: of each graph on a device the newest.

    Parameters
    ----------
    records : sequence of (file name, record)
        Newest first, as `recorded` gives them.
    """
    text = ""
    for device, found in by_device(records):
        newest: dict[str, dict[str, Any]] = {}
        swept: dict[str, dict[str, Any]] = {}
        for _, record in found:
            for graph, row in record["graphs"].items():
                is_sweep = record.get("kind") == "thresholds"
                (swept if is_sweep else newest).setdefault(graph, _fit(row, record["energy_s"]))
        origins = "".join(_origin(name, record) for name, record in found)
        text += f"\n## {device}, simultaneous searches by method\n\n{origins}{ABOUT}"
        for what in ("seconds", "joules"):
            if _known(newest, what):
                text += _table(newest, what) + _finding(newest, what)
        text += _sweep(swept)
    return text


def _origin(name: str, record: Record) -> str:
    machine = record["machine"]
    return (
        f"- `bench/results/{name}` ({', '.join(record['graphs'])}): {record['started'][:16]}, "
        f"driver {machine['device']['driver']}, clgraph at "
        f"`{(machine['commit'] or 'unknown')[:12]}`, {record['searches']:,} searches\n"
    )


def _fit(row: dict[str, Any], window_s: float) -> dict[str, Any]:
    """Leave out the joules of a graph that are not fit to be shown."""
    methods = {
        name: method
        | {"joules": shown_joules(method.get("joules"), window_s, method.get("spread"))}
        for name, method in row["methods"].items()
    }
    return row | {"methods": methods}


def _known(graphs: dict[str, dict[str, Any]], what: str) -> dict[str, dict[str, Any]]:
    """Give the graphs of which every method has a figure."""
    return {
        name: row["methods"]
        for name, row in graphs.items()
        if all(method[what] is not None for method in row["methods"].values())
    }


def _table(graphs: dict[str, dict[str, Any]], what: str) -> str:
    head = [what, "like", "n", "m", *COLUMNS, "T"]
    lines = []
    for name, methods in _known(graphs, what).items():
        row = graphs[name]
        cells = [name, row["like"], f"{row['n']:,}", f"{row['m']:,}", *figures_of(methods, what)]
        lines.append([*cells, str(methods["fitted"].get("threshold", "-"))])
    return "\n" + markdown(head, lines, {what, "like"})


def _sweep(graphs: dict[str, dict[str, Any]]) -> str:
    """Write the seconds of the hybrid by threshold, as the paper's first figure has them."""
    if not graphs:
        return ""
    thresholds = list(next(iter(graphs.values()))["methods"])
    lines = []
    for name, row in graphs.items():
        best = min(figures["seconds"] for figures in row["methods"].values())
        cells = [f"{figures['seconds']:.4g}" for figures in row["methods"].values()]
        bold = [f"**{cell}**" if cell == f"{best:.4g}" else cell for cell in cells]
        lines.append([name, *bold])
    return (
        "\nThe hybrid by threshold, from none to all vertices in the queue of short rows:\n\n"
        + markdown(["seconds at T", *thresholds], lines, {"seconds at T"})
    )


def _finding(graphs: dict[str, dict[str, Any]], what: str) -> str:
    """Say where the hybrid saves over the oracle, and how the default compares with it."""
    found: dict[str, list[str]] = {"saves": [], "alike": [], "loses": []}
    ratios: dict[str, float] = {}
    fitted: dict[str, float] = {}
    for name, methods in _known(graphs, what).items():
        oracle = min(methods[method][what] for method in ORACLE)
        share = methods["hybrid"][what] / oracle
        found["alike" if abs(share - 1) < NOISE else "saves" if share < 1 else "loses"].append(name)
        ratios[name] = methods["auto"][what] / oracle
        fitted[name] = methods["fitted"][what] / oracle
    saves, alike, loses = (", ".join(names) or "none" for names in found.values())
    worst = max(ratios, key=lambda name: ratios[name])
    least = max(fitted, key=lambda name: fitted[name])
    mean = sum(ratios.values()) / len(ratios)
    return (
        f"\nIn {what} the paper's finding, that its hybrid saves over the oracle, holds for "
        f"{saves}; within {100 * NOISE:.0f} % they are alike for {alike}, and it does not hold for "
        f"{loses}. With the fitted threshold it takes {figure(fitted[least])} times the oracle's "
        f"{what} at most ({least}); the default takes {figure(mean)} times on average and "
        f"{figure(ratios[worst])} times at most ({worst}).\n"
    )
