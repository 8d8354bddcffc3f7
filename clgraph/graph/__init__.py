"""The graph a user holds, how to build one, and how to read and write it."""

from typing import TYPE_CHECKING

from clgraph.names import on_first_use

if TYPE_CHECKING:
    from clgraph.graph import generate
    from clgraph.graph.build import as_graph, from_edges, from_networkx, from_pandas, from_scipy
    from clgraph.graph.formats.registry import FORMATS, read, write
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

_HOMES = {
    "clgraph.graph.build": ("as_graph", "from_edges", "from_networkx", "from_pandas", "from_scipy"),
    "clgraph.graph.formats.registry": ("FORMATS", "read", "write"),
    "clgraph.graph.graph": ("Graph",),
    "clgraph.graph.statistics": ("GraphStatistics",),
}

__getattr__, __dir__ = on_first_use(__name__, _HOMES, {"generate": "clgraph.graph.generate"})
