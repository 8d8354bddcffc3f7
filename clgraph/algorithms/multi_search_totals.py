"""What library functions ask of many searches, answered in whichever way is best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.multi_search import MultiSearch
from clgraph.algorithms.multi_search_state import State, library_snippets
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import DTypeLike, NDArray

    from clgraph.algorithms.multi_search_config import MultiSearchConfig
    from clgraph.device import Device
    from clgraph.device.memory import Progress
    from clgraph.graph import Graph

__all__ = ["METHODS", "Searcher", "Totals"]

METHODS = ("auto", "multi-search", "bit-parallel")
BLOCK_SHARE = 0.4  # of the free memory, for the distances of a block of sources
MOST_BLOCK = 4096


@dataclass(frozen=True, slots=True)
class Totals:
    """Figures of each of k searches.

    Attributes
    ----------
    reached : int64 [k]
        Vertices with a distance, the source among them.
    total : int64 [k]
        Sum of the distances.
    farthest : int64 [k]
        Largest distance.
    harmonic : float64 [k]
        Sum of the reciprocals of the distances above 0.
    """

    reached: NDArray[np.int64]
    total: NDArray[np.int64]
    farthest: NDArray[np.int64]
    harmonic: NDArray[np.float64]


class Searcher:
    """Searches from many sources of one graph.

    Parameters
    ----------
    graph : Graph
        What is searched.
    device : Device
        Where.
    method : {"auto", "multi-search", "bit-parallel"}
        A work-group for each search, or all searches in the bits of one.
    config : MultiSearchConfig or str, optional
        How the former are run.
    """

    def __init__(
        self,
        graph: Graph,
        device: Device,
        method: str = "auto",
        config: MultiSearchConfig | str | None = None,
    ) -> None:
        if method not in METHODS:
            raise InvalidArgumentError(f"method={method!r} is not one of {', '.join(METHODS)}.")
        self.graph = graph
        self.device = device
        self._config = config
        self._plans: dict[str, MultiSearch] = {}

    def totals(self, sources: NDArray[np.int64], progress: Progress | None = None) -> Totals:
        """Sum up each search without keeping its distances."""
        real = np.float64 if self.device.traits.fp64 else np.float32
        plan = self._plan(
            "totals",
            {
                "totals": State(np.uint64, size=3),
                "harmonic": State(real, size=1),
            },
        )
        found = plan.run(sources, progress=progress)
        totals = found["totals"].astype(np.int64)
        harmonic = found["harmonic"][:, 0].astype(np.float64)
        return Totals(totals[:, 0], totals[:, 1], totals[:, 2], harmonic)

    def distances(
        self, sources: NDArray[np.int64], progress: Progress | None = None
    ) -> NDArray[np.int32]:
        """Hop distances int32 [k, n], -1 where there is no path."""
        plan = self._plan("distances", {"distances": State(np.int32, fill=-1)})
        found: NDArray[np.int32] = plan.run(sources, progress=progress)["distances"]
        return found

    def marks(self, sources: NDArray[np.int64], progress: Progress | None = None) -> NDArray[Any]:
        """Whether each vertex is reached, bool [k, n]."""
        plan = self._plan("marks", {"marks": State(np.uint8)})
        return plan.run(sources, progress=progress)["marks"].view(bool)

    def blocks(
        self, sources: NDArray[np.int64], itemsize: int, size: int | None = None
    ) -> Iterator[NDArray[np.int64]]:
        """Cut sources into blocks whose results fit the device, or of a given size."""
        if size is None:
            free = self.device.ledger.free_bytes
            size = int(BLOCK_SHARE * free) // (max(self.graph.n, 1) * itemsize)
            size = max(min(size, MOST_BLOCK), 1)
        for first in range(0, sources.size, size):
            yield sources[first : first + size]

    def _plan(self, name: str, state: dict[str, State]) -> MultiSearch:
        if name not in self._plans:
            self._plans[name] = MultiSearch(
                self.graph,
                state=state,
                **library_snippets(name),
                config=self._config,
                device=self.device,
            )
        return self._plans[name]


def narrow(distances: NDArray[np.int32], dtype: DTypeLike) -> NDArray[Any]:
    """Give distances in another integer type, or say that one does not fit."""
    element = np.dtype(dtype)
    if element == distances.dtype:
        return distances
    limit = np.iinfo(element).max
    if distances.size and int(distances.max()) > limit:
        raise InvalidArgumentError(
            f"a distance of {int(distances.max())} does not fit dtype={element}, whose largest "
            f"number is {limit}; use int32."
        )
    return distances.astype(element)
