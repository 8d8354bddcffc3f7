"""Sending in rounds: each rank gives one message a round, to the rank 1, 2, 4, ... places on.

What was sent in one round travels on in the next, so that ceil(log2 p) messages of each of p ranks
do what p - 1 do that go straight to whom they are for. Any number of ranks will do. Everybody knows
what everybody sends, so that all choose the same way:

- `gathered`: what each has for all. As many bytes arrive as straight.
- `united`: bitmaps, whose union all want. A rank is sent one a round and not one by each other.
- `delivered`: what each has for each. It travels as many rounds as the distance has bits that are
  set, so more bytes are sent.

References
----------
.. [1] J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, "Efficient algorithms for all-to-all
       communications in multiport message-passing systems", IEEE TPDS 8, 1997.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.cluster.ranks.comm import Shift
from clgraph.device.lazy import cl
from clgraph.device.memory.copying import finish_copy

if TYPE_CHECKING:
    from collections.abc import Generator

    from numpy.typing import NDArray

    from clgraph.cluster.ranks.comm import Communicator, Mail, Piece
    from clgraph.device import Device

    Rounds = Generator[Any, Any, None]

__all__ = ["Butterfly", "delivered", "gathered", "hops", "is_less", "united"]


def hops(ranks: int) -> list[int]:
    """Give how far messages of each round go: powers of two below the number of ranks."""
    return [1 << power for power in range((ranks - 1).bit_length())]


def _sums_back(sizes: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Give for each rank the sum of its number and of those of the ranks before it, so many."""
    ranks = sizes.size
    sums = np.concatenate([[0], np.cumsum(np.concatenate([sizes, sizes]))])
    ends = np.arange(ranks, 2 * ranks) + 1
    found: NDArray[np.int64] = sums[ends] - sums[ends - count]
    return found


