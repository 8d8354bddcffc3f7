"""What a search for an independent set gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

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
        self._held = statuses
        self._chosen = chosen
        self._mask = np.zeros(0, np.bool_)
        self._names = names
        self.stats = stats

    def __repr__(self) -> str:
        """Report how many vertices are in the set."""
        return f"{type(self).__name__}(count={self.count})"

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle the set, and not the device's memory."""
        return self.__dict__ | {"_mask": self.mask, "_held": None}

    @property
    def names(self) -> NDArray[Any] | None:
        """What the vertices are called; None if their numbers are their names."""
        return self._names

    def columns(self) -> dict[str, Any]:
        """Whether each is in the set."""
        return {"chosen": self.mask.view(np.uint8)}

    @property
    def mask(self) -> NDArray[np.bool_]:
        """Whether each vertex is in the set, bool [n]."""
        if self._held is not None:
            self._mask = self._held.read() == self._chosen
            self._held = None  # not before: a copy may be interrupted
        return self._mask

    @property
    def vertices(self) -> NDArray[np.int64]:
        """Vertices of the set, ascending: int64 [count]."""
        return np.flatnonzero(self.mask)

    @property
    def count(self) -> int:
        """How many they are."""
        return int(np.count_nonzero(self.mask))
