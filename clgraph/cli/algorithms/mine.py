"""``clgraph mine TRACE``: invariants of a trace in a file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from clgraph.cli import reporting, searching
from clgraph.cli.command import Command, Record
from clgraph.cli.progress import Progress
from clgraph.cli.text import pairs
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

__all__ = ["COMMAND"]

SHOWN = 40
OUTPUTS = (".txt", ".csv", ".smt2")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "trace", nargs="+", help=".csv, .vcd, .parquet, .npy or .npz; of several what holds in all"
    )
    parser.add_argument(
        "--templates",
        nargs="+",
        default=["I"],
        metavar="T",
        help="I, II, or conditions such as 'a <= b + c' (default: I)",
    )
    parser.add_argument(
        "--variables", nargs="+", metavar="NAME", help="mine only these (default: all)"
    )
    parser.add_argument(
        "--arity", type=int, default=3, choices=(1, 2, 3), help="most variables of a template"
    )
    parser.add_argument(
        "--tolerance", type=int, default=0, metavar="ULPS", help="within which numbers are equal"
    )
    parser.add_argument("--config", help="auto, per-entry, split-trace or tiled (default: auto)")
    parser.add_argument(
        "--device", help="as cg.device() takes it: a name, gpu, cpu, or platform:device"
    )
    parser.add_argument("--repeat", type=searching.positive, default=1, metavar="N")
    parser.add_argument("--energy", action="store_true", help="measure joules of a run")
    parser.add_argument(
        "--output", metavar="FILE", help=f"write all to a file ending in {', '.join(OUTPUTS)}"
    )


def _templates(given: Sequence[str]) -> str | list[str]:
    return given[0] if len(given) == 1 and given[0] in ("I", "II") else list(given)


def _run(args: argparse.Namespace) -> Record:
    if args.output is not None and Path(args.output).suffix not in OUTPUTS:
        raise InvalidArgumentError(
            f"--output {args.output} must end in one of {', '.join(OUTPUTS)}."
        )
    searching.check_place(args.output, *args.trace)
    from clgraph import device as find_device
    from clgraph.algorithms.invariants import InvariantMiner, Trace

    device = find_device(args.device)
    began = time.perf_counter()
    traces = [Trace.of(path) for path in args.trace]
    if args.variables:
        traces = [trace.chosen(args.variables) for trace in traces]
    read_s, began = time.perf_counter() - began, time.perf_counter()
    plan = InvariantMiner(
        _templates(args.templates),
        arity=args.arity,
        tolerance=args.tolerance,
        config=args.config,
        device=device,
    )
    build_s = time.perf_counter() - began
    with Progress() as progress:
        result, times = searching.repeated(
            lambda: plan.run(traces, progress=progress.callback), args.repeat
        )
    stats = result.stats
    record: Record = {
        "trace": {
            "files": args.trace,
            "variables": list(traces[0].names),
            "instants": stats.instants,
        },
        "device": reporting.device_record(device),
        "templates": args.templates,
        "invariants": [str(invariant) for invariant in result.invariants],
        "counts": result.counts,
        **times,
        "read_s": read_s,
        "build_s": build_s,
        "launches": stats.launches,
        "phases": stats.phases,
    }
    if args.output is not None:
        _write(Path(args.output), result)
        record["output"] = args.output
    if args.energy:
        record["energy"] = reporting.energy_of(lambda: plan.run(traces), device)
    return record


def _write(path: Path, result: object) -> None:
    from clgraph.algorithms.invariants import MiningResult
    from clgraph.graph.formats.writing import write_whole

    assert isinstance(result, MiningResult)  # noqa: S101 (for mypy: what a plan gives)
    if path.suffix == ".csv":
        write_whole(path, result.to_frame().to_csv(index=False))
        return
    text = result.to_smt() if path.suffix == ".smt2" else result.text()
    write_whole(path, text + "\n" if text else "")


def _render(record: Record) -> str:
    trace, found = record["trace"], record["invariants"]
    lines = [
        (
            "trace",
            f"{', '.join(trace['files'])}: {len(trace['variables']):,} variables, "
            f"{trace['instants']:,} instants",
        ),
        ("device", f"{record['device']['index']} {record['device']['name']}"),
        ("found", f"{len(found):,} invariants"),
        *reporting.times_text(record, "run"),
    ]
    if "energy" in record:
        lines.append(("energy", reporting.joules_text(record["energy"], "run", "runs")))
    if "output" in record:
        lines.append(("wrote", record["output"]))
    shown = found[:SHOWN]
    if len(found) > SHOWN:
        shown = [*shown, f"... {len(found) - SHOWN:,} more; --output writes all"]
    return "\n".join([pairs(lines), *shown])


COMMAND = Command(
    "mine",
    "Likely invariants of the traces of a system: what holds at every instant",
    _add_arguments,
    _run,
    _render,
)
