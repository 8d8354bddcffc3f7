"""Results of searches: in device memory until they are read or forgotten."""

from __future__ import annotations

import weakref
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.device import Memory
    from clgraph.graph import Graph

__all__ = ["Findings", "SearchBuffers"]


class SearchBuffers:
    """What one search writes: its result stays here until it is read or forgotten.

    Parameters
    ----------
    memory : Memory
        Where to allocate.
    n : int
        Vertices.
    level_capacity : int
        Levels whose records are kept, 16 bytes each.
    predecessors : bool
        Whether a tree is labelled too.
    """

    def __init__(self, memory: Memory, n: int, level_capacity: int, *, predecessors: bool) -> None:
        self.distances = memory.allocate("distances", n, np.int32)
        self.predecessors = memory.allocate("predecessors", n, np.int32) if predecessors else None
        self.levels = memory.allocate("levels", 4 * level_capacity, np.uint32)
        self.owner: weakref.ref[Findings] | None = None


class Findings:
    """What a search found, read from the device when first asked for.

    A result and its stats share one; when both are gone its buffers are free for the next search.

    Parameters
    ----------
    graph : Graph
        What was searched.
    buffers : SearchBuffers
        What the search wrote.
    depth : int
        Largest distance in it.
    free : list of SearchBuffers
        Where `buffers` go when they are not needed any more.
    """

    def __init__(
        self, graph: Graph, buffers: SearchBuffers, depth: int, free: list[SearchBuffers]
    ) -> None:
        self._graph = graph
        self._depth = depth
        self._buffers: SearchBuffers | None = buffers
        self._free = free
        buffers.owner = weakref.ref(self)

    def __del__(self) -> None:
        """Give the buffers back."""
        self._give_back()

    def detach(self) -> None:
        """Read everything and give the buffers back."""
        if self._buffers is not None:
            _ = self.distances, self.predecessors, self.levels
            self._give_back()

    def _give_back(self) -> None:
        buffers, self._buffers = self._buffers, None
        if buffers is not None:
            self._free.append(buffers)

    def _held(self) -> SearchBuffers:
        if self._buffers is None:
            raise RuntimeError("detach() has read every array before it let go of the buffers")
        return self._buffers

    @cached_property
    def distances(self) -> NDArray[np.int32]:
        """int32 [n], -1 where unreached."""
        return self._held().distances.read()

    @cached_property
    def predecessors(self) -> NDArray[np.int32] | None:
        """int32 [n], -1 where unreached; None if no tree was labelled."""
        tree = self._held().predecessors
        return None if tree is None else tree.read()

    @cached_property
    def levels(self) -> NDArray[np.uint32]:
        """uint32 [levels, 4]: frontier, nothing, direction, clock."""
        words = self._held().levels
        rows = min(self._depth + 2, words.count // 4)
        return words.read(4 * rows).reshape(-1, 4)

    @cached_property
    def edges_by_level(self) -> NDArray[np.int64]:
        """Out-edges of the vertices at each distance, int64 [depth + 1]."""
        here = self.distances >= 0
        degrees = self._graph.degrees[here]
        sums = np.bincount(self.distances[here], weights=degrees, minlength=self._depth + 1)
        return sums.astype(np.int64)
