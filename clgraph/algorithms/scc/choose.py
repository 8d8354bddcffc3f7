"""Which steps fit a graph: rules that follow from the published table of tuned configurations.

References
----------
.. [1] F. Busato, N. Bombieri, "A dynamic approach for the decomposition into strongly connected
       components", whose tables of graphs and of tuned configurations these rules sum up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.bfs.plan import BFS

if TYPE_CHECKING:
    from clgraph.device import Device
    from clgraph.graph import Graph

__all__ = ["Shape", "shape_of", "table_choice"]

SEARCHES = 4  # whose mean depth stands for the diameter
FEW_SINKS, MOST_ARE_SINKS = 0.01, 0.5
SHALLOW, SMALL_SHALLOW, DEEP = 13, 30, 40
SMALL = 1_000_000  # vertices
FEW_EDGES = 5  # a vertex, fewer than a virtual SIMD group has lanes


@dataclass(frozen=True, slots=True)
class Shape:
    """What the rules go by.

    Attributes
    ----------
    n : int
        Vertices.
    mean_degree, deviation : float
        Of the out-degrees.
    sinks : float
        Share of the vertices without out-edges.
    depth : float
        Mean depth of searches from some vertices.
    """

    n: int
    mean_degree: float
    deviation: float
    sinks: float
    depth: float


def shape_of(graph: Graph, device: Device) -> Shape:
    """Look at the degrees, and search from four vertices at even distances.

    The searches run on the device; O(n + m) each.
    """
    degrees = np.asarray(graph.degrees)
    plan = BFS(graph, device=device)
    places = np.unique(np.linspace(0, graph.n - 1, SEARCHES).astype(np.int64))
    return Shape(
        n=graph.n,
        mean_degree=float(degrees.mean()),
        deviation=float(degrees.std()),
        sinks=float(np.count_nonzero(degrees == 0)) / graph.n,
        depth=float(np.mean([plan.run(int(v)).depth for v in places])),
    )


def table_choice(shape: Shape) -> dict[str, Any]:
    """Decide steps and how closures are traversed.

    Without sinks nothing is trimmed, where most vertices are sinks often, else once. Deep graphs of
    uneven degrees with some sinks have many components of middling size, which take many
    forward-backward iterations after full trimming. Scans over all vertices pay where few of them
    reach everything: on shallow graphs, and on small ones whose degrees are even.

    Returns
    -------
    dict
        Of parameters of `SCCConfig`.
    """
    scattered = (
        shape.depth > DEEP and shape.deviation > shape.mean_degree and shape.sinks >= FEW_SINKS / 2
    )
    hanging = shape.sinks >= MOST_ARE_SINKS
    even = shape.deviation < shape.mean_degree
    scans = not hanging and (
        shape.depth <= SHALLOW or (shape.n < SMALL and even and shape.depth <= SMALL_SHALLOW)
    )
    wide = "Q" if shape.mean_degree < FEW_EDGES else "Q_VW"
    return {
        "trim": "full" if scattered else 5 if hanging else int(shape.sinks >= FEW_SINKS),
        "forward_backward": 17 if scattered else 1,
        "fb_strategy": wide if scans else "L",
        "coloring_strategy": "Q" if scans else "L",
        "finish": "coloring",
    }
