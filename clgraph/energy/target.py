"""Holds the power that a device draws at a target, by whatever knob makes it work more or less."""

from __future__ import annotations

import logging
import math
import weakref
from collections import deque
from typing import TYPE_CHECKING

from clgraph.energy.measuring import IDLE_SECONDS, idle_watts, open_meter
from clgraph.energy.meters import NoMeter
from clgraph.energy.readings import MeterError
from clgraph.energy.trace import RealTime
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from clgraph.device import Device
    from clgraph.energy.readings import Meter
    from clgraph.energy.trace import Timebase

__all__ = ["PowerTarget"]

log = logging.getLogger("clgraph")

WINDOW_UPDATES = 4  # of the meter, between two looks at whether to turn the knob
FARTHEST = math.log(4.0)  # that the knob is turned at a time
# Share of the power above idle that doubling the knob adds, until it is known.
FIRST_SHARE = 0.07 / math.log(2.0)
# Cards look at their power for a part of the time, so that what a window of searches of some 100 ms
# seems to draw depends on which part of them it saw. It is the mean since the knob was turned that
# counts, and it is turned again only if that is off by more than chance: this share of the target
# after a second, and less after more, by the square root.
NOISE = 0.05
SURE = 0.01  # share of the target that is near enough
REMEMBERED = 6  # places of the knob from which the slope is learned
# Of the first slope, as if it had been seen by turning the knob up or down by a half for a second.
FIRST_WEIGHT = math.log(1.5) ** 2


