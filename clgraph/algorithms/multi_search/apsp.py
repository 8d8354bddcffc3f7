"""Distances between all pairs of vertices, and their mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.multi_search.state import sources_or_all
from clgraph.algorithms.multi_search.totals import Searcher, narrow
from clgraph.algorithms.multi_search.verify import check_rows
from clgraph.algorithms.multi_search.weighted import WeightedSearcher
from clgraph.device import device as find_device
from clgraph.device.programs.asked import asking
from clgraph.documented import documented
from clgraph.errors import InvalidArgumentError, InvalidGraphError
from clgraph.graph import as_graph
from clgraph.graph.arguments import element, flags, whole
from clgraph.progress import part_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from clgraph.algorithms.multi_search.config import MultiSearchConfig
    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = ["apsp", "apsp_blocks", "average_shortest_path_length"]

WEIGHTED_BLOCK = 256  # rows of distances in host memory


@flags
@asking
def apsp(  # noqa: PLR0913 - all but two by keyword
    graph: Graph,
    sources: ArrayLike | None = None,
    *,
    dtype: DTypeLike = np.int32,
    weighted: bool = False,
    method: str = "auto",
    config: MultiSearchConfig | str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> NDArray[Any]:
    """Distances from every source to every vertex.

    Parameters
    ----------
    graph : Graph or scipy.sparse matrix
        Directed or undirected.
    sources : integers [k], optional
        Where to begin; default every vertex.
    dtype : {int32, int16}
        Of the result, in hops.
    weighted : bool
        Whether edges are as long as their weights, in whose type the result then is.
    method : {"auto", "multi-search", "bit-parallel", "single"}
        Whether a work-group runs each search, searches share the bits of words, or `bfs` runs one
        after the other; "auto" shares from 32 sources on, where the graph is not too deep for it.
        By weight no bits are shared: "single" is `sssp`, one search after the other.
    config : MultiSearchConfig or str, optional
        How searches are run where each has a work-group of its own.
    device : Device or str, optional
        Default is ``clgraph.device()``.
    progress : callable or True, optional
        Called with sources done, sources in all, and what is done.
    verify : bool
        Whether to check a sample: the searches from 4 of the sources are done again,
        each by itself and checked by its rules, and compared.

    Returns
    -------
    numpy.ndarray
        [k, n] of `dtype`, -1 where there is no path; or of the type of the weights, infinity or the
        largest integer where there is none.

    Raises
    ------
    InvalidArgumentError
        If a source is not a vertex, a distance does not fit `dtype`, or `dtype` or `method` is not
        for weights.
    VerificationError
        If the result was to be checked and is wrong.
    DeviceMemoryError
        If not even the distances from one source fit the device.

    Notes
    -----
    O(k (n + m)) work. The whole result is in host memory, 4 k n bytes; `apsp_blocks` gives it
    piece by piece.
    """
    graph = as_graph(graph)
    chosen = sources_or_all(sources, graph.n)
    kind = _element(dtype, weighted=weighted)
    searcher: WeightedSearcher | Searcher
    found = find_device(device)
    if weighted:
        searcher = WeightedSearcher(graph, found, method, config)
        result = searcher.distances(chosen, progress)
    else:
        result = np.empty((chosen.size, graph.n), kind)
        done = 0
        searcher = Searcher(graph, found, method, config)
        for block, distances in _blocks(searcher, chosen, kind, None, progress):
            result[done : done + block.size] = distances
            done += block.size
    if verify:
        check_rows(graph, chosen, result, lambda row, _: row, found, weighted=weighted)
    return result


@documented(apsp)
@flags
def apsp_blocks(
    graph: Graph,
    sources: ArrayLike | None = None,
    *,
    block: int | None = None,
    dtype: DTypeLike = np.int32,
    weighted: bool = False,
    method: str = "auto",
    device: Device | str | None = None,
    progress: Progress | None = None,
) -> Iterator[tuple[NDArray[np.int64], NDArray[Any]]]:
    """Distances from every source, a block of sources at a time.

    Parameters
    ----------
    block : int, optional
        Sources of a block; default what fits the device.

    Yields
    ------
    sources : int64 [b]
        Those of the block.
    distances : [b, n] of `dtype`
        From them; -1 where there is no path.
    """
    graph = as_graph(graph)
    size = None if block is None else whole("block", block)
    chosen = sources_or_all(sources, graph.n)
    kind = _element(dtype, weighted=weighted)
    if weighted:
        by_weight = WeightedSearcher(graph, find_device(device), method)
        return _weighted_blocks(by_weight, chosen, size or WEIGHTED_BLOCK, progress)
    searcher = Searcher(graph, find_device(device), method)
    return _blocks(searcher, chosen, kind, size, progress)


@documented(apsp)
@flags
def average_shortest_path_length(
    graph: Graph,
    *,
    weighted: bool = False,
    method: str = "auto",
    device: Device | str | None = None,
    progress: Progress | None = None,
) -> float:
    """Mean distance over all ordered pairs of vertices.

    Parameters
    ----------
    graph : Graph or scipy.sparse matrix
        Every vertex must reach every other.

    Returns
    -------
    float
        0 for a single vertex.

    Raises
    ------
    InvalidGraphError
        If the graph has no vertex, or some pair has no path.

    Notes
    -----
    O(n (n + m)) work and O(n) memory for a search.
    """
    graph = as_graph(graph)
    if not graph.n:
        raise InvalidGraphError("a graph without vertices has no mean distance.")
    everyone = np.arange(graph.n, dtype=np.int64)
    searcher = (
        WeightedSearcher(graph, find_device(device), method)
        if weighted
        else Searcher(graph, find_device(device), method)
    )
    found = searcher.totals(everyone, progress)
    short = np.flatnonzero(found.reached < graph.n)
    if short.size:
        raise InvalidGraphError(
            f"vertex {short[0]} reaches only {found.reached[short[0]]} of {graph.n} vertices, so "
            "there is no mean over all pairs; pass one (strongly) connected component."
        )
    return float(found.total.sum() / (graph.n * (graph.n - 1))) if graph.n > 1 else 0.0


def _element(dtype: DTypeLike, *, weighted: bool) -> np.dtype[Any]:
    wanted = element(dtype, "int32", "int16")
    if weighted and wanted != np.int32:
        raise InvalidArgumentError(
            f"dtype={wanted} is for distances in hops; by weight they have the type of the "
            "weights, so leave it out."
        )
    return wanted


def _weighted_blocks(
    searcher: WeightedSearcher,
    sources: NDArray[np.int64],
    size: int,
    progress: Progress | None,
) -> Iterator[tuple[NDArray[np.int64], NDArray[Any]]]:
    for begin in range(0, sources.size, size):
        block = sources[begin : begin + size]
        yield block, searcher.distances(block, part_of(progress, begin, 1, sources.size))


def _blocks(
    searcher: Searcher,
    sources: NDArray[np.int64],
    element: np.dtype[Any],
    size: int | None,
    progress: Progress | None,
) -> Iterator[tuple[NDArray[np.int64], NDArray[Any]]]:
    done = 0
    for block in searcher.blocks(sources, 4, size):
        part = part_of(progress, done, 1, sources.size)
        yield block, narrow(searcher.distances(block, part), element)
        done += block.size
