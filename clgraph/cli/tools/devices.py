"""``clgraph devices``: which OpenCL devices there are and what each can do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clgraph.cli.command import Command, Record
from clgraph.cli.text import count_bytes

if TYPE_CHECKING:
    import argparse

    from clgraph.device import Device
    from clgraph.device.discovery import Inventory

__all__ = ["COMMAND", "NO_DEVICE", "describe", "device_lines", "inventory_record", "left_out_lines"]

NO_DEVICE = (
    "no OpenCL device found; install one for the processor with 'pip install clgraph[cpu]', or the "
    "driver of the GPU, and look at 'clgraph doctor'"
)
LANE_OPS = {
    "ptx": "native lane instructions",
    "amdgcn": "wave instructions",
    "khr": "sub-group functions",
    "scalar": "scalar",
    "local": "emulated with local memory",
}


def describe(device: Device) -> Record:
    """Facts about one device, for JSON."""
    from clgraph.device.selftest import trouble_of

    traits = device.traits
    return {
        "index": f"{device.index[0]}:{device.index[1]}",
        "name": device.name,
        "vendor": device.vendor,
        "platform": device.platform,
        "platform_version": device.platform_version,
        "driver": device.driver,
        "is_gpu": device.is_gpu,
        "is_simulator": device.is_simulator,
        "built_for": device.built_for,
        "trouble": trouble_of(device),
        "traits": {name: getattr(traits, name) for name in traits.__dataclass_fields__},
    }


def inventory_record(inventory: Inventory) -> Record:
    """Say what was found and what was left out, for JSON."""
    from clgraph.device import device
    from clgraph.errors import DeviceNotFoundError

    try:
        default = device().index
    except DeviceNotFoundError:
        default = None
    return {
        "default": None if default is None else f"{default[0]}:{default[1]}",
        "devices": [describe(found) for found in inventory.devices],
        "left_out": [{"name": out.name, "reason": out.reason} for out in inventory.left_out],
    }


def _run(_: argparse.Namespace) -> Record:
    from clgraph.device.discovery import inventory

    return inventory_record(inventory())


def device_lines(found: Record, *, default: bool) -> list[str]:
    """Say what a person wants to know of one device."""
    traits = found["traits"]
    kind = "simulator" if found["is_simulator"] else "GPU" if found["is_gpu"] else "CPU"
    lanes = traits["lanes"]
    able = [
        f"{lanes} lanes ({LANE_OPS[traits['lane_ops']]})" if lanes > 1 else "one lane",
        f"work-groups up to {traits['max_group_size']:,}",
        "persistent kernels by grid barrier" if traits["grid_barrier"] else "late-joining groups",
    ]
    able += ["64-bit atomics"] if traits["int64_atomics"] else []
    able += ["double precision"] if traits["fp64"] else []
    remarks = []
    if found["built_for"]:
        remarks.append(f"unknown to this PoCL, which builds for {found['built_for']}")
    if found["trouble"]:
        remarks.append(f"not used, for it cannot build kernels: {found['trouble']}")
    return [
        f"{'*' if default else ' '} {found['index']}  {found['name']}",
        f"       {found['platform']}, {found['platform_version']}, driver {found['driver']}",
        f"       {kind}, {traits['compute_units']} compute units, "
        f"{count_bytes(traits['global_bytes'])} memory "
        f"({count_bytes(traits['max_alloc_bytes'])} at once), "
        f"{count_bytes(traits['local_bytes'])} local",
        f"       {', '.join(able)}",
        *(f"       {remark}" for remark in remarks),
    ]


def left_out_lines(record: Record) -> list[str]:
    """Say what was left out, and why."""
    return [f"  left out: {out['name']}: {out['reason']}" for out in record["left_out"]]


def _render(record: Record) -> str:
    from clgraph.device.choosing import OTHER_DRIVERS

    lines = [NO_DEVICE] if not record["devices"] else []
    for found in record["devices"]:
        lines += device_lines(found, default=found["index"] == record["default"])
    lines += left_out_lines(record)
    if record["devices"] and _status(record):
        lines.append(OTHER_DRIVERS)
    if record["default"] is not None:
        lines.append("* is used unless --device or CLGRAPH_DEVICE says otherwise")
    return "\n".join(lines)


def _status(record: Record) -> int:
    """Give 3 where there is no device, or none but simulators can build kernels."""
    real = [found for found in record["devices"] if not found["is_simulator"]]
    broken = bool(real) and all(found["trouble"] for found in real)
    return 3 if broken or not record["devices"] else 0


COMMAND = Command(
    "devices",
    "List the OpenCL devices and what each can do",
    lambda _: None,
    _run,
    _render,
    status=_status,
)
