"""Sums that betweenness is scaled from: each way to add up the shares of pairs of vertices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.centrality.ordered import OrderedBetweenness
from clgraph.algorithms.centrality.shared import SharedBetweenness, fits
from clgraph.algorithms.centrality.weighted import WeightedBetweenness, too_many_paths
from clgraph.algorithms.multi_search.config import MultiSearchConfig
from clgraph.algorithms.multi_search.plan import MultiSearch
from clgraph.algorithms.multi_search.state import State, library_snippets
from clgraph.algorithms.multi_search.totals import Searcher
from clgraph.device import device as find_device
from clgraph.errors import InvalidArgumentError
from clgraph.graph import Graph
from clgraph.graph.arguments import element, one_of
from clgraph.graph.csr import drop_duplicates

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress

__all__ = ["edge_sums", "reverse_places", "simple", "vertex_sums"]

METHODS = ("auto", "multi-search", "ordered", "shared")
REALS = ("float64", "float32")
LEAST_WORK = 10_000_000  # edges and vertices; less is not worth a second program
FEW_LEVELS = 24  # beyond, a look at every row in every level costs more than it shares

# Counts above `high` have the next but one level scaled by `factor`, which leaves single paths
# above the smallest number; a second scaling does not, and is noticed.
LIMITS: dict[str, dict[str, Any]] = {
    "float64": {"high": np.float64(2.0**900), "factor": np.float64(2.0**-900)},
    "float32": {"high": np.float32(2.0**100), "factor": np.float32(2.0**-100)},
}


def vertex_sums(
    graph: Graph,
    chosen: NDArray[np.int64],
    *,
    dtype: DTypeLike = np.float64,
    weighted: bool = False,
    method: str = "auto",
    config: MultiSearchConfig | str | None = None,
    device: Device,
    progress: Progress | None = None,
) -> NDArray[Any]:
    """Shares of all ordered pairs that begin at the sources, not scaled."""
    thin = simple(graph, weighted=weighted)
    one_of("method", method, METHODS)
    MultiSearchConfig.of(config)  # refused now, whatever will run the searches
    scores = None
    if weighted:
        if method not in ("auto", "multi-search"):
            raise InvalidArgumentError(f"method={method!r} is not for weights; leave it out.")
        plan = WeightedBetweenness(thin, device, element(dtype, *REALS), edges=False, config=config)
        scores = plan.run(chosen, progress)
    elif method == "shared" or (method == "auto" and _sharing_pays(thin, chosen, device, config)):
        scores = _shared_scores(thin, chosen, dtype, device, progress)
    if scores is None and method != "multi-search" and _keeps_order(thin, method, config):
        scores = _ordered_scores(thin, chosen, dtype, device, progress)
    if scores is None:
        scores = _scores(
            thin,
            chosen,
            edges=False,
            dtype=dtype,
            config=config,
            device=device,
            progress=progress,
        )
    return scores


def edge_sums(
    thin: Graph,
    chosen: NDArray[np.int64],
    *,
    dtype: DTypeLike = np.float64,
    weighted: bool = False,
    config: MultiSearchConfig | str | None = None,
    device: Device,
    progress: Progress | None = None,
) -> NDArray[Any]:
    """Shares of all ordered pairs that begin at the sources, of a simple graph, not scaled.

    Both directions of an undirected edge have what passes along it in either.
    """
    if weighted:
        plan = WeightedBetweenness(thin, device, element(dtype, *REALS), edges=True, config=config)
        scores: NDArray[Any] = plan.run(chosen, progress)
    else:
        scores = _scores(
            thin, chosen, edges=True, dtype=dtype, config=config, device=device, progress=progress
        )
    return scores if thin.directed else scores + scores[reverse_places(thin)]


def _sharing_pays(
    graph: Graph,
    sources: NDArray[np.int64],
    device: Device,
    config: MultiSearchConfig | str | None,
) -> bool:
    """Decide whether searches share a traversal.

    On PoCL they take a third of the time then (64 sources of a scale-15 Kronecker graph).
    """
    small = sources.size * (graph.n + graph.m) < LEAST_WORK
    if small or config not in (None, "auto") or sources.size < device.traits.lanes:
        return False
    return Searcher(graph, device).depth() <= FEW_LEVELS


def _keeps_order(graph: Graph, method: str, config: MultiSearchConfig | str | None) -> bool:
    """Report whether searches keep their order, or say why they cannot."""
    if method == "ordered" and graph.directed:
        raise InvalidArgumentError(
            "method='ordered' is for undirected graphs, and this one is directed; pass "
            "graph.symmetrized() or method='multi-search'."
        )
    return not graph.directed and (method == "ordered" or config in (None, "auto"))


def _ordered_scores(
    graph: Graph,
    sources: NDArray[np.int64],
    dtype: DTypeLike,
    device: Device,
    progress: Progress | None,
) -> NDArray[Any]:
    real = element(dtype, *REALS)
    if not graph.n:
        return np.zeros(0, real)
    plan = OrderedBetweenness(graph, device, real)
    scores, overflowed = plan.run(sources, LIMITS[real.name], progress)
    if overflowed:
        raise too_many_paths(real)
    return scores


def _shared_scores(
    graph: Graph,
    sources: NDArray[np.int64],
    dtype: DTypeLike,
    device: Device,
    progress: Progress | None,
) -> NDArray[Any] | None:
    real = element(dtype, *REALS)
    if not graph.n or not fits(graph, device, real):
        return None
    return SharedBetweenness(graph, device, real).run(sources, progress)


def _scores(
    graph: Graph,
    sources: NDArray[np.int64],
    *,
    edges: bool,
    dtype: DTypeLike,
    config: MultiSearchConfig | str | None,
    device: Device | str | None,
    progress: Progress | None,
) -> NDArray[Any]:
    """Add up the shares of the sources, of one direction of each edge."""
    real = element(dtype, *REALS)
    snippets = library_snippets("betweenness")
    edge_back = {hook: snippets.pop(f"edge_{hook}") for hook in ("back", "back_vertex")}
    if edges:
        snippets |= edge_back
    plan = MultiSearch(
        graph,
        state={
            "depths": State(np.int32, per="group", fill=-1),
            "paths": State(real, per="group"),
            "coefs": State(real, per="group"),
            "scaled": State(np.uint8, per="group"),
            "many": State(np.uint32, size=1, per="group"),
            "scores": State(real, size="m" if edges else "n", per="run"),
            "overflows": State(np.uint32, size=1, per="run"),
        },
        arguments=LIMITS[real.name],
        **snippets,
        config=config,
        device=find_device(device),
    )
    result = plan.run(sources, progress=progress)
    if result["overflows"][0]:
        raise too_many_paths(real)
    return result["scores"]


def simple(graph: Graph, *, weighted: bool = False) -> Graph:
    """Give the graph without repeats of edges, or with the lightest; itself if it has none."""
    if not graph.statistics().parallel_edges:
        return graph
    weights = graph.weights if weighted else None
    arrays = drop_duplicates(graph.indptr, graph.indices, weights)
    return Graph.trusted(arrays, directed=graph.directed)


def reverse_places(graph: Graph) -> NDArray[np.int64]:
    """For each edge of an undirected simple graph, the place of the same edge the other way."""
    edge_sources = np.repeat(np.arange(graph.n, dtype=np.int64), graph.degrees)
    edge_targets = graph.indices.astype(np.int64)
    places = np.empty(graph.m, np.int64)
    places[np.lexsort((edge_sources, edge_targets))] = np.arange(graph.m)
    return places
