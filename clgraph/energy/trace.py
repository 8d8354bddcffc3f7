"""Readings of a meter over time, and the integral over a window of them."""

from __future__ import annotations

import time
import weakref
from array import array
from typing import TYPE_CHECKING, Protocol

import numpy as np

from clgraph.energy.readings import MeterError
from clgraph.threads import Latch, Worker

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from clgraph.energy.readings import Meter, Reading

__all__ = ["RealTime", "Sampler", "Timebase", "Trace", "integrate_power", "interpolate_counter"]

THREAD = "clgraph-power-meter"


class Timebase(Protocol):
    """The clock that samples and windows share; tests put one in that stands still."""

    def now(self) -> float:
        """Seconds since an arbitrary moment."""
        ...

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        ...

    def every(self, period_s: float, action: Callable[[], bool]) -> Callable[[], None]:
        """Repeat an action until it says False or the function given back is called."""
        ...


class RealTime:
    """The clock of the machine, with actions on threads of their own."""

    def now(self) -> float:
        """Seconds of the performance counter."""
        return time.perf_counter()

    def sleep(self, seconds: float) -> None:
        """Sleep; Ctrl-C is answered."""
        time.sleep(seconds)

    def every(self, period_s: float, action: Callable[[], bool]) -> Callable[[], None]:
        """Repeat an action on a daemon thread."""
        stopping = Latch()

        def loop() -> None:
            while action() and not stopping.wait(period_s):
                pass

        worker = Worker(THREAD, loop)

        def stop() -> None:
            if not stopping.is_set:
                stopping.set()
            worker.end()

        try:
            worker.start()
        except BaseException:
            stop()
            raise
        return stop


def interpolate_counter(
    times: NDArray[np.float64], joules: NDArray[np.float64], at: float
) -> float | None:
    """Value of an energy counter at a moment, or None outside the moments it is known at.

    Parameters
    ----------
    times, joules : ndarray of float64
        When the counter was first seen to have changed, ascending, and what it said.
    at : float
        The moment, on the clock of `times`.

    Returns
    -------
    float or None
        Joules on the straight line between the changes around the moment.
    """
    if times.size == 0 or not times[0] <= at <= times[-1]:
        return None
    return float(np.interp(at, times, joules))


def integrate_power(
    times: NDArray[np.float64], watts: NDArray[np.float64], start: float, end: float
) -> float | None:
    """Joules between two moments, by the trapezoidal rule on samples of power.

    Parameters
    ----------
    times, watts : ndarray of float64
        Samples, ascending in time.
    start, end : float
        The window. The first and last sample hold beyond the ends of the trace.

    Returns
    -------
    float or None
        The integral; None without any sample.
    """
    if times.size == 0:
        return None
    inside = (times > start) & (times < end)
    t = np.concatenate(([start], times[inside], [end]))
    p = np.interp(t, times, watts)
    return float(np.sum(np.diff(t) * (p[1:] + p[:-1]) / 2))


