"""Parameters of the strong-component scheme by graph, as a part of docs/benchmarks.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clgraph import SCCConfig
from clgraph.algorithms.scc.config import TABLE_ROWS

from ..runner.records import by_device, tables
from .text import figure, markdown, shown_joules

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ..runner.records import Record

__all__ = ["TABLE", "recorded", "section"]

TABLE = "strong components: parameters by graph"

ABOUT = """
Every preset of `clgraph.SCCConfig` on every graph, as the thesis tunes its scheme by graph in its
table 9.3; [components.md](components.md) explains the dimensions. Device times of a run with labels
in device memory, medians. Rows of the thesis that are the same configuration share a line; a dash
is what was not measured. The fastest point of the thesis's scheme, which ends in colouring or in
forward-backward steps, and the fastest of all are bold in each column.
"""


def recorded(folder: Path) -> list[tuple[str, Record]]:
    """List records of `bench.studies.searches.scc_table` as file name and record, newest first."""
    return tables(folder, "table", TABLE)


def section(records: Sequence[tuple[str, Record]]) -> str:
    """Write tables in Markdown: of each graph and preset on a device the newest row.

    Parameters
    ----------
    records : sequence of (file name, record)
        Newest first, as `recorded` gives them.
    """
    text = ""
    for device, found in by_device(records):
        newest: dict[tuple[str, str], dict[str, Any]] = {}
        for _, record in found:
            for row in record["rows"]:
                joules = shown_joules(row["joules"], record["energy_seconds"], row.get("spread"))
                newest.setdefault((row["graph"], row["preset"]), row | {"joules": joules})
        origins = "".join(_origin(name, record) for name, record in found)
        text += f"\n## {device}, {TABLE}\n\n{origins}{ABOUT}\n"
        text += _presets(list(newest.values())) + "\n" + _best(list(newest.values()))
    return text


def _origin(name: str, record: Record) -> str:
    graphs = ", ".join(dict.fromkeys(row["graph"] for row in record["rows"]))
    return (
        f"- `bench/results/{name}` ({graphs}): {record['started'][:16].replace('T', ' ')}, driver "
        f"{record['machine']['device']['driver']}, clgraph at "
        f"`{(record['machine']['commit'] or 'unknown')[:12]}`\n"
    )


def _is_scheme(row: dict[str, Any]) -> bool:
    return row["config"].get("finish") in {"coloring", "forward-backward"}


def _fastest(rows: Sequence[dict[str, Any]], graph: str, *, scheme: bool) -> dict[str, Any] | None:
    fitting = [row for row in rows if row["graph"] == graph and (_is_scheme(row) or not scheme)]
    return min(fitting, key=lambda row: float(row["median_ms"]), default=None)


def _parameters(config: dict[str, Any]) -> list[str]:
    """Trimming, pairs, closures of both steps, finish; what is not given is the device's."""
    closed = config.get("finish") is not None and _is_scheme({"config": config})
    default = "L" if closed else "-"
    pairs = "all" if config.get("finish") == "forward-backward" else config.get("forward_backward")
    return [
        "-" if config.get("trim") is None else str(config.get("trim")),
        "-" if pairs is None else str(pairs),
        config.get("fb_strategy") or default,
        config.get("coloring_strategy") or default,
        config.get("finish") or "auto",
    ]


def _presets(rows: Sequence[dict[str, Any]]) -> str:
    graphs = list(dict.fromkeys(row["graph"] for row in rows))
    bold = [_fastest(rows, graph, scheme=scheme) for graph in graphs for scheme in (True, False)]
    words = ["preset", "I_t", "I_f", "FB", "colouring", "finish"]
    units = {"ms": "median_ms", "J": "joules"}
    if all(row["joules"] is None for row in rows):
        del units["J"]
    head = [*words, *(f"{graph} {unit}" for graph in graphs for unit in units)]
    lines = []
    for preset in dict.fromkeys(row["preset"] for row in rows):
        alike = {row["graph"]: row for row in rows if row["preset"] == preset}
        cells = [_named(preset), *_parameters(next(iter(alike.values()))["config"])]
        for graph in graphs:
            row = alike.get(graph)
            took = figure(row["median_ms"]) if row else "-"
            cells.append(f"**{took}**" if row and row in bold else took)
            if "J" in units:
                cells.append(figure(row["joules"]) if row else "-")
        lines.append(cells)
    return markdown(head, lines, words)


def _named(preset: str) -> str:
    """Name every row of the thesis that is this configuration, as it was recorded or added."""
    config = SCCConfig.preset(preset.split(maxsplit=1)[0])
    alike = [name for name in TABLE_ROWS if SCCConfig.preset(name) == config]
    return ", ".join(dict.fromkeys([*preset.split(), *alike]))


def _best(rows: Sequence[dict[str, Any]]) -> str:
    words = ["graph", "best of the scheme", "FB", "colouring", "I_t", "I_f"]
    names = ["median_ms"] if all(row["joules"] is None for row in rows) else ["median_ms", "joules"]
    units = ["ms", "J"][: len(names)]
    head = [words[0], "n", "m", "components", *words[1:]]
    head += [*units, *(f"auto {unit}" for unit in units), "scheme over auto"]
    lines = []
    for graph in dict.fromkeys(row["graph"] for row in rows):
        best = _fastest(rows, graph, scheme=True)
        auto = next((r for r in rows if r["graph"] == graph and r["preset"] == "auto"), None)
        if best is None or auto is None:
            continue
        trim, pairs, fb, coloring, _ = _parameters(best["config"])
        cells = [graph, *(f"{best[name]:,}" for name in ("n", "m", "components"))]
        cells += [_named(best["preset"]), fb, coloring, trim, pairs]
        cells += [figure(row[name]) for row in (best, auto) for name in names]
        lines.append([*cells, figure(best["median_ms"] / auto["median_ms"])])
    return "The best point of the scheme beside `auto`:\n\n" + markdown(head, lines, words)
