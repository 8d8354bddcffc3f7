"""``clgraph convert IN OUT``: write a graph in another format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from clgraph.cli.command import FORMATS, Command, Record, add_reading, reading_options
from clgraph.cli.progress import Progress
from clgraph.cli.text import pairs

if TYPE_CHECKING:
    import argparse

__all__ = ["COMMAND"]


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_reading(parser)
    parser.add_argument("output", help="file to write; .gz .bz2 .xz .zst are packed on the fly")
    parser.add_argument(
        "--to", choices=FORMATS, help="format to write (default: by the extension of the output)"
    )
    parser.add_argument("--no-weights", action="store_true", help="leave the weights out")
    parser.add_argument(
        "--symmetrize",
        action="store_true",
        help="add the reverse of every edge of a directed graph",
    )


def _run(args: argparse.Namespace) -> Record:
    import clgraph
    from clgraph.cli.searching import check_place
    from clgraph.graph.formats.registry import format_of

    format_of(args.output, args.to)  # before a graph is read that has no place
    check_place(args.output, args.file)
    with Progress() as progress:
        graph = clgraph.read(
            args.file,
            weighted=False if args.no_weights else None,
            progress=progress.callback,
            **reading_options(args),
        )
        if args.symmetrize:
            graph = graph.symmetrized()
        clgraph.write(graph, args.output, format=args.to, progress=progress.callback)
    return {
        "input": args.file,
        "output": args.output,
        "vertices": graph.n,
        "edges": graph.m,
        "directed": graph.directed,
        "weighted": graph.weights is not None,
        "size_bytes": Path(args.output).stat().st_size,
    }


def _render(record: Record) -> str:
    return pairs(
        [
            ("read", record["input"]),
            (
                "graph",
                f"{record['vertices']:,} vertices, {record['edges']:,} stored edges, "
                f"{'directed' if record['directed'] else 'undirected'}, "
                f"{'weighted' if record['weighted'] else 'unweighted'}",
            ),
            ("wrote", f"{record['output']}, {record['size_bytes']:,} bytes"),
        ]
    )


COMMAND = Command(
    "convert", "Read a graph and write it in another format", _add_arguments, _run, _render
)
