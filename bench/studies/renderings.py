"""The kernels of every preset as they are rendered, to show that a change leaves them as they were.

``python -m bench.studies.renderings OUT.json`` writes them for PoCL, for Intel's runtime and for
an H200, whose traits are recorded; nothing is compiled.  ``--against BEFORE.json`` compares them
with those of an earlier checkout: the texts are the same if they differ in nothing but comments,
white space and a one-to-one renaming of identifiers.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import hashlib
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import clgraph as cg
from clgraph.device import Memory
from clgraph.device.hardware.nvidia import KernelUse
from clgraph.device.lazy import cl
from clgraph.device.programs import program
from clgraph.errors import ClgraphError

from .plans import plans
from .recorded import RECORDED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from clgraph import Device
    from clgraph.device import Allocation

__all__ = ["Rendered", "canonical", "main", "on_device", "rendered", "renderings"]

DEVICES = ("pocl", "intel", "h200")
MOST_LAUNCHES = 200  # of what is run; what it waits for never comes
TOKENS = re.compile(r"[A-Za-z_]\w*|\d\w*(?:\.\w*)?|\S")
COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


class _EnoughError(Exception):
    """What runs would go on for ever."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """A program's text.

    Attributes
    ----------
    label : str
        File of the kernel, or "refused".
    source : str
        OpenCL C, or why not.
    kernels : list of str
        Entry points that were asked for.
    """

    label: str
    source: str
    kernels: list[str]


class _Kernel:
    """Stands for a kernel that nobody built: small, and done as soon as it is launched."""

    launches = 0  # of all of them
    checks = None
    registers = 32
    spill_bytes = 0
    local_bytes = 0
    use = KernelUse(registers, 0, spill_bytes, local_bytes)

    def __init__(self, name: str, device: Device) -> None:
        self.name = name
        self.device = device
        self.max_group_size = device.traits.max_group_size

    def launch(self, *_: object, **__: object) -> cl.Event:
        """Give an event of nothing."""
        _Kernel.launches += 1
        if _Kernel.launches > MOST_LAUNCHES:
            raise _EnoughError
        return cl.enqueue_marker(self.device.queue)

    launch_bound = again = launch


class _Program:
    """Stands for a program that nobody built."""

    checked = None
    from_cache = False
    build_log = ""

    def __init__(self, device: Device, label: str, source: str) -> None:
        self.device = device
        self.label = label
        self.source = source
        self.source_hash = hashlib.sha256(source.encode()).hexdigest()
        self.rendered = Rendered(label, source, [])

    def binary(self) -> bytes:
        """Give nothing: it was not built."""
        return b""

    def on(self, device: Device) -> _Program:
        """Give the same for an equal device."""
        same = copy.copy(self)
        same.device = device
        return same

    def kernel(self, name: str) -> _Kernel:
        """Give an entry point."""
        self.rendered.kernels.append(name)
        return _Kernel(name, self.device)


def canonical(text: str) -> str:
    """Rename identifiers by the order in which they come, and drop comments and white space.

    Parameters
    ----------
    text : str
        OpenCL C.

    Returns
    -------
    str
        Equal for two texts that differ only so.
    """
    names: dict[str, str] = {}
    tokens = []
    for token in TOKENS.findall(COMMENTS.sub(" ", text)):
        named = token[0].isalpha() or token[0] == "_"
        tokens.append(names.setdefault(token, f"n{len(names)}") if named else token)
    return " ".join(tokens)


def rendered(make: Callable[[Device], object], device: Device) -> list[Rendered]:
    """Give every program that something builds on a device, without building it.

    Parameters
    ----------
    make : callable
        What builds; whatever it launches is done at once and does nothing.
    device : Device
        Where; its traits may be those of another.

    Returns
    -------
    list of Rendered
        In order; a refusal is the last of them.
    """
    found: list[Rendered] = []

    def obtain(on: Device, source: str, label: str, _: object) -> _Program:
        program = _Program(on, label, source)
        found.append(program.rendered)
        return program

    allocate = Memory.allocate

    def emptied(*args: Any, **options: Any) -> Allocation:
        """Allocate what is then read, although no kernel wrote it."""
        made = allocate(*args, **options)
        if made.size_bytes:
            made.clear().wait()
        return made

    with (
        mock.patch.object(Memory, "allocate", emptied),
        mock.patch.object(program, "_obtain", obtain),
        mock.patch.object(program, "_programs", {}),
        mock.patch.object(_Kernel, "launches", 0),
        contextlib.suppress(_EnoughError),
    ):
        try:
            make(device)
        except Exception as error:
            # After a launch it is about results that nobody computed.
            if not _Kernel.launches:
                if not isinstance(error, ClgraphError):
                    raise
                found.append(Rendered("refused", str(error), []))
    return found


def on_device(spec: str) -> Device:
    """Give a device that is there, or one with the traits of one that is not.

    Parameters
    ----------
    spec : str
        As `clgraph.device` takes it, or a name of `bench.recorded`.
    """
    if spec not in RECORDED:
        return cg.device(spec)
    there = cg.device("pocl")
    device = cg.Device(there.cl, there.index)
    device.__dict__["traits"] = RECORDED[spec]
    return device


def renderings(
    devices: Sequence[str] = DEVICES, algorithms: Sequence[str] | None = None
) -> dict[str, str]:
    """Render the kernels of every preset, algorithm and graph.

    Parameters
    ----------
    devices : sequence of str
        As `on_device` takes them.
    algorithms : sequence of str, optional
        Names in `bench.plans`; default all.

    Returns
    -------
    dict
        Texts by device, plan and number of the program within it; a refusal is such a text too.
    """
    found: dict[str, str] = {}
    for spec in devices:
        device = on_device(spec)
        for plan in plans(algorithms):
            for k, what in enumerate(rendered(plan.build, device)):
                found[f"{spec} {plan.name} {k}"] = what.source
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the renderings, and compare them."""
    parser = argparse.ArgumentParser(prog="bench.studies.renderings", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--against", type=Path, help="what an earlier checkout wrote")
    parser.add_argument("--device", action="append", help=f"repeatable; default {DEVICES}")
    parser.add_argument("--algorithm", action="append", help="repeatable; default all")
    options = parser.parse_args(arguments)
    now = renderings(options.device or DEVICES, options.algorithm)
    options.out.write_text(json.dumps(now), encoding="utf-8")
    print(f"{len(now)} renderings, {len(set(now.values()))} different")
    if options.against is None:
        return 0
    before = json.loads(options.against.read_text(encoding="utf-8"))
    missing = sorted(before.keys() ^ now.keys())
    differing = [
        name
        for name in sorted(before.keys() & now.keys())
        if before[name] != now[name] and canonical(before[name]) != canonical(now[name])
    ]
    for name in missing:
        print(f"only {'before' if name in before else 'now'}: {name}")
    for name in differing:
        print(f"differs: {name}")
    print(f"{len(now)} compared, {len(missing)} on one side only, {len(differing)} different")
    return int(bool(missing or differing))


if __name__ == "__main__":
    sys.exit(main())
