"""Programs: rendered for a device, built once, and cached."""

from __future__ import annotations

import copy
import functools
import json
import logging
import os
import platform
import re
import secrets
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from clgraph.device.cache import CachedBinary, named_cache
from clgraph.device.forks import check_process
from clgraph.device.hardware import amd, nvidia
from clgraph.device.lazy import OnFirstUse, cl
from clgraph.device.native import NativeError
from clgraph.device.programs.compiling import (
    built_from_binary,
    built_from_source,
    options_of,
    sha256,
)
from clgraph.device.programs.kernel import Kernel
from clgraph.device.programs.linker import POCL_PLATFORM
from clgraph.device.programs.pocl_cache import remove_what_is_cut_off
from clgraph.device.rendering.sources import render
from clgraph.errors import InvalidArgumentError, KernelBuildError

if TYPE_CHECKING:
    from clgraph.device.discovery import Device
    from clgraph.device.programs import checks
    from clgraph.device.rendering import checked
    from clgraph.device.rendering.checked import CheckedSource
else:
    checked = OnFirstUse("clgraph.device.rendering.checked")
    checks = OnFirstUse("clgraph.device.programs.checks")

__all__ = ["Program", "build", "cache_key", "checking", "load"]

log = logging.getLogger("clgraph")

# What OpenCL C calls them; those of 32 bits are atomic_add and so on.
WIDE_ATOMIC = re.compile(r"\batom_\w+\(")


class Program:
    """A built source; made by `load` and `build`.

    Attributes
    ----------
    device : Device
        What it was built for.
    label : str
        File of the kernel.
    source : str
        The rendered OpenCL C.
    source_hash : str
        SHA-256 of it, hexadecimal.
    build_log : str
        What the compiler said, also where the binary came from the cache.
    from_cache : bool
        Whether the binary came from disk.
    checked : CheckedSource or None
        What was built instead of `source`, where accesses are checked.
    """

    def __init__(
        self, device: Device, label: str, source: str, built: cl.Program, cached: CachedBinary
    ) -> None:
        self.device = device
        self.label = label
        self.source = source
        self.source_hash = sha256(source)
        self.build_log = cached.build_log
        self.from_cache = False
        self.checked: CheckedSource | None = None
        self._built = built
        self._uses = nvidia.parse_build_log(cached.build_log)
        if device.traits.graphics_ip is not None:
            self._uses = amd.parse_binary(cached.binary)

    def on(self, device: Device) -> Program:
        """Give the same for an equal device, whose queue may be another: see `Device.beside`."""
        if device is self.device:
            return self
        same = copy.copy(self)
        same.device = device
        return same

    def kernel(self, name: str) -> Kernel:
        """Give an entry point, which is launched on the queue of the program's device.

        Parameters
        ----------
        name : str
            What the source calls it.

        Returns
        -------
        Kernel
            A new object with arguments of its own: two plans that hold one each do not disturb
            each other.

        Raises
        ------
        KernelBuildError
            If the program has no such kernel.
        """
        try:
            kernel = Kernel(self.device, self._built.int_ptr, name, self._uses.get(name))
        except NativeError as error:
            if not self._build_anew(name):
                raise KernelBuildError(
                    f"{self.label} has no kernel {name!r} on {self.device.name}: {error}"
                ) from error
            kernel = Kernel(self.device, self._built.int_ptr, name, self._uses.get(name))
        kernel.program = self
        if self.checked is not None:
            kernel.checks = checks.Checks(self.device, name, self.checked, self.source)
        return kernel

    def _build_anew(self, name: str) -> bool:
        """Build again where PoCL's own cache may have lost a kernel; False where it has not."""
        text = self.checked.text if self.checked else self.source
        if self.device.platform != POCL_PLATFORM or not re.search(rf"\b{name}\s*\(", text):
            return False
        log.warning("PoCL's kernel cache holds a damaged %s, which is built again", self.label)
        # Its cache goes by the text without comments, so another one is not found there.
        another = f"{text}\nint anew_{secrets.token_hex(8)}(int);\n"
        options = options_of(self.device)
        self._built, _ = built_from_source(self.device, another, self.label, options, keep=False)
        return True

    def binary(self) -> bytes:
        """Give what the driver made of it; of NVIDIA's this is the assembler's text."""
        return bytes(self._built.binaries[0])


_programs: dict[tuple[Device, tuple[str, ...], str, bool], Program] = {}
_building = threading.Lock()


