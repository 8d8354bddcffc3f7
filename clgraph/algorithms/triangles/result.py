"""What a count of triangles reports: numbers, and what it took."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.triangles.simple import are_triangles, as_stored
from clgraph.engine.stats import Estimated
from clgraph.errors import VerificationError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.engine.sweeps import SweepLog
    from clgraph.graph import Graph

__all__ = ["TrianglesResult", "TrianglesStats", "Work"]


@dataclass(frozen=True, slots=True)
class Work:
    """What a run had to do: see `TrianglesStats`."""

    intersections: int = 0
    probes: int | None = 0
    longest: int | None = None


class TrianglesStats(Estimated):
    """Times, counts and configuration of one run.

    Attributes
    ----------
    total_ms : float
        Host wall clock of ``run``.
    kernel_ms : float
        Device time from the first launch's start to the last one's end, preparation included where
        this run prepared.
    prepare_ms : float
        Of that, turning the edges; 0 where the graph had kept it.
    launches : int
        Kernel launches.
    intersections : int
        Pairs of rows that were intersected: the edges, or those between two vertices of the cover.
    probes : int or None
        Elements that were looked up in tables of bits, where the configuration asks for counters;
        None for other ways.
    longest : int or None
        Most steps of one work-item, where the configuration asks for counters.
    mode : str
        "launches": a fixed sequence of kernels.
    config : str
        What ran, and from which entry if it was tuned.
    device_bytes : int
        Device memory of the plan.
    energy : object or None
        Filled in by whoever measured the run.
    """

    mode = "launches"

    def __init__(
        self,
        log: SweepLog,
        preparation: SweepLog,
        total_ms: float,
        *,
        config: str,
        work: Work,
        device_bytes: int,
    ) -> None:
        self.total_ms = total_ms
        self.prepare_ms = preparation.kernel_ms
        self._log = log
        self.launches = log.launches
        self.intersections = work.intersections
        self.probes = work.probes
        self.longest = work.longest
        self.config = config
        self.device_bytes = device_bytes
        self.energy: Any = None

    @property
    def kernel_ms(self) -> float:
        """Device time, as defined above."""
        return self._log.kernel_ms

    @property
    def parts(self) -> dict[str, float]:
        """Milliseconds of each step on the device, by the name of its kernel."""
        return self._log.parts


class TrianglesResult:
    """Triangles of a graph.

    Attributes
    ----------
    count : int
        How many there are.
    values : numpy.ndarray or None
        What was asked for by ``per``: int64 [n], the triangles of each vertex; uint32 [m], those of
        each stored edge; or int64 [count, 3], the corners of each, ascending, in lexicographic
        order. None for the total alone.
    stats : TrianglesStats
        Times, counts and the configuration that ran.
    """

    def __init__(self, count: int, values: NDArray[Any] | None, stats: TrianglesStats) -> None:
        self.count = count
        self.values = values
        self.stats = stats

    def check(self, other: TrianglesResult, per: str, simple: Graph, graph: Graph) -> None:
        """Raise VerificationError if values asked for by ``per`` are not as in another result.

        That is by vertex, or by stored edge of `simple`, which is what `graph` was made into.
        """
        if self.count != other.count:
            raise VerificationError(
                f"{self.count} triangles were found, but {other.count} in another way."
            )
        if per == "total":
            return
        values, expected = self.values, other.values
        if values is None or expected is None:
            same = False
        elif per == "list":
            same = are_triangles(values, simple) and len(np.unique(values, axis=0)) == other.count
        else:
            if per == "edge":
                expected = as_stored(expected, simple, graph)
            same = np.array_equal(values, expected)
        if not same:
            raise VerificationError(f"the triangles per {per} are not those found in another way.")

    def __repr__(self) -> str:
        """Report how many triangles there are."""
        return f"TrianglesResult(count={self.count})"
