"""What a kernel's counters say about its time: bounds, shares, and what each criterion would gain.

References
----------
N. Bombieri, F. Busato, F. Fummi, "A fine-grained performance model for GPU architectures", DATE
2016.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from clgraph.profile.criteria import LINE_BYTES, SECTOR_BYTES, clamped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clgraph.profile.characterise import Ceilings, CharacterisationFunction
    from clgraph.profile.passes.counters import Totals

__all__ = [
    "MOST_SPEEDUP",
    "Bounds",
    "Prediction",
    "Speedup",
    "Work",
    "bounds_of",
    "corrected",
    "potential_speedup",
    "speedup",
    "speedups",
    "time_shares",
    "work_of",
]

MOST_SPEEDUP = 1000.0
SOFTNESS = 4  # of the maximum over resources: those that are close to it overlap badly
OUTSTANDING = 4  # loads of a SIMD group that are under way together: kernels unroll by four
AS_COALESCED = 2.0  # a request that moves no more than so many times its bytes streams


@dataclass(frozen=True, slots=True)
class Speedup:
    """What mending one criterion could gain.

    Attributes
    ----------
    reading : float
        At least 1, at most 1000.
    printed : float
        By the formula as printed, which need not be a speed-up.
    capped : bool
        Whether it would be more than 1000.
    """

    reading: float
    printed: float
    capped: bool = False


def _inverse(value: float) -> Speedup:
    raw = 1.0 / value if value > 0 else math.inf
    return Speedup(min(max(raw, 1.0), MOST_SPEEDUP), min(raw, MOST_SPEEDUP), raw > MOST_SPEEDUP)


def speedup(name: str, value: float, *, share: float = 1.0, inactive: float = 1.0) -> Speedup:
    """Compute the potential speed-up of one criterion (3.14).

    Parameters
    ----------
    name : str
        "Gran_L1", "Gran_L2" and "SMem_eff" gain in their share of the time only, "DSync" in the
        part in which SIMD groups are not resident; every other is 1 / value.
    value : float
        Of the criterion, from 0 to 1.
    share : float
        Of the time, from 0 to 1.
    inactive : float
        As `criteria.inactivity`.

    Returns
    -------
    Speedup
        In both forms.
    """
    if name in {"Gran_L1", "Gran_L2", "SMem_eff"}:
        printed = share / value if value > 0 else MOST_SPEEDUP
        inner = _inverse((1.0 - share) + share * value)
        return Speedup(inner.reading, min(printed, MOST_SPEEDUP), inner.capped)
    if name == "DSync":
        lost = inactive * (1.0 - value)
        inner = _inverse(1.0 - lost)
        return Speedup(inner.reading, lost, inner.capped)
    return _inverse(value)


def speedups(
    values: Mapping[str, float | None], shares: Mapping[str, float], inactive: float
) -> dict[str, Speedup]:
    """Compute the potential speed-ups of all criteria that have a value."""
    share_of = {"Gran_L1": "L1", "Gran_L2": "L2", "SMem_eff": "local"}
    return {
        name: speedup(name, value, share=shares.get(share_of.get(name, ""), 1.0), inactive=inactive)
        for name, value in values.items()
        if value is not None and name not in {"OCC", "CI", "DT"}
    }


def potential_speedup(
    mem_thr: float, arith_thr: float
) -> tuple[Literal["memory", "compute"], float]:
    """Give what bounds a kernel and the inverse of how well that is used (3.14)."""
    bound: Literal["memory", "compute"] = "memory" if mem_thr >= arith_thr else "compute"
    used = mem_thr if bound == "memory" else arith_thr
    return bound, min(max(1.0 / used, 1.0), MOST_SPEEDUP) if used > 0 else MOST_SPEEDUP


def corrected(
    name: str, raw: float, functions: Mapping[str, CharacterisationFunction]
) -> float | None:
    """Correct a raw ratio by what the device really makes of it (3.13).

    Parameters
    ----------
    name : {"DIVERGENCE", "SHMEMEFFICIENCY", "MEMTHR", "ARITHTHR"}
        Which criterion.
    raw : float
        TDiv, SMem_eff, or achieved over peak throughput.
    functions : mapping of str to CharacterisationFunction
        Of the device.

    Returns
    -------
    float or None
        None without the function.
    """
    keys = {"DIVERGENCE": "divergence", "SHMEMEFFICIENCY": "shmem"}
    if name in keys:
        function = functions.get(keys[name])
        return None if function is None else clamped(raw * function(raw))
    function = functions.get("dram" if name == "MEMTHR" else "arith")
    # The best that can be sustained at all takes the place of the peak.
    return None if function is None else clamped(raw / function.performance(1.0))


def time_shares(times: Mapping[str, float], elapsed: float, idle: float = 0.0) -> dict[str, float]:
    """Share out a kernel's cycles over what was busy (3.15).

    Parameters
    ----------
    times : mapping of str to float
        Cycles, or seconds, of each component.
    elapsed : float
        Of the kernel, in the same unit.
    idle : float
        Of it without any work.

    Returns
    -------
    dict of str to float
        Each at least 0; they add up to 1 at most, and "idle" is among them.
    """
    whole = max(elapsed, idle + sum(times.values()))
    shares = {name: max(time, 0.0) / whole if whole > 0 else 0.0 for name, time in times.items()}
    shares["idle"] = max(idle, 0.0) / whole if whole > 0 else 0.0
    return shares


@dataclass(frozen=True, slots=True)
class Work:
    """What a kernel did, in terms of what devices are measured by.

    Attributes
    ----------
    streamed_bytes : float
        Sectors of requests that use most of what they move.
    random_sectors : float
        Sectors of all other loads and stores.
    atomics : float
        Atomic operations of work-items.
    operations : float
        Weight of executed blocks, of whole SIMD groups: an idle lane takes as long.
    local_bytes : float
        Passes over the banks of local memory.
    requests : float
        Of SIMD groups to global memory.
    waits : float
        How often a work-group waited for the others, of all work-groups.
    groups : int
        Work-groups of the largest launch.
    launches : int
        How often it was launched.
    footprint_bytes : int
        Of the arrays that it was given.
    """

    streamed_bytes: float
    random_sectors: float
    atomics: float
    operations: float
    local_bytes: float
    requests: float
    waits: float
    groups: int
    launches: int
    footprint_bytes: int

    @property
    def sectors(self) -> float:
        """Sectors that moved, atomics left out."""
        return self.streamed_bytes / SECTOR_BYTES + self.random_sectors


def work_of(totals: Totals, launches: int, footprint_bytes: int, groups: int = 1) -> Work:
    """Sum up the counters of a kernel."""
    streamed = scattered = atomics = requests = 0.0
    for site, row in zip(totals.sites, totals.counts, strict=True):
        if site.kind == "atomic":
            atomics += row[1]
        elif site.kind in {"load", "store"}:
            moved = row[4] * SECTOR_BYTES
            if moved <= AS_COALESCED * row[2]:
                streamed += moved
            else:
                scattered += row[4]
        if site.kind in {"load", "store", "atomic"}:
            requests += row[0]
    blocks = [
        row[0] * site.weight
        for site, row in zip(totals.sites, totals.counts, strict=True)
        if site.kind == "block"
    ]
    local = totals.where("local_load", "local_store", "local_atomic")
    return Work(
        streamed_bytes=float(streamed),
        random_sectors=float(scattered),
        atomics=float(atomics),
        operations=float(sum(blocks)) * totals.lanes,
        local_bytes=float(local[:, 3].sum()) * LINE_BYTES,
        requests=float(requests),
        waits=float(totals.where("wait")[:, 0].sum()),
        groups=groups,
        launches=launches,
        footprint_bytes=footprint_bytes,
    )


@dataclass(frozen=True, slots=True)
class Bounds:
    """Seconds that each resource needs for the work of a kernel, by measured ceilings."""

    times: Mapping[str, float]

    @property
    def limiter(self) -> str:
        """The resource that needs most."""
        return max(self.times, key=lambda name: self.times[name])

    def time_s(self, prices: Mapping[str, float] | None = None) -> float:
        """Predict the time.

        Parameters
        ----------
        prices : mapping of str to float, optional
            How many seconds one second of each resource's bound is, as a calibration finds them:
            their sum is the prediction. Without them it is a soft maximum, launches coming on top.
        """
        if prices is not None:
            return float(sum(prices.get(name, 0.0) * time for name, time in self.times.items()))
        busy = [time for name, time in self.times.items() if name != "launch"]
        largest = float(sum(time**SOFTNESS for time in busy) ** (1 / SOFTNESS))
        return self.times["launch"] + largest


def bounds_of(work: Work, ceilings: Ceilings, active_warps: float | None = None) -> Bounds:
    """Say how long each resource needs at least.

    Parameters
    ----------
    work : Work
        What is to be done.
    ceilings : Ceilings
        Of the device.
    active_warps : float, optional
        SIMD groups that are resident in the mean, among which latencies overlap.
    """
    in_cache = work.footprint_bytes <= ceilings.cache_bytes // 2
    stream = ceilings.cache if in_cache and ceilings.cache else ceilings.copy
    reads = ceilings.random_rate(work.footprint_bytes)
    atomics = ceilings.random_rate(work.footprint_bytes, atomic=True)
    return Bounds(
        {
            "stream": work.streamed_bytes / max(stream, ceilings.copy),
            "random": work.random_sectors / reads,
            "atomics": work.atomics / atomics,
            "integer": work.operations / ceilings.integer,
            "local": work.local_bytes / ceilings.local if ceilings.local else 0.0,
            "latency": _latency(work, ceilings, in_cache=in_cache, active_warps=active_warps),
            "waiting": work.waits / max(work.groups, 1) * ceilings.grid_barrier_s,
            "launch": work.launches * ceilings.launch_s,
        }
    )


def _latency(
    work: Work, ceilings: Ceilings, *, in_cache: bool, active_warps: float | None
) -> float:
    """Give the seconds of requests in a row, as far as SIMD groups do not overlap them."""
    known = ceilings.latencies
    latency = known.get("l2" if in_cache else "dram", known.get("l2", 0.0))
    if not active_warps:
        return 0.0
    return float(work.requests * latency / (active_warps * OUTSTANDING))


@dataclass(frozen=True, slots=True)
class Prediction:
    """What the model says about a kernel or a run.

    Attributes
    ----------
    time_s : float or None
        Predicted; None without ceilings or counters.
    measured_s : float
        As it was.
    bound : {"memory", "compute"} or None
        What it is bound by.
    mem_thr, arith_thr : float or None
        Share of the measured ceilings of memory and arithmetic that was reached.
    potential_speedup : float or None
        The inverse of the larger of the two.
    limiter : str or None
        The resource whose bound is highest: "stream", "random", "atomics", "integer", "local" or
        "launch".
    bounds : dict of str to float
        Seconds of each resource.
    shares : dict of str to float
        Of the time, by component.
    speedups : dict of str to Speedup
        Of each criterion.
    reason : str
        Why something is None.
    corrections : dict of str to float or None
        DIVERGENCE, SHMEMEFFICIENCY, MEMTHR and ARITHTHR, corrected by the functions of the device;
        None where one was not measured.
    """

    time_s: float | None
    measured_s: float
    bound: Literal["memory", "compute"] | None = None
    mem_thr: float | None = None
    arith_thr: float | None = None
    potential_speedup: float | None = None
    limiter: str | None = None
    bounds: Mapping[str, float] = field(default_factory=dict)
    shares: Mapping[str, float] = field(default_factory=dict)
    speedups: Mapping[str, Speedup] = field(default_factory=dict)
    reason: str = ""
    corrections: Mapping[str, float | None] = field(default_factory=dict)

    @property
    def ranking(self) -> list[str]:
        """Criteria by what mending them would gain, most first."""
        return sorted(self.speedups, key=lambda name: -self.speedups[name].reading)

    @property
    def error(self) -> float | None:
        """Predicted over measured time, less 1."""
        return (
            None
            if self.time_s is None or not self.measured_s
            else self.time_s / self.measured_s - 1.0
        )

    def record(self) -> dict[str, Any]:
        """Give it for JSON."""
        return {
            "time_s": self.time_s,
            "measured_s": self.measured_s,
            "error": self.error,
            "bound": self.bound,
            "mem_thr": self.mem_thr,
            "arith_thr": self.arith_thr,
            "potential_speedup": self.potential_speedup,
            "limiter": self.limiter,
            "bounds_s": dict(self.bounds),
            "shares": dict(self.shares),
            "speedups": {
                name: {"reading": s.reading, "printed": s.printed, "capped": s.capped}
                for name, s in self.speedups.items()
            },
            "corrections": dict(self.corrections),
            "reason": self.reason,
        }
