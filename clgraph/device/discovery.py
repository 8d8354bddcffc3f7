"""Which OpenCL devices there are, and which one is meant."""

from __future__ import annotations

import dataclasses
import functools
import os
import threading

from clgraph.device.drivers import announced
from clgraph.device.memory import Ledger, budget_bytes
from clgraph.device.opencl import cl
from clgraph.device.traits import DeviceTraits, is_simulator, probe_traits
from clgraph.errors import DeviceNotFoundError, InvalidArgumentError

__all__ = ["Device", "device", "devices"]


class Device:
    """An OpenCL device; equal and hashed by platform, index and emulation."""

    def __init__(
        self, handle: cl.Device, index: tuple[int, int], original: Device | None = None, lanes: int = 0
    ) -> None:
        self.cl = handle
        self.index = index
        self._original = original
        self._lanes = lanes
        platform = handle.platform
        self.name = handle.name.strip()
        self.vendor = handle.vendor.strip()
        self.platform = platform.name.strip()
        self.platform_vendor = platform.vendor.strip()
        self.platform_version = platform.version.strip()
        self.driver = handle.driver_version.strip()
        self.is_simulator = is_simulator(self.platform)
        self.is_gpu = bool(handle.type & cl.device_type.GPU) and not self.is_simulator

    @functools.cached_property
    def traits(self) -> DeviceTraits:
        """What the device can do."""
        if self._original is None:
            return probe_traits(self.cl)
        return dataclasses.replace(
            self._original.traits, lanes=self._lanes, lane_ops="local", memory_ops="plain"
        )

    @functools.cached_property
    def context(self) -> cl.Context:
        """The context of the device, made on first use."""
        return cl.Context([self.cl]) if self._original is None else self._original.context

    @functools.cached_property
    def queue(self) -> cl.CommandQueue:
        """The in-order, profiling queue of the device, made on first use."""
        if self._original is not None:
            return self._original.queue
        return cl.CommandQueue(
            self.context, properties=cl.command_queue_properties.PROFILING_ENABLE
        )

    @functools.cached_property
    def ledger(self) -> Ledger:
        """The memory accounts of the device."""
        if self._original is not None:
            return self._original.ledger
        return Ledger(budget_bytes(self.traits.global_bytes))

    def emulating(self, lanes: int) -> Device:
        """Give the same hardware, pretending to have `lanes` lanes (a mode for tests)."""
        if lanes not in {2, 4, 8, 16, 32, 64}:
            raise InvalidArgumentError(f"cannot emulate {lanes} lanes; use a power of two up to 64.")
        original = self if self._original is None else self._original
        return Device(self.cl, self.index, original, lanes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[tuple[int, int], int]:
        return (self.index, self._lanes)

    def __repr__(self) -> str:
        mode = f", emulating {self._lanes} lanes" if self._lanes else ""
        return f"<Device {self.index[0]}:{self.index[1]} {self.name} ({self.platform}){mode}>"


_lock = threading.Lock()
_found: list[Device] | None = None


def devices() -> list[Device]:
    """List the OpenCL devices, best first."""
    global _found
    with _lock:
        if _found is None:
            _found = sorted(_enumerate(), key=_rank)
    return list(_found)


def _enumerate() -> list[Device]:
    try:
        with announced():
            platforms = cl.get_platforms()
    except cl.Error:
        return []
    found = []
    for p, platform in enumerate(platforms):
        try:
            handles = platform.get_devices()
        except cl.Error:
            continue
        found += [Device(handle, (p, d)) for d, handle in enumerate(handles)]
    return found


def _rank(found: Device) -> tuple[bool, bool, bool, tuple[int, int]]:
    pocl = "portable computing language" in found.platform.casefold()
    return (found.is_simulator, not found.is_gpu, not pocl, found.index)


def device(spec: str | Device | None = None) -> Device:
    """Choose a device by name, kind, or ``platform:device`` index."""
    if isinstance(spec, Device):
        return spec
    spec = os.environ.get("CLGRAPH_DEVICE") if spec is None else spec
    wanted, _, emulation = (spec or "").casefold().partition("+")
    found = _select(wanted)
    if not found:
        raise DeviceNotFoundError(f"no OpenCL device matches {spec!r}; found: {devices()}")
    if emulation:
        return found[0].emulating(int(emulation.removeprefix("lanes")))
    return found[0]


def _select(wanted: str) -> list[Device]:
    real = [d for d in devices() if not d.is_simulator]
    if not wanted:
        return real
    if wanted == "gpu":
        return [d for d in real if d.is_gpu]
    if wanted == "cpu":
        return [d for d in real if d.traits.is_cpu]
    for d in devices():
        if wanted == f"{d.index[0]}:{d.index[1]}":
            return [d]
    pool = devices() if "oclgrind".startswith(wanted) and len(wanted) > 3 else real
    for names in (
        lambda d: (d.platform, d.platform_vendor),
        lambda d: (d.vendor,),
        lambda d: (d.name,),
    ):
        matches = [d for d in pool if any(wanted in text.casefold() for text in names(d))]
        if matches:
            return matches
    return []
