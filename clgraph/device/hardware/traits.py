"""What a device can do: the frozen facts that templates may branch on."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Literal

from clgraph.device import native
from clgraph.device.hardware import amd, nvidia
from clgraph.device.lazy import cl

__all__ = ["DeviceTraits", "LaneOps", "MemoryOps", "is_simulator", "probe_traits"]

LaneOps = Literal["ptx", "amdgcn", "khr", "scalar", "local"]
MemoryOps = Literal["ptx", "amdgcn", "c11", "plain"]

# What the khr flavour of the lane vocabulary is written with. Intel's CPU runtime leaves
# cl_khr_subgroups itself out of its list although it has sub-groups, so that is not asked for.
SUB_GROUP_EXTENSIONS = (
    "cl_khr_subgroup_ballot",
    "cl_khr_subgroup_shuffle",
    "cl_khr_subgroup_shuffle_relative",
)
PREFERRED_SUB_GROUP_SIZES = (16, 32, 8)
# Compilers of the family of clang count their warnings on standard error ("8 warnings generated."),
# whatever a driver does with the warnings, and some cannot be met: PoCL's own functions of wide
# vectors have one for each call. tests/offline compiles every kernel with warnings on.
QUIET = "-w"


@dataclass(frozen=True, slots=True)
class DeviceTraits:
    """What templates and configuration rules may know about a device.

    Attributes
    ----------
    lanes : int
        Work-items that execute together and can exchange values; 1 where none can.
    lane_ops : {"ptx", "amdgcn", "khr", "scalar", "local"}
        Flavour of the lane vocabulary; ``local`` emulates lanes with local memory, for tests.
    memory_ops : {"ptx", "amdgcn", "c11", "plain"}
        Flavour of ordered loads and stores.
    grid_barrier : bool
        Whether work-groups that are resident together are known to make progress together.
    compute_units : int
        Multiprocessors of a GPU, worker threads of a CPU runtime.
    max_group_size : int
        Most work-items in a work-group.
    local_bytes : int
        Local memory that one work-group can use.
    cache_bytes : int
        Last-level cache of the device.
    global_bytes, max_alloc_bytes : int
        Device memory, and the largest single allocation.
    threads_per_unit, registers_per_unit : int
        Work-items and 32-bit registers of one compute unit; 0 where unknown.
    compute_capability : tuple of int or None
        NVIDIA's (major, minor).
    graphics_ip : tuple of int or None
        AMD's (major, minor, stepping): gfx90a is (9, 0, 10).
    units_together : int
        Compute units that run a work-group together and share its local memory: one, but for
        Intel's GPUs, whose execution units are many to a core.
    local_banks : int
        Banks of local memory, each a word of 32 bits wide; 0 where unknown.
    emulated : bool
        Whether a work-group of exactly `lanes` work-items plays a SIMD group, for tests.
    int64_atomics, fp64 : bool
        Whether there are 64-bit atomics, and double precision.
    is_cpu : bool
        Whether kernels run on the processor of the host.
    build_options : tuple of str
        Options that every program for this device is built with.
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
    graphics_ip: tuple[int, int, int] | None = None
    units_together: int = 1
    local_banks: int = 0
    emulated: bool = False

    def group_of(self, wanted: int) -> int:
        """Give the work-items of a group that is to have so many, if the device allows as many.

        Parameters
        ----------
        wanted : int
            Work-items; whole SIMD groups of them are given, at least one.
        """
        return max(min(wanted, self.max_group_size) // self.lanes, 1) * self.lanes

    def usual_group(self, wanted: int) -> int:
        """Give one SIMD group on processors and where lanes are emulated; else as `group_of`."""
        small = self.is_cpu or self.emulated or self.lanes == 1
        return self.lanes if small else self.group_of(wanted)


@dataclass(frozen=True, slots=True)
class _Dialect:
    """How a device is spoken to."""

    lanes: int = 1
    lane_ops: LaneOps = "scalar"
    memory_ops: MemoryOps = "plain"
    build_options: tuple[str, ...] = ()


def is_simulator(platform_name: str) -> bool:
    """Whether a platform only simulates devices, whatever type they announce."""
    return "oclgrind" in platform_name.casefold()


def probe_traits(device: cl.Device) -> DeviceTraits:
    """Ask the driver what a device can do.

    Parameters
    ----------
    device : pyopencl.Device
        Any device of any platform.

    Returns
    -------
    DeviceTraits
        Its facts; the scalar flavours wherever nothing better is known to work.
    """
    extensions = frozenset(device.extensions.split())
    capability = nvidia.compute_capability(device) if nvidia.QUERY in extensions else None
    dialect = _dialect(device, extensions, capability)
    cache_bytes = int(device.global_mem_cache_size)
    if capability is not None:
        # The driver reports some 4 MB through OpenCL for a card that has 50.
        cache_bytes = max(cache_bytes, nvidia.cache_bytes(device))
    unit = _unit(device, dialect, capability)
    together = unit.threads * unit.together
    return DeviceTraits(
        lanes=dialect.lanes,
        lane_ops=dialect.lane_ops,
        memory_ops=dialect.memory_ops,
        # Known where it is computed how many work-groups are resident: those of a GPU all run.
        grid_barrier=dialect.lane_ops in {"ptx", "amdgcn"},
        compute_units=int(device.max_compute_units),
        max_group_size=min(int(device.max_work_group_size), together or sys.maxsize),
        local_bytes=int(device.local_mem_size),
        cache_bytes=cache_bytes,
        global_bytes=int(device.global_mem_size),
        max_alloc_bytes=int(device.max_mem_alloc_size),
        threads_per_unit=unit.threads,
        registers_per_unit=unit.registers,
        compute_capability=capability,
        int64_atomics={"cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics"} <= extensions,
        fp64="cl_khr_fp64" in extensions,
        is_cpu=bool(device.type & cl.device_type.CPU) and not is_simulator(device.platform.name),
        build_options=(*dialect.build_options, QUIET),
        graphics_ip=amd.architecture(device) if dialect.lane_ops == "amdgcn" else None,
        units_together=unit.together,
        local_banks=_local_banks(device, dialect, capability),
    )


def _local_banks(device: cl.Device, dialect: _Dialect, capability: tuple[int, int] | None) -> int:
    if capability is not None:
        return nvidia.LOCAL_BANKS
    return amd.local_banks(device) if dialect.lane_ops == "amdgcn" else 0


@dataclass(frozen=True, slots=True)
class _Unit:
    """What a compute unit holds, and how many of them run a work-group together."""

    threads: int = 0
    registers: int = 0
    together: int = 1


def _unit(device: cl.Device, dialect: _Dialect, capability: tuple[int, int] | None) -> _Unit:
    if capability is not None:
        unit = nvidia.unit_limits(capability)
        return _Unit(unit.threads, unit.registers)
    version = amd.architecture(device) if dialect.lane_ops == "amdgcn" else None
    if version is not None:
        limits, simds = amd.unit_limits(version), amd.simds_per_unit(device)
        of_wave = simds * dialect.lanes
        return _Unit(of_wave * limits.waves, of_wave * limits.registers)
    if dialect.lane_ops == "khr" and device.type & cl.device_type.GPU:
        units, threads = native.execution_units(device)
        return _Unit(threads * dialect.lanes, 0, units) if units else _Unit()
    return _Unit()


def _dialect(
    device: cl.Device, extensions: frozenset[str], capability: tuple[int, int] | None
) -> _Dialect:
    if capability is not None:
        return _Dialect(32, "ptx", "ptx", ("-cl-nv-verbose",))
    if is_simulator(device.platform.name):
        # LLVM's loop arithmetic on odd integer widths is beyond Oclgrind.
        return _Dialect(build_options=("-cl-opt-disable",))
    if amd.QUERY in extensions and device.platform.name.strip() == amd.PLATFORM:
        lanes = amd.lanes(device, amd.architecture(device))
        if lanes > 1:
            return _Dialect(lanes, "amdgcn", "amdgcn", ("-cl-std=CL2.0",))
    if extensions.issuperset(SUB_GROUP_EXTENSIONS):
        sizes = native.sub_group_sizes(device)
        for lanes in PREFERRED_SUB_GROUP_SIZES:
            if lanes in sizes:
                return _Dialect(lanes, "khr", "c11", ("-cl-std=CL3.0",))
    return _Dialect()
