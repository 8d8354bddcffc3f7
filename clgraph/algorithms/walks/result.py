"""What random walks give."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.engine.launch_stats import RoundStats

__all__ = ["WalksResult"]


class WalksResult:
    """Random walks.

    Attributes
    ----------
    walks : numpy.ndarray
        The vertices of each walk, its start first, int32 [k, length + 1]; -1 once it has come to a
        vertex that no edge leads away from.
    stats : RoundStats
        Times and counts; ``rounds`` says how many walks were taken together.
    """

    def __init__(self, walks: NDArray[np.int32], stats: RoundStats) -> None:
        self.walks = walks
        self.stats = stats

    def __repr__(self) -> str:
        """Report how many walks there are, and how long they may be."""
        count, columns = self.walks.shape
        return f"{type(self).__name__}(walks={count}, length={columns - 1})"

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Steps that each walk has, int64 [k]."""
        taken: NDArray[np.int64] = np.count_nonzero(self.walks >= 0, axis=1).astype(np.int64)
        return taken - 1
