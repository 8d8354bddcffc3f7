"""What a device can do: the frozen facts that templates may branch on."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Literal

from clgraph.device.opencl import cl

__all__ = ["DeviceTraits", "LaneOps", "MemoryOps", "is_simulator", "probe_traits"]

LaneOps = Literal["ptx", "khr", "scalar", "local"]
MemoryOps = Literal["ptx", "c11", "plain"]

SUB_GROUP_SIZES = 0x4108  # CL_DEVICE_SUB_GROUP_SIZES_INTEL, which pyopencl's get_info refuses
SUB_GROUP_EXTENSIONS = (
    "cl_khr_subgroup_ballot",
    "cl_khr_subgroup_shuffle",
    "cl_khr_subgroup_shuffle_relative",
)
# Work-items that one multiprocessor keeps in flight, by compute capability; the last entry that is
# not above the device's own capability counts. From the CUDA C++ programming guide, table of technical
# specifications per compute capability.
NVIDIA_THREADS_PER_UNIT = (
    ((3, 0), 2048),
    ((7, 5), 1024),
    ((8, 0), 2048),
    ((8, 6), 1536),
    ((9, 0), 2048),
    ((12, 0), 1536),
)
NVIDIA_REGISTERS_PER_UNIT = 65536


@dataclass(frozen=True, slots=True)
class DeviceTraits:
    """What templates and configuration rules may know about a device.

    Attributes
    ----------
    lanes : int
        Work-items that execute together and can exchange values; 1 where there are none.
    lane_ops : {"ptx", "khr", "scalar", "local"}
        Which flavour of the lane vocabulary the device takes. ``local`` emulates lanes with local memory.
    memory_ops : {"ptx", "c11", "plain"}
        Which flavour of ordered loads and stores.
    grid_barrier : bool
        Whether resident work-groups are guaranteed to make progress together.
    compute_units, max_group_size : int
        As the driver reports them.
    local_bytes, cache_bytes, global_bytes, max_alloc_bytes : int
        Local memory per work-group, last-level cache, device memory, and largest single allocation.
    threads_per_unit, registers_per_unit : int
        Work-items and 32-bit registers of one compute unit; 0 where unknown.
    compute_capability : tuple of int, optional
        NVIDIA's (major, minor).
    int64_atomics, fp64 : bool
        Whether 64-bit atomics and double precision are there.
    is_cpu : bool
        Whether the kernels run on the host's processor.
    build_options : tuple of str
        Options every program for this device is built with.
    """

    lanes: int
    lane_ops: LaneOps
    memory_ops: MemoryOps
    grid_barrier: bool
    compute_units: int
    max_group_size: int
    local_bytes: int
    cache_bytes: int
    global_bytes: int
    max_alloc_bytes: int
    threads_per_unit: int
    registers_per_unit: int
    compute_capability: tuple[int, int] | None
    int64_atomics: bool
    fp64: bool
    is_cpu: bool
    build_options: tuple[str, ...]


def is_simulator(platform_name: str) -> bool:
    """Whether a platform only simulates a device, whatever type it announces."""
    return "oclgrind" in platform_name.casefold()


def threads_per_unit(capability: tuple[int, int]) -> int:
    """Work-items that one NVIDIA multiprocessor of this compute capability keeps in flight."""
    known = [threads for since, threads in NVIDIA_THREADS_PER_UNIT if since <= capability]
    return known[-1] if known else 0


def sub_group_sizes(device: cl.Device) -> tuple[int, ...]:
    """Sub-group sizes that a kernel may require on the device, ascending; empty where unknown."""
    library = ctypes.CDLL(str(cl._cl.__file__))
    size = ctypes.c_size_t(0)
    handle = ctypes.c_void_p(device.int_ptr)
    if library.clGetDeviceInfo(handle, SUB_GROUP_SIZES, 0, None, ctypes.byref(size)) != 0:
        return ()
    sizes = (ctypes.c_size_t * (size.value // ctypes.sizeof(ctypes.c_size_t)))()
    if library.clGetDeviceInfo(handle, SUB_GROUP_SIZES, size, sizes, None) != 0:
        return ()
    return tuple(sorted(sizes))


def probe_traits(device: cl.Device) -> DeviceTraits:
    """Ask the driver what a device can do.

    Parameters
    ----------
    device : pyopencl.Device
        Any device of any platform.

    Returns
    -------
    DeviceTraits
        Its facts; the scalar flavour where nothing better is known to work.
    """
    extensions = frozenset(device.extensions.split())
    is_cpu = bool(device.type & cl.device_type.CPU)
    lanes, lane_ops, memory_ops = 1, "scalar", "plain"
    grid_barrier = False
    options: tuple[str, ...] = ()
    capability: tuple[int, int] | None = None
    registers = threads = 0
    if "cl_nv_device_attribute_query" in extensions:
        capability = (
            int(device.compute_capability_major_nv),
            int(device.compute_capability_minor_nv),
        )
        lanes, lane_ops, memory_ops, grid_barrier = 32, "ptx", "ptx", True
        registers, threads = NVIDIA_REGISTERS_PER_UNIT, threads_per_unit(capability)
        options = ("-cl-nv-verbose",)
    elif is_simulator(device.platform.name):
        options = ("-cl-opt-disable",)
    elif all(name in extensions for name in SUB_GROUP_EXTENSIONS):
        sizes = sub_group_sizes(device)
        if sizes:
            lanes, lane_ops, memory_ops = (16 if 16 in sizes else sizes[-1]), "khr", "c11"
            options = ("-cl-std=CL3.0",)
    return DeviceTraits(
        lanes=lanes,
        lane_ops=lane_ops,
        memory_ops=memory_ops,
        grid_barrier=grid_barrier,
        compute_units=int(device.max_compute_units),
        max_group_size=int(device.max_work_group_size),
        local_bytes=int(device.local_mem_size),
        cache_bytes=int(device.global_mem_cache_size),
        global_bytes=int(device.global_mem_size),
        max_alloc_bytes=int(device.max_mem_alloc_size),
        threads_per_unit=threads,
        registers_per_unit=registers,
        compute_capability=capability,
        int64_atomics="cl_khr_int64_base_atomics" in extensions,
        fp64="cl_khr_fp64" in extensions,
        is_cpu=is_cpu,
        build_options=options,
    )
