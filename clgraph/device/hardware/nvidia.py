"""What NVIDIA's multiprocessors hold, and what its compiler says about a kernel."""

from __future__ import annotations

import ctypes
import re
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clgraph.device.lazy import cl

__all__ = [
    "QUERY",
    "KernelUse",
    "UnitLimits",
    "cache_bytes",
    "compute_capability",
    "group_limits",
    "groups_per_unit",
    "largest_group",
    "parse_build_log",
    "register_limit",
    "unit_limits",
    "unlike_any_other",
]

QUERY = "cl_nv_device_attribute_query"
LANES_PER_WARP = 32
PARTITIONS_PER_UNIT = 4  # each with its own share of the registers and of the warps
REGISTER_GRANULE = 256  # registers are handed to a warp in multiples of this
LOCAL_GRANULE_BYTES = 128
LOCAL_BANKS = 32  # of every compute capability
L2_CACHE_SIZE = 38  # CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE of the CUDA driver API


@dataclass(frozen=True, slots=True)
class UnitLimits:
    """What one multiprocessor holds.

    Attributes
    ----------
    threads, groups, registers : int
        Work-items, work-groups and 32-bit registers.
    local_bytes : int
        Local memory that all its work-groups share.
    reserved_bytes : int
        Local memory that the system takes from every work-group's share.
    """

    threads: int
    groups: int
    local_bytes: int
    reserved_bytes: int
    registers: int = 65536


# By compute capability: an entry holds from its own capability up to the next one. From the table
# of technical specifications per compute capability in the CUDA C++ Programming Guide. A capability
# newer than all of these is taken for the last, which holds least.
UNITS: tuple[tuple[tuple[int, int], UnitLimits], ...] = (
    ((3, 0), UnitLimits(2048, 16, 48 << 10, 0)),
    ((5, 0), UnitLimits(2048, 32, 64 << 10, 0)),
    ((5, 2), UnitLimits(2048, 32, 96 << 10, 0)),
    ((5, 3), UnitLimits(2048, 32, 64 << 10, 0)),
    ((6, 1), UnitLimits(2048, 32, 96 << 10, 0)),
    ((6, 2), UnitLimits(2048, 32, 64 << 10, 0)),
    ((7, 0), UnitLimits(2048, 32, 96 << 10, 0)),
    ((7, 5), UnitLimits(1024, 16, 64 << 10, 0)),
    ((8, 0), UnitLimits(2048, 32, 163 << 10, 1 << 10)),
    ((8, 6), UnitLimits(1536, 16, 99 << 10, 1 << 10)),
    ((8, 7), UnitLimits(1536, 16, 163 << 10, 1 << 10)),
    ((8, 9), UnitLimits(1536, 24, 99 << 10, 1 << 10)),
    ((9, 0), UnitLimits(2048, 32, 227 << 10, 1 << 10)),
    ((11, 0), UnitLimits(1536, 24, 227 << 10, 1 << 10)),
    ((12, 0), UnitLimits(1536, 24, 99 << 10, 1 << 10)),
)


@dataclass(frozen=True, slots=True)
class KernelUse:
    """What the compiler says one kernel takes.

    Registers per work-item, bytes, and scalar registers of a wave where there are such.
    """

    registers: int
    stack_bytes: int
    spill_bytes: int
    local_bytes: int
    scalars: int = 0


def compute_capability(device: cl.Device) -> tuple[int, int]:
    """Ask for the compute capability of a device that has the extension ``QUERY``."""
    return int(device.compute_capability_major_nv), int(device.compute_capability_minor_nv)


def unit_limits(capability: tuple[int, int]) -> UnitLimits:
    """Look up what one multiprocessor of a compute capability holds."""
    return [limits for since, limits in UNITS if since <= capability or since == UNITS[0][0]][-1]


