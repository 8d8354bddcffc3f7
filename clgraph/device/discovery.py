"""Which OpenCL devices there are, and which one is meant."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import threading
from dataclasses import dataclass
from typing import Literal

from clgraph.device.contexts import ComingContext
from clgraph.device.drivers import announced, one_thread_a_processor
from clgraph.device.forks import check_process, watch_forks
from clgraph.device.hardware.processor import name_unknown_processor
from clgraph.device.hardware.traits import DeviceTraits, is_simulator, probe_traits
from clgraph.device.lazy import cl
from clgraph.device.memory.budget import Ledger
from clgraph.device.memory.pinned import HostArrays
from clgraph.device.memory.staging import Staging
from clgraph.device.staying import StaysHere
from clgraph.errors import DeviceNotFoundError, InvalidArgumentError

__all__ = ["POCL_PLATFORM", "Device", "Inventory", "LeftOut", "devices", "inventory"]

POCL_PLATFORM = "portable computing language"
EmulatedOps = Literal["local", "amdgcn"]
EMULATED_LANES: dict[str, tuple[int, ...]] = {"local": (2, 4, 8, 16, 32, 64), "amdgcn": (32, 64)}


class Device(StaysHere):
    """An OpenCL device; equal to another of the same platform, index and emulation.

    Attributes
    ----------
    name, vendor, platform, platform_version, driver : str
        As the driver calls itself.
    is_gpu : bool
        Whether it is a real GPU; simulators that announce themselves as one are not.
    is_simulator : bool
        Whether it only simulates a device; such a device is used only when it is named.
    index : tuple of int
        Position of the platform, and of the device within it.
    built_for : str or None
        The processor that PoCL 3.0 is asked to build for because it does not know this one.
    cl : pyopencl.Device
        The device itself.
    """

    sent_instead = "its name, and look it up by `clgraph.device`"

    def __init__(
        self,
        handle: cl.Device,
        index: tuple[int, int],
        *,
        real: Device | None = None,
        lanes: int = 0,
        flavour: EmulatedOps = "local",
        own_queue: bool = False,
        timed: bool = True,
        built_for: str | None = None,
    ) -> None:
        platform = handle.platform
        self.cl = handle
        self.index = index
        self.name = handle.name.strip()
        self.vendor = handle.vendor.strip()
        self.platform = platform.name.strip()
        self.platform_vendor = platform.vendor.strip()
        self.platform_version = platform.version.strip()
        self.driver = handle.driver_version.strip()
        self.is_simulator = is_simulator(self.platform)
        self.is_gpu = bool(handle.type & cl.device_type.GPU) and not self.is_simulator
        self.built_for: str | None = built_for if real is None else real.built_for
        self._real = real
        self._lanes = lanes
        self._flavour: EmulatedOps = flavour
        self._own_queue = own_queue
        self._timed = timed
        self._coming: ComingContext | None = None

    @functools.cached_property
    def traits(self) -> DeviceTraits:
        """What the device can do."""
        if self._real is None:
            return probe_traits(self.cl)
        if not self._lanes:
            return self._real.traits
        return dataclasses.replace(
            self._real.traits,
            lanes=self._lanes,
            lane_ops=self._flavour,
            memory_ops="plain" if self._flavour == "local" else self._flavour,
            grid_barrier=False,
            emulated=True,
        )

    @property
    def hardware(self) -> Device:
        """The device itself, where this one emulates lanes on it or has a queue of its own."""
        return self if self._real is None else self._real

    @functools.cached_property
    def context(self) -> cl.Context:
        """The context of the device, made on first use, if `make_context` was not called."""
        if self._real is not None:
            return self._real.context
        return cl.Context([self.cl]) if self._coming is None else self._coming.take()

    def make_context(self) -> None:
        """Have a thread make the context meanwhile, where a driver takes long for it."""
        if self._real is not None:
            self._real.make_context()
        elif self.is_gpu and self._coming is None and "context" not in vars(self):
            self._coming = ComingContext(self.cl)

    @functools.cached_property
    def queue(self) -> cl.CommandQueue:
        """The in-order queue of the device, which records times; made on first use."""
        if self._real is not None and not self._own_queue:
            return self._real.queue
        if not self._timed:
            return cl.CommandQueue(self.context)
        profiling = cl.command_queue_properties.PROFILING_ENABLE
        return cl.CommandQueue(self.context, properties=profiling)

    @functools.cached_property
    def ledger(self) -> Ledger:
        """What this process holds of the device's memory."""
        if self._real is not None:
            return self._real.ledger
        return Ledger(self.traits.global_bytes, shared_with_host=self.traits.is_cpu)

    @functools.cached_property
    def host_arrays(self) -> HostArrays:
        """Where arrays come from that are copied from the device."""
        return HostArrays(self) if self._real is None else self._real.host_arrays

    @functools.cached_property
    def staging(self) -> Staging | None:
        """What large arrays are copied through; None where the host's memory is the device's."""
        if self._real is not None:
            return self._real.staging
        return Staging(self) if self.is_gpu and not self.cl.host_unified_memory else None

    def emulating(self, lanes: int, flavour: EmulatedOps = "local") -> Device:
        """Give the same hardware in a test mode that emulates lanes with local memory.

        Parameters
        ----------
        lanes : int
            2, 4, 8, 16, 32 or 64.
        flavour : {"local", "amdgcn"}
            "amdgcn" renders what AMD's waves of 32 or 64 lanes get, with its instructions emulated.

        Returns
        -------
        Device
            With the context, queue and memory of this one, ``traits.emulated`` set and
            ``traits.lanes`` and ``traits.lane_ops`` as asked; a work-group of it must be exactly
            that many work-items.

        Raises
        ------
        InvalidArgumentError
            For another number of lanes, or another flavour.
        """
        if flavour not in EMULATED_LANES:
            raise InvalidArgumentError(
                f"cannot emulate {flavour!r}; use {' or '.join(map(repr, EMULATED_LANES))}."
            )
        possible = EMULATED_LANES[flavour]
        if lanes not in possible:
            *most, last = map(str, possible)
            raise InvalidArgumentError(
                f"cannot emulate {lanes} lanes; use {', '.join(most)} or {last}."
            )
        real = self.hardware
        return Device(self.cl, self.index, real=real, lanes=lanes, flavour=flavour)

    def beside(self, *, timed: bool = True) -> Device:
        """Give the same device with a command queue of its own, for work beside other work.

        Parameters
        ----------
        timed : bool
            Whether the queue records times, which about doubles what enqueuing costs on an H200.

        Returns
        -------
        Device
            Equal to this one and with its context, memory and programs; what is enqueued on the two
            has no order.
        """
        real = self.hardware
        return Device(
            self.cl,
            self.index,
            real=real,
            lanes=self._lanes,
            flavour=self._flavour,
            own_queue=True,
            timed=timed,
        )

    @property
    def _key(self) -> tuple[tuple[int, int], int, str]:
        return (self.index, self._lanes, self._flavour)

    def __eq__(self, other: object) -> bool:
        """Whether both are the same device in the same mode."""
        return isinstance(other, Device) and self._key == other._key

    def __hash__(self) -> int:
        """Agree with equality."""
        return hash(self._key)

    def _repr_html_(self) -> str:
        return str(importlib.import_module("clgraph.interop.html").of_device(self))

    def __repr__(self) -> str:
        """Show index, name, platform and mode."""
        of = "" if self._flavour == "local" else f" of {self._flavour}"
        mode = f", emulating {self._lanes} lanes{of}" if self._lanes else ""
        return f"<Device {self.index[0]}:{self.index[1]} {self.name} ({self.platform}){mode}>"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A platform or device that cannot be used, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Inventory:
    """What the OpenCL loader showed.

    Attributes
    ----------
    devices : tuple of Device
        Best first: GPUs, PoCL, other devices, simulators.
    platforms : tuple of (str, str)
        Name and version of each platform, in the loader's order.
    left_out : tuple of LeftOut
        What is there but cannot be used.
    """

    devices: tuple[Device, ...]
    platforms: tuple[tuple[str, str], ...]
    left_out: tuple[LeftOut, ...]


