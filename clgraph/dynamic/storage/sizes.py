"""Sizes of blocks: powers of two up to a block array, then whole block arrays."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["CLASSES", "Sizes"]

# Of lengths up to 2**32 and block arrays of any size, and one for rows without a block.
CLASSES = 125
MOST_ENTRIES = 2**63  # more than there ever are
STEPS_BITS = 2  # of the sizes from one power of two to the next, where block arrays allow as many


@functools.cache
def _entries(bits: int) -> tuple[int, ...]:
    """Entries of each size, where block arrays have 2**bits."""
    found = [1 << number for number in range(bits + 1)]
    half = 1 << bits
    while len(found) < CLASSES - 1:
        steps = min(half >> bits, 1 << STEPS_BITS)
        found += [half + step * (half // steps) for step in range(1, steps + 1)]
        half *= 2
    return tuple(min(entries, MOST_ENTRIES) for entries in found[: CLASSES - 1])


@dataclass(frozen=True, slots=True)
class Sizes:
    """Which sizes blocks have, numbered from the smallest on.

    Parameters
    ----------
    block_edges : int
        Entries of a block array, a power of two.
    least : int
        Entries of the smallest block, a power of two.

    Notes
    -----
    Blocks that a block array has room for are powers of two, so that it is cut without a rest.
    Longer ones are of several block arrays in a row: two, three, four, five, six, seven, eight,
    ten, twelve and so on, four sizes to each power of two. A row takes less than twice its length
    either way, and long ones at most five fourths of it once they are of five block arrays.
    """

    block_edges: int
    least: int = 1

    @property
    def bits(self) -> int:
        """Logarithm of the entries of a block array, which is the number of that size."""
        return self.block_edges.bit_length() - 1

    def entries(self, number: int) -> int:
        """Entries of the blocks of a size."""
        return _entries(self.bits)[number]

    def number(self, length: int) -> int:
        """Give the number of the size that a row of some length, not 0, needs."""
        return int(self.numbers(np.array([length]))[0])

    def room(self, length: int) -> int:
        """Entries of the block of a row; 0 for an empty one."""
        return self.entries(self.number(length)) if length else 0

    def numbers(self, lengths: NDArray[Any]) -> NDArray[np.int64]:
        """Numbers of the sizes that rows need, -1 of empty ones.

        ``kernels_cl/dynamic/classes.mako`` has the same for the device.
        """
        last = np.maximum(lengths.astype(np.int64), self.least) - 1
        bits = np.frexp(last.astype(np.float64))[1].astype(np.int64)  # exact: below 2**53
        over = np.maximum(bits - self.bits, 1)
        step_bits = np.minimum(over - 1, STEPS_BITS)
        before = np.where(
            over <= STEPS_BITS + 1,
            (1 << np.minimum(over - 1, STEPS_BITS)) - 1,
            ((over - STEPS_BITS) << STEPS_BITS) - 1,
        )
        shift = np.maximum(bits - 1 - step_bits, 0)
        nth = (last >> shift) - (1 << step_bits)
        found = np.where(bits <= self.bits, bits, self.bits + 1 + before + nth)
        found[np.asarray(lengths) == 0] = -1
        return found

    def slots(self, number: int) -> int:
        """Block arrays, side by side, of which a block of a size takes all; 1 if it takes less."""
        return max(self.entries(number) // self.block_edges, 1)

    def leaves(self, number: int) -> int:
        """Blocks of a size that a block array is cut into; 1 if one takes several."""
        return max(self.block_edges // self.entries(number), 1)
