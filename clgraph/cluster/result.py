"""What a search over several devices gives back."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from clgraph.algorithms.bfs.stages import UNREACHED
from clgraph.cluster.ranked import gathered
from clgraph.cluster.ranks.comm import Swap
from clgraph.engine.findings import Later
from clgraph.engine.launch_stats import Shown
from clgraph.engine.stats import LEVEL_RECORD
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray
    from pyopencl.array import Array

    from clgraph.cluster.parts.part import Part
    from clgraph.cluster.ranks.comm import Program
    from clgraph.engine.resolved import Resolved

__all__ = ["DividedFindings", "DividedResult", "DividedStats", "Level", "Levels"]

DIVIDED_RECORD = np.dtype([*LEVEL_RECORD.descr, ("sent_bytes", np.int64), ("rounds", np.int64)])


@dataclass(slots=True)
class Level:
    """What is noted of one level while it runs.

    Attributes
    ----------
    frontier : int
        Vertices at its distance.
    direction : str
        "push" or "pull".
    microseconds : float
        Host time until the next level's frontier was known.
    sent_bytes : int
        Between devices, in all.
    rounds : int
        In how many steps messages went: none where nothing was sent, one where all went straight.
    """

    frontier: int
    direction: str = "end"
    microseconds: float = 0.0
    sent_bytes: int = 0
    rounds: int = 0


# Levels, launches of all ranks, and seconds from the first launch to the last look.
Levels = tuple["Sequence[Level] | Later", int, float]


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
            self._parts = ()

    def _read(self, name: str, read: Callable[[], Any]) -> Any:
        """Give what is read from the devices the first time."""
        with self._reading:
            if name not in self._host:
                self._host[name] = read()
            return self._host[name]

    def collected(self, rank: int, ranks: int, *, gather: bool) -> Program:
        """Put together what the ranks have; the whole on the first, if it is to be gathered."""
        (part,) = self._parts
        own = part.distances.read()
        edges = np.zeros(0, np.int64) if not own.size else _edges_by_level([part])
        received = yield Swap([edges] * ranks)
        sums = np.zeros(max((array.size for array in received), default=0), np.int64)
        for array in received:
            sums[: array.size] += array
        tree = None
        if self._tree:
            tree = yield from self._own_tree(part, ranks)
        self._host |= {
            "edges_by_level": sums,
            "own": (part.owned.names, own, tree),
            "distances": None,
            "predecessors": None,
        }
        if gather:
            arrays = (
                {"distances": own} if tree is None else {"distances": own, "predecessors": tree}
            )
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
        found: NDArray[np.int32] | None = self._read("distances", self._whole_distances)
        return found

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
        found: NDArray[np.int32] | None = self._read("predecessors", self._whole_tree)
        return found

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
    def own(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32] | None]:
        """Vertices of this process, their distances and predecessors."""
        own: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32] | None]
        own = self._read("own", self._of_this_process)
        return own

    def _of_this_process(self) -> tuple[Any, ...]:
        names = np.sort(np.concatenate([owned.names for owned in self._owned]))
        tree = self.predecessors
        assert self.distances is not None  # noqa: S101 (all parts are here)
        return names, self.distances[names], None if tree is None else tree[names]

    @property
    def edges_by_level(self) -> NDArray[np.int64]:
        """Out-edges of the vertices at each distance, int64 [levels]."""
        edges: NDArray[np.int64] = self._read(
            "edges_by_level", lambda: _edges_by_level(self._parts)
        )
        return edges


def _edges_by_level(parts: Sequence[Part]) -> NDArray[np.int64]:
    """Sum the lengths of the rows that parts hold, by the distance of their vertices."""
    sums = np.zeros(0, np.int64)
    for part in parts:
        distances = part.row_distances.read()
        here = distances >= 0
        counts = np.bincount(distances[here], weights=part.degrees[here], minlength=sums.size)
        counts = counts.astype(np.int64)
        counts[: sums.size] += sums
        sums = counts
    return sums


class DividedStats(Shown):
    """Times, counts and configuration of one search over several devices.

    Attributes
    ----------
    kernel_ms : float
        From the first launch until the result was in the devices' memory, by the host's clock: what
        devices exchange passes the host, so its time is part of it.
    total_ms : float
        Host wall clock of ``run``.
    launches : int
        Kernel launches on all devices.
    mode : str
        "stepped".
    exchange : {"candidates", "bits"}
        What devices sent one another.
    partition : str
        Who has which vertices and edges: see `clgraph.cluster.parts.partition`.
    devices : tuple of str
        Names of the devices of this process, in the order of their parts.
    energy : object or None
        Filled in by whoever measured the run.
    """

    mode = "stepped"

    def __init__(  # noqa: PLR0913 - all but five by keyword
        self,
        findings: DividedFindings,
        levels: Sequence[Level] | Later,
        configs: Sequence[Resolved],
        exchange: str,
        devices: Sequence[str],
        *,
        partition: str,
        launches: int,
        kernel_ms: float,
        total_ms: float,
    ) -> None:
        self._findings = findings
        self._noted = levels
        self._configs = tuple(configs)
        self.exchange = exchange
        self.partition = partition
        self.devices = tuple(devices)
        self.launches = launches
        self.kernel_ms = kernel_ms
        self.total_ms = total_ms
        self.energy: Any = None

    @property
    def _levels(self) -> Sequence[Level]:
        """What is noted of each level, which may have to be read for that."""
        noted = self._noted
        return cast("Sequence[Level]", noted.values) if isinstance(noted, Later) else noted

    @cached_property
    def levels(self) -> int:
        """Frontiers that were found, the source's own among them."""
        return sum(1 for level in self._levels if level.frontier)

    @cached_property
    def reached(self) -> int:
        """Vertices in them."""
        return sum(level.frontier for level in self._levels)

    @property
    def config(self) -> Resolved:
        """The configuration that ran on the first device; it prints as the call that makes it."""
        return self._configs[0]

    @property
    def frontiers(self) -> NDArray[np.int64]:
        """Vertices at each distance, int64 [levels]."""
        return np.array([level.frontier for level in self._levels[: self.levels]], np.int64)

    @property
    def directions(self) -> tuple[str, ...]:
        """Give "push" or "pull" for every exchange."""
        return tuple(level.direction for level in self._levels if level.direction != "end")

    @property
    def exchanged_bytes(self) -> NDArray[np.int64]:
        """Bytes that devices were sent by others for each level, int64 [exchanges].

        The last exchange found nothing, unless ``max_depth`` ended the search.
        """
        sent = [level.sent_bytes for level in self._levels if level.direction != "end"]
        return np.array(sent, np.int64)

    @cached_property
    def edges_traversed(self) -> int:
        """Out-edges of reached vertices."""
        return int(self._findings.edges_by_level.sum())

    @property
    def teps(self) -> float:
        """Edges traversed per second of ``kernel_ms``."""
        return self.edges_traversed / (self.kernel_ms * 1e-3) if self.kernel_ms > 0 else 0.0

    @cached_property
    def per_level(self) -> NDArray[Any]:
        """One row per distance from 0: frontier, its out-edges, direction, microseconds, bytes.

        Structured array: fields ``frontier``, ``edges``, ``direction`` ("end" where `max_depth`
        stopped the search), ``microseconds`` by the host's clock, ``sent_bytes`` between devices,
        and ``rounds``, in how many steps they went (0: none, 1: all straight).
        """
        table = np.zeros(self.levels, DIVIDED_RECORD)
        for row, level in zip(table, self._levels, strict=False):
            row["frontier"] = level.frontier
            row["direction"] = level.direction
            row["microseconds"] = level.microseconds
            row["sent_bytes"] = level.sent_bytes
            row["rounds"] = level.rounds
        table["edges"] = self._findings.edges_by_level
        return table


