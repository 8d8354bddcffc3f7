"""What a search for an independent set gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.engine.findings import Later
from clgraph.interop.tables.results import NamedResult

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.device import Allocation
    from clgraph.engine.launch_stats import RoundStats

__all__ = ["IndependentSetResult"]


class IndependentSetResult(NamedResult):
    """A maximal independent set, copied from the device on first access.

    Attributes
    ----------
    stats : RoundStats
        Times and counts; ``rounds`` says how many vertices were undecided before each.
    """

    plot_kind = "sizes"

    def __init__(
        self,
        statuses: Allocation | None,
        chosen: int,
        stats: RoundStats,
        *,
        names: NDArray[Any] | None = None,
    ) -> None:
        none = np.zeros(0, np.bool_)
        self._mask = Later(lambda: none if statuses is None else statuses.read() == chosen)
        self.names = names
        self.stats = stats

    def __repr__(self) -> str:
        """Report how many vertices are in the set."""
        return f"{type(self).__name__}(count={self.count})"

    def columns(self) -> dict[str, Any]:
        """Whether each is in the set."""
        return {"chosen": self.mask.view(np.uint8)}

    @property
    def mask(self) -> NDArray[np.bool_]:
        """Whether each vertex is in the set, bool [n]."""
        return self._mask.values

    @property
    def vertices(self) -> NDArray[np.int64]:
        """Vertices of the set, ascending: int64 [count]."""
        return np.flatnonzero(self.mask)

    @property
    def count(self) -> int:
        """How many they are."""
        return int(np.count_nonzero(self.mask))
