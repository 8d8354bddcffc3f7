"""``clgraph core``, ``mst`` and ``color FILE``: cores, a spanning forest, colours or a set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clgraph.cli import searching
from clgraph.cli.algorithms.shared import (
    Report,
    add_common,
    columns_of,
    measured,
    rendered,
    seed,
)
from clgraph.cli.algorithms.triangles import write_edges
from clgraph.cli.command import Command, Record
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    import argparse

    from clgraph import Graph

__all__ = ["COLOR_COMMAND", "CORE_COMMAND", "MST_COMMAND"]

ORDERS = ("largest_first", "random_sequential")


def _add_core_arguments(parser: argparse.ArgumentParser) -> None:
    add_common(parser)
    searching.add_config(parser)
    parser.add_argument(
        "--k", type=searching.whole, help="find the k-core of this k (default: numbers of all)"
    )


def _run_core(args: argparse.Namespace) -> Record:
    import clgraph

    config = clgraph.CoresConfig.of(args.config)

    def make(graph: Graph, device: Any, progress: Any) -> Any:
        plan = clgraph.Cores(graph, config=config, device=device, clean=True, progress=progress)
        return lambda: plan.run(args.k)

    def describe(graph: Graph, result: Any) -> Report:
        entries = {
            "k": result.k,
            "max_k": result.max_k,
            "vertices": result.count,
            "rounds": len(result.stats.rounds),
        }
        if result.mask is not None:
            columns = {"core": result.mask.astype("uint8")}
        else:
            columns = {"core_number": result.numbers}
        return Report(entries, columns_of(graph, columns))

    return measured(args, make, describe)


def _render_core(record: Record) -> str:
    if record["k"] is None:
        found = f"core numbers up to {record['max_k']} of {record['vertices']:,} vertices"
    else:
        found = f"the {record['k']}-core, of {record['vertices']:,} vertices"
    rounds = f"{record['rounds']:,} in {record['launches']} launches, {record['mode']}"
    return rendered(record, [("found", found), ("rounds", rounds)])


def _add_mst_arguments(parser: argparse.ArgumentParser) -> None:
    add_common(parser)
    searching.add_config(parser)


def _run_mst(args: argparse.Namespace) -> Record:
    import clgraph

    config = clgraph.SpanningForestConfig.of(args.config)

    def make(graph: Graph, device: Any, progress: Any) -> Any:
        return clgraph.SpanningForest(graph, config=config, device=device, progress=progress).run

    def describe(graph: Graph, result: Any) -> Report:
        entries = {
            "weight": result.weight,
            "edges": int(result.edges.size),
            "trees": result.count,
            "rounds": result.stats.rounds,
        }
        columns = {"chosen": result.mask.astype("uint8")}
        return Report(entries, lambda path: write_edges(path, graph, columns))

    return measured(args, make, describe)


def _render_mst(record: Record) -> str:
    edges = f"{record['edges']:,} edges of weight {record['weight']:,}"
    found = f"{edges} make {record['trees']:,} trees"
    rounds = f"{len(record['rounds'])} in {record['launches']} launches"
    return rendered(record, [("found", found), ("rounds", rounds)])


def _add_color_arguments(parser: argparse.ArgumentParser) -> None:
    add_common(parser)
    parser.add_argument("--seed", type=seed, default=0, help="of the order (default 0)")
    parser.add_argument(
        "--order", choices=ORDERS, help="which vertices come first (default: largest_first)"
    )
    parser.add_argument(
        "--independent",
        action="store_true",
        help="find a maximal independent set instead: vertices none of which are neighbours",
    )


def _run_color(args: argparse.Namespace) -> Record:
    if args.independent and args.order:
        raise InvalidArgumentError("--order is for colours, and not with --independent.")
    import clgraph

    def make(graph: Graph, device: Any, progress: Any) -> Any:
        simple = graph.symmetrized()
        plan: Any
        if args.independent:
            plan = clgraph.IndependentSet(simple, device=device, progress=progress)
        else:
            order = args.order or ORDERS[0]
            plan = clgraph.Coloring(simple, order=order, device=device, progress=progress)
        return lambda: plan.run(args.seed)

    def describe(graph: Graph, result: Any) -> Report:
        if args.independent:
            columns = {"chosen": result.mask.astype("uint8")}
        else:
            columns = {"color": result.colors}
        entries = {
            "seed": args.seed,
            "independent": args.independent,
            "count": result.count,
            "rounds": len(result.stats.rounds),
        }
        return Report(entries, columns_of(graph, columns))

    return measured(args, make, describe)


def _render_color(record: Record) -> str:
    what = "vertices, none of them neighbours" if record["independent"] else "colours"
    rounds = f"{record['rounds']:,} in {record['launches']} launches"
    return rendered(record, [("found", f"{record['count']:,} {what}"), ("rounds", rounds)])


CORE_COMMAND = Command(
    "core",
    "Core numbers of the vertices, or one k-core, timed and metered",
    _add_core_arguments,
    _run_core,
    _render_core,
)
MST_COMMAND = Command(
    "mst",
    "A minimum spanning forest, timed and metered",
    _add_mst_arguments,
    _run_mst,
    _render_mst,
)
COLOR_COMMAND = Command(
    "color",
    "Colours of the vertices such that neighbours differ, or an independent set",
    _add_color_arguments,
    _run_color,
    _render_color,
)
