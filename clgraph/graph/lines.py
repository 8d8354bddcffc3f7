"""Blocks of plain lines, read by a kernel on the processor."""

from __future__ import annotations

import contextlib
import itertools
import logging
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device import load
from clgraph.device.lazy import cl
from clgraph.device.native import wait_for_event
from clgraph.device.waiting import wait
from clgraph.engine.workspace import Workspace
from clgraph.errors import ClgraphError, OutOfBoundsError
from clgraph.graph.csr import index_dtype
from clgraph.graph.formats.seam import Quick

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clgraph.device import Device
    from clgraph.device.programs.kernel import Argument, Kernel
    from clgraph.graph.csr import Array
    from clgraph.graph.formats.files import Block
    from clgraph.graph.formats.seam import Columns, Line, Rules

__all__ = ["CompiledBlocks", "lines_kernel"]

ITEMS_PER_UNIT = 2  # so that a thread that is early takes some of another's lines
PARTS = 4  # of a text that a work-item reads lines of in turn, as far as a processor sees ahead
TOGETHER = 16  # lines of each part that are read together: a multiple of four
LINE_BYTES = 32  # in which short numbers end; as many lines of so many have to be left
MOST_ALONE = 256  # lines that are read alone, if the lines before were in vain read together
MOST_DIGITS = 18  # of a weight, behind its first zeros: any such integer fits 64 bits
FIVES = 28  # powers of five below 2^64, by which decimals are divided
LONGEST = 32  # what such a number and what separates it from the next rarely exceed
ROOM = 1 << 12  # lines, of which there is room for a multiple: most blocks want as much as the last
ALIGN = 4096  # of arrays: what any device asks for
MOST_IDS = 2**63  # more than 15 digits tell apart
# What a work-item says instead of a number of lines.
ODD, DECIMALS = 2**32 - 1, 2**32 - 2

log = logging.getLogger("clgraph")


class CompiledBlocks:
    """Reads blocks in which nothing is odd; may be called by several threads at once.

    Parameters
    ----------
    rules : Rules
        What lines must look like.
    device : Device
        A processor.
    """

    def __init__(self, rules: Rules, device: Device) -> None:
        self._rules = rules
        self._device: Device | None = device
        self._readers: SimpleQueue[_Reader] = SimpleQueue()
        self._may_have_decimals = device.traits.fp64 and not rules.integer_weights
        self._decimals = False  # whether the last block had some, which the next is likely to have

    def read(self, block: Block) -> Quick | None:
        """Give what a block holds; None if anything in it is odd."""
        device, line = self._device, self._rules.line(block.data)
        if device is None or line is None:
            return None
        try:
            try:
                reader = self._readers.get_nowait()
            except Empty:
                reader = _Reader(device, self._rules)
            found = self._read_by(reader, block.data, line)
        except OutOfBoundsError:  # of a checked kernel, whose user wants to know
            raise
        except ClgraphError as error:
            self._device = None
            log.info("%s: files are read without a kernel: %s", device.name, error)
            return None
        self._readers.put(reader)  # after an exception its copies may still be under way
        return found

    def _read_by(self, reader: _Reader, data: bytes, line: Line) -> Quick | None:
        for decimals in (False, True)[self._decimals :]:
            edges = reader.read(data, line, decimals=decimals)
            if edges is not None:
                self._decimals = decimals
                return Quick(line.columns, edges, len(edges[0]))
            if not reader.met_decimals or not self._may_have_decimals:
                break
        return None


