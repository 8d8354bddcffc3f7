"""The criteria that kernels are judged by: closed formulas, each from 0, bad, to 1, good.

Where a formula that was printed leaves this range or contradicts its own explanation, the reading
that keeps both is the default and the printed form is an option.

References
----------
N. Bombieri, F. Busato, F. Fummi, "Pro++: a profiling framework for primitive-based GPU
programming", IEEE Transactions on Emerging Topics in Computing, 2018; "A fine-grained performance
model for GPU architectures", DATE 2016.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from clgraph.device.hardware.nvidia import LANES_PER_WARP, group_limits, unit_limits
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike

__all__ = [
    "HINTS",
    "LINE_BYTES",
    "SECTOR_BYTES",
    "WHOLE_RUN",
    "Criterion",
    "Occupancy",
    "computation_intensity",
    "data_transfer",
    "device_synchronisation",
    "divergence",
    "granularity",
    "host_synchronisation",
    "inactivity",
    "local_bandwidth_efficiency",
    "local_efficiency",
    "occupancy",
    "throughput_occupancy",
    "unit_balance",
    "warp_balance",
]

LINE_BYTES, SECTOR_BYTES = 128, 32
USUAL_BANKS, BANK_BYTES = 32, 4  # of local memory, where a device does not say how many
SATURATED = 0.95  # throughput from which on more resident work-items are no use
# Criteria that are computed once for a whole run and not for each of its kernels.
WHOLE_RUN = ("HSync", "DT")
HINTS = {
    "OCC": "multiprocessors hold few work-items: change the group size, or take fewer registers or"
    " less local memory",
    "HSync": "the device waits for the host: fuse kernels, use a grid barrier, batch small copies",
    "DSync": "work-items wait at barriers: use fewer, or exchange within a SIMD group",
    "TDiv": "lanes idle: let neighbouring work-items take the same way, or share long rows",
    "LB_W": "few SIMD groups do most of the work: choose another load balancer",
    "LB_SM": "some multiprocessors finish early: cut the work finer or claim it",
    "Gran_L1": "requests touch more lines than they need: access memory side by side",
    "Gran_L2": "requests move more sectors than they need: pack data, access it side by side",
    "SMem_eff": "lanes meet on banks of local memory: pad rows or change the stride",
    "CI": "units idle: memory bound by nature, or too little work in flight",
    "DT": "copies take part in the time: keep data on the device, overlap copies with kernels",
}


@dataclass(frozen=True, slots=True)
class Criterion:
    """One criterion of a kernel or a run.

    Attributes
    ----------
    name : str
        "OCC", "HSync", "DSync", "TDiv", "LB_W", "LB_SM", "Gran_L1", "Gran_L2", "SMem_eff", "CI"
        or "DT".
    value : float or None
        From 0 to 1; None where it does not apply or is not known.
    reason : str
        Why it is None, or what is special about it.
    inputs : dict
        What it was computed from.
    potential_speedup : float or None
        What the time would be divided by with a value of 1, at least 1.
    hint : str
        What to change where it is low.
    """

    name: str
    value: float | None
    reason: str = ""
    inputs: Mapping[str, Any] = field(default_factory=dict)
    potential_speedup: float | None = None

    @property
    def hint(self) -> str:
        """What to change where it is low."""
        return HINTS.get(self.name, "")


@dataclass(frozen=True, slots=True)
class Occupancy:
    """How many work-items of a kernel are resident.

    Attributes
    ----------
    value : float
        OCC: the smaller of the two below.
    unit : float
        Share of a multiprocessor's work-items that can be resident.
    grid : float
        Whether the launch has enough work-items for the whole device, at most 1.
    groups_per_unit : int
        Resident work-groups of a multiprocessor.
    limiter : str
        "slots", "threads", "registers", "local memory" or "grid".
    """

    value: float
    unit: float
    grid: float
    groups_per_unit: int
    limiter: str


def clamped(value: float) -> float:
    """Cut a value to [0, 1]."""
    return float(min(max(value, 0.0), 1.0))


def occupancy(
    capability: tuple[int, int],
    units: int,
    *,
    group_size: int,
    groups: int,
    registers: int | None,
    local_bytes: int = 0,
) -> Occupancy:
    """Compute OCC, what keeps it down, and the resident work-groups (3.1).

    Parameters
    ----------
    capability : tuple of int
        Compute capability, (major, minor).
    units : int
        Multiprocessors.
    group_size, groups : int
        Work-items of a work-group, work-groups of the launch.
    registers : int or None
        Of a work-item; None sets no limit.
    local_bytes : int
        Local memory of a work-group, static and dynamic.

    Returns
    -------
    Occupancy
        Value and limiter.
    """
    limits = group_limits(capability, registers, group_size, local_bytes)
    limiter = min(limits, key=lambda name: limits[name])
    threads = unit_limits(capability).threads
    padded = -(-group_size // LANES_PER_WARP) * LANES_PER_WARP
    resident = limits[limiter]
    unit = resident * padded / threads
    grid = min(groups * padded / (units * threads), 1.0)
    value = clamped(min(unit, grid))
    return Occupancy(
        value, clamped(unit), clamped(grid), resident, "grid" if grid < unit else limiter
    )


def host_synchronisation(kernels: Sequence[tuple[float, float]]) -> float | None:
    """Compute HSync: the share of a run in which a kernel ran (3.2).

    Parameters
    ----------
    kernels : sequence of (float, float)
        Start and duration of each, in any unit.

    Returns
    -------
    float or None
        None without kernels; those that overlap count once.
    """
    if not kernels:
        return None
    spans = [(start, start + took) for start, took in kernels]
    whole = max(end for _, end in spans) - min(start for start, _ in spans)
    return clamped(union_length(spans) / whole) if whole > 0 else 1.0


def union_length(spans: Iterable[tuple[float, float]]) -> float:
    """Give the length of what intervals cover together."""
    covered, reached = 0.0, -np.inf
    for start, end in sorted(spans):
        if end > reached:
            covered += end - max(start, reached)
            reached = end
    return float(covered)


def inactivity(active_warps: float, warps: float, cycles: float) -> float:
    """Compute the share of SIMD groups that were not resident, in the mean of all cycles."""
    return clamped(1.0 - active_warps / warps / cycles) if warps and cycles else 0.0


def device_synchronisation(
    stall: float, inactive: float = 1.0, *, model: Literal["pro++", "fine"] = "fine"
) -> float:
    """Compute DSync (3.3).

    Parameters
    ----------
    stall : float
        Share of stalls that barriers cause.
    inactive : float
        As `inactivity`; only "pro++" looks at it.
    model : {"pro++", "fine"}
        1 - inactive * stall, or 1 - stall.
    """
    return clamped(1.0 - stall * (inactive if model == "pro++" else 1.0))


def divergence(executed: ArrayLike, possible: ArrayLike) -> tuple[float, float] | None:
    """Compute TDiv (3.4).

    Parameters
    ----------
    executed, possible : array_like
        Lane instructions of each SIMD group that were executed, and that could have been.

    Returns
    -------
    mean, weighted : float
        The mean of the ratios, and the ratio of the sums; None where nothing ran.
    """
    done, could = np.asarray(executed, np.float64), np.asarray(possible, np.float64)
    ran = could > 0
    if not ran.any():
        return None
    done, could = done[ran], could[ran]
    return clamped(float(np.mean(done / could))), clamped(float(done.sum() / could.sum()))


def warp_balance(
    active_warps: float, active_cycles: float, group_size: int, groups_per_unit: float, lanes: int
) -> float | None:
    """Compute LB_W: mean resident SIMD groups of a busy unit over those that fit it (3.5)."""
    most = -(-group_size // lanes) * groups_per_unit
    if not active_cycles or not most:
        return None
    return clamped(active_warps / active_cycles / most)


def unit_balance(cycles: ArrayLike) -> float | None:
    """Compute LB_SM: mean over most busy cycles of a unit; units without work count 0 (3.6)."""
    spent = np.asarray(cycles, np.float64)
    return clamped(float(spent.mean() / spent.max())) if spent.size and spent.max() > 0 else None


def granularity(
    accesses: Mapping[int, float], transactions: float, transaction_bytes: int
) -> float | None:
    """Compute Gran_L1 or Gran_L2: bytes that work-items asked for over those that moved (3.7).

    Parameters
    ----------
    accesses : mapping of int to float
        Loads and stores of work-items to global memory, by their bytes.
    transactions : float
        Lines or sectors that moved.
    transaction_bytes : int
        Of each: `LINE_BYTES` or `SECTOR_BYTES`.

    Returns
    -------
    float or None
        At most 1, also where many work-items read one word; None without accesses.
    """
    if not transactions:
        return None
    useful = sum(count * size for size, count in accesses.items())
    return clamped(useful / (transactions * transaction_bytes))


def local_efficiency(best: float, passes: float) -> float | None:
    """Compute SMem_eff: passes over the banks without conflicts over those that were made (3.8)."""
    return clamped(best / passes) if passes else None


def local_bandwidth_efficiency(conflicts: float, bank_bytes: int, data_bytes: int) -> float:
    """Compute the efficiency of local memory as chapter 15 has it: bandwidth asked for."""
    return clamped(1.0 / (conflicts + 1.0) * bank_bytes / data_bytes)


def computation_intensity(alu: float, ldst: float) -> float:
    """Compute CI: the mean utilisation of arithmetic and of load/store units (3.9).

    Raises
    ------
    InvalidArgumentError
        If one is not from 0 to 1.
    """
    for name, value in (("alu", alu), ("ldst", ldst)):
        if not 0.0 <= value <= 1.0:
            raise InvalidArgumentError(f"utilisation {name} is {value}; it is from 0 to 1.")
    return (alu + ldst) / 2.0


def data_transfer(
    allocated: float, copied: float, overlapping: float = 0.0, *, offset: float = 1.0
) -> float | None:
    """Compute DT (3.10).

    Parameters
    ----------
    allocated : float
        Bytes of the device that take part, for the copies that are needed.
    copied, overlapping : float
        Bytes of all copies, and of those while a kernel ran.
    offset : float
        1, or 0.5 as printed, which is cut at 0.
    """
    moved = allocated + copied
    return clamped(offset + (overlapping - copied) / moved) if moved > 0 else None


def throughput_occupancy(
    occupied: float, mem_thr: float, *, form: Literal["reading", "printed"] = "reading"
) -> float:
    """Compute THR_OCC: what full occupancy could do for memory throughput (3.13)."""
    if mem_thr >= SATURATED:
        return 1.0
    return clamped(1.0 - (1.0 - occupied) * ((1.0 - mem_thr) if form == "reading" else mem_thr))
