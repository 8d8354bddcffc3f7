"""Compilers: what they are given, and what they say."""

from __future__ import annotations

import hashlib
import importlib
import logging
import operator
import os
from typing import TYPE_CHECKING

from clgraph.device.cache import CachedBinary
from clgraph.device.hardware import nvidia
from clgraph.device.lazy import cl
from clgraph.device.programs.asked import what_was_asked
from clgraph.device.programs.builderror import build_error, first_error
from clgraph.device.programs.declared import with_short_list
from clgraph.device.programs.linker import POCL_PLATFORM, check_linker
from clgraph.device.programs.pocl_cache import check_room
from clgraph.errors import KernelBuildError

if TYPE_CHECKING:
    from clgraph.device.discovery import Device

__all__ = [
    "built_from_binary",
    "built_from_source",
    "options_of",
    "sha256",
    "try_building",
    "unoptimised",
]

log = logging.getLogger("clgraph")

NO_OPTIMISING = "-cl-opt-disable"
POCL_ASSERTS = "+Asserts"  # in what PoCL says of its version


def options_of(device: Device) -> tuple[str, ...]:
    """Give what a program is built with: the options of its device, and what is asked for now.

    Over the barriers of emulated lanes, which are of tests, compilers for processors do not take
    optimising well: PoCL's takes minutes for one kernel and has died of another, and Intel's of
    2026 goes on reading memory that it has freed, of which it dies at some later kernel or waits
    for good. They are not let.
    """
    options = device.traits.build_options
    asked = os.environ.get("CLGRAPH_NO_OPTIMISING", "0") not in {"", "0"}
    plain = asked or device.traits.emulated
    return (*options, *unoptimised(device)) if plain else options


def unoptimised(device: Device) -> tuple[str, ...]:
    """Give what has the device's compiler not optimise, beside the options of its traits."""
    there = NO_OPTIMISING in device.traits.build_options
    return () if there or _refuses_dead_arrays(device) else (NO_OPTIMISING,)


def _refuses_dead_arrays(device: Device) -> bool:
    """Whether the compiler aborts at local arrays that only code which is never reached uses.

    So does PoCL 5 where it is built with assertions, as distributions build it: without optimising
    such code goes and its arrays stay.
    """
    return device.platform == POCL_PLATFORM and POCL_ASSERTS in device.platform_version


def built_from_source(
    device: Device, source: str, label: str, options: tuple[str, ...], *, keep: bool
) -> tuple[cl.Program, CachedBinary]:
    """Compile a source; give its binary, if that is to be kept, and what the compiler said.

    Raises
    ------
    KernelBuildError
        If the compiler refuses it.
    """
    try:
        handle = _compiled(device, source, options)
    except _RefusedError as error:
        asked = what_was_asked()
        raise build_error(device, label, asked, source, sha256(source), str(error)) from error
    built = cl.Program(handle)
    in_binary = device.traits.graphics_ip is not None  # what kernels take is said in the binary
    binary = bytes(built.binaries[0]) if keep or in_binary else b""
    text = _build_log(device, handle)
    if device.traits.compute_capability is not None and not nvidia.parse_build_log(text):
        text = _assembler_log(device, binary or bytes(built.binaries[0]), options)
    return built, CachedBinary(binary, text)


def built_from_binary(device: Device, binary: bytes, options: tuple[str, ...]) -> cl.Program:
    """Take what a compiler made of a source before."""
    handle = _raw_program()(device.context, [device.cl], [binary])
    _compile(device, handle, options)
    return cl.Program(handle)


def try_building(device: Device, source: str) -> None:
    """Build a source and forget it.

    Raises
    ------
    KernelBuildError
        If the compiler refuses it; the text is its first complaint.
    """
    try:
        _compiled(device, source, options_of(device))
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


def _assembler_log(device: Device, binary: bytes, options: tuple[str, ...]) -> str:
    """Have a binary assembled again that NVIDIA's driver took from its own cache, for the log."""
    try:
        handle = _raw_program()(device.context, [device.cl], [nvidia.unlike_any_other(binary)])
        _compile(device, handle, options)
    except cl.Error as error:
        log.debug("no figures about a kernel from the assembler: %s", error)
        return ""
    return _build_log(device, handle)


def _build_log(device: Device, handle: cl._cl._Program) -> str:
    try:
        text = handle.get_build_info(device.cl, cl.program_build_info.LOG)
    except (cl.Error, UnicodeDecodeError):
        return ""
    return str(text or "").strip("\0\n ")


def sha256(text: str) -> str:
    """Give the SHA-256 of a text, hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()
