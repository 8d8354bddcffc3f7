"""Getting a trace onto a device, part after part, while earlier parts are mined."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from clgraph.algorithms.invariants.chunk import (
    ELEMENT_BYTES,
    MULTIPLE,
    Chunk,
    Sent,
    Span,
    Transit,
)
from clgraph.algorithms.invariants.expressions import KINDS, NUMERIC, Kind
from clgraph.algorithms.invariants.trace import WORD_BITS
from clgraph.device import Memory
from clgraph.device.lazy import cl
from clgraph.device.memory.copying import copied, finish_copy
from clgraph.device.memory.staging import SMALL_BYTES
from clgraph.errors import DeviceMemoryError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

    from numpy.typing import NDArray

    from clgraph.algorithms.invariants.config import MiningConfig
    from clgraph.algorithms.invariants.reading import Reading
    from clgraph.algorithms.invariants.trace import Trace
    from clgraph.device import Allocation, Device
    from clgraph.device.memory.staging import Job, Pieces, Staging

__all__ = ["Chunks", "fit_together"]

FIRST_INSTANTS = 1 << 14  # of the first chunk, after which little is left to mine in most traces
# Of a second part of numbers, on its way while the first is looked at: a bus carries it meanwhile.
SECOND_BYTES = 32 << 20
READ_AHEAD = 8  # parts that are only read, which take no room
DIRECT_CHUNKS = 2  # times as long are parts that need no copy
KEPT_SHARE = 0.9  # of the free device memory that a whole trace may take


def fit_together(device: Device, traces: Sequence[Trace]) -> bool:
    """Whether the device has room for the rows of both kinds at a time."""
    total = sum(_bytes(traces, kind) for kind in KINDS)
    return total <= KEPT_SHARE * Memory(device).free_bytes


def _bytes(traces: Sequence[Trace], kind: Kind) -> int:
    return sum(t.elements(kind) * t.count(kind) for t in traces) * ELEMENT_BYTES


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
    config : MiningConfig
        How long a chunk is, and how many are on their way while another is mined.
    staging : Staging
        For rows that are not pinned.
    reading : Reading, optional
        Of rows that are not pinned and of which only ranges are needed; without it all are copied.

    Attributes
    ----------
    kept : bool
        Whether the device has room for all of it, so that each part is copied once.
    copied_bytes : int
        So far.
    in_place : bool
        Whether the device reads the traces where they are, so that nothing is copied.
    meanwhile : callable
        Called in each pass before it first waits for copies that were enqueued ahead.

    Notes
    -----
    Rows of a part are copied when they are first asked for, so what nobody looks at is not copied.
    Copies are enqueued on a queue of their own, ahead of the parts that are mined: out of pinned
    rows by the thread that mines, out of others by threads that stage them. The last of those ahead
    is enqueued behind the launch that mines a part, so that there is a copy to run beside every
    kernel however short copies are beside what the host does between. Where the device
    computes on the host's own memory and a trace is prepared for it, nothing is copied at all.
    """

    def __init__(
        self,
        device: Device,
        traces: Sequence[Trace],
        kind: Kind,
        config: MiningConfig,
        staging: Staging,
        reading: Reading | None = None,
    ) -> None:
        self.device = device
        self.traces = traces
        self.kind = kind
        self.variables = traces[0].count(kind)
        self.copied_bytes = 0
        self.meanwhile: Callable[[], object] = bool
        self._staging = staging
        self._reading = reading
        self._memory = Memory(device)
        self._dtype = np.dtype(np.float32 if kind == NUMERIC else np.uint32)
        free = self._memory.free_bytes
        self.kept = _bytes(traces, kind) <= KEPT_SHARE * free
        self._ahead = config.ahead
        self._slot_count = config.ahead + 1
        limit = free if self.kept else free // (2 * self._slot_count)
        chunk_bytes = min(config.chunk_bytes, limit, device.traits.max_alloc_bytes)
        self._chunk = chunk_bytes // (self.variables * ELEMENT_BYTES) // MULTIPLE * MULTIPLE
        if self._chunk < MULTIPLE:
            least = 2 * self._slot_count * self.variables * MULTIPLE * ELEMENT_BYTES
            raise DeviceMemoryError(
                f"the rows of {self.variables} variables need {least} bytes on {device.name} "
                f"for {MULTIPLE} instants at a time, where {free} are free; mine fewer variables."
            )
        self._direct = self._wrap() if self.kept else None
        self.in_place = self._direct is not None
        if self.in_place:
            self._chunk *= DIRECT_CHUNKS
        self._eager = 0  # parts that are sent before the first was looked at
        self._spans = self._cut()
        self._held: dict[int, Allocation] = {}
        self._here = np.zeros((len(self._spans), self.variables), bool)
        self._copies = None if self.in_place else device.beside()
        self._slots: list[Allocation] = []

    def _cut(self) -> list[Span]:
        spans: list[Span] = []
        sizes = [] if self.in_place else self._first_sizes()
        for number, trace in enumerate(self.traces):
            begin, length = 0, trace.elements(self.kind)
            while begin < length:
                size = min(sizes.pop(0) if sizes else self._chunk, self._chunk)
                spans.append(Span(number, begin, min(begin + size, length)))
                begin += size
        return spans

    def _first_sizes(self) -> list[int]:
        """Give how long the parts before the usual ones are.

        A first look leaves most numbers something to mine and few Booleans, so that of these
        nothing is sent ahead of it, nor of what is soon there.
        """
        if self.kind != NUMERIC:
            return [FIRST_INSTANTS // WORD_BITS]
        if self._reading is not None and not all(map(self._pinned, range(len(self.traces)))):
            return [FIRST_INSTANTS]  # what follows may not have to be sent
        second = SECOND_BYTES // (self.variables * ELEMENT_BYTES) // MULTIPLE * MULTIPLE
        long = self._chunk < max(trace.elements(self.kind) for trace in self.traces)
        if not (self._ahead and long and FIRST_INSTANTS <= second < self._chunk):
            return [FIRST_INSTANTS]
        self._eager = 1
        return [FIRST_INSTANTS, second]

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

    def parts(self, needed: Callable[[], NDArray[np.bool_]]) -> Generator[Chunk, None, None]:
        """Go through the traces from the first instant to the last.

        Parameters
        ----------
        needed : callable
            Which variables are, bool [variables]; asked for each part, and never more than before.
            Rows of others hold anything.
        """
        self.read_only(np.zeros(self.variables, bool))
        if self._direct:
            for number, span in enumerate(self._spans):
                stride = self.traces[span.trace].rows(self.kind).values.shape[1]
                yield Chunk(self._direct[span.trace], stride, span.begin, span.padded, number)
            return
        assert self._copies is not None  # noqa: S101 (for mypy: there is a queue where this is used)
        staged = not all(map(self._pinned, range(len(self.traces))))
        queue = self._copies.queue
        with self._staging.pieces(queue) if staged else nullcontext() as pieces:
            yield from self._copied(needed, Transit(queue, pieces))

    def read_only(self, rows: NDArray[np.bool_]) -> None:
        """Have parts to come read for the ranges of some rows, bool [variables], and of no others.

        Whoever finds that he needs such a row itself has to `bring` it.
        """
        if self._reading is not None:
            self._reading.only = rows

    @property
    def read_bytes(self) -> int:
        """Of rows that were read on the host for their ranges, so far."""
        return 0 if self._reading is None else self._reading.read_bytes

    def _pinned(self, trace: int) -> bool:
        rows = self.traces[trace].rows(self.kind)
        return rows.pinned is not None and rows.prepared

    def _copied(self, needed: Callable[[], NDArray[np.bool_]], way: Transit) -> Iterator[Chunk]:
        def send(first: int, last: int) -> None:
            self._send_some(first, last, needed(), way)

        reads = self._reading is not None and way.pieces is not None
        try:
            for number, span in enumerate(self._spans):
                # Little is sent ahead of the first look: it may be the last.
                send(number, number + (max(self._ahead - 1, 0) if number else self._eager))
                if number and number + self._ahead < len(self._spans):
                    # Behind a launch, making room would wait for it.
                    self._make_room(number + self._ahead, needed())
                if number == 1 + self._eager and self._ahead:
                    self.meanwhile()
                self._arrive(number, way.coming[number], way)
                sent = way.coming.pop(number)
                chunk = Chunk(sent.buffer, span.padded, 0, span.padded, number)
                chunk.away = sent.away if sent.away.any() else None
                # All of the first part is looked at before it is known what only to read.
                if number or not reads:
                    chunk.copy_ahead = partial(send, number + 1, number + self._ahead)
                chunk.copy = partial(self._bring, number, way)
                yield chunk
        finally:
            self._give_up(way)

    def _send_some(self, first: int, last: int, needed: NDArray[np.bool_], way: Transit) -> None:
        """Send parts from the first to the last, and what turned out to be needed of them."""
        coming, count = way.coming, len(self._spans)
        numbers = range(first, min(last + 1, count))
        # Making room waits for copies that are under way, so what is kept has all of it before
        # the first long one; a first look alone needs none.
        for number in range(first, count) if self.kept and first else numbers:
            self._make_room(number, needed)
        for number in numbers:
            if number not in coming:
                coming[number] = self._send(number, needed, way)
            elif (opened := self._opened(coming[number])).any():
                coming[number].join(self._send(number, opened, way))
        # What is only read takes no room.
        for number in range(last + 1, min(first + READ_AHEAD, count)) if first else ():
            copied, away = self._split(number, needed)
            if number not in coming and away.any() and not copied.any():
                coming[number] = self._send(number, needed, way)

    def _opened(self, sent: Sent) -> NDArray[np.bool_]:
        """Of which rows, that were to be only read, more is needed by now."""
        return sent.away if self._reading is None else sent.away & ~self._reading.only

    def _bring(self, number: int, way: Transit, rows: NDArray[np.bool_]) -> Allocation | None:
        """Copy rows of a part of which only ranges were read, and give its buffer."""
        if self._reading is not None:
            self.read_only(self._reading.only & ~rows)
        sent = self._send(number, rows, way)
        self._arrive(number, sent, way)
        return sent.buffer

    def _give_up(self, way: Transit) -> None:
        """End with parts on their way: wait for copies, and forget what is still to be read."""
        if self._reading is not None:
            self._reading.drop()
        for number, sent in way.coming.items():
            finish_copy(*sent.events)
            if self.kept and not sent.staged:
                self._here[number] |= sent.rows

    def _arrive(self, number: int, sent: Sent, way: Transit) -> None:
        """Wait until a part is there."""
        finish_copy(*sent.events)
        if way.pieces is not None:
            way.pieces.finish(*sent.staged)
            if self._reading is not None:
                self._reading.finish(number, way.pieces)
        if self.kept:
            self._here[number] |= sent.rows

    def _send(self, number: int, needed: NDArray[np.bool_], way: Transit) -> Sent:
        wanted, away = self._split(number, needed)
        sent = Sent(self._held.get(number), wanted, away)
        if wanted.any() or not away.any():
            sent.buffer = buffer = self._target(number, self._spans[number])
            self._copy(number, sent, buffer, way)
        if self._reading is not None and way.pieces is not None and away.any():
            self._reading.begin(number, self._spans[number], away, way.pieces)
        return sent

    def _split(
        self, number: int, needed: NDArray[np.bool_]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Give which rows of a part have to be copied, and of which only ranges are to be read."""
        missing = needed & ~self._here[number]
        if self._reading is None or self._pinned(self._spans[number].trace):
            return missing, np.zeros_like(missing)
        return missing & ~self._reading.only, missing & self._reading.only

    def _copy(self, number: int, sent: Sent, buffer: Allocation, way: Transit) -> None:
        span = self._spans[number]
        variables = np.flatnonzero(sent.rows)
        if way.pieces is not None and not self._pinned(span.trace):
            sent.staged += self._stage(span, variables, way.pieces, buffer)
        else:
            rows = self.traces[span.trace].rows(self.kind).values
            for variable in variables.tolist():
                row = rows[variable, span.begin : span.begin + span.padded]
                offset = variable * span.padded * ELEMENT_BYTES
                event = cl.enqueue_copy(
                    way.queue, buffer.buffer, row, dst_offset=offset, is_blocking=False
                )
                sent.events.append(copied(event, row.nbytes))
            way.queue.flush()
        self.copied_bytes += len(variables) * span.padded * ELEMENT_BYTES

    def _stage(
        self, span: Span, variables: NDArray[np.intp], pieces: Pieces, buffer: Allocation
    ) -> Iterator[Job[cl.Event]]:
        """Send rows in pieces of several whole ones that are neighbours, or of a part of one.

        Either is one copy for the interpreter, which all threads share.
        """
        if not len(variables):
            return
        row_bytes = ELEMENT_BYTES * span.padded
        small = row_bytes * len(variables) <= SMALL_BYTES
        most = self._staging.piece_bytes(row_bytes * len(variables))
        parts = -(-row_bytes // most)
        length = -(-span.padded // (parts * MULTIPLE)) * MULTIPLE
        together = max(most // row_bytes, 1)
        for run in np.split(variables, np.flatnonzero(np.diff(variables) > 1) + 1):
            for rows in np.array_split(run, -(-len(run) // together)):
                for begin in range(0, span.padded, length):
                    shape = len(rows), min(length, span.padded - begin)
                    fill = partial(self._fill, span, int(rows[0]), begin, shape)
                    offset = ELEMENT_BYTES * (int(rows[0]) * span.padded + begin)
                    size = ELEMENT_BYTES * shape[0] * shape[1]
                    yield pieces.send(fill, size, buffer.buffer, offset, here=small)

    def _fill(
        self, span: Span, first: int, begin: int, shape: tuple[int, int], words: NDArray[np.uint8]
    ) -> None:
        """Write elements of a part, from `begin` on, of some rows."""
        out = words.view(self._dtype).reshape(shape)
        self.traces[span.trace].stage(self.kind, first, span.begin + begin, out)

    def _target(self, number: int, span: Span) -> Allocation:
        name = f"rows of {self.variables} {self.kind} variables"
        if self.kept:
            if number not in self._held:
                count = self.variables * span.padded
                self._held[number] = self._memory.allocate(name, count, self._dtype)
            return self._held[number]
        while len(self._slots) < self._slot_count:
            self._slots.append(
                self._memory.allocate(name, self.variables * self._chunk, self._dtype)
            )
        return self._slots[number % self._slot_count]

    def _make_room(self, number: int, needed: NDArray[np.bool_]) -> None:
        """Make room for a part, unless nothing of it is to be copied."""
        if self._split(number, needed)[0].any():
            self._target(number, self._spans[number])

    def make_room(self) -> None:
        """Make room for the parts that are first needed: beside copies, making it would wait."""
        if not self.in_place:
            for number, span in enumerate(self._spans[: self._slot_count]):
                self._target(number, span)

    def close(self) -> None:
        """Free the device memory."""
        for allocation in (*self._held.values(), *self._slots):
            allocation.release()
        self._held, self._slots = {}, []
        self._here[:] = False
        self._direct = None
