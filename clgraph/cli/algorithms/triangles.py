"""``clgraph triangles FILE``: how many triangles a graph has, and of which vertices or edges."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from clgraph.cli import searching
from clgraph.cli.algorithms.shared import Report, columns_of, measured, rendered
from clgraph.cli.command import Command, Record, add_reading
from clgraph.cli.setting import is_tuned
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    import argparse

    from clgraph import Graph, TrianglesResult
    from clgraph.algorithms.triangles.plan import Per, Triangles

__all__ = ["COMMAND", "write_edges"]


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_reading(parser)
    searching.add_config(parser)
    parser.add_argument(
        "--per",
        choices=("vertex", "edge"),
        help="count those of each vertex or of each stored edge too",
    )
    parser.add_argument(
        "--clustering", action="store_true", help="show clustering coefficients too, by vertex"
    )
    searching.add_running(parser)


def _run(args: argparse.Namespace) -> Record:
    if args.clustering and args.per == "edge":
        raise InvalidArgumentError(
            "--clustering is of vertices, not of edges; leave out --per edge."
        )
    per: Per = args.per or ("vertex" if args.clustering else "total")
    if args.output is not None and per == "total":
        raise InvalidArgumentError(
            f"--output {args.output} would hold nothing but the total; add --per vertex, --per "
            "edge or --clustering."
        )
    import clgraph

    if not is_tuned(args.config):
        clgraph.TrianglesConfig.of(args.config)  # before the file is read
    plan: Triangles

    def make(graph: Graph, device: Any, progress: Any) -> Any:
        nonlocal plan
        plan = clgraph.Triangles(
            graph, config=args.config, device=device, clean=True, progress=progress
        )
        return lambda: plan.run(per)

    def describe(graph: Graph, result: Any) -> Report:
        stats = result.stats
        entries = {
            "triangles": result.count,
            "per": per,
            "prepare_ms": stats.prepare_ms,
            "intersections": stats.intersections,
            "probes": stats.probes,
        }
        columns: dict[str, Any] = {} if result.values is None else {"triangles": result.values}
        if args.clustering:
            columns["clustering"] = _cluster(plan, result, entries)
        if per == "edge":
            return Report(entries, lambda path: write_edges(path, graph, columns))
        return Report(entries, columns_of(graph, columns))

    return measured(args, make, describe)


def _cluster(plan: Triangles, result: TrianglesResult, record: Record) -> Any:
    """Give the clustering coefficient of each vertex; note their mean and the transitivity."""
    from clgraph.algorithms.triangles.clustering import closed_shares, closed_total

    shares = closed_shares(plan.simple.degrees, result.values)
    record["average_clustering"] = float(shares.mean()) if shares.size else 0.0
    record["transitivity"] = closed_total(plan.simple.degrees, result.count)
    return shares


def write_edges(path: str, graph: Graph, columns: dict[str, Any]) -> None:
    """Write a row for each stored edge: its ends, and a number or several.

    Parameters
    ----------
    path : str
        A name that ends in ``.npz`` or ``.csv``.
    graph : Graph
        Whose edges they are.
    columns : dict of integer arrays [m]
        By name.
    """
    import numpy as np

    from clgraph.graph.formats.archive import packed
    from clgraph.graph.formats.writing import write_whole

    sources = np.repeat(np.arange(graph.n, dtype=np.int64), graph.degrees)
    if path.endswith(".npz"):
        arrays = {"sources": sources, "targets": graph.indices, **columns}
        write_whole(path, packed(arrays, compress=True))
        return
    ids = searching.vertex_names(graph)
    rows = np.column_stack([ids[sources], ids[graph.indices], *columns.values()])
    header = ",".join(["source", "target", *columns])
    text = io.StringIO()
    np.savetxt(text, rows, fmt="%s", delimiter=",", header=header, comments="")
    write_whole(path, text.getvalue())


def _render(record: Record) -> str:
    lines = [
        ("config", f"{record['preset']}, {record['config']}"),
        ("found", f"{record['triangles']:,} triangles"),
    ]
    if "transitivity" in record:
        mean, whole = record["average_clustering"], record["transitivity"]
        lines.append(("clustering", f"{mean:.4f} on average; transitivity {whole:.4f}"))
    return rendered(record, lines)


COMMAND = Command(
    "triangles",
    "Triangles, of the graph, its vertices or its edges, timed and metered",
    _add_arguments,
    _run,
    _render,
)
