"""A record of a device that does not exist, for what works on records alone."""

from typing import Any

import numpy as np

from bench.runner.measure import summarise
from bench.runner.records import SCHEMA


def case(
    name: str, kernel_ms: list[float], *, device_levels: int = 6, **changes: Any
) -> dict[str, Any]:
    """One measured case with the given times."""
    count = len(kernel_ms)
    searches = {
        "source": list(range(count)),
        "levels": [device_levels] * count,
        "reached": [900] * count,
        "edges": [8000] * count,
        "kernel_ms": kernel_ms,
        "total_ms": [ms + 0.05 for ms in kernel_ms],
    }
    return {
        "key": f"bfs/{name}/auto",
        "algorithm": "bfs",
        "shows": "nothing",
        "metric": "edges/s",
        "status": "ok",
        "graph": {
            "name": name,
            "n": 1000,
            "m": 8000,
            "directed": False,
            "checksum": "0" * 16,
            "pinned": True,
        },
        "preset": "auto",
        "searches": searches,
        "summary": summarise(searches),
        "per_level": {
            "source": 0,
            "kernel_ms": kernel_ms[0],
            "levels_per_row": 1,
            "frontier": [1, 30, 600, 269],
            "edges": [20, 400, 5000, 2580],
            "direction": ["push", "push", "pull", "end"],
            "microseconds": [4.0, 5.5, 20.25, None],
        },
        "floor": {
            "bytes": 11200.0,
            "barriers": 6.0,
            "floor_ms": 0.01,
            "push_floor_ms": 0.02,
            "ratio": float(np.median(kernel_ms)) / 0.01,
            "bandwidth_gb_per_s": 4270.0,
            "barrier_us": 0.9,
        },
        "energy": {
            "joules_per_search": 0.125,
            "spread": 0.031,
            "searches": 20000,
            "window_s": 2.5,
            "mean_watts": 390.0,
            "idle_watts": 80.0,
            "mteps_per_watt": 64.0,
            "energy_delay_js": 1e-4,
            "meter": "nvml-counter",
        },
        "peers": {
            "scipy": {
                "status": "ok",
                "version": "1.17.1",
                "convert_s": 0.5,
                "ms": {"median": 20.0},
                "ratio": {"median": 40.0, "quartiles": [38.0, 44.0], "count": 8},
            },
            "networkit": {"status": "skipped", "reason": "networkit is not installed"},
        },
        "seconds": 3.0,
        **changes,
    }


def record(*cases: dict[str, Any], device: str = "NVIDIA H200", **changes: Any) -> dict[str, Any]:
    """Put cases into a run."""
    return {
        "schema": SCHEMA,
        "suite": "papers",
        "started": "2026-11-21T14:00:00+00:00",
        "finished": "2026-11-21T14:03:00+00:00",
        "settings": {"sources": 64},
        "machine": {
            "device": {"name": device, "platform": "NVIDIA CUDA", "driver": "580.159"},
            "host": {"processor": "a <fast> one", "cpus": 16},
            "versions": {"python": "3.12.3"},
            "commit": "0123456789abcdef",
            "dirty": False,
            "copy_gb_per_s": 4000.0,
        },
        "cases": list(cases),
        **changes,
    }


def skipped(name: str) -> dict[str, Any]:
    """Give a case that could not run."""
    return {
        "key": f"bfs/{name}/auto",
        "algorithm": "bfs",
        "graph": name,
        "status": "skipped",
        "reason": f"{name} is <not> here",
        "seconds": 0.0,
    }
