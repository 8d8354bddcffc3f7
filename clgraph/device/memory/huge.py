"""Large pages for arrays of devices that share the host's memory."""

from __future__ import annotations

import ctypes
import functools
import mmap
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device.lazy import cl
from clgraph.device.waiting import wait

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LEAST_BYTES", "advise_huge_pages"]

# Smaller arrays have too few pages to matter; NumPy asks for large ones from here on too.
LEAST_BYTES = 4 << 20
HUGE_PAGE = 2 << 20


def advise_huge_pages(queue: cl.CommandQueue, buffer: cl.Buffer, size_bytes: int) -> bool:
    """Ask the system for large pages under a buffer that nobody has written yet.

    A search reads and writes here and there: with pages of 4 KiB most of its steps also wait for
    the processor to find out where a page is.

    Parameters
    ----------
    queue : pyopencl.CommandQueue
        Of a device whose memory is the host's.
    buffer : pyopencl.Buffer
        Fresh.
    size_bytes : int
        Its size.

    Returns
    -------
    bool
        Whether the system takes such advice, which it need not follow.
    """
    advise = _madvise()
    if advise is None:
        return False
    mapped: Any = cl.enqueue_map_buffer(
        queue,
        buffer,
        cl.map_flags.WRITE_INVALIDATE_REGION,
        0,
        (size_bytes,),
        np.dtype(np.uint8),
        is_blocking=False,
    )
    array, event = mapped
    try:
        wait(event)
        # Whole pages: what else is in the first and the last of them is none the worse for it.
        first = array.ctypes.data // HUGE_PAGE * HUGE_PAGE
        past = -(-(array.ctypes.data + size_bytes) // HUGE_PAGE) * HUGE_PAGE
        # Where nothing is mapped in between it fails, but for the rest it holds.
        advise(first, past - first, mmap.MADV_HUGEPAGE)
    finally:
        wait(array.base.release(queue))
    return True


@functools.cache
def _madvise() -> Callable[[int, int, int], int] | None:
    """Give the system's call, on systems that have it."""
    if not sys.platform.startswith("linux") or not hasattr(mmap, "MADV_HUGEPAGE"):
        return None
    call = ctypes.CDLL(None).madvise
    call.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    call.restype = ctypes.c_int
    found: Callable[[int, int, int], int] = call
    return found
