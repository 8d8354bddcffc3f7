"""What instrumented launches wrote down, as counters for each place of a kernel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from clgraph.profile.instrument import RECORD_WORDS, SITE_WORDS, SPREAD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from clgraph.profile.instrument import Site

__all__ = ["Chain", "Totals", "decoded_counters"]


class Chain(NamedTuple):
    """What SIMD groups did one after the other: of each kind, the most that one of them did.

    Attributes
    ----------
    operations : float
        Lane instructions, by the weight of blocks.
    requests : float
        To global memory, that were waited for: no stores.
    passes : float
        Over the banks of local memory.
    barriers : float
        Of the work-group.
    """

    operations: float = 0.0
    requests: float = 0.0
    passes: float = 0.0
    barriers: float = 0.0

    def followed_by(self, other: Chain) -> Chain:
        """Give that of two launches, one after the other."""
        return Chain(*(a + b for a, b in zip(self, other, strict=True)))


@dataclass(slots=True)
class Totals:
    """Counters of a kernel, summed over its launches.

    Attributes
    ----------
    sites : tuple of Site
        The places.
    counts : ndarray of float64, shape (sites, 5)
        Requests, lanes, bytes; then lines and sectors, or passes and the fewest possible. Of a
        block executions and lanes, of a barrier executions and cycles.
    executed, possible : ndarray of float64
        Lane instructions of each SIMD group, by the weight of blocks.
    lanes : int
        Of a SIMD group.
    share : float
        Of the work that was written down; counts are scaled up by it.
    note : str
        What was left out.
    balance : float or None
        Mean over largest work of the SIMD groups of a work-group, mean of the work-groups; None
        where a work-group is one SIMD group, or nobody wrote it down.
    chain : Chain
        What SIMD groups did one after the other, summed over the launches.
    """

    sites: tuple[Site, ...]
    counts: NDArray[np.float64]
    executed: NDArray[np.float64]
    possible: NDArray[np.float64]
    lanes: int
    share: float = 1.0
    note: str = ""
    balance: float | None = None
    chain: Chain = field(default_factory=Chain)

    def where(self, *kinds: str) -> NDArray[np.float64]:
        """Give the rows of places of some kinds."""
        chosen = [site.kind in kinds for site in self.sites]
        rows: NDArray[np.float64] = self.counts[np.array(chosen, bool)]
        return rows

    def accesses(self) -> dict[int, float]:
        """Give accesses of work-items to global memory by their bytes; odd sizes count as bytes."""
        found: dict[int, float] = {}
        for row in self.where("load", "store", "atomic"):
            if row[1] > 0:
                size = round(row[2] / row[1])
                found[size] = found.get(size, 0.0) + float(row[1])
        return found

    def add(self, *others: Totals) -> None:
        """Add those of other launches of the same kernel."""
        self.executed = np.concatenate([self.executed, *(other.executed for other in others)])
        self.possible = np.concatenate([self.possible, *(other.possible for other in others)])
        for other in others:
            self.counts += other.counts
            self.share = min(self.share, other.share)
            self.note = self.note or other.note
            self.chain = self.chain.followed_by(other.chain)
            both = [one for one in (self.balance, other.balance) if one is not None]
            self.balance = sum(both) / len(both) if both else None


def decoded_counters(
    words: NDArray[np.uint64], records: NDArray[np.uint64], sites: Sequence[Site]
) -> Totals:
    """Read the counters that lanes added up themselves."""
    table = words[: SPREAD * len(sites) * SITE_WORDS].reshape(SPREAD, len(sites), SITE_WORDS)
    warps = records.reshape(-1, RECORD_WORDS)
    ran = warps[:, 5] > 0
    most = warps[ran][:, [5, 8, 9, 10]].max(axis=0, initial=0).astype(np.float64)
    return Totals(
        tuple(sites),
        table.sum(axis=0).astype(np.float64),
        warps[ran, 4].astype(np.float64),
        warps[ran, 5].astype(np.float64),
        32,
        chain=Chain(*most.tolist()),
    )
