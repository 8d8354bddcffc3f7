"""``clgraph generate KIND ... OUT``: make a synthetic graph and write it."""

from __future__ import annotations

import argparse
import contextlib
import time
from pathlib import Path
from typing import TYPE_CHECKING

from clgraph.cli.command import FORMATS, Command, Record
from clgraph.cli.progress import Progress
from clgraph.cli.text import pairs

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["COMMAND", "KINDS"]

# By kind: its parameters, as the function of that name in clgraph.generate has them.
SIZE: dict[str, Callable[[str], float]] = {"width": int, "height": int}
KINDS: dict[str, dict[str, Callable[[str], float]]] = {
    "kron": {"scale": int, "edge_factor": float, "a": float, "b": float, "c": float},
    "rmat": {"scale": int, "edge_factor": float, "a": float, "b": float, "c": float},
    "random": {"n": int, "mean_degree": float},
    "grid2d": SIZE,
    "grid3d": {**SIZE, "depth": int},
    "mesh": SIZE,
    "geometric": {"n": int, "radius": float},
    "road": {**SIZE, "drop": float},
    "path": {"n": int},
    "star": {"n": int},
    "complete": {"n": int},
}
NEEDED = ("scale", "n", "width")


def _number(text: str) -> int | float:
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a number")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    kinds = parser.add_subparsers(dest="kind", metavar="KIND", required=True)
    for kind, parameters in KINDS.items():
        options = {name: f"--{name.replace('_', '-')}" for name in parameters}
        sub = kinds.add_parser(kind, help=", ".join(options.values()))
        for name, convert in parameters.items():
            sub.add_argument(options[name], type=convert, required=name in NEEDED, metavar="X")
        if kind == "random":
            sub.add_argument("--directed", action="store_true", help="edges go one way")
        sub.add_argument("--seed", type=int, default=0, help="one seed gives one graph (default 0)")
        sub.add_argument(
            "--weights",
            nargs=2,
            type=_number,
            metavar=("LOW", "HIGH"),
            help="draw weights from LOW to HIGH, whole numbers if both are",
        )
        sub.add_argument("output", help="file to write; .gz .bz2 .xz .zst are packed on the fly")
        sub.add_argument(
            "--format", choices=FORMATS, help="format to write (default: by the extension)"
        )
        # Also accepted behind the kind, where people write it.
        sub.add_argument("--json", action="store_true", default=argparse.SUPPRESS)


def _run(args: argparse.Namespace) -> Record:
    import clgraph
    from clgraph.cli.searching import check_place
    from clgraph.graph.formats.registry import format_of

    chosen = {name: getattr(args, name) for name in KINDS[args.kind]}
    options = {name: value for name, value in chosen.items() if value is not None}
    if args.kind == "random":
        options["directed"] = args.directed
    if args.weights is not None:
        options["weights"] = tuple(args.weights)
    format_of(args.output, args.format)  # before a graph is made that has no place
    check_place(args.output)
    began = time.perf_counter()
    graph = getattr(clgraph.generate, args.kind)(seed=args.seed, **options)
    made = time.perf_counter() - began
    with Progress() as progress:
        clgraph.write(graph, args.output, format=args.format, progress=progress.callback)
    return {
        "kind": args.kind,
        "parameters": {**options, "seed": args.seed},
        "vertices": graph.n,
        "edges": graph.m,
        "directed": graph.directed,
        "weighted": graph.weights is not None,
        "seconds": made,
        "output": args.output,
        "size_bytes": Path(args.output).stat().st_size,
    }


def _render(record: Record) -> str:
    parameters = ", ".join(f"{name}={value}" for name, value in record["parameters"].items())
    return pairs(
        [
            ("made", f"{record['kind']} ({parameters}) in {record['seconds']:.2f} s"),
            (
                "graph",
                f"{record['vertices']:,} vertices, {record['edges']:,} stored edges, "
                f"{'directed' if record['directed'] else 'undirected'}",
            ),
            ("wrote", f"{record['output']}, {record['size_bytes']:,} bytes"),
        ]
    )


COMMAND = Command(
    "generate", "Make a synthetic graph and write it to a file", _add_arguments, _run, _render
)
