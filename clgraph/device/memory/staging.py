"""Copies of large arrays to a device: through pinned memory, by several threads."""

from __future__ import annotations

import contextlib
import os
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING

import numpy as np

from clgraph.device.lazy import cl
from clgraph.device.memory.copying import copied, finish_copy
from clgraph.device.memory.pinned import Pinned
from clgraph.device.native import wait_for_event
from clgraph.device.waiting import sharing_the_interpreter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from clgraph.device.opened import Opened

__all__ = ["Pieces", "Staging"]

SLOT_BYTES = 8 << 20  # of 4 MiB an H200 host fills 19 GB/s with 8 threads, of 8 MiB 29
# Half of them are filled while the other half is on its way.
SLOTS_PER_THREAD = 2
MOST_THREADS = 8
LONGEST_DEAFNESS_S = 0.1
THREAD = "clgraph-staging"


class Staging:
    """Pinned memory through which arrays go to a device.

    A driver copies ordinary memory into pinned memory of its own before it sends it, by one thread
    and not while it sends: a tenth of what the bus carries. Here several threads fill slots, and
    whoever finds none free waits for one.

    Parameters
    ----------
    device : Opened
        Where to copy to.
    slot_bytes : int
        The largest piece that goes at once.
    threads : int, optional
        That fill slots; default is one for each core, 8 at most. With 0 the caller's does.

    Notes
    -----
    A slot is filled anew only when the copy out of it has ended: with it waits the event of that
    copy. Slots are made when first needed, two for each thread, and kept.
    """

    def __init__(
        self, device: Opened, slot_bytes: int = SLOT_BYTES, threads: int | None = None
    ) -> None:
        self.slot_bytes = slot_bytes
        self.threads = min(MOST_THREADS, os.cpu_count() or 1) if threads is None else threads
        self._device = device
        self._free: SimpleQueue[tuple[Pinned | None, cl.Event | None]] = SimpleQueue()
        for _ in range(SLOTS_PER_THREAD * max(self.threads, 1)):
            self._free.put((None, None))

    @contextlib.contextmanager
    def pieces(self, queue: cl.CommandQueue) -> Iterator[Pieces]:
        """Start threads that send pieces by a queue; those not begun at the end are dropped."""
        threads = ThreadPoolExecutor(self.threads, THREAD) if self.threads else None
        pieces = Pieces(self, queue, threads)
        with sharing_the_interpreter():
            try:
                yield pieces
            finally:
                # What is under way reads memory of the caller's, who may free it.
                if threads is not None:
                    threads.shutdown(cancel_futures=True)
                pieces.end()

    def write(
        self, buffer: cl.Buffer, source: NDArray[np.uint8], report: Callable[[int], object]
    ) -> None:
        """Copy bytes over the first ones of a buffer, and wait until they are there.

        Parameters
        ----------
        buffer : pyopencl.Buffer
            Large enough.
        source : numpy.ndarray
            uint8 [bytes].
        report : callable
            Called with the number of bytes that have been sent, after each piece.

        Raises
        ------
        KeyboardInterrupt
            On Ctrl-C; what was on its way arrives.
        """
        with self.pieces(self._device.queue) as pieces:
            sent = []
            for start in range(0, len(source), self.slot_bytes):
                part = source[start : start + self.slot_bytes]
                piece = pieces.send(partial(np.copyto, src=part), len(part), buffer, start)
                sent.append((start + len(part), piece))
            for end, piece in sent:
                pieces.finish(piece)
                report(end)

    def fill_and_send(
        self,
        fill: Callable[[NDArray[np.uint8]], object],
        size_bytes: int,
        queue: cl.CommandQueue,
        buffer: cl.Buffer,
        offset: int,
    ) -> cl.Event:
        """Have `fill` write up to a slot of bytes, and copy them to a byte offset of a buffer."""
        slot, event = self._free.get()
        try:
            if event is not None:
                # Not a wait that polls: that would keep the interpreter from the other threads.
                wait_for_event(event.int_ptr)
                event = None
            if slot is None:
                slot = Pinned(self._device, self.slot_bytes, np.uint8)
            part = slot.array[:size_bytes]
            fill(part)
            event = cl.enqueue_copy(queue, buffer, part, dst_offset=offset, is_blocking=False)
            copied(event, size_bytes)
            queue.flush()
            return event
        finally:
            self._free.put((slot, event))


class Pieces:
    """What is sent through a `Staging` while other work goes on, piece by piece in its order."""

    def __init__(
        self, staging: Staging, queue: cl.CommandQueue, threads: ThreadPoolExecutor | None
    ) -> None:
        self._staging = staging
        self._queue = queue
        self._threads = threads
        self._sent: dict[Future[cl.Event], None] = {}

    def send(
        self,
        fill: Callable[[NDArray[np.uint8]], object],
        size_bytes: int,
        buffer: cl.Buffer,
        offset: int,
    ) -> Future[cl.Event]:
        """Have a thread send a piece.

        Parameters
        ----------
        fill : callable
            Writes the bytes into pinned memory, uint8 [size_bytes].
        size_bytes : int
            At most those of a slot.
        buffer : pyopencl.Buffer
            Where to.
        offset : int
            Byte of `buffer` at which they begin.

        Returns
        -------
        concurrent.futures.Future
            Of the event of the copy, for `finish`.
        """
        send = partial(self._staging.fill_and_send, fill, size_bytes, self._queue, buffer, offset)
        if self._threads is None:
            piece: Future[cl.Event] = Future()
            piece.set_result(send())
        else:
            piece = self._threads.submit(send)
        self._sent[piece] = None
        return piece

    def finish(self, *pieces: Future[cl.Event]) -> None:
        """Wait until some pieces are there.

        Raises
        ------
        KeyboardInterrupt
            On Ctrl-C.
        Exception
            What `fill` raised, or the driver.
        """
        finish_copy(*[_result(piece) for piece in pieces])
        for piece in pieces:
            self._sent.pop(piece, None)

    def end(self) -> None:
        """Wait for the copies of what was sent, once no thread is at work any more."""
        done = [piece for piece in self._sent if not piece.cancelled()]
        finish_copy(*(piece.result() for piece in done if piece.exception() is None))
        self._sent.clear()


def _result(piece: Future[cl.Event]) -> cl.Event:
    """Wait for a thread, answering Ctrl-C."""
    while True:
        try:
            return piece.result(timeout=LONGEST_DEAFNESS_S)
        except TimeoutError:
            if piece.done():
                raise
