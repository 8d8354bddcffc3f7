"""Power of a load that is kept up: windows of seconds, whatever one launch takes."""

from __future__ import annotations

import contextlib
import random
import statistics
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from clgraph.energy.measuring import check_seconds, idle_power, open_meter, tell_loss
from clgraph.energy.meters import NoMeter
from clgraph.energy.readings import Conditions, MeterOfACard
from clgraph.energy.trace import RealTime, Timebase
from clgraph.energy.window import PATIENCE_UPDATES, Window

if TYPE_CHECKING:
    from collections.abc import Callable

    from clgraph.device import Device
    from clgraph.energy.readings import Meter, Source

    # Starts some work and gives what waits for it and reports how long the device took, in seconds.
    Launch: TypeAlias = Callable[[], Callable[[], float]]

__all__ = ["IN_FLIGHT", "SteadyPower", "idle_baseline", "steady_power"]

WINDOW_S = 2.0
WARM_UP_S = 0.5
IN_FLIGHT = 3  # launches enqueued at once, so that the device never waits for the host
RESOLVED_UPDATES = 20  # the fewest that resolve 5 %
LEAST_DUTY = 0.95
CLOCK_DRIFT = 0.02
DISAGREEMENT = 0.05
CONDITIONS_EVERY_S = 0.25
# NVML's reasons for lower clocks which falsify a measurement: caps of power, heat and hardware. An
# idle card, clocks that a user set, and synchronised boosts are none of these.
CAPS = 0x4 | 0x8 | 0x20 | 0x40 | 0x80


@dataclass(frozen=True, slots=True)
class SteadyPower:
    """Power of a load in its steady state.

    Attributes
    ----------
    mean_watts, peak_watts : float or None
        Energy of the window over its length, and the highest reading within; peaks shorter than a
        reading (some 50 ms on NVIDIA cards) are not seen. None without a meter.
    idle_watts_before, idle_watts_after : float or None
        The device at rest, just before and just after, where that was asked for.
    integrated_watts : float or None
        Mean power from readings of power alone, where a counter gave `mean_watts`.
    seconds, kernel_seconds : float
        Length of the window, and what the device computed in it.
    launches, samples : int
        Launches, and distinct readings, within the window.
    sm_clock_mhz : tuple of int or None
        Lowest, median and highest.
    temperature_c : tuple of int or None
        At the start and at the end.
    power_limit_w : float or None
        What the driver kept the power below.
    source : {"nvml-counter", "nvml-power", "rapl", "none"}
        What the watts are derived from.
    flags : tuple of str
        Why the figures deserve doubt; empty if they do not.
    """

    mean_watts: float | None = None
    peak_watts: float | None = None
    idle_watts_before: float | None = None
    idle_watts_after: float | None = None
    integrated_watts: float | None = None
    seconds: float = 0.0
    kernel_seconds: float = 0.0
    launches: int = 0
    samples: int = 0
    sm_clock_mhz: tuple[int, int, int] | None = None
    temperature_c: tuple[int, int] | None = None
    power_limit_w: float | None = None
    source: Source = "none"
    flags: tuple[str, ...] = ()

    @property
    def duty(self) -> float:
        """Share of the window in which the device computed."""
        return self.kernel_seconds / self.seconds if self.seconds > 0 else 0.0


@dataclass(slots=True)
class Load:
    """Keeps some launches in flight; `seconds` is what those that ended took on the device."""

    launch: Launch
    seconds: float = 0.0
    ended: int = 0
    pending: deque[Callable[[], float]] = field(default_factory=deque)

    def turn(self) -> None:
        """Wait for the oldest launch once enough are in flight."""
        while len(self.pending) < IN_FLIGHT:
            self.pending.append(self.launch())
        self.seconds += self.pending.popleft()()
        self.ended += 1

    def drain(self) -> None:
        """Wait for everything that is in flight."""
        while self.pending:
            self.pending.popleft()()


def idle_baseline(
    device: Device | str | None = None,
    *,
    seconds: float = WINDOW_S,
    meter: Meter | None = None,
    timebase: Timebase | None = None,
) -> float | None:
    """Watts of a device at rest, measured anew; None without a meter."""
    found, _ = open_meter(device, meter)
    if isinstance(found, NoMeter):
        return None
    with contextlib.closing(found):
        return idle_power(found, RealTime() if timebase is None else timebase, seconds)


