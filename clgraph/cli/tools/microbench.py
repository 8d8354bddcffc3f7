"""``clgraph microbench``: what each operation of a device takes, in time and in energy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from clgraph.cli.command import Command, Record
from clgraph.cli.searching import check_place, needs_matplotlib, positive
from clgraph.cli.text import as_json
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    import argparse

__all__ = ["COMMAND"]


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "words",
        nargs="*",
        metavar="NAME",
        help="static, dynamic, cost, important, a family or a full name (default: all)",
    )
    parser.add_argument("--device", help="as 'clgraph devices' shows it")
    parser.add_argument(
        "--window",
        type=float,
        default=2.0,
        metavar="SECONDS",
        help="window of the power meter, at least 2; 0 for times only (default 2)",
    )
    parser.add_argument(
        "--occasions",
        type=positive,
        default=1,
        metavar="N",
        help="go through the list N times, for repeatability",
    )
    parser.add_argument(
        "--store",
        action="store_true",
        help="keep the record as the characterisation of this device and driver",
    )
    parser.add_argument("--html", type=Path, metavar="FILE", help="draw the curves to FILE")


def _run(args: argparse.Namespace) -> Record:
    import clgraph
    from clgraph.cli.progress import Progress
    from clgraph.graph.formats.writing import write_whole
    from clgraph.profile import microbenchmarks
    from clgraph.profile.microbenchmarks.page import page

    if args.window != 0 and not 2.0 <= args.window < 1e4:
        raise InvalidArgumentError(
            f"--window {args.window:g} is too short for a power meter; use 2 or more, or 0."
        )
    if args.html is not None:
        needs_matplotlib("--html")
    file = Path(args.json) if args.json not in {None, "-"} else None
    for output in (file, args.html):
        check_place(output)
    device = clgraph.device(args.device)
    with Progress() as progress:
        record = microbenchmarks.run(
            args.words,
            device=device,
            protocol=microbenchmarks.Protocol(window_s=args.window),
            occasions=args.occasions,
            progress=progress.callback,
        )
    if args.store:
        record["stored"] = str(microbenchmarks.store(record, device))
    if args.html is not None:
        write_whole(args.html, page(record))
    if file is not None:
        write_whole(file, as_json(record) + "\n")
    return record


def _render(record: Record) -> str:
    from clgraph.profile.microbenchmarks.page import text

    return text(record)


COMMAND = Command(
    "microbench",
    "Measure what each operation of a device takes, in time and in energy",
    _add_arguments,
    _run,
    _render,
    json_file=True,
)
