"""``clgraph match TARGET QUERY``: where a small labelled graph occurs, or nearly so."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from clgraph.cli import searching
from clgraph.cli.algorithms.shared import Report, measured, rendered
from clgraph.cli.command import Command, Record, add_reading
from clgraph.cli.progress import Progress
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    import argparse

    from clgraph import Graph, MatchingResult

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
    searching.add_config(parser)
    parser.add_argument(
        "--draw", metavar="FILE", help="draw the best match beside the query (.svg, .png, .pdf)"
    )
    searching.add_running(parser)


def _run(args: argparse.Namespace) -> Record:
    reads = (args.query, args.labels, args.query_labels, args.similarity)
    searching.check_output(args.output, *reads)
    searching.check_place(args.draw, args.file, *reads)
    if args.draw is not None and Path(args.draw).suffix not in PICTURES:
        raise InvalidArgumentError(f"--draw {args.draw} ends in none of {', '.join(PICTURES)}.")
    if (args.labels is None) != (args.query_labels is None):
        raise InvalidArgumentError("--labels and --query-labels go together.")
    import clgraph
    from clgraph.algorithms.matching.inputs import read_labels

    config = clgraph.MatchingConfig.of(args.config)
    names = ("similarity", "k", "max_level", "seed", "distinct", "exact", "limit")
    options: dict[str, Any] = {name: getattr(args, name) for name in names}

    def cleaned(graph: Graph) -> Graph:
        return graph.symmetrized() if args.directed is None else graph

    def make(graph: Graph, device: Any, _: Any) -> Any:
        query = cleaned(clgraph.read(args.query, directed=args.directed))
        labels = None if args.labels is None else read_labels(args.labels)
        options["labels"] = None if args.labels is None else read_labels(args.query_labels)
        plan = clgraph.SubgraphMatching(graph, labels=labels, config=config, device=device)

        def once() -> MatchingResult:
            with Progress() as progress:
                found: MatchingResult = plan.run(query, **options, progress=progress.callback)
            return found

        return once

    def describe(_: Graph, result: Any) -> Report:
        costs = result.cost
        entries = {
            "query": {"file": args.query, "vertices": result.query.n, "edges": result.query.m // 2},
            "matches": len(result.mapping),
            "count": result.count,
            "complete": result.complete,
            "best_cost": float(costs.min()) if len(costs) else None,
            "mean_cost": float(costs.mean()) if len(costs) else None,
            "best": result.best.tolist() if len(costs) else None,
            "distinct_ratio": result.distinct_ratio,
            "phases": result.stats.phases,
        }
        if args.draw is not None and len(costs):
            from clgraph.algorithms.matching.drawing import draw_match

            draw_match(result, args.draw)
            entries["drawing"] = args.draw
        return Report(entries, lambda path: _write(path, result))

    return measured(args, make, describe, cleaned)


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
        ("query", f"{query['file']}: {query['vertices']:,} vertices, {query['edges']:,} edges"),
        ("found", found),
        ("best", " ".join(map(str, record["best"] or ["-"]))),
    ]
    if "drawing" in record:
        lines.append(("drew", record["drawing"]))
    return rendered(record, lines)


COMMAND = Command(
    "match",
    "Where a small labelled graph occurs in a large one, or nearly so",
    _add_arguments,
    _run,
    _render,
)
