"""What a device of a cluster holds that sends a bitmap of what it finds to all others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.bfs.likely import likely_among
from clgraph.algorithms.bfs.stages import likely_kept
from clgraph.cluster.parts.part import PART_WORDS, SEEN, Part
from clgraph.cluster.parts.partition import RANGE_GRAIN
from clgraph.device import Mirror
from clgraph.engine.resident import unreachable_words
from clgraph.graph.csr import unsigned

if TYPE_CHECKING:
    import pyopencl as cl
    from numpy.typing import NDArray

    from clgraph.cluster.config import PartitionPlan
    from clgraph.cluster.parts.partition import Ownership
    from clgraph.cluster.parts.share import Share
    from clgraph.device import Allocation
    from clgraph.device.programs.kernel import Argument

__all__ = ["MOST_ALONE", "NARROW_EDGES", "BitPart", "Ran"]

# A frontier with no more edges is run by one work-group, which takes less for it than a launch, a
# look and an exchange; and so many levels of it in one launch, some milliseconds.
NARROW_EDGES, MOST_ALONE = 4096, 1024
_NOTES = ("NOTE_LEVEL", "NOTE_LEAVES", "NOTE_LISTED", "NOTE_LEFT_OUT")
NOTE_WORDS = {name: place for place, name in enumerate(_NOTES)} | {
    "NOTE_EDGES": 4,
    "NOTE_EXPLORED": 6,
    "NOTE_VERTICES": 8,
}


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of levels that a rank ran on alone.

    Attributes
    ----------
    level : int
        Distance of the frontier that was reached.
    leaves : int
        Whether this is expanded and what it found not merged, since some of it is another rank's.
    listed : int
        Vertices that the others have not heard of, as far as they are listed.
    left_out : int
        Whether there are more.
    edges, explored : int
        Of the frontier that was reached, and of those before that were found.
    hubs : int
        That the rank has found until now.
    vertices : int
        Of the last frontier that was found; 1 if none was looked for.
    """

    level: int
    leaves: int
    listed: int
    left_out: int
    edges: int
    explored: int
    hubs: int
    vertices: int


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
        self,
        share: Share,
        partition_plan: PartitionPlan,
        *where: Any,
        runs_on: bool = False,
        **common: Any,
    ) -> None:
        super().__init__(share, partition_plan, *where, **common)
        self._reached = self._memory.allocate("reached", self._words, self._word)
        peers = self._parts - 1
        self.inbox = self._memory.allocate("inbox", peers * self._words, self._word)
        # What narrow levels send instead: a number, and so many vertices.
        least = 1 + NARROW_EDGES if runs_on else 1
        self.list = self._memory.allocate("list", max(self.map_bytes // 4, least), np.uint32)
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
        if runs_on:
            self._alone, _ = self._kernel(
                "bfs/parts_alone.cl", "bfs_parts_alone", self.config, note_words=NOTE_WORDS
            )
            words = NOTE_WORDS["NOTE_VERTICES"] + MOST_ALONE
            self._notes = self._memory.allocate("notes", words, np.uint32)
            self._note_mirror = Mirror(self.device, self._notes, 0, words)

    def _in_rows(self, share: Share) -> tuple[Argument, ...]:
        indptr, indices = self._indptr, self._indices
        degrees = self.degrees
        if share.back is not None:
            begins, sources = share.back
            indptr = self._memory.upload("in_indptr", begins.astype(self._indptr.dtype))
            indices = self._memory.upload("in_indices", unsigned(sources))
            degrees = np.diff(begins)
        words = unreachable_words(degrees, self.config.word_bits)
        held = indptr, indices, self._memory.upload("unreachable", words)
        kept = likely_kept(self.config)
        if not kept:
            return held
        return (*held, self._likely(indptr, indices, share.facts.n, kept))

    def _likely(self, in_indptr: Allocation, in_indices: Any, n: int, kept: int) -> Allocation:
        """Give so many in-neighbours of each vertex that are tried first."""
        return likely_among(in_indptr, in_indices, self.owned.first, n, kept, self.device)

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

    def run_on(self, first: int, past: int, edges: int, *, left_out: bool) -> cl.Event:
        """Enqueue the levels of a frontier that this rank has alone; give what to wait for.

        Parameters
        ----------
        first, past : int
            Distance of the frontier, which has so many `edges`, and of one that is not expanded.
        edges : int
            At least one, and not more than `NARROW_EDGES`.
        left_out : bool
            Whether others have not heard of vertices that are not listed.
        """
        size = self.config.group_size
        self._alone.launch(
            size,
            size,
            *(self._indptr, self._indices, *self._line, self._n),
            *(self._first_word, self._own_words, self._reached, self._found),
            *(self.list, np.uint32(self.list.count - 1), self.distances, self.predecessors),
            *(self._frontier, self._hubs, self._floor, self._state, self._notes),
            *(np.uint32(first), np.uint32(past), np.uint32(edges), np.uint32(NARROW_EDGES)),
            np.uint32(left_out),
        )
        self.look()
        return self._note_mirror.enqueue()

    def ran(self, first: int) -> tuple[Ran, NDArray[np.int64]]:
        """Give what came of the levels from `first` on, and how many vertices each found."""
        words = self._note_mirror.words.astype(np.int64)
        level = int(words[NOTE_WORDS["NOTE_LEVEL"]])
        begin = NOTE_WORDS["NOTE_VERTICES"]
        vertices = words[begin : begin + level - first]

        def pair(name: str) -> int:
            place = NOTE_WORDS[name]
            return int(words[place] | words[place + 1] << 32)

        leaves, listed, left_out = (int(words[NOTE_WORDS[name]]) for name in _NOTES[1:])
        return Ran(
            *(level, leaves, listed, left_out, pair("NOTE_EDGES"), pair("NOTE_EXPLORED")),
            hubs=self.found_hubs(),
            vertices=int(vertices[-1]) if vertices.size else 1,
        ), vertices
