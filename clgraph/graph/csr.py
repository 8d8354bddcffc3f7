"""Compressed sparse rows: building, transposing and checking them, without loops over edges."""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from clgraph.errors import InvalidGraphError
from clgraph.graph.modules import module
from clgraph.graph.sharing import FEW_THREADS, share_out, threads_for

__all__ = [
    "CSR",
    "Array",
    "Sorter",
    "asymmetric_edge",
    "check_pointers",
    "drop_duplicates",
    "edges_to_csr",
    "first_unsorted",
    "index_dtype",
    "row_ids",
    "simple_matrix",
    "sorted_rows",
    "transpose_csr",
    "unsigned",
]

Array = npt.NDArray[Any]
CSR = tuple[Array, Array, Array | None]  # indptr, indices, weights


class Sorter(Protocol):
    """Who sorts edges; see `edges_to_csr`."""

    def __call__(
        self, n: int, src: Array, dst: Array, *, spare: bool
    ) -> tuple[Array, Array] | None:
        """Give indptr and indices."""


_BLOCK = 1 << 22  # entries looked at together: temporaries stay in the megabytes
_SHORT_BLOCK = 1 << 16  # ... and in the cache of a core
_FEW = 1 << 14  # edges that NumPy sorts in 2 ms, where to import scipy.sparse takes 300


def index_dtype(largest: int) -> type[np.int32] | type[np.int64]:
    """Narrowest of int32 and int64 that holds ``largest``."""
    return np.int32 if largest <= np.iinfo(np.int32).max else np.int64


def unsigned(ids: Array, dtype: npt.DTypeLike = np.uint32) -> Array:
    """Ids, none of which is negative, as unsigned numbers: the same memory where that is as wide.

    A copy of a large graph takes ten times as long as sending it to a GPU.
    """
    wanted = np.dtype(dtype)
    if ids.dtype.kind in "iu" and ids.dtype.itemsize == wanted.itemsize:
        return ids.view(wanted)
    return ids.astype(wanted, copy=False)


def edges_to_csr(
    n: int,
    src: Array,
    dst: Array,
    weights: Array | None,
    *,
    copy: bool = True,
    sorter: Sorter | None = None,
) -> CSR:
    """CSR of an edge list, rows sorted by target, parallel edges in the order given.

    Parameters
    ----------
    n : int
        Number of vertices.
    src, dst : integer arrays [m]
        Sources and targets, each in [0, n); the caller has checked them.
    weights : array [m] or None
        One weight per edge.
    copy : bool
        False: nobody else has the arrays, and edges that are in order may stay where they are.
    sorter : callable, optional
        Who is to sort many edges that have no weights and are not in order, before scipy: given n
        and the ends, gives indptr and indices, or None. Where arrays are `spare`, which is where
        they need not be copied, indices may take the memory of `src`.

    Returns
    -------
    indptr, indices, weights
        Integer arrays [n + 1] and [m], and the weights in the order of ``indices``.

    Notes
    -----
    O(n + m): two bucket sorts, the first by target and the second by source; none of edges that are
    in that order already, as files mostly have them. A few edges are sorted without scipy.
    """
    indptr = _pointers_in_order(n, src, dst)
    if indptr is None and len(src) <= _FEW:
        order = np.lexsort((dst, src))
        src, dst = src[order], dst[order]
        weights = None if weights is None else weights[order]
        indptr = _pointers_in_order(n, src, dst)
    if indptr is not None:
        costs = weights if weights is None or not copy else weights.copy()
        return indptr, dst.astype(indptr.dtype, copy=copy), costs
    if sorter is not None and weights is None:
        found = sorter(n, src, dst, spare=not copy)
        if found is not None:
            return *found, None
    sparse = module("scipy.sparse")
    data = np.ones(len(src), np.int8) if weights is None else weights
    by_target = sparse.coo_matrix((data, (dst, src)), shape=(n, n), copy=False)
    by_target.has_canonical_format = True  # otherwise tocsr adds parallel edges up
    by_source = by_target.tocsr().tocsc()
    return by_source.indptr, by_source.indices, None if weights is None else by_source.data


