"""``clgraph info FILE``: what kind of graph a file holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from clgraph.cli.command import Command, Record, add_reading, reading_options
from clgraph.cli.progress import Progress
from clgraph.cli.text import pairs

if TYPE_CHECKING:
    import argparse

__all__ = ["COMMAND"]


def _run(args: argparse.Namespace) -> Record:
    import clgraph

    with Progress() as progress:
        graph = clgraph.read(args.file, progress=progress.callback, **reading_options(args))
    statistics = graph.statistics()
    record: Record = {
        "file": args.file,
        "size_bytes": Path(args.file).stat().st_size if Path(args.file).is_file() else None,
        "stored_edges": graph.m,
        **statistics.as_dict(),
    }
    if graph.weights is not None and graph.m:
        record["weights"] = {
            "dtype": str(graph.weights.dtype),
            "min": graph.weights.min().item(),
            "max": graph.weights.max().item(),
            "mean": float(graph.weights.mean()),
        }
    return record


def _render(record: Record) -> str:
    kind = "directed" if record["directed"] else "undirected"
    size = record["size_bytes"]
    lines = [
        ("file", record["file"] + (f", {size:,} bytes" if size is not None else "")),
        ("graph", f"{kind}, {'weighted' if record['weighted'] else 'unweighted'}"),
        ("vertices", f"{record['vertices']:,}, of which {record['isolated']:,} isolated"),
        (
            "edges",
            f"{record['edges']:,}; {record['self_loops']:,} self-loops, "
            f"{record['parallel_edges']:,} stored more than once",
        ),
        (
            "degrees",
            f"{record['min_degree']:,} to {record['max_degree']:,}, mean "
            f"{record['mean_degree']:.4g}, std {record['std_degree']:.4g}, "
            f"Gini {record['gini']:.3f}",
        ),
    ]
    if record["directed"]:
        lines.append(("in-degrees", f"up to {record['max_in_degree']:,}"))
    weights = record.get("weights")
    if weights:
        lines.append(
            (
                "weights",
                f"{weights['min']:,.12g} to {weights['max']:,.12g}, mean {weights['mean']:.4g} "
                f"({weights['dtype']})",
            )
        )
    return pairs(lines)


COMMAND = Command("info", "Describe the graph in a file", add_reading, _run, _render)
