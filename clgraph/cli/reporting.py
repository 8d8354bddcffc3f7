"""What commands say of a run: its place, times and joules, as a record and for people."""

from __future__ import annotations

import dataclasses
import math
import statistics
from typing import TYPE_CHECKING, Any

from clgraph.cli.text import table

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from clgraph import Graph
    from clgraph.cli.command import Record
    from clgraph.device import Device

__all__ = [
    "device_record",
    "end_text",
    "energy_of",
    "joules_text",
    "levels_record",
    "levels_table",
    "place_record",
    "place_text",
    "reached_text",
    "speed_text",
    "start_text",
    "times_record",
    "times_text",
]

SHOWN_LEVELS = 40
ENERGY_SECONDS = 2.0


def place_record(graph: Graph, device: Device) -> Record:
    """Report what was searched, and where."""
    return {
        "graph": {
            "vertices": graph.n,
            "edges": graph.m,
            "directed": graph.directed,
            "weighted": graph.weights is not None,
        },
        "device": device_record(device),
    }


def device_record(device: Device) -> Record:
    """Report which device it was."""
    return {
        "index": f"{device.index[0]}:{device.index[1]}",
        "name": device.name,
        "platform": device.platform,
        "driver": device.driver,
    }


def levels_record(levels: NDArray[Any]) -> list[Record]:
    """Rows of a structured array as dictionaries."""
    names = levels.dtype.names or ()
    return [dict(zip(names, row, strict=True)) for row in levels.tolist()]


def place_text(record: Record) -> list[tuple[str, str]]:
    """Lines about the graph and the device."""
    graph, device = record["graph"], record["device"]
    return [
        (
            "graph",
            f"{graph['file']}: {graph['vertices']:,} vertices, {graph['edges']:,} stored edges, "
            f"{'directed' if graph['directed'] else 'undirected'}",
        ),
        ("device", f"{device['index']} {device['name']} ({device['platform']})"),
    ]


def times_record(kernel_ms: list[float], total_ms: list[float]) -> Record:
    """Medians of repeated searches."""
    return {
        "repeat": len(kernel_ms),
        "kernel_ms": statistics.median(kernel_ms),
        "kernel_ms_min": min(kernel_ms),
        "kernel_ms_max": max(kernel_ms),
        "total_ms": statistics.median(total_ms),
    }


def times_text(record: Record, what: str = "search") -> list[tuple[str, str]]:
    """Lines about kernel and total time of each of what was run."""
    several = record["repeat"] > 1
    spread = (
        f" (median of {record['repeat']}: {record['kernel_ms_min']:.3f} to "
        f"{record['kernel_ms_max']:.3f})"
        if several
        else ""
    )
    return [
        ("kernel", f"{record['kernel_ms']:.3f} ms{spread}"),
        (
            "total",
            f"{record['total_ms']:.3f} ms per {what}, after {record['read_s']:.2f} s to read and "
            f"{record['build_s']:.2f} s to prepare",
        ),
    ]


def energy_of(search: Callable[[], object], device: Device) -> Record:
    """Measure joules of a search, repeated for long enough; or say why not."""
    from clgraph import energy

    meter = energy.find_meter(device)
    meter.close()
    if isinstance(meter, energy.NoMeter):
        return {"joules_per_run": None, "source": meter.source, "note": meter.note}
    measured = energy.per_run(
        search,
        min_seconds=ENERGY_SECONDS,
        device=device,
    )
    return dataclasses.asdict(measured)


def start_text(record: Record) -> str:
    """Where a search began."""
    label = record["source_label"]
    return f"{record['source']:,}" + (f" (called {label} in the file)" if label is not None else "")


def reached_text(record: Record) -> str:
    """How many vertices a search reached."""
    reached, n = record["reached"], record["graph"]["vertices"]
    return f"{reached:,} vertices ({100 * reached / max(n, 1):.1f} %)"


def speed_text(record: Record) -> str:
    """Edges per second of a search, and how many they were if they were counted."""
    mteps, edges = record["mteps"], record.get("edges_traversed")
    speed = f"{mteps:,.1f} MTEPS" if mteps < 1e4 else f"{mteps / 1e3:,.1f} GTEPS"
    return speed if edges is None else f"{speed} ({edges:,} edges traversed)"


def joules_text(energy: Record, one: str, many: str) -> str:
    """Joules of a search, or whatever was run, and how they were measured."""
    joules = energy["joules_per_run"]
    if joules is None:
        return f"not measured: {energy['note']}"
    spread = f" +-{50 * energy['spread']:.1f} %" if energy["spread"] is not None else ""
    idle = f", idle {energy['idle_watts']:.0f} W" if energy["idle_watts"] is not None else ""
    return (
        f"{joules:.4g} J per {one}{spread}, {energy['mean_watts']:.0f} W mean{idle} "
        f"({energy['runs']:,} {many} in {energy['seconds']:.1f} s; {energy['source']})"
    )


def end_text(record: Record, one: str = "run", many: str = "runs") -> list[tuple[str, str]]:
    """Lines about joules of a run and the file that was written, where there are any."""
    lines = []
    if "energy" in record:
        lines.append(("energy", joules_text(record["energy"], one, many)))
    if "output" in record:
        lines.append(("wrote", record["output"]))
    return lines


def levels_table(levels: list[Record]) -> str:
    """Every level of a search, or the first and last of many."""
    if not levels:
        return "no levels recorded"
    head = list(levels[0])
    left = len(levels) - SHOWN_LEVELS
    rows = [[f"{level:,}", *map(_figure, row.values())] for level, row in enumerate(levels)]
    if left > 0:
        rows = rows[: SHOWN_LEVELS // 2] + rows[-SHOWN_LEVELS // 2 :]
    text = table(["level", *head], rows)
    if left > 0:
        lines = text.split("\n")
        lines.insert(1 + SHOWN_LEVELS // 2, f"... {left:,} levels; --json shows all")
        text = "\n".join(lines)
    return text


def _figure(value: object) -> str:
    if isinstance(value, float):
        return "-" if math.isnan(value) else f"{value:.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
