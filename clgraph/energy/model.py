"""Joules from counters: a price for each kind of work, fitted on the microbenchmarks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from clgraph.errors import InvalidArgumentError
from clgraph.graph.modules import module

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["FEATURES", "EnergyModel", "Fit", "Sample", "fit"]

Counts: TypeAlias = "Mapping[str, float]"

# What is paid for, and the unit of its price.
FEATURES: dict[str, str] = {
    "seconds": "W: the card at rest",
    "unit_seconds": "W of a compute unit that has work",
    "memory_bytes": "J/byte between memory and the common cache",
    "cache_bytes": "J/byte between the common cache and compute units",
    "local_bytes": "J/byte of local memory, a conflict counted again",
    "constant_bytes": "J/byte of constant memory",
    "random_reads": "J/read of a word that no cache holds",
    "cached_random_reads": "J/read of a word that the common cache holds",
    "atomics": "J/operation on a word that no cache holds",
    "cached_atomics": "J/operation on a word that the common cache holds",
    "integer_operations": "J/operation of a work-item",
    "float_operations": "J/operation of a work-item",
    "double_operations": "J/operation of a work-item",
    "special_operations": "J/operation of a work-item",
    "grid_barriers": "J/barrier of all work-groups",
}


@dataclass(frozen=True, slots=True)
class Sample:
    """What one run did, and what it cost.

    Attributes
    ----------
    name : str
        What errors and tables call it.
    counts : dict of str to float
        By names of `FEATURES`; those left out are 0.
    joules : float
        Measured.
    """

    name: str
    counts: Counts
    joules: float


@dataclass(frozen=True, slots=True)
class EnergyModel:
    """Prices of the kinds of work on one device.

    Attributes
    ----------
    prices : dict of str to float
        Joules for one of each, by names of `FEATURES`; none is negative, and what nothing that was
        measured did has no price.
    device, driver : str
        What it was fitted on.
    """

    prices: dict[str, float]
    device: str = ""
    driver: str = ""

    def joules(self, counts: Counts) -> float | None:
        """Estimate what work cost.

        Parameters
        ----------
        counts : mapping of str to float
            By names of `FEATURES`.

        Returns
        -------
        float or None
            Joules; None if the work is of a kind that has no price.

        Raises
        ------
        InvalidArgumentError
            If a name is not one of `FEATURES`, or a count is negative or no number.
        """
        total = 0.0
        for name, count in counts.items():
            if name not in FEATURES:
                raise InvalidArgumentError(
                    f"the energy model knows no {name!r}; use {', '.join(FEATURES)}."
                )
            if not 0 <= count < np.inf:
                raise InvalidArgumentError(
                    f"the count of {name!r} is {count}; it must be 0 or more."
                )
            if count == 0:
                continue
            if name not in self.prices:
                return None
            total += self.prices[name] * count
        return total

    def record(self) -> dict[str, Any]:
        """Give it for JSON, with units."""
        return {
            "device": self.device,
            "driver": self.driver,
            "prices": dict(self.prices),
            "units": {name: FEATURES[name] for name in self.prices},
        }


@dataclass(frozen=True, slots=True)
class Fit:
    """A model and how well it says again what it was fitted on, or what it has not seen.

    Attributes
    ----------
    model : EnergyModel
        The prices.
    errors : dict of str to float
        Relative error of each sample: estimate over measurement, less 1.
    """

    model: EnergyModel
    errors: dict[str, float]

    @property
    def mean_error(self) -> float:
        """Mean absolute relative error."""
        return float(np.mean(np.abs(list(self.errors.values())))) if self.errors else 0.0

    @property
    def largest_error(self) -> float:
        """Largest absolute relative error."""
        return float(np.max(np.abs(list(self.errors.values())), initial=0.0))


def fit(samples: Sequence[Sample], *, device: str = "", driver: str = "") -> Fit:
    """Find the prices that say best what samples cost.

    Parameters
    ----------
    samples : sequence of Sample
        At least as many as kinds of work in them.
    device, driver : str
        What they were measured on.

    Returns
    -------
    Fit
        With the relative errors on `samples` themselves.

    Raises
    ------
    InvalidArgumentError
        If there are too few samples, one cost nothing, or a count is not of `FEATURES`.

    Notes
    -----
    Least squares of relative errors, so that microseconds and seconds count alike, with prices that
    are not negative (Lawson and Hanson's method, `scipy.optimize.nnls`). Deterministic.
    """
    unknown = {name for sample in samples for name in sample.counts} - FEATURES.keys()
    if unknown:
        raise InvalidArgumentError(
            f"the energy model knows no {', '.join(sorted(unknown))}; use {', '.join(FEATURES)}."
        )
    names = [name for name in FEATURES if any(sample.counts.get(name, 0) > 0 for sample in samples)]
    if len(samples) < max(len(names), 1):
        raise InvalidArgumentError(
            f"{len(samples)} samples cannot separate the prices of {len(names)} kinds of work."
        )
    joules = np.array([sample.joules for sample in samples], np.float64)
    if not (np.isfinite(joules) & (joules > 0)).all():
        raise InvalidArgumentError("a sample cost no joules; leave out what no meter resolved.")
    counts = np.array([[sample.counts.get(name, 0.0) for name in names] for sample in samples])
    model = EnergyModel(_prices(counts / joules[:, None], names), device, driver)
    return validate(model, samples)


def _prices(rows: NDArray[np.float64], names: list[str]) -> dict[str, float]:
    # Counts differ by fifteen orders of magnitude; columns of one size keep the solver exact.
    sizes = np.linalg.norm(rows, axis=0)
    solved, _ = module("scipy.optimize").nnls(
        rows / sizes, np.ones(len(rows)), maxiter=100 * len(names)
    )
    return {name: float(x) for name, x in zip(names, solved / sizes, strict=True)}


def validate(model: EnergyModel, samples: Sequence[Sample]) -> Fit:
    """Compare a model with samples, which it may or may not have been fitted on.

    Samples of a kind of work that has no price are left out of the errors.
    """
    errors = {}
    for sample in samples:
        said = model.joules(sample.counts)
        if said is not None:
            errors[sample.name] = said / sample.joules - 1.0
    return Fit(model, errors)
