"""Closeness and harmonic centrality: how near a vertex is to those that reach it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph.algorithms.multi_search.state import as_sources
from clgraph.algorithms.multi_search.totals import Searcher
from clgraph.algorithms.multi_search.verify import check_figures
from clgraph.algorithms.multi_search.weighted import WeightedSearcher
from clgraph.device import device as find_device
from clgraph.device.programs.asked import asking
from clgraph.graph import as_graph

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from clgraph.algorithms.multi_search.config import MultiSearchConfig
    from clgraph.algorithms.multi_search.totals import Totals
    from clgraph.algorithms.multi_search.weighted import WeightedTotals
    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = ["closeness_centrality", "harmonic_centrality"]


@asking
def closeness_centrality(  # noqa: PLR0913 - all but two by keyword
    graph: Graph,
    sources: ArrayLike | None = None,
    *,
    wf_improved: bool = True,
    weighted: bool = False,
    method: str = "auto",
    config: MultiSearchConfig | str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> NDArray[np.float64]:
    """Reciprocal of the mean distance to a vertex from those that reach it.

    Parameters
    ----------
    graph : Graph or scipy.sparse matrix
        Directed or undirected; distances are along the edges, towards the vertex.
    sources : integers [k], optional
        Vertices whose closeness is wanted; default all.
    wf_improved : bool
        Whether to scale by the share of the graph that reaches the vertex (Wasserman and Faust),
        so that values of different components compare.
    weighted : bool
        Whether edges are as long as their weights, which takes one `clgraph.SSSP` search after the
        other; else distances are in hops.
    method : {"auto", "multi-search", "bit-parallel", "single"}
        As in `apsp`.
    config : MultiSearchConfig or str, optional
        How searches are run where each has a work-group of its own.
    device : Device or str, optional
        Default is ``clgraph.device()``.
    progress : callable or True, optional
        Called with searches done, searches in all, and what is done.
    verify : bool
        Whether to check a sample: the searches from 4 of the sources are done again,
        each by itself and checked by its rules, and compared.

    Returns
    -------
    numpy.ndarray
        float64 [k]; 0 for a vertex that nothing else reaches.

    Raises
    ------
    InvalidArgumentError
        If a source is not a vertex.
    VerificationError
        If the result was to be checked and is wrong.
    DeviceMemoryError
        If a search does not fit the device.

    Notes
    -----
    O(k (n + m)) work. Searches run against the edges, so a directed graph is transposed once and
    the transpose kept with it. For distances away from a vertex pass ``graph.transpose()``.

    References
    ----------
    .. [1] L. C. Freeman, "Centrality in social networks: conceptual clarification", Social
           Networks 1 (1979).
    """
    graph = as_graph(graph)
    on = find_device(device)
    found = _inward(graph, sources, (method, config), on, progress, weighted=weighted)
    others = (found.reached - 1).astype(np.float64)
    closeness = np.divide(others, found.total, out=np.zeros_like(others), where=found.total > 0)
    if wf_improved and graph.n > 1:
        closeness *= others / (graph.n - 1)

    def nearness(distances: NDArray[np.float64]) -> float:
        others, total = distances.size - 1, float(distances.sum())
        share = others / (graph.n - 1) if wf_improved and graph.n > 1 else 1.0
        return share * others / total if total > 0 else 0.0

    if verify:
        _check(graph, sources, closeness, nearness, on, weighted=weighted)
    return closeness


@asking
def harmonic_centrality(
    graph: Graph,
    sources: ArrayLike | None = None,
    *,
    weighted: bool = False,
    method: str = "auto",
    config: MultiSearchConfig | str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> NDArray[np.float64]:
    """Sum of the reciprocals of the distances to a vertex from all others.

    Parameters
    ----------
    graph, sources, weighted, method, config, device, progress, verify
        As `closeness_centrality`.

    Returns
    -------
    numpy.ndarray
        float64 [k]; a vertex that does not reach adds 0.

    Raises
    ------
    InvalidArgumentError, VerificationError, DeviceMemoryError
        As `closeness_centrality`.

    References
    ----------
    .. [1] P. Boldi, S. Vigna, "Axioms for centrality", Internet Mathematics 10 (2014).
    """
    graph, on = as_graph(graph), find_device(device)
    harmonic = _inward(graph, sources, (method, config), on, progress, weighted=weighted).harmonic
    if verify:

        def nearness(distances: NDArray[np.float64]) -> float:
            return float((1 / distances[distances != 0]).sum())

        _check(graph, sources, harmonic, nearness, on, weighted=weighted)
    return harmonic


def _check(
    graph: Graph,
    sources: ArrayLike | None,
    found: NDArray[np.float64],
    figure: Callable[[NDArray[np.float64]], float],
    device: Device,
    *,
    weighted: bool,
) -> None:
    """Compare a sample with searches against the edges, each by itself."""
    chosen = np.arange(graph.n) if sources is None else as_sources(sources, graph.n)
    check_figures(graph.transpose(), chosen, found, figure, device, weighted=weighted)


def _inward(
    graph: Graph,
    sources: ArrayLike | None,
    how: tuple[str, MultiSearchConfig | str | None],
    device: Device,
    progress: Progress | None,
    *,
    weighted: bool,
) -> Totals | WeightedTotals:
    """Figures of searches against the edges."""
    if weighted:
        chosen = np.arange(graph.n) if sources is None else as_sources(sources, graph.n)
        return WeightedSearcher(graph.transpose(), device, *how).totals(chosen, progress)
    if sources is None and graph.directed:
        searcher = Searcher(graph, device, *how)
        if searcher.shares_bits():
            return searcher.totals_of_targets(progress)
    everyone = np.arange(graph.n, dtype=np.int64)
    chosen = everyone if sources is None else as_sources(sources, graph.n)
    back = Searcher(graph.transpose(), device, *how, transpose=graph)
    return back.totals(chosen, progress)