def gathered(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the bytes that ranks send in rounds if each has so many for all, [rounds, ranks]."""
    ranks = sizes.size
    rounds = [_sums_back(sizes, min(hop, ranks - hop)) for hop in hops(ranks)]
    return np.array(rounds, np.int64).reshape(-1, ranks)


def united(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the bytes that ranks send in rounds if each has a bitmap for all, or nothing."""
    whole = sizes.max(initial=0)
    rounds = [np.where(_sums_back(sizes, hop) > 0, whole, 0) for hop in hops(sizes.size)]
    return np.array(rounds, np.int64).reshape(-1, sizes.size)


def delivered(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the bytes that ranks send in rounds if rank i has ``sizes[i, j]`` for rank j."""
    ranks = sizes.shape[0]
    places = np.arange(ranks)
    far = sizes[places[:, None], (places[:, None] + places) % ranks]  # [rank, places on]
    rounds = []
    for hop in hops(ranks):
        moving = np.flatnonzero(places & hop)
        # By then they are as many places on as the lower bits of their distance say.
        senders = (places[:, None] + (moving & (hop - 1))) % ranks
        sent = np.zeros(ranks, np.int64)
        np.add.at(sent, senders, far[:, moving])
        rounds.append(sent)
    return np.array(rounds, np.int64).reshape(-1, ranks)


def is_less(straight: NDArray[np.int64], rounds: NDArray[np.int64], message_bytes: int) -> bool:
    """Whether rounds cost less than messages that go straight, all at once.

    A round costs as much as for the rank that sends most, messages that go straight as much as for
    the rank that sends or is sent most; each message counts as so many bytes more.

    Parameters
    ----------
    straight : int64 array [ranks, ranks]
        Bytes from rank to rank.
    rounds : int64 array [rounds, ranks]
        Bytes that each rank sends in each round.
    message_bytes : int
        What a message costs, in bytes.
    """
    messages = straight + message_bytes * (straight > 0)
    at_once = max(messages.sum(0).max(initial=0), messages.sum(1).max(initial=0))
    one_by_one = (rounds + message_bytes * (rounds > 0)).max(axis=1, initial=0).sum()
    return bool(one_by_one < at_once)


class Butterfly:
    """What a rank sends to others: straight, or in rounds where these cost less.

    Parameters
    ----------
    comm : Communicator
        Of the ranks.
    rank : int
        This one.
    device : Device
        Of this rank, whose arrays are sent.
    """

    def __init__(self, comm: Communicator, rank: int, device: Device) -> None:
        self._comm, self._rank, self._ranks = comm, rank, comm.size
        self._queue = device.queue
        self._rooms: dict[str, NDArray[np.uint8]] = {}
        self._under_way: list[cl.Event] = []

    def _in_rounds(self, straight: NDArray[np.int64], rounds: NDArray[np.int64]) -> bool:
        cost = self._comm.message_bytes
        return cost is not None and is_less(straight, rounds, cost)

    def to_all(
        self, mail: Mail, sizes: NDArray[np.int64], *, unite: bool
    ) -> Generator[Any, Any, tuple[int, int, int]]:
        """Send the same piece to all.

        Parameters
        ----------
        mail : Mail
            Of this rank, straight: its piece for each, and a place for each other's.
        sizes : int64 array [ranks]
            Bytes of the piece of each rank.
        unite : bool
            Whether the first place in `mail` is to have the union of the others' bitmaps.

        Returns
        -------
        tuple
            Bytes that all send; rounds; and how many pieces arrived in the places of `mail`.
        """
        straight = np.repeat(sizes[:, None], self._ranks, axis=1)
        np.fill_diagonal(straight, 0)
        rounds = united(sizes) if unite else gathered(sizes)
        if not self._in_rounds(straight, rounds):
            yield mail
            return int(straight.sum()), int(straight.any()), len(mail.receives)
        if unite:
            yield from self._unite(mail, sizes, rounds)
            arrived = min(len(mail.receives), 1)
        else:
            yield from self._gather(mail, sizes)
            arrived = len(mail.receives)
        return int(rounds.sum()), rounds.shape[0], arrived

    def to_each(self, mail: Mail, sizes: NDArray[np.int64]) -> Generator[Any, Any, tuple[int, int]]:
        """Send each other rank a piece of its own; give the bytes that all send, and rounds.

        Parameters
        ----------
        mail : Mail
            Of this rank, straight.
        sizes : int64 array [ranks, ranks]
            Bytes from rank to rank; what ranks have for themselves stays there.
        """
        straight = sizes.copy()
        np.fill_diagonal(straight, 0)
        rounds = delivered(straight)
        if not self._in_rounds(straight, rounds):
            yield mail
            return int(straight.sum()), int(straight.any())
        yield from self._deliver(mail, straight)
        return int(rounds.sum()), rounds.shape[0]

    def _gather(self, mail: Mail, sizes: NDArray[np.int64]) -> Rounds:
        """Have the pieces of all behind one another, this rank's first and the others' by how far.

        What a rank has been sent is the front of what it sends in the next round.
        """
        order = (self._rank - np.arange(self._ranks)) % self._ranks
        ends = np.cumsum(sizes[order])
        room = self._room("gathered", int(ends[-1]))
        self._read(mail, room)
        for hop in hops(self._ranks):
            count = min(hop, self._ranks - hop)
            yield Shift(hop, room[: ends[count - 1]], room[ends[hop - 1] : ends[hop + count - 1]])
        begins = ends - sizes[order]
        for piece in mail.receives:
            self._write(piece, room[begins[(self._rank - piece.peer) % self._ranks] :])

    def _unite(self, mail: Mail, sizes: NDArray[np.int64], rounds: NDArray[np.int64]) -> Rounds:
        """Put bitmaps together; one that is met twice does no harm."""
        whole, has = int(sizes.max()), bool(sizes[self._rank])
        known, other = self._room("known", whole), self._room("other", whole)
        self._read(mail, known)
        for hop, sent in zip(hops(self._ranks), rounds, strict=True):
            met = bool(sent[self._rank - hop])
            yield Shift(hop, known[: sent[self._rank]], (other if has else known)[: met * whole])
            if met and has:
                words = known.view(np.uint64)
                np.bitwise_or(words, other.view(np.uint64), out=words)
            has = has or met
        for piece in mail.receives[:1]:
            self._write(piece, known)

    def _deliver(self, mail: Mail, sizes: NDArray[np.int64]) -> Rounds:
        """Have pieces travel as far as each round goes whose bit is set in how far they go."""
        ranks = np.arange(self._ranks)
        far = sizes[ranks[:, None], (ranks[:, None] + ranks) % self._ranks].tolist()
        # By how far a piece goes in all: there is one of each distance, wherever it came from.
        room = self._room("own", sum(far[self._rank]))
        ends = np.cumsum(far[self._rank])
        held = [room[end - size : end] for end, size in zip(ends, far[self._rank], strict=True)]
        self._read(mail, *(held[(piece.peer - self._rank) % self._ranks] for piece in mail.sends))
        for hop in hops(self._ranks):
            moving = [place for place in range(self._ranks) if place & hop]
            coming = [
                far[(self._rank - (place & (2 * hop - 1))) % self._ranks][place] for place in moving
            ]
            leaving = self._room("leaving", sum(held[place].size for place in moving))
            np.concatenate([held[place] for place in moving], out=leaving)
            came = self._room(f"came {hop}", sum(coming))
            yield Shift(hop, leaving, came)
            for place, end, size in zip(moving, np.cumsum(coming), coming, strict=True):
                held[place] = came[end - size : end]
        for piece in mail.receives:
            self._write(piece, held[(self._rank - piece.peer) % self._ranks])

    def _read(self, mail: Mail, *rooms: NDArray[np.uint8]) -> None:
        """Copy what is sent to the host: each piece to a place of its own, or the same to one."""
        finish_copy(*self._under_way)  # out of memory that is now written anew
        self._under_way.clear()
        reads = [
            cl.enqueue_copy(
                self._queue,
                room[: piece.size_bytes],
                piece.array.buffer,
                src_offset=piece.first_byte,
                is_blocking=False,
            )
            for piece, room in zip(mail.sends, rooms, strict=False)
        ]
        finish_copy(*reads)

    def _write(self, piece: Piece, room: NDArray[np.uint8]) -> None:
        self._under_way.append(
            cl.enqueue_copy(
                self._queue,
                piece.array.buffer,
                room[: piece.size_bytes],
                dst_offset=piece.first_byte,
                is_blocking=False,
            )
        )

    def _room(self, name: str, size_bytes: int) -> NDArray[np.uint8]:
        """Give memory that is kept, and at least doubled where it is too small."""
        held = self._rooms.get(name)
        if held is None or held.size < size_bytes:
            grown = max(size_bytes, 2 * held.size if held is not None else 1 << 12)
            held = self._rooms[name] = self._comm.staging(-(-grown // 8) * 8)
        return held[:size_bytes]
