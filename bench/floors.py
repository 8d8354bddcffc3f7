"""What no search can go below: the bytes that must move and the barriers that must happen.

A search writes a distance for every vertex, and for every vertex it reaches reads where its edges
begin and at least one edge: 4 bytes each. A search by levels also waits once per level for the
whole device. The first part over the bandwidth of a copy plus the second is the floor; reading
every edge of the reached vertices once, as a search that only pushes must, is the second figure.
Copies of this size go through memory; a graph that stays in the cache can be below its "floor".
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

__all__ = ["BARRIER_US", "COPY_GB_PER_S", "floor"]

Floor: TypeAlias = dict[str, float]

# Measured once with dedicated programs; elsewhere the copy measured in the run is used and the
# barrier counts as free.
COPY_GB_PER_S = {"H200": 4270.0}
BARRIER_US = {"H200": 0.9}


def _of_device(table: dict[str, float], device: str, default: float) -> float:
    return next((value for name, value in table.items() if name in device), default)


def floor(machine: dict[str, Any], n: int, searches: dict[str, list[Any]]) -> Floor | None:
    """Floors of the searches of one case.

    Parameters
    ----------
    machine : dict
        As `machine.describe` gives it.
    n : int
        Vertices of the graph.
    searches : dict of lists
        ``reached``, ``edges``, ``levels`` and ``kernel_ms`` of each search.

    Returns
    -------
    dict or None
        Medians over the searches: ``bytes``, ``floor_ms``, ``push_floor_ms``, and ``ratio``, the
        time over the floor; with ``bandwidth_gb_per_s`` and ``barrier_us``. None if the bandwidth
        is unknown.
    """
    device = str(machine["device"]["name"])
    bandwidth = _of_device(COPY_GB_PER_S, device, machine.get("copy_gb_per_s") or 0.0)
    if bandwidth <= 0:
        return None
    barrier_us = _of_device(BARRIER_US, device, 0.0)
    reached, edges, levels, kernel_ms = (
        np.asarray(searches[name], float) for name in ("reached", "edges", "levels", "kernel_ms")
    )
    waiting_ms = levels * barrier_us / 1e3
    least = 4.0 * n + 8.0 * reached
    floor_ms = least / bandwidth / 1e6 + waiting_ms
    push_floor_ms = 4.0 * (n + reached + edges) / bandwidth / 1e6 + waiting_ms
    return {
        "bytes": float(np.median(least)),
        "floor_ms": float(np.median(floor_ms)),
        "push_floor_ms": float(np.median(push_floor_ms)),
        "ratio": float(np.median(kernel_ms / floor_ms)),
        "bandwidth_gb_per_s": bandwidth,
        "barrier_us": barrier_us,
    }
