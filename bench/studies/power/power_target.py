"""Whether shortest paths hold the power that they are asked for.

``python -m bench.studies.power.power_target FILE --device nvidia --watts 160,185,210`` searches
from a few sources in turn for some time at each target and prints mean power, joules, searches and
where the set-point came to rest. FILE is a graph with weights, large enough that searching it loads
the device, in any format that is read, or a NAME.bcsr. Power is that of the card, the device at
rest included.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import clgraph
from clgraph import SSSP, SSSPConfig, energy
from clgraph.cli.text import plain, table

from ...runner import machine
from ...runner.graphs import read_bcsr

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clgraph import Device, Graph

__all__ = ["hold", "main"]

HEAD = (
    "target W",
    "mean W",
    "off",
    "last half W",
    "J",
    "s",
    "searches",
    "ms",
    "J each",
    "set-point",
)


def hold(
    graph: Graph, sources: Sequence[int], device: Device, watts: float, seconds: float
) -> dict[str, Any]:
    """Search for some time with a power target.

    Parameters
    ----------
    graph : Graph
        With weights that are not negative.
    sources : sequence of int
        Where searches begin, in turn.
    device : Device
        Whose power is held; it needs a meter.
    watts : float
        The target.
    seconds : float
        How long, from the first search on: what the controller needs to settle is part of it.

    Returns
    -------
    dict
        ``mean_watts`` and ``joules`` by the meter over the whole time, ``off`` the relative
        difference to the target, ``last_half_watts`` the median of the controller's own windows in
        the second half, ``searches``, ``median_ms``, ``set_point`` at the end, and ``history``.

    Raises
    ------
    InvalidArgumentError
        If there is no meter, or the target is not above the power at rest.
    """
    config = SSSPConfig(method=clgraph.method.SelfTuning(power_target=watts))
    plan = SSSP(graph, config=config, device=device)
    expected = plan.run(sources[0], verify=True).reached
    times: list[float] = []
    with energy.measure(device) as measured:
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            result = plan.run(sources[len(times) % len(sources)])
            times.append(result.stats.kernel_ms)
    power = plan.power
    history = power.history if power else []
    late = [seen for _, seen, _ in history[len(history) // 2 :]]
    mean = measured.mean_watts
    return {
        "target": watts,
        "idle_watts": power.idle if power else None,
        "mean_watts": mean,
        "off": mean / watts - 1 if mean else None,
        "last_half_watts": statistics.median(late) if late else None,
        "joules": measured.joules,
        "seconds": measured.seconds,
        "source": measured.source,
        "searches": len(times),
        "reached": expected,
        "median_ms": statistics.median(times),
        "joules_each": measured.joules / len(times) if measured.joules else None,
        "set_point": plan.set_point,
        "history": [list(window) for window in history],
    }


def _shown(row: dict[str, Any]) -> list[str]:
    def number(key: str, form: str) -> str:
        return "-" if row[key] is None else format(row[key], form)

    return [
        f"{row['target']:.0f}",
        number("mean_watts", ".1f"),
        number("off", "+.1%"),
        number("last_half_watts", ".1f"),
        number("joules", ".0f"),
        number("seconds", ".1f"),
        f"{row['searches']}",
        f"{row['median_ms']:.2f}",
        number("joules_each", ".3g"),
        f"{row['set_point']:,.0f}",
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Hold each target in turn and print; give the exit status: 1 if any is missed by a tenth."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="a graph with weights")
    parser.add_argument("--watts", required=True, help="targets, separated by commas")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--sources", default="0", help="vertices, separated by commas")
    parser.add_argument("--device")
    parser.add_argument("--commit")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args(argv)
    device = clgraph.device(given.device)
    graph = read_bcsr(given.file) if given.file.suffix == ".bcsr" else clgraph.read(given.file)
    sources = [int(word) for word in given.sources.split(",")]
    rows = []
    for watts in map(float, given.watts.split(",")):
        rows.append(hold(graph, sources, device, watts, given.seconds))
        print(table(list(HEAD), [_shown(rows[-1])]), flush=True)
    if given.json is not None:
        record = {"machine": machine.describe(device, given.commit), "rows": rows}
        given.json.write_text(json.dumps(plain(record)) + "\n", encoding="utf-8")
    return int(any(row["off"] is None or abs(row["off"]) > 0.1 for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
