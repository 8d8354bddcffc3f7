"""Trying tuples on parts of a trace that are on the device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.invariants.config import MiningConfig, SplitTrace, Sweep, Tiled
from clgraph.algorithms.invariants.expressions import NUMERIC
from clgraph.device import Memory, load, wait
from clgraph.device.hardware.measured import SPLIT_TRACES
from clgraph.device.lazy import cl
from clgraph.device.memory.copying import copied, finish_copy
from clgraph.primitives import group_size

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.algorithms.invariants.chunk import Chunk
    from clgraph.algorithms.invariants.templates import Family
    from clgraph.device import Allocation, Device

__all__ = ["Scratch", "Sweeper", "Work"]

GPU_WIDTH, CPU_WIDTH = 4, 16  # elements of a vector: 128 bits, or what one lane keeps busy with
LONGEST_STEP = 64  # vectors of a work-item between two votes
GROUPS_PER_UNIT = 8  # that keep every compute unit busy, where tasks are short
MOST_GROUPS_PER_UNIT = 4096  # of a GPU, whose groups cost next to nothing
# Of the second level of a CPU's cache, which OpenCL does not say, a slice of all rows may take it.
CPU_CACHE_BYTES = 256 << 10
ELEMENT_BYTES = 4
LEAST_WORDS = 1 << 12
SHORTEST_SLICE = 16
# Elements times tuples of one launch: a second at most, so that Ctrl-C does not leave a long queue.
GPU_LAUNCH, CPU_LAUNCH = 1 << 40, 1 << 33


@dataclass(slots=True)
class Work:
    """What launches did.

    Attributes
    ----------
    launches : int
        How many.
    kernel_ms : float
        Device time, milliseconds.
    asked_bytes : int
        What tuples had looked at, were every row read anew for each.
    """

    launches: int = 0
    kernel_ms: float = 0.0
    asked_bytes: int = 0


class Scratch:
    """Device memory for what goes to a launch and comes back, kept from one to the next.

    Parameters
    ----------
    device : Device
        Where.

    Notes
    -----
    Most tuples that are alive in one part of a trace are in the next, so a dictionary is copied
    only when it changes: a copy would also wait for parts of the trace that are on their way.
    """

    def __init__(self, device: Device) -> None:
        self._memory = Memory(device)
        self._held: Allocation | None = None
        self._sent: cl.Event | None = None
        self._entries: NDArray[np.uint32] | None = None

    def put(self, table: NDArray[np.uint32]) -> Allocation:
        """Enqueue a copy of some words to the device; what an earlier call gave is gone.

        Nobody waits for it: the queue keeps its order, and the words must stay as they are until
        something behind the copy has been waited for.
        """
        self._entries = None
        if self._held is None or self._held.count < len(table):
            self.close()
            count = max(len(table), LEAST_WORDS)
            self._held = self._memory.allocate("dictionary", count, np.uint32)
        self._sent = cl.enqueue_copy(
            self._memory.device.queue, self._held.buffer, table, is_blocking=False
        )
        copied(self._sent, table.nbytes)
        return self._held

    def put_entries(self, entries: NDArray[np.uint32]) -> Allocation:
        """Enqueue having entries [count, 4] on the device, behind zeros for as many whole fours."""
        count = len(entries)
        zeros = -(-count // 4) * 4
        there = self._entries
        if self._held is not None and there is not None and np.array_equal(there, entries):
            queue, word = self._memory.device.queue, np.zeros(1, np.uint32)
            self._sent = cl.enqueue_fill_buffer(queue, self._held.buffer, word, 0, 4 * zeros)
            return self._held
        table = np.zeros(zeros + 4 * count, np.uint32)
        table[zeros:] = entries.reshape(-1)
        held = self.put(table)
        self._entries = table[zeros:].reshape(count, 4)
        return held

    def close(self) -> None:
        """Free the memory."""
        self._entries = None
        if self._sent is not None:
            finish_copy(self._sent)
            self._sent = None
        if self._held is not None:
            self._held.release()
            self._held = None


class Sweeper:
    """Kernels of one family, and how they are launched.

    Parameters
    ----------
    device : Device
        Where.
    family : Family
        What they try.
    tolerance : int
        Units in the last place within which numbers are equal.
    config : MiningConfig
        How to share out the device.
    """

    def __init__(
        self, device: Device, family: Family, tolerance: int, config: MiningConfig
    ) -> None:
        traits = device.traits
        self.device = device
        self.family = family
        self.config = config
        self.width = CPU_WIDTH if traits.lanes == 1 else GPU_WIDTH
        self.group_size = group_size(traits)
        program = load(
            device,
            "invariants/mine.cl",
            family=family,
            tolerance=tolerance if family.kind == NUMERIC else 0,
            width=self.width,
            group_size=self.group_size,
            longest_step=LONGEST_STEP,
        )
        self.source = program.source
        self._entries = program.kernel("mine_entries")
        self._tiles = program.kernel("mine_tiles")

    def failed(
        self,
        chunk: Chunk,
        begin: int,
        end: int,
        tuples: NDArray[np.uint32],
        wanted: NDArray[np.uint32],
        work: Work,
        scratch: Scratch,
    ) -> NDArray[np.uint32]:
        """Find which conditions fail in elements [begin, end) of a chunk.

        Parameters
        ----------
        chunk : Chunk
            Rows on the device.
        begin, end : int
            Multiples of 64.
        tuples : numpy.ndarray
            uint32 [count, arity], at least one.
        wanted : numpy.ndarray
            uint32 [count], conditions to try, as bits.
        work : Work
            To add to.
        scratch : Scratch
            Memory to use.

        Returns
        -------
        numpy.ndarray
            uint32 [count], bits of those that fail; of those that were not wanted some, or none.
        """
        count, arity = tuples.shape
        entries = np.zeros((count, 4), np.uint32)
        entries[:, :arity] = tuples
        entries[:, 3] = wanted
        most = GPU_LAUNCH if not self.device.traits.is_cpu else CPU_LAUNCH
        step = max(most // max(end - begin, 1), 1)
        if step >= count:
            return self._launch(chunk, begin, end, entries, work, scratch)
        result = np.empty(count, np.uint32)
        for first in range(0, count, step):
            part = entries[first : first + step]
            result[first : first + step] = self._launch(chunk, begin, end, part, work, scratch)
        return result

    def _launch(
        self,
        chunk: Chunk,
        begin: int,
        end: int,
        entries: NDArray[np.uint32],
        work: Work,
        scratch: Scratch,
    ) -> NDArray[np.uint32]:
        count = len(entries)
        held = scratch.put_entries(entries)
        kernel, groups, last = self._shape(entries, (end - begin) // self.width)
        event = kernel.launch(
            groups * self.group_size,
            self.group_size,
            chunk.buffer,
            np.uint64(chunk.stride // self.width),
            np.uint64((chunk.first + begin) // self.width),
            np.uint64((chunk.first + end) // self.width),
            np.uint32(count),
            np.uint32(last),
            held,
        )
        if begin or chunk.number:  # not for the first look: it may be the last
            chunk.copy_ahead()
        result: NDArray[np.uint32] = held.read(count)
        wait(event)
        work.launches += 1
        work.kernel_ms += (event.profile.end - event.profile.start) / 1e6
        work.asked_bytes += count * self.family.arity * (end - begin) * ELEMENT_BYTES
        return result

    def _shape(self, entries: NDArray[np.uint32], vectors: int) -> tuple[Any, int, int]:
        """Choose the kernel, its groups, and the segments of a tuple or the vectors of a slice."""
        count = len(entries)
        rows = int(np.count_nonzero(np.bincount(entries[:, : self.family.arity].reshape(-1))))
        sweep = self._choose(count, rows, vectors)
        units = self.device.traits.compute_units
        if isinstance(sweep, Tiled):
            slice_vectors, groups = self._tiled(sweep, rows, vectors)
            return self._tiles, groups, slice_vectors
        segments = 1
        if isinstance(sweep, SplitTrace):
            wanted = sweep.segments or -(-GROUPS_PER_UNIT * units // count)
            segments = max(min(wanted, vectors // self.group_size), 1)
        most = units * (GROUPS_PER_UNIT if self.device.traits.is_cpu else MOST_GROUPS_PER_UNIT)
        return self._entries, min(count * segments, most), segments

    def _choose(self, count: int, rows: int, vectors: int) -> Sweep:
        if self.config.sweep is not None:
            return self.config.sweep
        short = vectors * self.width <= 2 * self.config.probe
        split = SPLIT_TRACES.on(self.device.traits)
        if split or short or count * self.family.arity < 2 * rows:
            return SplitTrace()
        return Tiled()

    def _tiled(self, sweep: Tiled, rows: int, vectors: int) -> tuple[int, int]:
        traits = self.device.traits
        if traits.is_cpu:
            fitting = CPU_CACHE_BYTES // (rows * self.width * ELEMENT_BYTES)
            length = sweep.vectors or max(fitting, SHORTEST_SLICE * self.group_size)
        else:
            length = sweep.vectors or self.group_size
        slices = -(-vectors // length)
        per_unit = sweep.groups_per_unit or GROUPS_PER_UNIT
        return length, max(min(slices, per_unit * traits.compute_units), 1)
