"""A configuration of searches by weight with everything decided."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from clgraph.engine.resolved import Resolved

if TYPE_CHECKING:
    from clgraph.algorithms.sssp.method import (
        Method,
    )

__all__ = ["ResolvedPaths"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ResolvedPaths(Resolved):
    """A configuration with everything decided; what templates see as ``config``.

    Attributes
    ----------
    method : Method
        The one that runs, with every number.
    delta : float
        How much its bound rises, in the unit of the weights; 0 without a bound.
    unit : float
        The weights' own step.
    claims, cache : str
        As decided.
    row_limit : int
        Edges of the pieces that rows are cut into; 0 for whole rows.
    drift : int
        How often SIMD groups go on by themselves; 0 for never.
    set_point : float
        Edges that each step of a search that tunes itself should look at, from the beginning.
    bucket_queues, period, ahead, iteration_limit, spin_rounds : int
        Of `Asynchronous`: queues of each bucket; buckets between two changes of their width, 0 for
        never; entries that a SIMD group collects; iterations after which a launch may pause, polls
        after which a group leaves.
    idle_least, idle_most : int
        Shares of idle SIMD groups, in percent, below which buckets become narrower and above which
        wider.
    """

    method: Method
    delta: float = 0.0
    unit: float = 1.0
    claims: str = ""
    cache: str = "default"
    row_limit: int = 0
    drift: int = 0
    set_point: float = 0.0
    bucket_queues: int = 0
    period: int = 0
    ahead: int = 0
    iteration_limit: int = 0
    spin_rounds: int = 0
    idle_least: int = 10
    idle_most: int = 50

    @property
    def of_any_weights(self) -> ResolvedPaths:
        """What kernels are rendered with: without what launches are given, which weights decide."""
        method: Any = self.method  # of which not every one has a bound
        if method.delta is not None:
            method = replace(method, delta=None)
        return replace(self, method=method, delta=0.0, unit=1.0)

    @property
    def exact(self) -> bool:
        """Whether a queue has each vertex at most once, not in pieces nor at every decrease."""
        return not self.row_limit and self.claims != "none"

    @property
    def has_hubs(self) -> bool:
        """Whether there are queues of hubs: levels of a single group name them in any case."""
        return bool(self.hub_degree or self.single_group)
