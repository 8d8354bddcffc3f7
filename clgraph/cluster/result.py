"""What a search over several devices gives back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.bfs.stages import UNREACHED
from clgraph.engine.stats import LEVEL_RECORD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from clgraph.cluster.exchange import BitExchange, CandidateExchange
    from clgraph.cluster.part import Part
    from clgraph.engine.choose import Resolved
    from clgraph.graph import Graph

__all__ = ["DividedFindings", "DividedResult", "DividedStats", "Level"]

DIVIDED_RECORD = np.dtype([*LEVEL_RECORD.descr, ("sent_bytes", np.int64)])


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
    """

    frontier: int
    direction: str = "end"
    microseconds: float = 0.0
    sent_bytes: int = 0


class DividedFindings:
    """Distances and tree of one search, on the devices until they are read or searched over.

    Parameters
    ----------
    graph : Graph
        What was searched.
    parts : sequence of Part
        Who found what.
    tree : bool
        Whether predecessors are labelled.
    """

    def __init__(self, graph: Graph, parts: Sequence[Part], *, tree: bool) -> None:
        self._graph = graph
        self.names = graph.labels
        self._parts: Sequence[Part] = parts
        self._tree = tree

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle what is on the host, after everything has been read; no graph."""
        self.detach()
        _ = self.edges_by_level
        return self.__dict__ | {"_graph": None}

    def detach(self) -> None:
        """Read everything, so that the devices' memory is free for the next search."""
        _ = self.distances, self.predecessors
        self._parts = ()

    @cached_property
    def distances(self) -> NDArray[np.int32]:
        """int32 [n] in hops; -1 where there is no path."""
        found = np.full(self._graph.n, UNREACHED, np.int32)
        for part in self._parts:
            found[part.owned.vertices] = part.distances.read()
        return found

    @cached_property
    def predecessors(self) -> NDArray[np.int32] | None:
        """int32 [n], -1 where unreached; None if no tree was labelled.

        Where several devices found a vertex, each has a predecessor at the same distance: the
        greatest is taken.
        """
        if not self._tree:
            return None
        found = np.full(self._graph.n, UNREACHED, np.int32)
        for part in self._parts:
            tree = part.predecessors.read()
            if tree.size == self._graph.n:
                np.maximum(found, tree, out=found)
            else:
                found[part.owned.vertices] = tree
        return found

    @cached_property
    def edges_by_level(self) -> NDArray[np.int64]:
        """Out-edges of the vertices at each distance, int64 [levels]."""
        here = self.distances >= 0
        sums = np.bincount(self.distances[here], weights=self._graph.degrees[here])
        return sums.astype(np.int64)


class DividedStats:
    """Times, counts and configuration of one search over several devices.

    Attributes
    ----------
    kernel_ms : float
        From the first launch until the result was in the devices' memory, by the host's clock: what
        devices exchange passes the host, so its time is part of it.
    total_ms : float
        Host wall clock of ``run``.
    levels, reached : int
        Frontiers that were found, the source's own among them, and vertices in them.
    launches : int
        Kernel launches on all devices.
    mode : str
        "stepped".
    exchange : {"candidates", "bits"}
        What devices told one another.
    devices : tuple of str
        Names of the devices, in the order of their parts.
    energy : object or None
        Filled in by whoever measured the run.
    """

    mode = "stepped"

    def __init__(
        self,
        findings: DividedFindings,
        levels: Sequence[Level],
        configs: Sequence[Resolved],
        exchange: BitExchange | CandidateExchange,
        *,
        launches: int,
        kernel_ms: float,
        total_ms: float,
    ) -> None:
        self._findings = findings
        self._levels = tuple(levels)
        self._configs = tuple(configs)
        self.exchange = exchange.NAME
        self.devices = tuple(part.device.name for part in exchange.parts)
        self.launches = launches
        self.kernel_ms = kernel_ms
        self.total_ms = total_ms
        self.levels = sum(1 for level in levels if level.frontier)
        self.reached = sum(level.frontier for level in levels)
        self.energy: Any = None

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
        stopped the search), ``microseconds`` by the host's clock, ``sent_bytes`` between devices.
        """
        table = np.zeros(self.levels, DIVIDED_RECORD)
        for row, level in zip(table, self._levels, strict=False):
            row["frontier"] = level.frontier
            row["direction"] = level.direction
            row["microseconds"] = level.microseconds
            row["sent_bytes"] = level.sent_bytes
        table["edges"] = self._findings.edges_by_level
        return table


class DividedResult:
    """Outcome of one search; arrays are copied from the devices on first access.

    Attributes
    ----------
    source : int
        Where the search began.
    depth : int
        Largest distance that is reached.
    reached : int
        Vertices with a distance, the source among them.
    stats : DividedStats
        Times, counts, bytes between devices and the configuration that ran.
    """

    def __init__(self, findings: DividedFindings, stats: DividedStats, source: int) -> None:
        self._found = findings
        self.source = source
        self.depth = stats.levels - 1
        self.reached = stats.reached
        self.stats = stats

    def __repr__(self) -> str:
        """Tell source, depth and number of reached vertices."""
        return f"DividedResult(source={self.source}, depth={self.depth}, reached={self.reached})"

    @property
    def distances(self) -> NDArray[np.int32]:
        """int32 [n] in hops; -1 where there is no path."""
        return self._found.distances

    @property
    def predecessors(self) -> NDArray[np.int32] | None:
        """int32 [n]: the vertex before on a shortest path, the source its own, -1 where none.

        None if the plan labels no tree.
        """
        return self._found.predecessors

    def detach(self) -> None:
        """Copy everything to the host."""
        self._found.detach()
