"""Breadth-first searches as the runner measures them; the example for other problems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph import BFS, BFSConfig, verify

from ..peers.bfs import PEERS
from ..peers.reference import bfs_reference
from ..runner.problem import Least, Problem, refuse_differences

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    import clgraph
    from clgraph import Device

    from ..runner.graphs import Loaded
    from ..runner.records import Record

__all__ = ["PROBLEM", "EdgeCounts", "Searches", "profile_of"]

RULES_UP_TO_EDGES = 40_000_000  # checking the rules takes a second per thirty million edges
SHOWN_LEVELS = 256


class EdgeCounts:
    """Out-edges of the reached vertices; of an undirected graph counted once per component."""

    def __init__(self, graph: clgraph.Graph) -> None:
        self._graph = graph
        self._known: list[tuple[NDArray[np.bool_], int, int]] = []

    def of(self, inside: NDArray[np.bool_], source: int) -> int:
        """Count the edges that leave the vertices marked `inside`."""
        reached = int(np.count_nonzero(inside))
        for known, size, edges in self._known:
            if known[source] and reached == size:
                return edges
        edges = int(self._graph.degrees[inside].sum(dtype=np.int64))
        if not self._graph.directed:
            self._known.append((inside, reached, edges))
        return edges


def profile_of(result: Any, source: int) -> Record:
    """Level by level account of a search with ``stats.per_level``, in at most 256 rows."""
    table = result.stats.per_level
    step = max(1, -(-len(table) // SHOWN_LEVELS))
    starts = np.arange(0, len(table), step)

    def added(name: str) -> Any:
        return np.add.reduceat(table[name], starts)

    return {
        "source": source,
        "kernel_ms": result.stats.kernel_ms,
        "levels_per_row": step,
        "frontier": added("frontier").tolist(),
        "edges": added("edges").tolist(),
        "direction": table["direction"][starts].tolist(),
        "microseconds": added("microseconds").round(3).tolist(),
    }


class Searches(Problem):
    """`clgraph.BFS` from drawn sources."""

    kind = "bfs"
    presets = BFSConfig.presets()
    peers = PEERS

    def __init__(self, loaded: Loaded, device: Device, config: str) -> None:
        super().__init__(loaded, device, config)
        self.plan = BFS(loaded.graph, config=config, device=device)
        self._edges = EdgeCounts(loaded.graph)

    def count(self, result: clgraph.BFSResult, given: int) -> dict[str, float]:
        """Levels, reached vertices and their out-edges."""
        return {
            "levels": result.stats.levels,
            "reached": result.reached,
            "edges": self._edges.of(result.distances >= 0, given),
        }

    def check(self, givens: Sequence[int]) -> Record:
        """Compare whole results with another's search and check them by the rules."""
        name, search = bfs_reference(self.graph)
        by_rules = self.graph.m <= RULES_UP_TO_EDGES
        for source in givens:
            found = self.run(source).distances
            refuse_differences(found, search(source), what=f"distances from {source}", against=name)
            if by_rules:
                verify.distances(self.graph, source, found)
        return {
            "sources": list(givens),
            "against": name,
            "rules": by_rules,
            "note": "" if by_rules else f"rules are checked up to {RULES_UP_TO_EDGES:,} edges",
        }

    def least(self, columns: Mapping[str, NDArray[np.float64]]) -> Least:
        """Count a distance per vertex, a row's start and an edge per reached one, a wait per level.

        The plain method reads every edge of what it reaches.
        """
        n, reached = self.graph.n, columns["reached"]
        return Least(
            bytes=4.0 * n + 8.0 * reached,
            barriers=columns["levels"],
            bytes_plain=4.0 * (n + reached + columns["edges"]),
        )

    def profile(self, given: int) -> Record:
        """Profile of one search; neighbouring levels of a deep one are added up."""
        return profile_of(self.run(given), given)


PROBLEM = Searches
