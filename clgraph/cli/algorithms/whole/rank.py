"""``clgraph rank FILE``: PageRank and other scores that vertices get from their neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clgraph.cli import searching
from clgraph.cli.algorithms.shared import (
    Report,
    add_common,
    columns_of,
    fraction,
    measured,
    rendered,
)
from clgraph.cli.command import Command, Record
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    import argparse

    from clgraph import Graph

__all__ = ["COMMAND"]

MEASURES = ("pagerank", "hits", "eigenvector", "katz")
CONVENTIONS = ("networkx", "gap", "graphalytics")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_common(parser)
    parser.add_argument("--measure", choices=MEASURES, default="pagerank", help="default: pagerank")
    parser.add_argument(
        "--alpha", type=fraction, help="damping of pagerank (0.85), share of a step of katz (0.1)"
    )
    parser.add_argument("--tol", type=fraction, help="when iterations end (default: the measure's)")
    parser.add_argument("--max-iter", type=searching.positive, help="most iterations")
    parser.add_argument(
        "--convention",
        choices=CONVENTIONS,
        help="of pagerank: whose defaults and rules",
    )
    parser.add_argument("--unweighted", action="store_true", help="leave weights out of account")
    parser.add_argument("--dtype", choices=("float32", "float64"), help="default: the most precise")
    parser.add_argument(
        "--top", type=searching.positive, default=10, metavar="N", help="vertices shown"
    )


def _run(args: argparse.Namespace) -> Record:
    import clgraph

    if args.convention and args.measure != "pagerank":
        raise InvalidArgumentError("--convention is for pagerank only.")
    if args.alpha is not None and args.measure not in {"pagerank", "katz"}:
        raise InvalidArgumentError("--alpha is for pagerank and katz only.")
    given = {"alpha": args.alpha, "tol": args.tol, "max_iter": args.max_iter}
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if args.convention:
        options["convention"] = args.convention
    plans: dict[str, Any] = {
        "pagerank": clgraph.PageRank,
        "hits": clgraph.Hits,
        "eigenvector": clgraph.EigenvectorCentrality,
        "katz": clgraph.KatzCentrality,
    }
    fixed = {"weights": not args.unweighted, "dtype": args.dtype}

    def make(graph: Graph, device: Any, progress: Any) -> Any:
        plan = plans[args.measure](graph, device=device, progress=progress, **fixed)
        return lambda: plan.run(**options)

    def describe(graph: Graph, result: Any) -> Report:
        columns = {args.measure: result.ranks}
        if args.measure == "hits":
            columns = {"hub": result.hubs, "authority": result.authorities}
        order = (-result.ranks).argsort(kind="stable")[: args.top]
        names = searching.vertex_names(graph)

        def row(v: int) -> Record:
            return {"vertex": names[v].item(), **{key: float(x[v]) for key, x in columns.items()}}

        entries = {
            "measure": args.measure,
            "iterations": int(result.iterations),
            "error": float(result.error),
            "converged": bool(result.converged),
            "top": [row(v) for v in order.tolist()],
        }

        return Report(entries, columns_of(graph, columns))

    return measured(args, make, describe)


def _render(record: Record) -> str:
    ended = "converged" if record["converged"] else "did not converge"
    said = [
        ("measure", record["measure"]),
        (
            "iterations",
            f"{record['iterations']:,}, {ended}: the last changed {record['error']:.3g}",
        ),
    ]
    for entry in record["top"]:
        values = [f"{value:.6g}" for name, value in entry.items() if name != "vertex"]
        said.append((str(entry["vertex"]), ", ".join(values)))
    return rendered(record, said)


COMMAND = Command(
    "rank",
    "PageRank, hubs and authorities, eigenvector or Katz centrality, timed and metered",
    _add_arguments,
    _run,
    _render,
)
