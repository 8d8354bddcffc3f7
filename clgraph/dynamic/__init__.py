"""Graphs that change in batches, and what is kept up to date with them."""

from clgraph.dynamic.graph import DynamicGraph
from clgraph.dynamic.peeling import EdgeSupports, PeeledEdges, peel_trusses
from clgraph.dynamic.result import MemoryUsage, UpdateResult
from clgraph.dynamic.searches import BFS, ConnectedComponents
from clgraph.dynamic.triangles import TriangleCounter
from clgraph.dynamic.trusses import TrussNumbers

__all__ = [
    "BFS",
    "ConnectedComponents",
    "DynamicGraph",
    "EdgeSupports",
    "MemoryUsage",
    "PeeledEdges",
    "TriangleCounter",
    "TrussNumbers",
    "UpdateResult",
    "peel_trusses",
]
