"""What a ranking tells: scores, and how they were come by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.engine.sweeps import SweepLog

__all__ = ["HitsResult", "RankResult", "RankStats"]


class RankStats:
    """Times, counts and configuration of one ranking.

    Attributes
    ----------
    total_ms : float
        Host wall clock of ``run``.
    kernel_ms : float
        Device time from the first launch's start to the last one's end.
    launches : int
        Kernel launches.
    iterations : int
        Most iterations of any column.
    edges : int
        Edges summed over, in all iterations.
    mode : str
        "launches": a sequence of kernels, of which the host looks at some.
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
        iterations: int,
        edges: int,
        config: dict[str, Any],
        device_bytes: int,
    ) -> None:
        self.total_ms = total_ms
        self.kernel_ms = log.kernel_ms
        self.launches = log.launches
        self.iterations = iterations
        self.edges = edges
        self.config = config
        self.device_bytes = device_bytes
        self.energy: Any = None


class RankResult:
    """Scores of vertices.

    Attributes
    ----------
    ranks : numpy.ndarray
        Real [n], or [k, n] where k rankings were asked for at once.
    iterations : int or numpy.ndarray
        Iterations that it took; int64 [k] for several.
    error : float or numpy.ndarray
        Sum over vertices of how much the last iteration changed them; [k] for several.
    converged : bool
        Whether all came below the tolerance.
    stats : RankStats
        Times and counts.
    """

    def __init__(
        self, ranks: NDArray[Any], iterations: Any, error: Any, converged: bool, stats: RankStats
    ) -> None:
        self.ranks = ranks
        self.iterations = iterations
        self.error = error
        self.converged = converged
        self.stats = stats

    def __repr__(self) -> str:
        """Tell how many vertices were ranked and whether that converged."""
        state = "converged" if self.converged else "not converged"
        return f"{type(self).__name__}(n={self.ranks.shape[-1]}, {state})"


class HitsResult(RankResult):
    """Hubs and authorities.

    Attributes
    ----------
    hubs, authorities : numpy.ndarray
        Real [n], each with sum 1 where there are edges; ``ranks`` are the hubs.
    """

    def __init__(self, authorities: NDArray[Any], *others: Any) -> None:
        super().__init__(*others)
        self.hubs = self.ranks
        self.authorities = authorities
