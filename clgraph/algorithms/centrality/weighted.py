"""Betweenness by weights: lengths from `clgraph.SSSP`, paths counted by a `MultiSearch`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.multi_search.plan import MultiSearch
from clgraph.algorithms.multi_search.state import State, library_snippets
from clgraph.algorithms.multi_search.weighted import WeightedSearcher
from clgraph.errors import ClgraphError, InvalidArgumentError
from clgraph.graph import Graph
from clgraph.progress import part_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.algorithms.multi_search.config import MultiSearchConfig
    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress

__all__ = ["WeightedBetweenness", "too_many_paths"]

BLOCK_SHARE = 0.1  # of the free memory, for the lengths of a block of sources
MOST_BLOCK = 512


def too_many_paths(element: np.dtype[Any]) -> ClgraphError:
    """Say that path counts do not fit a type."""
    return ClgraphError(
        f"some vertices have more shortest paths than {element} can count; "
        + ("use dtype=float64." if element == np.float32 else "remove alternative routes.")
    )


class WeightedBetweenness:
    """Sums of Brandes' dependencies along paths of least weight.

    Parameters
    ----------
    graph : Graph
        Without parallel edges, with positive weights.
    device : Device
        Where.
    dtype : dtype
        float64 or float32, of path counts and scores.
    edges : bool
        Whether scores are those of edges.
    config : MultiSearchConfig or str, optional
        How paths are counted.

    Raises
    ------
    InvalidArgumentError
        If the graph has no weights, or one of them is not positive.

    Notes
    -----
    The shortest paths from a source form an acyclic graph, which a search follows as soon as all
    paths to a vertex are counted. Weights of 32-bit floating point are added up in double precision
    where the device has it, as networkx does.
    """

    def __init__(
        self,
        graph: Graph,
        device: Device,
        dtype: np.dtype[Any],
        *,
        edges: bool,
        config: MultiSearchConfig | str | None = None,
    ) -> None:
        if graph.weights is not None and graph.m and not (graph.weights > 0).all():
            place = int(np.flatnonzero(~(graph.weights > 0))[0])
            raise InvalidArgumentError(
                f"weights[{place}]={graph.weights[place]} is not positive, so that shortest paths "
                "cannot be counted: there may be any number of them."
            )
        if graph.weights is not None and graph.weights.dtype == np.float32 and device.traits.fp64:
            arrays = graph.indptr, graph.indices, graph.weights.astype(np.float64)
            graph = Graph.trusted(arrays, directed=graph.directed)
        self.graph = graph
        self.device = device
        self._dtype = dtype
        self._searcher = WeightedSearcher(graph, device)
        lengths = self._searcher.distances(np.zeros(0, np.int64))
        snippets = library_snippets("betweenness_weighted")
        edge_back = {hook: snippets.pop(f"edge_{hook}") for hook in ("back", "back_vertex")}
        weights = np.asarray(graph.weights).astype(lengths.dtype)
        self._plan = MultiSearch(
            graph,
            state={
                "pending": State(np.uint32, per="group"),
                "paths": State(dtype, per="group"),
                "coefs": State(dtype, per="group"),
                "reached": State(np.uint32, size=2, per="group"),
                "scores": State(dtype, size="m" if edges else "n", per="run"),
                "overflows": State(np.uint32, size=2, per="run"),
            },
            arguments={
                "weights": weights if weights.size else np.zeros(1, lengths.dtype),
                "lengths": np.zeros(1, lengths.dtype),
                "unreached": self._searcher.unreached,
            },
            **snippets | (edge_back if edges else {}),
            config=config,
            device=device,
        )

    def run(
        self, sources: NDArray[np.int64], progress: Progress | None = None
    ) -> NDArray[np.float64] | NDArray[np.float32]:
        """Add up the shares of the sources, of one direction of each edge.

        Raises
        ------
        ClgraphError
            If there are more paths than numbers, or weights so different that sums lose some.
        """
        graph = self.graph
        free = self.device.ledger.free_bytes
        size = int(BLOCK_SHARE * free) // (8 * max(graph.n, 1))
        size = max(min(size, MOST_BLOCK), 1)
        scores: Any = 0
        done = 0
        for first in range(0, max(sources.size, 1), size):
            block = sources[first : first + size]
            # Of every search half is for the lengths, and half for the paths.
            searched = part_of(progress, done, 0.5, sources.size)
            counted = part_of(progress, done + (block.size + 1) // 2, 0.5, sources.size)
            lengths = self._searcher.distances(block, searched)
            given = {"lengths": lengths.ravel() if lengths.size else np.zeros(1, lengths.dtype)}
            result = self._plan.run(block, arguments=given, progress=counted)
            overflows = result["overflows"]
            if overflows[0]:
                raise too_many_paths(self._dtype)
            if overflows[1]:
                raise ClgraphError(
                    "some weights are lost when they are added to others, so that a path is as "
                    "long as its beginning; use weights of more alike sizes, or integers."
                )
            scores = scores + result["scores"]
            done += block.size
        found: NDArray[np.float64] | NDArray[np.float32] = scores
        return found