class PowerTarget:
    """Turns a knob between searches, and within long ones, so that mean power settles.

    Parameters
    ----------
    watts : float
        The power that is wanted, that of the device at rest included.
    device : Device
        Whose power.
    knob : float
        Where it stands first: something that power rises with.
    least, largest : float
        Between what it may be turned.
    meter : Meter, optional
        A meter of your own instead of the device's.
    timebase : Timebase, optional
        A clock of your own, for tests.

    Attributes
    ----------
    knob : float
        Where it stands.
    idle : float or None
        Watts at rest.
    history : list of tuple of float
        For each window that was measured: when it ended, its mean watts, the knob during it.

    Raises
    ------
    InvalidArgumentError
        If there is no meter, or the target is not above what the device draws at rest.

    Notes
    -----
    A step is what the target is off by, over the slope of power by the logarithm of the knob, which
    is learned from the last few places. The knob stays where it is while the mean power there is
    off by no more than chance would make it. A thread reads the meter, which takes an H100's some
    milliseconds, while somebody looks. If it stops answering, a line in the log says so and the
    knob stays where it is.
    """

    def __init__(
        self,
        watts: float,
        device: Device | None,
        knob: float,
        least: float,
        largest: float,
        *,
        meter: Meter | None = None,
        timebase: Timebase | None = None,
    ) -> None:
        self.watts = watts
        self._time = RealTime() if timebase is None else timebase
        found, chosen = open_meter(device, meter)
        if isinstance(found, NoMeter):
            raise InvalidArgumentError(
                f"power_target={watts} needs a power meter; use set_point instead: {found.note}"
            )
        self._meter = found
        self.idle = idle_watts(found, self._time, chosen, IDLE_SECONDS)
        if self.idle is not None and watts <= self.idle:
            found.close()
            raise InvalidArgumentError(
                f"power_target={watts} is not above the {self.idle:.0f} W that the device draws at "
                "rest; ask for more."
            )
        self._bounds = least, largest
        self.knob = min(max(knob, least), largest)
        self.history: list[tuple[float, float, float]] = []
        # Of the last places of the knob: its logarithm, mean watts and seconds there.
        self._places: deque[tuple[float, float, float]] = deque(maxlen=REMEMBERED)
        self._since: tuple[float, float] | None = None  # when the knob came here, and joules then
        self._begun: tuple[float, float] | None = None  # when the window began, and joules then
        self._latest: tuple[float, float] | None = None  # when joules last changed, and to what
        self._seen: tuple[float, float] | None = None
        self._read = self._looked = -math.inf
        self._reading = self._lost = False

    def look(self) -> float:
        """Take note of what the meter said since the last look, and give the knob's place."""
        now = self._time.now()
        waited, self._looked = now - self._looked, now
        if self._lost:
            return self.knob
        if waited > self._patience_s:
            # Nobody looked for long: what was read meanwhile is of another load.
            self._begun, self._since, self._seen = None, None, self._latest
        if not self._reading:
            self._begin_to_read()
        if self._latest is None or self._latest == self._seen:
            return self.knob
        self._seen = moment, joules = self._latest
        if self._begun is None or self._since is None:
            self._begun = self._since = moment, joules
        elif moment - self._begun[0] >= WINDOW_UPDATES * self._meter.update_s:
            began, before = self._begun
            self.history.append((moment, (joules - before) / (moment - began), self.knob))
            self._begun = moment, joules
            came, first = self._since
            self._turn((joules - first) / (moment - came), moment - came)
        return self.knob

    @property
    def _patience_s(self) -> float:
        return 4 * WINDOW_UPDATES * self._meter.update_s

    def _begin_to_read(self) -> None:
        """Have a thread read the meter until nobody looks any more, or this is gone."""
        read = weakref.WeakMethod(self._read_meter)

        def read_again() -> bool:
            found = read()
            return found is not None and found()

        self._read = -math.inf
        try:
            self._reading = True
            self._time.every(self._meter.poll_s, read_again)
        except BaseException:
            self._reading = False
            raise

    def _read_meter(self) -> bool:
        """Read the meter once; give whether to go on."""
        try:
            return self._read_once()
        except BaseException:
            self._reading = False  # another look begins to read again
            raise

    def _read_once(self) -> bool:
        now = self._time.now()
        if now - self._looked > self._patience_s:
            self._reading = False
            return False
        try:
            reading = self._meter.read()
        except MeterError as error:
            self._lost = True
            log.warning("power is not held any more: %s", error)
            return False
        waited, self._read = now - self._read, now
        known = self._latest[1] if self._latest is not None else None
        joules = reading.energy_j
        if joules is None:
            # A meter of power alone: its own sum, of what it showed since the last reading.
            passed = (reading.power_w or 0.0) * waited if math.isfinite(waited) else 0.0
            joules = (known or 0.0) + passed
        if joules != known:
            self._latest = now, joules
        return True

    def _turn(self, watts: float, seconds: float) -> None:
        """Turn the knob if the mean power since the last turn is off."""
        off = self.watts - watts
        if abs(off) <= self.watts * max(NOISE / math.sqrt(seconds), SURE):
            return
        self._places.append((math.log(self.knob), watts, seconds))
        step = min(max(off / self._slope(watts), -FARTHEST), FARTHEST)
        least, largest = self._bounds
        self.knob = min(max(self.knob * math.exp(step), least), largest)
        self._begun = self._since = None  # what the meter shows next is still of before

    def _slope(self, watts: float) -> float:
        """Watts by the logarithm of the knob: a line through the last places, and the first guess.

        By least squares, weighted by the time at each place, so that the guess stands while the
        knob was hardly turned.
        """
        usual = max((watts - (self.idle or 0.0)) * FIRST_SHARE, 1.0)
        total = sum(seconds for *_, seconds in self._places)
        middle, mean = (
            sum(place[i] * place[2] for place in self._places) / total for i in range(2)
        )
        spread = sum(seconds * (x - middle) ** 2 for x, _, seconds in self._places)
        common = sum(seconds * (x - middle) * (y - mean) for x, y, seconds in self._places)
        slope = (common + FIRST_WEIGHT * usual) / (spread + FIRST_WEIGHT)
        return min(max(slope, usual / 4), usual * 8)
