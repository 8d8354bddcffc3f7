"""``clgraph walk FILE``: random walks, for whoever learns from them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from clgraph.cli import searching
from clgraph.cli.algorithms.shared import Report, add_common, measured, rendered, seed
from clgraph.cli.command import Command, Record
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    import argparse

    from clgraph import Graph

__all__ = ["COMMAND"]


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_common(parser)
    parser.add_argument(
        "--length", type=searching.positive, default=80, help="steps of a walk (default 80)"
    )
    parser.add_argument(
        "--walks", type=searching.positive, default=1, help="from every start (default 1)"
    )
    parser.add_argument(
        "--source",
        type=searching.whole,
        action="append",
        metavar="V",
        help="vertex to start from, repeatable (default: all)",
    )
    parser.add_argument(
        "--p", type=searching.amount, default=1.0, help="steps back weigh 1/p as much (default 1)"
    )
    parser.add_argument(
        "--q", type=searching.amount, default=1.0, help="steps away weigh 1/q as much (default 1)"
    )
    parser.add_argument("--unweighted", action="store_true", help="leave weights out of account")
    parser.add_argument("--seed", type=seed, default=0, help="of the draws (default 0)")


def _run(args: argparse.Namespace) -> Record:
    import numpy as np

    import clgraph

    def make(graph: Graph, device: Any, progress: Any) -> Any:
        wrong = [v for v in args.source or () if v >= graph.n]
        if wrong:
            raise InvalidArgumentError(
                f"--source {wrong[0]} is not a vertex; the file has {graph.n}, numbered from 0."
            )
        starts = np.arange(graph.n) if args.source is None else np.array(args.source)
        starts = np.repeat(starts, args.walks)
        plan = clgraph.RandomWalks(
            graph, weights=not args.unweighted, device=device, progress=progress
        )
        return lambda: plan.run(starts, args.length, p=args.p, q=args.q, seed=args.seed)

    def describe(graph: Graph, result: Any) -> Report:
        entries = {
            "length": args.length,
            "p": args.p,
            "q": args.q,
            "seed": args.seed,
            "walks": len(result.walks),
            "steps": int(result.lengths.sum()),
        }
        return Report(entries, lambda path: _write(path, graph, result.walks))

    return measured(args, make, describe)


def _write(path: str, graph: Graph, walks: Any) -> None:
    """Write walks as an array, or a line each by the names of vertices."""
    from clgraph.graph.formats.archive import packed
    from clgraph.graph.formats.writing import written

    names = searching.vertex_names(graph)
    with written(path) as file:
        if Path(path).suffix == ".npz":
            labels: dict[str, Any] = {} if graph.labels is None else {"vertex_labels": graph.labels}
            file.write(packed({"walks": walks, **labels}, compress=True))
            return
        for walk in walks:
            line = ",".join(map(searching.cell, names[walk[walk >= 0]].tolist()))
            file.write((line + "\n").encode("utf-8", "backslashreplace"))


def _render(record: Record) -> str:
    speed = record["steps"] / record["kernel_ms"] / 1e3 if record["kernel_ms"] > 0 else 0.0
    said = [
        ("walks", f"{record['walks']:,} of {record['length']:,} steps or fewer"),
        ("steps", f"{record['steps']:,}, {speed:,.1f} million per second of kernel time"),
    ]
    return rendered(record, said)


COMMAND = Command(
    "walk",
    "Random walks of first or second order (node2vec), timed and metered",
    _add_arguments,
    _run,
    _render,
)