_looking = threading.Lock()


def inventory() -> Inventory:
    """Look at the platforms, once per process; the first call is the first OpenCL call.

    Returns
    -------
    Inventory
        The same object each time.

    Raises
    ------
    DeviceNotFoundError
        If pyopencl itself cannot be imported.
    """
    check_process()
    watch_forks()
    with _looking:
        return _inventory()


@functools.cache
def _inventory() -> Inventory:
    found: list[Device] = []
    left_out: list[LeftOut] = []
    with announced(), one_thread_a_processor():
        try:
            platforms = cl.get_platforms()
        except ImportError as error:
            raise DeviceNotFoundError(
                f"pyopencl cannot be imported ({error}); reinstall it: 'pip install pyopencl'."
            ) from error
        except cl.Error as error:
            left_out.append(LeftOut("OpenCL", f"the loader found no driver: {error}"))
            platforms = []
    for number, platform in enumerate(platforms):
        try:
            handles = platform.get_devices()
        except cl.Error as error:
            left_out.append(LeftOut(platform.name, f"it lists no devices: {error}"))
            continue
        if not handles:
            left_out.append(LeftOut(platform.name, "it has no devices"))
        for position, handle in enumerate(handles):
            reason = _unusable(handle)
            if reason is None:
                built_for = name_unknown_processor(handle)
                found.append(Device(handle, (number, position), built_for=built_for))
            else:
                left_out.append(LeftOut(f"{handle.name} ({platform.name})", reason))
    return Inventory(
        tuple(sorted(found, key=_rank)),
        tuple((platform.name.strip(), platform.version.strip()) for platform in platforms),
        tuple(left_out),
    )


def _unusable(handle: cl.Device) -> str | None:
    try:
        if not handle.available:
            return "the driver says that it is not available"
        if not handle.compiler_available:
            return "it has no compiler for OpenCL C"
        if not handle.endian_little:
            return "it is big-endian"
    except cl.Error as error:
        return f"it does not answer: {error}"
    return None


def _rank(found: Device) -> tuple[bool, bool, bool, bool, tuple[int, int]]:
    return (
        found.is_simulator,
        not found.is_gpu,
        bool(found.is_gpu and found.cl.host_unified_memory),
        POCL_PLATFORM not in found.platform.casefold(),
        found.index,
    )


def devices() -> list[Device]:
    """List the OpenCL devices, best first.

    Returns
    -------
    list of Device
        GPUs with memory of their own, other GPUs, PoCL, other devices, simulators; empty where
        there is none.

    Notes
    -----
    The first call loads the drivers: 0.05 to 0.5 s.
    """
    return list(inventory().devices)
