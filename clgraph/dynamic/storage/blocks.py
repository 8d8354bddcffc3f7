"""Blocks of the sizes 1, 2, 4, ...: which are free, and where new ones go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.dynamic.storage.vectree import VecTrees
from clgraph.errors import ClgraphError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["CLASSES", "Blocks", "NoRoomError", "block_class", "block_size", "size_classes"]

CLASSES = 34  # of lengths up to 2**32, each by its power of two, and one for rows without a block


class NoRoomError(ClgraphError):
    """There are too few free slots for a block array."""


def block_class(degree: int, least: int = 1) -> int:
    """Exponent of the size of the block for a row that is not empty."""
    return max(degree - 1, least - 1).bit_length()


def block_size(degree: int, least: int = 1) -> int:
    """Entries that the block of a row has room for; 0 for an empty row."""
    return 1 << block_class(degree, least) if degree else 0


def size_classes(degrees: NDArray[Any], least: int = 1) -> NDArray[np.int64]:
    """Exponent of the block size of each row, -1 of empty ones."""
    wanted = np.maximum(degrees.astype(np.int64), least) - 1
    exponents = np.frexp(wanted.astype(np.float64))[1].astype(np.int64)
    exponents[wanted == 0] = 0
    exponents[np.asarray(degrees) == 0] = -1
    return exponents


class _SizeClass:
    """All block arrays of one size: where each begins, and its tree.

    A layout takes the first blocks of fresh arrays; their trees are made when somebody asks.
    """

    def __init__(self, leaves: int, slots: NDArray[np.int64], used: int = 0) -> None:
        self.leaves = leaves
        self.slots = slots
        self._used = used
        self._trees: VecTrees | None = None

    @property
    def trees(self) -> VecTrees:
        if self._trees is None:
            self._trees = VecTrees.filled(self.leaves, len(self.slots), self._used)
        return self._trees

    @property
    def untouched(self) -> bool:
        """Whether the blocks in use are the first ones, as laid out."""
        return self._trees is None

    def fill(self) -> None:
        """Take all blocks."""
        self._used, self._trees = len(self.slots) * self.leaves, None

    @property
    def used(self) -> int:
        """Blocks in use."""
        if self._trees is None:
            return self._used
        return len(self.slots) * self.leaves - int(self._trees.free.sum())

    def append(self, slots: NDArray[np.int64]) -> None:
        """Add block arrays in these slots, all of whose blocks are free."""
        self.slots = np.concatenate([self.slots, slots])
        if self._trees is not None:
            self._trees.append(len(slots))

    def copy(self) -> _SizeClass:
        other = _SizeClass(self.leaves, self.slots, self._used)
        other._trees = None if self._trees is None else self._trees.copy()
        return other


class Blocks:
    """What blocks there are in a pool of entries, and which of them are free.

    Parameters
    ----------
    block_edges : int
        Entries of a block array, a power of two; larger blocks have a block array each.
    slots : int
        Pieces of so many entries that the pool has room for.

    Notes
    -----
    The order in which block arrays are drained, the fullest first, is kept by sorting the counts of
    free blocks when blocks are taken: a size has at most some thousands of block arrays, and one
    call takes many blocks. A B+ tree per size, as the paper has it, pays where blocks are taken one
    by one.
    """

    def __init__(self, block_edges: int, slots: int) -> None:
        self.block_edges = block_edges
        self.slots = slots
        self._exponent = block_edges.bit_length() - 1
        self._classes: dict[int, _SizeClass] = {}
        self._own: set[int] = set()  # classes that no other object shares
        # Of each slot, the size whose block array is there, and the number of that; -1 if free.
        self._owner: NDArray[np.int64] = np.full((slots, 2), -1, np.int64)

    @classmethod
    def laid_out(
        cls, block_edges: int, counts: Sequence[int], spare_slots: int = 0
    ) -> tuple[Blocks, NDArray[np.int64]]:
        """Blocks for so many rows of each size, one size after the other.

        Parameters
        ----------
        block_edges : int
            Entries of a block array.
        counts : sequence of int
            Rows by exponent of their block size.
        spare_slots : int
            Slots that stay free.

        Returns
        -------
        blocks, bases
            Int64 array by exponent: where the first block of a size begins. The others follow it.
        """
        sizes = [cls.slots_for(block_edges, k, c) for k, c in enumerate(counts)]
        made = cls(block_edges, sum(sizes) + spare_slots)
        bases = np.zeros(len(counts), np.int64)
        slot = 0
        for k, count in enumerate(counts):
            if count:
                bases[k] = slot * block_edges
                width = max((1 << k) // block_edges, 1)
                slots = np.arange(slot, slot + sizes[k], width)
                held = _SizeClass(max(block_edges >> k, 1), slots, int(count))
                made._classes[k] = held
                made._own_slots(k, held, 0)
                slot += sizes[k]
        return made, bases

    @staticmethod
    def slots_for(block_edges: int, exponent: int, count: int) -> int:
        """Count the slots that the block arrays of so many blocks take."""
        per_array = max(block_edges >> exponent, 1)
        return -(-count // per_array) * max((1 << exponent) // block_edges, 1)

    def fork(self) -> Blocks:
        """Give blocks that can change without these changing: only what changes is copied."""
        other = object.__new__(Blocks)
        other.block_edges, other.slots, other._exponent = (
            self.block_edges,
            self.slots,
            self._exponent,
        )
        other._classes, other._own = dict(self._classes), set()
        other._owner = self._owner.copy()
        return other

    def extend(self, slots: int) -> None:
        """Add free slots at the end of the pool."""
        self._owner = np.vstack([self._owner, np.full((slots, 2), -1, np.int64)])
        self.slots += slots

    def take(self, exponent: int, count: int) -> NDArray[np.int64]:
        """Take blocks of ``2**exponent`` entries.

        Parameters
        ----------
        exponent : int
            Of their size.
        count : int
            How many.

        Returns
        -------
        int64 array [count]
            Where each begins, in entries of the pool.

        Raises
        ------
        NoRoomError
            If a block array would be needed that no free slots are left for. Nothing is taken then.
        """
        held = self._writable(exponent)
        missing = count - int(held.trees.free.sum())
        if missing > 0:
            self._add_arrays(exponent, held, -(-missing // held.trees.leaves))
        arrays, blocks = held.trees.alloc_many(count)
        return held.slots[arrays] * self.block_edges + (blocks << exponent)

    def give_back(self, places: NDArray[np.int64]) -> None:
        """Give blocks back that begin at these places of the pool."""
        owners = self._owner[places >> self._exponent]
        for exponent in np.unique(owners[:, 0]).tolist():
            mine = owners[:, 0] == exponent
            self._release(self._writable(exponent), exponent, places[mine])

    def _release(self, held: _SizeClass, exponent: int, places: NDArray[np.int64]) -> None:
        arrays = self._owner[places >> self._exponent, 1]
        inside = places - held.slots[arrays] * self.block_edges
        held.trees.release_many(arrays, inside >> exponent)

    def add_blocks(self, exponent: int, count: int) -> NDArray[np.int64]:
        """Make block arrays for so many blocks, and report where all of theirs begin.

        Raises
        ------
        NoRoomError
            As for `take`.
        """
        held = self._writable(exponent)
        known = len(held.slots)
        self._add_arrays(exponent, held, -(-count // held.leaves))
        return self._places(held, exponent, known * held.leaves, len(held.slots) * held.leaves)

    def free_places(self, exponent: int) -> NDArray[np.int64]:
        """Report where the free blocks of a size begin."""
        held = self._classes.get(exponent)
        if held is None:
            return np.zeros(0, np.int64)
        if held.untouched:
            return self._places(held, exponent, held.used, len(held.slots) * held.leaves)
        arrays, blocks = held.trees.free_leaves()
        return held.slots[arrays] * self.block_edges + (blocks << exponent)

    def _places(self, held: _SizeClass, exponent: int, first: int, last: int) -> NDArray[np.int64]:
        """Where the blocks with these numbers begin, counted through the block arrays."""
        arrays, blocks = np.divmod(np.arange(first, last, dtype=np.int64), held.leaves)
        return held.slots[arrays] * self.block_edges + (blocks << exponent)

    def used_of(self, exponent: int) -> int:
        """Blocks of a size that are in use."""
        held = self._classes.get(exponent)
        return 0 if held is None else held.used

    def with_free(self, free: Mapping[int, NDArray[np.int64]]) -> Blocks:
        """Give the same block arrays with exactly these blocks free, by exponent."""
        other = self.fork()
        other.free_only(free)
        return other

    def free_only(self, free: Mapping[int, NDArray[np.int64]]) -> None:
        """Take all blocks but these, by exponent."""
        for exponent in self._classes:
            held = self._writable(exponent)
            held.fill()
            self._release(held, exponent, free.get(exponent, np.zeros(0, np.int64)))

    def drop_empty(self) -> int:
        """Let other sizes have the slots of block arrays without a block in use; count these."""
        dropped = 0
        for exponent in list(self._classes):
            held = self._classes[exponent]
            empty = held.trees.free == held.trees.leaves
            if not empty.any():
                continue
            held = self._writable(exponent)
            held.trees.keep(~empty)
            held.slots = held.slots[~empty]
            dropped += int(empty.sum())
            self._owner[self._owner[:, 0] == exponent] = -1
            self._own_slots(exponent, held, 0)
        return dropped

    def free_blocks(self) -> dict[int, NDArray[np.int64]]:
        """Free blocks of each block array, by exponent of the block size."""
        return {k: held.trees.free for k, held in self._classes.items()}

    @property
    def block_arrays(self) -> int:
        """How many there are."""
        return sum(len(held.slots) for held in self._classes.values())

    @property
    def used_entries(self) -> int:
        """Entries of all blocks in use."""
        return sum(held.used << exponent for exponent, held in self._classes.items())

    @property
    def array_entries(self) -> int:
        """Entries of all block arrays."""
        return int((self._owner[:, 0] >= 0).sum()) * self.block_edges

    def _writable(self, exponent: int) -> _SizeClass:
        held = self._classes.get(exponent)
        if held is None:
            held = _SizeClass(max(self.block_edges >> exponent, 1), np.zeros(0, np.int64))
        elif exponent not in self._own:
            held = held.copy()
        self._classes[exponent] = held
        self._own.add(exponent)
        return held

    def _add_arrays(self, exponent: int, held: _SizeClass, arrays: int) -> None:
        """Make block arrays in the lowest free slots."""
        width = max((1 << exponent) // self.block_edges, 1)
        free = np.flatnonzero(self._owner[:, 0] < 0)
        if width > 1:
            # Slots of one block array follow each other.
            runs = np.split(free, np.flatnonzero(np.diff(free) != 1) + 1)
            begins = [run[: len(run) // width * width : width] for run in runs]
            free = np.concatenate(begins) if begins else free[:0]
        if len(free) < arrays:
            raise NoRoomError(f"{arrays} block arrays of {width} slots do not fit.")
        before = len(held.slots)
        held.append(free[:arrays])
        self._own_slots(exponent, held, before)

    def _own_slots(self, exponent: int, held: _SizeClass, first: int) -> None:
        width = max((1 << exponent) // self.block_edges, 1)
        numbers = np.arange(first, len(held.slots))
        for step in range(width):
            self._owner[held.slots[first:] + step] = np.column_stack(
                [np.full(len(numbers), exponent), numbers]
            )
