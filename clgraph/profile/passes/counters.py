"""What instrumented launches wrote down, as counters for each place of a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from clgraph.profile.instrument import RECORD_WORDS, SITE_WORDS, SPREAD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from clgraph.profile.instrument import Site

__all__ = ["Totals", "decoded_counters"]


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
    longest : float
        Lane instructions of the SIMD group that had most of them, summed over the launches.
    """

    sites: tuple[Site, ...]
    counts: NDArray[np.float64]
    executed: NDArray[np.float64]
    possible: NDArray[np.float64]
    lanes: int
    share: float = 1.0
    note: str = ""
    balance: float | None = None
    longest: float = 0.0

    def __post_init__(self) -> None:
        """Find the SIMD group that had most to do."""
        self.longest = self.longest or float(self.possible.max(initial=0.0))

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

    def add(self, other: Totals) -> None:
        """Add those of another launch of the same kernel."""
        self.counts += other.counts
        self.executed = np.concatenate([self.executed, other.executed])
        self.possible = np.concatenate([self.possible, other.possible])
        self.share = min(self.share, other.share)
        self.note = self.note or other.note
        self.longest += other.longest
        both = [one for one in (self.balance, other.balance) if one is not None]
        self.balance = sum(both) / len(both) if both else None


def decoded_counters(
    words: NDArray[np.uint64], records: NDArray[np.uint64], sites: Sequence[Site]
) -> Totals:
    """Read the counters that lanes added up themselves."""
    table = words[: SPREAD * len(sites) * SITE_WORDS].reshape(SPREAD, len(sites), SITE_WORDS)
    warps = records.reshape(-1, RECORD_WORDS)
    ran = warps[:, 5] > 0
    return Totals(
        tuple(sites),
        table.sum(axis=0).astype(np.float64),
        warps[ran, 4].astype(np.float64),
        warps[ran, 5].astype(np.float64),
        32,
    )
