"""Parts of a graph's vertices, one for each device, with the rows that start in them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.graph import Graph

__all__ = ["Part", "parts_in_ranges", "parts_in_turns"]


@dataclass(frozen=True, slots=True)
class Part:
    """Vertices of one device, and their rows.

    Attributes
    ----------
    vertices : ndarray
        int64 [own], ascending: the global number of each local one.
    indptr : ndarray
        int64 [own + 1].
    indices : ndarray
        [edges out of them], global numbers.
    """

    vertices: NDArray[np.int64]
    indptr: NDArray[np.int64]
    indices: NDArray[Any]

    @property
    def size(self) -> int:
        """How many vertices the part has; may be 0."""
        return int(self.vertices.size)


def parts_in_turns(graph: Graph, count: int) -> list[Part]:
    """Deal vertices out in turns: vertex v belongs to part v modulo `count`.

    Parts are alike in size and in degrees, whatever the order of the vertices.
    """
    return [_part(graph, np.arange(place, graph.n, count)) for place in range(count)]


def parts_in_ranges(graph: Graph, count: int) -> list[Part]:
    """Give every part a range of vertices; sizes differ by at most one."""
    bounds = [graph.n * place // count for place in range(count + 1)]
    return [_part(graph, np.arange(begin, past)) for begin, past in itertools.pairwise(bounds)]


def _part(graph: Graph, vertices: NDArray[np.int64]) -> Part:
    degrees = graph.degrees[vertices].astype(np.int64)
    indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(degrees)])
    starts = np.repeat(graph.indptr[:-1][vertices].astype(np.int64) - indptr[:-1], degrees)
    return Part(vertices, indptr, graph.indices[starts + np.arange(indptr[-1])])
