"""Statistics of repeated measurements: harmonic means, quartiles, bootstrap intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["bootstrap_interval", "harmonic_mean", "relative_width", "summary"]

RESAMPLES = 2000
TAILS = (0.025, 0.975)


def harmonic_mean(values: Sequence[float]) -> float | None:
    """Harmonic mean, the mean of rates over equal work; None without values or with one of 0."""
    rates = np.asarray(values, float)
    if not rates.size or (rates <= 0).any():
        return None
    return float(rates.size / (1.0 / rates).sum())


def bootstrap_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Percentile bootstrap interval of the median, of 95 %.

    Parameters
    ----------
    values : sequence of float
        The measurements, any number.

    Returns
    -------
    (low, high) or None
        None without values.
    """
    measured = np.asarray(values, float)
    if not measured.size:
        return None
    rng = np.random.default_rng(0)  # one record gives one interval
    drawn = measured[rng.integers(0, measured.size, (RESAMPLES, measured.size))]
    low, high = np.quantile(np.median(drawn, axis=1), TAILS)
    return float(low), float(high)


def relative_width(values: Sequence[float]) -> float | None:
    """Width of the bootstrap interval over the median; None for fewer than two values."""
    interval = bootstrap_interval(values)
    middle = float(np.median(values)) if len(values) else 0.0
    if interval is None or len(values) < 2 or middle <= 0:
        return None
    return (interval[1] - interval[0]) / middle


def summary(values: Sequence[float]) -> dict[str, Any] | None:
    """Give count, median with 95 % bootstrap interval, quartiles, extremes, mean; None if empty."""
    measured = np.asarray(values, float)
    if not measured.size:
        return None
    low, quarter, median, three_quarters, high = np.quantile(measured, [0, 0.25, 0.5, 0.75, 1])
    return {
        "count": int(measured.size),
        "median": float(median),
        "interval": bootstrap_interval(values),
        "quartiles": [float(quarter), float(three_quarters)],
        "min": float(low),
        "max": float(high),
        "mean": float(measured.mean()),
    }
