"""Blocks of many sizes: which are free, and where new ones go."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph.dynamic.storage.sizes import Sizes
from clgraph.dynamic.storage.vectree import VecTrees
from clgraph.errors import ClgraphError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["Blocks", "NoRoomError"]


class NoRoomError(ClgraphError):
    """There are too few free slots for a block array."""


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
        Entries of a block array, a power of two; larger blocks have several each.
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
        self.sizes = Sizes(block_edges)
        self.slots = slots
        self._classes: dict[int, _SizeClass] = {}
        self._own: set[int] = set()  # classes that no other object shares
        self._owned: NDArray[np.int64] | None = None

    @property
    def block_edges(self) -> int:
        """Entries of a block array."""
        return self.sizes.block_edges

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
            Rows by number of their block size; see `Sizes`.
        spare_slots : int
            Slots that stay free.

        Returns
        -------
        blocks, bases
            Int64 array by number: where the first block of a size begins. The others follow it.
        """
        sizes = [cls.slots_for(block_edges, k, c) if c else 0 for k, c in enumerate(counts)]
        made = cls(block_edges, sum(sizes) + spare_slots)
        bases = np.zeros(len(counts), np.int64)
        slot = 0
        for k, count in enumerate(counts):
            if count:
                bases[k] = slot * block_edges
                slots = np.arange(slot, slot + sizes[k], made.sizes.slots(k))
                held = _SizeClass(made.sizes.leaves(k), slots, int(count))
                made._classes[k] = held
                slot += sizes[k]
        return made, bases

    @staticmethod
    def slots_for(block_edges: int, number: int, count: int) -> int:
        """Count the slots that the block arrays of so many blocks take."""
        sizes = Sizes(block_edges)
        return -(-count // sizes.leaves(number)) * sizes.slots(number)

    def fork(self) -> Blocks:
        """Give blocks that can change without these changing: only what changes is copied."""
        other = object.__new__(Blocks)
        other.sizes, other.slots = self.sizes, self.slots
        other._classes, other._own = dict(self._classes), set()
        other._owned = None if self._owned is None else self._owned.copy()
        return other

    def extend(self, slots: int) -> None:
        """Add free slots at the end of the pool."""
        if self._owned is not None:
            self._owned = np.vstack([self._owned, np.full((slots, 2), -1, np.int64)])
        self.slots += slots

    def take(self, number: int, count: int) -> NDArray[np.int64]:
        """Take blocks of a size.

        Parameters
        ----------
        number : int
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
        held = self._writable(number)
        missing = count - int(held.trees.free.sum())
        if missing > 0:
            self._add_arrays(number, held, -(-missing // held.trees.leaves))
        arrays, blocks = held.trees.alloc_many(count)
        return held.slots[arrays] * self.block_edges + blocks * self.sizes.entries(number)

    def give_back(self, places: NDArray[np.int64]) -> None:
        """Give blocks back that begin at these places of the pool."""
        owners = self._owner[places // self.block_edges]
        for number in np.unique(owners[:, 0]).tolist():
            mine = owners[:, 0] == number
            self._release(self._writable(number), number, places[mine])

    def _release(self, held: _SizeClass, number: int, places: NDArray[np.int64]) -> None:
        arrays = self._owner[places // self.block_edges, 1]
        inside = places - held.slots[arrays] * self.block_edges
        held.trees.release_many(arrays, inside // self.sizes.entries(number))

    def add_blocks(self, number: int, count: int) -> NDArray[np.int64]:
        """Make block arrays for so many blocks, and report where all of theirs begin.

        Raises
        ------
        NoRoomError
            As for `take`.
        """
        held = self._writable(number)
        known = len(held.slots)
        self._add_arrays(number, held, -(-count // held.leaves))
        return self._places(held, number, known * held.leaves, len(held.slots) * held.leaves)

    def free_places(self, number: int) -> NDArray[np.int64]:
        """Report where the free blocks of a size begin."""
        held = self._classes.get(number)
        if held is None:
            return np.zeros(0, np.int64)
        if held.untouched:
            return self._places(held, number, held.used, len(held.slots) * held.leaves)
        arrays, blocks = held.trees.free_leaves()
        return held.slots[arrays] * self.block_edges + blocks * self.sizes.entries(number)

    def _places(self, held: _SizeClass, number: int, first: int, last: int) -> NDArray[np.int64]:
        """Where the blocks with these numbers begin, counted through the block arrays."""
        numbers = np.arange(first, last, dtype=np.int64)
        slots: NDArray[np.int64] = held.slots[numbers // held.leaves]
        return slots * self.block_edges + numbers % held.leaves * self.sizes.entries(number)

    def used_of(self, number: int) -> int:
        """Blocks of a size that are in use."""
        held = self._classes.get(number)
        return 0 if held is None else held.used

    def with_free(self, free: Mapping[int, NDArray[np.int64]]) -> Blocks:
        """Give the same block arrays with exactly these blocks free, by number of their size."""
        other = self.fork()
        other.free_only(free)
        return other

    def free_only(self, free: Mapping[int, NDArray[np.int64]]) -> None:
        """Take all blocks but these, by number of their size."""
        for number in self._classes:
            held = self._writable(number)
            held.fill()
            self._release(held, number, free.get(number, np.zeros(0, np.int64)))

    def drop_empty(self) -> int:
        """Let other sizes have the slots of block arrays without a block in use; count these."""
        dropped = 0
        for number in list(self._classes):
            held = self._classes[number]
            empty = held.trees.free == held.trees.leaves
            if not empty.any():
                continue
            held = self._writable(number)
            held.trees.keep(~empty)
            held.slots = held.slots[~empty]
            dropped += int(empty.sum())
            self._owner[self._owner[:, 0] == number] = -1
            self._own_slots(number, held, 0)
        return dropped

    def free_blocks(self) -> dict[int, NDArray[np.int64]]:
        """Free blocks of each block array, by number of the block size."""
        return {k: held.trees.free for k, held in self._classes.items()}

    @property
    def block_arrays(self) -> int:
        """How many there are."""
        return sum(len(held.slots) for held in self._classes.values())

    @property
    def used_entries(self) -> int:
        """Entries of all blocks in use."""
        return sum(held.used * self.sizes.entries(k) for k, held in self._classes.items())

    @property
    def array_entries(self) -> int:
        """Entries of all block arrays."""
        held = self._classes.items()
        return sum(len(one.slots) * self.sizes.slots(k) for k, one in held) * self.block_edges

    @property
    def _owner(self) -> NDArray[np.int64]:
        """Of each slot, the size whose block array is there, and its number; -1 if free.

        A layout tells it too, so that it is made when somebody asks.
        """
        if self._owned is None:
            self._owned = np.full((self.slots, 2), -1, np.int64)
            for number, held in self._classes.items():
                self._own_slots(number, held, 0)
        return self._owned

    def _writable(self, number: int) -> _SizeClass:
        held = self._classes.get(number)
        if held is None:
            held = _SizeClass(self.sizes.leaves(number), np.zeros(0, np.int64))
        elif number not in self._own:
            held = held.copy()
        self._classes[number] = held
        self._own.add(number)
        return held

    def _add_arrays(self, number: int, held: _SizeClass, arrays: int) -> None:
        """Make block arrays in the lowest free slots."""
        width = self.sizes.slots(number)
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
        self._own_slots(number, held, before)

    def _own_slots(self, number: int, held: _SizeClass, first: int) -> None:
        """Note whose the slots of a size are, from its block array `first` on."""
        owner, width = self._owner, self.sizes.slots(number)
        slots = (held.slots[first:, None] + np.arange(width)).ravel()
        owner[slots, 0] = number
        owner[slots, 1] = np.repeat(np.arange(first, len(held.slots)), width)
