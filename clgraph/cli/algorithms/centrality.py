"""``clgraph centrality FILE``: how central vertices are, and how wide the graph is."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from clgraph.cli.command import Command, Record, add_reading
from clgraph.cli.progress import Progress
from clgraph.cli.reporting import place_record, place_text
from clgraph.cli.searching import check_output, positive, read_graph, vertex_names, write_columns
from clgraph.cli.text import pairs
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    import argparse

    from clgraph import Graph
    from clgraph.device import Device

__all__ = ["COMMAND"]

MEASURES = ("betweenness", "edge-betweenness", "closeness", "harmonic", "eccentricity", "diameter")
SAMPLED = ("betweenness", "edge-betweenness")
NO_OUTPUT = ("edge-betweenness", "diameter")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_reading(parser)
    parser.add_argument(
        "--measure", choices=MEASURES, default="betweenness", help="default: betweenness"
    )
    parser.add_argument(
        "--samples",
        type=positive,
        metavar="K",
        help="estimate betweenness from K sources drawn at random (default: all)",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the draw (default 0)")
    parser.add_argument("--raw", action="store_true", help="do not normalise betweenness")
    parser.add_argument(
        "--weighted", action="store_true", help="edges are as long as their weights"
    )
    parser.add_argument(
        "--ignore-disconnected",
        action="store_true",
        help="eccentricity and diameter: the largest distance that is finite",
    )
    parser.add_argument(
        "--device", help="part of a name, gpu, cpu, or an index as 'clgraph devices' shows it"
    )
    parser.add_argument(
        "--top", type=positive, default=10, metavar="N", help="vertices shown (default 10)"
    )
    parser.add_argument("--output", metavar="FILE", help="write all values to FILE.npz or FILE.csv")


def _run(args: argparse.Namespace) -> Record:
    check_output(args.output, args.file)
    if args.output is not None and args.measure in NO_OUTPUT:
        raise InvalidArgumentError(f"--output has no value per vertex to write of {args.measure}.")
    for option, given, measures in (
        ("--samples", args.samples is not None, SAMPLED),
        ("--raw", args.raw, SAMPLED),
        ("--ignore-disconnected", args.ignore_disconnected, ("eccentricity", "diameter")),
    ):
        if given and args.measure not in measures:
            raise InvalidArgumentError(f"{option} is for {' and '.join(measures)} only.")
    import clgraph

    device = clgraph.device(args.device)  # before the file is read: it may be missing
    graph, _ = read_graph(args)
    began = time.perf_counter()
    with Progress() as progress:
        values = _measure(graph, device, args, progress.callback)
    record: Record = {
        **place_record(graph, device),
        "measure": args.measure,
        "weighted": args.weighted,
        "samples": args.samples,
        "seconds": time.perf_counter() - began,
    }
    record["graph"]["file"] = args.file
    if args.measure == "diameter":
        record["diameter"] = values
        return record
    record["top"] = _top(graph, values, args)
    if args.output is not None:
        names = vertex_names(graph)
        write_columns(args.output, graph, {args.measure: values}, [args.measure], vertex=names)
        record["output"] = args.output
    return record


def _measure(graph: Graph, device: Device, args: argparse.Namespace, progress: Any) -> Any:
    import clgraph

    options: dict[str, Any] = {
        "device": device,
        "progress": progress,
        "weighted": args.weighted,
    }
    whole = {"disconnected": "ignore" if args.ignore_disconnected else "raise"}
    sample = {"sources": args.samples, "normalized": not args.raw, "seed": args.seed}
    functions: dict[str, tuple[Any, dict[str, Any]]] = {
        "betweenness": (clgraph.betweenness_centrality, sample),
        "edge-betweenness": (clgraph.edge_betweenness_centrality, sample),
        "closeness": (clgraph.closeness_centrality, {}),
        "harmonic": (clgraph.harmonic_centrality, {}),
        "eccentricity": (clgraph.eccentricity, whole),
        "diameter": (clgraph.diameter, whole),
    }
    function, more = functions[args.measure]
    return function(graph, **options, **more)


def _top(graph: Graph, values: Any, args: argparse.Namespace) -> list[Record]:
    """Those with the largest values, ties by number."""
    import numpy as np

    names = vertex_names(graph)
    order = np.argsort(-values, kind="stable")
    if args.measure != "edge-betweenness":
        return [
            {"vertex": names[place].item(), "value": values[place].item()}
            for place in order[: args.top]
        ]
    edge_sources = np.repeat(np.arange(graph.n), graph.degrees)
    if not graph.directed:
        order = order[edge_sources[order] <= graph.indices[order]]
    return [
        {
            "from": names[edge_sources[place]].item(),
            "to": names[graph.indices[place]].item(),
            "value": values[place].item(),
        }
        for place in order[: args.top]
    ]


def _render(record: Record) -> str:
    sampled = f", from {record['samples']:,} sources" if record["samples"] else ""
    lines = [
        *place_text(record),
        ("measure", record["measure"] + sampled),
        ("time", f"{record['seconds']:.3f} s"),
    ]
    if "diameter" in record:
        unit = "by weight" if record["weighted"] else "hops"
        lines.append(("diameter", f"{record['diameter']:,} {unit}"))
    for entry in record.get("top", ()):
        name = f"{entry['from']} - {entry['to']}" if "from" in entry else str(entry["vertex"])
        lines.append((name, f"{entry['value']:.6g}"))
    if "output" in record:
        lines.append(("written", record["output"]))
    return pairs(lines)


COMMAND = Command(
    "centrality",
    "Betweenness, closeness, eccentricities or the diameter of a graph",
    _add_arguments,
    _run,
    _render,
)
