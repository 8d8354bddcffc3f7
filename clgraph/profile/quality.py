"""The overall quality metric, its weights, and the program that fits them to a device."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from clgraph.errors import InvalidArgumentError
from clgraph.graph.modules import module
from clgraph.profile.kept import device_file, load_kept, save_kept

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from clgraph.device import Device
    from clgraph.profile.pricing import Prices

__all__ = [
    "PUBLISHED",
    "Calibration",
    "Specimen",
    "Weights",
    "aggregated",
    "calibrated",
    "device_weights",
    "quality",
    "weights_file",
]

NAPolicy = Literal["drop", "one"]
_PUBLISHED = {
    "OCC": 30.0,
    "HSync": 40.0,
    "DSync": 15.0,
    "TDiv": 40.0,
    "Gran_L1": 100.0,
    "Gran_L2": 100.0,
    "LB_W": 50.0,
    "LB_SM": 30.0,
    "SMem_eff": 30.0,
    "CI": 100.0,
    "DT": 50.0,
}
WHOLE = sum(_PUBLISHED.values())
RIDGE = 1e-3
SCHEMA = "clgraph-quality-weights/1"


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each criterion counts.

    Attributes
    ----------
    values : dict of str to float
        By criterion, none negative.
    origin : {"published", "calibrated", "user"}
        Where they come from.
    device : str
        What they were fitted on.
    """

    values: Mapping[str, float]
    origin: Literal["published", "calibrated", "user"] = "user"
    device: str = ""

    def __post_init__(self) -> None:
        """Refuse names that are no criteria, and weights that are none."""
        if unknown := set(self.values) - set(_PUBLISHED):
            raise InvalidArgumentError(
                f"there is no criterion {', '.join(sorted(unknown))}; use {', '.join(_PUBLISHED)}."
            )
        if any(not 0 <= weight < math.inf for weight in self.values.values()):
            raise InvalidArgumentError("a weight is negative or no number; use 0 or more.")

    @classmethod
    def load(cls, path: str | Path) -> Weights:
        """Read a file that `save` wrote.

        Raises
        ------
        InvalidArgumentError
            If it is no such file.
        """
        values, others = load_kept(
            path, SCHEMA, "weights", lambda record: (record["origin"], str(record["device"]))
        )
        return cls(values, *others)

    def save(self, path: str | Path) -> None:
        """Write them as JSON."""
        about = {"origin": self.origin, "device": self.device}
        save_kept(path, SCHEMA, **about, weights=dict(self.values))


PUBLISHED = Weights(_PUBLISHED, "published")


def quality(
    values: Mapping[str, float | None],
    weights: Weights = PUBLISHED,
    *,
    na_policy: NAPolicy = "drop",
) -> float | None:
    """Compute QM, the weighted mean of criteria.

    Parameters
    ----------
    values : mapping of str to float or None
        By criterion.
    weights : Weights
        Default are those that were published, which add up to 585.
    na_policy : {"drop", "one"}
        Whether a criterion that is None is left out of both sums, or counts as 1.

    Returns
    -------
    float or None
        From 0 to 1; None if nothing is left.
    """
    above = below = 0.0
    for name, weight in weights.values.items():
        value = values.get(name)
        if value is None:
            if na_policy == "drop":
                continue
            value = 1.0
        above += weight * value
        below += weight
    return above / below if below else None


def aggregated(
    kernels: Sequence[tuple[float, Mapping[str, float | None]]],
    whole_run: Mapping[str, float | None],
) -> dict[str, float | None]:
    """Bring the criteria of several kernels together: means weighted by their times.

    Parameters
    ----------
    kernels : sequence of (float, mapping)
        Time of each, and its criteria.
    whole_run : mapping of str to float or None
        Those that are computed once for the run, which stand as they are.
    """
    found: dict[str, float | None] = dict(whole_run)
    for name in _PUBLISHED:
        if name in whole_run:
            continue
        timed = [
            (time, value) for time, values in kernels if (value := values.get(name)) is not None
        ]
        whole = sum(time for time, _ in timed)
        if not timed:
            found[name] = None
        elif whole > 0:
            found[name] = sum(time * value for time, value in timed) / whole
        else:
            found[name] = sum(value for _, value in timed) / len(timed)
    return found


