"""What commands that run a plan share: their options, what they write, how they are shown."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import itertools
import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from clgraph.cli import reporting
from clgraph.cli.command import reading_options
from clgraph.cli.progress import Progress
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from clgraph import Graph
    from clgraph.cli.command import Record

__all__ = [
    "Result",
    "add_config",
    "add_running",
    "add_search",
    "amount",
    "cell",
    "check_output",
    "check_place",
    "labelled",
    "needs_matplotlib",
    "positive",
    "read_graph",
    "repeated",
    "vertex_names",
    "whole",
    "write_columns",
    "write_result",
]

Run = TypeVar("Run", bound="Timed")

OUTPUTS = (".npz", ".csv")
ROWS_TOGETHER = 1 << 14
# What makes a spreadsheet take the text of a cell for a formula.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


class Timed(Protocol):
    """What a plan gives."""

    @property
    def stats(self) -> Any:
        """With ``kernel_ms`` and ``total_ms``."""


class Result(Protocol):
    """What is written of a search."""

    @property
    def distances(self) -> NDArray[Any]:
        """One for each vertex."""

    @property
    def predecessors(self) -> NDArray[Any] | None:
        """One for each vertex, or None."""


def positive(text: str) -> int:
    """Read a whole number from 1 on, as argparse wants it."""
    return whole(text, least=1)


def whole(text: str, least: int = 0) -> int:
    """Read a whole number that is not below `least`, as argparse wants it."""
    with contextlib.suppress(ValueError):
        number = int(text)
        if number >= least:
            return number
    raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least {least}")


def amount(text: str) -> float:
    """Read a positive number, as argparse wants it."""
    with contextlib.suppress(ValueError):
        number = float(text)
        if number > 0 and math.isfinite(number):
            return number
    raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")


def add_running(parser: argparse.ArgumentParser) -> None:
    """Declare where a plan runs, how often, and what becomes of it."""
    parser.add_argument(
        "--device", help="part of a name, gpu, cpu, or an index as 'clgraph devices' shows it"
    )
    parser.add_argument(
        "--repeat", type=positive, default=1, metavar="N", help="run N times, show the median"
    )
    parser.add_argument(
        "--energy", action="store_true", help="measure joules per run, over at least two seconds"
    )
    parser.add_argument("--output", metavar="FILE", help="write the result to FILE.npz or FILE.csv")


def add_config(parser: argparse.ArgumentParser) -> None:
    """Declare a preset."""
    parser.add_argument("--config", help="name of a preset (default: auto)")


def add_search(parser: argparse.ArgumentParser) -> None:
    """Declare what every search can be given, but for where it starts."""
    add_config(parser)
    add_running(parser)
    parser.add_argument(
        "--predecessors", action="store_true", help="label a shortest-path tree too"
    )
    parser.add_argument("--levels", action="store_true", help="show every level of the search")


def check_output(path: str | None, *inputs: str | None) -> None:
    """Refuse a file for results that is of no kind that can be written, has no place, or is read.

    Parameters
    ----------
    path : str or None
        The file.
    *inputs : str, path or None
        Files that the same command reads.
    """
    if path is not None and Path(path).suffix not in OUTPUTS:
        raise InvalidArgumentError(
            f"--output {path} ends in neither {' nor '.join(OUTPUTS)}; name it so."
        )
    check_place(path, *inputs)


def check_place(path: str | Path | None, *inputs: str | Path | None) -> None:
    """Refuse a file that has no place or is an input, before the work whose result it is to hold.

    Parameters
    ----------
    path : str or path-like
        The file.
    *inputs : str, path or None
        Files that the same command reads.
    """
    if path is not None and not Path(path).parent.is_dir():
        raise InvalidArgumentError(f"{path} cannot be written: its folder does not exist.")
    if path is not None and Path(path).is_dir():
        raise InvalidArgumentError(f"{path} cannot be written: it is a folder.")
    for read in inputs:
        with contextlib.suppress(OSError):  # one of them does not exist
            if path is not None and read is not None and Path(path).samefile(read):
                raise InvalidArgumentError(
                    f"{path} is the file that is read, {read}; write to another one."
                )


def labelled(graph: Graph, label: str) -> int:
    """Give the vertex that the file calls `label`."""
    if graph.labels is None:
        raise InvalidArgumentError(
            "the ids of this file leave no gaps, so its vertices have no labels; use --source."
        )
    found = [vertex for vertex, known in enumerate(graph.labels.tolist()) if str(known) == label]
    if not found:
        raise InvalidArgumentError(f"--source-label {label}: no vertex of the file is called so.")
    return found[0]


def read_graph(args: argparse.Namespace) -> tuple[Graph, float]:
    """Read the graph that a command is about; give the seconds it took too."""
    import clgraph

    began = time.perf_counter()
    with Progress() as progress:
        graph = clgraph.read(args.file, progress=progress.callback, **reading_options(args))
    return graph, time.perf_counter() - began


def repeated(run: Callable[[], Run], times: int) -> tuple[Run, Record]:
    """Run a plan some times; give the last result and the record of its times."""
    with Progress("building and running kernels"):  # PoCL builds most of them at the first launch
        result = run()
    kernel_ms, total_ms = [result.stats.kernel_ms], [result.stats.total_ms]
    for _ in range(times - 1):
        result = run()
        kernel_ms.append(result.stats.kernel_ms)
        total_ms.append(result.stats.total_ms)
    return result, reporting.times_record(kernel_ms, total_ms)


def write_result(path: str, graph: Graph, result: Result, source: Any) -> None:
    """Write distances, and predecessors if there are any, as npz or csv."""
    columns: dict[str, Any] = {"distances": result.distances}
    if result.predecessors is not None:
        columns["predecessors"] = result.predecessors
    names = [name.removesuffix("s") for name in columns]
    write_columns(path, graph, columns, names, labels=graph.labels, source=source)


def vertex_names(graph: Graph) -> NDArray[Any]:
    """Give what the file calls each vertex, or its number [n]."""
    import numpy as np

    return np.arange(graph.n) if graph.labels is None else np.asarray(graph.labels)


def write_columns(
    path: str, graph: Graph, columns: dict[str, Any], names: list[str], **others: Any
) -> None:
    """Write a value or several for each vertex.

    Parameters
    ----------
    path : str
        Ends in .npz, or in .csv.
    graph : Graph
        Whose vertices they are; what its file calls them stands in the first column.
    columns : dict of str to array [n]
        By their names in the archive.
    names : list of str
        Their names in the table.
    others
        What the archive holds besides, but for what is None.
    """
    from clgraph.graph.formats.archive import packed
    from clgraph.graph.formats.writing import written

    with written(path) as file:
        if Path(path).suffix == ".npz":
            known = {name: value for name, value in others.items() if value is not None}
            file.write(packed(known | columns, compress=True))
            return
        file.write((",".join(["vertex", *names]) + "\n").encode())
        ids = vertex_names(graph)
        rows = zip(ids.tolist(), *(column.tolist() for column in columns.values()), strict=True)
        while text := "".join(
            ",".join(map(cell, row)) + "\n" for row in itertools.islice(rows, ROWS_TOGETHER)
        ):
            file.write(text.encode("utf-8", "backslashreplace"))


def cell(value: object) -> str:
    """One field of a CSV file: quoted where it must be, and never what a spreadsheet would run."""
    text = str(value)
    if isinstance(value, str) and text.startswith(FORMULA_STARTS):
        text = "'" + text
    if any(mark in text for mark in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def needs_matplotlib(option: str) -> None:
    """Refuse an option that draws, before anything is measured, where nothing can be drawn.

    Raises
    ------
    InvalidArgumentError
        If matplotlib is not installed.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise InvalidArgumentError(
            f"{option} needs matplotlib, which is not installed; install clgraph[plot]."
        )
