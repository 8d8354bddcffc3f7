"""Copies of large arrays to a device: through pinned memory, by several threads."""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, cast

import numpy as np

from clgraph.device.lazy import cl
from clgraph.device.memory.copying import copied, finish_copy
from clgraph.device.memory.pinned import Pinned
from clgraph.device.native import wait_for_event
from clgraph.device.waiting import keep_the_interpreter, share_the_interpreter, wait
from clgraph.threads import Latch, Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from clgraph.device.opened import Opened

__all__ = ["SMALL_BYTES", "Job", "Pieces", "Staging"]

Outcome = TypeVar("Outcome")
# None as long as it is not made, and the last copy out of it.
Slot: TypeAlias = "tuple[Pinned | None, cl.Event | None]"

# Of 4 to 8 MiB an H200 host fills and sends 50 GB/s by 8 threads, of 2 MiB 29, of 16 MiB 44. To
# read takes more of a core than to copy: by 12 threads, not 8, an H100 host took a tenth less to
# mine a trace (h100-20261127-mining-readers.txt), and as long to upload.
SLOT_BYTES = 8 << 20
LEAST_PIECE_BYTES = 1 << 20  # a thread takes as long to begin one as to fill half of it
SMALL_BYTES = 2 << 20  # take less to stage than to wait for a thread that is at work for others
# Half of them are filled while the other half is on its way.
SLOTS_PER_THREAD = 2
MOST_THREADS = 12
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
        That fill slots; default is one for each core, 12 at most. With 0 the caller's does.

    Notes
    -----
    A slot is filled anew only when the copy out of it has ended: with it waits the event of that
    copy. Slots take milliseconds to make: that is done when none is free, up to two for each, and
    they are kept. So are the threads, which take a tenth of a millisecond each to start; they
    end when this is gone.
    """

    def __init__(
        self, device: Opened, slot_bytes: int = SLOT_BYTES, threads: int | None = None
    ) -> None:
        self.slot_bytes = slot_bytes
        self.threads = min(MOST_THREADS, os.cpu_count() or 1) if threads is None else threads
        self._device = device
        self._free: SimpleQueue[Slot] = SimpleQueue()
        self._unmade: SimpleQueue[None] = SimpleQueue()
        for _ in range(SLOTS_PER_THREAD * max(self.threads, 1)):
            self._unmade.put(None)
        self._jobs: SimpleQueue[object] = SimpleQueue()
        self._starting, self._started = threading.Lock(), 0
        # What the queue is given when this is gone is no job.
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

    def carry_out(self, job: Job[Any]) -> None:
        """Have a thread carry out a job, after those that it was given before."""
        with self._starting:
            while self._started < self.threads:
                Worker(THREAD, partial(_serve, self._jobs, self._end)).start()
                self._started += 1
        self._jobs.put(job)

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
        slot, event = self._take()
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

    def _take(self) -> Slot:
        """Give a slot that is free, else one to be made, else one whose copy is under way."""
        held: Slot | None = None
        try:
            with contextlib.suppress(Empty):
                held = self._free.get_nowait()
            if held is None or _under_way(held):
                with contextlib.suppress(Empty):
                    self._unmade.get_nowait()
                    busy, held = held, (None, None)
                    if busy is not None:
                        self._free.put(busy)
            return self._free.get() if held is None else held
        except BaseException:
            if held is not None:
                self._free.put(held)
            self._free.put((None, None))  # rather one too many than one that is lost
            raise


class Job(Generic[Outcome]):
    """What a thread is to do: not begun, under way, or done.

    Parameters
    ----------
    call : callable
        Does it; gives the result.
    """

    __slots__ = ("_call", "_claim", "_done", "_failure", "_outcome")

    def __init__(self, call: Callable[[], Outcome]) -> None:
        self._call: Callable[[], Outcome] | None = call
        self._outcome: Outcome | None = None
        self._failure: BaseException | None = None
        # Lighter than a future: the threads of the staging share one interpreter.
        self._claim, self._done = threading.Lock(), Latch()

    def carry_out(self) -> None:
        """Do it, unless it was dropped."""
        if self._claim.acquire(blocking=False):
            self.carry_out_here()

    def carry_out_here(self) -> None:
        """Do it in the thread that may also drop it."""
        try:
            if self._call is not None:
                self._outcome = self._call()
        except BaseException as failure:
            self._failure = failure  # raised again where somebody waits for it
        finally:
            self._call = None
            self._done.set()

    def drop(self) -> Outcome | None:
        """Have it not begun, or else wait until it is done; give its result, if any."""
        if self._claim.acquire(blocking=False):
            self._call = None
        else:
            self._done.wait()
        return self._outcome

    def result(self) -> Outcome:
        """Wait until it is done; give what it gave, or raise what failed."""
        self._done.wait()
        if self._failure is not None:
            raise self._failure
        return cast("Outcome", self._outcome)  # who waits for a job has not dropped it


class Pieces:
    """What is sent through a `Staging` while other work goes on, piece by piece in its order.

    Whatever else its threads are to do for the same caller takes its turn among the pieces.
    """

    def __init__(self, staging: Staging, queue: cl.CommandQueue) -> None:
        self._staging = staging
        self._queue = queue
        self._begun: dict[Job[Any], None] = {}

    def send(
        self,
        fill: Callable[[NDArray[np.uint8]], object],
        size_bytes: int,
        buffer: cl.Buffer,
        offset: int,
        *,
        here: bool = False,
    ) -> Job[cl.Event]:
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
        Job
            For `finish`.
        """
        here = here or not self._staging.threads
        piece = Job(
            partial(
                self._staging.fill_and_send,
                *(fill, size_bytes, self._queue, buffer, offset),
                finish=wait if here else _finish_deaf,
            )
        )
        self._begin(piece, here=here)
        return piece

    def give(self, call: Callable[[], Outcome], *, here: bool = False) -> Job[Outcome]:
        """Have a thread carry out a call, or the caller's; give the job for `collect`."""
        job = Job(call)
        self._begin(job, here=here or not self._staging.threads)
        return job

    def _begin(self, job: Job[Any], *, here: bool) -> None:
        self._begun[job] = None
        if here:
            job.carry_out_here()
            job.result()
        else:
            share_the_interpreter(self)
            self._staging.carry_out(job)

    def finish(self, *pieces: Job[cl.Event]) -> None:
        """Wait until some pieces are there.

        Raises
        ------
        KeyboardInterrupt
            On Ctrl-C.
        Exception
            What `fill` raised, or the driver.
        """
        finish_copy(*[piece.result() for piece in pieces])
        self._forget(pieces)

    def collect(self, jobs: Sequence[Job[Outcome]]) -> list[Outcome]:
        """Wait until some jobs are done; give their results.

        Raises
        ------
        KeyboardInterrupt
            On Ctrl-C.
        Exception
            What a call raised.
        """
        found = [job.result() for job in jobs]
        self._forget(jobs)
        return found

    def _forget(self, jobs: Sequence[Job[Any]]) -> None:
        for job in jobs:
            self._begun.pop(job, None)
        if not self._begun:
            keep_the_interpreter(self)

    def end(self) -> None:
        """Drop what was not begun, and wait for the rest, which reads memory of the caller's."""
        try:
            # The last first, or threads would begin what is about to be dropped.
            found = [job.drop() for job in reversed(self._begun)]
            finish_copy(*(event for event in found if isinstance(event, cl.Event)))
        finally:
            self._begun.clear()
            keep_the_interpreter(self)


def _under_way(slot: Slot) -> bool:
    event = slot[1]
    return event is not None and int(event.command_execution_status) > 0


def _finish_deaf(event: cl.Event) -> None:
    """Wait in a thread that no signal is for; one that polls would keep the interpreter."""
    wait_for_event(event.int_ptr)


def _serve(jobs: SimpleQueue[object], end: object) -> None:
    while (job := jobs.get()) is not end:
        cast("Job[Any]", job).carry_out()
        del job
    jobs.put(end)  # for the next thread
