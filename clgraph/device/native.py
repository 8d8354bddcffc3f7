"""Calls to the OpenCL library that pyopencl has no call for, or none that can be used here.

Kernels are made and launched from here because every `pyopencl.Kernel` consults a cache of pickled
Python code in the user's cache folder: planted code would run, and where that folder cannot be
written to no kernel can be made at all.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import re
import sys
import threading
import weakref
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

from clgraph.device.lazy import cl

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "KernelHandle",
    "NativeError",
    "ReadHandle",
    "execution_units",
    "loader_library",
    "loader_version",
    "sub_group_sizes",
]

# Numbers from the headers of OpenCL and of its extensions.
DEVICE_SUB_GROUP_SIZES_INTEL = 0x4108
DEVICE_NUM_EUS_PER_SUB_SLICE_INTEL = 0x4254
DEVICE_NUM_THREADS_PER_EU_INTEL = 0x4255
KERNEL_NUM_ARGS = 0x1191
KERNEL_WORK_GROUP_SIZE = 0x11B0
KERNEL_LOCAL_MEM_SIZE = 0x11B2
LOADER_VERSION, LOADER_NAME = 2, 3


class NativeError(Exception):
    """An OpenCL call failed; the text names the call and the error."""

    def __init__(self, call: str, status: int) -> None:
        names = [name for name, code in vars(cl.status_code).items() if code == status]
        super().__init__(f"{call} failed: {names[0] if names else status}")
        self.status = status


@functools.cache
def _library() -> ctypes.CDLL:
    """Open the OpenCL loader that pyopencl is linked with."""
    if sys.platform == "win32":
        return ctypes.WinDLL("OpenCL")
    return ctypes.CDLL(str(importlib.import_module("pyopencl._cl").__file__))


@functools.cache
def _function(name: str, *arguments: type, result: type = ctypes.c_int) -> Callable[..., int]:
    function: Callable[..., int] = ctypes.CFUNCTYPE(result, *arguments)((name, _library()))
    return function


_pointer, _size, _uint = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint
_SIZES = {count: _size(count) for count in (4, 8)}  # of most arguments of kernels


def sub_group_sizes(device: cl.Device) -> tuple[int, ...]:
    """List the sub-group sizes that a kernel may require, ascending; empty where unknown."""
    ask = _function("clGetDeviceInfo", _pointer, _uint, _size, _pointer, _pointer)
    size = _size(0)
    what = DEVICE_SUB_GROUP_SIZES_INTEL
    if ask(device.int_ptr, what, 0, None, ctypes.byref(size)) != 0:
        return ()
    sizes = (_size * (size.value // ctypes.sizeof(_size)))()
    if ask(device.int_ptr, what, size, sizes, None) != 0:
        return ()
    return tuple(sorted(sizes))


def execution_units(device: cl.Device) -> tuple[int, int]:
    """Ask an Intel GPU how many execution units run a work-group together, and their threads.

    Returns
    -------
    units, threads : int
        Units of a sub-slice and hardware threads of a unit; zeros where it does not say.
    """
    ask = _function("clGetDeviceInfo", _pointer, _uint, _size, _pointer, _pointer)
    answers = []
    for what in (DEVICE_NUM_EUS_PER_SUB_SLICE_INTEL, DEVICE_NUM_THREADS_PER_EU_INTEL):
        value = _uint(0)
        status = ask(device.int_ptr, what, ctypes.sizeof(value), ctypes.byref(value), None)
        answers.append(value.value if status == 0 else 0)
    units, threads = answers
    return (units, threads) if units and threads else (0, 0)


def new_context(device: int) -> int:
    """Make a context for the device at this address, without the interpreter; 0 if it fails.

    pyopencl keeps the interpreter meanwhile, so that no other thread gets on.
    """
    create = _function(
        "clCreateContext",
        *(_pointer, _uint, _pointer, _pointer, _pointer, _pointer),
        result=ctypes.c_void_p,
    )
    place, status = _pointer(device), ctypes.c_int(0)
    address = create(None, 1, ctypes.byref(place), None, None, ctypes.byref(status))
    return address if status.value == 0 and address else 0


def loader_library() -> str:
    """Find the file of the OpenCL loader in this process; empty where that is not known."""
    _library()
    maps = Path("/proc/self/maps")
    if not maps.exists():
        return ""
    found = re.search(r"(/.*libOpenCL\S*)$", maps.read_text(encoding="utf-8"), re.MULTILINE)
    return found.group(1) if found else ""


def loader_version() -> str:
    """Ask the loader for its name and version; empty if it does not say."""
    find = _function("clGetExtensionFunctionAddress", ctypes.c_char_p, result=_pointer)
    address = find(b"clGetICDLoaderInfoOCLICD")
    if not address:
        return ""
    signature = ctypes.CFUNCTYPE(ctypes.c_int, _uint, _size, ctypes.c_char_p, _pointer)
    ask, words = signature(address), []
    for what in (LOADER_NAME, LOADER_VERSION):
        text = ctypes.create_string_buffer(256)
        if ask(what, len(text), text, None) == 0:
            words.append(text.value.decode(errors="replace"))
    return " ".join(words)


def wait_for_event(event: int) -> None:
    """Block until the command of the event at this address has ended, well or not.

    Unlike pyopencl's ``wait`` this has no C++ frames, which a thread that the interpreter ends at
    exit must not have on its stack.
    """
    place = _pointer(event)
    _function("clWaitForEvents", _uint, _pointer)(1, ctypes.byref(place))


# Kernels by their handles, and the handles that are gone. Python code in a finalizer would swallow
# Ctrl-C, so this one only notes; who makes the next kernel releases.
_owned: dict[weakref.ref[KernelHandle], int] = {}
_ended: deque[weakref.ref[KernelHandle]] = deque()
_releasing = threading.Lock()


def _release_ended() -> None:
    release = _function("clReleaseKernel", _pointer)
    with _releasing:
        while _ended:
            # Forgotten first: interrupted in between it is never released, and not twice.
            address = _owned.pop(_ended[0], None)
            if address is not None:
                release(address)
            _ended.popleft()


class KernelHandle:
    """An OpenCL kernel object, released some time after this one is gone.

    Parameters
    ----------
    program : int
        Address of a built ``cl_program``.
    name : str
        Name of the entry point.
    queue : int
        Address of the ``cl_command_queue`` that it is launched on.

    Raises
    ------
    NativeError
        If there is no such entry point.
    """

    def __init__(self, program: int, name: str, queue: int) -> None:
        create = _function(
            "clCreateKernel", _pointer, ctypes.c_char_p, _pointer, result=ctypes.c_void_p
        )
        status = ctypes.c_int(0)
        self.address = create(program, name.encode(), ctypes.byref(status))
        if status.value != 0 or not self.address:
            raise NativeError("clCreateKernel", status.value)
        _release_ended()
        _owned[weakref.ref(self, _ended.append)] = self.address
        # To convert arguments took longer than the rest of a call: they are made once, as what they
        # are handed over as.
        self._set, self._enqueue = _function("clSetKernelArg"), _function("clEnqueueNDRangeKernel")
        self._kernel = _pointer(self.address)
        self._global_size, self._group_size, self._event = _size(0), _size(0), _pointer(None)
        sizes = ctypes.byref(self._global_size), ctypes.byref(self._group_size)
        launch = (_pointer(queue), self._kernel, 1, None, *sizes, 0, None)
        self._launch = (*launch, ctypes.byref(self._event))
        self._launch_unseen = (*launch, None)
        self._word = _uint(0)
        self._first_word = (self._kernel, _uint(0), _size(4), ctypes.byref(self._word))

    def argument_count(self) -> int:
        """Ask how many parameters the kernel has."""
        return self._ask("clGetKernelInfo", KERNEL_NUM_ARGS)

    def local_bytes(self, device: cl.Device) -> int:
        """Ask how much local memory the kernel declares, per work-group."""
        return self._ask("clGetKernelWorkGroupInfo", KERNEL_LOCAL_MEM_SIZE, device.int_ptr)

    def max_group_size(self, device: cl.Device) -> int:
        """Ask for the largest work-group that the kernel can be launched with."""
        return self._ask("clGetKernelWorkGroupInfo", KERNEL_WORK_GROUP_SIZE, device.int_ptr)

    def _ask(self, call: str, what: int, *device: int) -> int:
        about = [_pointer] * (1 + len(device))
        ask = _function(call, *about, _uint, _size, _pointer, _pointer)
        value = ctypes.c_uint64(0)  # some answers are only half as wide, and low bytes come first
        status = ask(self.address, *device, what, 8, ctypes.byref(value), None)
        if status != 0:
            raise NativeError(call, status)
        return value.value

    def set_bytes(self, index: int, value: bytes) -> None:
        """Set an argument to a value, or to the address of a buffer, as it lies in memory."""
        status = self._set(self._kernel, index, _SIZES.get(len(value)) or _size(len(value)), value)
        if status != 0:
            raise NativeError(f"clSetKernelArg({index})", status)

    def set_local(self, index: int, size_bytes: int) -> None:
        """Set an argument to so much local memory."""
        status = self._set(self._kernel, index, _size(size_bytes), None)
        if status != 0:
            raise NativeError(f"clSetKernelArg({index})", status)

    def enqueue(self, global_size: int, group_size: int) -> cl.Event:
        """Launch the kernel; the caller holds a lock."""
        self._global_size.value, self._group_size.value = global_size, group_size
        status = self._enqueue(*self._launch)
        if status != 0:
            raise NativeError("clEnqueueNDRangeKernel", status)
        return cl.Event.from_int_ptr(int(self._event.value or 0), retain=False)

    def set_first(self, word: int) -> None:
        """Hand over another first argument of 32 bits; the caller holds a lock."""
        self._word.value = word
        status = self._set(*self._first_word)
        if status != 0:
            raise NativeError("clSetKernelArg(0)", status)

    def enqueue_unseen(self, *sizes: int) -> None:
        """Launch the kernel with no event, by default in the sizes of the launch before.

        A driver that takes times of what has an event spends twice as long on it. The caller holds
        a lock.
        """
        if sizes:
            self._global_size.value, self._group_size.value = sizes
        status = self._enqueue(*self._launch_unseen)
        if status != 0:
            raise NativeError("clEnqueueNDRangeKernel", status)


class ReadHandle:
    """A copy from a buffer to host memory that is enqueued again and again.

    Unlike pyopencl's, its event holds nothing: dropping it does not wait, and both memories have to
    be kept by whoever has this.

    Parameters
    ----------
    queue, buffer : int
        Addresses of the ``cl_command_queue`` and of the ``cl_mem``.
    offset, size_bytes : int
        What part of the buffer.
    target : int
        Address of the host memory, which does not move.
    """

    def __init__(self, queue: int, buffer: int, offset: int, size_bytes: int, target: int) -> None:
        self._read = _function("clEnqueueReadBuffer")
        self._event = _pointer(None)
        part = _size(offset), _size(size_bytes)
        self._copy = (
            *(_pointer(queue), _pointer(buffer), 0, *part),
            *(_pointer(target), 0, None, ctypes.byref(self._event)),
        )

    def enqueue(self) -> cl.Event:
        """Enqueue the copy; one thread at a time."""
        status = self._read(*self._copy)
        if status != 0:
            raise NativeError("clEnqueueReadBuffer", status)
        return cl.Event.from_int_ptr(int(self._event.value or 0), retain=False)
