"""Graphs that change in batches, and what is kept up to date with them."""

from clgraph.dynamic.graph import DynamicGraph
from clgraph.dynamic.maintained.peeling import EdgeSupports, PeeledEdges, peel_trusses
from clgraph.dynamic.maintained.searches import BFS, ConnectedComponents
from clgraph.dynamic.maintained.triangles import TriangleCounter
from clgraph.dynamic.maintained.trusses import TrussNumbers
from clgraph.dynamic.result import MemoryUsage, UpdateResult

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
