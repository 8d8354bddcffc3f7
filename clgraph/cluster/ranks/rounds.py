"""What ranks send by messages straight to whom they are for, or in rounds: bytes of each rank.

In each round a rank gives one message to the rank 1, 2, 4, ... places on. Everybody knows what
everybody sends, so that all choose the same way by `is_less`:

- `gathered`: what each has for all. As many bytes arrive as straight.
- `united`: bitmaps, whose union all want. A rank is sent one a round and not one by each other.
- `combined`: what each has for the first, which wants the union.
- `delivered`: what each has for each. It travels as many rounds as the distance has bits that are
  set, so more bytes are sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["combined", "combining", "delivered", "gathered", "hops", "is_less", "united"]


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


def combining(ranks: int) -> list[NDArray[np.bool_]]:
    """Give for each round who passes on what it has to a rank that is nearer to the first.

    Whose places to the first have their lowest bit set there; who has passed on has no more to do.
    """
    places = -np.arange(ranks) % ranks
    return [places & (2 * hop - 1) == hop for hop in hops(ranks)]


def combined(sizes: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Give the bytes that ranks send in rounds, at most, if each has so many for the first rank.

    Whoever is sent some puts them together with its own, and no union has more than `most`.
    """
    held, rounds = sizes, []
    for hop, moving in zip(hops(sizes.size), combining(sizes.size), strict=True):
        sent = np.where(moving, held, 0)
        held = np.minimum(held + np.roll(sent, hop), most)
        rounds.append(sent)
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
