"""``clgraph match TARGET QUERY``: where a small labelled graph occurs, or nearly so."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clgraph.cli import reporting, searching
from clgraph.cli.command import Command, Record, add_reading
from clgraph.cli.progress import Progress
from clgraph.cli.text import pairs
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    import argparse

    from clgraph import MatchingResult

__all__ = ["COMMAND"]

PICTURES = (".svg", ".png", ".pdf")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_reading(parser)
    parser.add_argument("query", help="graph file of what to look for")
    parser.add_argument(
        "--labels", metavar="FILE", help="labels of the target's vertices, one a line"
    )
    parser.add_argument(
        "--query-labels", metavar="FILE", help="labels of the query's vertices, one a line"
    )
    parser.add_argument(
        "--similarity", metavar="FILE", help="instead: a matrix (.npy, .npz, .mtx, .csv, text)"
    )
    parser.add_argument("--k", type=searching.positive, default=1000, help="matches to draw")
    parser.add_argument("--max-level", type=searching.positive, default=2, metavar="L")
    parser.add_argument("--seed", type=searching.whole, default=0)
    parser.add_argument("--distinct", action="store_true", help="drop repeated matches")
    parser.add_argument("--exact", action="store_true", help="find all matches of cost 0 instead")
    parser.add_argument("--limit", type=searching.positive, help="of exact matches")
    parser.add_argument("--config", help="name of a preset (default: auto)")
    parser.add_argument(
        "--draw", metavar="FILE", help="draw the best match beside the query (.svg, .png, .pdf)"
    )
    searching.add_running(parser)


def _run(args: argparse.Namespace) -> Record:
    reads = (args.file, args.query, args.labels, args.query_labels, args.similarity)
    searching.check_output(args.output, *reads)
    searching.check_place(args.draw, *reads)
    if args.draw is not None and Path(args.draw).suffix not in PICTURES:
        raise InvalidArgumentError(f"--draw {args.draw} ends in none of {', '.join(PICTURES)}.")
    if (args.labels is None) != (args.query_labels is None):
        raise InvalidArgumentError("--labels and --query-labels go together.")
    import clgraph
    from clgraph.algorithms.matching.inputs import read_labels

    clgraph.MatchingConfig.of(args.config)
    device = clgraph.device(args.device)
    graph, read_s = searching.read_graph(args)
    if args.directed is None:
        graph = graph.symmetrized()
    query = clgraph.read(args.query, directed=args.directed)
    if args.directed is None:
        query = query.symmetrized()
    labels = None if args.labels is None else read_labels(args.labels)
    of_query = None if args.labels is None else read_labels(args.query_labels)
    began = time.perf_counter()
    plan = clgraph.SubgraphMatching(graph, labels=labels, config=args.config, device=device)
    options: dict[str, Any] = {
        "labels": of_query,
        "similarity": args.similarity,
        "k": args.k,
        "max_level": args.max_level,
        "seed": args.seed,
        "distinct": args.distinct,
        "exact": args.exact,
        "limit": args.limit,
    }
    build_s = time.perf_counter() - began

    def once() -> MatchingResult:
        with Progress() as progress:
            found: MatchingResult = plan.run(query, **options, progress=progress.callback)
        return found

    result, times = searching.repeated(once, args.repeat)
    record: Record = {
        **reporting.place_record(graph, device),
        "query": {"file": args.query, "vertices": result.query.n, "edges": result.query.m // 2},
        "preset": args.config or "auto",
        "config": result.stats.config,
        "matches": len(result.mapping),
        "count": result.count,
        "complete": result.complete,
        "best_cost": float(result.cost.min()) if len(result.cost) else None,
        "mean_cost": float(result.cost.mean()) if len(result.cost) else None,
        "best": result.best.tolist() if len(result.cost) else None,
        "distinct_ratio": result.distinct_ratio,
        "phases": result.stats.phases,
        **times,
        "read_s": read_s,
        "build_s": build_s,
    }
    record["graph"]["file"] = args.file
    if args.output is not None:
        _write(args.output, result)
        record["output"] = args.output
    if args.draw is not None and len(result.cost):
        from clgraph.algorithms.matching.drawing import draw_match

        draw_match(result, args.draw)
        record["drawing"] = args.draw
    if args.energy:
        record["energy"] = reporting.energy_of(once, device)
    return record


def _write(path: str, result: MatchingResult) -> None:
    """Write maps and costs: arrays of these names, or a line for each match."""
    from clgraph.graph.formats.archive import packed
    from clgraph.graph.formats.writing import write_whole

    if Path(path).suffix == ".npz":
        write_whole(path, packed({"mapping": result.mapping, "cost": result.cost}, compress=True))
        return
    names = ["cost", *(f"image_{u}" for u in range(result.query.n))]
    rows = zip(result.cost.tolist(), result.mapping.tolist(), strict=True)
    lines = [",".join(names), *(",".join(map(str, [cost, *images])) for cost, images in rows)]
    write_whole(path, "\n".join(lines) + "\n")


def _render(record: Record) -> str:
    query = record["query"]
    kind = "exact matches" if record["complete"] else "matches"
    found = f"{record['count']:,} {kind}"
    if record["best_cost"] is not None:
        found += (
            f", cost {record['best_cost']:.4g} at best and {record['mean_cost']:.4g} on average; "
            f"{100 * record['distinct_ratio']:.1f} % distinct"
        )
    lines = [
        *reporting.place_text(record),
        ("query", f"{query['file']}: {query['vertices']:,} vertices, {query['edges']:,} edges"),
        ("found", found),
        ("best", " ".join(map(str, record["best"] or ["-"]))),
        *reporting.times_text(record, "run"),
    ]
    if "energy" in record:
        lines.append(("energy", reporting.joules_text(record["energy"], "run", "runs")))
    lines.extend(("wrote", record[name]) for name in ("output", "drawing") if name in record)
    return pairs(lines)


COMMAND = Command(
    "match",
    "Where a small labelled graph occurs in a large one, or nearly so",
    _add_arguments,
    _run,
    _render,
)