class _Reader:
    """A queue of its own, on which blocks are read one after the other."""

    def __init__(self, device: Device, rules: Rules) -> None:
        self._rules = rules
        # Or a block would wait for another's. It keeps times for those who watch.
        self._device = device.beside()
        self._work = Workspace(self._device)
        self._kernels: dict[tuple[Any, ...], Kernel] = {}
        self._items = work_items(device)
        self._kinds = [index_dtype(most) for most in rules.ids]
        self._wide = np.int64 in self._kinds
        self.met_decimals = False

    def read(self, data: bytes, line: Line, *, decimals: bool) -> Columns | None:
        rules, items = self._rules, self._items
        parts = items * PARTS
        cuts = [data.find(b"\n", part * len(data) // parts) + 1 for part in range(1, parts)]
        begins = np.array([0, *cuts, len(data)], np.uint32)
        # A number and what follows it take two bytes at least, and LONGEST at most: a line of more
        # would make room for lines that cannot be.
        per_line, longest = line.columns + rules.leading, int(np.diff(begins).max())
        self.met_decimals = False
        if longest > len(data) // parts + 1 + LONGEST * per_line:
            return None
        room = (longest // (2 * per_line) // ROOM + 1) * ROOM
        kinds = [np.dtype(np.uint64 if self._wide else np.uint32)] * 2
        if line.weight is not None:
            kinds.append(np.dtype(np.uint64))
        sizes = [*(room * parts * kind.itemsize for kind in kinds), 4 * parts]
        found = _Found(self._device, self._work, sizes)
        most = [np.uint64(min(ids, MOST_IDS)) for ids in rules.ids]
        args: list[Argument] = [self._lent(data), self._lent(begins), np.uint8(line.gap[0])]
        args += [np.uint64(rules.base), *most, np.uint32(room), *found.arrays]
        event = self._kernel(line, decimals=decimals).launch(items, 1, *args)
        with found.seen_after(event) as (*columns, notes):
            counts = notes.view(np.uint32)
            self.met_decimals = bool((counts == DECIMALS).any())
            if (counts >= DECIMALS).any():
                return None
            places = [(part * room, part * room + n) for part, n in enumerate(counts.tolist())]
            numbers = [column.view(kind) for column, kind in zip(columns, kinds, strict=True)]
            src, dst, *weights = (
                np.concatenate([column[begin:end] for begin, end in places]) for column in numbers
            )
        signed = np.int64 if self._wide else np.int32
        src, dst = (
            ends.view(signed).astype(kind, copy=False)
            for ends, kind in zip((src, dst), self._kinds, strict=True)
        )
        kind = np.float64 if decimals else np.int64
        return src, dst, weights[0].view(kind) if weights else None

    def _kernel(self, line: Line, *, decimals: bool) -> Kernel:
        key = (line.columns, line.weight, decimals and line.weight is not None)
        if key not in self._kernels:
            marker = self._rules.marker[0] if self._rules.leading else 0
            self._kernels[key] = lines_kernel(self._device, *key, marker=marker, wide=self._wide)
        return self._kernels[key]

    def _lent(self, values: bytes | Array) -> cl.Buffer:
        """Have the device read memory of the host as it is, which copies nothing."""
        flags = cl.mem_flags.READ_ONLY | cl.mem_flags.USE_HOST_PTR
        return cl.Buffer(self._device.context, flags, hostbuf=values)


class _Found:
    """Arrays that one kernel fills and that the host looks into where they are.

    They are parts of one: each command of the driver's wakes threads, which for a block takes as
    long as to read an eighth of it.
    """

    def __init__(self, device: Device, work: Workspace, sizes: Sequence[int]) -> None:
        self._queue = device.queue
        begins = [0, *itertools.accumulate(-(-size // ALIGN) * ALIGN for size in sizes)]
        self._places = [slice(at, at + size) for at, size in zip(begins, sizes, strict=False)]
        self._whole = work.array("found", begins[-1], np.uint8)
        self.arrays = [
            self._whole.buffer.get_sub_region(place.start, place.stop - place.start)
            for place in self._places
        ]

    @contextlib.contextmanager
    def seen_after(self, event: cl.Event) -> Iterator[list[Array]]:
        """Give the bytes of all when a launch has ended."""
        whole = self._whole
        mapped: Any = cl.enqueue_map_buffer(
            *(self._queue, whole.buffer, cl.map_flags.READ, 0, (whole.count,), whole.dtype),
            is_blocking=False,
        )
        seen, there = mapped
        self._queue.flush()
        for one in (event, there):
            wait_for_event(one.int_ptr)
        wait((event, there))  # which have ended, well or not
        try:
            yield [seen[place] for place in self._places]
        finally:
            seen.base.release(self._queue)


def work_items(device: Device) -> int:
    """Say how many work-items share out a block."""
    return ITEMS_PER_UNIT * device.traits.compute_units


def lines_kernel(
    device: Device,
    columns: int,
    weight: int | None,
    decimals: bool,
    *,
    marker: int,
    wide: bool,
) -> Kernel:
    """Build the kernel for lines of a form.

    Parameters
    ----------
    device : Device
        Where.
    columns : int
        Numbers on a line.
    weight : int or None
        Which of them is one.
    decimals : bool
        Whether weights are float64; else int64.
    marker : int
        The byte that every line begins with; 0 for none.
    wide : bool
        Whether ids take 64 bits; else 32.
    """
    program = load(
        device,
        "edges/lines.cl",
        columns=columns,
        weight=weight or 0,
        decimals=decimals,
        marker=marker,
        wide=wide,
        PARTS=PARTS,
        TOGETHER=TOGETHER,
        LINE_BYTES=LINE_BYTES,
        MOST_ALONE=MOST_ALONE,
        ODD=ODD,
        DECIMALS=DECIMALS,
        MOST_DIGITS=MOST_DIGITS,
        FIVES=FIVES,
    )
    return program.kernel("edges_lines")
