"""What a computation of similarities reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clgraph.engine.sweeps import SweepLog

__all__ = ["SimilarityResult", "SimilarityStats"]


class SimilarityStats:
    """Times, counts and configuration of one run.

    Attributes
    ----------
    total_ms : float
        Host wall clock of ``run``.
    kernel_ms : float
        Device time: of pairs from the first launch's start to the last one's end, or that of
        counting triangles.
    launches : int
        Kernel launches, but for those that count triangles.
    pairs : int
        How many there were.
    mode : str
        "launches".
    config : dict
        What ran.
    device_bytes : int
        Device memory of the plan.
    energy : object or None
        Filled in by whoever measured the run.
    """

    mode = "launches"

    def __init__(
        self,
        log: SweepLog,
        total_ms: float,
        *,
        kernel_ms: float | None,
        pairs: int,
        config: dict[str, Any],
        device_bytes: int,
    ) -> None:
        self.total_ms = total_ms
        self.kernel_ms = log.kernel_ms if kernel_ms is None else kernel_ms
        self.launches = log.launches
        self.pairs = pairs
        self.config = config
        self.device_bytes = device_bytes
        self.energy: Any = None

    @property
    def pairs_per_s(self) -> float:
        """Pairs per second of kernel time."""
        return self.pairs / (self.kernel_ms * 1e-3) if self.kernel_ms > 0 else 0.0


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

    def __init__(
        self, values: NDArray[np.float64], common: NDArray[np.uint32], stats: SimilarityStats
    ) -> None:
        self.values = values
        self.common = common
        self.stats = stats

    def __repr__(self) -> str:
        """Report how many pairs there are."""
        return f"{type(self).__name__}(pairs={len(self.values)})"
