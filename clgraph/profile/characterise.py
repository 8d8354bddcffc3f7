"""What a device can do, measured: ceilings, costs, and how components react to their use."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device.folders import write_atomically
from clgraph.errors import InvalidArgumentError
from clgraph.profile import microbenchmarks
from clgraph.profile.kept import device_file, private_place
from clgraph.profile.microbenchmarks.suite import results_of, validated

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from clgraph.device import Device
    from clgraph.profile.microbenchmarks import Result
    from clgraph.progress import Progress

__all__ = [
    "COMPONENTS",
    "QUICK",
    "Ceilings",
    "CharacterisationFunction",
    "ceilings_of",
    "characterise",
    "functions_of",
]

# Enough for a roofline and a prediction; some seconds.
QUICK = (
    "access_size=4",
    "access_size=16",
    "random.load",
    "random.load_cached",
    "random.atomic",
    "random.atomic_cached",
    "int32_simple.add_int",
    "l2.load",
    "shared.load",
    "latency.l1",
    "latency.l2",
    "latency.dram",
    "latency.shared",
    "contention.atomic",
    "barrier.grid",
    "grid_barrier=4",
    "grid_barrier=8",
    "launch.empty",
)
# The twelve costs: loads and stores of four memories, and four kinds of arithmetic.
COMPONENTS = {
    ("DRAM", "load"): "latency.dram",
    ("DRAM", "store"): "dram.store",
    ("L2", "load"): "latency.l2",
    ("L2", "store"): "l2.store",
    ("L1", "load"): "latency.l1",
    ("L1", "store"): "l2.store",  # stores go through it
    ("local", "load"): "latency.shared",
    ("local", "store"): "shared.store",
    ("integer", "operation"): "int32_simple.add_int",
    ("float", "operation"): "fp32_simple.fma_float",
    ("special", "operation"): "fp32_special.rsqrt",
    ("double", "operation"): "fp64_simple.add_double",
}
LEVELS = 32
LANES_TOGETHER = 32


@dataclass(frozen=True, slots=True)
class CharacterisationFunction:
    """How the performance of a component follows how well it is used.

    Attributes
    ----------
    name : str
        "divergence", "dram", "arith" or "shmem".
    samples : tuple of (float, float)
        Use from 0 to 1, ascending, and performance relative to that at the last.
    """

    name: str
    samples: tuple[tuple[float, float], ...]

    def performance(self, x: float) -> float:
        """Give the relative performance where use is `x`: straight lines between samples."""
        places, values = zip(*self.samples, strict=True)
        return float(np.interp(x, places, values))

    def __call__(self, x: float) -> float:
        """Give F(x), so that x * F(x) is the relative performance."""
        least = self.samples[0][0]
        at = min(max(x, least), self.samples[-1][0])
        return self.performance(at) / at

    def quantised(self, levels: int = LEVELS) -> CharacterisationFunction:
        """Give the function on a number of levels, the samples' own places kept."""
        places = {round(x, 12) for x, _ in self.samples}
        low, high = self.samples[0][0], self.samples[-1][0]
        places |= {float(x) for x in np.linspace(low, high, levels + 1)}
        return CharacterisationFunction(
            self.name, tuple((x, self.performance(x)) for x in sorted(places))
        )


def function_from(name: str, points: Mapping[float, float]) -> CharacterisationFunction:
    """Make a function of measured rates.

    Parameters
    ----------
    name : str
        What it is called.
    points : mapping of float to float
        Rate by use; use is above 0 and at most 1.

    Raises
    ------
    InvalidArgumentError
        If there are fewer than two, or use is out of range.
    """
    if len(points) < 2 or min(points) <= 0 or max(points) > 1:
        raise InvalidArgumentError(f"the function {name} needs two uses above 0 and at most 1.")
    best = points[max(points)]
    return CharacterisationFunction(name, tuple((x, points[x] / best) for x in sorted(points)))


