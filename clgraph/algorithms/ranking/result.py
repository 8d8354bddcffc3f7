"""What a ranking reports: scores, and how they were come by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clgraph.documented import documented
from clgraph.engine.launch_stats import LaunchStats

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.engine.sweeps import SweepLog

__all__ = ["HitsResult", "RankResult", "RankStats"]


@documented(LaunchStats)
class RankStats(LaunchStats):
    """Times, counts and configuration of one ranking.

    Attributes
    ----------
    iterations : int
        Most iterations of any column.
    """

    def __init__(self, log: SweepLog, total_ms: float, *, iterations: int, **about: Any) -> None:
        super().__init__(log, total_ms, **about)
        self.iterations = iterations

    @property
    def edges(self) -> int:
        """Edges summed over, in all iterations."""
        return self.edges_traversed


@dataclass(repr=False, eq=False)
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

    ranks: NDArray[Any]
    iterations: Any
    error: Any
    converged: bool
    stats: RankStats

    def __repr__(self) -> str:
        """Report how many vertices were ranked and whether that converged."""
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
