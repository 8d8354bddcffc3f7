"""``clgraph bfs FILE``: breadth-first search of a graph in a file."""

from __future__ import annotations

import dataclasses
import math
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clgraph.cli.command import Command, Record, add_reading, reading_options
from clgraph.cli.progress import Progress
from clgraph.cli.text import pairs, table
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    import argparse

    from clgraph import BFS, BFSResult, Graph
    from clgraph.device import Device

__all__ = ["COMMAND"]

OUTPUTS = (".npz", ".csv")
SHOWN_LEVELS = 40
ENERGY_SECONDS = 2.0


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_reading(parser)
    start = parser.add_mutually_exclusive_group()
    start.add_argument(
        "--source", type=int, default=0, help="vertex to start from, counted from 0 (default 0)"
    )
    start.add_argument(
        "--source-label", metavar="ID", help="start from the vertex that the file calls ID"
    )
    parser.add_argument("--config", help="name of a preset (default: auto)")
    parser.add_argument(
        "--device", help="part of a name, gpu, cpu, or an index as 'clgraph devices' shows it"
    )
    parser.add_argument(
        "--predecessors", action="store_true", help="label a shortest-path tree too"
    )
    parser.add_argument("--max-depth", type=int, metavar="HOPS", help="go no further than this")
    parser.add_argument(
        "--repeat", type=_positive, default=1, metavar="N", help="search N times, show the median"
    )
    parser.add_argument(
        "--energy", action="store_true", help="measure joules per search, over at least two seconds"
    )
    parser.add_argument("--levels", action="store_true", help="show every level of the search")
    parser.add_argument("--output", metavar="FILE", help="write the result to FILE.npz or FILE.csv")


def _run(args: argparse.Namespace) -> Record:
    if args.output is not None and Path(args.output).suffix not in OUTPUTS:
        raise InvalidArgumentError(
            f"--output {args.output} ends in neither {' nor '.join(OUTPUTS)}; name it so."
        )
    import clgraph

    device = clgraph.device(args.device)  # before the file is read: it may be missing
    began = time.perf_counter()
    with Progress() as progress:
        graph = clgraph.read(args.file, progress=progress.callback, **reading_options(args))
    read_s = time.perf_counter() - began
    if args.source_label is not None:
        args.source = _labelled(graph, args.source_label)
    began = time.perf_counter()
    with Progress() as progress:
        plan = clgraph.BFS(
            graph,
            predecessors=args.predecessors,
            config=args.config,
            device=device,
            progress=progress.callback,
        )
    build_s = time.perf_counter() - began
    record = _search(plan, graph, device, args)
    record["graph"]["file"] = args.file
    record["read_s"], record["build_s"] = read_s, build_s
    return record


def _labelled(graph: Graph, label: str) -> int:
    if graph.labels is None:
        raise InvalidArgumentError(
            "the ids of this file leave no gaps, so its vertices have no labels; use --source."
        )
    found = [vertex for vertex, known in enumerate(graph.labels.tolist()) if str(known) == label]
    if not found:
        raise InvalidArgumentError(f"--source-label {label}: no vertex of the file is called so.")
    return found[0]


def _search(plan: BFS, graph: Graph, device: Device, args: argparse.Namespace) -> Record:
    result = plan.run(args.source, max_depth=args.max_depth)
    kernel_ms, total_ms = [result.stats.kernel_ms], [result.stats.total_ms]
    for _ in range(args.repeat - 1):
        result = plan.run(args.source, max_depth=args.max_depth)
        kernel_ms.append(result.stats.kernel_ms)
        total_ms.append(result.stats.total_ms)
    median_ms = statistics.median(kernel_ms)
    stats = result.stats
    record: Record = {
        "graph": {
            "vertices": graph.n,
            "edges": graph.m,
            "directed": graph.directed,
            "weighted": graph.weights is not None,
        },
        "device": {
            "index": f"{device.index[0]}:{device.index[1]}",
            "name": device.name,
            "platform": device.platform,
            "driver": device.driver,
        },
        "preset": args.config or "auto",
        "config": stats.config if isinstance(stats.config, dict) else str(stats.config),
        "mode": stats.mode,
        "source": args.source,
        "source_label": None if graph.labels is None else graph.labels[args.source],
        "max_depth": args.max_depth,
        "reached": result.reached,
        "depth": result.depth,
        "repeat": args.repeat,
        "kernel_ms": median_ms,
        "kernel_ms_min": min(kernel_ms),
        "kernel_ms_max": max(kernel_ms),
        "total_ms": statistics.median(total_ms),
        "edges_traversed": stats.edges_traversed,
        "mteps": stats.edges_traversed / median_ms / 1e3 if median_ms > 0 else None,
    }
    if args.levels:
        levels = stats.per_level
        names = levels.dtype.names or ()
        record["levels"] = [dict(zip(names, row, strict=True)) for row in levels.tolist()]
    if args.output is not None:
        _write(args.output, graph, result, args.source)
        record["output"] = args.output
    if args.energy:
        record["energy"] = _energy(plan, device, args)
    return record


