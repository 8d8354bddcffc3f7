"""The report of a profile: criteria, quality metric, prediction; as a table, JSON or a page."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from clgraph.profile.criteria import WHOLE_RUN
from clgraph.profile.quality import PUBLISHED, Weights, quality

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from clgraph.profile.bounds import Work
    from clgraph.profile.characterise import Ceilings
    from clgraph.profile.criteria import Criterion, Occupancy
    from clgraph.profile.gpm import CardMetrics
    from clgraph.profile.passes.counters import Totals
    from clgraph.profile.prediction import Prediction
    from clgraph.profile.pricing import Prices
    from clgraph.profile.static import StaticFacts

__all__ = ["Change", "KernelReport", "QualityReport", "compared"]

SCHEMA = "clgraph-profile/1"
UNCHANGED = 0.02  # a criterion that moved by less has not changed
HOT_PLACES = 8
Verdict = Literal["improved", "worsened", "unchanged", "appeared", "vanished"]


@dataclass(frozen=True, slots=True)
class Change:
    """How one criterion differs between two reports."""

    name: str
    before: float | None
    after: float | None

    @property
    def verdict(self) -> Verdict:
        """Whether it improved."""
        if self.before is None or self.after is None:
            if self.before is self.after:
                return "unchanged"
            return "appeared" if self.before is None else "vanished"
        moved = self.after - self.before
        return "unchanged" if abs(moved) < UNCHANGED else "improved" if moved > 0 else "worsened"


@dataclass(frozen=True, slots=True)
class KernelReport:
    """What was found about one kernel, over all its launches of a run.

    Attributes
    ----------
    name, label : str
        Of the function, and its file.
    launches : int
        In a run.
    time_s : float
        All launches of a run, median of the plain runs.
    group_size, groups : int
        Work-items of a work-group, and work-groups of the largest launch.
    criteria : dict of str to Criterion
        The nine that are a kernel's own.
    quality : float or None
        QM of these.
    prediction : Prediction
        Time, bounds, and what mending each criterion would gain.
    static : StaticFacts
        Registers, spills, instructions.
    occupancy : Occupancy or None
        Theoretical, with its limiter.
    totals : Totals or None
        Counters of each place.
    work : Work or None
        These in terms of what devices are measured by.
    """

    name: str
    label: str
    launches: int
    time_s: float
    group_size: int
    groups: int
    criteria: Mapping[str, Criterion]
    quality: float | None
    prediction: Prediction
    static: StaticFacts
    occupancy: Occupancy | None = None
    totals: Totals | None = None
    work: Work | None = None

    @property
    def limiter(self) -> str | None:
        """The resource that bounds it."""
        return self.prediction.limiter

    def hot_places(self) -> list[dict[str, Any]]:
        """Give the accesses that move most, with their line of the rendered source."""
        if self.totals is None:
            return []
        places = [
            {
                "line": site.line,
                "kind": site.kind,
                "access": site.text,
                "requests": float(row[0]),
                "bytes": float(row[2]),
                "moved": float(moved),
                "per_request": float(moved / row[0]),
            }
            for site, row in zip(self.totals.sites, self.totals.counts, strict=True)
            if site.kind not in {"block", "barrier"} and row[0] > 0
            for moved in (row[3 if site.kind.startswith("local") else 4],)
        ]
        return sorted(places, key=lambda place: -float(str(place["moved"])))[:HOT_PLACES]

    def record(self) -> dict[str, Any]:
        """Give it for JSON."""
        return {
            "name": self.name,
            "label": self.label,
            "launches": self.launches,
            "time_s": self.time_s,
            "group_size": self.group_size,
            "groups": self.groups,
            "criteria": _criteria_record(self.criteria),
            "quality": self.quality,
            "limiter": self.limiter,
            "prediction": self.prediction.record(),
            "static": self.static.record(),
            "occupancy": None
            if self.occupancy is None
            else {
                "value": self.occupancy.value,
                "unit": self.occupancy.unit,
                "groups_per_unit": self.occupancy.groups_per_unit,
                "limiter": self.occupancy.limiter,
            },
            "hot_places": self.hot_places(),
            "note": "" if self.totals is None else self.totals.note,
        }


@dataclass(frozen=True, slots=True)
class QualityReport:
    """What a profile found.

    Attributes
    ----------
    device, driver : str
        Where it ran.
    kernels : list of KernelReport
        The longest first.
    criteria : dict of str to Criterion
        All eleven for the whole run.
    quality : float or None
        QM of these, from 0 to 1.
    prediction : Prediction
        Of the whole run.
    weights : Weights
        That QM was computed with.
    time_s : float
        Of the kernels of a run.
    ceilings : Ceilings or None
        Measured, of the device.
    card : CardMetrics or None
        What NVML says about the same work.
    overhead : dict of str to float
        Time of each instrumented pass over that of the plain one, less 1.
    reasons : tuple of str
        What is not known, and why.
    prices : Prices or None
        Of the prediction, where `clgraph.profile.corpus.calibrate` kept any for the device.
    """

    device: str
    driver: str
    kernels: Sequence[KernelReport]
    criteria: Mapping[str, Criterion]
    quality: float | None
    prediction: Prediction
    weights: Weights = PUBLISHED
    time_s: float = 0.0
    ceilings: Ceilings | None = None
    card: CardMetrics | None = None
    overhead: Mapping[str, float] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    prices: Prices | None = None

    @property
    def elapsed_s(self) -> float:
        """From the first kernel's start to the last one's end: with what HSync says was lost."""
        hsync = self.criteria["HSync"].value if "HSync" in self.criteria else None
        return self.time_s / hsync if hsync else self.time_s

    @property
    def limiter(self) -> str | None:
        """The resource that bounds most of the run."""
        return self.prediction.limiter

    def rows(self) -> list[dict[str, Any]]:
        """Give a row for each criterion of the run: value, weight, gap, potential and hint."""
        return [
            {
                "name": name,
                "value": criterion.value,
                "weight": self.weights.values.get(name, 0.0),
                "gap": None
                if criterion.value is None
                else self.weights.values.get(name, 0.0) * (1.0 - criterion.value),
                "potential_speedup": criterion.potential_speedup,
                "hint": criterion.hint,
                "reason": criterion.reason,
            }
            for name, criterion in self.criteria.items()
        ]

    def advice(self, *, accepted: Iterable[str] = ()) -> str | None:
        """Name the criterion with the largest weighted gap, those that are `accepted` left out."""
        left = [
            row
            for row in self.rows()
            if row["gap"] is not None and row["name"] not in set(accepted)
        ]
        best = max(left, key=lambda row: float(row["gap"]), default=None)
        return None if best is None or best["gap"] <= 0 else str(best["name"])

    def quality_with(
        self, weights: Weights, *, na_policy: Literal["drop", "one"] = "drop"
    ) -> float | None:
        """Compute QM with other weights, or another policy for what is None."""
        values = {name: criterion.value for name, criterion in self.criteria.items()}
        return quality(values, weights, na_policy=na_policy)

    def diff(self, other: QualityReport) -> list[Change]:
        """Compare with a later report, criterion by criterion.

        Parameters
        ----------
        other : QualityReport
            After a change.

        Returns
        -------
        list of Change
            Improved, worsened or unchanged; changes have side effects, so all are there.
        """
        return [
            Change(name, criterion.value, other.criteria[name].value)
            for name, criterion in self.criteria.items()
            if name in other.criteria
        ]

    def to_json(self, *, indent: int | None = None) -> str:
        """Give everything as JSON."""
        return json.dumps(self.record(), indent=indent, allow_nan=False)

    def record(self) -> dict[str, Any]:
        """Give everything for JSON."""
        return {
            "schema": SCHEMA,
            "device": self.device,
            "driver": self.driver,
            "time_s": self.time_s,
            "quality": self.quality,
            "limiter": self.limiter,
            "weights": {
                "origin": self.weights.origin,
                "values": dict(self.weights.values),
            },
            "criteria": _criteria_record(self.criteria),
            "prediction": self.prediction.record(),
            "ceilings": None if self.ceilings is None else self.ceilings.record(),
            "card": None if self.card is None else self.card.record(),
            "overhead": dict(self.overhead),
            "prices": None if self.prices is None else dict(self.prices.values),
            "kernels": [kernel.record() for kernel in self.kernels],
            "reasons": list(self.reasons),
        }

    def html(self, path: str | Path | None = None) -> str:
        """Draw criteria as bars, and kernels below the ceilings that were measured.

        Parameters
        ----------
        path : str or Path, optional
            File to write to.

        Returns
        -------
        str
            The page.
        """
        from clgraph.profile.page import page  # noqa: PLC0415 - only who asks pays

        text = page(self)
        if path is not None:
            from clgraph.graph.formats.writing import write_whole  # noqa: PLC0415

            write_whole(path, text)
        return text

    def __str__(self) -> str:
        """Show a table."""
        from clgraph.profile.page import table  # noqa: PLC0415

        return table(self)


def _criteria_record(criteria: Mapping[str, Criterion]) -> dict[str, Any]:
    return {
        name: {
            "value": criterion.value,
            "reason": criterion.reason,
            "inputs": dict(criterion.inputs),
            "potential_speedup": criterion.potential_speedup,
            "hint": criterion.hint,
        }
        for name, criterion in criteria.items()
    }


def compared(reports: Mapping[str, QualityReport]) -> list[dict[str, Any]]:
    """Put implementations of one primitive side by side.

    Parameters
    ----------
    reports : mapping of str to QualityReport
        By what the implementation is called.

    Returns
    -------
    list of dict
        Fastest first: ``name``, ``time_s``, ``quality``, ``by_time`` and ``by_quality`` (ranks from
        1), and every criterion's value.
    """
    by_time = sorted(reports, key=lambda name: reports[name].time_s)
    by_quality = sorted(reports, key=lambda name: -(reports[name].quality or 0.0))
    return [
        {
            "name": name,
            "time_s": reports[name].time_s,
            "quality": reports[name].quality,
            "by_time": by_time.index(name) + 1,
            "by_quality": by_quality.index(name) + 1,
            **{key: criterion.value for key, criterion in reports[name].criteria.items()},
        }
        for name in by_time
    ]


def kernel_criteria(criteria: Mapping[str, Criterion]) -> dict[str, float | None]:
    """Give the values of the criteria that are a kernel's own."""
    return {name: criterion.value for name, criterion in criteria.items() if name not in WHOLE_RUN}
