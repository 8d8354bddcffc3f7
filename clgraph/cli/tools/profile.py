"""``clgraph profile ALGORITHM FILE``: what the kernels of a run do with the device."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from clgraph.cli import searching
from clgraph.cli.command import Command, Record, add_reading
from clgraph.cli.progress import Progress
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from clgraph.device import Device
    from clgraph.graph import Graph

__all__ = ["COMMAND"]

# The plan of each algorithm, and whether a run of it starts from a vertex.
ALGORITHMS = {
    "bfs": ("BFS", True),
    "sssp": ("SSSP", True),
    "scc": ("SCC", False),
    "components": ("ConnectedComponents", False),
    "triangles": ("Triangles", False),
}


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("algorithm", choices=sorted(ALGORITHMS), help="what to run")
    add_reading(parser)
    parser.add_argument("--source", type=int, help="vertex to start from (default: of most edges)")
    parser.add_argument("--preset", help="configuration to run, by the name of a preset")
    parser.add_argument("--device", help="as 'clgraph devices' shows it")
    parser.add_argument(
        "--passes",
        default="all",
        metavar="NAMES",
        help="of time, sync, counters and card, separated by commas (default: all)",
    )
    parser.add_argument("--lanes", type=int, help="work-items that traces take for a SIMD group")
    parser.add_argument(
        "--weights", metavar="FILE", help="of the quality metric, or 'calibrated' for the device's"
    )
    parser.add_argument(
        "--html", type=Path, metavar="FILE", help="draw bars and a roofline to FILE"
    )


def _run(args: argparse.Namespace) -> Record:
    import clgraph
    from clgraph.profile.quality import Weights

    if args.html is not None:
        searching.needs_matplotlib("--html")
    searching.check_place(args.html, args.file, args.weights)
    weights: Weights | Literal["calibrated"] | None = None
    if args.weights is not None:
        weights = "calibrated" if args.weights == "calibrated" else Weights.load(args.weights)
    passes = args.passes if args.passes == "all" else tuple(args.passes.split(","))
    device = clgraph.device(args.device)
    graph, _ = searching.read_graph(args)
    with Progress("profiling") as progress:
        report = clgraph.profile(
            _call(args, graph, device),
            passes=passes,
            device=device,
            weights=weights,
            lanes=args.lanes,
            progress=progress.callback,
        )
    if args.html is not None:
        report.html(args.html)
    return {
        "algorithm": args.algorithm,
        "file": args.file,
        "preset": args.preset,
        **report.record(),
        "table": str(report),
    }


def _call(args: argparse.Namespace, graph: Graph, device: Device) -> Callable[[], Any]:
    import clgraph
    from clgraph.profile.running import runnable

    name, has_source = ALGORITHMS[args.algorithm]
    config = {} if args.preset is None else {"config": args.preset}
    if args.source is not None and not has_source:
        raise InvalidArgumentError(f"{args.algorithm} starts from no vertex; leave --source out.")
    plan = getattr(clgraph, name)(graph, device=device, **config)
    return runnable(plan) if args.source is None else lambda: plan.run(args.source)


def _render(record: Record) -> str:
    return str(record["table"])


COMMAND = Command(
    "profile",
    "Profile the kernels of an algorithm: criteria, quality metric, prediction",
    _add_arguments,
    _run,
    _render,
)
