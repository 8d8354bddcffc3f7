"""A few words of device memory that the host looks at after every launch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph.device.lazy import cl
from clgraph.device.memory import finish_copy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.device.discovery import Device
    from clgraph.device.memory import Allocation

__all__ = ["Mirror"]


class Mirror:
    """Host copy of a part of an allocation, in memory that the device can write by itself.

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

    Notes
    -----
    A driver reads into pinned memory behind a running kernel; into ordinary memory it makes the
    caller wait, which cost some 25 us for each look on an H200.
    """

    def __init__(self, device: Device, source: Allocation, first: int, count: int) -> None:
        self._queue = device.queue
        self._source = source
        self._offset = 4 * first
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.ALLOC_HOST_PTR
        self._pinned = cl.Buffer(device.context, flags, 4 * count)
        mapped = cl.enqueue_map_buffer(
            self._queue,
            self._pinned,
            cl.map_flags.WRITE,
            0,
            (count,),
            np.dtype(np.uint32),
            is_blocking=True,
        )
        self.words: NDArray[np.uint32] = mapped[0]

    def refresh(self) -> None:
        """Copy the words after everything that was enqueued before, and wait for it.

        Raises
        ------
        ClgraphError
            If the device reports a failure.
        KeyboardInterrupt
            On Ctrl-C; what was enqueued runs on.
        """
        finish_copy(
            cl.enqueue_copy(
                self._queue,
                self.words,
                self._source.buffer,
                src_offset=self._offset,
                is_blocking=False,
            )
        )
