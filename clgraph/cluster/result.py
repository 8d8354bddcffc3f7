"""What a search over several devices gives back."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from clgraph.engine.findings import Later
from clgraph.engine.launch_stats import Shown
from clgraph.engine.stats import LEVEL_RECORD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from clgraph.cluster.findings import DividedFindings
    from clgraph.engine.resolved import Resolved

__all__ = ["DividedResult", "DividedStats", "Level", "Levels"]

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


@dataclass(eq=False, repr=False)
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

    mode: ClassVar[str] = "stepped"

    _findings: DividedFindings
    _noted: Sequence[Level] | Later
    _configs: Sequence[Resolved]
    exchange: str
    devices: Sequence[str]
    _: KW_ONLY
    partition: str
    launches: int
    kernel_ms: float
    total_ms: float
    energy: Any = field(default=None, init=False)

    def __post_init__(self) -> None:
        """Keep the names of the devices."""
        self.devices = tuple(self.devices)

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
        kept = self._levels[: self.levels]
        table = np.zeros(self.levels, DIVIDED_RECORD)
        for name in ("frontier", "direction", "microseconds", "sent_bytes", "rounds"):
            table[name] = [getattr(level, name) for level in kept]
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
