"""Trees of bits that say which blocks of block arrays are free."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.errors import ClgraphError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["WORD_BITS", "VecTrees"]

WORD_BITS = 64
_ONE = np.uint64(1)


class VecTrees:
    """One tree of bits for each of several block arrays with the same number of blocks.

    Parameters
    ----------
    leaves : int
        Blocks of a block array.
    arrays : int
        Block arrays; all blocks are free.

    Attributes
    ----------
    levels : list of uint64 array [arrays, words]
        The leaves first: bit i of a row is set where block i is free. Bit j of every further level
        is set where word j of the one below is not zero; the last has one word.
    free : int64 array [arrays]
        Free blocks.
    words_read : int
        By `find`, for tests.

    References
    ----------
    .. [1] F. Busato, O. Green, N. Bombieri, D. Bader, "Hornet: an efficient data structure for
           dynamic sparse graphs and matrices on GPUs", HPEC 2018.
    """

    def __init__(self, leaves: int, arrays: int = 0) -> None:
        self.leaves = leaves
        self.words_read = 0
        bits = leaves
        self.levels: list[NDArray[np.uint64]] = []
        while True:
            words = -(-bits // WORD_BITS)
            self.levels.append(np.zeros((0, words), np.uint64))
            if words == 1:
                break
            bits = words
        self.free: NDArray[np.int64] = np.zeros(0, np.int64)
        self.append(arrays)

    @classmethod
    def filled(cls, leaves: int, arrays: int, used: int) -> VecTrees:
        """Give trees of block arrays, the first `used` blocks of which are taken."""
        trees = cls(leaves, arrays)
        taken = np.clip(used - leaves * np.arange(arrays, dtype=np.int64), 0, leaves)
        words = trees.levels[0].shape[1]
        bits = np.clip(taken[:, None] - WORD_BITS * np.arange(words), 0, WORD_BITS)
        low = (_ONE << np.minimum(bits, WORD_BITS - 1).astype(np.uint64)) - _ONE
        low[bits == WORD_BITS] = ~np.uint64(0)
        trees.levels[0] &= ~low
        trees.free -= taken
        trees._rebuild(np.arange(arrays))
        return trees

    def copy(self) -> VecTrees:
        """Give trees of their own with the same bits."""
        other = object.__new__(VecTrees)
        other.leaves, other.words_read = self.leaves, 0
        other.levels = [level.copy() for level in self.levels]
        other.free = self.free.copy()
        return other

    def append(self, arrays: int) -> None:
        """Add block arrays all of whose blocks are free."""
        bits = self.leaves
        for at, level in enumerate(self.levels):
            row = np.full(level.shape[1], ~np.uint64(0))
            if bits % WORD_BITS:
                row[-1] = (_ONE << np.uint64(bits % WORD_BITS)) - _ONE
            self.levels[at] = np.vstack([level, np.tile(row, (arrays, 1))])
            bits = level.shape[1]
        self.free = np.concatenate([self.free, np.full(arrays, self.leaves, np.int64)])

    def keep(self, mask: NDArray[np.bool_]) -> None:
        """Drop the block arrays that the mask does not select."""
        self.levels = [level[mask] for level in self.levels]
        self.free = self.free[mask]

    def find(self, array: int) -> int | None:
        """Give the lowest free block, in one read of a word per level; None if there is none."""
        place = 0
        for level in reversed(self.levels):
            self.words_read += 1
            word = int(level[array, place])
            if not word:
                return None
            place = place * WORD_BITS + (word & -word).bit_length() - 1
        return place

    def alloc(self, array: int) -> int | None:
        """Take the lowest free block of a block array; None if there is none."""
        block = self.find(array)
        if block is None:
            return None
        place = block
        for level in self.levels:
            word, bit = divmod(place, WORD_BITS)
            level[array, word] &= ~(_ONE << np.uint64(bit))
            if level[array, word]:
                break
            place = word
        self.free[array] -= 1
        return block

    def release(self, array: int, block: int) -> None:
        """Give a block back.

        Raises
        ------
        ClgraphError
            If it is free already.
        """
        place = block
        for at, level in enumerate(self.levels):
            word, bit = divmod(place, WORD_BITS)
            before = int(level[array, word])
            if at == 0 and before >> bit & 1:
                raise ClgraphError(f"block {block} of block array {array} is given back twice.")
            level[array, word] |= _ONE << np.uint64(bit)
            if before:
                break
            place = word
        self.free[array] += 1

    def alloc_many(self, count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Take blocks: of the fullest block arrays first, and of each the lowest.

        Parameters
        ----------
        count : int
            How many; no more than are free.

        Returns
        -------
        arrays, blocks : int64 arrays [count]
            As so many calls of `alloc` give them, each on the fullest array that is not full.
        """
        order = np.lexsort((np.arange(len(self.free)), self.free))
        order = order[self.free[order] > 0]
        reached = np.cumsum(self.free[order])
        order = order[: int(np.searchsorted(reached, count)) + 1] if count else order[:0]
        bits = np.unpackbits(
            self.levels[0][order].astype("<u8", copy=False).view(np.uint8),
            axis=1,
            bitorder="little",
        )
        rows, blocks = np.nonzero(bits)
        arrays, blocks = order[rows[:count]], blocks[:count].astype(np.int64)
        word, bit = np.divmod(blocks, WORD_BITS)
        np.bitwise_and.at(self.levels[0], (arrays, word), ~(_ONE << bit.astype(np.uint64)))
        self.free -= np.bincount(arrays, minlength=len(self.free))
        self._rebuild(order)
        return arrays.astype(np.int64), blocks

    def free_leaves(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Give all free blocks: their block arrays, and their numbers there."""
        words = np.ascontiguousarray(self.levels[0]).astype("<u8", copy=False)
        arrays, blocks = np.nonzero(np.unpackbits(words.view(np.uint8), axis=1, bitorder="little"))
        return arrays.astype(np.int64), blocks.astype(np.int64)

    def release_many(self, arrays: NDArray[np.int64], blocks: NDArray[np.int64]) -> None:
        """Give blocks back.

        Raises
        ------
        ClgraphError
            If one is free already, or given twice.
        """
        word, bit = np.divmod(blocks, WORD_BITS)
        masks = _ONE << bit.astype(np.uint64)
        before = self._ones(arrays)
        np.bitwise_or.at(self.levels[0], (arrays, word), masks)
        if self._ones(arrays) - before != len(blocks):
            raise ClgraphError("a block is given back twice.")
        self.free += np.bincount(arrays, minlength=len(self.free))
        self._rebuild(np.unique(arrays))

    def _ones(self, arrays: NDArray[np.int64]) -> int:
        rows = self.levels[0][np.unique(arrays)]
        return int(np.unpackbits(np.ascontiguousarray(rows).view(np.uint8)).sum(dtype=np.int64))

    def _rebuild(self, arrays: NDArray[Any]) -> None:
        for below, level in zip(self.levels, self.levels[1:], strict=False):
            bits = below[arrays] != 0
            padded = np.zeros((len(bits), level.shape[1] * WORD_BITS), bool)
            padded[:, : bits.shape[1]] = bits
            packed = np.packbits(padded, axis=1, bitorder="little")
            level[arrays] = packed.view("<u8").astype(np.uint64, copy=False)
