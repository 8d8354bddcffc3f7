"""Graphs from CSV files and igraph; tables that are not pandas' own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.errors import InvalidArgumentError, InvalidGraphError
from clgraph.graph.arguments import flags
from clgraph.graph.arrays import as_label_array, as_weight_array
from clgraph.graph.build import from_edges, from_pandas, with_reverses
from clgraph.graph.csr import edges_to_csr
from clgraph.graph.graph import Graph
from clgraph.graph.modules import module

if TYPE_CHECKING:
    from os import PathLike

__all__ = ["from_csv", "from_igraph"]


@flags
def from_csv(
    path: str | PathLike[str],
    source: str | int = 0,
    target: str | int = 1,
    weight: str | int | None = None,
    *,
    directed: bool = True,
    vertices: Any = None,
    **reading: Any,
) -> Graph:
    """Graph of a text table with one row per edge, read by pandas.

    Parameters
    ----------
    path : path-like or file
        What ``pandas.read_csv`` reads.
    source, target : str or int
        Columns of the two ends, by name or by place.
    weight : str or int, optional
        Column of the weights.
    directed, vertices
        As `from_pandas`.
    **reading
        More for ``pandas.read_csv``: ``sep``, ``header``, ``comment``, ...

    Returns
    -------
    Graph
        With the names of vertices as ``labels``, unless they are numbers.

    Raises
    ------
    InvalidArgumentError
        If there is no such column.
    InvalidGraphError
        As `from_pandas`.
    ImportError
        If pandas is not installed.

    Notes
    -----
    `read` is faster, takes files of many formats and refuses hostile ones; this is for names.
    """
    table = module("pandas", needed_for="from_csv").read_csv(path, **reading)
    ends = _column(table, source), _column(table, target)
    cost = None if weight is None else _column(table, weight)
    return from_pandas(table, *ends, cost, directed=directed, vertices=vertices)


def _column(table: Any, given: str | int) -> Any:
    if isinstance(given, int) and given not in table.columns:
        if not 0 <= given < len(table.columns):
            raise InvalidArgumentError(
                f"the table has {len(table.columns)} columns, so there is no column {given}; pass "
                "source=, target= or weight="
            )
        return table.columns[given]
    return given


def from_igraph(graph: Any, *, weight: str | None = "weight", name: str = "name") -> Graph:
    """Graph of a python-igraph graph.

    Parameters
    ----------
    graph : igraph.Graph
        Directed or not, with parallel edges or not.
    weight : str, optional
        Edge attribute to take as weight; if there is none such, or it is None, the graph has no
        weights.
    name : str
        Vertex attribute to take as labels, where there is one.

    Returns
    -------
    Graph
        Vertices in igraph's order.

    Raises
    ------
    InvalidGraphError
        If it is no igraph graph, or a weight is not a finite real number.
    """
    if not all(hasattr(graph, part) for part in ("vs", "es", "get_edgelist")):
        raise InvalidGraphError(f"a {type(graph).__name__} is not an igraph graph")
    n = graph.vcount()
    ends = np.array(graph.get_edgelist(), np.int64).reshape(-1, 2)
    costs = None
    if weight is not None and weight in graph.es.attributes():
        costs = as_weight_array(graph.es[weight], len(ends))
    directed = bool(graph.is_directed())
    sources, targets = ends[:, 0], ends[:, 1]
    if not directed:
        sources, targets, costs = with_reverses(sources, targets, costs)
    arrays = edges_to_csr(n, sources, targets, costs)
    labels = graph.vs[name] if name in graph.vs.attributes() else None
    return Graph.trusted(arrays, directed=directed, labels=as_label_array(labels, n))


def subgraph(graph: Graph, vertices: np.ndarray[Any, np.dtype[np.int64]]) -> Graph:
    """Graph of some vertices and the edges between them; they keep their names."""
    inside = np.full(graph.n, -1, np.int64)
    inside[vertices] = np.arange(vertices.size)
    sources = inside[np.repeat(np.arange(graph.n), graph.degrees)]
    targets = inside[graph.indices]
    kept = (sources >= 0) & (targets >= 0)
    costs = None if graph.weights is None else graph.weights[kept]
    made = from_edges(sources[kept], targets[kept], costs, n=vertices.size)
    names = vertices if graph.labels is None else graph.labels[vertices]
    arrays = made.indptr, made.indices, made.weights
    return Graph.trusted(arrays, directed=graph.directed, labels=names)
