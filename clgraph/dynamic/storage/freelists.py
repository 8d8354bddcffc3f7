"""Free blocks listed on the device, where updates take and return them without the host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device import Memory, Mirror, Posted, can_post
from clgraph.dynamic.storage.blocks import Blocks, NoRoomError
from clgraph.dynamic.storage.sizes import CLASSES, Sizes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from clgraph.device import Allocation, Device

__all__ = ["SLOT_WORDS", "WORDS", "FreeLists", "Outcome"]

SIZES = CLASSES - 1  # of blocks; the first class has none
# Words of the counts of one batch. Kernels get these names.
WORDS = {
    "STATUS": 0,
    "LACKING": 1,
    "DONE": 2,
    "LARGEST": 3,
    # What every work-group adds to at its end, at once.
    "DIFFERENT": 4,
    "WANTED": 5,
    "ARCS": 6,
    "LOOKED": 7,
    "MOVED": 8,  # 64 bits
    "SHARED": 10,
    "LONG": 12,  # pieces of long rows, and these rows
    "TAKEN": 14,
    "GIVEN": 14 + CLASSES,
    "TOPS": 14 + 2 * CLASSES,
    "SLOT_WORDS": 512,
    "BARRIER": 1024,  # behind both slots, the words of the grid barrier
    "CLASSES": CLASSES,
    "OUTSIDE": 1,
    "CROWDED": 2,
    "DONE_CHANGED": 1,
    "DONE_REFUSED": 2,
}
SLOT_WORDS, LACKING = WORDS["SLOT_WORDS"], WORDS["LACKING"]
COUNTS, TOPS = WORDS["TAKEN"], WORDS["TOPS"]
# What the host is told where a kernel can tell it: counts, free blocks, two times and a stamp.
POST = {
    "COUNTS": COUNTS,
    "POST_TOPS": COUNTS,
    "POST_BEGAN": COUNTS + CLASSES,
    "POST_ENDED": COUNTS + CLASSES + 1,
    "POST_STAMP": COUNTS + CLASSES + 2,
}
POST_TIMES, POST_WORDS = POST["POST_BEGAN"], POST["POST_STAMP"] + 1
CLOCK = 1 << 32  # nanoseconds after which a device's clock begins anew
LEAST_ROOM = 64
NOTHING = np.zeros(0, np.uint32)
BARRIER_WORDS, BARRIER_FAILED = 96, 64
CONTROL_WORDS = WORDS["BARRIER"] + BARRIER_WORDS


class Outcome:
    """What a batch counted.

    Parameters
    ----------
    counts : list of int
        The first words of its counts.
    tops : bytes
        uint32 [CLASSES]: free blocks afterwards, if the batch came to its end.

    Attributes
    ----------
    counts, tops
        As above.
    times : pair of int
        When the first work-group began and when the counts were there, nanoseconds of the device's
        clock; zeros where nobody noted them.
    stamped : bool
        Whether it was to be posted, so that there is no event.
    missed : bool
        Whether work-groups waited for each other in vain: then nothing was brought in.
    words : uint32 array [SLOT_WORDS]
        All counts, where blocks were lacking.
    """

    __slots__ = ("counts", "missed", "stamped", "times", "tops", "words")

    def __init__(self, counts: list[int], tops: bytes) -> None:
        self.counts, self.tops = counts, tops
        self.times: Sequence[int] = (0, 0)
        self.missed = self.stamped = False
        self.words = NOTHING

    @classmethod
    def copied(cls, control: NDArray[np.uint32], parity: int) -> Outcome:
        """Give what is in the control words behind a batch."""
        # Copies, since the next batch's counts come to the same place.
        first, next_tops = parity * SLOT_WORDS, (1 - parity) * SLOT_WORDS + TOPS
        tops = control[next_tops : next_tops + CLASSES].tobytes()
        found = cls(control[first : first + COUNTS].tolist(), tops)
        found.missed = control.item(WORDS["BARRIER"] + BARRIER_FAILED) != 0
        if found.counts[LACKING]:
            found.words = control[first : first + SLOT_WORDS].copy()
        return found

    def __getitem__(self, name: str) -> int:
        """Give a count by the name of its word."""
        return self.counts[WORDS[name]]

    @property
    def moved(self) -> int:
        """Entries that were copied to other blocks."""
        first = WORDS["MOVED"]
        return self.counts[first] | self.counts[first + 1] << 32

    @property
    def device_ms(self) -> float:
        """Milliseconds by the device's clock."""
        began, ended = self.times
        return (ended - began) % CLOCK / 1e6

    def of_classes(self, name: str) -> NDArray[np.int64]:
        """Give counts by size class."""
        first = WORDS[name]
        return self.words[first : first + CLASSES].astype(np.int64)


