"""Whether a batch moves the rows it touches, or all rows are written anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clgraph.device.hardware.measured import UPDATE_COSTS

if TYPE_CHECKING:
    from clgraph.device import Device

__all__ = ["REGIMES", "Costs", "costs_of"]

REGIMES = ("auto", "rows", "rewrite")


@dataclass(frozen=True, slots=True)
class Costs:
    """What the two ways take, in microseconds.

    Attributes
    ----------
    place_fixed, place_arc : float
        Of changing rows in place: in any case, and for each edge of the batch.
    rows_fixed, rows_arc : float
        Of moving rows, with blocks from the host: in any case, and for each arc of the batch, which
        is a row at worst.
    rewrite_fixed, rewrite_arc : float
        Of writing all rows anew: in any case, and for each arc of the graph.
    """

    place_fixed: float
    place_arc: float
    rows_fixed: float
    rows_arc: float
    rewrite_fixed: float
    rewrite_arc: float

    def in_place(self, edges: int, m: int, n: int) -> bool:
        """Report whether to change rows in place rather than writing all of them anew."""
        left = m * (1 - edges / n) if edges < n else 0.0  # entries that rewriting moves beside
        place = self.place_fixed + self.place_arc * edges
        return place < self.rewrite_fixed + self.rewrite_arc * left

    def faster(self, arcs: int, m: int, mean_degree: float) -> str:
        """Name the way that takes less.

        Parameters
        ----------
        arcs : int
            Of the batch.
        m : int
            Of the graph.
        mean_degree : float
            Of the graph; rows that are moved are copied.
        """
        entries = min(arcs * mean_degree, float(m))
        rows = self.rows_fixed + self.rows_arc * arcs + self.rewrite_arc * entries
        rewrite = self.rewrite_fixed + self.rewrite_arc * m
        return "rows" if rows < rewrite else "rewrite"


def costs_of(device: Device) -> Costs:
    """Give what the two ways take on a device."""
    return Costs(*UPDATE_COSTS.on(device.traits))
