"""What a subcommand consists of, and arguments that several share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

__all__ = ["FORMATS", "Command", "Record", "add_reading", "reading_options"]

Record: TypeAlias = dict[str, Any]

FORMATS = (
    "mtx",
    "snap",
    "dimacs9",
    "metis",
    "koblenz",
    "edges",
    "csv",
    "npz",
    "el",
    "wel",
    "sg",
    "wsg",
)


@dataclass(frozen=True, slots=True)
class Command:
    """One subcommand.

    Attributes
    ----------
    name, summary : str
        As ``clgraph --help`` lists them.
    add_arguments : callable
        Declares its arguments on a parser; imports nothing that is slow.
    run : callable
        Does the work and gives the record that ``--json`` prints; an empty one where another rank
        prints it.
    render : callable
        Makes readable text of the record.
    status : callable
        Exit status for the record.
    json_file : bool
        Whether ``--json`` may name a file, which `run` writes then.
    """

    name: str
    summary: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], Record]
    render: Callable[[Record], str]
    status: Callable[[Record], int] = lambda _: 0
    json_file: bool = False


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Declare how a graph file is to be read."""
    parser.add_argument("file", help="graph file; .gz .bz2 .xz .zst are unpacked on the fly")
    parser.add_argument(
        "--format", choices=FORMATS, help="format of the file (default: by extension and header)"
    )
    parser.add_argument(
        "--max-vertices", type=int, metavar="N", help="refuse files with more (default: by size)"
    )
    parser.add_argument(
        "--max-bytes", type=int, metavar="N", help="refuse files that unpack to more"
    )
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument(
        "--directed",
        dest="directed",
        action="store_true",
        default=None,
        help="take every line as an edge one way, whatever the file says",
    )
    ways.add_argument(
        "--undirected",
        dest="directed",
        action="store_false",
        default=None,
        help="take every line as an edge both ways, whatever the file says",
    )


def reading_options(args: argparse.Namespace) -> dict[str, Any]:
    """Keyword arguments for ``clgraph.read``."""
    return {
        "format": args.format,
        "directed": args.directed,
        "max_vertices": args.max_vertices,
        "max_bytes": args.max_bytes,
    }
