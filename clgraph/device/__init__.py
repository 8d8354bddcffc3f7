"""OpenCL devices: which there are, what they can do, and how programs and data get onto them."""

from typing import TYPE_CHECKING

from clgraph.names import on_first_use

if TYPE_CHECKING:
    from clgraph.device.choosing import device
    from clgraph.device.discovery import Device, devices
    from clgraph.device.hardware.traits import DeviceTraits
    from clgraph.device.memory.allocation import Allocation
    from clgraph.device.memory.allocator import Memory
    from clgraph.device.memory.mirror import Mirror
    from clgraph.device.memory.pinned import Pinned
    from clgraph.device.memory.posted import Posted, can_post, mirror
    from clgraph.device.programs.kernel import Kernel
    from clgraph.device.programs.occupancy import resident_groups
    from clgraph.device.programs.program import Program, load
    from clgraph.device.report import DiscoveryReport, discovery_report
    from clgraph.device.waiting import wait

__all__ = [
    "Allocation",
    "Device",
    "DeviceTraits",
    "DiscoveryReport",
    "Kernel",
    "Memory",
    "Mirror",
    "Pinned",
    "Posted",
    "Program",
    "can_post",
    "device",
    "devices",
    "discovery_report",
    "load",
    "mirror",
    "resident_groups",
    "wait",
]

_HOMES = {
    "clgraph.device.choosing": ("device",),
    "clgraph.device.discovery": ("Device", "devices"),
    "clgraph.device.programs.kernel": ("Kernel",),
    "clgraph.device.memory.allocation": ("Allocation",),
    "clgraph.device.memory.allocator": ("Memory",),
    "clgraph.device.memory.mirror": ("Mirror",),
    "clgraph.device.memory.posted": ("Posted", "can_post", "mirror"),
    "clgraph.device.programs.occupancy": ("resident_groups",),
    "clgraph.device.memory.pinned": ("Pinned",),
    "clgraph.device.programs.program": ("Program", "load"),
    "clgraph.device.report": ("DiscoveryReport", "discovery_report"),
    "clgraph.device.hardware.traits": ("DeviceTraits",),
    "clgraph.device.waiting": ("wait",),
}

__getattr__, __dir__ = on_first_use(__name__, _HOMES)
