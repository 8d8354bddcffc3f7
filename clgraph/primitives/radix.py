"""Stable sorting by digits of arrays that are on a device already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device.hardware.measured import SORT_SHAPES, SORTS_SERVED
from clgraph.device.lazy import cl
from clgraph.errors import InvalidArgumentError
from clgraph.primitives import launches
from clgraph.primitives.launches import MOVED, TYPES, Run, group_size
from clgraph.primitives.stages import Log, Stage

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from clgraph.device import Allocation, Device, DeviceTraits

__all__ = ["DIGIT_BITS", "RadixSort", "digit_passes"]

DIGIT_BITS = 8
DIGITS = 1 << DIGIT_BITS
STATE_HEAD = 8 * DIGITS + 32  # totals of all passes, and tickets
POLL_LIMIT = 1 << 14  # of a word that another work-group is about to write
TILE_ITEMS = 16  # keys of a work-item in a tile, where local memory has room for them
COUNT_SHARE = 2  # of local memory, counts of digits take a half at most
BESIDE_BYTES = 512  # of a sort's local memory, beside its tables


def _sort_shape(traits: DeviceTraits, key: int, value: int, position: int) -> tuple[int, int]:
    """Give work-items of a group, and keys of each, whose tile and counts fit local memory.

    Counts of digits by SIMD group, keys of `key` bytes and values of `value` are there in turns.
    """
    size, items = group_size(traits), TILE_ITEMS
    if traits.lanes > 1 and not (traits.is_cpu or traits.emulated):
        wanted, items, _ = SORT_SHAPES.on(traits)[key, value]
        size = traits.group_of(wanted)
    # Of each digit: how many there are, how many are counted for another, and where it begins.
    room = traits.local_bytes - (4 + 4 + position) * DIGITS - BESIDE_BYTES
    while size > traits.lanes and COUNT_SHARE * 4 * DIGITS * size // traits.lanes > room:
        size = traits.group_of(size // 2)
    fitting = room // (size * max(key, value))
    return size, max(min(items, fitting), 1)


def digit_passes(bits: int) -> int:
    """Count the passes that a sort by so many bits takes."""
    return -(-bits // DIGIT_BITS)


class RadixSort(Stage):
    """Stable sort of keys, and of a value that goes with each, on a device.

    Parameters
    ----------
    device : Device
        Where.
    key : data type
        uint32 or uint64.
    value : data type, optional
        Of the values, 4 or 8 bytes; default none.

    Notes
    -----
    A pass of 8 bits reads and writes the keys once, and values too; before the first, the keys are
    read once more to count the digits of all passes. Where a work-item is a SIMD group of its own,
    every pass reads the keys twice, in three launches. Scratch takes as much as keys and values do.
    """

    def __init__(
        self,
        device: Device,
        key: DTypeLike,
        value: DTypeLike | None = None,
    ) -> None:
        super().__init__(device)
        self.key = np.dtype(key)
        self.value = None if value is None else np.dtype(value)
        if self.key not in (np.dtype(np.uint32), np.dtype(np.uint64)):
            raise InvalidArgumentError(f"keys are sorted as uint32 or uint64; got {self.key}.")
        widths = self.key.itemsize, self.value.itemsize if self.value else 0
        self._shapes = {
            position: _sort_shape(device.traits, *widths, position) for position in (4, 8)
        }
        self._sweeps = device.traits.lanes > 1
        # What is carried by equal keys must stay in order, which these ranks do not see to.
        alone = self.value is None
        registers = SORTS_SERVED.on(device.traits).get(self.key.itemsize, 0) if alone else 0
        self.poll_limit = POLL_LIMIT
        self._params: dict[str, Any] = {
            "key": TYPES[self.key],
            "value": "" if self.value is None else MOVED[self.value.itemsize],
            "looks": SORT_SHAPES.on(device.traits)[widths][2],
            "served": bool(registers),
            "limited": bool(registers) and device.traits.compute_capability is not None,
            "registers": registers,
        }

    def enqueue(
        self,
        log: Log,
        keys: Allocation,
        n: int,
        values: Allocation | None = None,
        *,
        bits: int | None = None,
    ) -> tuple[Allocation, Allocation | None]:
        """Sort the first n elements, ascending.

        Parameters
        ----------
        log : Log
            Notes the launches.
        keys, values : Allocation
            Sorted and overwritten.
        n : int
            How many.
        bits : int, optional
            Only so many low bits of the keys differ from zero; default all.

        Returns
        -------
        keys, values : Allocation
            Where the sorted elements are: those given after an even number of passes, else
            scratch, overwritten by the next call.
        """
        passes = digit_passes(8 * self.key.itemsize if bits is None else bits)
        if n == 0 or passes == 0:
            return keys, values
        run = self._run(n)
        if self._sweeps:
            self._count(log, run, keys, 0, passes)
        other = self.array("sorted_keys", keys.count, self.key)
        other_values = None
        if self.value is not None and values is not None:
            other_values = self.array("sorted_values", values.count, self.value)
        for turn in range(passes):
            pairs = (keys, values), (other, other_values)
            self._pass(log, run, *pairs, DIGIT_BITS * turn, turn)
            keys, other, values, other_values = other, keys, other_values, values
        return keys, values

    def prepare(self, count: int, n: int) -> None:
        """Take the scratch memory for n elements of arrays of so many.

        Memory that is taken between launches lets the device run dry.
        """
        self.array("sorted_keys", count, self.key)
        if self.value is not None:
            self.array("sorted_values", count, self.value)
        if self._sweeps and n:
            run = self._run(n)
            self.array("sort_state", STATE_HEAD + 2 * DIGITS * self._tiles(run), run.index)

    def by_digit(
        self, log: Log, keys: Allocation, n: int, values: Allocation
    ) -> tuple[Allocation, Allocation]:
        """Enqueue sorting n > 0 elements by the lowest 8 bits of their keys.

        Returns
        -------
        tuple of Allocation
            The values in order, valid until the next use, and at least [256]: elements of each
            digit.
        """
        other = self.array("sorted_keys", keys.count, self.key)
        moved = self.array("sorted_values", values.count, values.dtype)
        return moved, self.one_pass(log, n, (keys, values), (other, moved))

    def one_pass(
        self,
        log: Log,
        n: int,
        source: tuple[Allocation, Allocation],
        target: tuple[Allocation, Allocation],
    ) -> Allocation:
        """Sort n > 0 keys and values by the lowest digit, from two arrays to two others.

        Returns
        -------
        Allocation
            At least [256], elements of each digit.
        """
        run = self._run(n)
        if self._sweeps:
            self._count(log, run, source[0], 0, 1)
        return self._pass(log, run, source, target, 0, 0)

    def _count(self, log: Log, run: Run, keys: Allocation, shift: int, passes: int) -> None:
        """Count the digits of some passes, and let the first of them begin."""
        head, words = STATE_HEAD, DIGITS * self._tiles(run)
        state = self.array("sort_state", head + 2 * words, run.index)
        size_bytes = (head + words) * state.dtype.itemsize
        zero = np.zeros(1, np.uint32)
        queue = self.device.queue
        event = cl.enqueue_fill_buffer(queue, state.buffer, zero, 0, size_bytes)
        log.add(event, event)
        bounds = (run.index(run.n), run.index(run.chunk), np.uint32(shift), np.uint32(passes))
        self.launch(log, run, "sort", "sort_histogram", keys, *bounds, state, **self._params)

    def _run(self, n: int) -> Run:
        size, items = self._shapes[4 if n < launches.UINT_POSITIONS else 8]
        return Run(self.device, n, items, size)

    def _tiles(self, run: Run) -> int:
        return max(-(-run.n // (run.group_size * run.items)), 1)

    def _pass(
        self,
        log: Log,
        run: Run,
        source: tuple[Allocation, Allocation | None],
        target: tuple[Allocation, Allocation | None],
        shift: int,
        turn: int,
    ) -> Allocation:
        """Sort by a digit; gives the elements of each, for the first turn."""
        if not self._sweeps:
            return self._in_three(log, run, source, target, shift)
        state = self._arrays["sort_state"]
        about = (run.index(run.n), np.uint32(shift), np.uint32(turn), np.uint32(self.poll_limit))
        inputs = [array for array in source if array is not None]
        outputs = [array for array in target if array is not None]
        args = (*inputs, *about, state, *outputs)
        groups = self._tiles(run)
        self.launch(log, run, "sort", "sort_sweep", *args, groups=groups, **self._params)
        return state

    def _in_three(
        self,
        log: Log,
        run: Run,
        source: tuple[Allocation, Allocation | None],
        target: tuple[Allocation, Allocation | None],
        shift: int,
    ) -> Allocation:
        bounds = (run.index(run.n), run.index(run.chunk), np.uint32(shift))
        counts = self.array("digit_counts", DIGITS * run.groups, run.index)
        totals = self.array("digit_totals", DIGITS, run.index)
        params = self._params
        self.launch(log, run, "sort", "sort_count", source[0], *bounds, counts, **params)
        counted = (counts, np.uint32(run.groups), totals)
        self.launch(log, run, "sort", "sort_offsets", *counted, groups=DIGITS, **params)
        inputs = [array for array in source if array is not None]
        outputs = [array for array in target if array is not None]
        args = (*inputs, *bounds, counts, totals, *outputs)
        self.launch(log, run, "sort", "sort_scatter", *args, **params)
        return totals
