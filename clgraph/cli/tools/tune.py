"""``clgraph tune FILE``: search for the best configuration of an algorithm on a graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from clgraph.cli import reporting, searching
from clgraph.cli.command import Command, Record, add_reading
from clgraph.cli.progress import Progress
from clgraph.cli.text import pairs, table

if TYPE_CHECKING:
    import argparse

__all__ = ["COMMAND"]

ALGORITHMS = ("bfs", "sssp", "scc", "triangles")
SHOWN = 12


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_reading(parser)
    parser.add_argument(
        "--algorithm", choices=ALGORITHMS, default="bfs", help="what is tuned (default bfs)"
    )
    parser.add_argument(
        "--objective",
        default="time",
        metavar="time|energy|edp|power:WATTS",
        help="what is to be small; power: the fastest that draws no more (default time)",
    )
    parser.add_argument(
        "--budget",
        type=searching.amount,
        default=60.0,
        metavar="SECONDS",
        help="how long to search (default 60)",
    )
    parser.add_argument(
        "--trials", type=searching.whole, metavar="N", help="try no more configurations than this"
    )
    parser.add_argument(
        "--device", help="part of a name, gpu, cpu, or an index as 'clgraph devices' shows it"
    )
    parser.add_argument(
        "--source",
        type=searching.whole,
        action="append",
        help="where searches begin (repeatable; default: up to three, chosen)",
    )
    parser.add_argument("--seed", type=searching.whole, default=0, help="of what is drawn")
    parser.add_argument(
        "--no-store",
        dest="store",
        action="store_false",
        help="do not keep the winner for --config tuned",
    )
    parser.add_argument(
        "--svg", type=Path, metavar="FILE", help="draw time and joules of what was tried to FILE"
    )


def _run(args: argparse.Namespace) -> Record:
    import clgraph
    from clgraph import tune
    from clgraph.tune.page import draw

    tune.Objective.of(args.objective)  # before the file is read
    if args.svg is not None:
        searching.needs_matplotlib("--svg")
    searching.check_place(args.svg, args.file)
    device = clgraph.device(args.device)
    graph, _ = searching.read_graph(args)
    with Progress() as progress:
        found = tune.run(
            graph,
            args.algorithm,
            objective=args.objective,
            budget=args.budget,
            trials=args.trials,
            device=device,
            sources=args.source,
            name=Path(args.file).name,
            seed=args.seed,
            store=args.store,
            progress=progress.callback,
        )
    record: Record = {**reporting.place_record(graph, device), **found.as_dict()}
    record["graph"]["file"] = args.file
    if args.svg is not None:
        draw(found, args.svg)
        record["svg"] = str(args.svg)
    return record


def _figure(value: float | None, digits: int = 4) -> str:
    return "-" if value is None else f"{value:.{digits}g}"


def _row(trial: dict[str, Any]) -> tuple[str, ...]:
    doubt = f" +-{50 * trial['spread']:.1f} %" if trial["compared"] else ""
    return (
        trial["config"] or str(trial["values"]),
        _figure(trial["time_ms"]) + doubt,
        _figure(trial["joules"]),
        _figure(trial["watts"], 3),
        "front" if trial.get("pareto") else "",
    )


def _render(record: Record) -> str:
    usable = [one for one in record["trials"] if not one["error"]]
    usable.sort(key=lambda one: (not one["compared"], one["time_ms"]))
    lines = [
        *reporting.place_text(record),
        ("tuned", f"{record['algorithm']} for {record['objective']}"),
        (
            "tried",
            f"{record['tried']:,} of {record['points']:,} combinations in "
            f"{record['seconds']:.1f} s",
        ),
        ("best", record["best"]["config"]),
        (
            "time",
            f"{record['best']['time_ms']:.4g} ms, auto {record['auto']['time_ms']:.4g} ms "
            f"({record['gain']:.3f} times as fast)",
        ),
    ]
    if record["best"]["joules"] is not None:
        lines.append(
            (
                "energy",
                f"{record['best']['joules']:.4g} J a run, auto {_figure(record['auto']['joules'])}",
            )
        )
    else:
        lines.append(("energy", "not measured: no power meter, or none was asked"))
    failed = len(record["trials"]) - len(usable)
    if failed:
        lines.append(("failed", f"{failed} could not be used; --json says why"))
    for name, what in (("stored", "stored"), ("svg", "wrote")):
        if record.get(name):
            lines.append((what, record[name]))
    head = ("configuration", "ms", "J", "W", "")
    return pairs(lines) + "\n\n" + table(head, [_row(one) for one in usable[:SHOWN]])


COMMAND = Command(
    "tune",
    "Search for the best configuration of an algorithm on a graph, and keep it",
    _add_arguments,
    _run,
    _render,
)
