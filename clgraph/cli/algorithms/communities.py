"""``clgraph communities FILE``: parts of a graph with more edges within than expected."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from clgraph.cli import reporting, searching
from clgraph.cli.command import Command, Record, add_reading
from clgraph.cli.progress import Progress
from clgraph.cli.text import pairs
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from clgraph import CommunitiesResult, Graph
    from clgraph.device import Device

__all__ = ["COMMAND"]

METHODS = ("leiden", "louvain", "propagation")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_reading(parser)
    parser.add_argument("--method", choices=METHODS, default="leiden", help="default: leiden")
    parser.add_argument("--config", help="name of a preset (default: auto)")
    parser.add_argument(
        "--resolution", type=searching.amount, help="the higher, the smaller they are (default: 1)"
    )
    parser.add_argument("--seed", type=searching.whole, help="of all choices (default: 0)")
    parser.add_argument(
        "--iterations", type=searching.positive, help="how often the whole is done (default: 2)"
    )
    parser.add_argument("--rounds", type=searching.whole, help="of label propagation (default: 10)")
    parser.add_argument(
        "--no-weights", action="store_true", help="take every edge as weighing the same"
    )
    searching.add_running(parser)


def _run(args: argparse.Namespace) -> Record:
    searching.check_output(args.output, args.file)
    options = _options(args)
    import clgraph

    clgraph.CommunitiesConfig.of(args.config)  # before the file is read
    device = clgraph.device(args.device)
    graph, read_s = searching.read_graph(args)
    if args.method != "propagation" and graph.directed:
        graph = graph.symmetrized()
    began = time.perf_counter()
    with Progress("building kernels") as progress:
        how: dict[str, Any] = {
            "config": args.config,
            "device": device,
            "progress": progress.callback,
        }
        plan: Any
        if args.method == "propagation":
            plan = clgraph.LabelPropagation(graph, **how)
        else:
            kind = clgraph.Leiden if args.method == "leiden" else clgraph.Louvain
            plan = kind(graph, weights=not args.no_weights, **how)
    build_s = time.perf_counter() - began

    def run() -> CommunitiesResult:
        found: CommunitiesResult = plan.run(**options)
        return found

    record = _detect(run, graph, device, args)
    record["graph"]["file"] = args.file
    record["read_s"], record["build_s"] = read_s, build_s
    return record


def _options(args: argparse.Namespace) -> dict[str, Any]:
    """Give what the run is asked for.

    Raises
    ------
    InvalidArgumentError
        If an option is of another method.
    """
    names = ("rounds",) if args.method == "propagation" else ("resolution", "seed", "iterations")
    for name in ("resolution", "seed", "iterations", "rounds"):
        if name not in names and getattr(args, name) is not None:
            raise InvalidArgumentError(
                f"--{name} is not about --method {args.method}; leave it out."
            )
    if args.no_weights and args.method == "propagation":
        raise InvalidArgumentError("--no-weights: label propagation ignores them anyway.")
    given = {name: getattr(args, name) for name in names}
    return {name: value for name, value in given.items() if value is not None}


def _detect(
    run: Callable[[], CommunitiesResult], graph: Graph, device: Device, args: argparse.Namespace
) -> Record:
    import clgraph

    result, times = searching.repeated(run, args.repeat)
    stats = result.stats
    quality = result.modularity
    if quality is None:
        quality = clgraph.modularity(graph, result, weights=not args.no_weights, device=device)
    sizes = result.sizes
    record: Record = {
        **reporting.place_record(graph, device),
        "method": args.method,
        "preset": args.config or "auto",
        "config": stats.config,
        "communities": result.count,
        "modularity": quality,
        "largest": int(sizes.max(initial=0)),
        "singletons": int((sizes == 1).sum()),
        **times,
        "launches": stats.launches,
        "levels": stats.levels,
        "medges_per_s": stats.edges_per_s / 1e6,
    }
    if args.output is not None:
        columns = {"labels": result.labels}
        names = ["community"]
        searching.write_columns(args.output, graph, columns, names, vertex_labels=graph.labels)
        record["output"] = args.output
    if args.energy:
        record["energy"] = reporting.energy_of(run, device)
    return record


def _render(record: Record) -> str:
    lines = [
        *reporting.place_text(record),
        ("config", f"{record['preset']}, {record['method']}, {record['config']}"),
        (
            "found",
            f"{record['communities']:,} communities, modularity {record['modularity']:.4f}; the "
            f"largest has {record['largest']:,} vertices, {record['singletons']:,} have one",
        ),
        *reporting.times_text(record, "run"),
        ("speed", f"{record['medges_per_s']:,.1f} million edges per second"),
    ]
    if "energy" in record:
        lines.append(("energy", reporting.joules_text(record["energy"], "run", "runs")))
    if "output" in record:
        lines.append(("wrote", record["output"]))
    return pairs(lines)


COMMAND = Command(
    "communities",
    "Communities by Leiden, Louvain or label propagation, timed and metered",
    _add_arguments,
    _run,
    _render,
)
