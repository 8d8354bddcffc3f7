"""What a colouring gives."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.engine.findings import Later
from clgraph.interop.tables.results import NamedResult

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.device import Allocation
    from clgraph.engine.launch_stats import RoundStats

__all__ = ["ColoringResult"]


class ColoringResult(NamedResult):
    """Colours of the vertices, copied from the device on first access.

    Attributes
    ----------
    count : int
        Colours: 0 .. count - 1.
    stats : RoundStats
        Times and counts; ``rounds`` says how many vertices had no final colour before each.
    """

    plot_kind = "sizes"

    def __init__(
        self,
        colors: Allocation | None,
        count: int,
        stats: RoundStats,
        *,
        names: NDArray[Any] | None = None,
    ) -> None:
        self._colors = Later.of(colors, np.zeros(0, np.int32))
        self.names = names
        self.count = count
        self.stats = stats

    def __repr__(self) -> str:
        """Report how many colours there are."""
        return f"{type(self).__name__}(count={self.count})"

    def columns(self) -> dict[str, Any]:
        """Colours by name."""
        return {"color": self.colors}

    @property
    def colors(self) -> NDArray[np.int32]:
        """Colour of each vertex, int32 [n]."""
        return self._colors.values

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Vertices of each colour, int64 [count]."""
        return np.bincount(self.colors, minlength=self.count).astype(np.int64)
