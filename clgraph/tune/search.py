"""The search: a model says what to try, and what does well is run more often.

Neither of the libraries that exist for this is used. Kernel Tuner varies a flat dictionary of one
kernel that it compiles itself, while here a configuration is a tree which several kernels and their
driver on the host share; Optuna would take the trees and prunes by successive halving too, but its
samplers ask for some ten to thirty points drawn by chance before they say anything, about as many
as are tried here in all, where the rules of "auto" and entries for similar graphs give a start.
"""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clgraph.progress import report_progress
from clgraph.seeded import seeded
from clgraph.tune.effects import Effects, Observation
from clgraph.tune.space import Space, key_of
from clgraph.tune.trials import Trial

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from clgraph.progress import Progress
    from clgraph.tune.trials import Bench

__all__ = ["Limits", "search"]

RUNGS = (1, 3, 9)  # runs of each source
SURVIVORS = 3  # one of so many comes through to the next rung
CLOSE = 1.15  # and who is as close to the best
LEADERS = 3  # whose neighbours are candidates
EXPLORE = 4  # every so manieth point is the best of some that are drawn from the whole space
DRAWN = 256
MOST_LISTED = 10_000  # points that are gone through where chance finds no new one


@dataclass(frozen=True, slots=True)
class Limits:
    """When to stop.

    Attributes
    ----------
    until : float
        Moment of `time.monotonic` after which no point is begun.
    points : int or None
        How many may be tried, "auto" not counted.
    """

    until: float
    points: int | None = None

    def reached(self, tried: int) -> bool:
        """Whether nothing more may be begun."""
        return time.monotonic() > self.until or (self.points is not None and tried >= self.points)


def search(
    bench: Bench,
    space: Space,
    *,
    start: Sequence[dict[str, Any]],
    known: Iterable[Observation],
    limits: Limits,
    cost: Callable[[Trial], float],
    seed: int = 0,
    progress: Progress | None = None,
) -> list[Trial]:
    """Try points of a space.

    Parameters
    ----------
    bench : Bench
        Where they are run.
    space : Space
        What may be tried.
    start : sequence of dict
        Points to begin with, in this order after "auto"; they need not be in the space.
    known : iterable of Observation
        What was seen elsewhere, for the model.
    limits : Limits
        When to stop.
    cost : callable
        What of a trial is to be small.
    seed : int
        Of what is drawn.
    progress : callable or True, optional
        As everywhere; counts points.

    Returns
    -------
    list of Trial
        "auto" first, then in the order they were tried.
    """
    return _Search(bench, space, tuple(known), cost, seed).run(list(start), limits, progress)


class _Search:
    def __init__(
        self,
        bench: Bench,
        space: Space,
        known: tuple[Observation, ...],
        cost: Callable[[Trial], float],
        seed: int,
    ) -> None:
        self.bench, self.space, self.known, self.cost = bench, space, known, cost
        self.rng = seeded(seed)
        self.trials: list[Trial] = []
        self.tried: set[Any] = set()
        self.configs: set[str] = set()

    def run(
        self, start: list[dict[str, Any]], limits: Limits, progress: Progress | None
    ) -> list[Trial]:
        began = time.monotonic()
        self._try({})
        first = len(self.trials)
        queue = self._ordered([*start, *self.space.heads()])
        while not limits.reached(len(self.trials) - first):
            values = queue.pop(0) if queue else self._proposed()
            if values is None:
                break
            if key_of(values) not in self.tried:
                self._try(values)
            self._report_progress(progress, began, limits, len(self.trials) - first)
        return self.trials

    def _ordered(self, points: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Put the model first: where something is known, what it predicts to be best begins."""
        if not self.known:
            return points
        predicted = Effects(self.known)
        return sorted(points, key=predicted)

    def _report_progress(
        self, progress: Progress | None, began: float, limits: Limits, tried: int
    ) -> None:
        if limits.points is not None:
            report_progress(progress, min(tried, limits.points), limits.points, "configurations")
        else:
            total = max(limits.until - began, 1e-3)
            done = min((time.monotonic() - began) / total, 1.0)
            report_progress(progress, int(1000 * done), 1000, "configurations")

    def _try(self, values: dict[str, Any]) -> None:
        trial = Trial(dict(values))
        self.tried.add(key_of(values))
        self.trials.append(trial)
        for rung, times in enumerate(RUNGS):
            if not self.bench.run(trial, times - (RUNGS[rung - 1] if rung else 0)):
                return
            trial.rung = rung
            if not self._comes_through(trial, rung):
                return

    def _comes_through(self, trial: Trial, rung: int) -> bool:
        """Successive halving without waiting for others: against who has come this far."""
        others = sorted(self.cost(one) for one in self.trials if one.rung >= rung)
        mine = self.cost(trial)
        place = max(len(others) // SURVIVORS - 1, 0)
        return mine <= others[place] or mine <= CLOSE * others[0]

    def _usable(self) -> list[Trial]:
        found = [one for one in self.trials if not one.error and math.isfinite(self.cost(one))]
        return sorted(found, key=self.cost)

    def _proposed(self) -> dict[str, Any] | None:
        """Give the untried point that is predicted to be best, of neighbours or of some drawn."""
        usable = self._usable()
        model = Effects(
            [Observation(one.values, math.log(self.cost(one)), 1.0 + one.rung) for one in usable]
            + [Observation(one.values, one.log_cost, 0.3, 1 + one.seen) for one in self.known]
        )
        candidates: list[dict[str, Any]] = []
        if len(self.trials) % EXPLORE:
            for leader in usable[:LEADERS]:
                candidates = self._untried(self.space.neighbours(leader.values))
                if candidates:
                    break
        candidates = candidates or self._untried(self.space.drawn(self.rng, DRAWN))
        candidates = candidates or self._untried(itertools.islice(self.space.points(), MOST_LISTED))
        if not candidates:
            return None
        self.rng.shuffle(candidates)  # ties by chance
        return min(candidates, key=model)

    def _untried(self, points: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        return [values for values in points if key_of(values) not in self.tried]
