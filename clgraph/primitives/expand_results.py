"""What an expansion reports: its times and counts, and the arrays it gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clgraph.primitives.expand_config import ExpandSizes

__all__ = ["ExpandStats", "Expansion"]


@dataclass(frozen=True, slots=True)
class ExpandStats:
    """Times and counts of one expansion.

    Attributes
    ----------
    items, units : int
        What was expanded, and into how many.
    mean, deviation : float
        Of the sizes; what the hybrid search goes by.
    kernel_ms : float
        Device time of all launches.
    partition_ms, tiles_ms : float
        The shares of it that finding the chunks and the tiles of large items took.
    launches : int
        Kernel launches.
    chunks, tiles : int
        Equal pieces that the units were cut in, and tiles of large items; 0 where there are none.
    config : ExpandSizes
        What ran; it prints as the call that makes it.
    counts : dict
        Events by the names of `COUNTERS`, those of finding the chunks with PARTITION_ before
        theirs; empty unless they were asked for.
    """

    items: int
    units: int
    mean: float
    deviation: float
    kernel_ms: float
    partition_ms: float
    tiles_ms: float
    launches: int
    chunks: int
    tiles: int
    config: ExpandSizes
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def units_per_s(self) -> float:
        """Units expanded per second of kernel time."""
        return self.units / (self.kernel_ms * 1e-3) if self.kernel_ms > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Expansion:
    """What `expand` gives.

    Attributes
    ----------
    owners : numpy.ndarray
        uint32 [units], the item of each unit, ascending.
    ranks : numpy.ndarray or None
        uint32 [units], the place of each unit in its item.
    stats : ExpandStats
        Times and counts.
    """

    owners: NDArray[np.uint32]
    ranks: NDArray[np.uint32] | None
    stats: ExpandStats