def steady_power(
    launch: Launch,
    *,
    device: Device | str | None = None,
    min_seconds: float = WINDOW_S,
    warm_up_seconds: float = WARM_UP_S,
    idle_seconds: float = 0.0,
    seed: int | None = None,
    meter: Meter | None = None,
    timebase: Timebase | None = None,
) -> SteadyPower:
    """Keep a device busy with the same launches and measure its power.

    Parameters
    ----------
    launch : callable
        Enqueues some milliseconds of work and returns a function that waits for it and gives the
        seconds it took on the device.
    device : Device or str, optional
        Whose meter to read; default is ``clgraph.device()``.
    min_seconds : float
        Shortest window; it also holds at least 20 updates of the meter.
    warm_up_seconds : float
        Load before the window, which does not count.
    idle_seconds : float
        How long to watch the device at rest before and after; 0 leaves that out.
    seed : int, optional
        Of the random pause of up to one update of the meter before the load begins: cards sample
        their power a part of the time, so windows must not all begin at the same phase.
    meter, timebase : optional
        As in `measure`.

    Returns
    -------
    SteadyPower
        Without a meter the load runs once and all watts are None.

    Raises
    ------
    InvalidArgumentError
        If a length of time is negative or not a number.
    """
    check_seconds("min_seconds", min_seconds, lowest=1e-3)
    check_seconds("warm_up_seconds", warm_up_seconds, lowest=0.0)
    check_seconds("idle_seconds", idle_seconds, lowest=0.0)
    timebase = RealTime() if timebase is None else timebase
    found, _ = open_meter(device, meter)
    load = Load(launch)
    if isinstance(found, NoMeter):
        began = timebase.now()
        seconds = launch()()
        return SteadyPower(
            seconds=timebase.now() - began,
            kernel_seconds=seconds,
            launches=1,
            flags=(f"no meter: {found.note}",),
        )
    with contextlib.closing(found):
        before = idle_power(found, timebase, idle_seconds) if idle_seconds > 0 else None
        timebase.sleep(random.Random(seed).random() * found.update_s)  # noqa: S311
        try:
            window, seen = _loaded_window(load, found, timebase, min_seconds, warm_up_seconds)
        finally:
            load.drain()
        after = idle_power(found, timebase, idle_seconds) if idle_seconds > 0 else None
        return _result(window, seen, load, (before, after))


def _loaded_window(
    load: Load, meter: Meter, timebase: Timebase, min_seconds: float, warm_up_seconds: float
) -> tuple[Window, list[Conditions]]:
    began = timebase.now()
    while timebase.now() - began < warm_up_seconds:
        load.turn()
    window = Window(meter, timebase)
    seen: list[Conditions] = []
    try:
        # The window opens and closes at updates of the meter; launches in flight bridge the wait
        # at its start, and turns of the load stand for waiting at its end.
        patience = PATIENCE_UPDATES * meter.update_s
        opened, edges = timebase.now(), max(window.trace.edges, 1)
        # The first look may take a while, and before it nobody knows whether the meter counts.
        while (
            window.lost is None
            and (not window.trace.looks or (window.trace.counts and window.trace.edges <= edges))
            and timebase.now() - opened < patience
        ):
            load.turn()
        window.start = timebase.now()
        load.seconds, load.ended = 0.0, 0
        length = max(min_seconds, RESOLVED_UPDATES * meter.update_s)
        looked = -1.0
        while window.lost is None and timebase.now() - window.start < length:
            if isinstance(meter, MeterOfACard) and timebase.now() - looked >= CONDITIONS_EVERY_S:
                looked = timebase.now()
                seen.append(meter.conditions())
            load.turn()
        window.end = timebase.now()
        kernel_seconds, ended = load.seconds, load.ended
        while (
            window.lost is None
            and window.trace.counts
            and window.trace.last_edge < window.end
            and timebase.now() - window.end < patience
        ):
            load.turn()
        load.seconds, load.ended = kernel_seconds, ended
    finally:
        window.abandon()
        tell_loss(window)
    return window, seen


def _result(
    window: Window,
    seen: list[Conditions],
    load: Load,
    idle: tuple[float | None, float | None],
) -> SteadyPower:
    found = window.result()
    flags = [] if found.joules is not None else [found.note]
    integrated = None
    if found.source == "nvml-counter" and found.seconds > 0:
        joules = window.trace.joules_by_power(window.start, window.end)
        integrated = None if joules is None else joules / found.seconds
    if found.mean_watts and integrated and abs(integrated / found.mean_watts - 1) > DISAGREEMENT:
        flags.append(
            f"the counter says {found.mean_watts:.1f} W, readings of power {integrated:.1f} W"
        )
    duty = load.seconds / found.seconds if found.seconds > 0 else 0.0
    if duty < LEAST_DUTY:
        flags.append(f"the device computed only {duty:.0%} of the window")
    clocks = [look.sm_clock_mhz for look in seen if look.sm_clock_mhz]
    if clocks and max(clocks) - min(clocks) > CLOCK_DRIFT * max(clocks):
        flags.append(f"the clock went from {min(clocks)} to {max(clocks)} MHz")
    if any((look.slowed_by or 0) & CAPS for look in seen):
        flags.append("clocks were held down by a limit of power, heat or hardware")
    heat = [look.temperature_c for look in seen if look.temperature_c is not None]
    return SteadyPower(
        mean_watts=found.mean_watts,
        peak_watts=found.peak_watts,
        idle_watts_before=idle[0],
        idle_watts_after=idle[1],
        integrated_watts=integrated,
        seconds=found.seconds,
        kernel_seconds=load.seconds,
        launches=load.ended,
        samples=found.samples,
        sm_clock_mhz=(min(clocks), round(statistics.median(clocks)), max(clocks))
        if clocks
        else None,
        temperature_c=(heat[0], heat[-1]) if heat else None,
        power_limit_w=seen[0].power_limit_w if seen else None,
        source=found.source,
        flags=tuple(flags),
    )
