"""Betweenness centrality of vertices and edges, by Brandes' algorithm."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.centrality.sums import edge_sums, simple, vertex_sums
from clgraph.algorithms.multi_search.state import sources_or_all
from clgraph.algorithms.multi_search.totals import Searcher
from clgraph.algorithms.multi_search.verify import check_shares
from clgraph.apart import apart
from clgraph.device import device as find_device
from clgraph.device.programs.asked import asking
from clgraph.documented import documented
from clgraph.errors import InvalidArgumentError, VerificationError
from clgraph.graph import Graph, as_graph
from clgraph.graph.arguments import flags, whole
from clgraph.graph.arrays import argument_array
from clgraph.seeded import seeded

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from clgraph.algorithms.multi_search.config import MultiSearchConfig
    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress

__all__ = ["betweenness_centrality", "edge_betweenness_centrality"]


@flags
@asking
def betweenness_centrality(  # noqa: PLR0913 - all but three by keyword
    graph: Graph,
    sources: ArrayLike | int | None = None,
    normalized: bool = True,
    *,
    dtype: DTypeLike = np.float64,
    seed: int | None = None,
    weighted: bool = False,
    method: str = "auto",
    config: MultiSearchConfig | str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> NDArray[Any]:
    """Share of all shortest paths that pass through each vertex.

    Parameters
    ----------
    graph : Graph or scipy.sparse matrix
        Directed or undirected; parallel edges count once.
    sources : int or integers [k], optional
        Vertices whose paths are counted: a list, or how many to draw at random. Default all.
    normalized : bool
        Whether to divide by the number of pairs of other vertices; else paths of undirected graphs
        are counted once, not once from either end.
    dtype : {float64, float32}
        Of the result; float32 also halves the memory of the searches.
    seed : int, optional
        Of the draw.
    weighted : bool
        Whether edges are as long as their weights, which must be positive; this takes one
        `clgraph.SSSP` search after the other. Else all are of length 1.
    method : {"auto", "multi-search", "ordered", "shared"}
        Whether a work-group runs each search as a `clgraph.MultiSearch`, or keeps what it finds in
        its order, which is for undirected graphs, or searches share a traversal; "auto" takes the
        last for graphs of few levels that are not small, else the second where it can.
    config : MultiSearchConfig or str, optional
        How the first are run; with one "auto" takes no other.
    device : Device or str, optional
        Default is ``clgraph.device()``.
    progress : callable or True, optional
        Called with searches done, searches in all, and what is done.
    verify : bool
        Whether to check: no vertex may have less than 4 of the sources alone give it, whose shares
        the host computes from searches that are checked by their rules; and without weights the
        sum over all vertices must follow from the distances, which are searched for again.

    Returns
    -------
    numpy.ndarray
        [n] of `dtype`; scaled from a sample to all sources as networkx 3.6 does it, where a sampled
        vertex has one source less than others.

    Raises
    ------
    InvalidArgumentError
        If a source is not a vertex, more are to be drawn than there are, `method` is "ordered" and
        the graph directed, or weights are asked for that are not there or not positive.
    VerificationError
        If the result was to be checked and is wrong.
    ClgraphError
        If the shortest paths are too many for a floating-point number.
    DeviceMemoryError
        If the searches do not fit the device.

    Notes
    -----
    O(k (n + m)) work, 17 to 36 bytes per vertex and search at a time in float64. Sums are added in
    the order in which searches end, so the last digits may differ from run to run.

    References
    ----------
    .. [1] U. Brandes, "A faster algorithm for betweenness centrality", Journal of Mathematical
           Sociology 25 (2001).
    """
    graph = as_graph(graph)
    chosen, on = _choose(sources, graph.n, seed), find_device(device)
    scores = vertex_sums(
        graph,
        chosen,
        dtype=dtype,
        weighted=weighted,
        method=method,
        config=config,
        device=on,
        progress=progress,
    )
    if verify:
        _check_sums(simple(graph, weighted=weighted), chosen, scores, on, weighted=weighted)
    if graph.n < 3:
        return scores
    scores *= _vertex_scale(graph, sources, chosen, normalized=normalized)
    return scores


def _check_sums(
    graph: Graph,
    chosen: NDArray[np.int64],
    scores: NDArray[Any],
    device: Device,
    *,
    weighted: bool,
) -> None:
    """Check sums that are not scaled yet, of a simple graph."""
    check_shares(graph, chosen, scores, device, weighted=weighted)
    if weighted or not chosen.size:
        return
    totals = Searcher(graph, device).totals(chosen)
    # A shortest path of d edges passes through d - 1 vertices.
    wanted = float((totals.total - (totals.reached - 1)).sum())
    tolerance = 1e-3 if scores.dtype == np.float32 else 1e-6
    if not math.isclose(scores.sum(dtype=np.float64), wanted, rel_tol=tolerance, abs_tol=tolerance):
        raise VerificationError(
            f"shortest paths pass through vertices {scores.sum(dtype=np.float64)} times in all, "
            f"but by their lengths it is {wanted} times."
        )


@documented(betweenness_centrality)
@flags
@asking
def edge_betweenness_centrality(  # noqa: PLR0913 - all but three by keyword
    graph: Graph,
    sources: ArrayLike | int | None = None,
    normalized: bool = True,
    *,
    dtype: DTypeLike = np.float64,
    seed: int | None = None,
    weighted: bool = False,
    config: MultiSearchConfig | str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
) -> NDArray[Any]:
    """Share of all shortest paths that pass along each edge.

    Returns
    -------
    numpy.ndarray
        [m] of `dtype`, in the order of ``graph.indices``. Both directions of an undirected edge
        have the value of the edge; parallel edges share it evenly, by weight the lightest of them.

    Notes
    -----
    As `betweenness_centrality`, and one addition for every edge on a shortest path.
    """
    graph = as_graph(graph)
    chosen = _choose(sources, graph.n, seed)
    thin = simple(graph, weighted=weighted)
    options: Any = {"dtype": dtype, "weighted": weighted, "config": config}
    scores = edge_sums(thin, chosen, device=find_device(device), progress=progress, **options)
    if graph.n >= 2:
        n, k = graph.n, max(chosen.size, 1)
        ordered = 1.0 if graph.directed else 2.0
        scale = 1 / (k * (n - 1)) if normalized else n / (k * ordered)
        scores *= scores.dtype.type(scale)
    if thin is graph:
        return scores
    edge_sources = np.repeat(np.arange(graph.n, dtype=np.int64), graph.degrees)
    _, place = np.unique(edge_sources * graph.n + graph.indices, return_inverse=True)
    counts = np.ones(graph.m, bool)
    if weighted and graph.weights is not None and thin.weights is not None:
        counts = graph.weights == thin.weights[place]
    copies = np.bincount(place[counts], minlength=scores.size).astype(scores.dtype)
    shared: NDArray[Any] = np.where(counts, (scores / copies)[place], 0).astype(scores.dtype)
    return shared


def _choose(sources: Any, n: int, seed: int | None) -> NDArray[np.int64]:
    if sources is not None and argument_array("sources", sources).ndim == 0:
        count = whole("sources", sources, 0, None)
        if count > n:
            raise InvalidArgumentError(
                f"sources={count} vertices cannot be drawn from {n}; pass at most that many."
            )
        return (
            seeded(None if seed is None else whole("seed", seed, 0, None))
            .choice(n, count, replace=False)
            .astype(np.int64)
        )
    return sources_or_all(sources, n)


def _vertex_scale(
    graph: Graph, sources: Any, chosen: NDArray[np.int64], *, normalized: bool
) -> NDArray[np.float64]:
    """Factors [n]; a source is an end of all its own paths, so it has seen one source less."""
    others, ordered = graph.n - 1, 1 if graph.directed else 2
    seen = np.full(graph.n, float(others))
    if sources is not None and chosen.size != graph.n:
        seen[:] = chosen.size
        seen -= np.bincount(chosen, minlength=graph.n)
    scale = apart(
        np.errstate(divide="ignore")(
            lambda: 1 / (seen * (others - 1)) if normalized else others / (seen * ordered)
        )
    )
    scale[np.isinf(scale)] = math.nan
    return scale
