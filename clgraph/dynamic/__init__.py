"""Graphs that change in batches, and what is kept up to date with them."""

from clgraph.dynamic.graph import DynamicGraph
from clgraph.dynamic.result import MemoryUsage, UpdateResult
from clgraph.dynamic.searches import BFS, ConnectedComponents
from clgraph.dynamic.triangles import TriangleCounter
from clgraph.dynamic.trusses import TrussNumbers

__all__ = [
    "BFS",
    "ConnectedComponents",
    "DynamicGraph",
    "MemoryUsage",
    "TriangleCounter",
    "TrussNumbers",
    "UpdateResult",
]
