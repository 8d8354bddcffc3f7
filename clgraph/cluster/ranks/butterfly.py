"""Sending in rounds: each rank gives one message a round, to the rank 1, 2, 4, ... places on.

What was sent in one round travels on in the next, so that ceil(log2 p) messages of each of p ranks
do what p - 1 do that go straight to whom they are for. Any number of ranks will do. `rounds` says
what either way sends.

References
----------
.. [1] J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, "Efficient algorithms for all-to-all
       communications in multiport message-passing systems", IEEE TPDS 8, 1997.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.cluster.ranks.comm import AllGather, Shift, Swap
from clgraph.cluster.ranks.rounds import (
    combined,
    combining,
    delivered,
    gathered,
    hops,
    is_less,
    united,
)
from clgraph.device.lazy import cl
from clgraph.device.memory.copying import finish_copy

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from numpy.typing import NDArray

    from clgraph.cluster.ranks.comm import Communicator, Mail, Piece
    from clgraph.device import Device

    Rounds = Generator[Any, Any, None]

__all__ = ["Butterfly", "butterflies"]


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

    def arrays_to_each(
        self, arrays: Sequence[NDArray[Any]]
    ) -> Generator[Any, Any, tuple[list[NDArray[Any]], int, int]]:
        """Send each rank an array of the host, all of one type; see `to_each`.

        Returns
        -------
        tuple
            What was received, by sender; bytes that all send; and rounds.
        """
        own = np.array([array.nbytes for array in arrays], np.int64)
        sizes = yield AllGather(lambda: own)
        straight = sizes.copy()
        np.fill_diagonal(straight, 0)
        rounds = delivered(straight)
        if not self._in_rounds(straight, rounds):
            received = yield Swap(arrays)
            return received, int(straight.sum()), int(straight.any())
        order = [(self._rank + place) % self._ranks for place in range(self._ranks)]
        held = [np.ascontiguousarray(arrays[peer]).view(np.uint8) for peer in order]
        yield from self._carry(held, self._by_distance(sizes))
        # The room that they are in is used again.
        by_sender = [held[(self._rank - peer) % self._ranks].copy() for peer in range(self._ranks)]
        found = [array.view(arrays[0].dtype) for array in by_sender]
        return found, int(rounds.sum()), rounds.shape[0]

    def to_first(
        self,
        array: NDArray[Any],
        unite: Callable[[Sequence[NDArray[Any]]], NDArray[Any]],
        most: int,
    ) -> Generator[Any, Any, tuple[NDArray[Any], int, int]]:
        """Have the first rank put together what all have.

        Parameters
        ----------
        array : array
            Of this rank, on the host; of one dimension, and of one type on all.
        unite : callable
            Gives the union of several; in rounds whoever is sent some unites that with its own.
        most : int
            Elements of a union.

        Returns
        -------
        tuple
            The union, on the first rank; bytes that all send; and rounds.
        """
        sizes = (yield AllGather.of(array.nbytes))[:, 0]
        straight = np.zeros((self._ranks, self._ranks), np.int64)
        straight[1:, 0] = sizes[1:]
        if not self._in_rounds(straight, combined(sizes, most * array.itemsize)):
            none = array[:0]
            given = [none if self._rank == 0 or peer else array for peer in range(self._ranks)]
            received = yield Swap(given)
            others = [other for other in received if other.size]
            union = unite([array, *others]) if others else array
            return union, int(straight.sum()), int(straight.any())
        sent_bytes = 0
        for hop, moving in zip(hops(self._ranks), combining(self._ranks), strict=True):
            leaving = array if moving[self._rank] else array[:0]
            sizes = (yield AllGather.of(leaving.nbytes))[:, 0]
            came = np.empty(int(sizes[self._rank - hop]) // array.itemsize, array.dtype)
            yield Shift(hop, np.ascontiguousarray(leaving).view(np.uint8), came.view(np.uint8))
            if came.size:
                array = unite([array, came])
            sent_bytes += int(sizes.sum())
        return array, sent_bytes, len(hops(self._ranks))

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
        far = self._by_distance(sizes)
        room = self._room("own", sum(far[self._rank]))
        ends = np.cumsum(far[self._rank])
        held = [room[end - size : end] for end, size in zip(ends, far[self._rank], strict=True)]
        self._read(mail, *(held[(piece.peer - self._rank) % self._ranks] for piece in mail.sends))
        yield from self._carry(held, far)
        for piece in mail.receives:
            self._write(piece, held[(self._rank - piece.peer) % self._ranks])

    def _by_distance(self, sizes: NDArray[np.int64]) -> list[list[int]]:
        """Give bytes by rank and by how far they go; there is one piece of each distance."""
        ranks = np.arange(self._ranks)
        found: list[list[int]] = sizes[
            ranks[:, None], (ranks[:, None] + ranks) % self._ranks
        ].tolist()
        return found

    def _carry(self, held: list[NDArray[np.uint8]], far: list[list[int]]) -> Rounds:
        """Exchange pieces, each in the place of how far it goes, for those that come so far."""
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


def butterflies(comm: Communicator) -> list[Butterfly]:
    """Give one for each rank of this process."""
    return [Butterfly(comm, *of) for of in zip(comm.ranks, comm.devices, strict=True)]
