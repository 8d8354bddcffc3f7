"""What instrumented launches wrote down, as counters for each place of a kernel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from clgraph.profile.instrument.words import HOT_WORDS, SITE_WORDS, SPREAD, STAGE_WORDS, STAGES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from clgraph.profile.instrument.sites import Site

__all__ = ["Chain", "Totals", "decoded_counters"]

# Of a record, what SIMD groups do in a row, and what it came to when all work-groups last met.
_CHAIN_WORDS = [5, 8, 9, 10, 11]
_MET_WORDS = [12, 13, 14, 15, 16]
# Of an address: atomics of work-items, and of SIMD groups above them.
_LANES, _REQUESTS = np.uint64(0xFFFFFFFF), np.uint64(32)


class Chain(NamedTuple):
    """What SIMD groups did one after the other: of each kind, the most that one of them did.

    Between two meetings of all work-groups, where that was counted, and summed over them.

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
    hits : float
        Requests that the nearest cache answered, which are not among the others.
    """

    operations: float = 0.0
    requests: float = 0.0
    passes: float = 0.0
    barriers: float = 0.0
    hits: float = 0.0

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
    missed : ndarray of float64, shape (sites,), or None
        Sectors that the nearest cache did not hold; None where nobody counted them.
    contended : float
        Atomics of work-items at the address that most went to, summed over the launches.
    queued : float
        The same of SIMD groups, whose lanes go to an address together.
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
    missed: NDArray[np.float64] | None = None
    contended: float = 0.0
    queued: float = 0.0

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
            if self.missed is not None and other.missed is not None:
                self.missed += other.missed
            self.contended += other.contended
            self.queued += other.queued
            self.share = min(self.share, other.share)
            self.note = self.note or other.note
            self.chain = self.chain.followed_by(other.chain)
            both = [one for one in (self.balance, other.balance) if one is not None]
            self.balance = sum(both) / len(both) if both else None


def decoded_counters(
    words: NDArray[np.uint64],
    records: NDArray[np.uint64],
    sites: Sequence[Site],
    *,
    beside: bool = True,
) -> Totals:
    """Read the counters that lanes added up themselves.

    Parameters
    ----------
    words, records : ndarray of uint64, the second one a row
        Behind the header, and those of SIMD groups.
    sites : sequence of Site
        The places.
    beside : bool
        Whether stages and addresses stand behind the counters.
    """
    counters = SPREAD * max(len(sites), 1) * SITE_WORDS
    table = words[:counters].reshape(SPREAD, -1, SITE_WORDS).sum(axis=0)[: len(sites)]
    stages = words[counters:][: STAGES * STAGE_WORDS if beside else 0].reshape(-1, STAGE_WORDS)
    addresses = words[counters + STAGES * STAGE_WORDS :][: HOT_WORDS if beside else 0]
    ran = records[:, 5] > 0
    since = records[ran][:, _CHAIN_WORDS] - records[ran][:, _MET_WORDS]
    most = stages.sum(axis=0) + since.max(axis=0, initial=0)
    return Totals(
        tuple(sites),
        table[:, :-1].astype(np.float64),
        records[ran, 4].astype(np.float64),
        records[ran, 5].astype(np.float64),
        32,
        chain=Chain(*most.astype(np.float64).tolist()),
        missed=table[:, -1].astype(np.float64),
        contended=float((addresses & _LANES).max(initial=0)),
        queued=float((addresses >> _REQUESTS).max(initial=0)),
    )
