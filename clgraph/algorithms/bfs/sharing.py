"""What a search takes of which several devices, each with the whole graph, share wide levels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device import Pinned
from clgraph.engine.state import STATE_WORDS, check_hubs
from clgraph.engine.strategies.pull import ByEdges
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from clgraph.device import Device
    from clgraph.engine.blocks import BlockRows
    from clgraph.engine.resolved import Resolved
    from clgraph.engine.table import Table
    from clgraph.graph import Graph

__all__ = ["MOST_SHARED", "SHARED_BITS", "SHARED_STAGES", "SHARED_WORDS", "STAMPS", "Sharing"]

# An exchange over a bus takes as long as looking at some millions of unvisited vertices, or pushed
# edges, of one's own. From so many more than a share of all on a level is shared; with half as many
# a search of 2^24 vertices took 4 % longer, and one of 2^26 as long.
SHARE_FROM = 1 << 22
# Polls of another's mailbox, each over the bus; on a processor a poll is a read of its cache.
POLLS, CPU_POLLS = 1 << 20, 1 << 29

# Levels of one search that may be shared; so many numbers, modulo the other, go to each.
MOST_SHARED, STAMPS = 1 << 12, 1 << 32

LINE = 32  # words of 32 bits
# One line says up to which level there is anything; then counts of two levels and words of two.
MAILBOX_WORDS = {
    "BOX_READY": 0,
    "BOX_VERTICES": LINE,
    "BOX_EDGES": LINE + 2,
    "BOX_LEVEL": LINE + 4,
    "COUNTS_STRIDE": LINE,
    "BOX_FOUND": 3 * LINE,
}
# What stage words say of a level: whether it is shared. Distances leave a bit, hubs leave some.
SHARED_BITS = {"hubs": 22, "level": 31, "share": 1}
# Of levels that push, and of all. The first has the number of a stage that makes a bitmap, of which
# these have one.
SHARED_STAGES = {"narrow": 5, "put": 6, "take": 7}
# Kept beside the state by whoever decides: how many levels were shared, and what this one found.
SHARED_WORDS = {
    "EXCHANGES": STATE_WORDS["HEARTBEAT"] + 4,
    "SHARED_FOUND": STATE_WORDS["HEARTBEAT"] + 5,
    "SHARED_EDGES": STATE_WORDS["HEARTBEAT"] + 6,
}


class Sharing:
    """One device's part in levels that several share.

    Parameters
    ----------
    begins : sequence of int
        First vertex of each device, ascending, whole words of a bitmap; and the number of all.
    rank : int
        Which this one is.

    Attributes
    ----------
    copies : int
        How many others there are.
    """

    def __init__(self, begins: Sequence[int], rank: int) -> None:
        self._begins, self._rank = begins, rank
        self.copies = len(begins) - 2
        self._mailbox: NDArray[np.uint32]

    @property
    def address(self) -> int:
        """Where the mailbox is."""
        return int(self._mailbox.ctypes.data)

    @property
    def level_bytes(self) -> int:
        """Bytes that all devices together put into their mailboxes at a level."""
        return self._room_bytes

    def declare(
        self, table: Table, graph: Graph | BlockRows, config: Resolved, device: Device
    ) -> None:
        """Declare the arguments of ``bfs/copies/levels.mako``, and take memory for the mailbox."""
        self._check(config)
        check_hubs(SHARED_BITS, config.hubs_among(graph.degrees))
        bits = config.word_bits
        words = [-(-begin // bits) for begin in self._begins]
        room = -(-graph.n // bits)
        self._room_bytes = room * bits // 8
        self._mailbox = Pinned(
            device, MAILBOX_WORDS["BOX_FOUND"] + 2 * room * bits // 32, np.uint32
        ).array
        self._mailbox[:] = 0
        first, past = words[self._rank : self._rank + 2]
        table.number("uint", "own_word", first, "the first of this device's vertices")
        table.number("uint", "own_words", past - first)
        table.number("uint", "box_words", room, "of a level in a mailbox")
        table.number("ulong", "own_box", self.address, "where this device's mailbox is")
        others = [rank for rank in range(self.copies + 1) if rank != self._rank]
        for place, rank in enumerate(others):
            table.number("ulong", f"box{place}", 0, "another's, see `link`")
            if place:
                table.number("uint", f"box_begin{place}", words[rank], "the first of its words")
        polls = CPU_POLLS if device.traits.is_cpu else POLLS
        table.number("uint", "box_polls", polls, "until another is given up")
        table.number("uint", "share_from", SHARE_FROM)
        table.given("uint", "first_stamp", "a number for each level that is shared, ever larger")

    def begin(self, stamp: int) -> None:
        """Have nothing in the mailbox that is of a search whose levels have numbers from here.

        Numbers are compared modulo `STAMPS`, and half of all may have gone by since it was used.
        """
        self._mailbox[MAILBOX_WORDS["BOX_READY"]] = (stamp - 1) % STAMPS

    @staticmethod
    def _check(config: Resolved) -> None:
        """Refuse a configuration whose levels cannot be shared.

        Raises
        ------
        InvalidArgumentError
            If so.
        """
        frontier = config.frontier
        queued = frontier.name == "vertex" and frontier.visited == "bitmap" and frontier.exact
        persistent = config.synchronisation == "persistent" and config.kernels == "fused"
        simple = config.balance.scope != "grid" and not config.hub_bins
        simple = simple and not config.group_resident  # which ends when time has it
        if not (queued and persistent and simple and isinstance(config.pull, ByEdges)):
            raise InvalidArgumentError(
                "copies of a graph are searched with a queue of vertices and a bitmap, by a launch "
                "whose levels may pull, without group_resident; leave the configuration or "
                "partition='copies' out."
            )

    def link(self, table: Table, addresses: Sequence[int]) -> None:
        """Say where the mailboxes of all are."""
        others = [box for rank, box in enumerate(addresses) if rank != self._rank]
        for place, box in enumerate(others):
            table[f"box{place}"] = np.uint64(box)

    def terms(self) -> dict[str, Any]:
        """Give what kernels are rendered with."""
        return {
            "copies": self.copies,
            "mailbox_words": MAILBOX_WORDS,
            "most_shared": MOST_SHARED,
        }
