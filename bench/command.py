"""The arguments of ``clgraph bench`` and ``python -m bench.run``, and what they do."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from . import runner, text
from .bfs import Settings
from .suites import SUITES

if TYPE_CHECKING:
    import argparse

    from .records import Record

__all__ = ["add_arguments", "measure"]

ENERGY_SECONDS = 2.5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what a run takes, apart from --json."""
    parser.add_argument(
        "--suite", choices=tuple(SUITES), default="quick", help="which cases (default quick)"
    )
    parser.add_argument("--only", metavar="GRAPHS", help="names of graphs, separated by commas")
    parser.add_argument("--config", default="auto", metavar="PRESET", help="default auto")
    parser.add_argument("--device", help="as 'clgraph devices' shows it")
    parser.add_argument(
        "--sources", type=_positive, default=64, metavar="N", help="searches per pass (default 64)"
    )
    parser.add_argument(
        "--passes", type=_positive, default=3, metavar="N", help="most passes (default 3)"
    )
    parser.add_argument(
        "--budget", type=float, default=5.0, metavar="S", help="seconds of passes per case"
    )
    parser.add_argument(
        "--validate", type=int, default=2, metavar="N", help="searches checked in full (default 2)"
    )
    parser.add_argument("--energy", action="store_true", help="measure joules per search")
    parser.add_argument(
        "--energy-seconds", type=float, default=ENERGY_SECONDS, metavar="S", help="shortest window"
    )
    parser.add_argument("--graphs", type=Path, metavar="DIR", help="folder of NAME.bcsr graphs")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of real graphs")
    parser.add_argument("--resume", type=Path, metavar="FILE", help="keep the cases of this record")
    parser.add_argument("--commit", help="what is measured, where the checkout cannot tell")


def _positive(word: str) -> int:
    number = int(word)
    if number < 1:
        raise ValueError(word)
    return number


def measure(args: argparse.Namespace, json_file: Path | None) -> Record:
    """Run what the arguments ask for.

    Parameters
    ----------
    args : Namespace
        Of a parser with `add_arguments`.
    json_file : Path or None
        Where the record goes, case by case.

    Returns
    -------
    dict
        The record.
    """
    settings = Settings(
        sources=args.sources,
        passes=args.passes,
        budget_s=args.budget,
        validate=args.validate,
        energy_s=args.energy_seconds if args.energy else 0.0,
        config=args.config,
    )
    inputs = runner.Inputs(args.graphs, args.data, json_file, args.resume, args.commit)
    return runner.run(
        args.suite,
        settings,
        device=args.device,
        inputs=inputs,
        only=args.only.split(",") if args.only else (),
        tell=_tell,
    )


def _tell(case: Record) -> None:
    """Show on stderr that a case is done."""
    if case["status"] == "ok":
        shown = text.headline(case, "")
        said = f"{text.figure(shown['median_ms'])} ms, {text.figure(shown['gteps'])} GTEPS"
    else:
        said = f"{case['status']}: {case['reason']}"
    sys.stderr.write(f"{case['key']}: {said} ({case['seconds']:.1f} s)\n")
