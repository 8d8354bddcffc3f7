"""What a record of `bench.studies.triangles` says: beside the bars, and as tables of the page."""

from __future__ import annotations

import statistics
from typing import Any

from clgraph.cli.text import table

__all__ = ["PERS", "page", "report"]

PERS = ("total", "vertex", "edge")
# Milliseconds with preparation, by issue; those of vertices are 1.5 times the total's found.
BARS = {
    "kron": {"total": 2.0, "edge": 9.0},
    "rgg": {"total": 0.27, "edge": 0.6},
    "mesh": {"total": 0.085, "edge": 0.3},
    "road": {"total": 0.06, "edge": 0.11},
    "kron+2": {"total": 9.0},
}
VERTEX_FACTOR = 1.5
NAMES = {
    "road": "road-like",
    "mesh": "planar mesh",
    "rgg": "geometric",
    "kron": "Kronecker, scale {scale}",
    "kron+2": "Kronecker, scale {more}",
}
JOULES = ("energy", "joules_per_run")  # where a graph's figures have them


def page(record: dict[str, Any]) -> str:
    """Give the tables of a page: milliseconds and joules of each graph, and of each preset."""
    kinds: dict[str, list[dict[str, Any]]] = {}
    for key, found in record["graphs"].items():
        name = NAMES[key.split("/")[0]]
        name = name.format(scale=record["scale"], more=record["scale"] + 2)
        kinds.setdefault(name, []).append(found)

    def shown(each: list[dict[str, Any]], *path: str) -> str:
        values: list[float] = []
        for found in each:
            value: Any = found
            for name in path:
                value = value.get(name) if isinstance(value, dict) else None
            values += [] if value is None else [value]
        return f"{statistics.median(values):.3f}" if values else ""

    lines = [
        "| graph | vertices, stored edges | triangles | total | of that, preparing | per vertex "
        "| per edge | joules of a total |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for kind, each in kinds.items():
        sizes = f"{each[0]['n']:,}, {each[0]['m']:,} | {each[0]['count']:,}"
        paths = (("total", "with_ms"), ("total", "prepare_ms"), ("vertex", "with_ms"))
        cells = [shown(each, *path) for path in (*paths, ("edge", "with_ms"))]
        lines.append(f"| {kind} | {sizes} | {' | '.join(cells)} | {shown(each, *JOULES)} |")
    named = {kind: each for kind, each in kinds.items() if each[0].get("presets")}
    presets = sorted({preset for each in named.values() for preset in each[0]["presets"]})
    if not presets:
        return "\n".join(lines)
    lines += ["", f"| preset | {' | '.join(f'{kind}, ms | J' for kind in named)} |"]
    lines.append("|---|" + "--:|--:|" * len(named))
    for preset in presets:
        cells = [
            f"{shown(each, 'presets', preset, 'with_ms')}"
            f" | {shown(each, 'presets', preset, *JOULES)}"
            for each in named.values()
        ]
        lines.append(f"| `{preset}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def rows_of(graphs: dict[str, dict[str, Any]]) -> list[list[str]]:
    """Lines of the table: each graph and what is counted, beside its bar."""
    rows = []
    for key, found in graphs.items():
        kind = key.split("/")[0]
        if found["wrong"]:
            rows.append([key, "WRONG: " + ", ".join(found["wrong"]), "", "", "", ""])
            continue
        for per in PERS:
            if per not in found:
                continue
            row = found[per]
            bar = BARS[kind].get(per, VERTEX_FACTOR * found["total"]["with_ms"])
            figures = [f"{row[name]:.3f}" for name in ("with_ms", "prepare_ms", "without_ms")]
            rows.append([key, per, *figures, f"{bar:.3f}"])
        for name, row in found["variants"].items():
            figures = [f"{row[each]:.3f}" for each in ("with_ms", "prepare_ms", "without_ms")]
            rows.append([key, name, *figures, ""])
    return rows


def steps_of(graphs: dict[str, dict[str, Any]]) -> list[str]:
    """Lines of the steps of each run and their milliseconds, and what passed between steps."""
    lines = []
    for key, found in graphs.items():
        row = {per: found[per] for per in PERS if per in found} | found["variants"]
        for name, run in row.items():
            parts = run["parts_ms"]
            rest = run["with_ms"] - sum(parts.values())
            steps = [f"{step} {spent_ms:.4f}" for step, spent_ms in parts.items()]
            lines.append(f"{key} {name}: {', '.join(steps)}, between {rest:.4f}")
    return lines


def report(record: dict[str, Any], *, parts: bool) -> None:
    """Print what was measured, with the steps of each run or without them."""
    if parts:
        print("\n".join(steps_of(record["graphs"])))
    columns = ["graph", "per", "with ms", "prepare ms", "without ms", "bar ms"]
    print(table(columns, rows_of(record["graphs"])))
    print("seconds until graphs were there:", record["graphs_ready_s"])
    if record["left_out"]:
        print("no time for", ", ".join(record["left_out"]))
