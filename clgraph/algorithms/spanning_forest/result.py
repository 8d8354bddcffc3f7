"""What a spanning forest is: edges, their weight, and the trees that they make."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.engine.findings import Later
from clgraph.graph import Graph, from_edges
from clgraph.interop.tables.results import NamedResult

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.device import Allocation
    from clgraph.engine.launch_stats import RoundStats

__all__ = ["SpanningForestResult"]


class SpanningForestResult(NamedResult):
    """A minimum spanning forest; arrays are copied from the device on first access.

    Attributes
    ----------
    count : int
        Trees; vertices without edges are trees of their own.
    stats : RoundStats
        Times and counts; ``rounds`` says how many edges each round had on its list.
    """

    plot_kind = "sizes"

    def __init__(
        self,
        graph: Graph,
        chosen: Allocation | None,
        labels: Allocation | None,
        count: int,
        stats: RoundStats,
    ) -> None:
        self._graph = graph
        self.names = graph.labels

        def edges() -> NDArray[np.int64]:
            read = np.zeros(0) if chosen is None else chosen.read(graph.n - count)
            return np.sort(read).astype(np.int64)

        self._edges = Later(edges)
        self._labels = Later.of(labels, np.zeros(0, np.int32))
        self.count = count
        self.stats = stats

    def __repr__(self) -> str:
        """Report how many trees there are, of how many edges."""
        return f"{type(self).__name__}(count={self.count}, edges={self._graph.n - self.count})"

    def columns(self) -> dict[str, Any]:
        """Labels by name."""
        return {"tree": self.labels}

    @property
    def edges(self) -> NDArray[np.int64]:
        """Places in ``indices`` of the forest's edges, ascending: int64 [n - count].

        An undirected edge is stored twice; this is the first of its places.
        """
        return self._edges.values

    @property
    def labels(self) -> NDArray[np.int32]:
        """Tree of each vertex, int32 [n]: 0 .. count - 1, numbered by smallest member."""
        return self._labels.values

    @cached_property
    def mask(self) -> NDArray[np.bool_]:
        """Whether each stored edge is one of `edges`: bool [m]."""
        mask = np.zeros(self._graph.m, np.bool_)
        mask[self.edges] = True
        return mask

    @property
    def sources(self) -> NDArray[Any]:
        """One end of each of `edges`, the vertex in whose row it is stored: integers [edges]."""
        return np.searchsorted(self._graph.indptr, self.edges, side="right") - 1

    @property
    def targets(self) -> NDArray[Any]:
        """The other end of each of `edges`: integers [edges]."""
        return self._graph.indices[self.edges]

    @cached_property
    def weight(self) -> int | float:
        """Sum of the weights of the edges; of a graph without weights, how many there are.

        Integers add up exactly, floating-point numbers in the order of `edges` as NumPy does.
        """
        weights = self._graph.weights
        if weights is None:
            return int(self.edges.size)
        chosen = weights[self.edges]
        if chosen.dtype.kind == "f":
            return float(chosen.sum(dtype=np.float64))
        return int(sum(chosen.tolist()))

    def to_graph(self) -> Graph:
        """Give the forest as an undirected `Graph` with the same vertices."""
        weights = self._graph.weights
        return from_edges(
            self.sources,
            self.targets,
            None if weights is None else weights[self.edges],
            n=self._graph.n,
            symmetrize=True,
        )
