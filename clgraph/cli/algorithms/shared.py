"""What commands that run a plan share: reading, running as often as asked, saying what it took."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from clgraph.cli import reporting, searching
from clgraph.cli.command import Record, add_reading
from clgraph.cli.progress import Progress
from clgraph.cli.text import pairs
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from clgraph import Graph
    from clgraph.device import Device

__all__ = [
    "Report",
    "add_common",
    "columns_of",
    "fraction",
    "measured",
    "rendered",
    "seed",
    "speed",
]

MOST_SEED = 2**64 - 1


class Report(NamedTuple):
    """What a command says of a result.

    Attributes
    ----------
    entries : dict
        Of the record.
    write : callable
        Writes the result to the file that it is given.
    edges : int, optional
        That a run went along, whose speed is reported.
    """

    entries: Record
    write: Callable[[str], None]
    edges: int | None = None


def add_common(parser: argparse.ArgumentParser) -> None:
    """Declare the file, and how it is read and worked on."""
    add_reading(parser)
    searching.add_running(parser)


def seed(text: str) -> int:
    """Read a seed, as argparse wants it."""
    return searching.whole(text, least=0)


def fraction(text: str) -> float:
    """Read a number from 0 on, as argparse wants it."""
    return 0.0 if text.strip() in {"0", "0.0"} else searching.amount(text)


def columns_of(
    graph: Graph, columns: dict[str, Any], names: Sequence[str] = ()
) -> Callable[[str], None]:
    """Give what writes columns of vertices, by their own names or by others in a table."""
    named = list(names or columns)
    return lambda path: searching.write_columns(
        path, graph, columns, named, vertex_labels=graph.labels
    )


def measured(
    args: argparse.Namespace,
    make: Callable[[Graph, Device, Any], Callable[[], Any]],
    describe: Callable[[Graph, Any], Report],
    cleaned: Callable[[Graph], Graph] = lambda graph: graph,
) -> Record:
    """Read a graph, prepare, run, and make the record.

    Parameters
    ----------
    args : Namespace
        Of `add_common` at least.
    make : callable
        From graph, device and what progress is reported to, to what runs once and gives a
        result with ``stats``.
    describe : callable
        From graph and result to what is said of it.
    cleaned : callable, optional
        From the graph as it was read to the one that all is about.
    """
    searching.check_output(args.output, args.file)
    import clgraph

    if (getattr(args, "seed", None) or 0) > MOST_SEED:
        raise InvalidArgumentError(f"--seed {args.seed} must be at most {MOST_SEED}.")
    device = clgraph.device(args.device)  # before the file is read: it may be missing
    graph, read_s = searching.read_graph(args)
    graph = cleaned(graph)
    began = time.perf_counter()
    with Progress("building kernels") as progress:
        run = make(graph, device, progress.callback)
    build_s = time.perf_counter() - began
    result, times = searching.repeated(run, args.repeat)
    stats, report = result.stats, describe(graph, result)
    record: Record = {
        **reporting.place_record(graph, device),
        "preset": getattr(args, "config", None) or "auto",
        "config": stats.config,
        "mode": stats.mode,
        **report.entries,
        **times,
        "launches": stats.launches,
        "device_bytes": getattr(stats, "device_bytes", None),
    }
    if report.edges is not None:
        record |= speed(report.edges, times)
    record["graph"]["file"] = args.file
    record["read_s"], record["build_s"] = read_s, build_s
    if args.output is not None:
        report.write(args.output)
        record["output"] = args.output
    if args.energy:
        record["energy"] = reporting.energy_of(run, device)
    return record


def speed(edges: int, times: Record) -> Record:
    """Give the edges that a run went along, and millions of them a second."""
    took = times["kernel_ms"]
    return {"edges_traversed": edges, "mteps": edges / took / 1e3 if took > 0 else None}


def rendered(
    record: Record, said: Sequence[tuple[str, str]], one: str = "run", many: str = "runs"
) -> str:
    """Lines about the graph, what was found, and what it took."""
    lines = [*reporting.place_text(record), *said, *reporting.times_text(record, one)]
    if record.get("mteps") is not None:
        lines.append(("speed", reporting.speed_text(record)))
    return pairs(lines + reporting.end_text(record, one, many))
