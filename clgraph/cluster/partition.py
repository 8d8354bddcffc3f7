"""Who owns which vertices, and the rows of edges that come with them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.graph import Graph

__all__ = ["RANGE_GRAIN", "Ownership", "rows_of"]

RANGE_GRAIN = 64  # vertices; a range is whole words of a bitmap on every device


@dataclass(frozen=True, slots=True)
class Ownership:
    """Vertices of the graph that one device owns: ``first, first + stride, ...``, `count` of them.

    Attributes
    ----------
    first, stride, count : int
        Vertex ``first + k * stride`` of the graph is number k on the device, k < `count`.
    """

    first: int
    stride: int
    count: int

    @staticmethod
    def in_turns(n: int, parts: int) -> list[Ownership]:
        """Give vertex v to part ``v % parts``: shares alike in number and, likely, in degrees."""
        return [Ownership(part, parts, max(-(-(n - part) // parts), 0)) for part in range(parts)]

    @staticmethod
    def in_ranges(n: int, parts: int) -> list[Ownership]:
        """Give each part neighbouring vertices, equally many but for the grain of a bitmap."""
        words = -(-n // RANGE_GRAIN)
        bounds = [min(words * part // parts * RANGE_GRAIN, n) for part in range(parts + 1)]
        return [Ownership(begin, 1, end - begin) for begin, end in itertools.pairwise(bounds)]

    @property
    def vertices(self) -> slice:
        """The owned vertices among all."""
        return slice(self.first, self.first + self.count * self.stride, self.stride)

    def number(self, vertex: int) -> int:
        """Give a vertex's number on the device, `count` if it is another's."""
        number, rest = divmod(vertex - self.first, self.stride)
        return number if rest == 0 and 0 <= number < self.count else self.count


def rows_of(graph: Graph, owned: Ownership) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Give the rows of the owned vertices: offsets [count + 1] and heads, numbered as in the graph.

    Notes
    -----
    A range's heads are a view. Others are copied, with a byte for each edge of the graph beside.
    """
    degrees = graph.degrees
    indptr = np.zeros(owned.count + 1, np.int64)
    np.cumsum(degrees[owned.vertices], out=indptr[1:])
    if owned.stride == 1:
        begin, end = graph.indptr[owned.first], graph.indptr[owned.first + owned.count]
        return indptr, graph.indices[begin:end]
    mine = np.zeros(graph.n, bool)
    mine[owned.vertices] = True
    return indptr, graph.indices[np.repeat(mine, degrees)]
