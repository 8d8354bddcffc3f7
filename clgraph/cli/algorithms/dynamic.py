"""``clgraph dynamic FILE --updates UPDATES.csv``: a graph that changes, in batches."""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING, Any

from clgraph.cli import reporting, searching
from clgraph.cli.command import Command, Record, add_reading
from clgraph.cli.progress import Progress
from clgraph.cli.text import pairs, table
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from numpy.typing import NDArray

    from clgraph.dynamic import DynamicGraph
    from clgraph.dynamic.stream import Updates

__all__ = ["COMMAND"]

SHOWN = 12  # rows of tracked values


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_reading(parser)
    parser.add_argument(
        "--updates",
        required=True,
        metavar="FILE",
        help="table of updates: time or operation (+ or -), u, v, and perhaps weight",
    )
    parser.add_argument(
        "--batch",
        type=searching.positive,
        default=10_000,
        metavar="N",
        help="most updates at a time (default: 10000)",
    )
    parser.add_argument(
        "--track",
        default="",
        metavar="LIST",
        help="keep up to date: of triangles, components and bfs:SOURCE, separated by commas",
    )
    parser.add_argument(
        "--device", help="part of a name, gpu, cpu, or an index as 'clgraph devices' shows it"
    )


def _run(args: argparse.Namespace) -> Record:
    wanted = _wanted(args.track)
    import clgraph
    from clgraph.dynamic.stream import read_updates, replay

    device = clgraph.device(args.device)
    updates = read_updates(args.updates)
    graph, read_s = searching.read_graph(args)
    updates, labels = _numbered(updates, graph.labels)
    began = time.perf_counter()
    with Progress("building kernels") as progress:
        dynamic = clgraph.DynamicGraph(graph, device=device, progress=progress.callback)
        track = _followers(dynamic, wanted, labels)
        first = {name: ask() for name, ask in track.items()}
    build_s = time.perf_counter() - began
    with Progress("replaying updates") as progress:
        totals = replay(dynamic, updates, args.batch, track=track, progress=progress.callback)
    usage = dynamic.memory_usage()
    record: Record = {
        **reporting.place_record(graph, device),
        **{name: value for name, value in dataclasses.asdict(totals).items() if name != "tracked"},
        "updates_per_s": totals.updates / totals.seconds if totals.seconds else 0.0,
        "vertices_after": dynamic.n,
        "edges_after": dynamic.m,
        "memory": dataclasses.asdict(usage) | {"over_csr": usage.over_csr},
        "before": first,
        "tracked": totals.tracked,
        "read_s": read_s,
        "build_s": build_s,
    }
    record["graph"]["file"] = args.file
    record["updates_file"] = args.updates
    return record


def _wanted(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in ("triangles", "components") and not name.startswith("bfs:"):
            raise InvalidArgumentError(
                f"--track {name} is none of triangles, components and bfs:SOURCE."
            )
    return names


def _numbered(updates: Updates, labels: NDArray[Any] | None) -> tuple[Updates, NDArray[Any] | None]:
    """Give the updates with vertices by number, new ones last, and the labels of all."""
    import numpy as np

    if labels is None or labels.dtype.kind not in "iu":
        return updates, labels
    known = np.argsort(labels, kind="stable")
    ids = np.unique(np.concatenate([updates.src, updates.dst]))
    fresh = np.setdiff1d(ids, labels)
    every = np.concatenate([labels, fresh])
    order = np.argsort(every, kind="stable") if len(fresh) else known

    def number(values: NDArray[Any]) -> NDArray[np.int64]:
        return np.asarray(order[np.searchsorted(every, values, sorter=order)], np.int64)

    return (
        dataclasses.replace(updates, src=number(updates.src), dst=number(updates.dst)),
        every,
    )


def _followers(
    graph: DynamicGraph, wanted: list[str], labels: NDArray[Any] | None
) -> dict[str, Callable[[], int]]:
    """Say how to ask for each tracked value."""
    from clgraph.dynamic import BFS, ConnectedComponents, TriangleCounter

    track: dict[str, Callable[[], int]] = {}
    for name in wanted:
        if name == "triangles":
            counter = TriangleCounter(graph, per_vertex=False)
            track[name] = lambda counter=counter: counter.count  # type: ignore[misc]
        elif name == "components":
            parts = ConnectedComponents(graph)
            track[name] = lambda parts=parts: parts.count  # type: ignore[misc]
        else:
            source = _source(name.removeprefix("bfs:"), graph.n, labels)
            search = BFS(graph, source)
            track[name] = lambda search=search: int((search.distances >= 0).sum())  # type: ignore[misc]
    return track


def _source(text: str, n: int, labels: NDArray[Any] | None) -> int:
    if not text.isascii() or not text.isdigit():
        raise InvalidArgumentError(f"--track bfs:{text}: the source must be a number.")
    vertex = int(text)
    if labels is not None and labels.dtype.kind in "iu":
        found = (labels == vertex).nonzero()[0]
        vertex = int(found[0]) if len(found) else n
    if vertex >= n:
        raise InvalidArgumentError(f"--track bfs:{text}: the graph has no such vertex.")
    return vertex


def _render(record: Record) -> str:
    memory = record["memory"]
    lines = [
        *reporting.place_text(record),
        (
            "updates",
            f"{record['updates_file']}: {record['updates']:,} in {record['batches']:,} batches",
        ),
        (
            "done",
            f"{record['new']:,} new, {record['present']:,} present, {record['gone']:,} gone, "
            f"{record['absent']:,} absent, {record['repeated']:,} repeated",
        ),
        (
            "time",
            f"{record['seconds']:.3f} s, {record['updates_per_s']:,.0f} updates/s; on the device "
            f"{record['kernel_seconds']:.3f} s; tracking {record['tracked_seconds']:.3f} s",
        ),
        (
            "after",
            f"{record['vertices_after']:,} vertices, {record['edges_after']:,} stored edges, "
            f"{memory['over_csr']:.2f} times the bytes of compressed rows",
        ),
    ]
    rows = record["tracked"]
    if not rows or not record["before"]:
        return pairs(lines)
    names = ["updates", "edges", *record["before"]]
    step = -(-len(rows) // SHOWN)
    shown = rows[step - 1 :: step]
    if shown[-1] is not rows[-1]:
        shown.append(rows[-1])
    cells = [[f"{row[name]:,}" for name in names] for row in shown]
    return pairs(lines) + "\n\n" + table(names, cells)


COMMAND = Command(
    "dynamic",
    "A graph that changes: updates replayed in batches, with what is kept up to date",
    _add_arguments,
    _run,
    _render,
)
