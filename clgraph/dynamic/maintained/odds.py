"""Whether following a batch is going to look at less than what finding anew does."""

from __future__ import annotations

__all__ = ["REACH", "Odds"]

# Elements of rows that following a batch looks at, for each of its own edges' shorter rows.
REACH = 400
LEAST_WORK = 1 << 16  # of a graph, as its share is counted
WAVER = 1.125  # how much more is tried after each batch that was not


class Odds:
    """What a batch may be expected to look at, before anything is looked at for it.

    An edge with long rows has many triangles and a great number, and what it sets in motion is
    again among such edges: what is looked at grows faster than the rows of the batch's own edges.
    Those are summed before the batch is followed. Where they are too many nothing is tried, nor
    where a batch of half as many has turned out to be too much; every batch that is not tried lets
    the next one be an eighth larger, so that one misfortune is not remembered for ever.

    Parameters
    ----------
    share : float
        Of the shorter rows of all edges: how many elements may be looked at.
    """

    def __init__(self, share: float) -> None:
        self.share = share
        # Rows of a batch, as a share of those of all edges, from which on none is tried, by
        # whether edges join; none to begin with.
        self._most: dict[bool, float] = {}

    def allowed(self, work: int) -> int:
        """Report how many elements may be looked at, where all shorter rows have so many."""
        return int(min(self.share * (work + LEAST_WORK), 2.0**63))

    def hopeless(self, rows: int, work: int, *, joins: bool) -> bool:
        """Report whether a batch whose shorter rows have so many elements is not to be tried."""
        if min(REACH * rows, work) > self.allowed(work):
            return True
        most = self._most.get(joins)
        if most is None or rows < most * work:
            return False
        self._most[joins] = most * WAVER
        return True

    def note(self, rows: int, work: int, *, joins: bool, complete: bool) -> None:
        """Take note of what has come of a batch that was tried."""
        mine = rows / max(work, 1)
        if not complete:
            self._most[joins] = mine / 2
        elif mine >= self._most.get(joins, mine):
            self._most.pop(joins, None)
