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

from clgraph.profile.criteria import clamped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clgraph.profile.characterise import CharacterisationFunction

__all__ = [
    "MOST_SPEEDUP",
    "Prediction",
    "Speedup",
    "corrected",
    "potential_speedup",
    "speedup",
    "speedups",
    "time_shares",
]

MOST_SPEEDUP = 1000.0


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
        The resource whose bound is highest: "stream", "random", "atomics", "integer", "local",
        "latency", "waiting" or "launch".
    bounds : dict of str to float
        Seconds of each resource, at the device's prices.
    shares : dict of str to float
        Of the time, by component.
    speedups : dict of str to Speedup
        Of each criterion.
    reason : str
        Why something is None.
    corrections : dict of str to float or None
        DIVERGENCE, SHMEMEFFICIENCY, MEMTHR and ARITHTHR, corrected by the functions of the device;
        None where one was not measured.
    parts : dict of str to float
        What bounds are made of, without prices; see `clgraph.profile.bounds.Bounds`.
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
    parts: Mapping[str, float] = field(default_factory=dict)

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
            "parts_s": dict(self.parts),
            "reason": self.reason,
        }
