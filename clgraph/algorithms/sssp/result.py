"""What a search for shortest paths gives back."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.engine.arguments import vertex_number
from clgraph.engine.findings import Findings
from clgraph.engine.stats import TraversalStats, Work
from clgraph.errors import InvalidArgumentError
from clgraph.interop.tables.results import SearchResult

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.algorithms.sssp.resolved import ResolvedPaths
    from clgraph.engine.findings import SearchBuffers
    from clgraph.engine.outcome import Outcome
    from clgraph.graph import Graph

__all__ = ["PathFindings", "PathStats", "SSSPResult"]


class PathFindings(Findings):
    """Findings of a search by weight.

    Parameters
    ----------
    graph, buffers
        As for `Findings`.
    outcome : Outcome
        Its depth is how many frontiers were expanded, and piles were split.
    unreached : scalar
        What stands for no distance.
    """

    def __init__(
        self, graph: Graph, buffers: SearchBuffers, outcome: Outcome, unreached: Any
    ) -> None:
        super().__init__(graph, buffers, outcome)
        self._unreached = unreached

    @cached_property
    def is_reached(self) -> NDArray[np.bool_]:
        """Whether each vertex has a distance [n]."""
        return np.asarray(self.distances != self._unreached)

    @cached_property
    def edges_by_level(self) -> NDArray[np.int64]:
        """Edges out of each frontier, int64 [stages]."""
        return self.levels[:, 1].astype(np.int64)

    @property
    def vertices(self) -> int:
        """Of the graph."""
        return int(self._graph.degrees.size)

    @cached_property
    def edges_of_reached(self) -> int:
        """Out-edges of the vertices with a distance."""
        return int(self._graph.degrees[self.is_reached].sum())


class PathStats(TraversalStats):
    """Times, counts and configuration of one search by weight.

    Attributes
    ----------
    per_level : structured array
        One row per stage, as of any search: "near" where a frontier's edges were relaxed, "far"
        where vertices that had been put aside were looked through for the next frontier. Only the
        first 65,536 stages are kept.
    """

    DIRECTIONS = ("", "", "", "near", "far", "", "", "")

    def __init__(self, found: PathFindings, outcome: Outcome, config: ResolvedPaths) -> None:
        super().__init__(found, outcome, config)
        self._ran = config
        self._paths = found

    @property
    def levels(self) -> int:
        """Frontiers that were expanded, and piles that were split."""
        return self._outcome.depth

    @property
    def relaxations(self) -> int:
        """Edges that were looked at, each as often as it was: those of left out classes too."""
        return self._outcome.explored

    def _work(self) -> Work:
        edges, n = float(self.relaxations), self._paths.vertices
        # One edge in eight brings a shorter path, which an atomic stores.
        return Work(float(n), edges, edges / 8, float(self.levels), 4.0 * n)

    @property
    def config(self) -> ResolvedPaths:
        """The configuration that ran; it prints as the call that makes it."""
        return self._ran

    @property
    def counters(self) -> dict[str, int] | None:
        """Events by name, where the configuration counts them, modulo 2**32.

        ``RELAXED`` are edges by way of which a distance was computed and compared, ``TILES`` what
        SIMD groups took of frontiers at a time; for the others see ``BFSStats.counters``.
        """
        return dict(self._outcome.counters) if self._ran.counts else None

    @property
    def edges_traversed(self) -> int:
        """Out-edges of reached vertices."""
        return self._paths.edges_of_reached


class SSSPResult(SearchResult):
    """Outcome of one search; arrays are copied from the device on first access.

    Attributes
    ----------
    source : int or tuple of int
        Where the search began, as it was given.
    target : int or None
        Where it could end.
    stats : PathStats
        Times, counts and the configuration that ran.
    """

    def __init__(
        self,
        found: PathFindings,
        stats: PathStats,
        source: int | tuple[int, ...],
        target: int | None,
    ) -> None:
        self._found: PathFindings = found
        self.stats = stats
        self.source = source
        self.target = target

    def __repr__(self) -> str:
        """Report the source and the number of stages."""
        return f"SSSPResult(source={self.source}, stages={self.stats.levels})"

    @property
    def distances(self) -> NDArray[Any]:
        """Lengths of shortest paths, in the type of the weights [n].

        Unreached vertices have infinity, or the largest integer of the type.
        """
        return self._found.distances

    @property
    def predecessors(self) -> NDArray[np.int32] | None:
        """int32 [n]: the vertex before on a shortest path, a source its own, -1 where none.

        Following them always ends at a source. None if the plan labels no tree.
        """
        return self._found.predecessors

    @property
    def reached(self) -> int:
        """Vertices with a distance, the sources among them."""
        return int(np.count_nonzero(self._found.is_reached))

    def columns(self) -> dict[str, Any]:
        """Distances, infinite where there is no path, and predecessors if there are, by name."""
        known, tree = self._found.is_reached, self.predecessors
        lengths = np.where(known, self.distances, np.inf)
        return {"distance": lengths} | ({} if tree is None else {"predecessor": tree})

    def path(self, target: int | None = None) -> list[int]:
        """Vertices of one shortest path from a source to `target`, both ends included.

        Parameters
        ----------
        target : int, optional
            Where the path ends; default is the target of the search.

        Returns
        -------
        list of int
            Empty if there is no path.

        Raises
        ------
        InvalidArgumentError
            If the plan labels no tree, or there is no such vertex.
        """
        tree = self.predecessors
        if tree is None:
            raise InvalidArgumentError(
                "this search labelled no tree, so there is no path to follow; pass "
                "predecessors=True."
            )
        vertex = vertex_number(self.target if target is None else target, tree.size, "target")
        path: list[int] = []
        while tree[vertex] >= 0:
            path.append(vertex)
            if tree[vertex] == vertex:
                return path[::-1]
            vertex = int(tree[vertex])
        return []
