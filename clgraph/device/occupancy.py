"""How many work-groups of a kernel a device keeps resident at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clgraph.device.discovery import Device
    from clgraph.device.program import Kernel

__all__ = ["resident_groups"]


def resident_groups(device: Device, kernel: Kernel, group_size: int, local_bytes: int = 0) -> int:
    """Work-groups of `kernel` that are resident on the whole device at once."""
    del kernel, group_size, local_bytes
    return device.traits.compute_units
