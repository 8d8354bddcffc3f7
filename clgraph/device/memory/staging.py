"""Copies of large arrays to a device: through pinned memory, by several threads."""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, cast

import numpy as np

from clgraph.device.lazy import cl
from clgraph.device.memory.copying import copied, finish_copy
from clgraph.device.memory.pinned import Pinned
from clgraph.device.native import wait_for_event
from clgraph.device.waiting import keep_the_interpreter, share_the_interpreter, wait

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from clgraph.device.opened import Opened

__all__ = ["Piece", "Pieces", "Staging"]

# Of 4 to 8 MiB an H200 host fills and sends 50 GB/s by 8 threads, of 2 MiB 29, of 16 MiB 44.
SLOT_BYTES = 8 << 20
LEAST_PIECE_BYTES = 1 << 20  # a thread takes as long to begin one as to fill half of it
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
    copy. Slots are made when first needed, two for each thread, and kept. So are the threads, which
    take a tenth of a millisecond each to start; they end when this is gone.
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
        self._jobs: SimpleQueue[object] = SimpleQueue()
        self._starting, self._started = threading.Lock(), 0
        # What the queue is given when this is gone is no piece.
        self._end = weakref.ref(self, self._jobs.put)

    def piece_bytes(self, size_bytes: int) -> int:
        """Give how long pieces of so many bytes are at most, so that all threads have some."""
        share = -(-size_bytes // max(self.threads, 1))
        return min(max(share, LEAST_PIECE_BYTES), self.slot_bytes)

    @contextlib.contextmanager
    def pieces(self, queue: cl.CommandQueue) -> Iterator[Pieces]:
        """Send pieces by a queue; those not begun at the end are dropped."""
        pieces = Pieces(self, queue)
        try:
            yield pieces
        finally:
            pieces.end()

    def carry_out(self, piece: Piece) -> None:
        """Have a thread send a piece."""
        with self._starting:
            while self._started < self.threads:
                threading.Thread(
                    target=_serve, args=(self._jobs, self._end), name=THREAD, daemon=True
                ).start()
                self._started += 1
        self._jobs.put(piece)

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
        finish: Callable[[cl.Event], object],
    ) -> cl.Event:
        """Have `fill` write up to a slot of bytes, and copy them to a byte offset of a buffer.

        `finish` waits for the copy that was the last out of that slot.
        """
        slot, event = self._free.get()
        try:
            if event is not None and event.command_execution_status > 0:
                finish(event)
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


class Piece:
    """Bytes on their way: not begun, under way, or sent.

    Parameters
    ----------
    send : callable
        Fills a slot and enqueues its copy; gives the event of that.
    """

    __slots__ = ("_claim", "_done", "_event", "_failure", "_send")

    def __init__(self, send: Callable[[], cl.Event]) -> None:
        self._send: Callable[[], cl.Event] | None = send
        self._event: cl.Event | None = None
        self._failure: BaseException | None = None
        # Lighter than a future: the threads of the staging share one interpreter.
        self._claim, self._done = threading.Lock(), threading.Lock()
        self._done.acquire()

    def carry_out(self) -> None:
        """Send it, unless it was dropped."""
        if self._claim.acquire(blocking=False):
            self.carry_out_here()

    def carry_out_here(self) -> None:
        """Send it in the thread that may also drop it."""
        try:
            if self._send is not None:
                self._event = self._send()
        except BaseException as failure:
            self._failure = failure  # raised again where somebody waits for it
        finally:
            self._send = None
            self._done.release()

    def drop(self) -> cl.Event | None:
        """Have it not sent, or else wait until it is; give the event of its copy, if any."""
        if self._claim.acquire(blocking=False):
            self._send = None
        else:
            self._wait()
        return self._event

    def _wait(self) -> None:
        # Not every system interrupts a lock that is waited for without a limit.
        while not self._done.acquire(timeout=LONGEST_DEAFNESS_S):
            pass
        self._done.release()

    def result(self) -> cl.Event:
        """Wait until it is sent; give the event of its copy, or raise what failed."""
        self._wait()
        if self._failure is not None:
            raise self._failure
        assert self._event is not None  # noqa: S101 (who waits for a piece has not dropped it)
        return self._event


class Pieces:
    """What is sent through a `Staging` while other work goes on, piece by piece in its order."""

    def __init__(self, staging: Staging, queue: cl.CommandQueue) -> None:
        self._staging = staging
        self._queue = queue
        self._sent: dict[Piece, None] = {}

    def send(
        self,
        fill: Callable[[NDArray[np.uint8]], object],
        size_bytes: int,
        buffer: cl.Buffer,
        offset: int,
        *,
        here: bool = False,
    ) -> Piece:
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
        here : bool
            Whether the caller's thread sends it, ahead of those that wait for a thread.

        Returns
        -------
        Piece
            For `finish`.
        """
        here = here or not self._staging.threads
        piece = Piece(
            partial(
                self._staging.fill_and_send,
                *(fill, size_bytes, self._queue, buffer, offset),
                finish=wait if here else _finish_deaf,
            )
        )
        self._sent[piece] = None
        if here:
            piece.carry_out_here()
            piece.result()
        else:
            share_the_interpreter(self)
            self._staging.carry_out(piece)
        return piece

    def finish(self, *pieces: Piece) -> None:
        """Wait until some pieces are there.

        Raises
        ------
        KeyboardInterrupt
            On Ctrl-C.
        Exception
            What `fill` raised, or the driver.
        """
        finish_copy(*[piece.result() for piece in pieces])
        for piece in pieces:
            self._sent.pop(piece, None)
        if not self._sent:
            keep_the_interpreter(self)

    def end(self) -> None:
        """Drop what was not begun, and wait for the rest, which reads memory of the caller's."""
        try:
            # The last first, or threads would begin what is about to be dropped.
            events = [piece.drop() for piece in reversed(self._sent)]
            finish_copy(*(event for event in events if event is not None))
        finally:
            self._sent.clear()
            keep_the_interpreter(self)


def _finish_deaf(event: cl.Event) -> None:
    """Wait in a thread that no signal is for; one that polls would keep the interpreter."""
    wait_for_event(event.int_ptr)


def _serve(jobs: SimpleQueue[object], end: object) -> None:
    while (piece := jobs.get()) is not end:
        cast("Piece", piece).carry_out()
        del piece
    jobs.put(end)  # for the next thread
