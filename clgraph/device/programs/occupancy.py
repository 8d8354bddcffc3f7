"""How many work-groups of a kernel a device keeps resident at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clgraph.device.hardware import amd
from clgraph.device.hardware.nvidia import groups_per_unit

if TYPE_CHECKING:
    from clgraph.device.discovery import Device
    from clgraph.device.hardware.traits import DeviceTraits
    from clgraph.device.programs.kernel import Kernel

__all__ = ["resident_groups"]

# Intel's GPUs: barriers of the execution units that run a work-group together, of the generation
# that has fewest.
GROUPS_TOGETHER = 16


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