def _pointers_in_order(n: int, src: Array, dst: Array) -> Array | None:
    """Where rows begin [n + 1], if edges are sorted by source and each source's by target.

    Where two edges differ in their source is known from that look anyway; to count the edges of
    each source took 1.3 times as long as all of this. In threads where there are many edges.
    """
    m = len(src)
    indptr = np.zeros(n + 1, index_dtype(max(n, m)))
    ends = indptr[1:]  # of rows; those of empty ones follow
    disorder: list[int] = []

    def look_at(begin: int) -> None:
        if disorder:
            return
        sources = src[begin : begin + _SHORT_BLOCK + 1]
        targets = dst[begin : begin + _SHORT_BLOCK + 1]
        another = sources[1:] != sources[:-1]
        falls = targets[1:] < targets[:-1]
        falls &= ~another
        falls |= sources[1:] < sources[:-1]
        if falls.any():
            disorder.append(begin)
            return
        last = np.flatnonzero(another)
        ends[sources[last]] = last + (begin + 1)

    begins = list(range(0, m - 1, _SHORT_BLOCK))
    if begins:  # what is in no order mostly shows it here, before threads are started
        look_at(begins.pop(0))
    if not disorder:
        share_out([look_at] * min(threads_for(m), FEW_THREADS), begins)
    if disorder:
        return None
    if m:
        ends[src[-1] :] = m
    return np.maximum.accumulate(indptr, out=indptr)


def transpose_csr(indptr: Array, indices: Array, weights: Array | None) -> CSR:
    """CSR of the reversed edges; rows of the result are sorted. O(n + m)."""
    n = len(indptr) - 1
    if len(indices) <= _FEW:
        return edges_to_csr(n, indices, row_ids(indptr), weights)
    sparse = module("scipy.sparse")
    data = np.ones(len(indices), np.int8) if weights is None else weights
    columns = sparse.csr_matrix((data, indices, indptr), shape=(n, n), copy=False).tocsc()
    return columns.indptr, columns.indices, None if weights is None else columns.data


def sorted_rows(indptr: Array, indices: Array, weights: Array | None) -> CSR:
    """CSR of the same edges with ascending rows, parallel edges in the order given. O(n + m)."""
    dtypes = indptr.dtype, indices.dtype
    twice = transpose_csr(*transpose_csr(indptr, indices, weights))
    return twice[0].astype(dtypes[0], copy=False), twice[1].astype(dtypes[1], copy=False), twice[2]


def row_ids(indptr: Array, dtype: npt.DTypeLike | None = None) -> Array:
    """Source of every edge, in CSR order: array [m]."""
    n = len(indptr) - 1
    return np.repeat(np.arange(n, dtype=dtype or index_dtype(n)), np.diff(indptr))


def check_pointers(indptr: Array, m: int) -> None:
    """Raise InvalidGraphError unless ``indptr`` rises from 0 to ``m``."""
    if not len(indptr):
        raise InvalidGraphError("indptr is empty; it needs n + 1 entries, [0] for no vertices")
    if indptr[0] != 0:
        raise InvalidGraphError(f"indptr starts at {indptr[0]}; it must start at 0")
    if (indptr[1:] < indptr[:-1]).any():
        row = int(np.flatnonzero(indptr[1:] < indptr[:-1])[0])
        raise InvalidGraphError(
            f"indptr falls from {indptr[row]} to {indptr[row + 1]} at row {row}; it must never fall"
        )
    if indptr[-1] != m:
        raise InvalidGraphError(
            f"indptr ends at {indptr[-1]} but indices has {m} entries; the two must be equal"
        )


