"""Programs: rendered for a device, built once, and cached."""

from __future__ import annotations

import functools
import hashlib
import importlib
import json
import logging
import operator
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
from clgraph.device.programs.asked import what_was_asked
from clgraph.device.programs.builderror import build_error, first_error
from clgraph.device.programs.declared import with_short_list
from clgraph.device.programs.kernel import Kernel
from clgraph.device.programs.linker import POCL_PLATFORM, check_linker
from clgraph.device.programs.pocl_cache import check_room, remove_what_is_cut_off
from clgraph.device.rendering.sources import render
from clgraph.errors import KernelBuildError

if TYPE_CHECKING:
    from clgraph.device.discovery import Device
    from clgraph.device.programs import checks
    from clgraph.device.rendering import checked
    from clgraph.device.rendering.checked import CheckedSource
else:
    checked = OnFirstUse("clgraph.device.rendering.checked")
    checks = OnFirstUse("clgraph.device.programs.checks")

__all__ = ["Program", "build", "cache_key", "load", "try_building"]

log = logging.getLogger("clgraph")

NO_OPTIMISING = "-cl-opt-disable"
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
        self.source_hash = _sha256(source)
        self.build_log = cached.build_log
        self.from_cache = False
        self.checked: CheckedSource | None = None
        self._built = built
        self._uses = nvidia.parse_build_log(cached.build_log)
        if device.traits.graphics_ip is not None:
            self._uses = amd.parse_binary(cached.binary)

    def kernel(self, name: str, device: Device | None = None) -> Kernel:
        """Give an entry point.

        Parameters
        ----------
        name : str
            What the source calls it.
        device : Device, optional
            Whose queue launches go to: the program's own, or another from `Device.beside`.

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
        where = device or self.device
        try:
            kernel = Kernel(where, self._built.int_ptr, name, self._uses.get(name))
        except NativeError as error:
            if not self._build_anew(name):
                raise KernelBuildError(
                    f"{self.label} has no kernel {name!r} on {self.device.name}: {error}"
                ) from error
            kernel = Kernel(where, self._built.int_ptr, name, self._uses.get(name))
        kernel.program = self
        if self.checked is not None:
            kernel.checks = checks.Checks(device or self.device, name, self.checked, self.source)
        return kernel

    def _build_anew(self, name: str) -> bool:
        """Build again where PoCL's own cache may have lost a kernel; False where it has not."""
        text = self.checked.text if self.checked else self.source
        if self.device.platform != POCL_PLATFORM or not re.search(rf"\b{name}\s*\(", text):
            return False
        log.warning("PoCL's kernel cache holds a damaged %s, which is built again", self.label)
        # Its cache goes by the text without comments, so another one is not found there.
        another = f"{text}\nint anew_{secrets.token_hex(8)}(int);\n"
        built, _ = _from_source(self.device, another, self.label, _options(self.device), keep=False)
        self._built = built
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
    **params : object
        What the file is rendered with, beside ``traits`` (the device's `DeviceTraits`) and
        ``check`` (True where ``CLGRAPH_CHECK=1`` asks for bounds checks). A name without a value is
        an error.

    Returns
    -------
    Program
        The same object for the same device and rendered source.

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
    source = render(name, {"traits": device.traits, "check": _checking(), **params}, folders)
    return build(device, source, label=name)


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
        The same object for the same device, source and options.

    Raises
    ------
    KernelBuildError
        If the compiler refuses it, or it needs 64-bit atomics and the device has none.

    Notes
    -----
    With ``CLGRAPH_CHECK=1`` what is built has bounds checks, see
    `clgraph.device.rendering.checked`. With ``CLGRAPH_NO_OPTIMISING=1`` compilers do not optimise
    and take a tenth of the time.
    """
    check_process()
    check = _checking()
    options = (*_options(device), *more)
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
    return program


def _check_wide_atomics(device: Device, source: str, label: str) -> None:
    """Refuse what a compiler without 64-bit atomics refuses in its own words, of which are many."""
    if not device.traits.int64_atomics and WIDE_ATOMIC.search(source):
        raise KernelBuildError(
            f"{label} needs 64-bit atomics (cl_khr_int64_base_atomics), which "
            f"{device.name} does not have; choose another device, such as 'cpu'."
        )


def _checking() -> bool:
    return os.environ.get("CLGRAPH_CHECK", "0") not in {"", "0"}


def _options(device: Device) -> tuple[str, ...]:
    """Give what a program is built with: the options of its device, and what is asked for now."""
    options = device.traits.build_options
    if os.environ.get("CLGRAPH_NO_OPTIMISING", "0") in {"", "0"} or NO_OPTIMISING in options:
        return options
    return (*options, NO_OPTIMISING)


def _obtain(device: Device, source: str, label: str, options: tuple[str, ...]) -> Program:
    cache = named_cache("programs") if _gains_from_disk(device) else None
    key = cache_key(device, source, options)
    cached = cache.load(key) if cache else None
    if cached is not None:
        try:
            built = _from_binary(device, cached.binary, options)
        except cl.Error as error:
            log.warning("%s: the driver refuses its cached binary: %s", label, error)
        else:
            program = Program(device, label, source, built, cached)
            program.from_cache = True
            return program
    began = time.time()
    built, fresh = _from_source(device, source, label, options, keep=cache is not None)
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


def _from_source(
    device: Device, source: str, label: str, options: tuple[str, ...], *, keep: bool
) -> tuple[cl.Program, CachedBinary]:
    try:
        handle = _compiled(device, source, options)
    except _RefusedError as error:
        asked = what_was_asked()
        raise build_error(device, label, asked, source, _sha256(source), str(error)) from error
    built = cl.Program(handle)
    in_binary = device.traits.graphics_ip is not None  # what kernels take is said in the binary
    binary = bytes(built.binaries[0]) if keep or in_binary else b""
    text = _build_log(device, handle)
    if device.traits.compute_capability is not None and not nvidia.parse_build_log(text):
        text = _assembler_log(device, binary or bytes(built.binaries[0]), options)
    return built, CachedBinary(binary, text)


def _assembler_log(device: Device, binary: bytes, options: tuple[str, ...]) -> str:
    """Have a binary assembled again that NVIDIA's driver took from its own cache, for the log."""
    try:
        handle = _raw_program()(device.context, [device.cl], [nvidia.unlike_any_other(binary)])
        _compile(device, handle, options)
    except cl.Error as error:
        log.debug("no figures about a kernel from the assembler: %s", error)
        return ""
    return _build_log(device, handle)


def try_building(device: Device, source: str) -> None:
    """Build a source and forget it.

    Raises
    ------
    KernelBuildError
        If the compiler refuses it; the text is its first complaint.
    """
    try:
        _compiled(device, source, _options(device))
    except _RefusedError as error:
        raise KernelBuildError(first_error(str(error))) from error


class _RefusedError(Exception):
    """A compiler refuses a source; whatever else keeps it from being built is another error."""


def _compiled(device: Device, source: str, options: tuple[str, ...]) -> cl._cl._Program:
    """Compile a source, with the short list of OpenCL C's functions where that is enough.

    Raises
    ------
    _RefusedError
        If the compiler refuses it; the text is all that it says.
    """
    short = with_short_list(device.platform_version, source)
    if short is not None:
        text, more = short
        handle = _raw_program()(device.context, text)
        try:
            _compile(device, handle, (*options, more))
        except cl.Error as error:
            log.debug("built again with every function of OpenCL C declared: %s", error)
        else:
            return handle
    handle = _raw_program()(device.context, source)
    try:
        _compile(device, handle, options)
    except cl.Error as error:
        raise _RefusedError(_build_log(device, handle) or str(error)) from error
    return handle


def _from_binary(device: Device, binary: bytes, options: tuple[str, ...]) -> cl.Program:
    handle = _raw_program()(device.context, [device.cl], [binary])
    _compile(device, handle, options)
    return cl.Program(handle)


def _raw_program() -> type[cl._cl._Program]:
    """Get the class below ``pyopencl.Program``, which has no cache in front of its builds."""
    raw: type[cl._cl._Program] = operator.attrgetter("_Program")(
        importlib.import_module("pyopencl._cl")
    )
    return raw


def _compile(device: Device, handle: cl._cl._Program, options: tuple[str, ...]) -> None:
    check_linker(device.platform, is_cpu=device.traits.is_cpu)
    if device.platform == POCL_PLATFORM:
        check_room()
    # The public build() turns every remark of a compiler into a Python warning.
    operator.methodcaller("_build", " ".join(options).encode(), [device.cl])(handle)


def _build_log(device: Device, handle: cl._cl._Program) -> str:
    try:
        text = handle.get_build_info(device.cl, cl.program_build_info.LOG)
    except (cl.Error, UnicodeDecodeError):
        return ""
    return str(text or "").strip("\0\n ")


def cache_key(device: Device, source: str, options: tuple[str, ...] | None = None) -> str:
    """Give the name under which a program is kept, which no other device or driver has."""
    parts = [
        source,
        *(_options(device) if options is None else options),
        device.name,
        device.vendor,
        device.platform,
        device.platform_version,
        device.cl.version,
        device.driver,
        _processor() if device.traits.is_cpu else "",
    ]
    return _sha256(json.dumps(parts))


@functools.cache
def _processor() -> str:
    """Keep processors apart whose binaries differ: a home folder may be shared between machines."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    about = ("model name", "flags", "Features", "CPU part")
    lines = {line for line in text.splitlines() if line.startswith(about)}
    return _sha256("\n".join(sorted(lines)))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
