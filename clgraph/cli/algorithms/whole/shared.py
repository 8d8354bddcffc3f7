"""What these commands share: reading, running as often as asked, and saying what it took."""

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

__all__ = ["Report", "add_common", "fraction", "measured", "rendered", "seed"]

MOST_SEED = 2**64 - 1


class Report(NamedTuple):
    """What a command says of a result.

    Attributes
    ----------
    entries : dict
        Of the record.
    write : callable
        Writes the result to the file that it is given.
    """

    entries: Record
    write: Callable[[str], None]


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


def measured(
    args: argparse.Namespace,
    make: Callable[[Graph, Device, Any], Callable[[], Any]],
    describe: Callable[[Graph, Any], Report],
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
    """
    searching.check_output(args.output, args.file)
    import clgraph

    if getattr(args, "seed", 0) > MOST_SEED:
        raise InvalidArgumentError(f"--seed {args.seed} must be at most {MOST_SEED}.")
    device = clgraph.device(args.device)  # before the file is read: it may be missing
    graph, read_s = searching.read_graph(args)
    began = time.perf_counter()
    with Progress("building kernels") as progress:
        run = make(graph, device, progress.callback)
    build_s = time.perf_counter() - began
    result, times = searching.repeated(run, args.repeat)
    report = describe(graph, result)
    record: Record = {
        **reporting.place_record(graph, device),
        "config": result.stats.config,
        "mode": result.stats.mode,
        **report.entries,
        **times,
        "launches": result.stats.launches,
        "device_bytes": result.stats.device_bytes,
    }
    record["graph"]["file"] = args.file
    record["read_s"], record["build_s"] = read_s, build_s
    if args.output is not None:
        report.write(args.output)
        record["output"] = args.output
    if args.energy:
        record["energy"] = reporting.energy_of(run, device)
    return record


def rendered(record: Record, said: Sequence[tuple[str, str]]) -> str:
    """Lines about the graph, what was found, and what it took."""
    lines = [*reporting.place_text(record), *said, *reporting.times_text(record, "run")]
    if "energy" in record:
        lines.append(("energy", reporting.joules_text(record["energy"], "run", "runs")))
    if "output" in record:
        lines.append(("wrote", record["output"]))
    return pairs(lines)
