"""Checks of communities on the host: their modularity, and that they are connected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.errors import VerificationError
from clgraph.graph.csr import row_ids
from clgraph.graph.modules import module

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.graph import Graph

__all__ = ["host_modularity", "verify_communities"]

TOLERANCE = 1e-9
ROUNDING = 2.0**-20  # of weights that are not whole numbers


def host_modularity(
    graph: Graph, labels: NDArray[Any], resolution: float, *, weighted: bool
) -> float:
    """Compute the modularity of communities by NumPy.

    Parameters
    ----------
    graph : Graph
        Directed or not.
    labels : integer array [n]
        Communities, numbered from 0.
    resolution : float
        What expected edges are multiplied by.
    weighted : bool
        Whether weights count.
    """
    sources, targets = row_ids(np.asarray(graph.indptr)), np.asarray(graph.indices)
    weights = np.ones(graph.m)
    if weighted and graph.weights is not None:
        weights = np.asarray(graph.weights, np.float64).copy()
    if not graph.directed:
        weights = np.where(sources == targets, 2 * weights, weights)
    total = float(weights.sum())
    if not total:
        return 0.0
    # As shares, whose products stay in range where those of weights do not.
    weights /= total
    inside = float(weights[labels[sources] == labels[targets]].sum())
    leaving, entering = np.bincount(labels[sources], weights), np.bincount(labels[targets], weights)
    count = max(leaving.size, entering.size)
    return inside - resolution * float(np.dot(_to(leaving, count), _to(entering, count)))


def _to(array: NDArray[Any], count: int) -> NDArray[Any]:
    return np.concatenate([array, np.zeros(count - array.size)])


def verify_communities(
    graph: Graph,
    labels: NDArray[Any],
    quality: float,
    resolution: float,
    *,
    weighted: bool,
    unit: float,
    connected: bool,
) -> None:
    """Check communities.

    Raises
    ------
    VerificationError
        If the modularity is another, or a community is not connected although it has to be.
    """
    again = host_modularity(graph, labels, resolution, weighted=weighted)
    allowed = (TOLERANCE if unit == 1.0 else ROUNDING) * max(1.0, resolution)
    if not abs(again - quality) <= allowed:
        raise VerificationError(f"the modularity is {again:.12g}, not {quality:.12g}.")
    if not connected:
        return
    sources, targets = row_ids(np.asarray(graph.indptr)), np.asarray(graph.indices)
    inner = labels[sources] == labels[targets]
    if weighted and graph.weights is not None:
        inner &= np.rint(np.asarray(graph.weights, np.float64) / unit) > 0
    matrix = module("scipy.sparse").coo_array(
        (np.ones(int(inner.sum()), bool), (sources[inner], targets[inner])),
        shape=(graph.n, graph.n),
    )
    count, _ = module("scipy.sparse.csgraph").connected_components(matrix, directed=False)
    if count != len(np.unique(labels)):
        raise VerificationError(
            f"{len(np.unique(labels))} communities fall into {count} connected sets."
        )
