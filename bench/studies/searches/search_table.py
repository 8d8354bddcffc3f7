"""Simultaneous searches: method x graph in seconds and joules, with savings, as in the literature.

``python -m bench.studies.searches.search_table kron20 classes --device nvidia`` searches every
graph from 1,024 sources with each method and prints two tables; "classes" stands for all of
`search_graphs`. The oracle is the better of the first two methods, chosen after the fact, for time
and for joules by itself; savings are those of the hybrid over it. "fitted" is the hybrid with the
threshold that fits the degrees. ``--thresholds`` prints the seconds of the hybrid at thresholds
from 0 to infinity.
"""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import clgraph
from clgraph import MultiSearch, MultiSearchConfig, State, energy
from clgraph.algorithms.multi_search.state import library_snippets
from clgraph.cli.text import table

from ...runner import machine
from ...runner.graphs import Places, find
from ...runner.problem import pick_sources
from ..command import command, keep
from .search_graphs import CLASSES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clgraph import Device, Graph

__all__ = ["COLUMNS", "METHODS", "SCHEMA", "figures_of", "main", "measure", "render"]

SCHEMA = "clgraph-searches/1"

METHODS: dict[str, MultiSearchConfig | str] = {
    **{name: name for name in ("edge-parallel", "work-efficient", "warp-based", "hybrid")},
    "fitted": MultiSearchConfig(threshold="auto", balance="item_thread"),
    "auto": "auto",
}
ORACLE = ("edge-parallel", "work-efficient")
THRESHOLDS = (0, 4, 8, 16, 32, 64, math.inf)
REPEATS, REPEATS_S = 3, 1.5
COLUMNS = (*ORACLE, "oracle", "warp-based", "hybrid", "fitted", "auto", "saving")

Row = dict[str, Any]


def _plan(graph: Graph, device: Device, config: MultiSearchConfig | str) -> MultiSearch:
    """Give a plan that keeps sums only, so that any number of searches fits."""
    return MultiSearch(
        graph,
        state={
            "totals": State(np.uint64, size=3),
            "harmonic": State(np.float64 if device.traits.fp64 else np.float32, size=1),
        },
        **library_snippets("totals"),
        config=config,
        device=device,
    )


def measure(
    graph: Graph,
    sources: Sequence[int],
    device: Device,
    configs: dict[str, MultiSearchConfig | str],
    energy_s: float = 0.0,
) -> dict[str, Row]:
    """Measure every configuration on one graph.

    Parameters
    ----------
    graph : Graph
        What is searched.
    sources : sequence of int
        Where searches begin.
    device : Device
        Where.
    configs : dict
        Configurations by the name they are shown with.
    energy_s : float
        Shortest window for joules; 0 leaves them out.

    Returns
    -------
    dict
        By name, ``seconds`` (device time, the best of up to three runs), ``joules`` (or None), and
        the ``threshold`` and ``balance`` that ran.

    Raises
    ------
    VerificationError
        If two configurations disagree.
    """
    rows: dict[str, Row] = {}
    expected = None
    for name, config in configs.items():
        plan = _plan(graph, device, config)
        totals = plan.run(sources)["totals"]
        if expected is not None and not np.array_equal(totals, expected):
            raise clgraph.VerificationError(f"{name} finds other sums than the method before it.")
        expected = totals
        times = [plan.run(sources).stats.kernel_ms / 1e3]
        while len(times) < REPEATS and sum(times) < REPEATS_S:
            times.append(plan.run(sources).stats.kernel_ms / 1e3)
        ran = plan.config
        row: Row = {
            "seconds": min(times),
            "joules": None,
            "threshold": "inf" if math.isinf(ran.threshold) else ran.threshold,
            "balance": ran.balance.name if ran.queued else None,
        }
        if energy_s > 0:
            taken = energy.per_run(
                lambda plan=plan: plan.run(sources),  # type: ignore[misc]
                min_seconds=energy_s,
                idle_seconds=0.0,
                device=device,
            )
            row |= {"joules": taken.joules_per_run, "meter": taken.source, "note": taken.note}
        rows[name] = row
    return rows


def render(results: dict[str, dict[str, Row]], what: str) -> str:
    """Give one of the two tables.

    Parameters
    ----------
    results : dict
        What `measure` gave, by graph.
    what : {"seconds", "joules"}
        Which figure.

    Returns
    -------
    str
        A line for each graph; a figure that was not measured is a dash.
    """
    lines = [[graph, *figures_of(rows, what)] for graph, rows in results.items()]
    return table([what, *COLUMNS], lines)


def figures_of(rows: dict[str, Row], what: str) -> list[str]:
    """Give a line of the table, as text by `COLUMNS`."""
    figures = {name: row[what] for name, row in rows.items()}
    known = [figures[name] for name in ORACLE if figures.get(name) is not None]
    figures["oracle"] = min(known) if len(known) == 2 else None
    hybrid, oracle = figures.get("hybrid"), figures["oracle"]
    saving = None if hybrid is None or oracle is None else 1 - hybrid / oracle
    cells = [_cell(figures.get(name)) for name in COLUMNS[:-1]]
    return [*cells, "-" if saving is None else f"{100 * saving:.0f} %"]


def _cell(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _names(given: Sequence[str]) -> list[str]:
    return [name for word in given for name in (CLASSES if word == "classes" else (word,))]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments; default is those of the process.

    Returns
    -------
    int
        0.
    """
    parser = command(__doc__, "--json", data=None, commit=None)
    parser.add_argument(
        "graphs",
        nargs="+",
        help="names of search_graphs.py here or of bench/runner/graphs.py, or classes",
    )
    parser.add_argument("--graphs", dest="graph_folder", type=Path, metavar="DIR")
    parser.add_argument("--searches", type=int, default=1024)
    parser.add_argument("--energy", type=float, default=0.0, metavar="SECONDS")
    parser.add_argument("--thresholds", action="store_true", help="sweep the hybrid's threshold")
    args = parser.parse_args(argv)
    device = clgraph.device(args.device)
    configs = METHODS
    if args.thresholds:
        configs = {
            f"{threshold:g}": MultiSearchConfig(threshold=threshold, balance="item_thread")
            for threshold in THRESHOLDS
        }
    record: Row = {
        "schema": SCHEMA,
        "kind": "thresholds" if args.thresholds else "methods",
        "started": time.strftime("%Y-%m-%d %H:%M"),
        "machine": machine.describe(device, args.commit),
        "searches": args.searches,
        "energy_s": args.energy,
        "graphs": {},
    }
    results: dict[str, dict[str, Row]] = {}
    places = Places(args.graph_folder, args.data)
    for name in _names(args.graphs):
        graph = CLASSES[name][1]() if name in CLASSES else find(name, places).graph
        sources = pick_sources(graph.degrees, args.searches, name)
        results[name] = measure(graph, sources, device, configs, args.energy)
        record["graphs"][name] = {
            "like": CLASSES[name][0] if name in CLASSES else name,
            "n": graph.n,
            "m": graph.m,
            "methods": results[name],
        }
        keep(record, args.json)
    if args.thresholds:
        rows = [
            [graph, *(_cell(row["seconds"]) for row in found.values())]
            for graph, found in results.items()
        ]
        print(table(["seconds", *configs], rows))
    else:
        print(render(results, "seconds"))
        if args.energy > 0:
            print(render(results, "joules"))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