@dataclass(frozen=True, slots=True)
class Ceilings:
    """What the device reached, by measurements of this machine.

    Attributes
    ----------
    copy : float
        Bytes per second between memory and units, read and written.
    cache : float or None
        Bytes per second of the cache that all units share.
    random_reads, atomics : tuple of (float, float)
        Bytes of the array, ascending, and accesses per second anywhere in it.
    integer : float
        Additions per second.
    local : float or None
        Bytes per second of local memory.
    launch_s : float
        Of an empty kernel.
    cache_bytes : int
        Of the cache.
    latencies : dict of str to float
        Seconds by memory, where they were measured.
    grid_barriers : tuple of (float, float)
        Work-groups, ascending, and seconds of a barrier of so many; empty where none was measured.
    units : int
        Compute units.
    contended : float or None
        Atomics per second at one address.
    """

    copy: float
    cache: float | None
    random_reads: tuple[tuple[float, float], ...]
    atomics: tuple[tuple[float, float], ...]
    integer: float
    local: float | None
    launch_s: float
    cache_bytes: int
    latencies: Mapping[str, float]
    grid_barriers: tuple[tuple[float, float], ...] = ()
    units: int = 1
    contended: float | None = None

    def random_rate(self, footprint: float, *, atomic: bool = False) -> float:
        """Give accesses per second anywhere in so many bytes, straight over the logarithm."""
        points = self.atomics if atomic else self.random_reads
        sizes, rates = zip(*points, strict=True)
        return float(np.exp(np.interp(np.log(max(footprint, 1.0)), np.log(sizes), np.log(rates))))

    def barrier_s(self, groups: float) -> float:
        """Give seconds of a barrier of so many work-groups, straight between those measured."""
        if not self.grid_barriers:
            return 0.0
        numbers, times = zip(*self.grid_barriers, strict=True)
        return float(np.interp(groups, numbers, times))

    def record(self) -> dict[str, Any]:
        """Give it for JSON."""
        return {
            "copy_bytes_per_s": self.copy,
            "cache_bytes_per_s": self.cache,
            "random_reads_per_s": [list(point) for point in self.random_reads],
            "atomics_per_s": [list(point) for point in self.atomics],
            "integer_per_s": self.integer,
            "local_bytes_per_s": self.local,
            "launch_s": self.launch_s,
            "cache_bytes": self.cache_bytes,
            "latencies_s": dict(self.latencies),
            "grid_barriers_s": [list(point) for point in self.grid_barriers],
            "units": self.units,
            "contended_per_s": self.contended,
        }


_known: dict[tuple[Device, tuple[str, ...]], dict[str, Any]] = {}


