"""``clgraph bfs FILE``: breadth-first search of a graph in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clgraph.algorithms.bfs.config import BFSConfig
from clgraph.cli import reporting, searching
from clgraph.cli.algorithms import clustered, search
from clgraph.cli.command import Command, Record, add_reading
from clgraph.cli.setting import add_setting, wanted

if TYPE_CHECKING:
    import argparse

    from clgraph import BFS, BFSResult, Graph
    from clgraph.device import Device

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

    config = wanted(
        BFSConfig, args.config, args.set
    )  # before the file is read, as the device, which may be missing
    if args.cluster:
        return clustered.search(args, config)
    device = clgraph.device(args.device)
    graph, read_s = searching.read_graph(args)
    if args.source_label is not None:
        args.source = searching.labelled(graph, args.source_label)
    plan, build_s = search.built(clgraph.BFS, graph, device, config, predecessors=args.predecessors)
    record = _search(plan, graph, device, args)
    record["graph"]["file"] = args.file
    record["read_s"], record["build_s"] = read_s, build_s
    return record


def _search(plan: BFS, graph: Graph, device: Device, args: argparse.Namespace) -> Record:
    def once() -> BFSResult:
        return plan.run(args.source, max_depth=args.max_depth)

    result, times = searching.repeated(once, args.repeat)
    stats = result.stats
    record: Record = {
        **reporting.place_record(graph, device),
        "preset": args.config or "auto",
        "config": stats.config.as_dict(),
        "mode": stats.mode,
        "source": args.source,
        "source_label": None if graph.labels is None else graph.labels[args.source],
        "max_depth": args.max_depth,
        "reached": result.reached,
        "depth": result.depth,
        **times,
        **search.speed(stats.edges_traversed, times),
    }
    search.finish(record, args, graph, result, once, device)
    return record


def _render(record: Record) -> str:
    if "ranks" in record:
        return clustered.render(record)
    graph = record["graph"]
    share = 100 * record["reached"] / graph["vertices"] if graph["vertices"] else 0.0
    lines = [
        *reporting.place_text(record),
        ("config", _config(record)),
        ("source", reporting.start_text(record)),
        (
            "reached",
            f"{record['reached']:,} vertices ({share:.1f} %), depth {record['depth']:,}",
        ),
        *reporting.times_text(record),
    ]
    return search.shown(record, lines)


def _config(record: Record) -> str:
    config = record["config"]
    chosen = [config[name] for name in ("frontier", "balance", "pull") if name in config]
    return f"{record['preset']}, {record['mode']} ({', '.join(chosen)})"


COMMAND = Command(
    "bfs",
    "Breadth-first search from one vertex, timed and metered",
    _add_arguments,
    _run,
    _render,
)