def load(
    device: Device,
    name: str,
    /,
    *,
    folders: tuple[Path, ...] = (),
    registers: int = 0,
    **params: object,
) -> Program:
    """Render a kernel file for a device and build it, or take it from a cache.

    Parameters
    ----------
    device : Device
        What to build for.
    name : str
        Path of the file below ``kernels_cl/``, for example ``"bfs/bfs.cl"``.
    folders : tuple of pathlib.Path
        Folders that are searched before ``kernels_cl/`` and ``templates/``.
    registers : int
        What a work-item of a kernel that does not say its work-groups' size may take at most, where
        compilers can be told; 0 for as many as the compiler likes.
    **params : object
        What the file is rendered with, beside ``traits`` (the device's `DeviceTraits`) and
        ``check`` (True where ``CLGRAPH_CHECK=1`` asks for bounds checks). A name without a value is
        an error.

    Returns
    -------
    Program
        The same object for the same device and rendered source; for an equal one, with a queue of
        its own, what launches there.

    Raises
    ------
    KernelBuildError
        If the file cannot be rendered, or the compiler refuses it: the message shows the rendered
        lines it complains about and where the whole rendered source was kept.

    Notes
    -----
    Rendered texts are kept, see `clgraph.device.rendering.renderings`. Building takes 0.03 to 2 s
    once; afterwards the binary is on disk below `clgraph.device.folders.cache_root`, or where PoCL
    keeps its own. pyopencl's own cache, which unpickles what it finds, takes no part.
    """
    source = render(name, {"traits": device.traits, "check": checking(), **params}, folders)
    more = nvidia.register_limit(device.traits.compute_capability, registers)
    return build(device, source, label=name, more=more)


def build(device: Device, source: str, *, label: str, more: tuple[str, ...] = ()) -> Program:
    """Build OpenCL C for a device, or take it from a cache.

    Parameters
    ----------
    device : Device
        What to build for.
    source : str
        The whole text.
    label : str
        What errors call it.
    more : tuple of str
        Options for the compiler beside those of the device.

    Returns
    -------
    Program
        The same object for the same device, source and options, as of `load`.

    Raises
    ------
    KernelBuildError
        If the compiler refuses it, or it needs 64-bit atomics and the device has none.

    Notes
    -----
    With ``CLGRAPH_CHECK=1`` what is built has bounds checks, see
    `clgraph.device.rendering.checked`. With ``CLGRAPH_NO_OPTIMISING=1`` compilers do not optimise
    and take a tenth of the time, but where they would end the process (see
    `clgraph.device.programs.compiling`).
    """
    check_process()
    check = checking()
    options = tuple(dict.fromkeys((*options_of(device), *more)))
    place = (device, options, source, check)
    with _building:
        program = _programs.get(place)
        if program is None:
            _check_wide_atomics(device, source, label)
            rewritten = checked.checked_source(source) if check else None
            text = rewritten.text if rewritten else source
            program = _obtain(device, text, label, options)
            program.source, program.checked = source, rewritten
            _programs[place] = program
    return program.on(device)


def _check_wide_atomics(device: Device, source: str, label: str) -> None:
    """Refuse what a compiler without 64-bit atomics refuses in its own words, of which are many."""
    if not device.traits.int64_atomics and WIDE_ATOMIC.search(source):
        raise KernelBuildError(
            f"{label} needs 64-bit atomics (cl_khr_int64_base_atomics), which "
            f"{device.name} does not have; choose another device, such as 'cpu'."
        )


def checking() -> bool:
    """Tell whether kernels are built with bounds checks, which know only their arrays."""
    return os.environ.get("CLGRAPH_CHECK", "0") not in {"", "0"}


def refuse_checking(what: str, why: str = "whose kernels do more than they are to do") -> None:
    """Raise what says that something and kernels with bounds checks exclude each other."""
    if checking():
        raise InvalidArgumentError(
            f"{what} is not for CLGRAPH_CHECK=1, {why}; leave one of them out."
        )


def _obtain(device: Device, source: str, label: str, options: tuple[str, ...]) -> Program:
    cache = named_cache("programs") if _gains_from_disk(device) else None
    key = cache_key(device, source, options)
    cached = cache.load(key) if cache else None
    if cached is not None:
        try:
            built = built_from_binary(device, cached.binary, options)
        except cl.Error as error:
            log.warning("%s: the driver refuses its cached binary: %s", label, error)
        else:
            program = Program(device, label, source, built, cached)
            program.from_cache = True
            return program
    began = time.time()
    built, fresh = built_from_source(device, source, label, options, keep=cache is not None)
    if device.platform == POCL_PLATFORM:
        remove_what_is_cut_off(key, began)
    if cache and fresh.binary:
        about = {"label": label, "device": device.name, "driver": device.driver}
        cache.store(key, fresh, about)
    return Program(device, label, source, built, fresh)


def _gains_from_disk(device: Device) -> bool:
    """Report whether to keep a device's binaries on disk.

    Oclgrind builds in no time, and its reports quote the source that it built from. PoCL keeps what
    it builds itself, and compiles a further variant of every kernel when asked for its binaries.
    """
    return not device.is_simulator and device.platform != POCL_PLATFORM


def cache_key(device: Device, source: str, options: tuple[str, ...] | None = None) -> str:
    """Give the name under which a program is kept, which no other device or driver has."""
    parts = [
        source,
        *(options_of(device) if options is None else options),
        device.name,
        device.vendor,
        device.platform,
        device.platform_version,
        device.cl.version,
        device.driver,
        _processor() if device.traits.is_cpu else "",
    ]
    return sha256(json.dumps(parts))


@functools.cache
def _processor() -> str:
    """Keep processors apart whose binaries differ: a home folder may be shared between machines."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    about = ("model name", "flags", "Features", "CPU part")
    lines = {line for line in text.splitlines() if line.startswith(about)}
    return sha256("\n".join(sorted(lines)))