def characterise(
    device: Device,
    words: Sequence[str] = QUICK,
    *,
    again: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Measure a device once, and keep what was measured.

    Parameters
    ----------
    device : Device
        Which.
    words : sequence of str
        Microbenchmarks, as `clgraph.profile.microbenchmarks.choose` has them.
    again : bool
        Whether to measure even what is kept.
    progress : callable, optional
        As everywhere.

    Returns
    -------
    dict
        A record of microbenchmarks: what ``clgraph microbench --store`` keeps where that has all of
        them, else one of its own, kept below the cache folder for this device and driver.

    Notes
    -----
    The default takes 1 to 10 s at first, and nothing afterwards.
    """
    key = (device, tuple(words))
    if not again:
        if key in _known:
            return _known[key]
        for kept in (microbenchmarks.characterisation(device), _kept(device, words)):
            if kept is not None and set(words) <= _named(kept):
                _known[key] = kept
                return kept
    record = microbenchmarks.run(
        words,
        device=device,
        protocol=microbenchmarks.Protocol(launch_s=0.005, ramp_s=0.01, repeats=3, window_s=0.0),
        progress=progress,
    )
    _known[key] = record
    try:
        path = private_place(_file(device, words))
        write_atomically(path, json.dumps(record, allow_nan=False).encode())
    except OSError:
        return record  # it is measured again in the next process
    return record


def _named(record: Mapping[str, Any]) -> set[str]:
    entries = [*record["results"], *record["skipped"]]
    return {entry["name"] for entry in entries} | {entry.get("family", "") for entry in entries}


def _file(device: Device, words: Sequence[str]) -> Path:
    traits = device.traits
    parts = (device.name, device.platform, device.driver, traits.lanes, traits.build_options, words)
    return device_file(device, repr(parts), "-ceilings")


def _kept(device: Device, words: Sequence[str]) -> dict[str, Any] | None:
    try:
        return validated(json.loads(_file(device, words).read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError, InvalidArgumentError):
        return None


def ceilings_of(record: Mapping[str, Any]) -> Ceilings | None:
    """Read the ceilings from a record of microbenchmarks; None if it lacks what they need."""
    found: dict[str, Result] = {}
    for result in results_of(dict(record)):
        found.setdefault(result.name, result)

    def bytes_per_s(*names: str) -> float | None:
        rates = [found[name].bytes_per_s for name in names if name in found]
        return max((rate for rate in rates if rate), default=None)

    def rates(way: str, sweep: str) -> tuple[tuple[float, float], ...]:
        swept = {
            result.value: result.rate
            for result in found.values()
            if result.name.startswith(f"{sweep}=") and result.value is not None
        }
        if not swept:
            named = {f"random.{way}_cached": 4 << 20, f"random.{way}": 1 << 30}
            swept = {float(size): found[n].rate for n, size in named.items() if n in found}
        return tuple(sorted(swept.items()))

    sizes = [name for name in found if name.startswith("access_size=")]
    copy = bytes_per_s(*sizes, "dram.load")
    reads, atomics = rates("load", "random_footprint"), rates("atomic", "atomic_footprint")
    integer = found.get("int32_simple.add_int")
    if copy is None or not reads or not atomics or integer is None:
        return None
    empty, contended = found.get("launch.empty"), found.get("contention.atomic")
    units = int(record.get("compute_units", 1))
    barriers = {
        result.value * units if result.value else units: _latency(result)
        for name, result in found.items()
        if name == "barrier.grid" or name.startswith("grid_barrier=")
    }
    return Ceilings(
        copy=copy,
        cache=bytes_per_s("l2.load"),
        random_reads=reads,
        atomics=atomics,
        integer=integer.rate,
        local=bytes_per_s("shared.load"),
        launch_s=empty.time_s if empty is not None else 0.0,
        cache_bytes=int(record.get("cache_bytes", 0)),
        latencies={
            name.partition(".")[2]: _latency(result)
            for name, result in found.items()
            if name.startswith("latency.")
        },
        grid_barriers=tuple(sorted(barriers.items())),
        units=units,
        contended=contended.rate if contended is not None else None,
    )


def _latency(result: Result) -> float:
    """Seconds of one load that waits for the one before, of one work-item."""
    return result.time_s / result.operations


def functions_of(record: Mapping[str, Any]) -> dict[str, CharacterisationFunction]:
    """Read the four characterisation functions; those whose sweep was skipped are left out.

    Divergence is the share of lanes that go one way, local memory the inverse of how many lanes
    meet on a bank, arithmetic the share of independent operations of the most that were tried, and
    memory the share of a line that a request uses.
    """
    sweeps: dict[str, dict[float, float]] = {}
    for result in results_of(dict(record)):
        if result.value is not None:
            family = result.name.partition("=")[0]
            sweeps.setdefault(family, {})[result.value] = result.rate
    found = {}
    for name, family in (
        ("divergence", "divergence"),
        ("dram", "coalescence"),
        ("arith", "ilp"),
        ("shmem", "bank_conflict"),
    ):
        points = sweeps.get(family, {})
        if len(points) < 2:
            continue
        if name == "shmem":
            uses = {1.0 / value: rate for value, rate in points.items()}
        elif name == "arith":
            uses = {value / max(points): rate for value, rate in points.items()}
        else:
            uses = {value / LANES_TOGETHER: rate for value, rate in points.items()}
        found[name] = function_from(name, uses)
    return found


def costs_of(record: Mapping[str, Any]) -> dict[str, float | None]:
    """Read the twelve costs, in seconds of one operation; None where one was skipped."""
    known = {result.name: result for result in results_of(dict(record))}
    return {
        f"{component} {way}": _latency(known[name]) if name in known else None
        for (component, way), name in COMPONENTS.items()
    }
