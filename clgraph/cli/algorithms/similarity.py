"""``clgraph similarity FILE``: how alike vertices are by their neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clgraph.cli import searching
from clgraph.cli.algorithms.shared import Report, measured, rendered
from clgraph.cli.algorithms.triangles import write_edges
from clgraph.cli.command import Command, Record, add_reading
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    import argparse

    from clgraph import Graph

__all__ = ["COMMAND"]


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_reading(parser)
    parser.add_argument(
        "--measure", choices=("jaccard", "overlap"), default="jaccard", help="default: jaccard"
    )
    searching.add_config(parser)
    parser.add_argument(
        "--pair",
        nargs=2,
        action="append",
        metavar=("U", "V"),
        help="two vertices, as the file names them (repeatable; default: all edges)",
    )
    searching.add_running(parser)


def _run(args: argparse.Namespace) -> Record:
    if args.pair and args.output is not None:
        raise InvalidArgumentError(
            "--output is of all edges; similarities of pairs are printed, so leave one out."
        )
    import clgraph

    config = clgraph.SimilarityConfig.of(args.config)  # before the file is read

    def make(graph: Graph, device: Any, progress: Any) -> Any:
        chosen = [[_vertex(graph, name) for name in pair] for pair in args.pair or ()] or None
        plan = clgraph.Similarity(graph, config=config, device=device, progress=progress)
        return lambda: plan.run(chosen, measure=args.measure)

    def describe(graph: Graph, result: Any) -> Report:
        values = result.values
        entries = {
            "measure": args.measure,
            "pairs": len(values),
            "mean": float(values.mean()) if values.size else 0.0,
            "largest": float(values.max(initial=0.0)),
            "mpairs_per_s": result.stats.pairs_per_s / 1e6,
        }
        if args.pair:
            entries["values"] = [
                {"pair": pair, args.measure: float(value), "common": int(common)}
                for pair, value, common in zip(args.pair, values, result.common, strict=True)
            ]
        columns = {args.measure: values, "common": result.common}
        return Report(entries, lambda path: write_edges(path, graph, columns))

    return measured(args, make, describe)


def _vertex(graph: Graph, name: str) -> int:
    """Give the vertex that a file calls so: its label, or its number where there are none."""
    if graph.labels is not None:
        return searching.labelled(graph, name)
    if not name.isascii() or not name.isdigit() or int(name) >= graph.n:
        raise InvalidArgumentError(f"--pair names {name!r}, which is no vertex below {graph.n}.")
    return int(name)


def _render(record: Record) -> str:
    lines = [
        ("config", f"{record['preset']}, {record['config']}"),
        (
            "found",
            f"{record['measure']} of {record['pairs']:,} pairs: {record['mean']:.4f} on average, "
            f"{record['largest']:.4f} at most",
        ),
    ]
    for row in record.get("values", []):
        value = f"{row[record['measure']]:.6f}, {row['common']} in common"
        lines.append((" - ".join(row["pair"]), value))
    return rendered(record, lines)


COMMAND = Command(
    "similarity",
    "Jaccard or overlap similarity of pairs or of all edges, timed and metered",
    _add_arguments,
    _run,
    _render,
)
