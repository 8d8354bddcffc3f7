"""What the passes of a profile found about a kernel."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clgraph.device import Kernel
    from clgraph.profile.passes.counters import Totals
    from clgraph.profile.passes.residency import Residency
    from clgraph.profile.passes.timeline import Launch, Place
    from clgraph.profile.static import StaticFacts

__all__ = ["NO_PASS", "ONE_LANE", "Evidence"]

ONE_LANE = "each SIMD group is one work-item here"
NO_PASS = "the pass that reports was not asked for"  # noqa: S105 - no password


@dataclass(slots=True)
class Evidence:
    """Everything that the passes found about one kernel.

    Attributes
    ----------
    place : Place
        Which.
    kernel : Kernel
        The plain one.
    runs : list of list of Launch
        Its launches in each of the plain runs.
    footprint_bytes : int
        Of the buffers that it was given.
    static : StaticFacts
        What the compiler says.
    residency, waiting : Residency or None
        Of the passes TIME and SYNC.
    totals : Totals or None
        Of the pass that counts.
    counts_lanes : bool
        Whether lanes are counted while they run.
    barrier_cycles : float
        What a barrier costs at which nobody waits.
    """

    place: Place
    kernel: Kernel
    runs: list[list[Launch]]
    footprint_bytes: int
    static: StaticFacts
    residency: Residency | None = None
    waiting: Residency | None = None
    totals: Totals | None = None
    counts_lanes: bool = False
    barrier_cycles: float = 0.0

    @property
    def time_s(self) -> float:
        """Of all launches of a run, median of the runs."""
        return (
            statistics.median(sum(launch.end - launch.start for launch in run) for run in self.runs)
            * 1e-9
        )

    @property
    def launches(self) -> list[Launch]:
        """Of the last run."""
        return self.runs[-1]
