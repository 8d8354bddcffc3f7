"""``clgraph triangles FILE``: how many triangles a graph has, and of which vertices or edges."""

from __future__ import annotations

import io
import time
from typing import TYPE_CHECKING, Any

from clgraph.cli import reporting, searching
from clgraph.cli.command import Command, Record, add_reading
from clgraph.cli.progress import Progress
from clgraph.cli.setting import is_tuned
from clgraph.cli.text import pairs
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    import argparse

    from clgraph import Graph, TrianglesResult
    from clgraph.algorithms.triangles.plan import Per, Triangles

__all__ = ["COMMAND", "write_edges"]


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_reading(parser)
    parser.add_argument("--config", help="name of a preset (default: auto)")
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
    searching.check_output(args.output, args.file)
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
    device = clgraph.device(args.device)
    graph, read_s = searching.read_graph(args)
    began = time.perf_counter()
    with Progress() as progress:
        plan = clgraph.Triangles(
            graph, config=args.config, device=device, clean=True, progress=progress.callback
        )
    build_s = time.perf_counter() - began
    result, times = searching.repeated(lambda: plan.run(per), args.repeat)
    record: Record = {
        **reporting.place_record(graph, device),
        "preset": args.config or "auto",
        "config": result.stats.config,
        "triangles": result.count,
        "per": per,
        **times,
        "prepare_ms": result.stats.prepare_ms,
        "launches": result.stats.launches,
        "intersections": result.stats.intersections,
        "probes": result.stats.probes,
    }
    record["graph"]["file"] = args.file
    record["read_s"], record["build_s"] = read_s, build_s
    columns: dict[str, Any] = {} if result.values is None else {"triangles": result.values}
    if args.clustering:
        columns["clustering"] = _cluster(plan, result, record)
    if args.output is not None:
        _write(args.output, graph, per, columns)
        record["output"] = args.output
    if args.energy:
        record["energy"] = reporting.energy_of(lambda: plan.run(per), device)
    return record


def _cluster(plan: Triangles, result: TrianglesResult, record: Record) -> Any:
    """Give the clustering coefficient of each vertex; note their mean and the transitivity."""
    from clgraph.algorithms.triangles.clustering import closed_shares, closed_total

    shares = closed_shares(plan.simple.degrees, result.values)
    record["average_clustering"] = float(shares.mean()) if shares.size else 0.0
    record["transitivity"] = closed_total(plan.simple.degrees, result.count)
    return shares


def _write(path: str, graph: Graph, per: str, columns: dict[str, Any]) -> None:
    """Write a row per vertex, or per stored edge with its ends first."""
    if per == "vertex":
        names = list(columns)
        searching.write_columns(path, graph, columns, names, vertex_labels=graph.labels)
        return
    write_edges(path, graph, columns)


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
        *reporting.place_text(record),
        ("config", f"{record['preset']}, {record['config']}"),
        ("found", f"{record['triangles']:,} triangles"),
        *reporting.times_text(record, "run"),
    ]
    if "transitivity" in record:
        mean, whole = record["average_clustering"], record["transitivity"]
        lines.append(("clustering", f"{mean:.4f} on average; transitivity {whole:.4f}"))
    if "energy" in record:
        lines.append(("energy", reporting.joules_text(record["energy"], "run", "runs")))
    if "output" in record:
        lines.append(("wrote", record["output"]))
    return pairs(lines)


COMMAND = Command(
    "triangles",
    "Triangles, of the graph, its vertices or its edges, timed and metered",
    _add_arguments,
    _run,
    _render,
)
