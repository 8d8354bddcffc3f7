"""Whether a processor's cores share the runs of a plan, or one does them alone: by what runs took.

What sharing costs depends on how far cores are from each other and on what else they do, which
nothing says but time; and kernels have no clock there. So a plan's runs are timed whole.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clgraph.engine.outcome import Outcome

__all__ = ["Cores"]

TURNS = 3  # runs of either way, in turn, of which the fastest counts: others only ever disturb
CLEAR = 3.0  # times as slow as the other way, one run of each is enough
GAIN = 1.05  # going alone has to save so much
FEWEST_EDGES = 1 << 15  # runs of fewer say nothing: most of what these do one core does anyway
LONGEST_MS = 1000.0  # no run is tried alone that may take longer
SELDOM, MOST_SELDOM = 128, 2048  # runs until both ways are tried again, each time twice as many


class Cores:
    """The groups that a plan's next run is launched with: all of them, or one.

    Parameters
    ----------
    groups : int
        All, one to a core.

    Attributes
    ----------
    groups : int
        Of the next run.
    """

    def __init__(self, groups: int) -> None:
        self.groups = self._all = self._chosen = groups
        self._seldom = SELDOM
        self._left = 0  # runs until both ways are tried again
        self._is_first = True
        self._try()

    def _try(self) -> None:
        self._best = {self._all: inf, 1: inf}  # milliseconds an edge
        self._turns = dict.fromkeys(self._best, 0)

    def saw(self, outcome: Outcome) -> None:
        """Take note of a run in so many groups, of which most are only counted."""
        if self._left:
            self._left -= 1
            return
        edges = outcome.explored
        if edges < FEWEST_EDGES or outcome.mode != "persistent":
            return
        if self._is_first:  # memory is touched for the first time
            self._is_first = False
            return
        took = outcome.kernel_ms
        self._best[self.groups] = min(self._best[self.groups], took / edges)
        self._turns[self.groups] += 1
        if self.groups == self._all and took * self._all > LONGEST_MS:
            self._choose(self._all)
            return
        shared, alone = self._best[self._all], self._best[1]
        is_clear = max(shared, alone) > CLEAR * min(shared, alone)
        if min(self._turns.values()) == (1 if is_clear else TURNS):
            self._choose(1 if GAIN * alone < shared else self._all)
        else:
            self.groups = self._all + 1 - self.groups

    def _choose(self, groups: int) -> None:
        if groups == self._chosen:
            self._seldom = min(2 * self._seldom, MOST_SELDOM)
        else:
            self._seldom = SELDOM
        self.groups = self._chosen = groups
        self._left = self._seldom
        self._try()