@dataclass(slots=True, eq=False)
class FreeLists:
    """Which blocks of some block arrays are free, by lists on the device.

    It says what `Blocks` says, and makes them of itself where somebody needs the trees of bits.

    Attributes
    ----------
    arrays : Blocks
        The block arrays; their trees are not kept up to date.
    handles : Allocation
        uint32 or uint64: where free blocks begin, in a list for each size.
    lists : Allocation
        uint32 [2 * CLASSES]: where the list of each class begins; how many it has room for.
    control : Allocation
        uint32: counts of the next batch, and of the one before; then the words of the barrier.
    mirror : Mirror
        What the host sees of them.
    posted : Posted or None
        Where a kernel tells the host of them, where it can.
    parity : int
        Which of the two are the next batch'.
    firsts, rooms : int64 arrays [CLASSES]
        Where lists begin, and their room.
    left : bytes
        uint32 [CLASSES]: how many blocks are in them.
    """

    arrays: Blocks
    handles: Allocation
    lists: Allocation
    control: Allocation
    mirror: Mirror
    posted: Posted | None
    parity: int
    firsts: NDArray[np.int64]
    rooms: NDArray[np.int64]
    left: bytes

    @property
    def tops(self) -> NDArray[np.int64]:
        """How many blocks are in each list."""
        return np.frombuffer(self.left, np.uint32).astype(np.int64)

    @classmethod
    def made(
        cls, device: Device, arrays: Blocks, free: Sequence[NDArray[Any]], rooms: Any, dtype: Any
    ) -> FreeLists:
        """Make lists of these free blocks by class, with so much room each."""
        tops = np.array([len(one) for one in free], np.int64)
        rooms = np.maximum(rooms, tops)
        firsts = np.concatenate([[0], np.cumsum(rooms)[:-1]]).astype(np.int64)
        held = np.zeros(int(rooms.sum()), dtype)
        for first, handles in zip(firsts.tolist(), free, strict=True):
            held[first : first + len(handles)] = handles
        memory = Memory(device)
        control = memory.upload("update_counts", _control(tops))
        return cls(
            arrays,
            memory.upload("free_blocks", held),
            memory.upload("free_lists", np.concatenate([firsts, rooms]).astype(np.uint32)),
            control,
            Mirror(device, control, 0, CONTROL_WORDS),
            Posted(device, POST_WORDS) if can_post(device) else None,
            0,
            firsts,
            rooms,
            tops.astype(np.uint32).tobytes(),
        )

    @classmethod
    def of(cls, device: Device, blocks: Blocks, most: int, dtype: Any) -> FreeLists:
        """List the free blocks of these, with room for those that a batch may return."""
        arrays = blocks.fork()
        free = [np.zeros(0, np.int64), *(arrays.free_places(k) for k in range(SIZES))]
        in_use = np.array([0, *(arrays.used_of(k) for k in range(SIZES))], np.int64)
        rooms = [len(one) for one in free] + np.minimum(in_use + LEAST_ROOM, 2 * most)
        return cls.made(device, arrays, free, rooms, dtype)

    def reset(self) -> FreeLists:
        """Write the counts anew, as they are when no batch has begun; gives these lists back."""
        self.control.write(_control(self.tops))
        return self

    def outcome(self, stamp: int | None) -> Outcome:
        """Read what the last batch counted, which ends with posting this stamp, if with any."""
        posted = self.posted
        if stamp is None or posted is None:
            self.mirror.refresh()
            return Outcome.copied(self.mirror.words, self.parity)
        words = posted.words
        if posted.came(stamp) and not words[LACKING]:
            found = Outcome(words[:COUNTS].tolist(), words[COUNTS:POST_TIMES].tobytes())
        else:
            self.mirror.refresh()
            found = Outcome.copied(self.mirror.words, self.parity)
        found.stamped = True
        if words[-1] == stamp:
            found.times = words[POST_TIMES : POST_TIMES + 2].tolist()
        return found

    def after(self, outcome: Outcome) -> FreeLists:
        """Give what they are after a batch."""
        lists = self.following()
        lists.left = outcome.tops
        return lists

    def following(self) -> FreeLists:
        """Give what they are after a batch, but for its counts, which are those of now."""
        return FreeLists(
            self.arrays,
            self.handles,
            self.lists,
            self.control,
            self.mirror,
            self.posted,
            1 - self.parity,
            self.firsts,
            self.rooms,
            self.left,
        )

    def enlarged(self, outcome: Outcome, least_slots: int) -> FreeLists:
        """Give lists that have what a refused batch asked for, in more block arrays.

        Parameters
        ----------
        outcome : Outcome
            What it counted.
        least_slots : int
            Slots to add to the pool if there are too few; more if more are needed.
        """
        wanted, given = outcome.of_classes("TAKEN"), outcome.of_classes("GIVEN")
        arrays, free = self.arrays.fork(), self._free()
        for at in np.flatnonzero(wanted > self.tops).tolist():
            # Once more what the batch takes: the next of its kind takes a little more or less.
            missing = int(2 * wanted[at] - self.tops[at])
            try:
                added = arrays.add_blocks(at - 1, missing)
            except NoRoomError:
                slots = Blocks.slots_for(arrays.block_edges, at - 1, missing)
                arrays.extend(max(slots, least_slots))
                added = arrays.add_blocks(at - 1, missing)
            free[at] = np.concatenate([added[::-1], free[at]])
        # As much again as is needed spares most batches from coming here once more.
        rooms = np.array([len(one) for one in free], np.int64) + 2 * given + LEAST_ROOM
        rooms[0] = 0
        device = self.handles._device  # noqa: SLF001 (an allocation has no other way to tell)
        return FreeLists.made(
            device, arrays, free, np.maximum(rooms, self.rooms), self.handles.dtype
        )

    def _free(self) -> list[NDArray[Any]]:
        held = self.handles.read().astype(np.int64)
        spans = zip(self.firsts.tolist(), self.tops.tolist(), strict=True)
        return [held[first : first + top] for first, top in spans]

    def fork(self) -> Blocks:
        """Give blocks with trees that say what the lists do, which can change."""
        return self.arrays.with_free(dict(enumerate(self._free()[1:])))

    def free_blocks(self) -> dict[int, NDArray[np.int64]]:
        """Free blocks of each block array, by number of the block size."""
        return self.fork().free_blocks()

    def counts(self) -> Mapping[int, int]:
        """Free blocks by number of their size."""
        return {at - 1: int(top) for at, top in enumerate(self.tops) if at and top}

    @property
    def sizes(self) -> Sizes:
        """Which sizes blocks have."""
        return self.arrays.sizes

    @property
    def block_edges(self) -> int:
        """Entries of a block array."""
        return self.arrays.block_edges

    @property
    def slots(self) -> int:
        """Pieces of so many entries that the pool has room for."""
        return self.arrays.slots

    @property
    def block_arrays(self) -> int:
        """How many there are."""
        return self.arrays.block_arrays

    @property
    def array_entries(self) -> int:
        """Entries of all block arrays."""
        return self.arrays.array_entries

    @property
    def used_entries(self) -> int:
        """Entries of all blocks in use."""
        entries = self.sizes.entries
        free = sum(int(top) * entries(number) for number, top in self.counts().items())
        return self.arrays.array_entries - free

    @property
    def size_bytes(self) -> int:
        """Bytes of the lists."""
        return self.handles.size_bytes + self.lists.size_bytes + self.control.size_bytes


def _control(tops: NDArray[Any]) -> NDArray[np.uint32]:
    words = np.zeros(CONTROL_WORDS, np.uint32)
    for first in (WORDS["TOPS"], SLOT_WORDS + WORDS["TOPS"]):
        words[first : first + CLASSES] = tops
    return words
