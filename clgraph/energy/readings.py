"""What every power meter offers, and how it says that it cannot."""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol, runtime_checkable

from clgraph.errors import ClgraphError

__all__ = ["Conditions", "Meter", "MeterError", "MeterOfACard", "Reading", "Source"]

Source = Literal["nvml-counter", "nvml-power", "rapl", "none"]


class MeterError(ClgraphError):
    """There is no meter to read, or it stopped answering; the message says why."""


class Reading(NamedTuple):
    """One look at a meter.

    Attributes
    ----------
    energy_j : float or None
        Joules since an arbitrary moment, never decreasing; None if the meter only knows power.
    power_w : float or None
        Watts now; None if the meter only counts energy.
    """

    energy_j: float | None
    power_w: float | None


class Conditions(NamedTuple):
    """What a card was like when its power was read; None where it does not say.

    Attributes
    ----------
    sm_clock_mhz, memory_clock_mhz : int or None
        Clocks of the multiprocessors and of the memory.
    temperature_c : int or None
        Of the chip.
    power_limit_w : float or None
        What the driver keeps the power below.
    slowed_by : int or None
        NVML's mask of reasons why clocks are lower than they could be.
    """

    sm_clock_mhz: int | None
    memory_clock_mhz: int | None
    temperature_c: int | None
    power_limit_w: float | None
    slowed_by: int | None


class Meter(Protocol):
    """A power meter that is open for reading.

    Attributes
    ----------
    source : {"nvml-counter", "nvml-power", "rapl", "none"}
        What joules are derived from.
    note : str
        What a reader of the figures must know: what is metered, and how its readings are averaged.
    update_s : float
        Seconds between two changes of the figure that joules are derived from.
    poll_s : float
        Seconds between two looks that suit the meter.
    """

    source: Source
    note: str
    update_s: float
    poll_s: float

    def read(self) -> Reading:
        """Look at the meter; raises MeterError when it no longer answers."""
        ...

    def close(self) -> None:
        """Let go of the meter."""
        ...


@runtime_checkable
class MeterOfACard(Protocol):
    """A meter that also knows the conditions under which its card draws power."""

    def conditions(self) -> Conditions:
        """Look at clocks, temperature and limits; nothing is changed."""
        ...
