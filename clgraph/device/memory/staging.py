"""Copies of large arrays to a device: through pinned memory, by several threads."""

from __future__ import annotations

import functools
import itertools
import os
import threading
from typing import TYPE_CHECKING

import numpy as np

from clgraph.device.lazy import cl
from clgraph.device.memory.copying import copied, finish_copy
from clgraph.device.memory.pinned import Pinned

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from clgraph.device.opened import Opened

__all__ = ["Staging"]

SLOT_BYTES = 4 << 20
# Each fills one slot while another is on its way.
SLOTS_PER_THREAD = 2
MOST_THREADS = 4


class Staging:
    """Pinned memory through which arrays go to a device.

    A driver copies ordinary memory into pinned memory of its own before it sends it, by one thread
    and not while it sends: a tenth of what the bus carries.

    Parameters
    ----------
    device : Opened
        Where to copy to.
    slot_bytes : int
        What goes at once.
    """

    def __init__(self, device: Opened, slot_bytes: int = SLOT_BYTES) -> None:
        self._device = device
        self._slot_bytes = slot_bytes
        self._lock = threading.Lock()

    @functools.cached_property
    def _slots(self) -> list[list[NDArray[np.uint8]]]:
        threads = min(MOST_THREADS, os.cpu_count() or 1)
        return [
            [
                Pinned(self._device, self._slot_bytes, np.uint8).array
                for _ in range(SLOTS_PER_THREAD)
            ]
            for _ in range(threads)
        ]

    def write(
        self, buffer: cl.Buffer, source: NDArray[np.uint8], told: Callable[[int], object]
    ) -> None:
        """Copy bytes over the first ones of a buffer, and wait until they are there.

        Parameters
        ----------
        buffer : pyopencl.Buffer
            Large enough.
        source : numpy.ndarray
            uint8 [bytes].
        told : callable
            Called with the number of bytes that have been sent, now and then.

        Raises
        ------
        KeyboardInterrupt
            On Ctrl-C; what was on its way arrives.
        """
        with self._lock:
            Transfer(self._device.queue, buffer, source, self._slot_bytes).run(self._slots, told)


class Transfer:
    """One copy: its pieces, taken by whichever thread has a slot free."""

    def __init__(
        self, queue: cl.CommandQueue, buffer: cl.Buffer, source: NDArray[np.uint8], piece: int
    ) -> None:
        self._queue = queue
        self._buffer = buffer
        self._source = source
        self._piece = piece
        self._starts = iter(range(0, len(source), piece))
        self._taking = threading.Lock()
        self._failures: list[BaseException] = []

    def run(self, slots: list[list[NDArray[np.uint8]]], told: Callable[[int], object]) -> None:
        """Copy everything: the caller's thread takes part."""
        others = [threading.Thread(target=self._help, args=(own,)) for own in slots[1:]]
        try:
            for thread in others:
                thread.start()
            self._send(slots[0], told)
        except BaseException as error:
            self._failures.append(error)
            raise
        finally:
            for thread in others:
                if thread.ident is not None:
                    thread.join()  # each ends after the pieces that it has in flight
        if self._failures:
            raise self._failures[0]

    def _help(self, slots: list[NDArray[np.uint8]]) -> None:
        try:
            self._send(slots, int)
        except BaseException as error:  # the caller's thread raises it
            self._failures.append(error)

    def _send(self, slots: list[NDArray[np.uint8]], told: Callable[[int], object]) -> None:
        flying: list[cl.Event | None] = [None] * len(slots)
        try:
            for place in itertools.cycle(range(len(slots))):
                start = self._next()
                if start is None:
                    break
                event, flying[place] = flying[place], None
                if event is not None:
                    finish_copy(event)
                piece = self._source[start : start + self._piece]
                slots[place][: len(piece)] = piece
                sent = cl.enqueue_copy(
                    self._queue,
                    self._buffer,
                    slots[place][: len(piece)],
                    dst_offset=start,
                    is_blocking=False,
                )
                flying[place] = copied(sent, len(piece))
                self._queue.flush()
                told(start + len(piece))
        finally:
            finish_copy(*(event for event in flying if event is not None))

    def _next(self) -> int | None:
        with self._taking:
            return None if self._failures else next(self._starts, None)
