"""What a device of a cluster holds that searches with others without the host in between."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.cluster.config import PUSH_COST
from clgraph.cluster.parts.bits import BitPart
from clgraph.cluster.parts.part import BIN_LENGTHS, BIN_STRIDE, PART_WORDS
from clgraph.device import Pinned, resident_groups

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyopencl as cl
    from numpy.typing import NDArray

    from clgraph.cluster.config import PartitionPlan
    from clgraph.cluster.parts.share import Share
    from clgraph.device import Allocation
    from clgraph.device.programs.kernel import Argument

__all__ = ["LEVELS_A_LAUNCH", "MailboxPart"]

# A launch ends after so many levels, some tens of milliseconds, so that others get at the device.
LEVELS_A_LAUNCH = 1024
# Polls of a barrier's word; a mailbox is polled a quarter as often, over the bus and thus slower.
SPIN_LIMIT, CPU_SPIN_LIMIT = 1 << 22, 1 << 31

LINE = 32  # words of 32 bits
BARRIER_WORDS = 3 * LINE  # GRID_BARRIER_WORDS of templates/grid/barrier.mako
# What all devices decided alike, and the barrier of a device's groups.
_DECISIONS = ("PULLS", "LISTS", "HAVING", "ENDED", "DECIDED", "HUBS_BEFORE", "UNQUEUED")
DECISION_WORDS = {name: BIN_LENGTHS + place for place, name in enumerate(_DECISIONS)}
# How long each of the others' lists is: of a word of the host's only one work-item may ask.
DECISION_WORDS["LISTED"] = BIN_LENGTHS + BIN_STRIDE // 2
DECISION_WORDS["MEETING"] = BIN_LENGTHS + BIN_STRIDE
FAILED = DECISION_WORDS["MEETING"] + 2 * LINE

LOG_LEVELS, LOG_WORDS = 2 * LEVELS_A_LAUNCH, 4
MAILBOX_WORDS = {
    "BOX_READY": 0,  # of which level it holds what was found
    "BOX_COUNTED": LINE,  # of which level these are the counts
    "BOX_VERTICES": 2 * LINE,
    "BOX_EDGES": 2 * LINE + 2,
    "BOX_HUBS": 2 * LINE + 4,
    # What the host reads after a launch, if the first is the launch's number.
    "BOX_DONE": 3 * LINE,
    "BOX_ENDED": 3 * LINE + 1,
    "BOX_DECIDED": 3 * LINE + 2,
    "BOX_OVERFLOWED": 3 * LINE + 3,
    "BOX_LOG": 4 * LINE,  # by level: vertices, whether it pulled, bytes put down, nanoseconds
    "LOG_LEVELS": LOG_LEVELS,
    "LOG_WORDS": LOG_WORDS,
    "BOX_FOUND": 4 * LINE + LOG_LEVELS * LOG_WORDS,
}


class MailboxPart(BitPart):
    """A part whose device reads in host memory what the others found, level by level.

    Attributes
    ----------
    address : int
        Of its mailbox.
    """

    def __init__(
        self, share: Share, partition_plan: PartitionPlan, *where: Any, **common: Any
    ) -> None:
        super().__init__(share, partition_plan, *where, **common)
        self._facts = share.facts
        words = MAILBOX_WORDS["BOX_FOUND"] + self.map_bytes // 4
        self._mailbox = Pinned(self.device, words, np.uint32).array
        self._mailbox[:] = 0
        self.address = int(self._mailbox.ctypes.data)
        bits = self.config.word_bits
        bounds = [*(owned.first // bits for owned in self.owners), self._words]
        self._bounds = self._memory.upload("word_bounds", np.array(bounds, np.uint32))
        plan = partition_plan
        self._fresh: tuple[Allocation, ...] = ()
        if self.config.pull and plan.gamma is None:
            count = int(self._own_words)
            self._fresh = (self._memory.allocate("fresh", count, self._word),)
        kernel, groups = self._kernel(
            "bfs/parts_levels.cl",
            "bfs_parts_levels",
            self.config,
            words=PART_WORDS | DECISION_WORDS,
            peers=self._parts - 1,
            rule=SimpleNamespace(
                gamma=plan.gamma, beta=plan.beta, one_way=plan.one_way, push_cost=PUSH_COST
            ),
            mailbox_words=MAILBOX_WORDS,
        )
        # Its groups wait for each other, the shorter the fewer they are.
        if not self.config.groups:
            groups = min(groups, self.device.traits.compute_units)
        resident = resident_groups(self.device, kernel, self.config.group_size)
        self._levels = kernel, min(groups, resident)
        self._kept_arguments: tuple[Argument, ...] = ()
        self._stamp = 0  # of the last launch of levels, 0 where the host has run some since

    @staticmethod
    def _state_words(parts: int) -> int:  # noqa: ARG004 - nothing is kept for each
        """How many words of counters there are."""
        return DECISION_WORDS["MEETING"] + BARRIER_WORDS

    def link(self, addresses: Sequence[int]) -> None:
        """Say where the mailboxes of all ranks are."""
        others = [np.uint64(box) for rank, box in enumerate(addresses) if rank != self.rank]
        boxes: tuple[Argument, ...] = (np.uint64(self.address), *others, np.uint32(self.rank))
        back: tuple[Argument, ...] = (*self._back, *self._fresh) if self.config.pull else ()
        of_graph: tuple[Argument, ...] = (
            *(np.uint32(self._tree_size), np.uint32(self._facts.n), np.uint64(self._facts.m)),
            np.uint32(self._partition_plan.hubs),
        )
        self._kept_arguments = (
            *(self._indptr, self._indices, *back, *self._line, self._n, self._all_words),
            *(self._first_word, self._own_words, self._bounds, self._reached, self._found),
            *(self.list, self.distances, self.predecessors, self._frontier, self._hubs),
            *(self._floor, self._state),
            *boxes,
            *of_graph,
        )

    def clear(self) -> None:
        """Enqueue the clearing of what a search that was broken off left of its barriers."""
        self._state.clear()

    def forget(self) -> None:
        """Take out of the mailbox of which levels it holds anything; no kernel may be running."""
        for name in ("BOX_READY", "BOX_COUNTED", "BOX_DONE"):
            self._mailbox[MAILBOX_WORDS[name]] = 0

    def run_levels(self, source: int, first: int, past: int, stamp: int) -> cl.Event:
        """Enqueue the levels from `first` on, and before the first what begins a search.

        Parameters
        ----------
        source : int
            Where it begins.
        first, past : int
            Distances of the frontiers that are expanded.
        stamp : int
            A number that no level of any launch had, nor do the next ones, as far as mailboxes
            remember.
        """
        self._stamp = stamp
        own = self.owned.number(source)
        numbers = [
            np.uint32(number) for number in (first, past, stamp, source, own, self._spin_limit)
        ]
        kept, size = self._kept_arguments, self.config.group_size
        kernel, groups = self._levels
        places = range(len(kept), len(kept) + len(numbers))
        event: cl.Event
        event = kernel.launch_bound(groups * size, size, (*kept, *numbers), places, kept)
        self.device.queue.flush()
        return event

    @property
    def _spin_limit(self) -> int:
        return CPU_SPIN_LIMIT if self.device.traits.is_cpu else SPIN_LIMIT

    @property
    def missed(self) -> bool:
        """Whether in the last launch another device or group did not come in time."""
        return int(self._mailbox[MAILBOX_WORDS["BOX_DONE"]]) != self._stamp

    @property
    def decided(self) -> tuple[int, bool]:
        """Which level the last launch decided on last, and whether nothing is there."""
        box = self._mailbox
        return int(box[MAILBOX_WORDS["BOX_DECIDED"]]), bool(box[MAILBOX_WORDS["BOX_ENDED"]])

    def look(self) -> cl.Event:
        """Enqueue a read of the counters, for a host that runs levels."""
        self._stamp = 0
        return super().look()

    @property
    def overflowed(self) -> bool:
        """Whether something found no room, as of the last launch of levels or the last look."""
        if self._stamp:
            return bool(self._mailbox[MAILBOX_WORDS["BOX_OVERFLOWED"]])
        return super().overflowed

    def noted(self, first: int, past: int) -> NDArray[np.uint32]:
        """Give what this device noted of levels, uint32 [levels, 4]; see `MAILBOX_WORDS`."""
        begin = MAILBOX_WORDS["BOX_LOG"]
        log = self._mailbox[begin : begin + LOG_LEVELS * LOG_WORDS].reshape(-1, LOG_WORDS)
        return log[np.arange(first, past) % LOG_LEVELS].copy()
