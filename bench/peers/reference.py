"""Searches by others' code, to check results against."""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.graph.modules import module

from .libraries import scipy_matrix

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from clgraph import Graph

__all__ = ["bfs_reference", "depths_of_tree"]


def bfs_reference(graph: Graph) -> tuple[str, Callable[[int], NDArray[np.int32]]]:
    """Give an independent search of a graph.

    Parameters
    ----------
    graph : Graph
        What to search.

    Returns
    -------
    name, search
        What it is built on, and a function from a source to int32 [n] hop distances: a sequential
        loop compiled by numba where that can be imported, else scipy's ``breadth_first_order``.
    """
    compiled = _compiled()
    if compiled is None:
        matrix = scipy_matrix(graph)
        return "scipy", lambda source: search_scipy(matrix, source)

    def search(source: int) -> NDArray[np.int32]:
        distances = np.full(graph.n, -1, np.int32)
        compiled(graph.indptr, graph.indices, source, distances, np.empty(graph.n, np.int32))
        return distances

    return "numba", search


@cache
def _compiled() -> Callable[..., None] | None:
    try:
        numba = importlib.import_module("numba")
    except ImportError:  # also raised where numba does not know this numpy yet
        return None
    compiled: Callable[..., None] = numba.njit(_search)
    return compiled


def _search(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    source: int,
    distances: NDArray[np.int32],
    queue: NDArray[np.int32],
) -> None:
    """Textbook search with one queue; `distances` holds -1 on entry."""
    distances[source] = 0
    queue[0] = source
    done, found = 0, 1
    while done < found:
        u = queue[done]
        done += 1
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            if distances[v] < 0:
                distances[v] = distances[u] + 1
                queue[found] = v
                found += 1


def search_scipy(matrix: Any, source: int) -> NDArray[np.int32]:
    """Hop distances through ``breadth_first_order``; follows the tree afterwards."""
    csgraph = module("scipy.sparse.csgraph")
    order, parents = csgraph.breadth_first_order(matrix, source, directed=True)
    return depths_of_tree(order, parents, source)


def depths_of_tree(order: NDArray[Any], parents: NDArray[Any], source: int) -> NDArray[np.int32]:
    """Depth of each vertex in a breadth-first tree.

    Parameters
    ----------
    order : int array
        Reached vertices in the order they were found, `source` first.
    parents : int array [n]
        Parent of each reached vertex; others are not looked at.
    source : int
        Root.

    Returns
    -------
    int32 array [n]
        -1 where the tree does not reach.

    Notes
    -----
    In order of discovery parents never fall behind, so each level is one slice: its end is where
    parents begin to lie in the level itself.
    """
    place = np.zeros(len(parents), np.int64)
    place[order] = np.arange(len(order))
    parent_places = place[parents[order[1:]]]
    depths = np.full(len(parents), -1, np.int32)
    depths[source] = 0
    begin, end, depth = 0, 1, 0
    while end < len(order):
        depth += 1
        begin, end = end, 1 + int(np.searchsorted(parent_places, end, side="left"))
        if end == begin:
            raise ValueError("the vertices are not in the order of a breadth-first search")
        depths[order[begin:end]] = depth
    return depths
