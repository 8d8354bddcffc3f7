"""What the commands of searches share: where they start, what is written, and the last lines."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, TypeVar

from clgraph.cli import reporting, searching
from clgraph.cli.progress import Progress
from clgraph.cli.text import pairs

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from clgraph.cli.command import Record
    from clgraph.device import Device
    from clgraph.graph import Graph

__all__ = ["add_start", "built", "finish", "shown", "speed"]

Built = TypeVar("Built")


def add_start(parser: argparse.ArgumentParser, **source: Any) -> None:
    """Declare where a search starts: by number, as `source` says more of, or by the file's name."""
    start = parser.add_mutually_exclusive_group()
    start.add_argument("--source", type=int, **source)
    start.add_argument(
        "--source-label", metavar="ID", help="start from the vertex that the file calls ID"
    )


def built(
    plan: Callable[..., Built], graph: Graph, device: Device, config: Any, *, predecessors: bool
) -> tuple[Built, float]:
    """Compile a plan, with progress; give it and the seconds that it took."""
    began = time.perf_counter()
    with Progress("building kernels") as progress:
        made = plan(
            graph,
            predecessors=predecessors,
            config=config,
            device=device,
            progress=progress.callback,
        )
    return made, time.perf_counter() - began


def speed(edges: int, times: Record) -> Record:
    """Give the edges that a search went along, and millions of them a second."""
    took = times["kernel_ms"]
    return {"edges_traversed": edges, "mteps": edges / took / 1e3 if took > 0 else None}


def finish(
    record: Record,
    args: argparse.Namespace,
    graph: Graph,
    result: Any,
    metered: Callable[[], object],
    device: Device,
) -> None:
    """Add levels to a record, write the result, and meter searches, as was asked for."""
    if args.levels:
        record["levels"] = reporting.levels_record(result.stats.per_level)
    if args.output is not None:
        searching.write_result(args.output, graph, result, args.source)
        record["output"] = args.output
    if args.energy:
        record["energy"] = reporting.energy_of(metered, device)


def shown(record: Record, lines: list[tuple[str, str]]) -> str:
    """Give the text of a record: its own lines, those that all searches end with, and levels."""
    lines = [*lines]
    if record["mteps"] is not None:
        lines.append(("speed", reporting.speed_text(record)))
    if "energy" in record:
        lines.append(("energy", reporting.joules_text(record["energy"])))
    if "trace" in record:
        lines.append(("drew", record["trace"]))
    if "output" in record:
        lines.append(("wrote", record["output"]))
    text = pairs(lines)
    return text + "\n\n" + reporting.levels_table(record["levels"]) if "levels" in record else text
