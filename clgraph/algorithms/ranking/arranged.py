"""Vertices in an order in which a processor foresees where rows end.

A thread that sums row after row mispredicts the end of nearly every one, which costs as much as a
dozen edges. Within windows of vertices rows are therefore taken by their length. Windows are narrow
enough that neighbours stay near each other in memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.engine.resident import offsets_dtype
from clgraph.graph.modules import module

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.graph import Graph

__all__ = ["Arranged"]

WINDOW = 1024  # vertices


@dataclass(frozen=True, slots=True)
class Arranged:
    """Rows of a graph in another order of its vertices.

    Attributes
    ----------
    order : uint32 array [n]
        Vertices in their new order.
    indptr, indices : integer arrays [n + 1], [m]
        Rows in that order, and their entries by new number, each row's in its old order.
    weights : array [m] or None
        Of the entries.
    """

    order: NDArray[np.uint32]
    indptr: NDArray[Any]
    indices: NDArray[np.uint32]
    weights: NDArray[Any] | None

    @property
    def m(self) -> int:
        """Entries of all rows."""
        return len(self.indices)

    @classmethod
    def by_length(cls, graph: Graph) -> Arranged:
        """Arrange the rows of a graph with vertices by length within windows."""
        n, degrees = graph.n, graph.degrees
        windows = -(-n // WINDOW)
        # Sixteen bits are sorted by radix; what is beyond the last row goes to the end and away.
        lengths = np.full(windows * WINDOW, np.iinfo(np.uint16).max, np.uint16)
        lengths[:n] = np.minimum(degrees, lengths[0])
        places = np.argsort(lengths.reshape(windows, WINDOW), axis=1, kind="stable")
        places += WINDOW * np.arange(windows)[:, None]
        every = places.ravel()
        order: NDArray[np.uint32] = every[every < n].astype(np.uint32)
        new = np.empty(n, np.uint32)
        new[order] = np.arange(n, dtype=np.uint32)
        rows = module("scipy.sparse").csr_array(
            (_values(graph), graph.indices, graph.indptr), shape=(n, n)
        )[order]
        weights = None if graph.weights is None else rows.data
        indptr = rows.indptr.astype(offsets_dtype(graph.m), copy=False)
        return cls(order, indptr, np.take(new, rows.indices), weights)


def _values(graph: Graph) -> NDArray[Any]:
    """Give SciPy something of every edge to carry along."""
    return np.empty(graph.m, bool) if graph.weights is None else graph.weights
