"""Words of device memory that a kernel puts down in host memory, where the host polls for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph.device.forks import check_process
from clgraph.device.memory.mirror import Mirror
from clgraph.device.programs.program import load
from clgraph.device.waiting import wait_for_word

if TYPE_CHECKING:
    from clgraph.device.discovery import Device
    from clgraph.device.memory.allocation import Allocation

__all__ = ["Posted", "mirror"]

GROUP_SIZE = 256
STAMP_AT = 4  # place of the kernel's argument that is another one in every launch
STAMPS = 1 << 32


class Posted(Mirror):
    """A mirror that needs no copy: a kernel writes the words to where the host polls.

    A copy begins some microseconds after the launch before it has ended, and as many pass until
    its end is known; both are much of what a launch of some twenty takes.

    Parameters
    ----------
    device, source, first, count
        As of a `Mirror`. Kernels of the device can write to pinned host memory by its address.
    """

    def __init__(self, device: Device, source: Allocation, first: int, count: int) -> None:
        super().__init__(device, source, first, count, beyond=1)
        group_size = device.traits.group_of(GROUP_SIZE)
        self._group_size = group_size
        self._kernel = load(device, "primitives/post.cl", group_size=group_size).kernel(
            "post_words"
        )
        address = np.uint64(self.words.ctypes.data)
        self._arguments = (self._source, np.uint32(first), np.uint32(count), address)
        self._bound = ((STAMP_AT,), object())
        self._box = self._pinned.array.data
        self._stamp = int(self._box[count])

    def refresh(self, beside: Mirror | None = None) -> None:
        """Have the words posted after everything that was enqueued before, and wait for them.

        Parameters, Raises
            As of a `Mirror`. The launch that posts them may not be known to have ended.
        """
        if beside is not None:
            super().refresh(beside)
            return
        check_process()
        self._queue.flush()  # what was launched begins while this is enqueued
        self._stamp = stamp = (self._stamp + 1) % STAMPS
        event = self._kernel.launch(
            self._group_size,
            self._group_size,
            *self._arguments,
            np.uint32(stamp),
            observed=False,
            bound=self._bound,
        )
        self._queue.flush()
        if not wait_for_word(self._box, len(self.words), stamp, event):
            super().refresh()


def mirror(device: Device, source: Allocation, first: int, count: int) -> Mirror:
    """Give the mirror that shows these words soonest."""
    # Of others it is not known that a kernel may write to a host's address.
    kind = Posted if device.traits.memory_ops == "ptx" else Mirror
    return kind(device, source, first, count)
