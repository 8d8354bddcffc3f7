"""What a breadth-first search gives back."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from clgraph.engine.strategies.frontier import EXACT
from clgraph.interop.tables.results import SearchResult

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clgraph.engine.findings import HopFindings
    from clgraph.engine.outcome import Outcome
    from clgraph.engine.stats import TraversalStats

__all__ = ["BFSResult"]


class BFSResult(SearchResult):
    """Outcome of one search; arrays are copied from the device on first access.

    Attributes
    ----------
    source : int
        Where the search began.
    stats : TraversalStats
        Times, counts and the configuration that ran.
    """

    plot_kind = "levels"

    def __init__(
        self, found: HopFindings, outcome: Outcome, stats: TraversalStats, source: int
    ) -> None:
        self._found: HopFindings = found
        self._outcome = outcome
        self.source = source
        self.stats = stats

    @property
    def depth(self) -> int:
        """Largest distance that is reached."""
        return self._outcome.depth

    def __repr__(self) -> str:
        """Report source, depth and number of reached vertices."""
        return f"BFSResult(source={self.source}, depth={self.depth}, reached={self.reached})"

    @cached_property
    def reached(self) -> int:
        """Vertices with a distance, the source among them."""
        # What was queued twice was counted twice.
        if self.stats.config.frontier.visited in EXACT:
            return self._outcome.reached
        return int((self.distances >= 0).sum())

    @property
    def distances(self) -> NDArray[np.int32]:
        """int32 [n] in hops; -1 where there is no path."""
        return self._found.distances

    @property
    def predecessors(self) -> NDArray[np.int32] | None:
        """int32 [n]: the vertex before on a shortest path, the source its own, -1 where none.

        None if the plan labels no tree.
        """
        return self._found.predecessors

    def columns(self) -> dict[str, Any]:
        """Distances, and predecessors if the plan labels a tree, by name."""
        tree = self.predecessors
        return {"distance": self.distances} | ({} if tree is None else {"predecessor": tree})
