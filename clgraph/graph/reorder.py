"""Orders of the vertices that bring neighbours, or the busiest vertices, close together."""

import numpy as np

from clgraph.errors import InvalidArgumentError
from clgraph.graph.arguments import among, shown
from clgraph.graph.csr import Array, simple_matrix, transpose_csr
from clgraph.graph.modules import module

__all__ = ["ORDERS", "vertex_order"]


def vertex_order(order: str, indptr: Array, indices: Array, *, directed: bool) -> Array:
    """Vertices in a new order: element i is the old id of the new vertex i.

    Parameters
    ----------
    order : str
        "degree": descending out-degree. "hub": vertices above the mean degree first, by descending
        degree, the others after them in their old order. "rcm": reverse Cuthill-McKee.
    indptr, indices : integer arrays [n + 1], [m]
        The graph.
    directed : bool
        Whether reverse Cuthill-McKee has to add the missing directions first.

    Returns
    -------
    int array [n]
        A permutation of 0..n-1; deterministic, ties in the old order.

    Raises
    ------
    InvalidArgumentError
        If there is no such order.
    """
    if not among(order, ORDERS):
        raise InvalidArgumentError(
            f"order={shown(order)} is not known; choose one of {', '.join(sorted(ORDERS))}"
        )
    permutation: Array = ORDERS[order](indptr, indices, directed)
    return permutation


def _by_degree(indptr: Array, _indices: Array, _directed: bool) -> Array:
    return np.argsort(-np.diff(indptr), kind="stable")


def _hubs_first(indptr: Array, indices: Array, _directed: bool) -> Array:
    degrees = np.diff(indptr)
    hubs = degrees > len(indices) / max(len(degrees), 1)
    return np.argsort(np.where(hubs, -degrees, 0), kind="stable")


def _reverse_cuthill_mckee(indptr: Array, indices: Array, directed: bool) -> Array:
    csgraph = module("scipy.sparse.csgraph")
    if len(indptr) == 1:
        return np.empty(0, np.int64)
    matrix = simple_matrix(indptr, indices)
    if directed:
        reverse_indptr, reverse_indices, _ = transpose_csr(indptr, indices, None)
        matrix = matrix.maximum(simple_matrix(reverse_indptr, reverse_indices))
    permutation: Array = csgraph.reverse_cuthill_mckee(matrix.tocsr(), symmetric_mode=True)
    return permutation.astype(np.int64)


ORDERS = {"degree": _by_degree, "hub": _hubs_first, "rcm": _reverse_cuthill_mckee}
