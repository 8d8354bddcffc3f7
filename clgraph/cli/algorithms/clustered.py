"""``mpiexec -n P clgraph bfs FILE --cluster``: one search by the ranks of an MPI job."""

from __future__ import annotations

import io
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clgraph.cli import reporting, searching
from clgraph.cli.algorithms.search import shown
from clgraph.cli.algorithms.shared import speed
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    import argparse

    from clgraph.algorithms.bfs.config import BFSConfig
    from clgraph.cli.command import Record
    from clgraph.cluster import DividedResult

__all__ = ["add_cluster", "render", "search"]

# Formats whose slices make the same graph as the whole file.
SLICED = (".sg", ".wsg", ".npz", ".el", ".wel")
PARTITIONS = ("block", "cyclic", "2d", "1.5d")


def add_cluster(parser: argparse.ArgumentParser) -> None:
    """Declare what is said of ranks."""
    parser.add_argument(
        "--cluster", action="store_true", help="search with all ranks that mpiexec started"
    )
    parser.add_argument(
        "--partition", choices=PARTITIONS, help="with --cluster: who has which vertices and edges"
    )
    parser.add_argument(
        "--per-rank",
        action="store_true",
        help="with --cluster: every rank writes its vertices, to FILE.0.npz, FILE.1.npz, ...",
    )


def search(args: argparse.Namespace, config: BFSConfig | str | None) -> Record:
    """Search with all ranks; give the record on rank 0, an empty one on others."""
    import clgraph
    from clgraph.cluster import FileSlices

    if args.source_label is not None or args.energy:
        raise InvalidArgumentError(
            "--source-label and --energy are for one device; leave them out with --cluster."
        )
    if args.per_rank and args.output is None:
        raise InvalidArgumentError("--per-rank says how --output is written; give that too.")
    comm = clgraph.cluster.world(args.device)
    first = comm.ranks[0] == 0
    began = time.perf_counter()
    graph: Any = None
    with comm.agreeing():
        if Path(args.file).suffix in SLICED and args.format is None:
            graph = FileSlices(args.file, directed=args.directed)
        else:
            graph, _ = searching.read_graph(args)
    read_s = time.perf_counter() - began
    began = time.perf_counter()
    plan = clgraph.cluster.BFS(
        graph, comm, predecessors=args.predecessors, config=config, partition=args.partition
    )
    build_s = time.perf_counter() - began

    def once() -> DividedResult:
        return plan.run(
            args.source,
            max_depth=args.max_depth,
            gather=args.output is not None and not args.per_rank,
        )

    result, times = searching.repeated(once, args.repeat)
    stats = result.stats
    with comm.agreeing():
        if args.output is not None:
            _write(args, result, comm.ranks[0])
    if not first:
        return {}
    device = comm.devices[0]
    record: Record = {
        "graph": {
            "file": args.file,
            "vertices": plan.facts.n,
            "edges": plan.facts.m,
            "directed": plan.facts.directed,
            "weighted": plan.facts.weighted,
        },
        "device": reporting.device_record(device),
        "ranks": comm.size,
        "partition": stats.partition,
        "exchange": stats.exchange,
        "sent_bytes": int(stats.exchanged_bytes.sum()),
        "preset": args.config or "auto",
        "config": stats.config.as_dict(),
        "mode": stats.mode,
        "source": args.source,
        "source_label": None,
        "max_depth": args.max_depth,
        "reached": result.reached,
        "depth": result.depth,
        **times,
        **speed(stats.edges_traversed, times),
        "read_s": read_s,
        "build_s": build_s,
    }
    if args.levels:
        record["levels"] = reporting.levels_record(stats.per_level)
    if args.output is not None:
        record["output"] = args.output
    return record


def _write(args: argparse.Namespace, result: DividedResult, rank: int) -> None:
    import numpy as np

    from clgraph.graph.formats.archive import packed
    from clgraph.graph.formats.writing import write_whole

    whole = not args.per_rank
    if whole and rank:
        return
    path = Path(args.output)
    columns: dict[str, Any] = {"distances": result.distances if whole else result.own_distances}
    tree = result.predecessors if whole else result.own_predecessors
    if tree is not None:
        columns["predecessors"] = tree
    vertices = np.arange(len(columns["distances"])) if whole else result.vertices
    if not whole:
        path = path.with_suffix(f".{rank}{path.suffix}")
    if path.suffix == ".npz":
        arrays: dict[str, Any] = columns | ({} if whole else {"vertices": vertices})
        write_whole(path, packed(arrays | {"source": args.source}))
        return
    head = ",".join(["vertex", *(name.removesuffix("s") for name in columns)])
    table = np.stack([vertices, *columns.values()], axis=1)
    text = io.StringIO()
    np.savetxt(text, table, fmt="%d", delimiter=",", header=head, comments="")
    write_whole(path, text.getvalue())


def render(record: Record) -> str:
    """Make text of the record."""
    lines = [
        (
            "ranks",
            f"{record['ranks']}, {record['partition']} partition, {record['exchange']}; "
            f"{record['sent_bytes']:,} bytes between them",
        ),
        ("source", reporting.start_text(record)),
        ("reached", f"{record['reached']:,} vertices, depth {record['depth']:,}"),
    ]
    return shown(record, lines)
