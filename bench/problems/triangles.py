"""Triangles of every vertex as the runner measures them."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from clgraph import Triangles, TrianglesConfig

from ..peers.triangles import TRIANGLES, triangles_of_vertices
from ..runner.problem import Least, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from clgraph import Device

    from ..runner.graphs import Loaded
    from ..runner.records import Record

__all__ = ["PROBLEM", "VertexTriangles"]


class VertexTriangles(Problem):
    """`clgraph.Triangles`, of each vertex, edges turned anew each time.

    The graph is cleaned first, and peers get the cleaned one.
    """

    kind = "triangles"
    presets = TrianglesConfig.presets()
    from_sources = False
    result = "values"
    peers = TRIANGLES

    def __init__(self, loaded: Loaded, device: Device, config: str) -> None:
        super().__init__(loaded, device, config)
        self.plan = Triangles(loaded.graph, config=config, device=device, clean=True)
        self.graph = self.plan.simple
        self.plan = Triangles(self.graph, config=config, device=device)

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Count the triangles of each vertex."""
        return self.plan.run("vertex", prepare=True)

    def count(self, result: Any, given: int) -> dict[str, float]:  # noqa: ARG002 (none needed)
        """Count triangles, intersected pairs of rows, and edges."""
        return {
            "edges": self.graph.m,
            "triangles": result.count,
            "intersections": result.stats.intersections,
        }

    def check(self, givens: Sequence[int]) -> Record:
        """Compare the triangles of vertices with another's count."""
        vertices, expected, name = triangles_of_vertices(self.graph)
        return self.compared(givens, expected, what="counts", against=name, at=vertices)

    def least(self, columns: Mapping[str, NDArray[np.float64]]) -> Least:
        """Count each stored edge and row's start read once, and a count written per vertex."""
        edges = columns["edges"]
        return Least(bytes=4.0 * edges + 12.0 * self.graph.n, barriers=0.0 * edges)

    def decided(self) -> Record:
        """Give the configuration as decided."""
        return {**dataclasses.asdict(self.plan.config), "way": self.plan.config.way}


PROBLEM = VertexTriangles