def cache_bytes(device: cl.Device) -> int:
    """Ask the CUDA driver for the size of the level-2 cache; 0 if it does not say."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
        address = (
            f"{int(device.pci_domain_id_nv):04x}:{int(device.pci_bus_id_nv):02x}:"
            f"{int(device.pci_slot_id_nv):02x}.0"
        )
        handle, size = ctypes.c_int(0), ctypes.c_int(0)
        ok = (
            cuda.cuInit(0) == 0
            and cuda.cuDeviceGetByPCIBusId(ctypes.byref(handle), address.encode()) == 0
            and cuda.cuDeviceGetAttribute(ctypes.byref(size), L2_CACHE_SIZE, handle) == 0
        )
    except (OSError, AttributeError):
        return 0
    return max(size.value, 0) if ok else 0


def unlike_any_other(binary: bytes) -> bytes:
    """Change a binary, which is assembler text, without changing what it means.

    The driver keeps what it assembled, and says nothing about kernels that it finds there.

    Parameters
    ----------
    binary : bytes
        As the driver gave it.

    Returns
    -------
    bytes
        With one more comment; unchanged if it is not text that begins with one.
    """
    if not binary.startswith(b"//"):
        return binary
    return binary.replace(b"\n", f"\n// {uuid.uuid4().hex}\n".encode(), 1)


_ENTRY = re.compile(r"Compiling entry function '(?P<name>[^']+)'")
_STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers")
_LOCAL = re.compile(r"(\d+)(?:\+(\d+))? bytes smem")


def register_limit(capability: tuple[int, int] | None, registers: int) -> tuple[str, ...]:
    """Give the compiler's option for so many registers of a work-item; none for 0, or elsewhere.

    The compiler takes no notice of it for kernels that require a size of their work-groups.
    """
    return (f"-cl-nv-maxrregcount={registers}",) if capability and registers else ()


def parse_build_log(text: str) -> dict[str, KernelUse]:
    """Read what ``-cl-nv-verbose`` prints.

    Parameters
    ----------
    text : str
        The build log; anything that is not the assembler's report is passed over.

    Returns
    -------
    dict of str to KernelUse
        By kernel name. A kernel whose register count is missing is left out.
    """
    uses: dict[str, KernelUse] = {}
    name: str | None = None
    stack = spill = 0
    for line in text.splitlines():
        if entry := _ENTRY.search(line):
            name, stack, spill = entry["name"], 0, 0
        elif frame := _STACK.search(line):
            stack, spill = int(frame[1]), int(frame[2]) + int(frame[3])
        elif name is not None and (used := _USED.search(line)):
            local = _LOCAL.search(line)
            local_bytes = int(local[1]) + int(local[2] or 0) if local else 0
            uses[name] = KernelUse(int(used[1]), stack, spill, local_bytes)
            name = None
    return uses


def groups_per_unit(
    capability: tuple[int, int], registers: int, group_size: int, local_bytes: int
) -> int:
    """Compute how many work-groups one NVIDIA multiprocessor holds.

    Parameters
    ----------
    capability : tuple of int
        Compute capability, (major, minor).
    registers : int
        Registers of a work-item.
    group_size : int
        Work-items per work-group.
    local_bytes : int
        Local memory per work-group.

    Returns
    -------
    int
        0 if not even one fits.
    """
    return min(group_limits(capability, registers, group_size, local_bytes).values())


def group_limits(
    capability: tuple[int, int], registers: int | None, group_size: int, local_bytes: int
) -> dict[str, int]:
    """Compute how many work-groups each resource of an NVIDIA multiprocessor would allow.

    Parameters
    ----------
    capability, registers, group_size, local_bytes
        As `groups_per_unit`; without `registers` these are left out.

    Returns
    -------
    dict of str to int
        By "slots", "threads", "registers" and "local memory", the last where groups take some.
    """
    unit = unit_limits(capability)
    warps = -(-group_size // LANES_PER_WARP)
    limits = {"slots": unit.groups, "threads": unit.threads // (warps * LANES_PER_WARP)}
    if registers is not None:
        # A warp lives in one partition, so each partition rounds down on its own.
        per_warp = -(-max(registers, 1) * LANES_PER_WARP // REGISTER_GRANULE) * REGISTER_GRANULE
        warps_that_fit = unit.registers // PARTITIONS_PER_UNIT // per_warp * PARTITIONS_PER_UNIT
        limits["registers"] = warps_that_fit // warps
    taken = -(-local_bytes // LOCAL_GRANULE_BYTES) * LOCAL_GRANULE_BYTES + unit.reserved_bytes
    if taken:
        limits["local memory"] = unit.local_bytes // taken
    return limits


def largest_group(capability: tuple[int, int], registers: int, limit: int) -> int:
    """Compute the largest work-group, up to a limit, that one NVIDIA multiprocessor holds.

    Parameters
    ----------
    capability : tuple of int
        Compute capability, (major, minor).
    registers : int
        Registers of a work-item.
    limit : int
        Largest group of the device.

    Returns
    -------
    int
        A multiple of 32, at least 32.
    """
    size = limit // LANES_PER_WARP * LANES_PER_WARP
    while size > LANES_PER_WARP and not groups_per_unit(capability, registers, size, 0):
        size -= LANES_PER_WARP
    return size
