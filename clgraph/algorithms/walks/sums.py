"""Weights as integers that add up, row by row, to what 32 bits hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.errors import InvalidGraphError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.graph import Graph

__all__ = ["row_sums"]

MOST_TOTAL = 2**32 - 1
SCALE = 2**31


def row_sums(graph: Graph) -> NDArray[np.uint32]:
    """Give running sums of the weights over each row.

    Parameters
    ----------
    graph : Graph
        With weights.

    Returns
    -------
    uint32 array [m]
        Of integers that are in proportion to the weights. Exactly so where these are integers whose
        rows add up to less than 2**32; otherwise rounded to multiples of 2**-31 of a row's total,
        and none that is positive to 0.

    Raises
    ------
    InvalidGraphError
        If a weight is negative.
    """
    weights = np.asarray(graph.weights)
    if weights.size and weights.min() < 0:
        edge = int(weights.argmin())
        raise InvalidGraphError(
            f"weights[{edge}] is {weights[edge]}, but walks take edges in proportion to weights, "
            "which are 0 or more; pass weights=False."
        )
    indptr = np.asarray(graph.indptr, np.int64)
    full = np.flatnonzero(graph.degrees)
    whole = _exact(weights, indptr[full])
    if whole is None:
        whole = _scaled(weights, graph, indptr[full], full)
    sums = np.cumsum(whole, dtype=np.uint64)
    before = np.concatenate([np.zeros(1, np.uint64), sums])[indptr[:-1]]
    within: NDArray[np.uint32] = (sums - np.repeat(before, graph.degrees)).astype(np.uint32)
    return within


def _exact(weights: NDArray[Any], begins: NDArray[np.int64]) -> NDArray[np.uint64] | None:
    if weights.dtype.kind == "f" or (weights.size and int(weights.max()) > MOST_TOTAL):
        return None
    whole = weights.astype(np.uint64)
    totals = np.add.reduceat(whole, begins) if begins.size else whole
    return whole if int(totals.max(initial=0)) <= MOST_TOTAL else None


def _scaled(
    weights: NDArray[Any], graph: Graph, begins: NDArray[np.int64], full: NDArray[np.int64]
) -> NDArray[np.uint64]:
    real = weights.astype(np.float64)
    # Brought to 1 at most first: sums of the largest numbers would be infinite.
    largest = np.zeros(graph.n)
    largest[full] = np.maximum.reduceat(real, begins)
    largest[largest == 0] = 1.0
    real /= np.repeat(largest, graph.degrees)
    totals = np.ones(graph.n)
    totals[full] = np.add.reduceat(real, begins)
    totals[totals == 0] = 1.0
    scaled = np.rint(real * np.repeat(SCALE / totals, graph.degrees))
    return np.where(weights > 0, np.maximum(scaled, 1.0), 0.0).astype(np.uint64)
