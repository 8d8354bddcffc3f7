"""Speed against power of shortest paths: fixed steps of the bound, and set-points of a controller.

``python -m bench.studies.power.tuning_sweep FILE --device nvidia`` runs near-far for a list of
steps, takes the fastest as the baseline, and prints for it and for each set-point how much faster a
search was, its mean power relative to the baseline's, and its joules. ``--plot`` draws the edges of
every step and their distribution for the baseline and for one set-point. Joules are those of the
card, not of the whole machine, and none are printed where there is no meter. Clocks are left as
they are.
"""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import clgraph
from clgraph import SSSP, SSSPConfig, energy
from clgraph.algorithms.sssp.method import Method, NearFar, SelfTuning
from clgraph.cli.algorithms.tuning import draw_profiles
from clgraph.cli.text import table

from ...runner import machine
from ..command import command, keep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from clgraph import Device, Graph

__all__ = ["main", "measure", "sweep"]

HEAD = ("method", "ms", "speed-up", "W", "power", "J", "steps", "median edges", "cv", "relax/m")


def measure(
    graph: Graph,
    source: int,
    config: SSSPConfig,
    device: Device,
    *,
    repeats: int,
    energy_s: float = 0.0,
    expected: NDArray[Any] | None = None,
) -> dict[str, Any]:
    """Time one configuration from one source.

    Parameters
    ----------
    graph : Graph
        With weights that are not negative.
    source : int
        Where paths begin.
    config : SSSPConfig
        ``near-far`` or ``self-tuning``.
    device : Device
        Where.
    repeats : int
        Runs after the first, of which the median is taken.
    energy_s : float
        Seconds over which joules are measured; 0 leaves them out.
    expected : array [n], optional
        Distances that the first result must have.

    Returns
    -------
    dict
        ``median_ms``, ``watts`` and ``joules`` (None where not measured), ``edges`` of each step,
        ``relaxations`` and ``distances``.

    Raises
    ------
    AssertionError
        If the distances are not those expected.
    """
    plan = SSSP(graph, config=config, device=device)
    result = plan.run(source)
    distances = result.distances
    if expected is not None and not np.array_equal(distances, expected):
        raise AssertionError(f"{config} gives distances that differ from the baseline's")
    times = [plan.run(source).stats.kernel_ms for _ in range(repeats)]
    watts = joules = None
    if energy_s > 0:
        measured = energy.per_run(lambda: plan.run(source), min_seconds=energy_s, device=device)
        watts, joules = measured.mean_watts, measured.joules_per_run
    stages = result.stats.per_level
    return {
        "median_ms": statistics.median(times or [result.stats.kernel_ms]),
        "watts": watts,
        "joules": joules,
        "edges": stages["edges"][stages["direction"] == "near"],
        "relaxations": result.stats.relaxations,
        "distances": distances,
    }


def sweep(
    graph: Graph,
    source: int,
    device: Device,
    *,
    deltas: Sequence[float],
    set_points: Sequence[float],
    repeats: int = 3,
    energy_s: float = 0.0,
) -> list[dict[str, Any]]:
    """Measure all fixed steps, then all set-points against the fastest of them.

    Returns
    -------
    list of dict
        As `measure` gives them, with ``method``, ``speed_up`` and ``power``, both relative to
        the fastest fixed step, whose ``baseline`` is true.
    """
    rows: list[dict[str, Any]] = []
    for name, values in (("delta", deltas), ("set_point", set_points)):
        for value in values:
            given: dict[str, Any] = {name: value}
            tried: Method
            tried = (
                NearFar(drift=0, delta=value) if name == "delta" else SelfTuning(set_point=value)
            )
            row = measure(
                graph,
                source,
                SSSPConfig(method=tried),
                device,
                repeats=repeats,
                energy_s=energy_s,
                expected=rows[0]["distances"] if rows else None,
            )
            rows.append(
                row | given | {"method": f"{tried.name} {name.replace('_', '-')} {value:g}"}
            )
    baseline = min(rows[: len(deltas)], key=lambda row: float(row["median_ms"]))
    for row in rows:
        row["baseline"] = row is baseline
        row["speed_up"] = baseline["median_ms"] / row["median_ms"]
        row["power"] = row["watts"] / baseline["watts"] if row["watts"] else None
    return rows


def _shown(row: dict[str, Any], m: int) -> list[str]:
    steps = _steps(row, m)
    return [
        row["method"] + (" *" if row["baseline"] else ""),
        f"{row['median_ms']:.3g}",
        f"{row['speed_up']:.2f}",
        *("-" if row[key] is None else f"{row[key]:.3g}" for key in ("watts", "power", "joules")),
        f"{steps['steps']:,}",
        f"{steps['median_edges']:,.0f}",
        f"{steps['variation']:.2f}",
        f"{steps['relaxations_per_edge']:.2f}",
    ]


def _steps(row: dict[str, Any], m: int) -> dict[str, float]:
    """Sum up the edges of each step, which depend on the graph and not on the device."""
    edges = row["edges"]
    return {
        "steps": edges.size,
        "median_edges": float(np.median(edges)) if edges.size else 0.0,
        "variation": float(edges.std() / edges.mean()) if edges.any() else 0.0,
        "relaxations_per_edge": row["relaxations"] / max(m, 1),
    }


def _numbers(text: str) -> list[float]:
    return [float(word) for word in text.split(",")]


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; give the exit status."""
    parser = command(__doc__, "--json", repeats=3, commit=None)
    parser.add_argument("file", help="a graph with weights, in any format that is read")
    parser.add_argument("--source", type=int, default=0)
    parser.add_argument("--deltas", type=_numbers, help="default: 1/4 to 16 mean weights")
    parser.add_argument("--set-points", type=_numbers, default=_numbers("5000,10000,20000,40000"))
    parser.add_argument("--energy-seconds", type=float, default=0.0)
    parser.add_argument("--plot", help="picture of the baseline and the last set-point")
    given = parser.parse_args(argv)
    device = clgraph.device(given.device)
    graph = clgraph.read(given.file)
    mean = float(graph.weights.mean()) if graph.weights is not None and graph.m else 1.0
    rows = sweep(
        graph,
        given.source,
        device,
        deltas=given.deltas or [mean * 4.0**k for k in range(-1, 3)],
        set_points=given.set_points,
        repeats=given.repeats,
        energy_s=given.energy_seconds,
    )
    print(table(list(HEAD), [_shown(row, graph.m) for row in rows]))
    print("* the baseline: the fastest fixed step")
    if given.plot is not None:
        before = next(row for row in rows if row["baseline"])
        draw_profiles(given.plot, before["edges"], rows[-1]["edges"], given.set_points[-1])
    if given.json is not None:
        kept = [
            {key: value for key, value in row.items() if key not in ("edges", "distances")}
            | _steps(row, graph.m)
            for row in rows
        ]
        of = {"file": Path(given.file).name, "n": graph.n, "m": graph.m, "source": given.source}
        record = {"machine": machine.describe(device, given.commit), "graph": of, "rows": kept}
        keep(record, given.json, indent=None)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
