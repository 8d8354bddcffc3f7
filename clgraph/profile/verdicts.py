"""Whether an optimisation is worth making, judged from a device's curves before it is made.

An optimisation moves a kernel along the curve of one component: from how well it coalesces now to
how well it could, from so many bank conflicts to none, from one instruction to a cheaper one. What
the curve of the device says at both places, weighted by how much of the time that component takes,
gives the ratio of time, of mean and peak power and of energy, and so a verdict for each target.

References
----------
N. Bombieri, F. Busato, F. Fummi, "Power-aware performance tuning of GPU applications through
microbenchmarking", DAC 2017.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from clgraph.errors import InvalidArgumentError
from clgraph.profile.microbenchmarks.suite import results_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "TARGETS",
    "Candidate",
    "Curve",
    "Judgement",
    "Verdict",
    "candidates",
    "curves_of",
    "expensive_instructions",
    "judge",
    "substitution",
]

Judgement: TypeAlias = Literal["useful", "useless", "harmful"]

TARGETS = ("time", "mean_power", "peak_power", "energy")
TOLERANCE = 0.05  # how far a ratio must be from 1 to count
LANES = 32
# Operations of integers that no device has as one instruction, by how assemblers spell them.
_EXPENSIVE = re.compile(
    r"^\s*(?:@!?%\w+\s+)?(?P<opcode>(?:rem|div)\.(?:[us](?:16|32|64)|rn(?:\.ftz)?\.f(?:32|64)))\b",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Curve:
    """How a component's cost for the same work varies with the intensity of its use.

    Attributes
    ----------
    places : tuple of float
        Where it is known, ascending.
    time : tuple of float
        Of the same work, in any unit.
    mean_power, peak_power : tuple of float or None
        Watts; None without a meter.
    """

    places: tuple[float, ...]
    time: tuple[float, ...]
    mean_power: tuple[float, ...] | None = None
    peak_power: tuple[float, ...] | None = None

    def ratio(self, quantity: str, before: float, after: float) -> float | None:
        """Give the value at one place over that at another, on straight lines between points."""
        values: tuple[float, ...] | None = getattr(self, quantity)
        if values is None:
            return None
        at = np.interp([before, after], self.places, values)
        return float(at[1] / at[0])


@dataclass(frozen=True, slots=True)
class Candidate:
    """An optimisation that could be made.

    Attributes
    ----------
    name : str
        What to do.
    curve : str
        Which component it moves along.
    before, after : float
        Where the kernel is on the curve, and where it would come to.
    share : float
        Of the time that this component takes, from 0 to 1.
    """

    name: str
    curve: str
    before: float
    after: float
    share: float = 1.0

    def __post_init__(self) -> None:
        """Refuse a share that is none."""
        if not 0.0 <= self.share <= 1.0:
            raise InvalidArgumentError(f"{self.name}: share is {self.share}; it is from 0 to 1.")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a candidate would change.

    Attributes
    ----------
    candidate : Candidate
        Which.
    ratios : dict of str to float or None
        After over before, by target; None where the device has no meter.
    judgements : dict of str to {"useful", "useless", "harmful"} or None
        By target; None where there is no ratio.
    """

    candidate: Candidate
    ratios: dict[str, float | None]
    judgements: dict[str, Judgement | None]


def judge(
    candidate: Candidate,
    curves: Mapping[str, Curve],
    *,
    limits: Mapping[str, float] | None = None,
) -> Verdict:
    """Report what a candidate would change on a device.

    Parameters
    ----------
    candidate : Candidate
        What could be done.
    curves : mapping of str to Curve
        Of the device.
    limits : mapping of str to float, optional
        Largest ratios that other targets may come to, for example ``{"peak_power": 1.0}``; beyond
        them nothing is useful.

    Returns
    -------
    Verdict
        For every target.

    Raises
    ------
    InvalidArgumentError
        If the device has no such curve, or a limit names no target.
    """
    curve = curves.get(candidate.curve)
    if curve is None:
        raise InvalidArgumentError(
            f"{candidate.name}: this device has no curve {candidate.curve!r}; run 'clgraph "
            "microbench dynamic --store'."
        )
    limits = {} if limits is None else limits
    if unknown := set(limits) - set(TARGETS):
        raise InvalidArgumentError(
            f"limits name {', '.join(sorted(unknown))}; use {', '.join(TARGETS)}."
        )

    def whole(quantity: str) -> float | None:
        part = curve.ratio(quantity, candidate.before, candidate.after)
        return None if part is None else 1.0 - candidate.share + candidate.share * part

    time, mean = whole("time"), whole("mean_power")
    ratios: dict[str, float | None] = {
        "time": time,
        "mean_power": mean,
        "peak_power": whole("peak_power"),
        "energy": None if mean is None or time is None else time * mean,
    }
    exceeded = any(
        ratio is not None and ratio > limits.get(target, np.inf) for target, ratio in ratios.items()
    )

    def judged(ratio: float | None) -> Judgement | None:
        if ratio is None:
            return None
        if ratio >= 1.0 + TOLERANCE:
            return "harmful"
        return "useful" if ratio <= 1.0 - TOLERANCE and not exceeded else "useless"

    return Verdict(candidate, ratios, {name: judged(ratio) for name, ratio in ratios.items()})


