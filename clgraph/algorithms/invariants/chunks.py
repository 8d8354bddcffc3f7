"""Getting a trace onto a device, part after part, while earlier parts are mined."""

from __future__ import annotations

import os
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.invariants.expressions import NUMERIC, Kind
from clgraph.device import Memory, Pinned
from clgraph.device.lazy import cl
from clgraph.device.memory import finish_copy
from clgraph.errors import DeviceMemoryError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from clgraph.algorithms.invariants.trace import Trace
    from clgraph.device import Allocation, Device

__all__ = ["Chunk", "Chunks"]

ELEMENT_BYTES = 4
MULTIPLE = 64  # elements; a common multiple of all vector widths
FIRST_ELEMENTS = 1 << 16  # of the first chunk, after which little is left to mine in most traces
DIRECT_CHUNKS = 8  # times as long are parts that need no copy
LOOKAHEAD = 2  # chunks on their way while another is mined
SLOTS = LOOKAHEAD + 1
KEPT_SHARE = 0.9  # of the free device memory that a whole trace may take
MOST_STAGING_THREADS = 8
LONGEST_DEAFNESS_S = 0.1


@dataclass(frozen=True, slots=True)
class Span:
    """Elements [begin, end) of the rows of one of the traces."""

    trace: int
    begin: int
    end: int

    @property
    def padded(self) -> int:
        """Elements with those that repeat the last instant."""
        return -(-(self.end - self.begin) // MULTIPLE) * MULTIPLE


@dataclass(frozen=True, slots=True)
class Chunk:
    """Rows on the device.

    Attributes
    ----------
    buffer : Allocation or pyopencl.Buffer
        The rows one after the other.
    stride, first, elements : int
        Distance of rows, where each begins and how long each is, in elements; all are multiples of
        64.
    number : int
        Which part of the traces it is.
    """

    buffer: Any
    stride: int
    first: int
    elements: int
    number: int


class Chunks:
    """The rows of one kind of some traces, as often as one asks for them.

    Parameters
    ----------
    device : Device
        Where to.
    traces : sequence of Trace
        Of the same variables.
    kind : {"numeric", "boolean"}
        Which rows.
    chunk_bytes : int
        Roughly, of a chunk.

    Attributes
    ----------
    kept : bool
        Whether the device has room for all of it, so that each part is copied once.
    copied_bytes : int
        So far.

    Notes
    -----
    Parts are copied when they are first asked for, so what nobody looks at is not copied. A thread
    fills pinned memory and enqueues copies on a queue of its own; memory is filled anew only after
    the copy out of it has ended. Where the device computes on the host's own memory and a trace is
    prepared for it, nothing is copied at all.
    """

    def __init__(
        self, device: Device, traces: Sequence[Trace], kind: Kind, chunk_bytes: int
    ) -> None:
        self.device = device
        self.traces = traces
        self.kind = kind
        self.variables = traces[0].count(kind)
        self.copied_bytes = 0
        self.stage_s = 0.0
        self._memory = Memory(device)
        self._dtype = np.dtype(np.float32 if kind == NUMERIC else np.uint32)
        total = sum(t.elements(kind) for t in traces) * self.variables * ELEMENT_BYTES
        free = self._memory.free_bytes
        self.kept = total <= KEPT_SHARE * free
        limit = free if self.kept else free // (2 * SLOTS)
        chunk_bytes = min(chunk_bytes, limit, device.traits.max_alloc_bytes)
        self._chunk = chunk_bytes // (self.variables * ELEMENT_BYTES) // MULTIPLE * MULTIPLE
        if self._chunk < MULTIPLE:
            raise DeviceMemoryError(
                f"the rows of {self.variables} variables need "
                f"{2 * SLOTS * self.variables * MULTIPLE * ELEMENT_BYTES} bytes on {device.name} "
                f"for {MULTIPLE} instants at a time, where {free} are free; mine fewer variables."
            )
        self._direct = self._wrap() if self.kept else None
        if self._direct:
            self._chunk *= DIRECT_CHUNKS
        self._spans = self._cut()
        self._held: dict[int, Allocation] = {}
        self._copies = None if self._direct else device.beside()
        self._slots: list[Allocation] = []
        self._pinned: list[Pinned] = []
        self._events: list[tuple[cl.Event, ...]] = [()] * SLOTS

    def _cut(self) -> list[Span]:
        spans: list[Span] = []
        for number, trace in enumerate(self.traces):
            begin, length = 0, trace.elements(self.kind)
            while begin < length:
                size = self._chunk if spans else min(self._chunk, FIRST_ELEMENTS)
                spans.append(Span(number, begin, min(begin + size, length)))
                begin += size
        return spans

    def _wrap(self) -> list[cl.Buffer] | None:
        """Give the prepared rows of all traces as buffers, where that takes no copy."""
        rows = [trace.rows(self.kind) for trace in self.traces]
        if not self.device.traits.is_cpu or not all(part.prepared for part in rows):
            return None
        largest = self.device.traits.max_alloc_bytes
        if self.device.is_simulator or any(part.values.nbytes > largest for part in rows):
            return None
        flags = cl.mem_flags.READ_ONLY | cl.mem_flags.USE_HOST_PTR
        return [cl.Buffer(self.device.context, flags, hostbuf=part.values) for part in rows]

    def __iter__(self) -> Iterator[Chunk]:
        """Go through the traces from the first instant to the last."""
        if self._direct:
            for number, span in enumerate(self._spans):
                stride = self.traces[span.trace].rows(self.kind).values.shape[1]
                yield Chunk(self._direct[span.trace], stride, span.begin, span.padded, number)
            return
        if len(self._held) == len(self._spans):
            for number, span in enumerate(self._spans):
                yield Chunk(self._held[number], span.padded, 0, span.padded, number)
            return
        threads = min(os.cpu_count() or 1, MOST_STAGING_THREADS)
        with ThreadPoolExecutor(1) as sender, ThreadPoolExecutor(threads) as fillers:
            yield from self._copied(sender, fillers)

    def _copied(self, sender: ThreadPoolExecutor, fillers: ThreadPoolExecutor) -> Iterator[Chunk]:
        coming: dict[int, Future[tuple[Allocation, tuple[cl.Event, ...]]]] = {}
        try:
            for number, span in enumerate(self._spans):
                # Nothing is sent ahead of the first look: it may be the last.
                ahead = number + (LOOKAHEAD if number else 0)
                for other in range(number, min(ahead + 1, len(self._spans))):
                    if other not in coming:
                        coming[other] = sender.submit(self._send, other, fillers)
                buffer, events = _result(coming.pop(number))
                finish_copy(*events)
                yield Chunk(buffer, span.padded, 0, span.padded, number)
        finally:
            for future in coming.values():
                future.cancel()
            sender.shutdown(wait=True)
            finish_copy(*(event for events in self._events for event in events))

    def _send(
        self, number: int, fillers: ThreadPoolExecutor
    ) -> tuple[Allocation, tuple[cl.Event, ...]]:
        if number in self._held:
            return self._held[number], ()
        span = self._spans[number]
        buffer = self._target(number, span)
        assert self._copies is not None  # noqa: S101 (for mypy: there is a queue where _send is used)
        queue = self._copies.queue
        rows = self.traces[span.trace].rows(self.kind)
        whole = span.begin + span.padded <= rows.values.shape[1]
        if rows.pinned is not None and rows.prepared and whole:
            events = tuple(
                cl.enqueue_copy(
                    queue,
                    buffer.buffer,
                    rows.values[variable, span.begin : span.begin + span.padded],
                    dst_offset=variable * span.padded * ELEMENT_BYTES,
                    is_blocking=False,
                )
                for variable in range(self.variables)
            )
        else:
            events = (self._send_staged(number, span, buffer, queue, fillers),)
        queue.flush()
        self._events[number % SLOTS] = events
        self.copied_bytes += self.variables * span.padded * ELEMENT_BYTES
        if self.kept:
            self._held[number] = buffer
        return buffer, events

    def _send_staged(
        self,
        number: int,
        span: Span,
        buffer: Allocation,
        queue: cl.CommandQueue,
        fillers: ThreadPoolExecutor,
    ) -> cl.Event:
        finish_copy(*self._events[number % SLOTS])
        began = time.perf_counter()
        staged = self._staging(number, self.variables * span.padded)
        table = staged.reshape(self.variables, span.padded)
        trace = self.traces[span.trace]

        def fill(variable: int) -> None:
            trace.stage(self.kind, variable, span.begin, span.end, table[variable])

        list(fillers.map(fill, range(self.variables)))
        self.stage_s += time.perf_counter() - began
        return cl.enqueue_copy(queue, buffer.buffer, staged, is_blocking=False)

    def _target(self, number: int, span: Span) -> Allocation:
        name = f"rows of {self.variables} {self.kind} variables"
        if self.kept:
            return self._memory.allocate(name, self.variables * span.padded, self._dtype)
        while len(self._slots) < SLOTS:
            self._slots.append(
                self._memory.allocate(name, self.variables * self._chunk, self._dtype)
            )
        return self._slots[number % SLOTS]

    def _staging(self, number: int, count: int) -> NDArray[Any]:
        while len(self._pinned) < SLOTS:
            self._pinned.append(Pinned(self.device, self.variables * self._chunk, self._dtype))
        return self._pinned[number % SLOTS].array[:count]

    def close(self) -> None:
        """Free the device memory."""
        for allocation in (*self._held.values(), *self._slots):
            allocation.release()
        self._held, self._slots, self._pinned = {}, [], []
        self._direct = None


def _result(future: Future[Any]) -> Any:
    """Wait for a thread, answering Ctrl-C."""
    while True:
        try:
            return future.result(timeout=LONGEST_DEAFNESS_S)
        except TimeoutError:
            if future.done():
                raise
