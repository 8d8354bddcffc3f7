"""From an edge list as a file states it to a Graph, and back."""

import re

import numpy as np

from clgraph.errors import InvalidGraphError
from clgraph.graph import csr
from clgraph.graph.build import is_symmetric_list, with_reverses
from clgraph.graph.csr import Array
from clgraph.graph.formats import seam
from clgraph.graph.formats.files import Source
from clgraph.graph.formats.table import EdgeTable
from clgraph.graph.graph import Graph

__all__ = [
    "choose_weights",
    "declared_size",
    "file_ids",
    "from_listing",
    "says_undirected",
    "with_ids_as_they_occur",
]

_SIZE = re.compile(r"nodes:?\s*(\d{1,30})", re.IGNORECASE | re.ASCII)
_UNDIRECTED = re.compile(r"\bundirected\b", re.IGNORECASE)
_FLAGS_PER_EDGE = 64  # look ids up in an array while it is no more than this much longer than m


def from_listing(
    source: Source, table: EdgeTable, n: int, *, directed: bool, labels: Array | None = None
) -> Graph:
    """Graph of the edges a file lists.

    Parameters
    ----------
    source : Source
        The file, for messages.
    table : EdgeTable
        Its edges, ids below ``n``.
    n : int
        Number of vertices.
    directed : bool
        False: each line is an edge both ways, unless the file lists all edges in both directions.
    labels : array [n], optional
        What the vertices are called in the file.

    Returns
    -------
    Graph
        The graph.

    Raises
    ------
    GraphFormatError
        If the two directions of an undirected edge weigh differently.
    """
    source.check_vertices(n, 1)
    src, dst, weights = table.src, table.dst, table.weights
    both_ways = directed or is_symmetric_list(n, src, dst)
    if not both_ways:
        src, dst, weights = with_reverses(src, dst, weights)
    arrays = csr.edges_to_csr(n, src, dst, weights, copy=False, sorter=seam.edge_sorter())
    if directed or not both_ways or weights is None:
        return Graph.trusted(arrays, directed=directed, labels=labels)
    try:
        return Graph(*arrays, directed=False, labels=labels)
    except InvalidGraphError as error:
        source.fail(str(error), 1)


def choose_weights(source: Source, weighted: bool | None, *, has: bool, default: bool) -> bool:
    """Whether to keep weights, from what the caller asks for and what the file has."""
    if weighted and not has:
        source.fail("weighted=True was asked for, but the file has no weights", 1)
    return has and (default if weighted is None else weighted)


def declared_size(comments: list[str]) -> int | None:
    """Find the number of vertices in a comment such as ``# Nodes: 5 Edges: 7``."""
    found = (_SIZE.search(comment) for comment in comments)
    return next((int(match.group(1)) for match in found if match), None)


def says_undirected(comments: list[str]) -> bool:
    """Whether a comment calls the graph undirected."""
    return any(_UNDIRECTED.search(comment) for comment in comments)


def with_ids_as_they_occur(
    source: Source, table: EdgeTable, declared: int | None
) -> tuple[EdgeTable, int, Array | None]:
    """Renumber vertices without gaps where a file uses ids of its own.

    Parameters
    ----------
    source : Source
        The file.
    table : EdgeTable
        Its edges.
    declared : int or None
        Number of vertices that its header states.

    Returns
    -------
    table, n, labels
        If the header states more vertices than the largest id, ids are vertices as they are and
        ``labels`` is None. Otherwise the vertices are the ids that occur, in ascending order, and
        ``labels`` holds them, or is None if they are 0 to n - 1 anyway.
    """
    largest = table.largest
    if declared is not None and largest < declared:
        source.check_vertices(declared, 1)
        return table, declared, None
    if largest < _FLAGS_PER_EDGE * table.rows:
        occurs = np.zeros(largest + 1, bool)
        occurs[table.src] = True
        occurs[table.dst] = True
        if occurs.all():
            return table, largest + 1, None
        labels = np.flatnonzero(occurs)
        number = (np.cumsum(occurs) - 1).astype(table.src.dtype)
        src, dst = number[table.src], number[table.dst]
    else:
        both = np.concatenate([table.src, table.dst])
        labels, number = np.unique(both, return_inverse=True)
        src, dst = number[: table.rows], number[table.rows :]
    table = EdgeTable(src, dst, table.weights, len(labels) - 1)
    return table, len(labels), labels.astype(np.int64)


def file_ids(graph: Graph) -> Array | None:
    """Ids to write a graph's vertices with, if not their numbers: labels that can be read back.

    They can be if they are ascending non-negative integers and every vertex has an edge, because
    the reader knows no other vertices than those that occur.
    """
    labels = graph.labels
    if labels is None or labels.dtype.kind not in "iu" or not graph.n:
        return None
    if int(labels[0]) < 0 or (labels[1:] <= labels[:-1]).any() or int(labels[-1]) < graph.n:
        return None
    return labels if graph.statistics().isolated == 0 else None
