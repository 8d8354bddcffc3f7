"""Eccentricities, and the diameter by few searches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.multi_search.apsp import apsp
from clgraph.algorithms.multi_search.bounds import MutualBounds
from clgraph.algorithms.multi_search.config import MultiSearchConfig
from clgraph.algorithms.multi_search.eccentricity_directed import DirectedBounds
from clgraph.algorithms.multi_search.state import sources_or_all
from clgraph.algorithms.multi_search.totals import Searcher
from clgraph.algorithms.multi_search.verify import check_figures, sampled
from clgraph.algorithms.multi_search.weighted import WeightedSearcher
from clgraph.device import device as find_device
from clgraph.device.programs.asked import asking
from clgraph.documented import documented
from clgraph.errors import InvalidArgumentError, InvalidGraphError, VerificationError
from clgraph.graph import as_graph
from clgraph.graph.arguments import among, flags, shown
from clgraph.graph.csr import simple_matrix
from clgraph.graph.modules import module

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = ["diameter", "eccentricity"]


@documented(apsp)
@flags
@asking
def eccentricity(  # noqa: PLR0913 - all but two by keyword
    graph: Graph,
    sources: ArrayLike | None = None,
    *,
    disconnected: str = "raise",
    weighted: bool = False,
    method: str = "auto",
    config: MultiSearchConfig | str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> NDArray[np.int64] | NDArray[np.float64]:
    """Distance from each vertex to the one farthest from it.

    Parameters
    ----------
    sources : integers [k], optional
        Vertices whose eccentricity is wanted; default all.
    disconnected : {"raise", "ignore"}
        What to do where a vertex does not reach all others: raise, or take the farthest of those
        that it reaches.
    weighted : bool
        Whether edges are as long as their weights, which takes one `clgraph.SSSP` search after the
        other; else distances are in hops.
    progress : callable or True, optional
        Called with searches done, searches in all, and what is done.

    Returns
    -------
    numpy.ndarray
        int64 [k] in hops, or float64 [k] by weight.

    Raises
    ------
    InvalidArgumentError
        If a source is not a vertex, or `disconnected` neither of the two.
    InvalidGraphError
        If a vertex does not reach all others and `disconnected` is "raise".
    DeviceMemoryError
        If a search does not fit the device.

    Notes
    -----
    O(k (n + m)) work.
    """
    graph = as_graph(graph)
    _check(disconnected)
    chosen = sources_or_all(sources, graph.n)
    on = find_device(device)
    kind = WeightedSearcher if weighted else Searcher
    found = kind(graph, on, method, config).totals(chosen, progress)
    if disconnected == "raise":
        short = np.flatnonzero(found.reached < graph.n)
        if short.size:
            _raise_disconnected(int(chosen[short[0]]), int(found.reached[short[0]]), graph.n)
    if verify:
        farthest = found.farthest
        check_figures(graph, chosen, farthest, np.max, on, weighted=weighted)
    return found.farthest


@documented(eccentricity)
@flags
@asking
def diameter(
    graph: Graph,
    *,
    disconnected: str = "raise",
    weighted: bool = False,
    config: MultiSearchConfig | str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> float:
    """Largest distance between two vertices, exactly.

    Parameters
    ----------
    disconnected : {"raise", "ignore"}
        What to do where some vertex does not reach all others: raise, or take the largest distance
        that is finite.
    weighted : bool
        Whether edges are as long as their weights; this takes a search from every vertex.
    config : MultiSearchConfig or str, optional
        How searches in batches are run, where each has a work-group of its own; the first ones are
        single.
    progress : callable or True, optional
        Called with vertices whose eccentricity cannot matter any more, n, and what is done.
    verify : bool
        Whether to check a sample: searches from 4 vertices, each by itself and checked by its
        rules, must find nothing farther, and in a connected undirected graph something at least
        half as far.

    Returns
    -------
    int or float
        In hops, or by weight.

    Raises
    ------
    InvalidArgumentError
        If `disconnected` is neither of the two.
    InvalidGraphError
        If the graph has no vertex, or is disconnected and `disconnected` is "raise".

    Notes
    -----
    Searches from a few vertices bound the eccentricity of all others, by the triangle inequality;
    vertices whose bound exceeds the largest distance known are searched from, singly and then in
    batches, until there are none; in undirected graphs only those that are farther than half of it
    from a central one [3]_. Road networks and most social networks take tens of searches
    instead of n. In a directed graph that is not strongly connected, bounds lead from component to
    component instead [2]_.

    References
    ----------
    .. [1] F. W. Takes, W. A. Kosters, "Determining the diameter of small world networks", CIKM
           2011.
    .. [2] M. Borassi, P. Crescenzi, M. Habib, W. A. Kosters, A. Marino, F. W. Takes, "Fast diameter
           and radius BFS-based computation in (weakly connected) real-world graphs", Theoretical
           Computer Science 586 (2015).
    .. [3] P. Crescenzi, R. Grossi, M. Habib, L. Lanzi, A. Marino, "On computing the diameter of
           real-world undirected graphs", Theoretical Computer Science 514 (2013).
    """
    graph = as_graph(graph)
    _check(disconnected)
    if not graph.n:
        raise InvalidGraphError("a graph without vertices has no diameter.")
    MultiSearchConfig.of(config)  # refused now, whatever will run the searches
    found = find_device(device)
    longest: float
    if weighted:
        options: Any = {"disconnected": disconnected, "weighted": True, "config": config}
        searched = eccentricity(graph, **options, device=found, progress=progress, verify=verify)
        return float(searched.max())
    count, labels = _components(graph)
    if count > 1 and disconnected == "raise":
        other = int(np.flatnonzero(labels != labels[0])[0])
        _raise_disconnected(0, 0, graph.n, other=other)
    # The triangle inequality holds both ways where all vertices reach one another.
    if count > 1 and graph.directed:
        longest = DirectedBounds(graph, found, labels, config).narrow(progress)
    else:
        longest = MutualBounds(graph, found, labels, config).narrow(progress)
    if verify:
        _check_diameter(graph, longest, found, whole=count == 1 and not graph.directed)
    return longest


def _components(graph: Graph) -> tuple[int, NDArray[np.int32]]:
    connection = "strong" if graph.directed else "weak"
    components = module("scipy.sparse.csgraph").connected_components
    matrix = simple_matrix(graph.indptr, graph.indices)
    count, labels = components(matrix, directed=True, connection=connection)
    return int(count), labels


def _check_diameter(graph: Graph, longest: float, device: Device, *, whole: bool) -> None:
    """Compare with the eccentricities of a few vertices."""
    everyone = np.arange(graph.n, dtype=np.int64)
    for vertex, distances, reached in sampled(graph, everyone, device, weighted=False):
        farthest = int(distances[reached].max())
        if farthest > longest or (whole and longest > 2 * farthest):
            raise VerificationError(
                f"the diameter is {longest}, but vertex {vertex} is {farthest} from the one "
                "farthest from it."
            )


def _check(disconnected: str) -> None:
    if not among(disconnected, ("raise", "ignore")):
        raise InvalidArgumentError(
            f"disconnected={shown(disconnected)} is neither 'raise' nor 'ignore'."
        )


def _raise_disconnected(vertex: int, reached: int, n: int, other: int | None = None) -> None:
    whom = f"only {reached} of {n} vertices" if other is None else f"{other}, or not the other way"
    reaches = "reaches" if other is None else "does not reach"
    raise InvalidGraphError(
        f"vertex {vertex} {reaches} {whom}, so the largest distance is infinite; pass "
        "disconnected='ignore' for the largest that is finite, or one component."
    )
