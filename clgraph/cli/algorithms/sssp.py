"""``clgraph sssp FILE``: shortest paths by weight through a graph in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clgraph.algorithms.sssp.config import SSSPConfig
from clgraph.cli import reporting, searching
from clgraph.cli.algorithms import search
from clgraph.cli.algorithms.shared import Report, measured
from clgraph.cli.algorithms.tuning import add_tuning, check_trace, trace_of, tuned_settings
from clgraph.cli.command import Command, Record, add_reading
from clgraph.cli.setting import add_setting, wanted
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    import argparse

    from clgraph import SSSP, Graph
    from clgraph.algorithms.sssp.resolved import ResolvedPaths

__all__ = ["COMMAND"]


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_reading(parser)
    search.add_start(
        parser,
        nargs="+",
        metavar="VERTEX",
        help="where paths may begin, counted from 0 (default 0)",
    )
    searching.add_search(parser)
    parser.add_argument(
        "--delta", type=float, help="how much the bound of near and far rises at a time"
    )
    add_tuning(parser)
    add_setting(parser, SSSPConfig)
    parser.add_argument("--target", type=int, metavar="VERTEX", help="stop when this one is known")
    parser.add_argument(
        "--max-distance", type=float, metavar="LENGTH", help="go no further than this"
    )


def _run(args: argparse.Namespace) -> Record:
    check_trace(args.trace, args.file)
    import clgraph

    config = _config_of(args)
    plan: SSSP

    def make(graph: Graph, device: Any, progress: Any) -> Any:
        nonlocal plan
        if graph.weights is None:
            raise InvalidArgumentError(
                f"{args.file} has no weights; 'clgraph bfs' finds distances in hops."
            )
        if args.source_label is not None:
            args.source = [searching.labelled(graph, args.source_label)]
        args.source = args.source or [0]
        sources = args.source if len(args.source) > 1 else args.source[0]
        plan = clgraph.SSSP(
            graph, predecessors=args.predecessors, config=config, device=device, progress=progress
        )
        return lambda: plan.run(sources, target=args.target, max_distance=args.max_distance)

    def describe(graph: Graph, result: Any) -> Report:
        stats, first = result.stats, args.source[0]
        entries: Record = {
            "preset": _preset_of(args, stats.config),
            "method": stats.config.method.name,
            "delta": stats.config.delta,
            "set_point": stats.config.set_point,
            "source": first if len(args.source) == 1 else args.source,
            "target": args.target,
            "max_distance": args.max_distance,
            "stages": stats.levels,
            "relaxations": stats.relaxations,
        }
        if args.target is not None:
            distance = result.distances[args.target]
            known = distance != plan.unreached
            entries["target_distance"] = distance.item() if known else None
            if args.predecessors:
                entries["path"] = result.path(args.target)
        if args.trace is not None:
            trace_of(args.trace, plan, result, args.source)
            entries["trace"] = args.trace
        return search.report(args, graph, result, first, entries)

    return measured(args, make, describe)


def _config_of(args: argparse.Namespace) -> SSSPConfig | str:
    settings, preset = list(args.set), args.config
    tuned = tuned_settings(args)
    if tuned:
        preset, settings = "self-tuning", [*tuned, *settings]
    elif args.delta is not None:
        if args.config not in (None, "auto", "near-far"):
            raise InvalidArgumentError(
                f"--delta is for the preset near-far, not for --config {args.config}."
            )
        preset, settings = "auto", ["method=near-far", f"method.delta={args.delta}", *settings]
    return wanted(SSSPConfig, preset, settings)


def _preset_of(args: argparse.Namespace, config: ResolvedPaths) -> str:
    if config.set_point:
        return "self-tuning"
    return "near-far" if args.delta is not None else args.config or "auto"


def _render(record: Record) -> str:
    begun = record["source"]
    lines = [
        (
            "config",
            f"{record['preset']}, {record['mode']} ({record['method']}"
            + (f", delta {record['delta']:g})" if record["delta"] else ")"),
        ),
        (
            "source",
            reporting.start_text(record) if isinstance(begun, int) else ", ".join(map(str, begun)),
        ),
        (
            "reached",
            f"{reporting.reached_text(record)} in {record['stages']:,} stages, "
            f"{record['relaxations']:,} relaxations",
        ),
    ]
    if "target_distance" in record:
        distance = record["target_distance"]
        lines.append(
            ("target", f"{record['target']}: {'no path' if distance is None else distance}")
        )
    if record.get("path"):
        lines.append(("path", " ".join(map(str, record["path"]))))
    if "trace" in record:
        lines.append(("drew", record["trace"]))
    if record["set_point"]:
        lines.insert(0, ("set-point", f"{record['set_point']:,.0f} edges per step"))
    return search.shown(record, lines)


COMMAND = Command(
    "sssp",
    "Shortest paths by weight from one or several vertices, timed and metered",
    _add_arguments,
    _run,
    _render,
)
