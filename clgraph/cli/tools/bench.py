"""``clgraph bench``: measure the suites, beside other libraries, and compare two records.

The runner is a package of its own: ``clgraph/bench`` in an installed wheel, ``bench`` beside the
package in a checkout. It is loaded only when it is asked for.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clgraph.cli.command import Command, Record
from clgraph.cli.searching import amount, check_place, needs_matplotlib, positive, whole
from clgraph.cli.text import as_json
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    import argparse

__all__ = ["COMMAND", "load_runner"]

PACKAGE = Path(__file__).resolve().parents[2]
NAME = "clgraph.bench"
STDOUT = "-"
SUITES = (
    "quick",
    "processors",
    "papers",
    "presets",
    "full",
    "gap",
    "graphalytics",
    "communities",
)
REGRESSION, CASE_FAILED, INTERRUPTED = 1, 1, 130


def load_runner(module: str) -> Any:
    """Import a module of the runner, under one name wherever it lies.

    Parameters
    ----------
    module : str
        Dotted name within the package.

    Returns
    -------
    module
        ``clgraph.bench.<module>``.

    Raises
    ------
    ImportError
        If this installation was made without the runner.
    """
    if NAME not in sys.modules and not (PACKAGE / "bench").is_dir():
        folder = PACKAGE.parent / "bench"
        spec = importlib.util.spec_from_file_location(
            NAME, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )
        if spec is None or spec.loader is None or not (folder / "__init__.py").exists():
            raise ImportError(f"the benchmark runner is not installed: there is no {folder}.")
        package = importlib.util.module_from_spec(spec)
        sys.modules[NAME] = package
        spec.loader.exec_module(package)
    return importlib.import_module(f"{NAME}.{module}")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "words",
        nargs="*",
        metavar="list | compare A B",
        help="list the cases of the suite, or compare two records, instead of measuring",
    )
    parser.add_argument(
        "--suite", choices=SUITES, default="quick", help="which cases (default quick)"
    )
    parser.add_argument(
        "--only", metavar="NAMES", help="graphs, algorithms or algorithm/graph, with commas between"
    )
    parser.add_argument(
        "--peers",
        metavar="NAMES",
        help="libraries to measure beside, for example scipy,igraph; all",
    )
    parser.add_argument(
        "--external", type=Path, metavar="FILE", help="native codes to measure beside, in TOML"
    )
    parser.add_argument(
        "--config",
        metavar="PRESETS",
        help="presets to measure in turn, with commas between; all; default as the suite has it",
    )
    parser.add_argument("--device", help="as 'clgraph devices' shows it")
    parser.add_argument(
        "--sources", type=positive, default=64, metavar="N", help="searches per pass (default 64)"
    )
    parser.add_argument(
        "--reach",
        type=whole,
        default=0,
        metavar="N",
        help="single searches only from sources that reach N vertices (default any with edges)",
    )
    parser.add_argument(
        "--passes", type=positive, default=15, metavar="N", help="most passes (default 15)"
    )
    parser.add_argument(
        "--narrow",
        type=amount,
        default=0.02,
        metavar="X",
        help="passes end when the interval of their median is narrower (default 0.02 of it)",
    )
    parser.add_argument(
        "--budget",
        type=amount,
        default=5.0,
        metavar="S",
        help="seconds of passes per case (default 5)",
    )
    parser.add_argument(
        "--validate",
        type=whole,
        default=2,
        metavar="N",
        help="searches checked in full (default 2)",
    )
    parser.add_argument("--energy", action="store_true", help="measure joules per search")
    parser.add_argument(
        "--energy-seconds", type=amount, default=2.5, metavar="S", help="window (default 2.5)"
    )
    parser.add_argument("--graphs", type=Path, metavar="DIR", help="folder of NAME.bcsr graphs")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of real graphs")
    parser.add_argument(
        "--seed",
        type=whole,
        metavar="N",
        help="what graphs are generated with, also those of --graphs (default as on record)",
    )
    parser.add_argument(
        "--download", action="store_true", help="fetch real graphs that are in no folder"
    )
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page with plots")
    parser.add_argument("--resume", type=Path, metavar="FILE", help="keep the cases of this record")
    parser.add_argument("--commit", help="what is measured, where the checkout does not say")


def _run(args: argparse.Namespace) -> Record:
    if args.words:
        return _words(args)
    peers = _peers(args.peers)
    if args.external is not None:
        load_runner("peers.external").load(args.external)  # refused before anything runs
    settings = load_runner("runner.measure").Settings(
        sources=args.sources,
        passes=args.passes,
        budget_s=args.budget,
        validate=args.validate,
        energy_s=args.energy_seconds if args.energy else 0.0,
        narrow=args.narrow,
        presets=tuple(args.config.split(",")) if args.config else (),
        peers=peers,
        external=args.external,
        reach=args.reach,
    )
    if args.html is not None:
        needs_matplotlib("--html")
    runner = load_runner("runner.runner")
    file = _json_file(args)
    seed = load_runner("runner.pinned").SEED if args.seed is None else args.seed
    places = load_runner("runner.graphs").Places(args.graphs, args.data, args.download, seed)
    inputs = runner.Inputs(places, file, args.resume, args.commit)
    _check_places(args, file)
    try:
        record: Record = runner.run(
            args.suite,
            settings,
            device=args.device,
            inputs=inputs,
            only=_only(args),
            report=_report,
        )
    except runner.InterruptedRun as interrupted:
        record = interrupted.record
    if args.html is not None:
        page = load_runner("report.html").page([record])
        _write(args.html, page)
    return record


def _only(args: argparse.Namespace) -> tuple[str, ...]:
    return tuple(args.only.split(",")) if args.only else ()


def _words(args: argparse.Namespace) -> Record:
    """List or compare; neither makes a page or goes on with a record."""
    unused = [name for name in ("html", "resume") if getattr(args, name) is not None]
    if unused:
        raise InvalidArgumentError(
            f"'clgraph bench {args.words[0]}' measures nothing, so --{unused[0]} has no meaning; "
            "leave it out."
        )
    file = _json_file(args)
    _check_places(args, file)
    if args.words == ["list"]:
        record: Record = load_runner("runner.suites").listed(args.suite, _only(args))
    else:
        record = _compare(args)
    if file is not None:
        _write(file, as_json(record) + "\n")
    return record


def _write(path: Path, text: str) -> None:
    from clgraph.graph.formats.writing import written

    with written(path, compress=False) as file:
        file.write(text.encode("utf-8", "backslashreplace"))


def _json_file(args: argparse.Namespace) -> Path | None:
    return Path(args.json) if args.json not in {None, STDOUT} else None


def _check_places(args: argparse.Namespace, file: Path | None) -> None:
    """Refuse before anything runs what would otherwise cost a finished run its record."""
    compared = args.words[1:] if args.words[:1] == ["compare"] else ()
    for output in (file, args.html):
        check_place(output, args.external, *compared)
    for folder in (args.graphs, args.data):
        if folder is not None and not folder.is_dir():
            raise InvalidArgumentError(f"{folder} is no folder to look for graphs in.")


def _peers(names: str | None) -> tuple[str, ...]:
    if not names:
        return ()
    libraries = load_runner("peers.libraries").LIBRARIES
    if names == "all":
        version_of = load_runner("peers.peer").version_of
        return tuple(name for name, package in libraries.items() if version_of(package))
    unknown = [name for name in names.split(",") if name not in libraries]
    if unknown:
        raise InvalidArgumentError(
            f"--peers: {', '.join(unknown)} is not one of {', '.join(libraries)}, or all."
        )
    return tuple(names.split(","))


def _compare(args: argparse.Namespace) -> Record:
    if len(args.words) != 3 or args.words[0] != "compare":
        raise InvalidArgumentError(
            f"'clgraph bench {' '.join(args.words)}' is not known; say 'clgraph bench compare A B' "
            "with two records, 'clgraph bench list', or only options."
        )
    records = load_runner("runner.records")
    before, after = (records.load(path) for path in args.words[1:])
    found: Record = load_runner("runner.compare").compare(before, after)
    return found


def _report(case: Record) -> None:
    """Show on stderr that a case is done."""
    sys.stderr.write(load_runner("report.text").progress_line(case) + "\n")


def _render(record: Record) -> str:
    if "listed" in record:
        text: str = load_runner("report.text").render_list(record)
        return text
    module = "report.text" if "schema" in record else "runner.compare"
    shown: str = load_runner(module).render(record)
    return shown


def _status(record: Record) -> int:
    if "listed" in record:
        return 0
    if "schema" not in record:
        return REGRESSION if record["regressions"] else 0
    if record["finished"] is None:
        return INTERRUPTED
    return CASE_FAILED if any(case["status"] == "failed" for case in record["cases"]) else 0


COMMAND = Command(
    "bench",
    "Measure the benchmark suites, or compare two records",
    _add_arguments,
    _run,
    _render,
    _status,
    json_file=True,
)
