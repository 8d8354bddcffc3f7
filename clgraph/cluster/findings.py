"""What a search over several devices found, as far as a process has it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import numpy as np

from clgraph.algorithms.bfs.stages import UNREACHED
from clgraph.cluster.ranked import gathered
from clgraph.cluster.ranks.comm import Swap
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray
    from pyopencl.array import Array

    from clgraph.cluster.parts.part import Part
    from clgraph.cluster.ranks.comm import Program

    Own: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32] | None]

__all__ = ["DividedFindings"]

T = TypeVar("T")


class DividedFindings:
    """Distances and tree of one search, as far as this process has them.

    Parameters
    ----------
    n : int
        Vertices of the graph.
    parts : sequence of Part
        Those of this process, which may be all.
    tree : bool
        Whether predecessors are labelled.
    names : object, optional
        Of the vertices.

    Attributes
    ----------
    whole : bool
        Whether arrays are of the whole graph; else `distances` and `predecessors` are None.
    """

    def __init__(self, n: int, parts: Sequence[Part], *, tree: bool, names: Any = None) -> None:
        self._n = n
        self.names = names
        self._parts: Sequence[Part] = parts
        self._owned = [part.owned for part in parts]
        self._tree = tree
        self.whole = True
        self._host: dict[str, Any] = {}
        # A thread that reads must not be overtaken by one whose search wants the devices' memory.
        self._reading = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle what is on the host, after everything has been read."""
        self.detach()
        return self.__dict__ | {"_reading": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Have a lock of one's own."""
        self.__dict__.update(state)
        self._reading = threading.RLock()

    def make_way(self) -> None:
        """Read what the next search of the plan will write over."""
        if not all(part.LASTS for part in self._parts):
            self.detach()

    def detach(self) -> None:
        """Read everything, so that the devices' memory is free for the next search."""
        with self._reading:
            _ = self.distances, self.predecessors, self.edges_by_level
            for part in self._parts:
                part.detach()
            self._parts = ()

    def _read(self, name: str, read: Callable[[], T]) -> T:
        """Give what is read from the devices the first time."""
        with self._reading:
            if name not in self._host:
                self._host[name] = read()
            found: T = self._host[name]
            return found

    def collected(self, rank: int, ranks: int, *, gather: bool) -> Program:
        """Put together what the ranks have; the whole on the first, if it is to be gathered."""
        (part,) = self._parts
        own = part.distances.read()
        edges = np.zeros(0, np.int64) if not own.size else _edges_by_level([part])
        received = yield Swap([edges] * ranks)
        arrays, tree = {"distances": own}, None
        if self._tree:
            tree = arrays["predecessors"] = yield from self._own_tree(part, ranks)
        self._host |= {
            "edges_by_level": _added(received),
            "own": (part.owned.names, own, tree),
            "distances": None,
            "predecessors": None,
        }
        if gather:
            whole = yield from gathered(part.owners, rank, self._n, arrays, UNREACHED)
            self._host |= whole
        self.whole = gather and rank == 0
        self._parts = ()

    def _own_tree(self, part: Part, ranks: int) -> Program:
        tree = part.predecessors.read()
        if not part.WHOLE_TREE:
            return tree
        # Whoever found a vertex has a predecessor for it: its owner takes the greatest.
        received = yield Swap([tree[part.owners[peer].vertices] for peer in range(ranks)])
        return np.maximum.reduce(received)

    def read_into(self, out: NDArray[np.int32] | None) -> None:
        """Copy the distances to an array of the caller's, which `distances` is from then on."""
        if out is not None:
            out[...] = cast("NDArray[np.int32]", self.distances)
            self._host["distances"] = out

    @property
    def distances_device(self) -> Array:
        """A copy of the distances that stays on the device [n], where it is a single one."""
        with self._reading:
            if len(self._parts) != 1:
                raise InvalidArgumentError(
                    "the distances are not on one device; take them from `distances`."
                )
            return self._parts[0].distances.duplicate()

    @property
    def distances(self) -> NDArray[np.int32] | None:
        """int32 [n] in hops; -1 where there is no path."""
        return self._read("distances", self._whole_distances)

    def _whole_distances(self) -> NDArray[np.int32]:
        found = np.full(self._n, UNREACHED, np.int32)
        for part in self._parts:
            found[part.owned.vertices] = part.distances.read()
        return found

    @property
    def predecessors(self) -> NDArray[np.int32] | None:
        """int32 [n], -1 where unreached; None if no tree was labelled.

        Where several devices found a vertex, each has a predecessor at the same distance: the
        greatest is taken.
        """
        return self._read("predecessors", self._whole_tree)

    def _whole_tree(self) -> NDArray[np.int32] | None:
        if not self._tree:
            return None
        found = np.full(self._n, UNREACHED, np.int32)
        for part in self._parts:
            tree = part.predecessors.read()
            if part.WHOLE_TREE:
                np.maximum(found, tree, out=found)
            else:
                found[part.owned.vertices] = tree
        return found

    @property
    def own(self) -> Own:
        """Vertices of this process, their distances and predecessors."""
        return self._read("own", self._of_this_process)

    def _of_this_process(self) -> Own:
        names = np.sort(np.concatenate([owned.names for owned in self._owned]))
        tree = self.predecessors
        assert self.distances is not None  # noqa: S101 (all parts are here)
        return names, self.distances[names], None if tree is None else tree[names]

    @property
    def edges_by_level(self) -> NDArray[np.int64]:
        """Out-edges of the vertices at each distance, int64 [levels]."""
        return self._read("edges_by_level", lambda: _edges_by_level(self._parts))


def _edges_by_level(parts: Sequence[Part]) -> NDArray[np.int64]:
    """Sum the lengths of the rows that parts hold, by the distance of their vertices."""
    sums = []
    for part in parts:
        distances = part.row_distances.read()
        here = distances >= 0
        counts = np.bincount(distances[here], weights=part.degrees[here])
        sums.append(counts.astype(np.int64))
    return _added(sums)


def _added(counts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Add up arrays whose ends are zeros that were left out."""
    sums = np.zeros(max((array.size for array in counts), default=0), np.int64)
    for array in counts:
        sums[: array.size] += array
    return sums
