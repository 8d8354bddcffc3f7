"""What ranks find for each other lies in bins on their devices, and goes to whom it is for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from clgraph.cluster.ranks.comm import Mail, Piece

if TYPE_CHECKING:
    from collections.abc import Generator

    import numpy as np
    from numpy.typing import NDArray

    from clgraph.cluster.ranks.butterfly import Butterfly
    from clgraph.device import Allocation

__all__ = ["bins_exchanged"]


class Binning(Protocol):
    """What a rank holds that has a bin for each.

    Attributes
    ----------
    rank : int
        Whose it is.
    bins, inbox : Allocation
        What it found, by whom that is for, and what it is sent.
    bin_begins : int64 array [ranks + 1]
        Where each bin begins.
    candidate_bytes : int
        Of one of what is in them.
    """

    rank: int
    bins: Allocation
    inbox: Allocation
    bin_begins: NDArray[np.int64]
    candidate_bytes: int


def bins_exchanged(
    butterfly: Butterfly, part: Binning, counts: NDArray[np.int64]
) -> Generator[Any, Any, tuple[int, int, int]]:
    """Send what bins hold to whom it is for; a rank's own bin stays where it is.

    Parameters
    ----------
    butterfly : Butterfly
        Of the rank.
    part : Binning
        What it holds.
    counts : int64 array [ranks, ranks]
        How many each has for each.

    Returns
    -------
    tuple
        Bytes that all send; rounds; and how many came, which lie in the inbox by sender.
    """
    rank, size, mail, place = part.rank, part.candidate_bytes, Mail(), 0
    for peer in range(counts.shape[0]):
        if peer == rank:
            continue
        count = int(counts[peer, rank])
        if count:
            mail.receives.append(Piece(peer, part.inbox, place * size, count * size))
            place += count
        count = int(counts[rank, peer])
        if count:
            first = int(part.bin_begins[peer]) * size
            mail.sends.append(Piece(peer, part.bins, first, count * size))
    sent_bytes, rounds = yield from butterfly.to_each(mail, size * counts)
    return sent_bytes, rounds, place
