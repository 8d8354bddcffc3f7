"""``clgraph doctor``: what to look at when a device is missing or misbehaves."""

from __future__ import annotations

import dataclasses
import platform
import sys
import time
from typing import TYPE_CHECKING

from clgraph.cli.command import Command, Record
from clgraph.cli.text import count_bytes, pairs, version_of
from clgraph.cli.tools.devices import NO_DEVICE, device_lines, inventory_record, left_out_lines

if TYPE_CHECKING:
    import argparse

    from clgraph.device import Device

__all__ = ["COMMAND"]

MODULES = ("numpy", "scipy", "mako", "pyopencl", "nvidia-ml-py")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--no-self-test",
        action="store_true",
        help="do not run the lane vocabulary; whether a device builds a line is always tried",
    )


def _run(args: argparse.Namespace) -> Record:
    from clgraph.device.report import discovery_report

    report = discovery_report()
    record = inventory_record(report.inventory)
    for found, device in zip(record["devices"], report.inventory.devices, strict=True):
        found["meter"] = _meter(device)
        found["self_test"] = None if args.no_self_test else _self_test(device)
    versions = {name: version_of(name) for name in ("clgraph", *MODULES)}
    return {
        "python": sys.version.split()[0],
        "system": platform.platform(),
        "versions": versions,
        "loader": {"file": report.loader, "version": report.loader_version},
        "variables": report.variables,
        "drivers": [dataclasses.asdict(trial) for trial in report.drivers],
        "platforms": [
            {"name": name, "version": version} for name, version in report.inventory.platforms
        ],
        "cache": dataclasses.asdict(report.cache),
        **record,
    }


def _meter(device: Device) -> Record:
    from clgraph import energy

    meter = energy.find_meter(device)
    meter.close()
    return {"source": meter.source, "note": meter.note}


def _self_test(device: Device) -> Record:
    """Run every word of the lane vocabulary on the device and compare with what it promises."""
    from clgraph.primitives import check_lanes

    began = time.perf_counter()
    try:
        problems = [
            f"{word}: {detail}" for word, passed, detail in check_lanes(device) if not passed
        ]
    except Exception as error:  # whatever a driver does, the report goes on with the next device
        problems = [f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"]
    return {
        "passed": not problems,
        "problems": problems,
        "seconds": time.perf_counter() - began,
    }


def _render(record: Record) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    loader, cache = record["loader"], record["cache"]
    lines = [
        ("python", f"{record['python']} on {record['system']}"),
        ("packages", versions),
        ("loader", f"{loader['version'] or 'unknown'} {loader['file']}"),
    ]
    lines += [("variable", f"{name}={value}") for name, value in record["variables"].items()]
    lines += [
        ("driver", f"{trial['library']}: {trial['error'] or 'loads'} ({trial['source']})")
        for trial in record["drivers"]
    ]
    lines += [("platform", f"{found['name']}, {found['version']}") for found in record["platforms"]]
    state = cache["problem"] or (
        f"{cache['programs']:,} program{'' if cache['programs'] == 1 else 's'}, "
        f"{count_bytes(cache['size_bytes'])}"
    )
    lines.append(("cache", f"{cache['folder']}: {state}"))
    text = [pairs(lines), ""]
    for found in record["devices"]:
        text += device_lines(found, default=found["index"] == record["default"])
        text.append(f"       meter: {found['meter']['source']}; {found['meter']['note']}")
        text.append(f"       self-test: {_verdict(found['self_test'])}")
    text += left_out_lines(record)
    if not record["devices"]:
        text.append(NO_DEVICE)
    return "\n".join(text)


def _verdict(test: Record | None) -> str:
    if test is None:
        return "not run"
    if test["passed"]:
        return f"passed in {test['seconds']:.1f} s"
    return "FAILED: " + "; ".join(test["problems"])


def _status(record: Record) -> int:
    healthy = [
        not found["trouble"] and (found["self_test"] is None or found["self_test"]["passed"])
        for found in record["devices"]
    ]
    return 0 if healthy and all(healthy) else 3


COMMAND = Command(
    "doctor",
    "Show how OpenCL was looked for, what was found, and test it",
    _add_arguments,
    _run,
    _render,
    status=_status,
)
