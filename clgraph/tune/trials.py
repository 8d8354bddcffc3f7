"""Running points: times of each, whether the answer is right, and joules where a meter reports."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.apart import apart
from clgraph.energy import per_run
from clgraph.errors import ClgraphError
from clgraph.seeded import seeded
from clgraph.tune.space import key_of

if TYPE_CHECKING:
    from clgraph.device import Device
    from clgraph.graph import Graph
    from clgraph.tune.problems import Problem

__all__ = ["Bench", "Trial"]

KEPT_PLANS = 12
RUNS_IN_TURN = 2
REAL_TOLERANCE = 1e-5


@dataclass(slots=True)
class Trial:
    """A point and what is known of it.

    Attributes
    ----------
    values : dict
        The point.
    config : str
        The call that makes its configuration.
    rung : int
        How often it came through to more runs.
    runs : list of list of float
        Milliseconds on the device, of each source.
    in_turn_ms : list of list of float
        The same of the last comparison, in which all were run in turn.
    estimated_j : float or None
        Joules of a run by the energy model; None where the device has none.
    joules, watts, peak_watts, joules_spread : float or None
        Of a run, by the meter; None where there is none, or it was not asked about this point.
    error : str or None
        Why it cannot be used.
    """

    values: dict[str, Any]
    config: str = ""
    rung: int = -1
    runs: list[list[float]] = field(default_factory=list)
    in_turn_ms: list[list[float]] = field(default_factory=list)
    estimated_j: float | None = None
    joules: float | None = None
    joules_spread: float | None = None
    watts: float | None = None
    peak_watts: float | None = None
    error: str | None = None

    @property
    def time_ms(self) -> float:
        """Median of each source, and the geometric mean of those; of the last comparison if any."""
        return _middle(self.in_turn_ms or self.runs)

    @property
    def spread(self) -> float:
        """Distance of the quartiles of the last comparison, over the median, mean of sources."""
        spreads = []
        for times in self.in_turn_ms or self.runs:
            if len(times) > 1:
                low, _, high = statistics.quantiles(times, n=4, method="inclusive")
                spreads.append((high - low) / statistics.median(times))
        return statistics.mean(spreads) if spreads else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Give it for JSON."""
        known = not self.error and bool(self.runs)
        return {
            "values": self.values,
            "config": self.config,
            "rung": self.rung,
            "runs": sum(map(len, self.runs)) + sum(map(len, self.in_turn_ms)),
            "time_ms": self.time_ms if known else None,
            "spread": self.spread if known else None,
            "compared": bool(self.in_turn_ms),
            "estimated_j": self.estimated_j,
            "joules": self.joules,
            "joules_spread": self.joules_spread,
            "watts": self.watts,
            "peak_watts": self.peak_watts,
            "error": self.error,
        }


def _middle(times: list[list[float]]) -> float:
    if not times or not all(times):
        return math.inf
    return math.exp(
        statistics.mean(math.log(max(statistics.median(of_source), 1e-9)) for of_source in times)
    )


class Bench:
    """Where points are run: one algorithm on one graph and device.

    Parameters
    ----------
    problem, graph, device
        What is run, on what, and where.
    sources : list of int
        From where, for searches.
    """

    def __init__(self, problem: Problem, graph: Graph, device: Device, sources: list[int]) -> None:
        self.problem, self.graph, self.device, self.sources = problem, graph, device, sources
        self._plans: dict[Any, Any] = {}
        self._answers: dict[int, Any] = {}

    def run(self, trial: Trial, times: int) -> bool:
        """Run a point so often from every source; the first time also once before.

        Returns
        -------
        bool
            Whether it can be used: builds, runs, and finds what "auto" found, which is run first.
        """
        try:
            trial.config = repr(self.problem.config(trial.values, self.graph))
            plan = self.plan(trial)
            if not trial.runs:
                trial.runs = [[] for _ in self.sources]
                for source in self.sources:
                    self._compare(source, self.problem.run(plan, source))
            for _ in range(times):
                for place, source in enumerate(self.sources):
                    stats = self.problem.run(plan, source).stats
                    trial.runs[place].append(stats.kernel_ms)
            trial.estimated_j = stats.energy_estimate
        except ClgraphError as error:
            trial.error = str(error)[:500]
            self._plans.pop(key_of(trial.values), None)
            return False
        return True

    def plan(self, trial: Trial) -> Any:
        """Give the plan of a point; a few are kept."""
        key = key_of(trial.values)
        if key in self._plans:
            self._plans[key] = self._plans.pop(key)  # the last that was used
            return self._plans[key]
        config = self.problem.config(trial.values, self.graph)
        plan = self.problem.plan(self.graph, config, self.device)
        while len(self._plans) >= KEPT_PLANS:
            del self._plans[next(iter(self._plans))]
        self._plans[key] = plan
        return plan

    def _compare(self, source: int, result: Any) -> None:
        """Refuse another answer than the first: a configuration may change speed alone."""
        answer = self.problem.answer(result)
        known = self._answers.setdefault(source, answer)
        real = answer.dtype.kind == "f"
        same = (
            apart(np.allclose, answer, known, rtol=REAL_TOLERANCE)
            if real
            else np.array_equal(answer, known)
        )
        if not same:
            raise ClgraphError(f"it finds something else than auto from source {source}.")

    def in_turn(self, trials: list[Trial], seed: int) -> None:
        """Run every source of every point, in an order of chance.

        The first run after another plan's finds the caches and clocks that one left, so it is not
        counted: with it 60 turns could not tell points apart of which one takes 8 % longer.
        """
        order = seeded(seed).permutation(len(trials))
        for trial in (trials[int(place)] for place in order):
            if not trial.in_turn_ms:
                trial.in_turn_ms = [[] for _ in self.sources]
            plan = self.plan(trial)
            for place, source in enumerate(self.sources):
                self.problem.run(plan, source)
                for _ in range(RUNS_IN_TURN):
                    stats = self.problem.run(plan, source).stats
                    trial.in_turn_ms[place].append(stats.kernel_ms)

    def meter(self, trial: Trial, seconds: float) -> None:
        """Measure joules of a run, the sources in turn."""
        plan, place = self.plan(trial), 0

        def once() -> None:
            nonlocal place
            self.problem.run(plan, self.sources[place % len(self.sources)])
            place += 1

        energy = per_run(once, min_seconds=seconds, device=self.device, idle_seconds=0.0)
        trial.joules, trial.joules_spread = energy.joules_per_run, energy.spread
        trial.watts, trial.peak_watts = energy.mean_watts, energy.peak_watts
