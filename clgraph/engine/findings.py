"""Results of searches: in device memory until they are read or forgotten."""

from __future__ import annotations

import weakref
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.errors import DeviceMemoryError

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from clgraph.device import Memory
    from clgraph.graph import Graph

__all__ = ["BufferPool", "Findings", "HopFindings", "SearchBuffers"]


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
    dtype : data type
        Of the distances.
    """

    def __init__(
        self,
        memory: Memory,
        n: int,
        level_capacity: int,
        *,
        predecessors: bool,
        dtype: DTypeLike = np.int32,
    ) -> None:
        self.distances = memory.allocate("distances", n, dtype)
        self.predecessors = memory.allocate("predecessors", n, np.int32) if predecessors else None
        self.levels = memory.allocate("levels", 4 * level_capacity, np.uint32)
        self.owner: weakref.ref[Findings] | None = None


class BufferPool:
    """The buffers of one plan: one set from the start, more while results are alive.

    Parameters
    ----------
    memory : Memory
        Where to allocate.
    n, level_capacity, predecessors, dtype
        As for `SearchBuffers`.

    Raises
    ------
    DeviceMemoryError
        If there is no room for the first set.
    """

    def __init__(
        self,
        memory: Memory,
        n: int,
        level_capacity: int,
        *,
        predecessors: bool,
        dtype: DTypeLike = np.int32,
    ) -> None:
        self._memory = memory
        self._shape = (n, level_capacity)
        self._kinds: dict[str, Any] = {"predecessors": predecessors, "dtype": dtype}
        # Weakly, so that buffers which Ctrl-C loses on their way to a result are freed.
        self._all: weakref.WeakSet[SearchBuffers] = weakref.WeakSet()
        self._free: list[SearchBuffers] = []
        self._free.append(self._new())

    def _new(self) -> SearchBuffers:
        buffers = SearchBuffers(self._memory, *self._shape, **self._kinds)
        self._all.add(buffers)
        return buffers

    def take(self) -> SearchBuffers:
        """Buffers that no living result needs: used ones, else new ones, else a result's."""
        try:
            return self._free.pop()
        except IndexError:
            pass
        try:
            return self._new()
        except DeviceMemoryError:
            for buffers in list(self._all):
                found = buffers.owner() if buffers.owner else None
                if found is not None:
                    found.detach()
            if not self._free:
                raise
            return self._free.pop()

    def give_back(self, buffers: SearchBuffers) -> None:
        """Keep buffers for the next search."""
        self._free.append(buffers)


class Findings:
    """What a search found, read from the device when first asked for.

    A result and its stats share one; when both are gone its buffers are free for the next search.

    Parameters
    ----------
    graph : Graph
        What was searched.
    buffers : SearchBuffers
        What the search wrote.
    pool : BufferPool
        Where `buffers` go when they are not needed any more.
    rows : int
        Level records that the search wrote, unless their buffer was too short.
    """

    _buffers: SearchBuffers | None = None  # also where Ctrl-C comes before __init__ is over

    def __init__(self, graph: Graph, buffers: SearchBuffers, pool: BufferPool, rows: int) -> None:
        self._graph = graph
        self._rows = rows
        self._pool = pool
        self._buffers = buffers
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
            self._pool.give_back(buffers)

    def _held(self) -> SearchBuffers:
        if self._buffers is None:
            raise RuntimeError("detach() has read every array before it let go of the buffers")
        return self._buffers

    @cached_property
    def distances(self) -> NDArray[Any]:
        """As the search wrote them [n]."""
        return self._held().distances.read()

    @cached_property
    def predecessors(self) -> NDArray[np.int32] | None:
        """int32 [n], -1 where unreached; None if no tree was labelled."""
        tree = self._held().predecessors
        return None if tree is None else tree.read()

    @cached_property
    def levels(self) -> NDArray[np.uint32]:
        """uint32 [levels, 4]: frontier, edges or nothing, direction, clock."""
        words = self._held().levels
        rows = min(self._rows, words.count // 4)
        return words.read(4 * rows).reshape(-1, 4)


class HopFindings(Findings):
    """Findings of a search in hops: int32 distances, -1 where unreached.

    Parameters
    ----------
    graph, buffers, pool
        As for `Findings`.
    depth : int
        Largest distance.
    """

    def __init__(self, graph: Graph, buffers: SearchBuffers, pool: BufferPool, depth: int) -> None:
        super().__init__(graph, buffers, pool, depth + 2)
        self._depth = depth

    @cached_property
    def edges_by_level(self) -> NDArray[np.int64]:
        """Out-edges of the vertices at each distance, int64 [depth + 1]."""
        here = self.distances >= 0
        degrees = self._graph.degrees[here]
        sums = np.bincount(self.distances[here], weights=degrees, minlength=self._depth + 1)
        return sums.astype(np.int64)
