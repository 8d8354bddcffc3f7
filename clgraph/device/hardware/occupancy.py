"""How many work-groups of a kernel a device keeps resident at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clgraph.device.hardware import amd
from clgraph.device.hardware.nvidia import unit_limits

if TYPE_CHECKING:
    from clgraph.device.discovery import Device
    from clgraph.device.hardware.traits import DeviceTraits
    from clgraph.device.programs.kernel import Kernel

__all__ = ["group_limits", "groups_per_unit", "largest_group", "resident_groups"]

LANES_PER_WARP = 32
PARTITIONS_PER_UNIT = 4  # each with its own share of the registers and of the warps
REGISTER_GRANULE = 256  # registers are handed to a warp in multiples of this
LOCAL_GRANULE_BYTES = 128
# Intel's GPUs: barriers of the execution units that run a work-group together, of the generation
# that has fewest.
GROUPS_TOGETHER = 16


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


def resident_groups(device: Device, kernel: Kernel, group_size: int, local_bytes: int = 0) -> int:
    """Compute how many work-groups of a kernel are resident on the whole device at once.

    A grid barrier over more groups than this never opens.

    Parameters
    ----------
    device : Device
        What the kernel was built for.
    kernel : Kernel
        The kernel; its registers and its own local memory count.
    group_size : int
        Work-items per work-group.
    local_bytes : int
        Local memory handed over as an argument, per work-group.

    Returns
    -------
    int
        0 if a group of this size cannot run at all. On a GPU whose limits are unknown, and where
        the compiler did not say how many registers the kernel takes, one group per compute unit; on
        CPUs that is the number of worker threads, exactly.
    """
    traits = device.traits
    local_bytes += kernel.local_bytes
    if group_size > kernel.max_group_size or local_bytes > traits.local_bytes:
        return 0
    if traits.units_together > 1:
        return _groups_together(traits, group_size, local_bytes)
    per_unit = 1
    if traits.compute_capability is not None and kernel.registers is not None:
        per_unit = groups_per_unit(
            traits.compute_capability, kernel.registers, group_size, local_bytes
        )
    elif traits.graphics_ip is not None and kernel.use is not None:
        limits = amd.unit_limits(traits.graphics_ip)
        simds = traits.threads_per_unit // (limits.waves * traits.lanes)
        granule = limits.local_granule
        room = traits.local_bytes // (max(-(-local_bytes // granule), 1) * granule)
        per_unit = amd.groups_per_unit(limits, simds, traits.lanes, kernel.use, group_size, room)
    return per_unit * traits.compute_units


def _groups_together(traits: DeviceTraits, group_size: int, local_bytes: int) -> int:
    """Compute the resident groups of a GPU whose compute units run a group together.

    Its compiler keeps to the registers of a hardware thread, so threads and local memory, which is
    handed out in powers of two, are what groups share.
    """
    threads = traits.threads_per_unit * traits.units_together // traits.lanes
    limits = [GROUPS_TOGETHER, threads // -(-group_size // traits.lanes)]
    if local_bytes:
        limits.append(traits.local_bytes // (1 << (local_bytes - 1).bit_length()))
    return min(limits) * (traits.compute_units // traits.units_together)
