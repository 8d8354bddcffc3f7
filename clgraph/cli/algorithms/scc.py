"""``clgraph scc FILE`` and ``clgraph components FILE``: components of a graph in a file."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from clgraph.algorithms.scc.config import SCCConfig
from clgraph.cli.algorithms.shared import (
    Report,
    add_common,
    columns_of,
    measured,
    rendered,
    speed,
)
from clgraph.cli.command import Command, Record
from clgraph.cli.searching import add_config
from clgraph.cli.setting import add_setting, wanted

if TYPE_CHECKING:
    import argparse

    from clgraph import Graph

__all__ = ["COMMAND", "COMPONENTS_COMMAND"]


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_config(parser)
    add_common(parser)
    add_setting(parser, SCCConfig)


def _run(args: argparse.Namespace) -> Record:
    import clgraph

    strong = args.command == COMMAND.name
    plan: Any = clgraph.ConnectedComponents
    if strong:  # before the file is read
        plan = partial(clgraph.SCC, config=wanted(SCCConfig, args.config, args.set))

    def make(graph: Graph, device: Any, progress: Any) -> Any:
        return plan(graph, device=device, progress=progress).run

    def describe(graph: Graph, result: Any) -> Report:
        entries = {
            "connection": "strong" if strong else "weak",
            "method": result.stats.method,
            "components": result.count,
            "largest_share": result.largest_share,
            "trivial_share": result.trivial_share,
            "steps": result.stats.steps,
        }
        return Report(entries, columns_of(graph, {"labels": result.labels}, ["component"]))

    record = measured(args, make, describe)
    # Of the graph's edges: how many a run goes along is not counted.
    record["mteps"] = speed(record["graph"]["edges"], record)["mteps"]
    return record


def _render(record: Record) -> str:
    kind = "strongly connected" if record["connection"] == "strong" else "connected"
    lines = [
        ("config", f"{record['preset']}, {record['method']}, {record['mode']}"),
        (
            "found",
            f"{record['components']:,} {kind} components; the largest has "
            f"{100 * record['largest_share']:.1f} % of the vertices, single vertices are "
            f"{100 * record['trivial_share']:.1f} %",
        ),
    ]
    return rendered(record, lines)


COMMAND = Command(
    "scc",
    "Strongly connected components, timed and metered",
    _add_arguments,
    _run,
    _render,
)
COMPONENTS_COMMAND = Command(
    "components",
    "Connected components, whatever way the edges point, timed and metered",
    add_common,
    _run,
    _render,
)
