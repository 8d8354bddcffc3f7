"""What the commands of searches share: where they start, what is said of them, and their levels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clgraph.cli import reporting, searching
from clgraph.cli.algorithms.shared import Report, rendered

if TYPE_CHECKING:
    import argparse

    from clgraph.cli.command import Record
    from clgraph.graph import Graph

__all__ = ["add_start", "report", "shown"]


def add_start(parser: argparse.ArgumentParser, **source: Any) -> None:
    """Declare where a search starts: by number, as `source` says more of, or by the file's name."""
    start = parser.add_mutually_exclusive_group()
    start.add_argument("--source", type=int, **source)
    start.add_argument(
        "--source-label", metavar="ID", help="start from the vertex that the file calls ID"
    )


def report(
    args: argparse.Namespace, graph: Graph, result: Any, first: int, entries: Record
) -> Report:
    """Say of a search from a vertex, perhaps among others, what all of them have."""
    stats = result.stats
    said = {
        "config": stats.config.as_dict(),
        "source_label": None if graph.labels is None else graph.labels[first],
        "reached": result.reached,
    }
    if args.levels:
        said["levels"] = reporting.levels_record(stats.per_level)

    def write(path: str) -> None:
        searching.write_result(path, graph, result, args.source)

    return Report(said | entries, write, stats.edges_traversed)


def shown(record: Record, said: list[tuple[str, str]]) -> str:
    """Give the text of a record: its own lines, those that all searches have, and levels."""
    text = rendered(record, said, "search", "searches")
    return text + "\n\n" + reporting.levels_table(record["levels"]) if "levels" in record else text
