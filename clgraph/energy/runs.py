"""Energy of one run, out of a window that holds many."""

from __future__ import annotations

import contextlib
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clgraph.documented import documented
from clgraph.energy.measuring import (
    IDLE_SECONDS,
    check_seconds,
    idle_watts,
    measure,
    open_meter,
    tell_loss,
)
from clgraph.energy.meters import NoMeter
from clgraph.energy.trace import RealTime, Timebase
from clgraph.energy.window import Measurement, Window
from clgraph.errors import InvalidArgumentError
from clgraph.graph.arguments import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from clgraph.device import Device
    from clgraph.energy.readings import Meter, Source

__all__ = ["RunEnergy", "per_run"]

PIECE_UPDATES = 4  # a piece of a window then carries at most a quarter of quantisation
MOST_PIECES = 8


@dataclass(frozen=True, slots=True)
class RunEnergy:
    """What one run cost, from a window that holds many.

    Attributes
    ----------
    joules_per_run : float or None
        Energy of the window, idle power included, over the runs in it; None without a meter.
    spread : float or None
        Highest less lowest joules per run among the pieces of the window, relative to their mean;
        None where the window has no two pieces that the meter resolves.
    runs : int
        Runs within the window; the warm-up run before it is not counted.
    seconds, seconds_per_run : float
        Length of the window, and its share per run.
    mean_watts, peak_watts, idle_watts : float or None
        As in `Measurement`.
    samples : int
        Distinct readings within the window.
    source : {"nvml-counter", "nvml-power", "rapl", "none"}
        What the joules are derived from.
    note : str
        What the figures cover, or why there are none.
    """

    joules_per_run: float | None
    spread: float | None
    runs: int
    seconds: float
    seconds_per_run: float
    mean_watts: float | None
    peak_watts: float | None
    idle_watts: float | None
    samples: int
    source: Source
    note: str


@documented(measure)
def per_run(
    run: Callable[[], object],
    *,
    min_seconds: float = 2.0,
    device: Device | str | None = None,
    idle_seconds: float = IDLE_SECONDS,
    meter: Meter | None = None,
    timebase: Timebase | None = None,
) -> RunEnergy:
    """Repeat something until the meter resolves it, and share the joules out.

    Parameters
    ----------
    run : callable
        What to measure, for example ``lambda: plan.run(0)``. It must have finished on the device
        when it returns, as every function of clgraph has.
    min_seconds : float
        Shortest window, in seconds; NVML's counter changes every 0.1 s, so 2 s resolve 5 %.

    Returns
    -------
    RunEnergy
        Without a meter ``joules_per_run`` is None, and `run` is called once and not repeated.

    Raises
    ------
    InvalidArgumentError
        If `min_seconds` is not positive, or `idle_seconds` negative.

    Notes
    -----
    One unmeasured run comes first, to warm up. Everything from the first run to the last counts,
    the time of the host included: it is the cost of doing this over and over.
    """
    if not callable(run):
        raise InvalidArgumentError(f"run={shown(run)} cannot be called; pass lambda: plan.run(0).")
    check_seconds("min_seconds", min_seconds, lowest=1e-3)
    check_seconds("idle_seconds", idle_seconds, lowest=0.0)
    timebase = RealTime() if timebase is None else timebase
    found, chosen = open_meter(device, meter)
    if isinstance(found, NoMeter):
        began = timebase.now()
        run()
        seconds = timebase.now() - began
        return _share(Measurement(seconds=seconds, note=found.note), 1, None)
    with contextlib.closing(found):
        idle = idle_watts(found, timebase, chosen, idle_seconds)
        run()
        window = Window(found, timebase)
        ends = array("d")
        try:
            window.open()
            while not ends or ends[-1] - window.start < min_seconds:
                run()
                ends.append(timebase.now())
            window.close()
        except BaseException:
            window.abandon()
            raise
        tell_loss(window)
        result = window.result()
        result.idle_watts = idle
        return _share(result, len(ends), _spread(window, ends))


def _share(window: Measurement, runs: int, spread: float | None) -> RunEnergy:
    return RunEnergy(
        joules_per_run=None if window.joules is None else window.joules / runs,
        spread=None if window.joules is None else spread,
        runs=runs,
        seconds=window.seconds,
        seconds_per_run=window.seconds / runs,
        mean_watts=window.mean_watts,
        peak_watts=window.peak_watts,
        idle_watts=window.idle_watts,
        samples=window.samples,
        source=window.source,
        note=window.note,
    )


def _spread(window: Window, ends: array[float]) -> float | None:
    """Relative difference between the dearest and the cheapest piece of a window of runs."""
    runs = len(ends)
    resolved = int((ends[-1] - window.start) / (PIECE_UPDATES * window.meter.update_s))
    pieces = min(MOST_PIECES, runs, resolved)
    if pieces < 2:
        return None
    cuts = [piece * runs // pieces for piece in range(pieces + 1)]
    moments = [ends[cut - 1] if cut else window.start for cut in cuts]
    costs = []
    for first in range(pieces):
        joules = window.trace.joules(moments[first], moments[first + 1])
        if joules is None:
            return None
        costs.append(joules / (cuts[first + 1] - cuts[first]))
    mean = sum(costs) / pieces
    return (max(costs) - min(costs)) / mean if mean > 0 else None
