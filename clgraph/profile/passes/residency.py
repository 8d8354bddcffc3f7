"""Where and when SIMD groups ran, as instrumented launches wrote it down."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Residency"]

_TICKS_NS = 10_000  # a SIMD group that ran for as long reports the clock


@dataclass(slots=True)
class Residency:
    """Where and when SIMD groups ran, summed over the launches of a kernel.

    Attributes
    ----------
    active : float
        Cycles of all SIMD groups, each from its begin to its end.
    busy : dict of int to float
        Cycles in which each compute unit had a work-group.
    cycles : float
        From the first begin to the last end, in cycles of a unit.
    waited, barriers : float
        Cycles at barriers, and barriers, of all SIMD groups.
    groups_per_unit : int
        Most work-groups that were seen on a unit together.
    records, missing : int
        SIMD groups that were written down, and those that there was no room for.
    clock_hz : float or None
        Of the units, from SIMD groups that ran long enough; None where nothing reports.
    """

    active: float = 0.0
    busy: dict[int, float] = field(default_factory=dict)
    cycles: float = 0.0
    waited: float = 0.0
    barriers: float = 0.0
    groups_per_unit: int = 0
    records: int = 0
    missing: int = 0
    clock_hz: float | None = None

    def add(self, table: NDArray[np.uint64], per_group: int, missing: int) -> None:
        """Add the records of one launch, one a row; `per_group` of them belong to a work-group."""
        numbers = np.arange(len(table)) // max(per_group, 1)
        ran = (table[:, 2] > 0) & (table[:, 1] >= table[:, 0])
        self.missing += missing
        table, numbers = table[ran], numbers[ran]
        if not len(table):
            return
        # The smallest stamp goes first: cycles counters have more bits than a float.
        begin = table[:, 0].astype(np.int64)
        end = table[:, 1].astype(np.int64)
        units = table[:, 2].astype(np.int64) - 1
        self.records += len(table)
        self.active += float((end - begin).sum())
        self.waited += float(table[:, 3].sum())
        spans = _spans(begin, end, units, numbers)
        for unit, busy in spans.busy.items():
            self.busy[unit] = self.busy.get(unit, 0.0) + busy
        self.groups_per_unit = max(self.groups_per_unit, spans.most_together)
        self.cycles += self._elapsed(table, begin, end)

    def _elapsed(
        self, table: NDArray[np.uint64], begin: NDArray[np.int64], end: NDArray[np.int64]
    ) -> float:
        """Give the cycles of a launch: units agree on nanoseconds, not on their counters."""
        first_ns, last_ns = table[:, 6].astype(np.int64), table[:, 7].astype(np.int64)
        if not (first_ns > 0).any():
            return float(end.max() - begin.min())
        took = last_ns - first_ns
        long = took >= min(_TICKS_NS, int(took.max()))
        spent = float(took[long].sum())
        if spent > 0:
            self.clock_hz = float((end - begin)[long].sum()) / spent * 1e9
        return float(last_ns.max() - first_ns.min()) * 1e-9 * (self.clock_hz or 0.0)


class _Spans(NamedTuple):
    """Cycles in which each unit had a work-group, and most groups that one had together."""

    busy: dict[int, float]
    most_together: int


def _spans(
    begin: NDArray[np.int64],
    end: NDArray[np.int64],
    units: NDArray[np.int64],
    groups: NDArray[np.int64],
) -> _Spans:
    """Bring SIMD groups to work-groups, and these to the units that they ran on.

    Units are laid behind one another on one axis, so that all of them are gone through at once.
    """
    order = np.lexsort((groups, units))
    unit, group = units[order], groups[order]
    changed = np.ones(order.size, bool)
    changed[1:] = (np.diff(unit) != 0) | (np.diff(group) != 0)
    firsts = np.flatnonzero(changed)
    low = np.minimum.reduceat(begin[order], firsts)
    high = np.maximum.reduceat(end[order], firsts)
    where = unit[firsts]
    numbers, starts, which = np.unique(where, return_index=True, return_inverse=True)
    base = np.minimum.reduceat(low, starts)[which]
    low, high = low - base, high - base
    length = int(high.max()) + 1
    low, high = low + which * length, high + which * length
    by_start = np.argsort(low, kind="stable")
    low, high, which = low[by_start], high[by_start], which[by_start]
    reached = np.maximum.accumulate(high)
    before = np.concatenate([[-1], reached[:-1]])
    covered = np.maximum(high - np.maximum(low, before), 0)
    busy = np.bincount(which, covered, minlength=len(numbers))
    # One may begin where another ends.
    edges = np.concatenate([low, high])
    steps = np.concatenate([np.ones(low.size, np.int64), -np.ones(high.size, np.int64)])
    together = np.cumsum(steps[np.lexsort((steps, edges))]).max(initial=0)
    return _Spans(
        {int(number): float(cycles) for number, cycles in zip(numbers, busy, strict=True)},
        int(together),
    )
