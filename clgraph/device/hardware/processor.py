"""A name for processors that PoCL 3.0 does not know, so that its compiler takes them.

PoCL 3.0, the one that pip installs, holds LLVM 14. It calls a processor that is newer "generic" and
its compiler then refuses that name, so that nothing can be built; or it takes one for an older of
its family, Zen 4 for Zen 3, which has no vectors of 512 bits, while PoCL's own functions are taken
for what the processor has: some kernels then compile for minutes, or to something wrong. No
variable or option changes the name (pocl issues 512 and 1049). The device object has one pointer to
it, beside the one to the name of the platform that code is made for. It is replaced by a pointer to
the level of the x86-64 instruction set that the processor has, which LLVM 14 knows. PoCL looks up
what it has built by this name too, so that machines of different levels can share its cache.

Memory is read and written through the kernel, which answers with an error where a guess is wrong
instead of ending the process. Where anything is not as in that one release nothing is changed.
"""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from clgraph.device.folders import owned_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clgraph.device.lazy import cl

__all__ = ["NAME_PROCESSOR", "instruction_set_level", "name_unknown_processor"]

log = logging.getLogger("clgraph")

NAME_PROCESSOR = "CLGRAPH_NAME_PROCESSOR"
RELEASE = "OpenCL 3.0 PoCL 3.0"  # and no digit behind it
UNKNOWN = b"generic"
TARGET = b"x86_64-"
SEARCHED_BYTES = 1024  # the object is larger, and the pointer is at 640
WORD_BYTES = ctypes.sizeof(ctypes.c_void_p)

# What the x86-64 psABI asks of a level, as /proc/cpuinfo writes it; each has those above it too.
LEVELS = (
    ("x86-64-v2", frozenset({"cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"})),
    (
        "x86-64-v3",
        frozenset({"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"}),
    ),
    ("x86-64-v4", frozenset({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})),
)
HIGHEST = LEVELS[-1][0].encode()
# What LLVM 14 calls those that it knows of the highest level.
OF_HIGHEST = frozenset(
    b"skylake-avx512 cascadelake cooperlake cannonlake icelake-client icelake-server rocketlake "
    b"tigerlake sapphirerapids x86-64-v4".split()
)


def instruction_set_level(flags: frozenset[str]) -> str:
    """Name the highest level of x86-64 that a processor has.

    Parameters
    ----------
    flags : frozenset of str
        Its features, as the line ``flags`` of ``/proc/cpuinfo`` has them.

    Returns
    -------
    str
        "x86-64", "x86-64-v2", "x86-64-v3" or "x86-64-v4".
    """
    level = "x86-64"
    for name, needed in LEVELS:
        if not needed <= flags:
            break
        level = name
    return level


def name_unknown_processor(device: cl.Device) -> str | None:
    """Give PoCL 3.0 a name for the processor where it has none, or that of a lesser one.

    Parameters
    ----------
    device : pyopencl.Device
        Any device, before anything is built for it.

    Returns
    -------
    str or None
        The name that it has now; None where nothing was changed: the driver is another, the
        processor is known, the device object is not as expected, or the environment variable
        ``CLGRAPH_NAME_PROCESSOR`` is 0.
    """
    if os.environ.get(NAME_PROCESSOR, "1") in {"", "0"} or not _is_that_release(device):
        return None
    level = instruction_set_level(_flags())
    with _memory() as memory:
        if memory is None or not _rename(memory, device.int_ptr, level.encode()):
            return None
    log.info("PoCL 3.0 does not know this processor and builds for %s", level)
    return level


def _is_that_release(device: cl.Device) -> bool:
    version = device.platform.version
    behind = version.removeprefix(RELEASE)
    return (
        sys.platform == "linux"
        and WORD_BYTES == 8
        and sys.byteorder == "little"
        and behind != version
        and not behind[:1].isdigit()
        and "LLVM 14." in version
    )


def _flags() -> frozenset[str]:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text("utf-8", errors="replace").splitlines():
            if line.startswith("flags"):
                return frozenset(line.partition(":")[2].split())
    return frozenset()


@contextlib.contextmanager
def _memory() -> Iterator[int | None]:
    """Open the memory of this process as a file; None where that is not allowed."""
    try:
        memory = owned_file(Path("/proc/self/mem"), os.O_RDWR | os.O_CLOEXEC, access="r+b")
    except OSError as error:
        log.debug("the memory of this process cannot be read: %s", error)
        yield None
        return
    with memory:
        yield memory.fileno()


def _rename(memory: int, start: int, name: bytes) -> bool:
    """Point the one word of an object that points to a wrong name at another text.

    The text is never freed: PoCL keeps the pointer for as long as the process lives.
    """
    words = range(start, start + SEARCHED_BYTES, WORD_BYTES)
    texts = {place: _text_at(memory, place) for place in words}
    places = [place for place in words if _text_at(memory, place - WORD_BYTES).startswith(TARGET)]
    called = [texts[place] for place in places]
    if len(called) != 1 or list(texts.values()).count(called[0]) != 1:
        return False
    if not _is_wrong(called[0], name):
        return False
    duplicate = ctypes.CDLL(None).strdup
    duplicate.restype, duplicate.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
    address = duplicate(name)
    if not address:
        return False
    try:
        written = os.pwrite(memory, address.to_bytes(WORD_BYTES, sys.byteorder), places[0])
    except OSError as error:
        log.debug("the name of the processor cannot be written: %s", error)
        return False
    return written == WORD_BYTES


def _is_wrong(called: bytes, level: bytes) -> bool:
    """Whether PoCL calls a processor of this level so only because it does not know it."""
    return called == UNKNOWN or (bool(called) and level == HIGHEST and called not in OF_HIGHEST)


def _text_at(memory: int, place: int) -> bytes:
    """Read the text that a pointer points to; empty where either cannot be read."""
    try:
        pointer = int.from_bytes(os.pread(memory, WORD_BYTES, place), sys.byteorder)
        # A text may end where what can be read does, so no more than its page is asked for.
        return os.pread(memory, min(64, 4096 - pointer % 4096), pointer).partition(b"\0")[0]
    except (OSError, OverflowError):
        return b""
