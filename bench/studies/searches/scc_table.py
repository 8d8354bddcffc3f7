"""Parameters of the strong-component scheme: presets x graphs, and maps of its iterations.

``python -m bench.studies.searches.scc_table --device nvidia --graphs dgrid,web-notredame`` prints,
for every preset, milliseconds, joules and the time of each phase; ``--map`` varies the iterations
of trimming and of the forward-backward step instead. Every first result is compared with scipy's.
"""

from __future__ import annotations

import statistics
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import clgraph
from clgraph import SCC, SCCConfig, energy
from clgraph.cli.text import table

from ...peers.components import strong_labels
from ...report.scc_page import TABLE
from ...runner import machine
from ...runner.graphs import Places, find
from ..command import command, keep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from clgraph import Device, Graph

__all__ = ["heat_map", "main", "measure"]

TRIMS: tuple[Any, ...] = (0, 1, 2, 3, 5, "full")
PAIRS = (0, 1, 2, 5, 17, 20)
LONG_MS = 300.0  # runs above are not repeated, nor measured for joules


def measure(
    graph: Graph,
    config: SCCConfig | str,
    device: Device,
    *,
    repeats: int,
    energy_s: float = 0.0,
    expected: NDArray[np.int32] | None = None,
) -> dict[str, Any]:
    """Time one configuration on one graph.

    Parameters
    ----------
    graph : Graph
        Directed.
    config : SCCConfig or str
        A configuration or a preset.
    device : Device
        Where.
    repeats : int
        Runs after the first, of which the median is taken.
    energy_s : float
        Seconds over which joules are measured; 0 leaves them out.
    expected : int32 array [n], optional
        Labels that the first result must have.

    Returns
    -------
    dict
        ``median_ms``, ``min_ms``, ``joules`` (None where not measured), ``phases``, ``rounds``,
        ``components`` and ``config``.

    Raises
    ------
    AssertionError
        If the labels are not those expected.
    """
    plan = SCC(graph, config=config, device=device)
    result = plan.run()
    if expected is not None and not np.array_equal(result.labels, expected):
        raise AssertionError(f"{config} gives labels that differ from scipy's")
    long = result.stats.kernel_ms > LONG_MS
    times = [result.stats.kernel_ms] if long else []
    times += [plan.run().stats.kernel_ms for _ in range(0 if long else repeats)]
    joules = None
    if energy_s > 0 and not long:
        joules = energy.per_run(
            plan.run, min_seconds=energy_s, device=device, idle_seconds=0.0
        ).joules_per_run
    return {
        "median_ms": statistics.median(times),
        "min_ms": min(times),
        "joules": joules,
        "phases": result.stats.phases,
        "rounds": result.stats.levels,
        "components": result.count,
        "config": plan.config.as_dict(),
    }


def heat_map(
    graph: Graph, device: Device, *, repeats: int, expected: NDArray[np.int32] | None = None
) -> list[dict[str, Any]]:
    """Time every number of trimming and forward-backward iterations, colouring the rest.

    Returns
    -------
    list of dict
        As `measure` gives them, with ``trim`` and ``forward_backward``; both closures go by queue.
    """
    return [
        {"trim": trim, "forward_backward": pairs}
        | measure(
            graph,
            SCCConfig(trim=trim, forward_backward=pairs, finish="coloring"),
            device,
            repeats=repeats,
            expected=expected,
        )
        for trim in TRIMS
        for pairs in PAIRS
    ]


def _distinct(presets: Sequence[str]) -> list[list[str]]:
    """Group presets that are the same configuration."""
    groups: dict[SCCConfig, list[str]] = {}
    for name in presets:
        groups.setdefault(SCCConfig.preset(name), []).append(name)
    return list(groups.values())


def _presets(rows: Sequence[dict[str, Any]]) -> str:
    head = ["graph", "preset", "ms", "J", "rounds", "ms by phase"]
    body = [
        [
            row["graph"],
            row["preset"],
            f"{row['median_ms']:.3g}",
            "-" if row["joules"] is None else f"{row['joules']:.3g}",
            f"{row['rounds']:,}",
            ", ".join(f"{name} {took['milliseconds']:.3g}" for name, took in row["phases"].items()),
        ]
        for row in rows
    ]
    return table(head, body)


def _map(name: str, rows: Sequence[dict[str, Any]]) -> str:
    times = {(row["trim"], row["forward_backward"]): row["median_ms"] for row in rows}
    body = [[str(trim), *(f"{times[trim, pairs]:.3g}" for pairs in PAIRS)] for trim in TRIMS]
    return f"{name}, ms\n" + table(["trim", *(f"fb {pairs}" for pairs in PAIRS)], body)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; give the exit status."""
    parser = command(__doc__, "--json", data=None, repeats=5, commit=None)
    parser.add_argument("--graphs", default="rmat14", help="names, separated by commas")
    parser.add_argument("--presets", default="all", help="names, separated by commas")
    parser.add_argument("--folder", type=Path, help="folder of generated graphs")
    parser.add_argument("--map", action="store_true", help="vary the iterations instead")
    parser.add_argument("--energy-seconds", type=float, default=0.0)
    given = parser.parse_args(argv)
    device = clgraph.device(given.device)
    presets = SCCConfig.presets() if given.presets == "all" else given.presets.split(",")
    record: dict[str, Any] = {
        "table": f"{TABLE}{', a map' * given.map}",
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine.describe(device, given.commit),
        "energy_seconds": given.energy_seconds,
        "rows": [],
    }
    for name in given.graphs.split(","):
        graph = find(name, Places(graphs=given.folder, data=given.data)).graph
        expected = strong_labels(graph)
        if given.map:
            rows = heat_map(graph, device, repeats=given.repeats, expected=expected)
            print(_map(name, rows), flush=True)
            record["rows"] += [{"graph": name} | row for row in rows]
            keep(record, given.json, indent=None)
            continue
        for alike in _distinct(presets):
            size = {"graph": name, "preset": " ".join(alike), "n": graph.n, "m": graph.m}
            row = size | measure(
                graph,
                alike[0],
                device,
                repeats=given.repeats,
                energy_s=given.energy_seconds,
                expected=expected,
            )
            record["rows"].append(row)
            print(_presets([row]).splitlines()[-1], flush=True)
            keep(record, given.json, indent=None)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
