"""``clgraph ktruss FILE``: truss numbers of the edges, one k-truss, or the greatest k."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from clgraph.cli import reporting, searching
from clgraph.cli.algorithms.triangles import write_edges
from clgraph.cli.command import Command, Record, add_reading
from clgraph.cli.progress import Progress
from clgraph.cli.text import pairs, table

if TYPE_CHECKING:
    import argparse

    from clgraph import TrussResult

__all__ = ["COMMAND"]

MOST_LEVELS = 12  # of the table of a terminal


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_reading(parser)
    parser.add_argument("--config", help="name of a preset (default: auto)")
    wanted = parser.add_mutually_exclusive_group()
    wanted.add_argument(
        "--k", type=lambda text: searching.whole(text, 2), help="find the k-truss of this k"
    )
    wanted.add_argument("--max", action="store_true", help="find the truss of the greatest k")
    wanted.add_argument(
        "--numbers",
        action="store_true",
        help="find the greatest k of every edge, as without --k and --max",
    )
    searching.add_running(parser)


def _run(args: argparse.Namespace) -> Record:
    searching.check_output(args.output, args.file)
    import clgraph

    clgraph.TrussConfig.of(args.config)  # before the file is read
    device = clgraph.device(args.device)
    graph, read_s = searching.read_graph(args)
    began = time.perf_counter()
    with Progress() as progress:
        plan = clgraph.Truss(
            graph, config=args.config, device=device, clean=True, progress=progress.callback
        )
    build_s = time.perf_counter() - began

    def run() -> TrussResult:
        return plan.run(args.k, greatest=args.max, prepare=True)

    result, times = searching.repeated(run, args.repeat)
    stats = result.stats
    record: Record = {
        **reporting.place_record(graph, device),
        "preset": args.config or "auto",
        "config": stats.config,
        "k": result.k,
        "max_k": result.max_k,
        "edges": result.count,
        "triangles": stats.triangles,
        "method": stats.method,
        **times,
        "parts_ms": stats.parts,
        "mode": stats.mode,
        "launches": stats.launches,
        "rounds": len(stats.rounds),
        "levels": reporting.levels_record(stats.levels),
        "probes": stats.probes,
        "device_bytes": stats.device_bytes,
    }
    record["graph"]["file"] = args.file
    record["read_s"], record["build_s"] = read_s, build_s
    if args.output is not None:
        columns: dict[str, Any] = (
            {"truss": result.mask.astype("uint8")}
            if result.mask is not None
            else {"truss_number": result.numbers}
        )
        write_edges(args.output, graph, columns)
        record["output"] = args.output
    if args.energy:
        record["energy"] = reporting.energy_of(run, device)
    return record


def _render(record: Record) -> str:
    if record["k"] is None:
        said = f"truss numbers up to {record['max_k']} of {record['edges']:,} edges"
    else:
        greatest = "the greatest, " if record["max_k"] is not None else ""
        said = f"the {record['k']}-truss, {greatest}of {record['edges']:,} edges"
    lines = [
        *reporting.place_text(record),
        ("config", f"{record['preset']}, triangles by {record['method'] or 'nothing'}"),
        ("found", said),
        ("triangles", f"{record['triangles']:,}"),
        *reporting.times_text(record, "run"),
        ("rounds", f"{record['rounds']:,} in {record['launches']} launches, {record['mode']}"),
    ]
    if "energy" in record:
        lines.append(("energy", reporting.joules_text(record["energy"], "run", "runs")))
    if "output" in record:
        lines.append(("wrote", record["output"]))
    text = pairs(lines)
    levels = record["levels"]
    if record["k"] is None and levels:
        shown = levels if len(levels) <= MOST_LEVELS else levels[: MOST_LEVELS - 1] + levels[-1:]
        rows = [
            [str(level["k"] - 1), f"{level['removed']:,}", str(level["rounds"])] for level in shown
        ]
        text += "\n\n" + table(["truss number", "edges", "rounds"], rows)
    return text


COMMAND = Command(
    "ktruss",
    "Truss numbers of the edges, one k-truss, or the greatest k, timed and metered",
    _add_arguments,
    _run,
    _render,
)