def first_unsorted(indptr: Array, indices: Array) -> int | None:
    """Place of the first entry that is smaller than the one before it in its row, if any."""
    m = len(indices)
    for begin in range(0, max(m - 1, 0), _BLOCK):
        block = indices[begin : begin + _BLOCK + 1]
        falls = np.flatnonzero(block[1:] < block[:-1]) + (begin + 1)
        if len(falls):
            place = np.searchsorted(indptr, falls)  # a fall is fine where a row begins
            within = falls[indptr[place] != falls]
            if len(within):
                return int(within[0])
    return None


def asymmetric_edge(csr: CSR, reverse: CSR) -> tuple[int, int, str] | None:
    """Find an edge u -> v whose reverse is missing or weighs something else.

    Parameters
    ----------
    csr, reverse : CSR
        A graph and its transpose, both with sorted rows.

    Returns
    -------
    (u, v, problem) or None
        ``problem`` is "has no reverse" or "weighs something else than its reverse"; None if the
        graph is symmetric as a multiset of weighted edges.
    """
    indptr, indices, weights = csr
    reverse_indptr, reverse_indices, reverse_weights = reverse
    if not (np.array_equal(indptr, reverse_indptr) and np.array_equal(indices, reverse_indices)):
        return (*_first_difference(csr, reverse), "has no reverse")
    if weights is None or reverse_weights is None or np.array_equal(weights, reverse_weights):
        return None
    # Parallel edges may list their weights in another order: compare them sorted.
    sources = row_ids(indptr)
    here = weights[np.lexsort((weights, indices, sources))]
    there = reverse_weights[np.lexsort((reverse_weights, indices, sources))]
    wrong = np.flatnonzero(here != there)
    if not len(wrong):
        return None
    edge = int(wrong[0])
    return int(sources[edge]), int(indices[edge]), "weighs something else than its reverse"


def _first_difference(csr: CSR, reverse: CSR) -> tuple[int, int]:
    """First edge in row order that one of two sorted CSRs has and the other has not."""
    shared = min(len(csr[1]), len(reverse[1]))
    differs = np.flatnonzero(np.diff(csr[0]) != np.diff(reverse[0]))
    row = int(differs[0]) if len(differs) else len(csr[0]) - 2
    entries = np.flatnonzero(csr[1][:shared] != reverse[1][:shared])
    if len(entries):
        row = min(row, int(np.searchsorted(csr[0], entries[0], side="right")) - 1)
    here = csr[1][csr[0][row] : csr[0][row + 1]]
    there = reverse[1][reverse[0][row] : reverse[0][row + 1]]
    length = min(len(here), len(there))
    different = np.flatnonzero(here[:length] != there[:length])
    place = int(different[0]) if len(different) else length
    if place < len(here) and (place >= len(there) or here[place] < there[place]):
        return row, int(here[place])
    return int(there[place]), row


def drop_duplicates(indptr: Array, indices: Array, weights: Array | None) -> CSR:
    """Keep one edge of each set of parallel edges, with the least of their weights.

    Rows must be sorted. O(n + m).
    """
    m = len(indices)
    keep = np.ones(m, bool)
    np.not_equal(indices[1:], indices[:-1], out=keep[1:])
    starts = indptr[:-1]
    keep[starts[starts < m]] = True
    if keep.all():
        return indptr, indices, weights
    first = np.flatnonzero(keep)
    kept = np.searchsorted(first, indptr).astype(indptr.dtype)
    lightest = None if weights is None else np.minimum.reduceat(weights, first)
    return kept, indices[first], lightest


def simple_matrix(indptr: Array, indices: Array) -> Any:
    """Adjacency matrix for ``scipy.sparse.csgraph``, with one entry for parallel edges.

    What has several entries in one place it mistreats: its strong components are wrong, or never
    found (scipy 1.17). Rows must be sorted. O(n + m).
    """
    pointers, targets, _ = drop_duplicates(indptr, indices, None)
    n = len(pointers) - 1
    matrix = module("scipy.sparse").csr_matrix(
        (np.ones(len(targets)), targets, pointers), shape=(n, n), copy=True
    )
    matrix.has_canonical_format = True
    return matrix