def curves_of(record: Mapping[str, Any]) -> dict[str, Curve]:
    """Read a device's curves from its record of microbenchmarks.

    Parameters
    ----------
    record : mapping
        As `clgraph.profile.microbenchmarks.run` gives it.

    Returns
    -------
    dict of str to Curve
        One for each sweep with two points or more. All points of a sweep count the same work as
        one operation, so a point's time is that of an operation. For instructions see
        `substitution`.
    """
    points: dict[str, dict[float, Any]] = {}
    for result in results_of(dict(record)):
        family = result.name.partition("=")[0]
        if result.value is not None:
            points.setdefault(family, {})[result.value] = result
    found = {}
    for family, seen in points.items():
        if len(seen) < 2:
            continue
        places = sorted(seen)
        mean = [seen[x].mean_watts for x in places]
        peak = [seen[x].peak_watts for x in places]
        found[family] = Curve(
            tuple(places),
            tuple(seen[x].time_s / seen[x].operations for x in places),
            None if None in mean else tuple(mean),
            None if None in peak else tuple(peak),
        )
    return found


def candidates(
    criteria: Mapping[str, float],
    *,
    element_bytes: int = 4,
    bank_bytes: int = 4,
    shares: Mapping[str, float] | None = None,
) -> list[Candidate]:
    """Propose optimisations for what a profile says is used badly.

    Parameters
    ----------
    criteria : mapping of str to float
        From 0 to 1: ``global_mem_eff`` (useful over moved bytes), ``shared_mem_eff``,
        ``divergence`` (share of lanes that are active). Those that are 1 or absent propose nothing.
    element_bytes : int
        What a work-item moves at a time.
    bank_bytes : int
        Width of a bank of local memory: 8 on Kepler cards, 4 on later ones.
    shares : mapping of str to float, optional
        Of the time, by curve; default 1.

    Returns
    -------
    list of Candidate
        In the order of what they are called.
    """
    shares = {} if shares is None else shares
    found = []

    def propose(name: str, curve: str, before: float, after: float) -> None:
        if before != after:
            found.append(Candidate(name, curve, before, after, shares.get(curve, 1.0)))

    for name, value in criteria.items():
        if not 0.0 < value <= 1.0:
            raise InvalidArgumentError(f"{name} is {value}; it is above 0 and at most 1.")
    if (value := criteria.get("global_mem_eff", 1.0)) < 1.0:
        propose("coalesce accesses", "coalescence", LANES * value, LANES)
    if element_bytes < 16:
        propose("access more bytes at a time", "access_size", element_bytes, 16)
    if (value := criteria.get("shared_mem_eff", 1.0)) < 1.0:
        propose("avoid bank conflicts", "bank_conflict", min(bank_bytes / 4 / value, LANES), 1)
    if (value := criteria.get("divergence", 1.0)) < 1.0:
        propose("keep lanes together", "divergence", max(LANES * value, 1.0), LANES)
    return found


def expensive_instructions(text: str) -> dict[str, int]:
    """Count remainders and divisions in an assembler's text, each of which is many instructions.

    Parameters
    ----------
    text : str
        As ``clgraph.profile.microbenchmarks.purity.assembler_text`` gives it.

    Returns
    -------
    dict of str to int
        How often each stands there; a hint to take additions, multiplications or shifts instead.
    """
    counts: dict[str, int] = {}
    for found in _EXPENSIVE.finditer(text):
        counts[found["opcode"]] = counts.get(found["opcode"], 0) + 1
    return counts


def substitution(record: Mapping[str, Any], old: str, new: str, times: float = 1.0) -> Curve:
    """Give the curve from one instruction to others that do its work, by the static results.

    Parameters
    ----------
    record : mapping
        Of the device.
    old, new : str
        Full names of static entries, for example ``"int32_rem.rem_int"``.
    times : float
        How many of the new one do the work of the old.

    Returns
    -------
    Curve
        From place 0, the old one, to place 1.
    """
    known = {result.name: result for result in results_of(dict(record))}
    missing = [name for name in (old, new) if name not in known]
    if missing:
        raise InvalidArgumentError(f"the record has no valid result of {', '.join(missing)}.")
    before, after = known[old], known[new]

    def both(name: str) -> tuple[float, ...] | None:
        pair: Sequence[float | None] = (getattr(before, name), getattr(after, name))
        return None if None in pair else tuple(float(x) for x in pair if x is not None)

    times_s = (before.time_s / before.operations, times * after.time_s / after.operations)
    return Curve((0.0, 1.0), times_s, both("mean_watts"), both("peak_watts"))
