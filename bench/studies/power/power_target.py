"""Whether shortest paths hold the power that they are asked for.

``python -m bench.studies.power.power_target FILE --device nvidia --watts 160,185,210`` searches
from a few sources in turn for some time at each target and prints mean power, joules, searches,
where the set-point came to rest, and how many windows of a second lie within a twentieth of the
target once it had time to settle. Without ``--watts`` there are three targets between what the
least and a large set-point draw. FILE is a graph with weights, large enough that searching it loads
the device, in any format that is read, or a NAME.bcsr. Power is that of the card, the device at
rest included.
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import clgraph
from clgraph import SSSP, SSSPConfig, energy
from clgraph.algorithms.sssp.tuning import LEAST_SET_POINT
from clgraph.cli.text import table
from clgraph.energy.measuring import open_meter
from clgraph.energy.meters import NoMeter
from clgraph.energy.trace import RealTime
from clgraph.energy.window import Window
from clgraph.errors import InvalidArgumentError

from ...runner import machine
from ...runner.graphs import read_bcsr
from ..command import command, keep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clgraph import Device, Graph

__all__ = ["hold", "main", "search", "targets", "windows", "within"]

HEAD = (
    "target W",
    "mean W",
    "off",
    "last half W",
    "within",
    "J",
    "s",
    "searches",
    "ms",
    "J each",
    "set-point",
)
SETTLED_S = 5.0  # after which windows count
WINDOW_S = 1.0
NEAR, SHARE = 0.05, 0.9  # of the target within which windows lie, and of the windows
PROBED_S = 3.0  # that the least and the most power are looked at
MOST_EDGES = 1 << 20  # a step that fills every card
SHARES = (0.25, 0.5, 0.75)  # between these two
SOURCES = 16  # whose searches take unlike times, so that a meter does not see the same part of each


def windows(window: Window, settled_s: float = SETTLED_S) -> list[float]:
    """Mean watts of each second of a window of time but the first few, by the meter's counter."""
    found = []
    begin = window.start + settled_s
    while begin + WINDOW_S <= window.end:
        joules = window.trace.joules(begin, begin + WINDOW_S)
        if joules is not None:
            found.append(joules / WINDOW_S)
        begin += WINDOW_S
    return found


def within(watts: float, seen: Sequence[float]) -> float | None:
    """Give the share of windows that are near a target; None where there is no window."""
    return statistics.fmean(abs(one / watts - 1) <= NEAR for one in seen) if seen else None


def search(
    plan: SSSP, sources: Sequence[int], device: Device, seconds: float
) -> tuple[list[float], Window | None]:
    """Search from sources in turn for some time; give milliseconds of each, and what was metered.

    Without a meter there is no window.
    """
    times: list[float] = []
    meter, _ = open_meter(device, None)
    window = None if isinstance(meter, NoMeter) else Window(meter, RealTime())
    try:
        if window is not None:
            window.open()
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            times.append(plan.run(sources[len(times) % len(sources)]).stats.kernel_ms)
        if window is not None:
            window.close()
    except BaseException:
        if window is not None:
            window.abandon()
        raise
    finally:
        if window is not None:
            meter.close()
    return times, window


def targets(graph: Graph, sources: Sequence[int], device: Device) -> list[float]:
    """Give three targets between what the least and a large set-point draw.

    Raises
    ------
    InvalidArgumentError
        If there is no meter to say what they draw.
    """
    ends = []
    for edges in (LEAST_SET_POINT, MOST_EDGES):
        config = SSSPConfig(method=clgraph.method.SelfTuning(set_point=float(edges)))
        plan = SSSP(graph, config=config, device=device)
        plan.run(sources[0])
        _, window = search(plan, sources, device, PROBED_S)
        seen = [] if window is None else windows(window, PROBED_S - 2 * WINDOW_S)
        if not seen:
            raise InvalidArgumentError(f"{device.name} has no meter; --watts needs one too.")
        ends.append(statistics.fmean(seen))
    low, high = sorted(ends)
    return [float(round(low + share * (high - low))) for share in SHARES]


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
        difference to the target, ``windows`` the watts of each second once settled, ``within``
        the share of these within a twentieth of the target, ``last_half_watts`` the median of the
        controller's own windows in the second half, ``searches``, ``median_ms``, ``set_point`` at
        the end, and ``history``.

    Raises
    ------
    InvalidArgumentError
        If there is no meter, or the target is not above the power at rest.
    """
    config = SSSPConfig(method=clgraph.method.SelfTuning(power_target=watts))
    plan = SSSP(graph, config=config, device=device)
    expected = plan.run(sources[0], verify=True).reached
    times, window = search(plan, sources, device, seconds)
    measured = energy.Measurement() if window is None else window.result()
    seen = [] if window is None else windows(window)
    power = plan.power
    history = power.history if power else []
    late = [seen for _, seen, _ in history[len(history) // 2 :]]
    mean = measured.mean_watts
    return {
        "target": watts,
        "idle_watts": power.idle if power else None,
        "mean_watts": mean,
        "off": mean / watts - 1 if mean else None,
        "windows": seen,
        "within": within(watts, seen),
        "last_half_watts": statistics.median(late) if late else None,
        "joules": measured.joules,
        "seconds": measured.seconds,
        "source": measured.source,
        "searches": len(times),
        "reached": expected,
        "median_ms": statistics.median(times),
        "least_ms": min(times),
        "most_ms": max(times),
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
        number("within", ".0%"),
        number("joules", ".0f"),
        number("seconds", ".1f"),
        f"{row['searches']}",
        f"{row['median_ms']:.2f}",
        number("joules_each", ".3g"),
        f"{row['set_point']:,.0f}",
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Hold each target in turn and print; give the exit status: 1 if windows miss one too often."""
    parser = command(__doc__, "--json", commit=None)
    parser.add_argument("file", type=Path, help="a graph with weights")
    parser.add_argument("--watts", help="targets, separated by commas")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each target")
    parser.add_argument("--sources", help="vertices, separated by commas; default: some by chance")
    given = parser.parse_args(argv)
    device = clgraph.device(given.device)
    graph = read_bcsr(given.file) if given.file.suffix == ".bcsr" else clgraph.read(given.file)
    if given.sources is None:
        reached = np.flatnonzero(graph.degrees)
        sources = np.random.default_rng(0).choice(reached, SOURCES).tolist()
    else:
        sources = [int(word) for word in given.sources.split(",")]
    wanted = [float(word) for word in given.watts.split(",")] if given.watts else None
    rows = []
    for watts in wanted or targets(graph, sources, device):
        rows.append(hold(graph, sources, device, watts, given.seconds))
        print(table(list(HEAD), [_shown(rows[-1])]), flush=True)
    if given.json is not None:
        of = {"file": given.file.name, "n": graph.n, "m": graph.m, "sources": sources}
        record = {"machine": machine.describe(device, given.commit), "graph": of, "rows": rows}
        keep(record, given.json, indent=None)
    return int(any(row["within"] is None or row["within"] < SHARE for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
