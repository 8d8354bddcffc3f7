"""``clgraph scc FILE`` and ``clgraph components FILE``: components of a graph in a file."""

from __future__ import annotations

import dataclasses
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clgraph.cli.command import Command, Record, add_reading, reading_options
from clgraph.cli.progress import Progress
from clgraph.cli.text import pairs
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    import argparse

    from clgraph import SCC, ComponentsResult, ConnectedComponents, Graph
    from clgraph.device import Device

__all__ = ["COMMAND", "COMPONENTS_COMMAND"]

OUTPUTS = (".npz", ".csv")
ENERGY_SECONDS = 2.0


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def _add_common(parser: argparse.ArgumentParser) -> None:
    add_reading(parser)
    parser.add_argument(
        "--device", help="part of a name, gpu, cpu, or an index as 'clgraph devices' shows it"
    )
    parser.add_argument(
        "--repeat", type=_positive, default=1, metavar="N", help="run N times, show the median"
    )
    parser.add_argument(
        "--energy", action="store_true", help="measure joules per run, over at least two seconds"
    )
    parser.add_argument("--output", metavar="FILE", help="write the labels to FILE.npz or FILE.csv")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", help="name of a preset (default: auto)")
    _add_common(parser)


def _run(args: argparse.Namespace) -> Record:
    if args.output is not None and Path(args.output).suffix not in OUTPUTS:
        raise InvalidArgumentError(
            f"--output {args.output} ends in neither {' nor '.join(OUTPUTS)}; name it so."
        )
    import clgraph

    strong = args.command == COMMAND.name
    if strong:
        clgraph.SCCConfig.of(args.config)  # before the file is read
    device = clgraph.device(args.device)
    began = time.perf_counter()
    with Progress() as progress:
        graph = clgraph.read(args.file, progress=progress.callback, **reading_options(args))
    read_s = time.perf_counter() - began
    began = time.perf_counter()
    plan: SCC | ConnectedComponents
    with Progress() as progress:
        if strong:
            plan = clgraph.SCC(graph, config=args.config, device=device, progress=progress.callback)
        else:
            plan = clgraph.ConnectedComponents(graph, device=device, progress=progress.callback)
    build_s = time.perf_counter() - began
    record = _decompose(plan, graph, device, args)
    record["connection"] = "strong" if strong else "weak"
    record["graph"]["file"] = args.file
    record["read_s"], record["build_s"] = read_s, build_s
    return record


def _decompose(
    plan: SCC | ConnectedComponents, graph: Graph, device: Device, args: argparse.Namespace
) -> Record:
    result = plan.run()
    kernel_ms, total_ms = [result.stats.kernel_ms], [result.stats.total_ms]
    for _ in range(args.repeat - 1):
        result = plan.run()
        kernel_ms.append(result.stats.kernel_ms)
        total_ms.append(result.stats.total_ms)
    stats = result.stats
    median_ms = statistics.median(kernel_ms)
    record: Record = {
        "graph": {"vertices": graph.n, "edges": graph.m, "directed": graph.directed},
        "device": {
            "index": f"{device.index[0]}:{device.index[1]}",
            "name": device.name,
            "platform": device.platform,
            "driver": device.driver,
        },
        "preset": getattr(args, "config", None) or "auto",
        "config": stats.config,
        "method": stats.method,
        "mode": stats.mode,
        "components": result.count,
        "largest_share": result.largest_share,
        "trivial_share": result.trivial_share,
        "repeat": args.repeat,
        "kernel_ms": median_ms,
        "kernel_ms_min": min(kernel_ms),
        "kernel_ms_max": max(kernel_ms),
        "total_ms": statistics.median(total_ms),
        "launches": stats.launches,
        "steps": stats.steps,
        "mteps": graph.m / median_ms / 1e3 if median_ms > 0 else None,
    }
    if args.output is not None:
        _write(args.output, graph, result)
        record["output"] = args.output
    if args.energy:
        record["energy"] = _energy(plan, device)
    return record


def _energy(plan: SCC | ConnectedComponents, device: Device) -> Record:
    from clgraph import energy

    meter = energy.find_meter(device)
    meter.close()
    if isinstance(meter, energy.NoMeter):
        return {"joules_per_run": None, "source": meter.source, "note": meter.note}
    return dataclasses.asdict(energy.per_run(plan.run, min_seconds=ENERGY_SECONDS, device=device))


def _write(path: str, graph: Graph, result: ComponentsResult) -> None:
    import csv

    import numpy as np

    if Path(path).suffix == ".npz":
        names: dict[str, Any] = {}
        if graph.labels is not None:
            names["vertex_labels"] = graph.labels
        with Path(path).open("wb") as file:
            np.savez_compressed(file, labels=result.labels, **names)
        return
    ids = np.arange(graph.n) if graph.labels is None else graph.labels
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["vertex", "component"])
        writer.writerows(zip(ids.tolist(), result.labels.tolist(), strict=True))


def _render(record: Record) -> str:
    graph, device = record["graph"], record["device"]
    spread = (
        f" (median of {record['repeat']}: {record['kernel_ms_min']:.3f} to "
        f"{record['kernel_ms_max']:.3f})"
        if record["repeat"] > 1
        else ""
    )
    kind = "strongly connected" if record["connection"] == "strong" else "connected"
    lines = [
        (
            "graph",
            f"{graph['file']}: {graph['vertices']:,} vertices, {graph['edges']:,} stored edges, "
            f"{'directed' if graph['directed'] else 'undirected'}",
        ),
        ("device", f"{device['index']} {device['name']} ({device['platform']})"),
        ("config", f"{record['preset']}, {record['method']}, {record['mode']}"),
        (
            "found",
            f"{record['components']:,} {kind} components; the largest has "
            f"{100 * record['largest_share']:.1f} % of the vertices, single vertices are "
            f"{100 * record['trivial_share']:.1f} %",
        ),
        ("kernel", f"{record['kernel_ms']:.3f} ms{spread}"),
        (
            "total",
            f"{record['total_ms']:.3f} ms per run, after {record['read_s']:.2f} s to read and "
            f"{record['build_s']:.2f} s to prepare",
        ),
    ]
    if record["mteps"] is not None:
        lines.append(("speed", f"{record['mteps']:,.1f} million edges per second"))
    if "energy" in record:
        lines.append(("energy", _joules(record["energy"])))
    if "output" in record:
        lines.append(("wrote", record["output"]))
    return pairs(lines)


def _joules(energy: Record) -> str:
    joules = energy["joules_per_run"]
    if joules is None:
        return f"not measured: {energy['note']}"
    return (
        f"{joules:.4g} J per run, {energy['mean_watts']:.0f} W mean ({energy['runs']:,} runs in "
        f"{energy['seconds']:.1f} s; {energy['source']})"
    )


COMMAND = Command(
    "scc",
    "Strongly connected components, timed and metered",
    _add_arguments,
    _run,
    _render,
)
COMPONENTS_COMMAND = Command(
    "components",
    "Connected components, whatever way the edges point, timed and metered",
    _add_common,
    _run,
    _render,
)
