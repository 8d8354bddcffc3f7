"""``clgraph bfs FILE``: breadth-first search of a graph in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clgraph.algorithms.bfs.config import BFSConfig
from clgraph.cli import reporting, searching
from clgraph.cli.algorithms import clustered, search
from clgraph.cli.algorithms.shared import Report, measured
from clgraph.cli.command import Command, Record, add_reading
from clgraph.cli.setting import add_setting, wanted

if TYPE_CHECKING:
    import argparse

    from clgraph import Graph

__all__ = ["COMMAND"]


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_reading(parser)
    search.add_start(parser, default=0, help="vertex to start from, counted from 0 (default 0)")
    searching.add_search(parser)
    add_setting(parser, BFSConfig)
    parser.add_argument("--max-depth", type=int, metavar="HOPS", help="go no further than this")
    clustered.add_cluster(parser)


def _run(args: argparse.Namespace) -> Record:
    searching.check_output(args.output, args.file)
    import clgraph

    # Before the file is read, as the device, which may be missing.
    config = wanted(BFSConfig, args.config, args.set)
    if args.cluster:
        return clustered.search(args, config)

    def make(graph: Graph, device: Any, progress: Any) -> Any:
        if args.source_label is not None:
            args.source = searching.labelled(graph, args.source_label)
        plan = clgraph.BFS(
            graph, predecessors=args.predecessors, config=config, device=device, progress=progress
        )
        return lambda: plan.run(args.source, max_depth=args.max_depth)

    def describe(graph: Graph, result: Any) -> Report:
        entries = {"source": args.source, "max_depth": args.max_depth, "depth": result.depth}
        return search.report(args, graph, result, args.source, entries)

    return measured(args, make, describe)


def _render(record: Record) -> str:
    if "ranks" in record:
        return clustered.render(record)
    config = record["config"]
    chosen = [config[name] for name in ("frontier", "balance", "pull") if name in config]
    lines = [
        ("config", f"{record['preset']}, {record['mode']} ({', '.join(chosen)})"),
        ("source", reporting.start_text(record)),
        ("reached", f"{reporting.reached_text(record)}, depth {record['depth']:,}"),
    ]
    return search.shown(record, lines)


COMMAND = Command(
    "bfs",
    "Breadth-first search from one vertex, timed and metered",
    _add_arguments,
    _run,
    _render,
)
