"""What a breadth-first search reports about itself beside times and counts."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.engine.state import stage_numbers
from clgraph.engine.stats import TraversalStats, Work

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.engine.findings import HopFindings
    from clgraph.engine.outcome import Outcome
    from clgraph.engine.resolved import Resolved

__all__ = ["BFSStats"]


class BFSStats(TraversalStats):
    """Times, counts and configuration of one search, and what its frontier's form cost.

    Parameters
    ----------
    findings : HopFindings
        Distances and level records.
    outcome : Outcome
        How the stages were run.
    config : Resolved
        What ran.

    Attributes
    ----------
    tallies : dict
        What a search over a status array counted: ``hubs`` of the graph, ``looks`` into hub caches
        and ``hits`` there, ``pushed_edges`` and ``pulled_edges`` inspected, ``switches`` to pulling
        and ``returns`` from it. Empty for other forms.
    shares : uint32 [levels] or None
        How kernels recorded that each level was shared out, where the balancer decides that anew:
        see `SHARES`.
    """

    shares: NDArray[np.uint32] | None = None

    def __init__(self, findings: HopFindings, outcome: Outcome, config: Resolved) -> None:
        super().__init__(findings, outcome, config)
        self._hops = findings
        self.tallies: dict[str, int] = {}

    @property
    def hub_cache_hit_rate(self) -> float | None:
        """Looks into hub caches that found a hub, of all; None where there were none."""
        looks = self.tallies.get("looks", 0)
        return self.tallies["hits"] / looks if looks else None

    def _work(self) -> Work:
        rows = self.per_level
        pushed = float(rows["edges"][rows["direction"] == "push"].sum())
        n = self._hops.distances.size
        pulled = float((rows["direction"] == "pull").sum()) * n
        reached = float(rows["frontier"].sum())
        return Work(reached, pushed + pulled, reached, float(self.levels), 4.0 * n)

    @property
    def counters(self) -> dict[str, int] | None:
        """Events of balancer, queues and filters by name, where the configuration counts them.

        ``RESERVATIONS`` are atomics that took room in a queue, ``BINARY_RANKS`` and
        ``INDUCED_STORES`` flushes of registers numbered by a ballot and stored side by side,
        ``DROPPED`` and ``CONFLICTS`` lanes whose slot of a table held their vertex from another
        lane or, in a history, from before, or another vertex; the others are those of
        ``clgraph.primitives.expand``.
        """
        return dict(self._outcome.counters) if self._config.counts else None

    @property
    def stages(self) -> tuple[str, ...]:
        """Name of the stage that dealt with each distance from 0: "push", "contract", ..."""
        names = {number: name for name, number in stage_numbers(self._config.frontier.name).items()}
        return tuple(names.get(int(mode), "end") for mode in self._hops.levels[: self.levels, 2])

    @cached_property
    def expanded_edges(self) -> NDArray[np.int64]:
        """Edges that each level expanded, duplicates of vertices included, int64 [levels]."""
        if self._config.exact:
            return self._hops.edges_by_level
        expanded = self._hops.levels[: self.levels, 1].astype(np.int64)
        return np.where(self._expands, expanded, self._hops.edges_by_level[: expanded.size])

    @property
    def _expands(self) -> NDArray[np.bool_]:
        return np.not_equal(self._hops.levels[: self.levels, 2], 0)

    @property
    def redundancy(self) -> NDArray[np.float64]:
        """Edges that each level expanded over those it had to: the redundant expansion factor.

        float64 [levels]; 1 where a level had none.
        """
        needed = self._hops.edges_by_level[: self.expanded_edges.size]
        return np.where(needed > 0, self.expanded_edges / np.maximum(needed, 1), 1.0)

    @cached_property
    def per_level(self) -> NDArray[Any]:
        """As `TraversalStats.per_level`; a vertex that was queued twice is counted once."""
        table = super().per_level
        if not self._config.exact:
            distances = self._hops.distances
            sizes = np.bincount(distances[distances >= 0], minlength=self.levels)
            table["frontier"] = sizes[: table.size]
        return table
