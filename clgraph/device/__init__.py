"""OpenCL devices: which there are, what they can do, and how programs and data get onto them."""

from clgraph.device.choosing import device
from clgraph.device.discovery import Device, devices
from clgraph.device.kernel import Kernel
from clgraph.device.memory import Allocation, Memory
from clgraph.device.mirror import Mirror, Pinned
from clgraph.device.occupancy import resident_groups
from clgraph.device.program import Program, load
from clgraph.device.report import DiscoveryReport, discovery_report
from clgraph.device.traits import DeviceTraits
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
    "Program",
    "device",
    "devices",
    "discovery_report",
    "load",
    "resident_groups",
    "wait",
]
