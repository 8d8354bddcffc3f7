"""Checks of search results by the rules that make one right, without a second search.

Vectorised passes over the edges, in blocks of bounded size; how a result was found does not matter.

>>> import clgraph as cg
>>> from clgraph import verify
>>> graph = cg.generate.path(4)
>>> verify.distances(graph, 0, [0, 1, 2, 3])
>>> verify.distances(graph, 0, [0, 1, 2, 2])  # doctest: +IGNORE_EXCEPTION_DETAIL
Traceback (most recent call last):
    ...
VerificationError: vertex 3 is at distance 2, but no edge leads to it from a vertex at 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clgraph.engine.arguments import depth_limit, vertex_number
from clgraph.errors import InvalidArgumentError, VerificationError
from clgraph.graph import as_graph
from clgraph.graph.arrays import argument_array

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from clgraph.graph import Graph

    Vertices = NDArray[np.int64]

__all__ = ["distances", "shortest_path_tree"]

BLOCK = 1 << 20  # edges looked at together; some 50 bytes each


class _Edges(NamedTuple):
    sources: Vertices
    targets: Vertices


def distances(graph: Graph, source: int, distances: Any, *, max_depth: int | None = None) -> None:
    """Check hop distances from a source.

    They are right exactly if the source alone is at 0, no edge leads from a reached vertex to one
    that is unreached or more than one hop farther, and each reached vertex but the source has an
    in-neighbour that is one hop nearer.

    Parameters
    ----------
    graph : Graph or scipy.sparse matrix
        What was searched; weights are ignored.
    source : int
        Vertex id in [0, n).
    distances : integer array-like [n]
        In hops, -1 where there is no path; or a result with this attribute.
    max_depth : int, optional
        How far the search was allowed to go: edges that leave vertices at this distance are exempt.

    Raises
    ------
    VerificationError
        Naming the first vertex or edge that breaks a rule.
    InvalidArgumentError
        If `source` is not a vertex, or `distances` is not a one-dimensional array of n integers.

    Notes
    -----
    O(n + m) on the host, 17 n bytes and some 50 MiB besides.
    """
    graph = as_graph(graph)
    source = vertex_number(source, graph.n)
    hops = _integers(getattr(distances, "distances", distances), "distances", graph.n)
    depth_limit(max_depth)
    _check_range(hops, source, max_depth)
    preceded = np.zeros(graph.n, bool)
    preceded[source] = True
    for edges in _blocks(graph):
        _check_levels(hops, edges, max_depth)
        nearer = (hops[edges.sources] >= 0) & (hops[edges.targets] == hops[edges.sources] + 1)
        preceded[edges.targets[nearer]] = True
    orphan = _first(~preceded & (hops >= 0))
    if orphan is not None:
        raise VerificationError(
            f"vertex {orphan} is at distance {hops[orphan]}, but no edge leads to it from a vertex "
            f"at {hops[orphan] - 1}."
        )


def shortest_path_tree(
    graph: Graph,
    source: int,
    result: Any,
    predecessors: Any = None,
    *,
    max_depth: int | None = None,
) -> None:
    """Check a shortest-path tree by the five rules of the Graph500 benchmark.

    The tree has no cycles; each of its edges spans one level; each edge of the graph spans at most
    one level or joins two unreached vertices (in a directed graph: an edge from a reached vertex
    leads at most one level farther); the tree spans exactly what the source reaches; and each of
    its edges is one of the graph.

    Parameters
    ----------
    graph : Graph or scipy.sparse matrix
        What was searched; weights are ignored.
    source : int
        Vertex id in [0, n).
    result : BFSResult or integer array-like [n]
        A result with distances and predecessors, or the distances alone.
    predecessors : integer array-like [n], optional
        The vertex before on a path from the source, -1 where there is none, the source its own;
        needed if `result` is an array.
    max_depth : int, optional
        How far the search was allowed to go: edges that leave vertices at this distance are exempt.

    Raises
    ------
    VerificationError
        Naming the first vertex or edge that breaks a rule.
    InvalidArgumentError
        If `source` is not a vertex, or there are no two one-dimensional arrays of n integers.

    Notes
    -----
    O(n log n + m) on the host, 41 n bytes and some 50 MiB besides.

    References
    ----------
    .. [1] Graph 500 steering committee, "Graph 500 benchmark specification", section on validation.
    """
    graph = as_graph(graph)
    source = vertex_number(source, graph.n)
    if predecessors is None:
        predecessors = getattr(result, "predecessors", None)
    if predecessors is None:
        raise InvalidArgumentError(
            "there are no predecessors to check; search with predecessors=True, or pass them."
        )
    hops = _integers(getattr(result, "distances", result), "distances", graph.n)
    parents = _integers(predecessors, "predecessors", graph.n)
    _check_range(hops, source, max_depth)
    _check_parents(hops, parents, source)
    _check_acyclic(parents, source)
    _check_tree_levels(hops, parents, source)
    in_graph = parents < 0
    in_graph[source] = True
    for edges in _blocks(graph):
        _check_levels(hops, edges, max_depth)
        in_graph[edges.targets[parents[edges.targets] == edges.sources]] = True
    foreign = _first(~in_graph)
    if foreign is not None:
        raise VerificationError(
            f"tree edge {parents[foreign]} -> {foreign} is not an edge of the graph."
        )


def _integers(values: Any, name: str, n: int) -> Vertices:
    array = argument_array(name, values)
    if array.dtype.kind not in "iu" or array.shape != (n,):
        raise InvalidArgumentError(
            f"{name} is an array of {array.dtype} with shape {array.shape}; it must hold {n} "
            "integers, one for each vertex."
        )
    return array.astype(np.int64, copy=False)


def _first(wrong: NDArray[np.bool_]) -> int | None:
    at = int(wrong.argmax()) if wrong.size else 0
    return at if wrong.size and wrong[at] else None


def _blocks(graph: Graph) -> Iterator[_Edges]:
    """All edges in the order of the graph, at most BLOCK at a time."""
    for begin in range(0, graph.m, BLOCK):
        end = min(begin + BLOCK, graph.m)
        first, last = np.searchsorted(graph.indptr, [begin, end - 1], side="right") - 1
        bounds = np.clip(graph.indptr[first : last + 2], begin, end)
        sources = np.repeat(np.arange(first, last + 1), np.diff(bounds))
        yield _Edges(sources, graph.indices[begin:end].astype(np.int64))


def _check_range(hops: Vertices, source: int, max_depth: int | None) -> None:
    if hops[source] != 0:
        raise VerificationError(f"the source {source} is at distance {hops[source]}, not at 0.")
    limit = len(hops) - 1 if max_depth is None else min(max_depth, len(hops) - 1)
    odd = _first((hops < -1) | (hops > limit))
    if odd is not None:
        raise VerificationError(
            f"vertex {odd} is at distance {hops[odd]}, which is neither -1 nor in [0, {limit}]."
        )
    zero = hops == 0
    zero[source] = False
    second = _first(zero)
    if second is not None:
        raise VerificationError(
            f"vertex {second} is at distance 0, but only the source {source} is."
        )


def _check_levels(hops: Vertices, edges: _Edges, max_depth: int | None) -> None:
    """No edge from a reached vertex to one that is unreached or two hops farther."""
    near, far = hops[edges.sources], hops[edges.targets]
    broken = (near >= 0) & ((far < 0) | (far > near + 1))
    if max_depth is not None:
        broken &= near < max_depth
    at = _first(broken)
    if at is None:
        return
    u, v = edges.sources[at], edges.targets[at]
    what = "is unreached" if far[at] < 0 else f"is at distance {far[at]}"
    raise VerificationError(f"vertex {v} {what}, but edge {u} -> {v} reaches it at {near[at] + 1}.")


def _check_parents(hops: Vertices, parents: Vertices, source: int) -> None:
    """Exactly the reached vertices have a predecessor, and it is a vertex."""
    if parents[source] != source:
        raise VerificationError(
            f"the source {source} has predecessor {parents[source]}; it must be its own."
        )
    odd = _first((parents < -1) | (parents >= len(parents)))
    if odd is not None:
        raise VerificationError(
            f"vertex {odd} has predecessor {parents[odd]}, which is neither -1 nor a vertex."
        )
    odd = _first((hops >= 0) != (parents >= 0))
    if odd is not None:
        raise VerificationError(
            f"vertex {odd} is at distance {hops[odd]} with predecessor {parents[odd]}; it is "
            "either reached and in the tree or neither."
        )


def _check_acyclic(parents: Vertices, source: int) -> None:
    """Following predecessors leads to the source from everywhere; doubles the stride each round."""
    ancestors = np.where(parents < 0, source, parents)
    for _ in range(len(parents).bit_length()):
        if (ancestors == source).all():
            return
        ancestors = ancestors[ancestors]
    lost = _first(ancestors != source)
    if lost is not None:
        raise VerificationError(
            f"the predecessors of vertex {lost} run in a cycle and never come to the "
            f"source {source}."
        )


def _check_tree_levels(hops: Vertices, parents: Vertices, source: int) -> None:
    steps = np.where(parents >= 0, hops - hops[parents], 1)
    steps[source] = 1
    odd = _first(steps != 1)
    if odd is not None:
        raise VerificationError(
            f"tree edge {parents[odd]} -> {odd} leads from distance {hops[parents[odd]]} to "
            f"{hops[odd]}, not one level on."
        )
