"""``clgraph communities FILE``: parts of a graph with more edges within than expected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clgraph.cli import searching
from clgraph.cli.algorithms.shared import Report, columns_of, measured, rendered
from clgraph.cli.command import Command, Record, add_reading
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    import argparse

    from clgraph import Graph

__all__ = ["COMMAND"]

METHODS = ("leiden", "louvain", "propagation")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_reading(parser)
    parser.add_argument("--method", choices=METHODS, default="leiden", help="default: leiden")
    searching.add_config(parser)
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
    options = _options(args)
    import clgraph

    config = clgraph.CommunitiesConfig.of(args.config)  # before the file is read
    weights = {} if args.method == "propagation" else {"weights": not args.no_weights}
    kinds = {"leiden": clgraph.Leiden, "louvain": clgraph.Louvain}
    kind: Any = kinds.get(args.method, clgraph.LabelPropagation)

    def cleaned(graph: Graph) -> Graph:
        return graph.symmetrized() if weights and graph.directed else graph

    def make(graph: Graph, device: Any, progress: Any) -> Any:
        plan = kind(graph, config=config, device=device, progress=progress, **weights)
        return lambda: plan.run(**options)

    def describe(graph: Graph, result: Any) -> Report:
        quality, sizes = result.modularity, result.sizes
        if quality is None:
            quality = clgraph.modularity(
                graph, result, weights=not args.no_weights, device=clgraph.device(args.device)
            )
        entries = {
            "method": args.method,
            "communities": result.count,
            "modularity": quality,
            "largest": int(sizes.max(initial=0)),
            "singletons": int((sizes == 1).sum()),
            "levels": result.stats.levels,
            "medges_per_s": result.stats.edges_per_s / 1e6,
        }
        return Report(entries, columns_of(graph, {"labels": result.labels}, ["community"]))

    return measured(args, make, describe, cleaned)


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


def _render(record: Record) -> str:
    lines = [
        ("config", f"{record['preset']}, {record['method']}, {record['config']}"),
        (
            "found",
            f"{record['communities']:,} communities, modularity {record['modularity']:.4f}; the "
            f"largest has {record['largest']:,} vertices, {record['singletons']:,} have one",
        ),
        ("speed", f"{record['medges_per_s']:,.1f} million edges per second"),
    ]
    return rendered(record, lines)


COMMAND = Command(
    "communities",
    "Communities by Leiden, Louvain or label propagation, timed and metered",
    _add_arguments,
    _run,
    _render,
)
