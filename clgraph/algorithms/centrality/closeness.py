"""Closeness and harmonic centrality: how near a vertex is to those that reach it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph.algorithms.multi_search.apsp import apsp
from clgraph.algorithms.multi_search.state import sources_or_all
from clgraph.algorithms.multi_search.totals import Searcher
from clgraph.algorithms.multi_search.verify import check_figures
from clgraph.algorithms.multi_search.weighted import WeightedSearcher
from clgraph.device import device as find_device
from clgraph.device.programs.asked import asking
from clgraph.documented import documented
from clgraph.errors import InvalidGraphError
from clgraph.graph import as_graph
from clgraph.graph.arguments import flags

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from clgraph.algorithms.multi_search.config import MultiSearchConfig
    from clgraph.algorithms.multi_search.result import Totals
    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = ["closeness_centrality", "harmonic_centrality"]


@documented(apsp)
@flags
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
    progress : callable or True, optional
        Called with searches done, searches in all, and what is done.

    Returns
    -------
    numpy.ndarray
        float64 [k]; 0 for a vertex that nothing else reaches.

    Raises
    ------
    InvalidArgumentError
        If a source is not a vertex.
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
    closeness: NDArray[np.float64] = np.divide(
        others, found.total, out=np.zeros_like(others), where=found.total > 0
    )
    if wf_improved and graph.n > 1:
        closeness *= others / (graph.n - 1)

    def nearness(distances: NDArray[np.float64]) -> float:
        others, total = distances.size - 1, float(distances.sum())
        share = others / (graph.n - 1) if wf_improved and graph.n > 1 else 1.0
        return share * others / total if total > 0 else 0.0

    if verify:
        _check(graph, sources, closeness, nearness, on, weighted=weighted)
    return closeness


@documented(closeness_centrality)
@flags
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

    Returns
    -------
    numpy.ndarray
        float64 [k]; a vertex that does not reach adds 0.

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
    chosen = sources_or_all(sources, graph.n)
    check_figures(graph.transpose(), chosen, found, figure, device, weighted=weighted)


def _inward(
    graph: Graph,
    sources: ArrayLike | None,
    how: tuple[str, MultiSearchConfig | str | None],
    device: Device,
    progress: Progress | None,
    *,
    weighted: bool,
) -> Totals:
    """Figures of searches against the edges."""
    chosen = sources_or_all(sources, graph.n)
    if weighted:
        if graph.weights is not None and graph.weights.min(initial=0) < 0:
            raise InvalidGraphError(
                f"edge weights are as low as {graph.weights.min():g}, but nearness needs distances "
                "from 0 on; leave out weighted."
            )
        return WeightedSearcher(graph.transpose(), device, *how).totals(chosen, progress)
    if sources is None and graph.directed:
        searcher = Searcher(graph, device, *how)
        if searcher.shares_bits():
            return searcher.totals_of_targets(progress)
    back = Searcher(graph.transpose(), device, *how, transpose=graph)
    return back.totals(chosen, progress)