def _energy(plan: BFS, device: Device, args: argparse.Namespace) -> Record:
    from clgraph import energy

    meter = energy.find_meter(device)
    meter.close()
    if isinstance(meter, energy.NoMeter):
        return {"joules_per_run": None, "source": meter.source, "note": meter.note}
    measured = energy.per_run(
        lambda: plan.run(args.source, max_depth=args.max_depth),
        min_seconds=ENERGY_SECONDS,
        device=device,
    )
    return dataclasses.asdict(measured)


def _write(path: str, graph: Graph, result: BFSResult, source: int) -> None:
    import numpy as np

    columns: dict[str, Any] = {"distances": result.distances}
    if result.predecessors is not None:
        columns["predecessors"] = result.predecessors
    if Path(path).suffix == ".npz":
        if graph.labels is not None:
            columns["labels"] = graph.labels
        with Path(path).open("wb") as file:
            np.savez_compressed(file, source=source, **columns)
        return
    ids = np.arange(graph.n) if graph.labels is None else graph.labels
    with Path(path).open("w", encoding="utf-8") as file:
        file.write(",".join(["vertex", *(name.removesuffix("s") for name in columns)]) + "\n")
        rows = zip(ids.tolist(), *(column.tolist() for column in columns.values()), strict=True)
        file.writelines(",".join(map(_cell, row)) + "\n" for row in rows)


def _cell(value: object) -> str:
    """One field of a CSV file, quoted where it must be."""
    text = str(value)
    if any(mark in text for mark in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def _render(record: Record) -> str:
    graph, device = record["graph"], record["device"]
    share = 100 * record["reached"] / graph["vertices"] if graph["vertices"] else 0.0
    several = record["repeat"] > 1
    spread = (
        f" (median of {record['repeat']}: {record['kernel_ms_min']:.3f} to "
        f"{record['kernel_ms_max']:.3f})"
        if several
        else ""
    )
    lines = [
        (
            "graph",
            f"{graph['file']}: {graph['vertices']:,} vertices, {graph['edges']:,} stored edges, "
            f"{'directed' if graph['directed'] else 'undirected'}",
        ),
        ("device", f"{device['index']} {device['name']} ({device['platform']})"),
        ("config", _config(record)),
        ("source", _start(record)),
        (
            "reached",
            f"{record['reached']:,} vertices ({share:.1f} %), depth {record['depth']:,}",
        ),
        ("kernel", f"{record['kernel_ms']:.3f} ms{spread}"),
        (
            "total",
            f"{record['total_ms']:.3f} ms per search, after {record['read_s']:.2f} s to read and "
            f"{record['build_s']:.2f} s to prepare",
        ),
    ]
    if record["mteps"] is not None:
        lines.append(
            (
                "speed",
                f"{_speed(record['mteps'])} ({record['edges_traversed']:,} edges traversed)",
            )
        )
    if "energy" in record:
        lines.append(("energy", _joules(record["energy"])))
    if "output" in record:
        lines.append(("wrote", record["output"]))
    text = pairs(lines)
    return text + "\n\n" + _levels(record["levels"]) if "levels" in record else text


def _start(record: Record) -> str:
    label = record["source_label"]
    return f"{record['source']:,}" + (f" (called {label} in the file)" if label is not None else "")


def _config(record: Record) -> str:
    config = record["config"]
    text = f"{record['preset']}, {record['mode']}"
    if isinstance(config, dict):
        chosen = [config[name] for name in ("balance", "direction") if config.get(name)]
        text += f" ({', '.join(map(str, chosen))})" if chosen else ""
    return text


def _speed(mteps: float) -> str:
    return f"{mteps:,.1f} MTEPS" if mteps < 1e4 else f"{mteps / 1e3:,.1f} GTEPS"


def _joules(energy: Record) -> str:
    joules = energy["joules_per_run"]
    if joules is None:
        return f"not measured: {energy['note']}"
    spread = f" +-{50 * energy['spread']:.1f} %" if energy["spread"] is not None else ""
    idle = f", idle {energy['idle_watts']:.0f} W" if energy["idle_watts"] is not None else ""
    return (
        f"{joules:.4g} J per search{spread}, {energy['mean_watts']:.0f} W mean{idle} "
        f"({energy['runs']:,} searches in {energy['seconds']:.1f} s; {energy['source']})"
    )


def _levels(levels: list[Record]) -> str:
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


COMMAND = Command(
    "bfs",
    "Breadth-first search from one vertex, timed and metered",
    _add_arguments,
    _run,
    _render,
)
