"""Shortest paths by weight from many sources, one search after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.multi_search.totals import check_method
from clgraph.algorithms.sssp.plan import SSSP
from clgraph.errors import InvalidArgumentError
from clgraph.progress import report_progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from clgraph.algorithms.multi_search.config import MultiSearchConfig
    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = ["WeightedSearcher", "WeightedTotals"]


@dataclass(frozen=True, slots=True)
class WeightedTotals:
    """Figures of each of k searches.

    Attributes
    ----------
    reached : int64 [k]
        Vertices with a distance, the source among them.
    total, farthest, harmonic : float64 [k]
        Sum of the distances, the largest of them, and the sum of the reciprocals of those that are
        not 0.
    """

    reached: NDArray[np.int64]
    total: NDArray[np.float64]
    farthest: NDArray[np.float64]
    harmonic: NDArray[np.float64]


class WeightedSearcher:
    """Searches from many sources of one graph, by the weights of its edges.

    Parameters
    ----------
    graph : Graph
        With weights.
    device : Device
        Where.
    method, config
        As `clgraph.apsp` has them: by weight there is one way, which "single" names.

    Attributes
    ----------
    unreached : NumPy scalar
        Stands for the length of no path.

    Raises
    ------
    InvalidArgumentError
        If the graph has no weights, or the method is another.
    """

    def __init__(
        self,
        graph: Graph,
        device: Device,
        method: str = "auto",
        config: MultiSearchConfig | str | None = None,
    ) -> None:
        check_method(method, config)
        if method not in ("auto", "single"):
            raise InvalidArgumentError(f"method={method!r} is not for weights; leave it out.")
        self.graph = graph
        self._plan = SSSP(graph, device=device)
        self.unreached = self._plan.unreached

    def distances(
        self, sources: NDArray[np.int64], progress: Progress | None = None
    ) -> NDArray[Any]:
        """Lengths [k, n] in the type of the weights; inf, or its largest integer, for no path."""
        found = np.empty((sources.size, self.graph.n), np.asarray(self._plan.unreached).dtype)
        for place, (row, _) in enumerate(self._rows(sources, progress)):
            found[place] = row
        return found

    def totals(
        self, sources: NDArray[np.int64], progress: Progress | None = None
    ) -> WeightedTotals:
        """Sum up each search without keeping its distances."""
        figures = np.zeros((4, sources.size))
        for place, (row, reached) in enumerate(self._rows(sources, progress)):
            known = row[reached].astype(np.float64)
            apart = known[known != 0]
            figures[:, place] = (known.size, known.sum(), known.max(), (1 / apart).sum())
        return WeightedTotals(figures[0].astype(np.int64), *figures[1:])

    def _rows(
        self, sources: NDArray[np.int64], progress: Progress | None
    ) -> Iterator[tuple[NDArray[Any], NDArray[np.bool_]]]:
        for done, source in enumerate(sources.tolist(), 1):
            distances = self._plan.run(source).distances
            yield distances, distances != self._plan.unreached
            report_progress(progress, done, sources.size, "searches")
