"""Variants of betweenness: of some pairs only, weighted by their ends, and load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.centrality.sums import simple
from clgraph.algorithms.centrality.weighted import too_many_paths
from clgraph.algorithms.multi_search.plan import MultiSearch
from clgraph.algorithms.multi_search.state import State, library_snippets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.device import Device
    from clgraph.graph import Graph

__all__ = ["load_sums", "subset_sums"]

EDGE_HOOKS = ("back", "back_vertex")


def subset_sums(
    graph: Graph,
    sources: NDArray[np.int64],
    aims: NDArray[np.float64],
    device: Device,
    *,
    shares: NDArray[np.float64] | None = None,
    edges: bool = False,
) -> NDArray[Any]:
    """Add up what passes through vertices, or along edges, on shortest paths between some pairs.

    Parameters
    ----------
    graph : Graph
        Parallel edges count once.
    sources : int64 [k]
        Where paths begin.
    aims : float64 [n]
        What a path counts that ends at a vertex.
    device : Device
        Where.
    shares : float64 [n], optional
        By which what begins at a source is multiplied; default 1. Not for edges.
    edges : bool
        Whether of edges. A vertex then hands on what it has by paths where it is an aim, evenly
        where it is not, as networkx does it.

    Returns
    -------
    numpy.ndarray
        [n], or of a simple graph [m] by direction; float64, or float32 on a device without it.

    Raises
    ------
    ClgraphError
        If the shortest paths are too many for a floating-point number.
    DeviceMemoryError
        If the searches do not fit the device.

    Notes
    -----
    O(k (n + m)) work; the order of additions varies, so the last digits may.

    References
    ----------
    .. [1] U. Brandes, "On variants of shortest-path betweenness centrality and their generic
           computation", Social Networks 30 (2008).
    """
    thin, real = simple(graph), _real(device)
    whole = np.ones(graph.n) if shares is None else shares
    state = {
        "depths": State(np.int32, per="group", fill=-1),
        "paths": State(real, per="group"),
        "before_it": State(np.uint32, per="group"),
        "onward": State(real, per="group"),
        "scores": State(real, size="m" if edges else "n", per="run"),
        "overflows": State(np.uint32, size=1, per="run"),
    }
    given = {"aims": aims.astype(real), "shares": whole.astype(real)}
    result = _run(thin, "betweenness_subset", state, given, sources, device, edges=edges)
    if result["overflows"][0]:
        raise too_many_paths(real)
    scores: NDArray[Any] = result["scores"]
    return scores


def load_sums(
    graph: Graph, sources: NDArray[np.int64], device: Device, *, edges: bool = False
) -> NDArray[Any]:
    """Add up the load of vertices, or what edges have beyond 1 for each source.

    Parameters
    ----------
    graph, sources, device, edges
        As `subset_sums`.

    Returns
    -------
    numpy.ndarray
        As `subset_sums`.

    References
    ----------
    .. [1] K.-I. Goh, B. Kahng, D. Kim, "Universal behavior of load distribution in scale-free
           networks", Physical Review Letters 87 (2001).
    """
    real = _real(device)
    state = {
        "depths": State(np.int32, per="group", fill=-1),
        "before_it": State(np.uint32, per="group"),
        "load": State(real, per="group"),
        "scores": State(real, size="m" if edges else "n", per="run"),
    }
    result = _run(simple(graph), "load", state, {}, sources, device, edges=edges)
    scores: NDArray[Any] = result["scores"]
    return scores


def _real(device: Device) -> np.dtype[Any]:
    return np.dtype(np.float64 if device.traits.fp64 else np.float32)


def _run(
    graph: Graph,
    name: str,
    state: dict[str, State],
    given: dict[str, Any],
    sources: NDArray[np.int64],
    device: Device,
    *,
    edges: bool,
) -> Any:
    snippets = library_snippets(name)
    of_edges = {hook: snippets.pop(f"edge_{hook}") for hook in EDGE_HOOKS}
    if edges:
        snippets |= of_edges
    plan = MultiSearch(graph, state=state, arguments=given, **snippets, device=device)
    return plan.run(sources)
