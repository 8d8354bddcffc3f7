"""Words of device memory that a kernel puts down in host memory, where the host polls for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph.device.forks import check_process
from clgraph.device.memory.allocator import Memory
from clgraph.device.memory.mirror import Mirror
from clgraph.device.programs.program import load
from clgraph.device.waiting import wait, wait_for_word

if TYPE_CHECKING:
    from clgraph.device.discovery import Device
    from clgraph.device.memory.allocation import Allocation

__all__ = ["Posted", "mirror"]

GROUP_SIZE = 256
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
        size = device.traits.group_of(GROUP_SIZE)
        program = load(device, "primitives/post.cl", group_size=size)
        self._kernel = program.kernel("post_words", device)  # on the queue that is looked at
        self._box = self._pinned.array.data
        # How many posts there were, by what the device says and by what was asked for.
        self._posts = Memory(device).upload("posts", np.zeros(1, np.uint32))
        address = np.uint64(self.words.ctypes.data)
        numbers = (np.uint32(first), np.uint32(count), address)
        wait(self._kernel.launch(size, size, self._source, *numbers, self._posts, observed=False))
        self._stamp = 1

    def refresh(self, beside: Mirror | None = None) -> None:
        """Have the words posted after everything that was enqueued before, and wait for them.

        Parameters, Raises
            As of a `Mirror`. What was enqueued may not be known to have ended.
        """
        if beside is None:
            check_process()
            self._stamp = stamp = (self._stamp + 1) % STAMPS
            self._kernel.again()
            if wait_for_word(self._box, len(self.words), stamp, self._queue):
                return
        super().refresh(beside)
        self._stamp = self._box[len(self.words)]  # all posts came before


def mirror(device: Device, source: Allocation, first: int, count: int) -> Mirror:
    """Give the mirror that shows these words soonest."""
    # Of others it is not known that a kernel may write to a host's address.
    kind = Posted if device.traits.memory_ops == "ptx" else Mirror
    return kind(device, source, first, count)
