"""What commands that run a plan share: their options, what they write, how they are shown."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import importlib.util
import itertools
import math
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from clgraph.cli.command import reading_options
from clgraph.cli.progress import Progress
from clgraph.cli.text import table
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from clgraph import Graph
    from clgraph.cli.command import Record
    from clgraph.device import Device

__all__ = [
    "Result",
    "add_running",
    "add_search",
    "amount",
    "cell",
    "check_output",
    "check_place",
    "device_record",
    "energy_of",
    "joules_text",
    "labelled",
    "levels_record",
    "levels_table",
    "needs_matplotlib",
    "place_record",
    "place_text",
    "positive",
    "read_graph",
    "repeated",
    "speed_text",
    "start_text",
    "times_record",
    "times_text",
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
SHOWN_LEVELS = 40
ENERGY_SECONDS = 2.0


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


def add_search(parser: argparse.ArgumentParser) -> None:
    """Declare what every search can be told, but for where it starts."""
    parser.add_argument("--config", help="name of a preset (default: auto)")
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


def place_record(graph: Graph, device: Device) -> Record:
    """Tell what was searched, and where."""
    return {
        "graph": {
            "vertices": graph.n,
            "edges": graph.m,
            "directed": graph.directed,
            "weighted": graph.weights is not None,
        },
        "device": device_record(device),
    }


def device_record(device: Device) -> Record:
    """Tell which device it was."""
    return {
        "index": f"{device.index[0]}:{device.index[1]}",
        "name": device.name,
        "platform": device.platform,
        "driver": device.driver,
    }


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
    return result, times_record(kernel_ms, total_ms)


def levels_record(levels: NDArray[Any]) -> list[Record]:
    """Rows of a structured array as dictionaries."""
    names = levels.dtype.names or ()
    return [dict(zip(names, row, strict=True)) for row in levels.tolist()]


def place_text(record: Record) -> list[tuple[str, str]]:
    """Lines about the graph and the device."""
    graph, device = record["graph"], record["device"]
    return [
        (
            "graph",
            f"{graph['file']}: {graph['vertices']:,} vertices, {graph['edges']:,} stored edges, "
            f"{'directed' if graph['directed'] else 'undirected'}",
        ),
        ("device", f"{device['index']} {device['name']} ({device['platform']})"),
    ]


def times_record(kernel_ms: list[float], total_ms: list[float]) -> Record:
    """Medians of repeated searches."""
    return {
        "repeat": len(kernel_ms),
        "kernel_ms": statistics.median(kernel_ms),
        "kernel_ms_min": min(kernel_ms),
        "kernel_ms_max": max(kernel_ms),
        "total_ms": statistics.median(total_ms),
    }


def times_text(record: Record, what: str = "search") -> list[tuple[str, str]]:
    """Lines about kernel and total time of each of what was run."""
    several = record["repeat"] > 1
    spread = (
        f" (median of {record['repeat']}: {record['kernel_ms_min']:.3f} to "
        f"{record['kernel_ms_max']:.3f})"
        if several
        else ""
    )
    return [
        ("kernel", f"{record['kernel_ms']:.3f} ms{spread}"),
        (
            "total",
            f"{record['total_ms']:.3f} ms per {what}, after {record['read_s']:.2f} s to read and "
            f"{record['build_s']:.2f} s to prepare",
        ),
    ]


def energy_of(search: Callable[[], object], device: Device) -> Record:
    """Measure joules of a search, repeated for long enough; or say why not."""
    from clgraph import energy

    meter = energy.find_meter(device)
    meter.close()
    if isinstance(meter, energy.NoMeter):
        return {"joules_per_run": None, "source": meter.source, "note": meter.note}
    measured = energy.per_run(
        search,
        min_seconds=ENERGY_SECONDS,
        device=device,
    )
    return dataclasses.asdict(measured)


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


def start_text(record: Record) -> str:
    """Where a search began."""
    label = record["source_label"]
    return f"{record['source']:,}" + (f" (called {label} in the file)" if label is not None else "")


def speed_text(record: Record) -> str:
    """Edges per second of a search, and how many they were."""
    mteps, edges = record["mteps"], record["edges_traversed"]
    speed = f"{mteps:,.1f} MTEPS" if mteps < 1e4 else f"{mteps / 1e3:,.1f} GTEPS"
    return f"{speed} ({edges:,} edges traversed)"


def joules_text(energy: Record, one: str = "search", many: str = "searches") -> str:
    """Joules of a search, or whatever was run, and how they were measured."""
    joules = energy["joules_per_run"]
    if joules is None:
        return f"not measured: {energy['note']}"
    spread = f" +-{50 * energy['spread']:.1f} %" if energy["spread"] is not None else ""
    idle = f", idle {energy['idle_watts']:.0f} W" if energy["idle_watts"] is not None else ""
    return (
        f"{joules:.4g} J per {one}{spread}, {energy['mean_watts']:.0f} W mean{idle} "
        f"({energy['runs']:,} {many} in {energy['seconds']:.1f} s; {energy['source']})"
    )


def levels_table(levels: list[Record]) -> str:
    """Every level of a search, or the first and last of many."""
    if not levels:
        return "no levels recorded"
    head = list(levels[0])
    left = len(levels) - SHOWN_LEVELS
    rows = [[f"{level:,}", *map(_figure, row.values())] for level, row in enumerate(levels)]
    if left > 0:
        rows = rows[: SHOWN_LEVELS // 2] + rows[-SHOWN_LEVELS // 2 :]
    text = table(["level", *head], rows)
    if left > 0:
        lines = text.split("\n")
        lines.insert(1 + SHOWN_LEVELS // 2, f"... {left:,} levels; --json shows all")
        text = "\n".join(lines)
    return text


def _figure(value: object) -> str:
    if isinstance(value, float):
        return "-" if math.isnan(value) else f"{value:.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


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
