"""Hubs and authorities as the runner measures them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph import Hits

from ...peers.centrality import (
    HUBS,
    MOST_ITERATIONS,
    TOLERANCE,
    greatest_singular_value,
    hubs_fault,
)
from .scores import Scored

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["PROBLEM", "HubsAuthorities"]


class HubsAuthorities(Scored):
    """`clgraph.Hits`, whose singular value ARPACK must not exceed; hubs and authorities [2, n]."""

    kind = "hits"
    plan_of = Hits
    result = "hubs"
    peers = HUBS

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Score the vertices."""
        return self.plan.run(tol=TOLERANCE, max_iter=MOST_ITERATIONS)

    def values(self, result: Any) -> Any:
        """Give both kinds of scores."""
        return np.stack([result.hubs, result.authorities])

    def fault(self, values: NDArray[Any]) -> str:
        """See that each gives what the other has, by the greatest singular value."""
        return hubs_fault(self.matrix, values, greatest_singular_value(self.matrix) ** 2)


PROBLEM = HubsAuthorities
