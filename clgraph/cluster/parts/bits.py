"""What a device of a cluster holds that sends a bitmap of what it finds to all others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.cluster.parts.part import PART_WORDS, SEEN, Part
from clgraph.cluster.parts.partition import RANGE_GRAIN
from clgraph.engine.resident import unreachable_words
from clgraph.graph.csr import unsigned

if TYPE_CHECKING:
    from clgraph.cluster.config import PartitionPlan
    from clgraph.cluster.parts.partition import Ownership
    from clgraph.cluster.parts.share import Share
    from clgraph.device import Allocation
    from clgraph.device.programs.kernel import Argument

__all__ = ["BitPart"]


class BitPart(Part):
    """A part that sends every other device what it found, a bit for each vertex.

    Attributes
    ----------
    inbox : Allocation
        The others' bitmaps, one behind the other.
    """

    EXCHANGE = "bits"
    WHOLE_TREE = True

    def __init__(
        self, share: Share, partition_plan: PartitionPlan, *where: Any, **common: Any
    ) -> None:
        super().__init__(share, partition_plan, *where, **common)
        self._reached = self._memory.allocate("reached", self._words, self._word)
        peers = self._parts - 1
        self.inbox = self._memory.allocate("inbox", peers * self._words, self._word)
        # What narrow levels send instead: a number, and so many vertices.
        self.list = self._memory.allocate("list", max(self.map_bytes // 4, 1), np.uint32)
        bits = self.config.word_bits
        self._first_word = np.uint32(self.owned.first // bits)
        self._own_words = np.uint32(-(-self.owned.count // bits))
        self._merge = self._kernel("bfs/parts_bits.cl", "bfs_parts_merge", self.config)
        self._mark = self._kernel("bfs/parts_bits.cl", "bfs_parts_mark", self.config)
        self._lists = False
        self._all_words = np.uint32(self._words)
        self._floor = np.uint32(partition_plan.hub_floor)
        self._peers = tuple(np.uint32(count) for count in range(self._parts))
        if self.config.pull:
            self._pull = self._kernel("bfs/parts_bits.cl", "bfs_parts_pull", self.config)
            self._back = self._in_rows(share)

    def _in_rows(self, share: Share) -> tuple[Allocation, ...]:
        held, degrees = (self._indptr, self._indices), self.degrees
        if share.back is not None:
            indptr, indices = share.back
            held = (
                self._memory.upload("in_indptr", indptr.astype(self._indptr.dtype)),
                self._memory.upload("in_indices", unsigned(indices)),
            )
            degrees = np.diff(indptr)
        words = unreachable_words(degrees, self.config.word_bits)
        return (*held, self._memory.upload("unreachable", words))

    @property
    def found(self) -> Allocation:
        """Bitmap of what this device knows to be reached."""
        return self._found

    @property
    def map_bytes(self) -> int:
        """Bytes of a bitmap of the whole graph."""
        return self._words * self._word.itemsize

    def own_bytes(self, owned: Ownership) -> tuple[int, int]:
        """First byte of somebody's vertices in such a bitmap, and how many they have."""
        # In grains, since ranks on different devices may have words of different sizes.
        return owned.first // 8, -(-owned.count // RANGE_GRAIN) * (RANGE_GRAIN // 8)

    @property
    def _bitmaps(self) -> tuple[Allocation, ...]:
        return (self._found, self._reached, self.list)

    @property
    def _targets(self) -> tuple[Argument, ...]:
        return (self.predecessors, self.list, self._slots[self._lists])

    def expand(self, level: int, *, lists: bool = False) -> None:
        """Enqueue the expansion of the part of the frontier at distance `level`.

        Parameters
        ----------
        level : int
            Of the frontier.
        lists : bool
            Whether to list what is found too; there must be room for an edge each.
        """
        self._lists = lists
        super().expand(level)

    def mark(self, peers: int) -> None:
        """Enqueue the marking of what so many lists of others hold, one behind the other."""
        self._launch(
            self._mark,
            *(self.inbox, np.uint32(self.map_bytes // 4), np.uint32(peers), self._found),
        )

    def found_edges(self, level: int) -> int:
        """Out-edges of the vertices here at distance `level`, as last seen."""
        edges = self._seen("NEXT_EDGES", level)
        return edges | self._seen("NEXT_EDGES_HIGH", level) << 32

    def found_hubs(self) -> int:
        """Hubs among the vertices that all levels until now found here, as last seen."""
        return int(self._mirror.words[PART_WORDS["FOUND_HUBS"] - SEEN])

    def pull(self, level: int) -> None:
        """Enqueue the search of owned vertices for in-neighbours at distance `level`."""
        self._launch(
            self._pull,
            *self._back,
            *(self._first_word, self._own_words, self._reached, self._found),
            *(self.predecessors, self._state, self._slots[level & 1]),
        )

    def merge(self, level: int, peers: int) -> None:
        """Enqueue the merging of so many bitmaps of others; what is new is at distance `level`."""
        self._launch(
            self._merge,
            *(self._indptr, self._indices, self._n, np.uint32(level), self._all_words),
            *(self._first_word, self._own_words, self.inbox, self._peers[peers]),
            *(self._reached, self._found, self.list),
            *(self.distances, self._frontier, self._hubs),
            *(self._floor, self._state, self._slots[level & 1]),
        )
