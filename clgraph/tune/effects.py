"""A model of what configurations take: what each value of each parameter adds, in logarithms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clgraph.apart import apart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clgraph.tune.space import Values

__all__ = ["Effects", "Observation"]

RIDGE = 0.3  # of an effect that one observation shows, so much is doubted


class Observation(NamedTuple):
    """What a point took: the logarithm of a cost, how much it counts, and where it was seen."""

    values: Values
    log_cost: float
    weight: float = 1.0
    seen: int = 0


class Effects:
    """Main effects of parameters, fitted to observations.

    Parameters
    ----------
    observations : sequence of Observation
        Those that were seen on another graph count by how they differ among themselves.

    Notes
    -----
    Ridge regression on one column for each value of each parameter. Parameters that were never
    tried have no effect, so what has not been seen is taken to be as good as what has.
    """

    def __init__(self, observations: Sequence[Observation]) -> None:
        pairs = {pair for seen in observations for pair in seen.values.items()}
        self._columns: dict[Any, int] = {
            pair: place for place, pair in enumerate(sorted(pairs, key=repr))
        }
        self._base = 0.0
        self._effects = np.zeros(len(pairs))
        if not observations:
            return
        means = {
            place: float(np.mean([one.log_cost for one in observations if one.seen == place]))
            for place in {one.seen for one in observations}
        }
        self._base = means.get(0, 0.0)
        weights = np.sqrt([one.weight for one in observations])
        rows = np.array([self._row(one.values) for one in observations])
        costs = np.array([one.log_cost - means[one.seen] for one in observations])
        rows, costs = rows * weights[:, None], costs * weights
        square = rows.T @ rows + RIDGE * np.eye(len(pairs))
        self._effects = apart(np.linalg.solve, square, rows.T @ costs)

    def _row(self, values: Values) -> list[float]:
        row = [0.0] * len(self._columns)
        for pair in values.items():
            if pair in self._columns:
                row[self._columns[pair]] = 1.0
        return row

    def __call__(self, values: Values) -> float:
        """Predict the logarithm of a point's cost."""
        places = [self._columns[pair] for pair in values.items() if pair in self._columns]
        return self._base + float(self._effects[places].sum())
