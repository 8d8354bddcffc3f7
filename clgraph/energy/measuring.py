"""Energy of a block of code."""

from __future__ import annotations

import contextlib
import logging
import math
from numbers import Real
from typing import TYPE_CHECKING, Any

from clgraph.device import device as choose_device
from clgraph.energy.meters import NoMeter, find_meter
from clgraph.energy.trace import RealTime, Timebase
from clgraph.energy.window import RESOLVED_UPDATES, Measurement, Window
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clgraph.device import Device
    from clgraph.energy.readings import Meter

__all__ = [
    "IDLE_SECONDS",
    "check_seconds",
    "idle_watts",
    "measure",
    "open_meter",
    "tell_loss",
]

log = logging.getLogger("clgraph")

IDLE_SECONDS = 0.5
IDLE_KEPT_S = 600.0

_idle: dict[Device, tuple[float, float]] = {}  # watts, and when they were taken
_warned: set[str] = set()


def idle_power(meter: Meter, timebase: Timebase, seconds: float) -> float | None:
    """Mean power over some time in which nothing is asked of the device.

    Parameters
    ----------
    meter : Meter
        An open meter.
    timebase : Timebase
        The clock to use.
    seconds : float
        How long to look; at least two updates of the meter are awaited.

    Returns
    -------
    float or None
        Watts; None if the meter does not resolve it.
    """
    window = Window(meter, timebase)
    try:
        window.open()
        timebase.sleep(max(seconds, RESOLVED_UPDATES * meter.update_s))
    finally:
        window.close()
    return window.result().mean_watts


def idle_watts(
    meter: Meter, timebase: Timebase, device: Device | None, seconds: float
) -> float | None:
    """Idle power of a device, as `idle_power` but kept for ten minutes; 0 s only looks it up."""
    kept = None if device is None else _idle.get(device)
    if kept is not None and timebase.now() - kept[1] < IDLE_KEPT_S:
        return kept[0]
    if seconds <= 0:
        return None
    watts = idle_power(meter, timebase, seconds)
    if watts is not None and device is not None:
        _idle[device] = (watts, timebase.now())
    return watts


def _warn_once(device: Device, meter: NoMeter) -> None:
    said = f"{device.name}: {meter.note}"
    if said not in _warned:
        _warned.add(said)
        log.warning("energy is not measured: %s", said)


@contextlib.contextmanager
def measure(
    device: Device | str | None = None,
    *,
    idle_seconds: float = IDLE_SECONDS,
    meter: Meter | None = None,
    timebase: Timebase | None = None,
) -> Iterator[Measurement]:
    """Measure what the device takes while a block of code runs.

    Parameters
    ----------
    device : Device or str, optional
        Whose meter to read; default is ``clgraph.device()``.
    idle_seconds : float
        How long to watch the device at rest first, in seconds, unless that was done in the last ten
        minutes; 0 leaves ``idle_watts`` unknown. This time is not part of the window.
    meter : Meter, optional
        A meter of your own instead of the device's.
    timebase : Timebase, optional
        A clock of your own, for tests.

    Yields
    ------
    Measurement
        Filled in when the block ends, also when it ends with an exception.

    Raises
    ------
    InvalidArgumentError
        If `idle_seconds` is negative or not a number.
    DeviceNotFoundError
        If there is no such device.

    Notes
    -----
    Costs up to `idle_seconds` before the block and two updates of the meter around it (0.2 s for
    NVML's counter), and a thread that looks at the meter every 10 to 20 ms. A meter that is missing
    or fails gives ``joules = None`` and one line in the log; one that does not resolve so short a
    window gives ``joules = None`` and says so in `note`. No setting of the device is changed.
    """
    check_seconds("idle_seconds", idle_seconds, lowest=0.0)
    timebase = RealTime() if timebase is None else timebase
    found, chosen = open_meter(device, meter)
    result = Measurement(note=found.note)
    if isinstance(found, NoMeter):
        began = timebase.now()
        try:
            yield result
        finally:
            result.seconds = timebase.now() - began
        return
    with contextlib.closing(found):
        result.source = found.source
        result.idle_watts = idle_watts(found, timebase, chosen, idle_seconds)
        window = Window(found, timebase)
        try:
            window.open()
            yield result
        finally:
            window.close()
            tell_loss(window)
            _fill(result, window.result())


def _fill(result: Measurement, found: Measurement) -> None:
    result.joules, result.seconds = found.joules, found.seconds
    result.mean_watts, result.peak_watts = found.mean_watts, found.peak_watts
    result.samples, result.note = found.samples, found.note


def tell_loss(window: Window) -> None:
    """Log that the meter of a window stopped answering, if it did."""
    if window.lost is not None:
        log.warning("energy is not known: %s", window.lost)


def open_meter(
    device: Device | str | None, meter: Meter | None
) -> tuple[Meter | NoMeter, Device | None]:
    """Open the meter of a device, and say so once if there is none; a given meter comes first."""
    if meter is not None:
        return meter, None
    chosen = choose_device(device)
    found = find_meter(chosen)
    if isinstance(found, NoMeter):
        _warn_once(chosen, found)
    return found, chosen


def check_seconds(name: str, seconds: Any, *, lowest: float) -> None:
    """Refuse a length of time that is no number, or too short."""
    known = isinstance(seconds, Real) and math.isfinite(seconds)
    if not (known and seconds >= lowest):
        raise InvalidArgumentError(
            f"{name} is {seconds}; it must be a finite number of seconds, {lowest:g} or more."
        )