@dataclass(frozen=True, slots=True)
class Specimen:
    """One implementation of a primitive, for fitting.

    Attributes
    ----------
    primitive, implementation : str
        What it computes, and how.
    criteria : dict of str to float or None
        Of its run.
    time_s : float
        That it takes.
    """

    primitive: str
    implementation: str
    criteria: Mapping[str, float | None]
    time_s: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """Fitted weights, and how well they say how fast implementations are.

    Attributes
    ----------
    weights : Weights
        Adding up to 585.
    error : float
        Mean absolute error of QM against relative speed-up, on the corpus itself.
    left_out_error : float
        The same of each primitive with weights that were fitted without it.
    pearson, spearman : dict of str to float or None
        By primitive; None for those with fewer than two distinct values.
    prices : Prices or None
        Of predicted times, with their errors; None where no kernel was counted.
    """

    weights: Weights
    error: float
    left_out_error: float
    pearson: Mapping[str, float | None]
    spearman: Mapping[str, float | None]
    prices: Prices | None = None

    def record(self) -> dict[str, Any]:
        """Give it for JSON."""
        return {
            "weights": dict(self.weights.values),
            "device": self.weights.device,
            "error": self.error,
            "left_out_error": self.left_out_error,
            "pearson": dict(self.pearson),
            "spearman": dict(self.spearman),
            "prices": None if self.prices is None else dict(self.prices.values),
            "price_error": None if self.prices is None else self.prices.error,
            "price_left_out_error": None if self.prices is None else self.prices.left_out_error,
        }


def calibrated(corpus: Sequence[Specimen], *, device: str = "") -> Calibration:
    """Fit weights so that, within a primitive, QM is proportional to speed-up.

    Parameters
    ----------
    corpus : sequence of Specimen
        At least two implementations of some primitive.
    device : str
        What they ran on.

    Returns
    -------
    Calibration
        Weights and their errors.

    Raises
    ------
    InvalidArgumentError
        If the corpus is too small, or a time is not positive.

    Notes
    -----
    Least squares with weights that are not negative and a ridge of 0.001; a criterion that is None
    counts as the mean of the others' values, and one that never varies gets no weight.
    """
    by_primitive: dict[str, list[Specimen]] = {}
    for specimen in corpus:
        if not specimen.time_s > 0:
            raise InvalidArgumentError(f"{specimen.implementation} took no time; leave it out.")
        by_primitive.setdefault(specimen.primitive, []).append(specimen)
    if not any(len(group) > 1 for group in by_primitive.values()):
        raise InvalidArgumentError("no primitive has two implementations; give a larger corpus.")
    table, target = _table(corpus, by_primitive)
    solved = _solve(table, target)
    said = table @ solved
    errors = []
    names = np.array([specimen.primitive for specimen in corpus])
    for primitive in by_primitive:
        out = names == primitive
        if out.all():
            continue
        rest = _solve(table[~out], target[~out])
        errors.append(np.abs(table[out] @ rest - target[out]))
    weights = Weights(
        {
            name: float(weight)
            for name, weight in zip(
                _PUBLISHED, solved * WHOLE / max(solved.sum(), 1e-12), strict=True
            )
        },
        "calibrated",
        device,
    )
    return Calibration(
        weights,
        float(np.abs(said - target).mean()),
        float(np.concatenate(errors).mean()) if errors else math.nan,
        {name: _correlation(said[names == name], target[names == name]) for name in by_primitive},
        {
            name: _correlation(_ranks(said[names == name]), _ranks(target[names == name]))
            for name in by_primitive
        },
    )


def _table(
    corpus: Sequence[Specimen], by_primitive: Mapping[str, Sequence[Specimen]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    best = {name: min(s.time_s for s in group) for name, group in by_primitive.items()}
    target = np.array([best[s.primitive] / s.time_s for s in corpus])
    table = np.array(
        [
            [math.nan if s.criteria.get(name) is None else s.criteria[name] for name in _PUBLISHED]
            for s in corpus
        ],
        np.float64,
    )
    known = ~np.isnan(table)
    means = np.where(known, table, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return np.where(known, table, means), target


def _solve(table: NDArray[np.float64], target: NDArray[np.float64]) -> NDArray[np.float64]:
    varying = np.ptp(table, axis=0) > 1e-9
    if not varying.any():
        return np.zeros(table.shape[1])
    columns = table[:, varying]
    ridge = RIDGE * np.eye(columns.shape[1])
    solved, _ = module("scipy.optimize").nnls(
        np.vstack([columns, ridge]), np.concatenate([target, np.zeros(columns.shape[1])])
    )
    found = np.zeros(table.shape[1])
    found[varying] = solved
    return found


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(module("scipy.stats").rankdata(values), np.float64)


def _correlation(a: NDArray[np.float64], b: NDArray[np.float64]) -> float | None:
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return None
    return float(np.corrcoef(a, b)[0, 1])


def device_weights(device: Device) -> Weights | None:
    """Give the weights that `corpus.calibrate` kept for a device and driver; None without."""
    try:
        return Weights.load(weights_file(device))
    except (OSError, InvalidArgumentError):
        return None


def weights_file(device: Device) -> Path:
    """Say where the weights of a device with its driver are kept."""
    parts = (device.name, device.platform, device.driver, device.traits.lanes)
    return device_file(device, repr(parts), "-weights")
