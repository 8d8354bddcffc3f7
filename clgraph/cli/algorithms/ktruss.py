"""``clgraph ktruss FILE``: truss numbers of the edges, one k-truss, or the greatest k."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clgraph.cli import reporting, searching
from clgraph.cli.algorithms.shared import Report, measured, rendered
from clgraph.cli.algorithms.triangles import write_edges
from clgraph.cli.command import Command, Record, add_reading
from clgraph.cli.text import table

if TYPE_CHECKING:
    import argparse

    from clgraph import Graph

__all__ = ["COMMAND"]

MOST_LEVELS = 12  # of the table of a terminal


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_reading(parser)
    searching.add_config(parser)
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
    import clgraph

    config = clgraph.TrussConfig.of(args.config)  # before the file is read

    def make(graph: Graph, device: Any, progress: Any) -> Any:
        plan = clgraph.Truss(graph, config=config, device=device, clean=True, progress=progress)
        return lambda: plan.run(args.k, greatest=args.max, prepare=True)

    def describe(graph: Graph, result: Any) -> Report:
        stats = result.stats
        entries = {
            "k": result.k,
            "max_k": result.max_k,
            "edges": result.count,
            "triangles": stats.triangles,
            "method": stats.method,
            "parts_ms": stats.parts,
            "rounds": len(stats.rounds),
            "levels": reporting.levels_record(stats.levels),
            "probes": stats.probes,
        }
        if result.mask is not None:
            columns = {"truss": result.mask.astype("uint8")}
        else:
            columns = {"truss_number": result.numbers}
        return Report(entries, lambda path: write_edges(path, graph, columns))

    return measured(args, make, describe)


def _render(record: Record) -> str:
    if record["k"] is None:
        said = f"truss numbers up to {record['max_k']} of {record['edges']:,} edges"
    else:
        greatest = "the greatest, " if record["max_k"] is not None else ""
        said = f"the {record['k']}-truss, {greatest}of {record['edges']:,} edges"
    lines = [
        ("config", f"{record['preset']}, triangles by {record['method'] or 'nothing'}"),
        ("found", said),
        ("triangles", f"{record['triangles']:,}"),
        ("rounds", f"{record['rounds']:,} in {record['launches']} launches, {record['mode']}"),
    ]
    text = rendered(record, lines)
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
