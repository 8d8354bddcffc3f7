"""Which k is asked for and what a run found, and the greatest k, by raising it or by bisection."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clgraph.algorithms.truss.peeling import NO_LEVEL, Following, copy
from clgraph.engine.sweeps import SweepLog
from clgraph.errors import InvalidArgumentError
from clgraph.graph.arguments import whole
from clgraph.progress import report_progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from clgraph.algorithms.truss.peeling import Peeled, Peeling
    from clgraph.device import Allocation, Memory
    from clgraph.device.memory.allocation import Progress

__all__ = ["ABOVE", "LEAST_K", "Asked", "Found", "bisected", "raised", "truss_order"]

LEAST_K = 2  # of a truss: every edge is in the 2-truss
# Items with at most k - 3 triangles are not in the k-truss: level 0 is k = 3.
ABOVE = 3
LOWERED = 3 / 4  # a guess after one that has no truss, which few rounds tell


@dataclass(frozen=True)
class Asked:
    """What a run is to find, and where it notes what it launches.

    Attributes
    ----------
    k : int, optional
        Which truss.
    greatest : bool
        Whether the one of the greatest k; default without `k` are the numbers of all edges.
    progress : callable or True, optional
        Called with how many edges have gone.
    log : SweepLog
        All launches.
    parts : dict of SweepLog
        Those of each part of what is prepared.
    """

    k: int | None = None
    greatest: bool = False
    progress: Progress | None = None
    log: SweepLog = field(default_factory=SweepLog)
    parts: dict[str, SweepLog] = field(default_factory=dict)

    @property
    def numbers(self) -> bool:
        """Whether the numbers of all edges are wanted."""
        return self.k is None and not self.greatest

    @contextmanager
    def part(self, name: str) -> Iterator[SweepLog]:
        """Give what notes the launches of a part, last of those of its name."""
        part = self.parts[name] = SweepLog()
        yield part
        self.log.add_all(part)


class Found(NamedTuple):
    """What a run found.

    Attributes
    ----------
    max_k : int or None
        The greatest k, where that was asked for.
    left : int
        Edges of the truss, or all.
    read : callable
        Gives the numbers or the mask.
    peeled, probes
        What peeled, and each k that a search tried, with whether there is such a truss.
    method : str
        How triangles were known.
    """

    max_k: int | None
    left: int
    read: Callable[[], NDArray[Any]]
    peeled: Sequence[Peeled] = ()
    probes: Sequence[tuple[int, bool]] = ()
    method: str = ""


def truss_order(k: Any) -> int:
    """Check which truss is asked for.

    Raises
    ------
    InvalidArgumentError
        If it is not an integer of at least 2.
    """
    order = whole("k", k, -(2**62), None)
    if order < LEAST_K:
        raise InvalidArgumentError(
            f"k={k} is less than 2, and all edges are in the 2-truss already; use k=2 or more."
        )
    return order


def most_k(edges: int | NDArray[np.int64]) -> Any:
    """Bound k by the edges that are left: a k-truss has k (k - 1) / 2 at least."""
    return (1 + np.sqrt(1 + 8 * edges)).astype(np.int64) // 2


def raised(
    log: SweepLog,
    peeling: Peeling,
    supports: Allocation,
    *,
    bounds: tuple[int, int] | None = None,
    then: Callable[[SweepLog], object] | None = None,
    progress: Progress | None = None,
) -> tuple[int, int, list[tuple[int, Peeled]]]:
    """Find the greatest k by raising k, from 3 or from a guess, until nothing is left.

    Parameters
    ----------
    log : SweepLog
        Notes the launches.
    peeling : Peeling
        Of the edges.
    supports : Allocation
        Their triangles to begin with.
    bounds : (int, int), optional
        The first guess, and what no k is greater than; three quarters of each guess that has no
        truss are the next. Default is to begin with 3, which gives all numbers.
    then : callable, optional
        Enqueues what follows, in a log.
    progress : callable or True, optional
        Called with how many edges have gone.

    Returns
    -------
    k, edges, guesses
        How many edges have got no number because they are in the truss of the greatest k; with
        none those of number k are. Which k were guessed, and what came of it.
    """
    lowest = LEAST_K + 1
    guess, most = bounds or (lowest, lowest)
    last = most - ABOVE
    if guess <= lowest + 1:
        # A failed guess of 4 would leave 3 to be found anew, which all numbers know by then.
        guess, last = lowest, NO_LEVEL
    guesses: list[tuple[int, Peeled]] = []
    while True:
        found = peeling.run(
            log,
            supports,
            left=peeling.items,
            levels=(guess - ABOVE, last),
            progress=progress,
            then=Following(then, partial(_ends, guess, last)) if then else None,
        )
        guesses.append((guess, found))
        k = _reached(last, found.left, found.level)
        if k >= guess or guess == lowest:
            return k, found.left, guesses
        last, guess = guess - 1 - ABOVE, max(int(guess * LOWERED), lowest)


def _reached(last: int, left: int, level: int) -> int:
    """Give the greatest k of a truss that was found, or less than was guessed."""
    return last + ABOVE if left else level + ABOVE - 1


def _ends(guess: int, last: int, left: int, level: int) -> bool:
    """Whether no lower guess is to follow."""
    return guess == LEAST_K + 1 or _reached(last, left, level) >= guess


def bisected(
    log: SweepLog,
    peeling: Peeling,
    supports: Allocation,
    memory: Memory,
    bounds: tuple[int, int],
    progress: Progress | None,
) -> tuple[int, int, list[tuple[int, Peeled]]]:
    """Find the greatest k, and leave its truss in what peels.

    Parameters
    ----------
    log : SweepLog
        Notes the launches.
    peeling : Peeling
        Of the edges.
    supports : Allocation
        Their triangles to begin with.
    memory : Memory
        For what a failed probe goes back to.
    bounds : (int, int)
        The greatest k is not less than the first, unless all are less; there is none above the
        second, which is tried first where it is not all that edges allow.
    progress : callable or True, optional
        Called with how many edges have gone.

    Returns
    -------
    k, edges, probes
        How many edges its truss has; which k were tried, and what came of it. Where none of those
        tried has a truss, k is the first bound.
    """
    held = (peeling.counts, peeling.status, peeling.numbers)
    saved = [memory.allocate(f"saved_{one.name}", one.count, one.dtype) for one in held]

    def restore() -> None:
        for array, kept in zip(held, saved, strict=True):
            copy(log, peeling.device, kept, array)

    def save() -> None:
        for array, kept in zip(held, saved, strict=True):
            copy(log, peeling.device, array, kept)

    peeling.begin(log, supports)
    save()
    probes: list[tuple[int, Peeled]] = []
    (low, most), left = bounds, peeling.items
    high = min(int(most_k(left)), most) + 1
    while high - low > 1:
        k = most if high > most and not probes else (low + high) // 2
        found = peeling.run(
            log,
            restore,
            left=left,
            levels=(k - ABOVE, k - ABOVE),
            quorum=k * (k - 1) // 2,
            resumed=True,
        )
        probes.append((k, found))
        if found.left:
            low, left = k, found.left
            high = min(high, int(most_k(left)) + 1)
            save()
        else:
            high = k
        report_progress(progress, peeling.items - left, peeling.items, "peeling")
    restore()
    log.wait()  # before what was saved is given back
    return low, left, probes
