"""What no run can go below: the bytes that must move and the barriers that must happen.

Each problem says which those are (`Problem.least`). The bytes over the bandwidth of a copy plus the
barriers are the floor; what the plain method must move as well gives a second figure. Copies of
this size go through memory; a graph that stays in the cache can be below its "floor".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .problem import Least

__all__ = ["BARRIER_US", "COPY_GB_PER_S", "floor"]

Floor: TypeAlias = dict[str, float | None]

# Measured once with dedicated programs; elsewhere the copy measured in the run is used and the
# barrier counts as free.
COPY_GB_PER_S = {"H200": 4270.0}
BARRIER_US = {"H200": 0.9}


def _of_device(table: dict[str, float], device: str, default: float) -> float:
    return next((value for name, value in table.items() if name in device), default)


def floor(machine: dict[str, Any], least: Least, kernel_ms: Sequence[float] | Any) -> Floor | None:
    """Floors of the runs of one case.

    Parameters
    ----------
    machine : dict
        As `machine.describe` gives it.
    least : Least
        What no run can do without.
    kernel_ms : sequence of float
        Milliseconds of each run.

    Returns
    -------
    dict or None
        Medians over the runs: ``bytes``, ``barriers``, ``floor_ms``, ``push_floor_ms`` of the plain
        method or None, and ``ratio``, the time over the floor; with ``bandwidth_gb_per_s`` and
        ``barrier_us``. None if the bandwidth is unknown.
    """
    device = str(machine["device"]["name"])
    bandwidth = _of_device(COPY_GB_PER_S, device, machine.get("copy_gb_per_s") or 0.0)
    if bandwidth <= 0:
        return None
    barrier_us = _of_device(BARRIER_US, device, 0.0)
    times = np.asarray(kernel_ms, float)
    moved, barriers = (np.broadcast_to(part, times.shape) for part in (least.bytes, least.barriers))
    waiting_ms = barriers * barrier_us / 1e3
    floor_ms = moved / bandwidth / 1e6 + waiting_ms
    plain = least.bytes_plain
    return {
        "bytes": float(np.median(moved)),
        "barriers": float(np.median(barriers)),
        "floor_ms": float(np.median(floor_ms)),
        "push_floor_ms": None
        if plain is None
        else float(np.median(plain / bandwidth / 1e6 + waiting_ms)),
        "ratio": float(np.median(times / floor_ms)) if (floor_ms > 0).all() else None,
        "bandwidth_gb_per_s": bandwidth,
        "barrier_us": barrier_us,
    }
