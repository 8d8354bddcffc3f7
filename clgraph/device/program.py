"""Programs: rendered, built, cached, and launched."""

from __future__ import annotations

import hashlib
import logging
import operator
import os
import threading
from typing import TYPE_CHECKING, Any

from clgraph.device.memory import Allocation
from clgraph.device.opencl import cl
from clgraph.device.sources import render
from clgraph.errors import KernelBuildError

if TYPE_CHECKING:
    from clgraph.device.discovery import Device

__all__ = ["Kernel", "Program", "load"]

log = logging.getLogger("clgraph")


class Kernel:
    """One entry point of a program, with arguments of its own."""

    def __init__(self, device: Device, program: cl.Program, name: str) -> None:
        self.name = name
        self.device = device
        self.registers: int | None = None
        self.spill_bytes: int | None = None
        self._kernel = cl.Kernel(program, name)
        info = cl.kernel_work_group_info
        self.local_bytes: int | None = int(
            self._kernel.get_work_group_info(info.LOCAL_MEM_SIZE, device.cl)
        )
        self.max_group_size: int | None = int(
            self._kernel.get_work_group_info(info.WORK_GROUP_SIZE, device.cl)
        )

    def launch(self, global_size: int, group_size: int, *args: Any) -> cl.Event:
        """Enqueue the kernel on the device's queue."""
        kernel = self._kernel
        for index, arg in enumerate(args):
            kernel.set_arg(index, arg.buffer if isinstance(arg, Allocation) else arg)
        return cl.enqueue_nd_range_kernel(self.device.queue, kernel, (global_size,), (group_size,))


class Program:
    """A rendered and built source."""

    def __init__(self, device: Device, source: str, label: str) -> None:
        from pyopencl._cl import _Program

        self.device = device
        self.source = source
        self.source_hash = hashlib.sha256(source.encode()).hexdigest()
        options = " ".join(device.traits.build_options).encode()
        program = _Program(device.context, source)
        try:
            operator.methodcaller("_build", options, [device.cl])(program)
        except cl.Error as error:
            text = program.get_build_info(device.cl, cl.program_build_info.LOG)
            raise KernelBuildError(f"{label} did not compile on {device.name}:\n{text}") from error
        self._program = cl.Program(program)

    def kernel(self, name: str) -> Kernel:
        """Give a new kernel object for the entry point `name`."""
        return Kernel(self.device, self._program, name)


_programs: dict[tuple[object, str], Program] = {}
_lock = threading.Lock()


def load(device: Device, name: str, **params: object) -> Program:
    """Render a kernel file for a device and build it."""
    check = os.environ.get("CLGRAPH_CHECK", "0") not in {"", "0"}
    source = render(name, traits=device.traits, check=check, **params)
    key = (device, source)
    with _lock:
        program = _programs.get(key)
        if program is None:
            program = _programs[key] = Program(device, source, name)
    return program
