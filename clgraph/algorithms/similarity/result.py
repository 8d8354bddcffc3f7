"""What a computation of similarities reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clgraph.documented import documented
from clgraph.engine.launch_stats import LaunchStats

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clgraph.engine.sweeps import SweepLog

__all__ = ["SimilarityResult", "SimilarityStats"]


@documented(LaunchStats)
class SimilarityStats(LaunchStats):
    """Times, counts and configuration of one run.

    Attributes
    ----------
    kernel_ms : float
        Device time: of pairs from the first launch's start to the last one's end, or that of
        counting triangles.
    launches : int
        Kernel launches, but for those that count triangles.
    pairs : int
        How many there were.
    """

    def __init__(
        self, log: SweepLog, total_ms: float, *, kernel_ms: float | None, pairs: int, **about: Any
    ) -> None:
        super().__init__(log, total_ms, **about)
        self.kernel_ms = self.kernel_ms if kernel_ms is None else kernel_ms
        self.pairs = pairs

    @property
    def pairs_per_s(self) -> float:
        """Pairs per second of kernel time."""
        return self.pairs / (self.kernel_ms * 1e-3) if self.kernel_ms > 0 else 0.0


@dataclass(repr=False, eq=False)
class SimilarityResult:
    """Similarities of pairs.

    Attributes
    ----------
    values : numpy.ndarray
        float64, one for each pair or stored edge.
    common : numpy.ndarray
        uint32, how many neighbours are common.
    stats : SimilarityStats
        Times, counts and the configuration that ran.
    """

    values: NDArray[np.float64]
    common: NDArray[np.uint32]
    stats: SimilarityStats

    def __repr__(self) -> str:
        """Report how many pairs there are."""
        return f"{type(self).__name__}(pairs={len(self.values)})"