class DividedResult:
    """Outcome of one search; arrays are copied from the devices on first access.

    Attributes
    ----------
    source : int
        Where the search began.
    stats : DividedStats
        Times, counts, bytes between devices and the configuration that ran.
    """

    def __init__(self, findings: DividedFindings, stats: DividedStats, source: int) -> None:
        self._found = findings
        self.source = source
        self.stats = stats

    @property
    def depth(self) -> int:
        """Largest distance that is reached."""
        return self.stats.levels - 1

    @property
    def reached(self) -> int:
        """Vertices with a distance, the source among them."""
        return self.stats.reached

    def __repr__(self) -> str:
        """Report source, depth and number of reached vertices."""
        return f"DividedResult(source={self.source}, depth={self.depth}, reached={self.reached})"

    @property
    def distances(self) -> NDArray[np.int32] | None:
        """int32 [n] in hops; -1 where there is no path.

        Over MPI rank 0 has them, if they were gathered; None on others.
        """
        return self._found.distances

    @property
    def vertices(self) -> NDArray[np.int64]:
        """The vertices that this process owns."""
        return self._found.own[0]

    @property
    def own_distances(self) -> NDArray[np.int32]:
        """Distances of `vertices`."""
        return self._found.own[1]

    @property
    def own_predecessors(self) -> NDArray[np.int32] | None:
        """Predecessors of `vertices`, if the plan labels them."""
        return self._found.own[2]

    @property
    def predecessors(self) -> NDArray[np.int32] | None:
        """int32 [n]: the vertex before on a shortest path, the source its own, -1 where none.

        None if the plan labels no tree.
        """
        return self._found.predecessors

    def detach(self) -> None:
        """Copy everything to the host."""
        self._found.detach()