class Trace:
    """What a meter said, and when."""

    def __init__(self) -> None:
        self._times = array("d")
        self._watts = array("d")
        self._edge_times = array("d")
        self._edge_joules = array("d")
        self.counts = False
        self.looks = 0

    @property
    def edges(self) -> int:
        """Changes of the energy counter seen so far, its first reading included."""
        return len(self._edge_times)

    @property
    def last_edge(self) -> float:
        """When the energy counter was last seen to change."""
        return self._edge_times[-1]

    def add(self, moment: float, reading: Reading) -> None:
        """Keep a reading; of an energy counter only its changes are kept."""
        self.looks += 1
        if reading.power_w is not None:
            self._times.append(moment)
            self._watts.append(reading.power_w)
        if reading.energy_j is None:
            return
        self.counts = True
        last = self._edge_joules[-1] if self._edge_joules else None
        if last is not None and reading.energy_j < last:
            raise MeterError("the energy counter went backwards: the driver was reloaded.")
        if last is None or reading.energy_j > last:
            self._edge_times.append(moment)
            self._edge_joules.append(reading.energy_j)

    def joules(self, start: float, end: float) -> float | None:
        """Energy of a window, from the counter where there is one, else from power; or None.

        The first look at a counter falls between two of its updates, so it is no edge to measure
        from: a window must start at or after the second.
        """
        if not self.counts:
            return integrate_power(np.array(self._times), np.array(self._watts), start, end)
        times, joules = np.array(self._edge_times)[1:], np.array(self._edge_joules)[1:]
        first = interpolate_counter(times, joules, start)
        last = interpolate_counter(times, joules, end)
        return None if first is None or last is None else last - first

    def joules_by_power(self, start: float, end: float) -> float | None:
        """Energy of a window from power alone: what a counter can be checked against."""
        return integrate_power(np.array(self._times), np.array(self._watts), start, end)

    def peak_watts(self, start: float, end: float) -> float | None:
        """Highest power in a window: the highest reading, else the steepest rise of the counter."""
        times, watts = np.array(self._times), np.array(self._watts)
        if not times.size:
            edges = np.array(self._edge_times)[1:]
            if edges.size < 2:
                return None
            times = edges[1:]
            watts = np.diff(np.array(self._edge_joules)[1:]) / np.diff(edges)
        inside = watts[(times >= start) & (times <= end)]
        return float(inside.max()) if inside.size else None

    def samples(self, start: float, end: float) -> int:
        """Distinct figures in a window: changes of the counter, or of the power."""
        if self.counts:
            times = np.array(self._edge_times)[1:]
        else:
            watts = np.array(self._watts)
            changed = np.concatenate(([True], np.diff(watts) != 0))[: watts.size]
            times = np.array(self._times)[changed]
        return int(np.count_nonzero((times >= start) & (times <= end)))


class Sampler:
    """Looks at a meter again and again.

    ``lost`` says why the meter stopped answering, and is None as long as it has not.

    Parameters
    ----------
    meter : Meter
        An open meter.
    timebase : Timebase
        The clock that time stamps are taken from.
    """

    def __init__(self, meter: Meter, timebase: Timebase) -> None:
        self.trace = Trace()
        self.lost: str | None = None
        self._meter = meter
        self._timebase = timebase
        self._stop: Callable[[], None] | None = None

    def start(self) -> None:
        """Begin to look, until `stop` is called or this is gone, wherever Ctrl-C comes."""
        look = weakref.WeakMethod(self._look)

        def look_again() -> bool:
            found = look()
            return found is not None and found()

        self._stop = self._timebase.every(self._meter.poll_s, look_again)

    def _look(self) -> bool:
        before = self._timebase.now()
        try:
            reading = self._meter.read()
            self.trace.add((before + self._timebase.now()) / 2, reading)
        except MeterError as error:
            self.lost = str(error)
        except Exception as error:  # whatever a meter does, the search goes on
            self.lost = f"the meter failed: {error!r}."
        return self.lost is None

    def wait_for_edge(self, patience_s: float, after: float | None = None) -> bool:
        """Wait until the counter changes; power readings need no edge, a look is enough.

        Parameters
        ----------
        patience_s : float
            Seconds after which to give up.
        after : float, optional
            A moment that the change must not be older than: a look that was under way at that
            moment may still add an older one.

        Returns
        -------
        bool
            Whether it changed; False at once where nobody looks.
        """
        if self._stop is None:
            return False
        trace, looks = self.trace, self.trace.looks
        deadline = self._timebase.now() + patience_s
        # The very first reading of a counter is not a change of it.
        seen = max(trace.edges, 1)
        while self.lost is None and self._timebase.now() < deadline:
            new = trace.edges > seen and (after is None or trace.last_edge >= after)
            if new or (trace.looks > looks and not trace.counts):
                return True
            self._timebase.sleep(self._meter.poll_s / 2)
        return False

    def stop(self) -> None:
        """End the looking."""
        if self._stop is not None:
            self._stop()
