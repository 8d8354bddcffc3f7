"""Questions to the OpenCL library that pyopencl has no call for."""

from __future__ import annotations

import ctypes
import functools
import importlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clgraph.device.lazy import cl

__all__ = ["loader_library", "loader_version", "sub_group_sizes"]

SUB_GROUP_SIZES = 0x4108  # CL_DEVICE_SUB_GROUP_SIZES_INTEL
LOADER_VERSION, LOADER_NAME = 2, 3  # cl_icdl_info of the extension cl_loader_info


@functools.cache
def _library() -> ctypes.CDLL:
    """Open the extension module of pyopencl, through which its OpenCL loader can be called."""
    return ctypes.CDLL(str(importlib.import_module("pyopencl._cl").__file__))


def sub_group_sizes(device: cl.Device) -> tuple[int, ...]:
    """List the sub-group sizes that a kernel may require, ascending; empty where unknown."""
    handle, size = ctypes.c_void_p(device.int_ptr), ctypes.c_size_t(0)
    ask = _library().clGetDeviceInfo
    if ask(handle, SUB_GROUP_SIZES, ctypes.c_size_t(0), None, ctypes.byref(size)) != 0:
        return ()
    sizes = (ctypes.c_size_t * (size.value // ctypes.sizeof(ctypes.c_size_t)))()
    if ask(handle, SUB_GROUP_SIZES, size, sizes, None) != 0:
        return ()
    return tuple(sorted(sizes))


def loader_library() -> str:
    """Find the file of the OpenCL loader in this process; empty where that cannot be told."""
    _library()
    maps = Path("/proc/self/maps")
    if not maps.exists():
        return ""
    found = re.search(r"(/\S*libOpenCL\S*)$", maps.read_text(encoding="utf-8"), re.MULTILINE)
    return found.group(1) if found else ""


def loader_version() -> str:
    """Ask the loader for its name and version; empty if it does not say."""
    find = _library().clGetExtensionFunctionAddress
    find.restype = ctypes.c_void_p
    address = find(b"clGetICDLoaderInfoOCLICD")
    if not address:
        return ""
    signature = ctypes.CFUNCTYPE(
        ctypes.c_int, ctypes.c_uint, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_void_p
    )
    ask, words = signature(address), []
    for what in (LOADER_NAME, LOADER_VERSION):
        text = ctypes.create_string_buffer(256)
        if ask(what, len(text), text, None) == 0:
            words.append(text.value.decode(errors="replace"))
    return " ".join(words)
