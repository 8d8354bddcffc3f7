"""What tuning aims at, and what it found."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from clgraph.errors import InvalidArgumentError
from clgraph.tune.space import key_of

if TYPE_CHECKING:
    from pathlib import Path

    from clgraph.tune.database import Entry
    from clgraph.tune.trials import Trial

__all__ = ["Objective", "Tuned"]

_POWER = re.compile(r"power:(?P<watts>\d+(?:\.\d+)?)")


@dataclass(frozen=True, slots=True)
class Objective:
    """What is to be small.

    Attributes
    ----------
    name : {"time", "energy", "edp", "power"}
        Time of a run, its joules, their product, or time at no more than `watts`.
    watts : float or None
        Mean power that may be drawn.
    """

    name: str
    watts: float | None = None

    @classmethod
    def of(cls, text: str | Objective) -> Objective:
        """Read ``time``, ``energy``, ``edp`` or ``power:WATTS``.

        Raises
        ------
        InvalidArgumentError
            If it is something else.
        """
        if isinstance(text, Objective):
            return text
        found = _POWER.fullmatch(text) if isinstance(text, str) else None
        if found and float(found["watts"]) > 0:
            return cls("power", float(found["watts"]))
        if text not in {"time", "energy", "edp"}:
            raise InvalidArgumentError(
                f"objective={text!r} is not time, energy, edp or power:WATTS."
            )
        return cls(text)

    def cost(self, trial: Trial) -> float:
        """Give what the search compares: with joules by the model, or time where there is none."""
        return self._cost(trial.time_ms, trial.estimated_j)

    def final(self, trial: Trial) -> tuple[float, float]:
        """Give what decides among metered points: first by how much power is too high."""
        over = 0.0
        if self.watts is not None:
            over = max((trial.watts or math.inf) - self.watts, 0.0)
        return over, self._cost(trial.time_ms, trial.joules)

    def _cost(self, time_ms: float, joules: float | None) -> float:
        if joules is None or self.name in {"time", "power"}:
            return time_ms
        return joules if self.name == "energy" else joules * time_ms


@dataclass(slots=True)
class Tuned:
    """Outcome of tuning.

    Attributes
    ----------
    algorithm : str
        What was tuned.
    objective : Objective
        For what.
    trials : list of Trial
        Everything that was tried, "auto" first.
    best, auto : Trial
        The winner, which is "auto" where nothing is better by more than noise, and "auto" itself.
    config : configuration
        The winner's, to be passed as ``config=``.
    points : int
        Of the space that was searched.
    seconds : float
        That it took.
    meter : str
        Source of the joules; "none" where no meter can be read.
    entry : Entry
        As the database keeps it.
    stored : Path or None
        Its file, if it was kept.
    """

    algorithm: str
    objective: Objective
    trials: list[Trial]
    best: Trial
    auto: Trial
    config: Any
    points: int
    seconds: float
    meter: str
    entry: Entry
    stored: Path | None = None
    finalists: list[Trial] = field(default_factory=list)

    @property
    def tried(self) -> int:
        """Points that were tried beside "auto"."""
        return len(self.trials) - 1

    @property
    def pareto(self) -> list[Trial]:
        """Those that the meter saw and that nothing beats in both time and joules, by time."""
        front: list[Trial] = []
        metered = [one for one in self.trials if one.joules is not None and not one.error]
        for trial in sorted(metered, key=lambda one: (one.time_ms, one.joules)):
            if not front or (trial.joules or 0.0) < (front[-1].joules or 0.0):
                front.append(trial)
        return front

    def as_dict(self) -> dict[str, Any]:
        """Give it for JSON."""
        front = {key_of(one.values) for one in self.pareto}
        return {
            "algorithm": self.algorithm,
            "objective": self.objective.name,
            "watts": self.objective.watts,
            "best": self.best.as_dict(),
            "auto": self.auto.as_dict(),
            "gain": self.auto.time_ms / self.best.time_ms,
            "points": self.points,
            "tried": self.tried,
            "seconds": self.seconds,
            "meter": self.meter,
            "stored": None if self.stored is None else str(self.stored),
            "trials": [
                one.as_dict() | {"pareto": key_of(one.values) in front} for one in self.trials
            ],
        }
