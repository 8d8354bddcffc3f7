"""Columns of numbers whose rows come part by part."""

import numpy as np

from clgraph.graph.csr import Array
from clgraph.graph.formats.seam import Columns

__all__ = ["GrowingColumns"]

_SLACK = 1.05  # of the rows that are expected: some lines are shorter than those before
_GROWTH = 1.5


class GrowingColumns:
    """Two columns of ids and perhaps one of weights, put together while other parts are read.

    To join all parts in the end would be a pass over every number with nothing going on beside it.
    Memory is asked for by the rows that are expected, and taken as they come.

    Attributes
    ----------
    rows : int
        How many there are.
    """

    def __init__(self) -> None:
        self.rows = 0
        self._room = 0
        self._columns: list[Array] = []

    def append(self, part: Columns, share: float) -> None:
        """Copy rows behind those there are.

        Parameters
        ----------
        part : tuple
            As many columns as in every other part that has rows.
        share : float
            How much of all there is has been read with these, as far as anybody knows.
        """
        arrays = [column for column in part if column is not None]
        end = self.rows + len(arrays[0])
        if end == self.rows:
            return
        if end > self._room:
            self._room = max(end, int(_SLACK * end / min(share, 1.0)), int(_GROWTH * self._room))
        held = self._columns or [np.empty(0, column.dtype) for column in arrays]
        self._columns = [
            self._with(before, more, end) for before, more in zip(held, arrays, strict=True)
        ]
        self.rows = end

    def _with(self, held: Array, more: Array, end: int) -> Array:
        kind = np.result_type(held, more)
        if len(held) < end or held.dtype != kind:  # decimals may come behind integers
            before, held = held, np.empty(self._room, kind)
            held[: self.rows] = before[: self.rows]
        held[self.rows : end] = more
        return held

    def columns(self) -> Columns:
        """Give all rows."""
        if not self._columns:
            return np.empty(0, np.int32), np.empty(0, np.int32), None
        src, dst, *weights = (column[: self.rows] for column in self._columns)
        return src, dst, weights[0] if weights else None
