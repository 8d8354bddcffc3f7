"""Words that a kernel writes to host memory, where the host polls for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device.forks import check_process
from clgraph.device.memory.allocator import Memory
from clgraph.device.memory.mirror import Mirror
from clgraph.device.memory.pinned import Pinned
from clgraph.device.programs.program import checking, load
from clgraph.device.waiting import wait, wait_for_word

if TYPE_CHECKING:
    from clgraph.device.discovery import Device
    from clgraph.device.memory.allocation import Allocation

__all__ = ["Posted", "PostedMirror", "can_post", "mirror"]

GROUP_SIZE = 256
STAMPS = 1 << 32


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


class PostedMirror(Mirror):
    """A mirror that needs no copy: a small kernel writes the words to where the host polls.

    Parameters
    ----------
    device, source, first, count
        As of a `Mirror`; see `can_post`.
    """

    def __init__(self, device: Device, source: Allocation, first: int, count: int) -> None:
        super().__init__(device, source, first, count, beyond=1)
        size = device.traits.group_of(GROUP_SIZE)
        program = load(device, "primitives/post.cl", group_size=size)
        self._kernel = program.kernel("post_words")
        self._box, self._last = self._pinned.array.data, count
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
        self.came(self.ask(beside))

    def ask(self, beside: Mirror | None = None) -> Any:
        """Begin what `refresh` does; `came` waits for what this gives."""
        if beside is not None:
            return super().ask(beside)
        check_process()
        self._stamp = stamp = (self._stamp + 1) % STAMPS
        self._kernel.again()
        return stamp

    def came(self, asked: Any) -> None:
        """Wait for what was asked for last, and raise what `refresh` does."""
        if isinstance(asked, int):
            if wait_for_word(self._box, self._last, asked, self._queue, self.meanwhile):
                return
            asked = super().ask()
        super().came(asked)
        self._stamp = self._box[self._last]  # all posts came before


def can_post(device: Device) -> bool:
    """Tell whether kernels of a device may write to a host's address."""
    # Of others that is not known; and no array that bounds checks know of lies there.
    return device.traits.memory_ops == "ptx" and not checking()


def mirror(device: Device, source: Allocation, first: int, count: int) -> Mirror:
    """Give the mirror that shows these words soonest."""
    kind = PostedMirror if can_post(device) else Mirror
    return kind(device, source, first, count)
