"""``clgraph scc FILE`` and ``clgraph components FILE``: components of a graph in a file."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from clgraph.algorithms.scc.config import SCCConfig
from clgraph.cli import reporting, searching
from clgraph.cli.command import Command, Record, add_reading
from clgraph.cli.progress import Progress
from clgraph.cli.setting import add_setting, wanted
from clgraph.cli.text import pairs

if TYPE_CHECKING:
    import argparse

    from clgraph import SCC, ConnectedComponents, Graph
    from clgraph.device import Device

__all__ = ["COMMAND", "COMPONENTS_COMMAND"]


def _add_common(parser: argparse.ArgumentParser) -> None:
    add_reading(parser)
    searching.add_running(parser)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", help="name of a preset (default: auto)")
    _add_common(parser)
    add_setting(parser, SCCConfig)


def _run(args: argparse.Namespace) -> Record:
    searching.check_output(args.output, args.file)
    import clgraph

    strong = args.command == COMMAND.name
    # Before the file is read.
    config = wanted(SCCConfig, args.config, args.set) if strong else None
    device = clgraph.device(args.device)
    graph, read_s = searching.read_graph(args)
    began = time.perf_counter()
    plan: SCC | ConnectedComponents
    with Progress("building kernels") as progress:
        if strong:
            plan = clgraph.SCC(graph, config=config, device=device, progress=progress.callback)
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
    result, times = searching.repeated(plan.run, args.repeat)
    stats = result.stats
    median_ms = times["kernel_ms"]
    record: Record = {
        **reporting.place_record(graph, device),
        "preset": getattr(args, "config", None) or "auto",
        "config": stats.config,
        "method": stats.method,
        "mode": stats.mode,
        "components": result.count,
        "largest_share": result.largest_share,
        "trivial_share": result.trivial_share,
        **times,
        "launches": stats.launches,
        "steps": stats.steps,
        "mteps": graph.m / median_ms / 1e3 if median_ms > 0 else None,
    }
    if args.output is not None:
        columns = {"labels": result.labels}
        searching.write_columns(
            args.output, graph, columns, ["component"], vertex_labels=graph.labels
        )
        record["output"] = args.output
    if args.energy:
        record["energy"] = reporting.energy_of(plan.run, device)
    return record


def _render(record: Record) -> str:
    kind = "strongly connected" if record["connection"] == "strong" else "connected"
    lines = [
        *reporting.place_text(record),
        ("config", f"{record['preset']}, {record['method']}, {record['mode']}"),
        (
            "found",
            f"{record['components']:,} {kind} components; the largest has "
            f"{100 * record['largest_share']:.1f} % of the vertices, single vertices are "
            f"{100 * record['trivial_share']:.1f} %",
        ),
        *reporting.times_text(record, "run"),
    ]
    if record["mteps"] is not None:
        lines.append(("speed", f"{record['mteps']:,.1f} million edges per second"))
    if "energy" in record:
        lines.append(("energy", reporting.joules_text(record["energy"], "run", "runs")))
    if "output" in record:
        lines.append(("wrote", record["output"]))
    return pairs(lines)


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
