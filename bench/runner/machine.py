"""What a run was measured on: device, driver, host, versions, commit, clocks. Read only."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import os
import platform
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device import Memory, wait
from clgraph.device.lazy import cl
from clgraph.energy.nvml import card_address
from clgraph.graph.modules import module

if TYPE_CHECKING:
    from collections.abc import Callable

    from clgraph.device import Device

__all__ = ["card_state", "commit_of_checkout", "copy_bandwidth", "describe", "head_of"]

PACKAGES = ("clgraph", "numpy", "scipy", "pyopencl", "mako", "nvidia-ml-py", "numba", "pyarrow")
COPY_BYTES = 1 << 28
COPY_REPEATS = 6


def describe(device: Device, commit: str | None) -> dict[str, Any]:
    """Everything about the machine that may explain a time.

    Parameters
    ----------
    device : Device
        Where searches run.
    commit : str, optional
        What is measured, where the checkout cannot tell.

    Returns
    -------
    dict
        ``device``, ``host``, ``versions``, ``commit``, ``dirty``, ``copy_gb_per_s``, ``card``.
    """
    known = commit_of_checkout()
    return {
        "device": {
            "name": device.name,
            "vendor": device.vendor,
            "platform": device.platform,
            "platform_version": device.platform_version,
            "driver": device.driver,
            "traits": dataclasses.asdict(device.traits),
        },
        "host": {
            "system": platform.platform(),
            "processor": _processor(),
            "cpus": len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count(),
            "load_average": os.getloadavg() if hasattr(os, "getloadavg") else None,
        },
        "versions": {"python": platform.python_version(), **_versions()},
        "commit": commit or known[0],
        "dirty": known[1] if commit in {None, known[0]} else None,
        "copy_gb_per_s": copy_bandwidth(device),
        "card": card_state(device),
    }


def _versions() -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = None
    return found


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def head_of(study: str, device: Device) -> dict[str, Any]:
    """Give what the record of a study begins with: its name, when, where and of which commit."""
    commit, dirty = commit_of_checkout()
    return {
        "schema": f"clgraph-study-{study}",
        "started": datetime.now(UTC).isoformat(),
        "device": device.name,
        "driver": device.driver,
        "commit": commit,
        "dirty": dirty,
    }


def commit_of_checkout(folder: Path | None = None) -> tuple[str | None, bool | None]:
    """Commit of a checkout, and whether tracked files differ from it; None unknown.

    Default is the one that this package lies in.
    """
    root = Path(__file__).resolve().parents[2] if folder is None else folder
    git = shutil.which("git")
    if git is None or not (root / ".git").exists():
        return None, None
    commit = _ask(git, root, "rev-parse", "HEAD")
    changed = _ask(git, root, "status", "--porcelain", "--untracked-files=no")
    return commit, None if changed is None else bool(changed)


def _ask(git: str, root: Path, *words: str) -> str | None:
    done = subprocess.run(
        [git, "-C", str(root), *words], capture_output=True, text=True, check=False, timeout=30
    )
    return done.stdout.strip() if done.returncode == 0 else None


def copy_bandwidth(device: Device) -> float:
    """Bytes read and written per second by a copy within the device, in GB/s; best of six."""
    size = min(COPY_BYTES, device.traits.max_alloc_bytes // 4, device.traits.global_bytes // 8)
    memory = Memory(device)
    here = memory.upload("copy source", np.ones(size // 4, np.uint32))
    there = memory.allocate("copy target", size // 4, np.uint32)
    best = 0.0
    for _ in range(COPY_REPEATS):
        event = cl.enqueue_copy(device.queue, there.buffer, here.buffer)
        wait(event)
        nanoseconds = event.profile.end - event.profile.start
        best = max(best, 2 * here.size_bytes / max(nanoseconds, 1))
    return best


def card_state(device: Device) -> dict[str, Any] | None:
    """Clocks, temperature and power limit of an NVIDIA card as they are; None for other devices."""
    if not device.is_gpu or "nvidia" not in device.vendor.lower():
        return None
    try:
        nvml: Any = module("pynvml")
        nvml.nvmlInit()
    except Exception:  # the package or its library is missing: NVMLError lives in the package
        return None
    try:
        card = nvml.nvmlDeviceGetHandleByUUID(card_address(device.cl).uuid)
        questions: dict[str, Callable[[], Any]] = {
            "sm_mhz": lambda: nvml.nvmlDeviceGetClockInfo(card, nvml.NVML_CLOCK_SM),
            "memory_mhz": lambda: nvml.nvmlDeviceGetClockInfo(card, nvml.NVML_CLOCK_MEM),
            "max_sm_mhz": lambda: nvml.nvmlDeviceGetMaxClockInfo(card, nvml.NVML_CLOCK_SM),
            "temperature_c": lambda: nvml.nvmlDeviceGetTemperature(card, 0),
            "power_limit_w": lambda: nvml.nvmlDeviceGetEnforcedPowerLimit(card) / 1e3,
            "throttle_reasons": lambda: nvml.nvmlDeviceGetCurrentClocksThrottleReasons(card),
            "persistence": lambda: bool(nvml.nvmlDeviceGetPersistenceMode(card)),
        }
        state: dict[str, Any] = {}
        for name, ask in questions.items():
            try:
                state[name] = ask()
            except nvml.NVMLError:
                state[name] = None
    except (nvml.NVMLError, TypeError, AttributeError):
        return None
    else:
        return state
    finally:
        nvml.nvmlShutdown()
