"""Words of host memory that a kernel writes, where the host polls for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph.device.memory.pinned import Pinned
from clgraph.device.waiting import wait_for_word

if TYPE_CHECKING:
    from clgraph.device.discovery import Device

__all__ = ["Posted", "can_post"]


class Posted:
    """Words that a kernel of a device puts down in host memory, the last of them last.

    A copy begins some microseconds after the launch before it has ended, and as many pass until
    its end is known; both are much of what a launch of some twenty takes.

    Parameters
    ----------
    device : Device
        Whose kernels can write to pinned host memory by its address; see `can_post`.
    count : int
        Words of 32 bits.

    Attributes
    ----------
    words : memoryview
        What was posted last.
    address : numpy.uint64
        Where a kernel writes to.
    """

    def __init__(self, device: Device, count: int) -> None:
        self._queue = device.queue
        self._pinned = Pinned(device, count, np.uint32)
        self._pinned.array[:] = 0
        self._last = count - 1
        self.words = self._pinned.array.data
        self.address = np.uint64(self._pinned.array.ctypes.data)

    def came(self, stamp: int) -> bool:
        """Wait until the last word is this one.

        Returns
        -------
        bool
            False if it was not polled for, or for as long as it is: then wait for the launch.

        Raises
        ------
        KeyboardInterrupt
            On Ctrl-C; what was enqueued runs on.
        """
        return wait_for_word(self.words, self._last, stamp, self._queue)


def can_post(device: Device) -> bool:
    """Tell whether kernels of a device may write to a host's address."""
    return device.traits.memory_ops == "ptx"  # of others that is not known
