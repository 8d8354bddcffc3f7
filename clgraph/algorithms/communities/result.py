"""What a search for communities reports: labels, modularity and what it took."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.documented import documented
from clgraph.engine.launch_stats import LaunchStats
from clgraph.interop.tables.results import NamedResult

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.engine.sweeps import SweepLog

__all__ = ["CommunitiesResult", "CommunityStats"]


@documented(LaunchStats)
class CommunityStats(LaunchStats):
    """Times, counts and configuration of one run.

    Attributes
    ----------
    levels : list of dict
        In order: the ``iteration``, ``vertices`` and ``edges`` of the graph, ``passes`` over it,
        and ``moves``; of label propagation the ``moves`` of every round.
    """

    def __init__(
        self, log: SweepLog, total_ms: float, *, levels: list[dict[str, int]], **about: Any
    ) -> None:
        super().__init__(log, total_ms, **about)
        self._log = log
        self.levels = levels

    @property
    def parts(self) -> dict[str, float]:
        """Device milliseconds by kernel, those that take rows by who takes them."""
        return self._log.parts

    @property
    def edges_per_s(self) -> float:
        """Stored edges of the graph per second of kernel time."""
        return self.edges_traversed / (self.kernel_ms * 1e-3) if self.kernel_ms > 0 else 0.0


@dataclass(repr=False, eq=False)
class CommunitiesResult(NamedResult):
    """Communities of a graph.

    Attributes
    ----------
    labels : numpy.ndarray
        int32 [n]. Of Louvain and Leiden 0 .. count - 1, numbered by smallest member; of label
        propagation the vertex that the label began at.
    count : int
        How many communities there are.
    modularity : float or None
        Of these communities, at the resolution asked for; None of label propagation.
    stats : CommunityStats
        Times, counts and the configuration that ran.
    """

    plot_kind = "sizes"

    labels: NDArray[np.int32]
    count: int
    modularity: float | None
    stats: CommunityStats
    names: NDArray[Any] | None = None

    def __repr__(self) -> str:
        """Report how many communities there are, and how good they are."""
        known = "" if self.modularity is None else f", modularity={self.modularity:.4f}"
        return f"{type(self).__name__}(count={self.count}{known})"

    def columns(self) -> dict[str, Any]:
        """Labels by name."""
        return {"community": self.labels}

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Vertices of each community, by its smallest member, int64 [count]."""
        _, first, sizes = np.unique(self.labels, return_index=True, return_counts=True)
        ordered: NDArray[np.int64] = sizes[np.argsort(first)].astype(np.int64)
        return ordered

    def groups(self) -> list[NDArray[np.int64]]:
        """Vertices of each community, by its smallest member."""
        order = np.argsort(self.labels, kind="stable")
        parts = np.split(order, np.flatnonzero(np.diff(self.labels[order])) + 1)
        return sorted(parts, key=lambda part: int(part[0])) if self.labels.size else []
