"""Results of searches: in device memory until they are read or forgotten."""

from __future__ import annotations

import contextlib
import threading
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from clgraph.errors import DeviceMemoryError, InvalidArgumentError

if TYPE_CHECKING:
    import weakref
    from collections.abc import Callable

    from numpy.typing import DTypeLike, NDArray
    from pyopencl.array import Array

    from clgraph.device import Allocation, Memory
    from clgraph.engine.outcome import Outcome
    from clgraph.graph import Graph

__all__ = ["BufferPool", "Findings", "HopFindings", "Later", "SearchBuffers"]


class Later:
    """An array that is read when it is first wanted, at the latest when it is copied or pickled.

    Parameters
    ----------
    read : callable
        Gives it; forgotten then, and with it the device's memory that it is in.
    """

    def __init__(self, read: Callable[[], NDArray[Any]]) -> None:
        self._read: Callable[[], NDArray[Any]] | None = read

    @classmethod
    def of(cls, held: Allocation | None, none: NDArray[Any]) -> Later:
        """Give what is in device memory, or `none` where nothing is."""
        return cls((lambda: none) if held is None else held.read)

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle the array, and not what reads it."""
        return {"_values": self.values, "_read": None}

    @property
    def values(self) -> NDArray[Any]:
        """As they were read."""
        read = self._read  # another thread may be about to forget it
        if read is not None:
            self._values = read()
            self._read = None  # not before: a copy may be interrupted
        return self._values


class Owner(Protocol):
    """Who needs what a search wrote, until everything has been read."""

    def detach(self) -> None:
        """Read everything and let go of the buffers."""


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

    Attributes
    ----------
    arguments : dict of str to Allocation
        What a search writes, by the kernel's names.
    reading : RLock
        A thread that reads must not be overtaken by one whose search wants the buffers.
    """

    def __init__(
        self,
        memory: Memory,
        n: int,
        level_capacity: int,
        *,
        predecessors: bool,
        dtype: DTypeLike,
    ) -> None:
        self.distances = memory.allocate("distances", n, dtype)
        self.predecessors = memory.allocate("predecessors", n, np.int32) if predecessors else None
        self.levels = memory.allocate("levels", 4 * level_capacity, np.uint32)
        self.owner: weakref.ref[Owner] | None = None
        self.reading = threading.RLock()
        self.arguments = {"distances": self.distances, "levels": self.levels}
        if self.predecessors is not None:
            self.arguments["predecessors"] = self.predecessors

    def living(self) -> Owner | None:
        """Whose result is here."""
        return self.owner() if self.owner is not None else None


class BufferPool:
    """The buffers of one plan: one set from the start, more while results are alive.

    Parameters
    ----------
    make : callable
        Gives a set, or raises DeviceMemoryError.

    Raises
    ------
    DeviceMemoryError
        If there is no room for the first set.
    """

    def __init__(self, make: Callable[[], SearchBuffers]) -> None:
        self._make = make
        self._all = [make()]

    def take(self) -> SearchBuffers:
        """Buffers that no living result needs: used ones, else new ones, else a result's.

        They are the caller's until `Findings` of them are gone, and anybody's if there never are
        any: a search that an exception ends has nothing to clear up. One search at a time may run.
        """
        for buffers in self._all:
            owner = buffers.owner
            if owner is None or owner() is None:
                return buffers
        with contextlib.suppress(DeviceMemoryError):
            self._all.append(self._make())
            return self._all[-1]
        for buffers in self._all:
            found = buffers.living()
            if found is not None:
                found.detach()
        return self._all[0]


class Degrees(NamedTuple):
    """What stands for a graph in results that were copied or came from another process."""

    degrees: NDArray[Any]
    labels: NDArray[Any] | None


class Findings:
    """What a search found, read from the device when first asked for.

    A result and its stats share one; when both are gone its buffers are free for the next search.
    Whoever makes it, while the search is under way, has it own its buffers once that has ended.

    Parameters
    ----------
    graph : Graph
        What was searched.
    buffers : SearchBuffers
        What the search wrote.
    outcome : Outcome
        How the search went, once it has ended.
    """

    def __init__(self, graph: Graph, buffers: SearchBuffers, outcome: Outcome) -> None:
        self._graph: Graph | Degrees = graph
        self._outcome = outcome
        self._host: dict[str, Any] = {}
        self._reading = buffers.reading
        self._buffers: SearchBuffers | None = buffers

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle what is on the host, after everything has been read; no graph."""
        self.detach()
        graph = Degrees(self._graph.degrees, self._graph.labels)
        return self.__dict__ | {"_graph": graph, "_reading": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Have a lock of one's own."""
        self.__dict__.update(state)
        self._reading = threading.RLock()

    def detach(self) -> None:
        """Read everything and let go of the buffers."""
        _ = self.distances, self.predecessors, self.levels
        with self._reading:
            buffers = self._buffers
            if buffers is not None and buffers.living() is self:
                buffers.owner = None
            self._buffers = None

    def _read(self, name: str, read: Callable[[SearchBuffers], Any]) -> Any:
        """Give an array, from the device the first time."""
        with self._reading:
            if name not in self._host:
                if self._buffers is None:
                    raise RuntimeError("detach() lets go of buffers whose every array is read")
                self._host[name] = read(self._buffers)
            return self._host[name]

    @property
    def names(self) -> NDArray[Any] | None:
        """What the vertices are called; None if their numbers are their names."""
        return self._graph.labels

    @property
    def distances(self) -> NDArray[Any]:
        """As the search wrote them [n]."""
        found: NDArray[Any] = self._read("distances", lambda held: held.distances.read())
        return found

    def read_into(self, out: NDArray[Any] | None) -> None:
        """Copy the distances to an array of the caller's, which `distances` is from then on."""
        if out is not None:
            self._read("distances", lambda held: held.distances.read(into=out))

    @property
    def distances_device(self) -> Array:
        """A copy of the distances that stays on the device [n]."""
        with self._reading:
            if self._buffers is None:
                raise InvalidArgumentError(
                    "the distances have left the device; take them from `distances`."
                )
            return self._buffers.distances.duplicate()

    @property
    def predecessors(self) -> NDArray[np.int32] | None:
        """int32 [n], -1 where unreached; None if no tree was labelled."""
        found: NDArray[np.int32] | None = self._read(
            "predecessors", lambda held: held.predecessors and held.predecessors.read()
        )
        return found

    @property
    def levels(self) -> NDArray[np.uint32]:
        """uint32 [levels, 4]: frontier, edges or nothing, direction, clock."""
        found: NDArray[np.uint32] = self._read("levels", self._level_rows)
        return found

    def _level_rows(self, held: SearchBuffers) -> NDArray[Any]:
        rows = min(self._written_rows(), held.levels.count // 4)
        return held.levels.read(4 * rows).reshape(-1, 4)

    def _written_rows(self) -> int:
        """Give how many level records the search wrote, unless their buffer was too short."""
        return self._outcome.depth + 1


class HopFindings(Findings):
    """Findings of a search in hops: int32 distances, -1 where unreached."""

    def _written_rows(self) -> int:
        return self._outcome.depth + 2

    @cached_property
    def edges_by_level(self) -> NDArray[np.int64]:
        """Out-edges of the vertices at each distance, int64 [depth + 1]."""
        here = self.distances >= 0
        degrees = self._graph.degrees[here]
        sums = np.bincount(self.distances[here], weights=degrees, minlength=self._outcome.depth + 1)
        return sums.astype(np.int64)
