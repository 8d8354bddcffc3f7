"""``clgraph similarity FILE``: how alike vertices are by their neighbours."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from clgraph.cli import reporting, searching
from clgraph.cli.algorithms.triangles import write_edges
from clgraph.cli.command import Command, Record, add_reading
from clgraph.cli.progress import Progress
from clgraph.cli.text import pairs
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    import argparse

    from clgraph import Graph, SimilarityResult

__all__ = ["COMMAND"]


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_reading(parser)
    parser.add_argument(
        "--measure", choices=("jaccard", "overlap"), default="jaccard", help="default: jaccard"
    )
    parser.add_argument("--config", help="name of a preset (default: auto)")
    parser.add_argument(
        "--pair",
        nargs=2,
        action="append",
        metavar=("U", "V"),
        help="two vertices, as the file names them (repeatable; default: all edges)",
    )
    searching.add_running(parser)


def _run(args: argparse.Namespace) -> Record:
    searching.check_output(args.output, args.file)
    if args.pair and args.output is not None:
        raise InvalidArgumentError(
            "--output is of all edges; similarities of pairs are printed, so leave one out."
        )
    import clgraph

    clgraph.SimilarityConfig.of(args.config)  # before the file is read
    device = clgraph.device(args.device)
    graph, read_s = searching.read_graph(args)
    chosen = None
    if args.pair:
        chosen = [[_vertex(graph, name) for name in pair] for pair in args.pair]
    began = time.perf_counter()
    with Progress("building kernels") as progress:
        plan = clgraph.Similarity(
            graph, config=args.config, device=device, progress=progress.callback
        )
    build_s = time.perf_counter() - began

    def run() -> SimilarityResult:
        return plan.run(chosen, measure=args.measure)

    result, times = searching.repeated(run, args.repeat)
    values = result.values
    record: Record = {
        **reporting.place_record(graph, device),
        "measure": args.measure,
        "preset": args.config or "auto",
        "config": result.stats.config,
        "pairs": len(values),
        "mean": float(values.mean()) if values.size else 0.0,
        "largest": float(values.max(initial=0.0)),
        **times,
        "mpairs_per_s": result.stats.pairs_per_s / 1e6,
    }
    if args.pair:
        record["values"] = [
            {"pair": pair, args.measure: float(value), "common": int(common)}
            for pair, value, common in zip(args.pair, values, result.common, strict=True)
        ]
    record["graph"]["file"] = args.file
    record["read_s"], record["build_s"] = read_s, build_s
    if args.output is not None:
        _write(args.output, graph, args.measure, result)
        record["output"] = args.output
    if args.energy:
        record["energy"] = reporting.energy_of(run, device)
    return record


def _vertex(graph: Graph, name: str) -> int:
    """Give the vertex that a file calls so: its label, or its number where there are none."""
    if graph.labels is not None:
        return searching.labelled(graph, name)
    if not name.isascii() or not name.isdigit() or int(name) >= graph.n:
        raise InvalidArgumentError(f"--pair names {name!r}, which is no vertex below {graph.n}.")
    return int(name)


def _write(path: str, graph: Graph, measure: str, result: SimilarityResult) -> None:
    """Write a row for each stored edge."""
    columns: dict[str, Any] = {measure: result.values, "common": result.common}
    write_edges(path, graph, columns)


def _render(record: Record) -> str:
    lines = [
        *reporting.place_text(record),
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
    lines += reporting.times_text(record, "run")
    if "energy" in record:
        lines.append(("energy", reporting.joules_text(record["energy"], "run", "runs")))
    if "output" in record:
        lines.append(("wrote", record["output"]))
    return pairs(lines)


COMMAND = Command(
    "similarity",
    "Jaccard or overlap similarity of pairs or of all edges, timed and metered",
    _add_arguments,
    _run,
    _render,
)
