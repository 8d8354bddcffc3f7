"""The one definition of every quantity that a microbenchmark reports."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

__all__ = ["UNITS", "Result"]

# Units of what `Result.record` gives; an operation is what the entry says it is.
UNITS = {
    "time_s": "s",
    "cycles": "cycles of a compute unit from its first start to its last end, most of all units",
    "clock_hz": "cycles per second, median within the window",
    "throughput": "operations per cycle and compute unit",
    "throughput_spec": "operations per cycle and compute unit",
    "rate": "operations per second",
    "bytes_per_s": "bytes/s",
    "mean_watts": "W",
    "peak_watts": "W, highest reading; peaks shorter than a reading are not seen",
    "idle_watts": "W",
    "energy_j": "J per launch",
    "dynamic_energy_j": "J per launch, idle power taken off",
    "nj_per_operation": "nJ",
    "dynamic_nj_per_operation": "nJ, idle power taken off",
    "nj_per_byte": "nJ",
    "efficiency": "million operations per joule",
    "energy_per_unit_j": "J per launch and compute unit",
    "ptx_purity": "share of executed instructions that are the target's",
}


@dataclass(frozen=True, slots=True)
class Result:
    """What one microbenchmark measured; every other figure follows from these.

    Attributes
    ----------
    name, unit : str
        Of the entry, and what is one operation.
    value : float or None
        Where in a sweep it stands.
    operations : float
        Of the whole device in a launch.
    bytes_moved : float
        To or from the memory in question in a launch; 0 for arithmetic.
    counts : dict of str to float
        The same in terms of the energy model.
    compute_units : int
        Of the device that took part.
    time_s : float
        Of a launch on the device, median.
    spread : float
        Highest less lowest time over the median.
    repeats, rounds : int
        Launches that were timed, and rounds of each.
    doubling : float or None
        Time of twice the rounds over twice the time: 1 where nothing but the rounds takes time.
    cycles : float or None
        Between the first start and the last end of SIMD groups on a compute unit, the most of all
        units; None without a counter.
    clock_hz : float or None
        Of the compute units, as the meter says, median within its window; None without a meter.
    throughput_spec : float or None
        What the vendor states.
    mean_watts, peak_watts, idle_watts : float or None
        Steady state, highest reading, and the device at rest; None without a meter.
    window : dict or None
        Length, duty, clocks, temperature and limits of the window that watts are from.
    ptx_purity, longest_run, wanted_run : float, int, int or None
        From the assembler's text, where there is one; `wanted_run` is how many were asked for.
    sass_checked : bool
        Whether assembled code was looked at.
    invalid : tuple of str
        Why the result must not be used; empty if it may.
    flags : tuple of str
        Why it deserves doubt.
    """

    name: str
    unit: str
    value: float | None
    operations: float
    bytes_moved: float
    counts: dict[str, float]
    compute_units: int
    time_s: float
    spread: float
    repeats: int
    rounds: int
    doubling: float | None = None
    cycles: float | None = None
    clock_hz: float | None = None
    throughput_spec: float | None = None
    mean_watts: float | None = None
    peak_watts: float | None = None
    idle_watts: float | None = None
    window: dict[str, Any] | None = None
    ptx_purity: float | None = None
    longest_run: int | None = None
    wanted_run: int | None = None
    sass_checked: bool = False
    invalid: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def throughput(self) -> float | None:
        """Operations per cycle and compute unit, of the time where the clock was seen."""
        cycles = self.time_s * self.clock_hz if self.clock_hz else self.cycles
        return self.operations / self.compute_units / cycles if cycles else None

    @property
    def rate(self) -> float:
        """Operations per second."""
        return self.operations / self.time_s

    @property
    def bytes_per_s(self) -> float | None:
        """Bytes per second; None for arithmetic."""
        return self.bytes_moved / self.time_s if self.bytes_moved else None

    @property
    def energy_j(self) -> float | None:
        """Mean power times the time of a launch."""
        return None if self.mean_watts is None else self.mean_watts * self.time_s

    @property
    def dynamic_energy_j(self) -> float | None:
        """Mean power above idle times the time of a launch."""
        if self.mean_watts is None or self.idle_watts is None:
            return None
        return (self.mean_watts - self.idle_watts) * self.time_s

    @property
    def nj_per_operation(self) -> float | None:
        """Nanojoules of an operation, the idle device included."""
        return None if self.energy_j is None else self.energy_j / self.operations * 1e9

    @property
    def dynamic_nj_per_operation(self) -> float | None:
        """Nanojoules of an operation above the idle device."""
        joules = self.dynamic_energy_j
        return None if joules is None else joules / self.operations * 1e9

    @property
    def nj_per_byte(self) -> float | None:
        """Nanojoules of a byte, the idle device included."""
        if self.energy_j is None or not self.bytes_moved:
            return None
        return self.energy_j / self.bytes_moved * 1e9

    @property
    def efficiency(self) -> float | None:
        """Million operations per joule."""
        return None if not self.mean_watts else self.rate / self.mean_watts / 1e6

    @property
    def energy_per_unit_j(self) -> float | None:
        """Energy of a launch over the compute units, as older tables have it."""
        return None if self.energy_j is None else self.energy_j / self.compute_units

    def record(self) -> dict[str, Any]:
        """Give everything measured and derived, for JSON."""
        record = dataclasses.asdict(self)
        derived = {name: getattr(self, name) for name in UNITS if name not in record}
        return {**record, **derived}

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> Result:
        """Give back what `record` gave."""
        names = {field.name for field in dataclasses.fields(cls)}
        values = {name: value for name, value in record.items() if name in names}
        for name in ("invalid", "flags"):
            values[name] = tuple(values.get(name, ()))
        return cls(**values)
