"""The graph a user holds, how to build one, and how to read and write it."""

from clgraph.graph import generate
from clgraph.graph.build import as_graph, from_edges, from_networkx, from_pandas, from_scipy
from clgraph.graph.formats import FORMATS, read, write
from clgraph.graph.graph import Graph
from clgraph.graph.statistics import GraphStatistics

__all__ = [
    "FORMATS",
    "Graph",
    "GraphStatistics",
    "as_graph",
    "from_edges",
    "from_networkx",
    "from_pandas",
    "from_scipy",
    "generate",
    "read",
    "write",
]
