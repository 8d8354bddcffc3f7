"""Host memory that a device reads and writes by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device.lazy import cl
from clgraph.device.memory import finish_copy
from clgraph.device.observing import copied

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from clgraph.device.discovery import Device
    from clgraph.device.memory import Allocation

__all__ = ["Mirror", "Pinned"]


class Pinned:
    """An array in host memory that does not move, so that copies need nobody's help.

    Parameters
    ----------
    device : Device
        Whose copies it is for.
    count : int
        Elements, at least 1.
    dtype : data type
        Of the elements.

    Attributes
    ----------
    array : numpy.ndarray
        Of `dtype` [count].

    Notes
    -----
    A driver reads into pinned memory behind a running kernel; into ordinary memory it makes the
    caller wait, which cost some 25 us for each look on an H200.
    """

    def __init__(self, device: Device, count: int, dtype: DTypeLike) -> None:
        element = np.dtype(dtype)
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.ALLOC_HOST_PTR
        self._buffer = cl.Buffer(device.context, flags, element.itemsize * count)
        mapped = cl.enqueue_map_buffer(
            device.queue,
            self._buffer,
            cl.map_flags.WRITE,
            0,
            (count,),
            element,
            is_blocking=True,
        )
        self.array: NDArray[Any] = mapped[0]


class Mirror:
    """Host copy of a part of an allocation, a few words that are looked at after every launch.

    Parameters
    ----------
    device : Device
        Where the allocation is.
    source : Allocation
        What to look at, of 32-bit words.
    first, count : int
        Which words of it.

    Attributes
    ----------
    words : numpy.ndarray
        uint32 [count], as of the last `refresh`.
    """

    def __init__(self, device: Device, source: Allocation, first: int, count: int) -> None:
        self._queue = device.queue
        self._source = source
        self._offset = 4 * first
        self._pinned = Pinned(device, count, np.uint32)
        self.words: NDArray[np.uint32] = self._pinned.array

    def refresh(self) -> None:
        """Copy the words after everything that was enqueued before, and wait for it.

        Raises
        ------
        ClgraphError
            If the device reports a failure.
        KeyboardInterrupt
            On Ctrl-C; what was enqueued runs on.
        """
        finish_copy(self.enqueue())

    def enqueue(self) -> cl.Event:
        """Copy the words after everything that was enqueued before; `finish_copy` waits for it."""
        event = cl.enqueue_copy(
            self._queue,
            self.words,
            self._source.buffer,
            src_offset=self._offset,
            is_blocking=False,
        )
        return copied(event, self.words.nbytes)
