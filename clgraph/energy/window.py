"""A window of time over which a meter is sampled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clgraph.energy.trace import Sampler, Timebase

if TYPE_CHECKING:
    from clgraph.energy.readings import Meter, Source

__all__ = ["PATIENCE_UPDATES", "RESOLVED_UPDATES", "Measurement", "Window"]

RESOLVED_UPDATES = 2  # a shorter window would share out an average over time outside of it
PATIENCE_UPDATES = 20  # an H200's counter, changed every 0.1 s, can stand still for over 0.5 s


@dataclass(slots=True)
class Measurement:
    """What a window cost; complete once the ``with`` block has ended.

    Attributes
    ----------
    joules : float or None
        Energy of the window, idle power included; None without a meter that resolves it.
    mean_watts, peak_watts : float or None
        Mean power, and the highest reading. Peaks shorter than a reading are not seen.
    seconds : float
        Length of the window.
    idle_watts : float or None
        Power just before the window, or a while ago.
    samples : int
        Distinct readings within the window.
    source : {"nvml-counter", "nvml-power", "rapl", "none"}
        What the joules are derived from.
    note : str
        What the figures cover, or why there are none.
    """

    joules: float | None = None
    mean_watts: float | None = None
    peak_watts: float | None = None
    seconds: float = 0.0
    idle_watts: float | None = None
    samples: int = 0
    source: Source = "none"
    note: str = ""

    @property
    def joules_above_idle(self) -> float | None:
        """Energy beyond what the idle device would have taken, or None."""
        if self.joules is None or self.idle_watts is None:
            return None
        return self.joules - self.idle_watts * self.seconds


class Window:
    """A meter that is sampled from `open` to `close`, both aligned to updates of the meter.

    Nobody samples any more once this is gone.

    Parameters
    ----------
    meter : Meter
        An open meter.
    timebase : Timebase
        The clock of the window.
    """

    def __init__(self, meter: Meter, timebase: Timebase) -> None:
        self.meter = meter
        self.timebase = timebase
        self.start = self.end = 0.0
        self._sampler = Sampler(meter, timebase)
        self.trace = self._sampler.trace
        self._patience = max(PATIENCE_UPDATES * meter.update_s, 10 * meter.poll_s)

    @property
    def lost(self) -> str | None:
        """Why the meter stopped answering, if it did."""
        return self._sampler.lost

    def sample(self) -> None:
        """Begin to sample, as `open` does."""
        self._sampler.start()

    def open(self) -> None:
        """Begin to sample, wait for an update of the meter and start the window."""
        self.sample()
        self._sampler.wait_for_edge(self._patience)
        self.start = self.timebase.now()

    def close(self) -> None:
        """End the window and stop sampling once the meter has taken it in."""
        self.end = self.timebase.now()
        try:
            self._sampler.wait_for_edge(self._patience, after=self.end)
        finally:
            self._sampler.stop()

    def abandon(self) -> None:
        """Stop sampling."""
        self._sampler.stop()

    def result(self) -> Measurement:
        """Say what the window cost; idle power is left to the caller."""
        start, end = self.start, self.end
        found = Measurement(seconds=end - start, source=self.meter.source, note=self.meter.note)
        if self.lost is not None:
            found.note = self.lost
            return found
        found.samples = self.trace.samples(start, end)
        found.peak_watts = self.trace.peak_watts(start, end)
        shortest = RESOLVED_UPDATES * self.meter.update_s
        if found.seconds < shortest:
            found.note = (
                f"the window of {found.seconds:.3g} s is too short for a meter updated every "
                f"{self.meter.update_s:.3g} s; measure at least {shortest:.3g} s, or use per_run."
            )
            return found
        found.joules = self.trace.joules(start, end)
        if found.joules is None:
            found.note = "the meter was not updated around the window."
            return found
        found.mean_watts = found.joules / found.seconds
        return found
