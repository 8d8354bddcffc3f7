"""The table that an instrumented launch writes to: where its counters, records and accesses are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from clgraph.profile.instrument.words import (
    HEADER,
    MOST_RECORDS,
    NEAR_SECTORS,
    NEAR_UNITS,
    Mask,
    record_words,
    words_at_sites,
    words_beside,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.profile.instrument.rewriting import Instrumented

__all__ = ["Layout"]

TRACED_ITEMS = 1 << 12
TRACED_WORDS = 1 << 22
TRACED_ACCESSES = 1 << 20


@dataclass(frozen=True, slots=True)
class Layout:
    """Where what is in the table of one launch.

    What a kernel adds to are the first ``zeroed`` words, of which those before ``accesses_at`` are
    read after it.
    """

    words: int
    zeroed: int
    step: int
    items: int
    records: int
    has_header: bool
    records_at: int
    record_words: int
    accesses: int
    accesses_at: int
    groups: int
    group_size: int
    per_group: int

    @classmethod
    def of(cls, source: Instrumented, mask: Mask, groups: int, group_size: int) -> Layout:
        """Lay out a table for a launch."""
        sites = max(len(source.sites), 1)
        step, items, accesses, near = 1, 0, 0, 0
        if source.flavour == "counters":
            per_group = -(-group_size // 32)
            counters = words_at_sites(mask, sites)
            records = min(groups * per_group, MOST_RECORDS)
            near = NEAR_UNITS * NEAR_SECTORS // 2 if mask & Mask.GMEM else 0
        else:
            per_group = 1
            counting = bool(mask & (Mask.DIV | Mask.GMEM | Mask.LMEM))
            most = max(min(TRACED_ITEMS, TRACED_WORDS // sites) // group_size, 1)
            step = -(-groups // most)
            items = -(-groups // step) * group_size if counting else 0
            counters = items * sites
            records = min(groups, MOST_RECORDS)
            accesses = TRACED_ACCESSES if mask & (Mask.GMEM | Mask.LMEM) else 0
        records_at = HEADER + counters + words_beside(mask, source.flavour)
        accesses_at = records_at + records * record_words(mask)
        return cls(
            words=accesses_at + near + 2 * accesses,
            zeroed=accesses_at + near,
            step=step,
            items=items,
            records=records,
            has_header=source.flavour == "trace" or bool(mask & Mask.GMEM),
            records_at=records_at,
            record_words=record_words(mask),
            accesses=accesses,
            accesses_at=accesses_at,
            groups=groups,
            group_size=group_size,
            per_group=per_group,
        )

    def records_in(self, words: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Give the records among the words of a table, one a row."""
        own = words[self.records_at :][: self.records * self.record_words]
        return own.reshape(-1, self.record_words)

    def header(self) -> NDArray[np.uint64]:
        """Give the first words of the table."""
        words = np.zeros(HEADER, np.uint64)
        words[:7] = (
            self.step,
            self.items,
            self.accesses,
            0,
            self.records_at,
            self.records,
            self.accesses_at,
        )
        return words
