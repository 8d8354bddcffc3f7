"""A look at a few words of device memory after every launch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device.forks import check_process
from clgraph.device.memory.copying import copied, finish_copy
from clgraph.device.memory.pinned import Pinned
from clgraph.device.native import NativeError, ReadHandle
from clgraph.errors import ClgraphError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from clgraph.device.discovery import Device
    from clgraph.device.lazy import cl
    from clgraph.device.memory.allocation import Allocation

__all__ = ["Mirror"]


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
    beyond : int
        Words of host memory behind these, for others.

    Attributes
    ----------
    words : numpy.ndarray
        uint32 [count], as of the last `refresh`.
    meanwhile : callable or None
        What `wait_for_word` is to call, where that is how words are waited for.
    """

    meanwhile: Callable[[], object] | None = None

    def __init__(
        self, device: Device, source: Allocation, first: int, count: int, beyond: int = 0
    ) -> None:
        self._queue = device.queue
        self._source = source.buffer
        self._pinned = Pinned(device, count + beyond, np.uint32)
        self.words: NDArray[np.uint32] = self._pinned.array[:count]
        self._size_bytes = self.words.nbytes
        # pyopencl's call takes several times as long: this is a large part of a short run.
        self._read = ReadHandle(
            *(self._queue.int_ptr, self._source.int_ptr),
            *(4 * first, self._size_bytes, self.words.ctypes.data),
        )

    def refresh(self, beside: Mirror | None = None) -> None:
        """Copy the words after everything that was enqueued before, and wait for it.

        Parameters
        ----------
        beside : Mirror, optional
            What is refreshed with it, at the cost of one wait.

        Raises
        ------
        ClgraphError
            If the device reports a failure.
        KeyboardInterrupt
            On Ctrl-C; what was enqueued runs on.
        """
        # As `ask` and `came`, whose calls cost what a short run has to count.
        self._queue.flush()
        own = self.enqueue
        finish_copy(*((own(),) if beside is None else (beside.enqueue(), own())), queue=self._queue)

    def ask(self, beside: Mirror | None = None) -> Any:
        """Begin what `refresh` does; `came` waits for what this gives."""
        self._queue.flush()  # what was launched begins while the copy of the words is enqueued
        if beside is None:
            return (self.enqueue(),)
        return beside.enqueue(), self.enqueue()

    def came(self, asked: Any) -> None:
        """Wait for what was asked for last, and raise what `refresh` does."""
        finish_copy(*asked, queue=self._queue)

    def enqueue(self) -> cl.Event:
        """Copy the words after everything that was enqueued before; `finish_copy` waits for it."""
        check_process()
        try:
            event = self._read.enqueue()
        except NativeError as error:
            raise ClgraphError(f"what a launch has left behind cannot be read: {error}") from error
        return copied(event, self._size_bytes)
