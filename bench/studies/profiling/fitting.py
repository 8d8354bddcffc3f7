"""How well quality and prices foretell times: fitted, and judged by what was left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.graph.modules import module
from clgraph.profile.quality import PUBLISHED, Specimen, calibrated, quality

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["crossed_errors", "priced", "ranked"]

LEAST_RANKED = 3


def ranked(corpus: Sequence[Specimen]) -> list[dict[str, Any]]:
    """Compare QM with time within each primitive: by the published weights, and left out.

    Parameters
    ----------
    corpus : sequence of Specimen
        All that was profiled.

    Returns
    -------
    list of dict
        For each primitive with three implementations or more ``name``, its ``rows`` by time, and
        Spearman's coefficients of QM and speed: ``published`` weights, and weights ``left_out``
        that were fitted to the other primitives.
    """
    found = []
    for name in dict.fromkeys(specimen.primitive for specimen in corpus):
        own = sorted((s for s in corpus if s.primitive == name), key=lambda s: s.time_s)
        rest = [s for s in corpus if s.primitive != name]
        if len(own) < LEAST_RANKED:
            continue
        published = [quality(s.criteria, PUBLISHED) or 0.0 for s in own]
        fitted: list[float] | None = None
        if len({s.primitive for s in rest}) < len(rest):
            weights = calibrated(rest).weights
            fitted = [quality(s.criteria, weights) or 0.0 for s in own]
        speed = [1.0 / s.time_s for s in own]
        found.append(
            {
                "name": name,
                "rows": [
                    {
                        "implementation": s.implementation,
                        "time_s": s.time_s,
                        "quality": value,
                        "criteria": dict(s.criteria),
                    }
                    for s, value in zip(own, published, strict=True)
                ],
                "published": _spearman(published, speed),
                "left_out": None if fitted is None else _spearman(fitted, speed),
            }
        )
    return found


def _spearman(a: Sequence[float], b: Sequence[float]) -> float | None:
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return None
    return float(module("scipy.stats").spearmanr(a, b).statistic)


def crossed_errors(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Give the median error of prices that were fitted without the kernel, or without the graph."""
    found = {}
    for key in ("kernel", "graph"):
        if len({row[key] for row in rows}) > 1:
            errors = [error for error in priced(rows, by=key)["left_out"] if error is not None]
            found[key] = float(np.median(np.abs(errors)))
    return found


def priced(rows: Sequence[dict[str, Any]], *, by: str = "kernel") -> dict[str, Any]:
    """Fit prices of resources to times, and judge each kernel by prices fitted without it.

    Parameters
    ----------
    rows : sequence of dict
        ``kernel``, ``bounds_s`` and ``measured_s`` of each kernel and graph.
    by : str
        What is left out together.

    Returns
    -------
    dict
        ``prices``, and the relative errors as ``plain`` (soft maximum of ceilings), ``fitted`` and
        ``left_out``.
    """
    names = sorted({name for row in rows for name in row["bounds_s"]})
    kernels = np.array([row[by] for row in rows])
    bounds = np.array([[row["bounds_s"].get(name, 0.0) for name in names] for row in rows])
    # The constant is what a launch costs beside what an empty kernel says.
    bounds = np.column_stack([bounds, [row["launches"] * 1e-6 for row in rows]])
    times = np.array([row["measured_s"] for row in rows])
    left_out = np.zeros(len(rows))
    for kernel in np.unique(kernels):
        out = kernels == kernel
        if out.all():
            left_out[out] = np.nan
            continue
        left_out[out] = bounds[out] @ _prices(bounds[~out], times[~out]) / times[out] - 1.0
    prices = _prices(bounds, times)
    return {
        "prices": dict(zip([*names, "microsecond of a launch"], prices.tolist(), strict=True)),
        "plain": [row["predicted_s"] / row["measured_s"] - 1.0 for row in rows],
        "fitted": (bounds @ prices / times - 1.0).tolist(),
        "left_out": [None if np.isnan(error) else float(error) for error in left_out],
    }


def _prices(bounds: NDArray[np.float64], times: NDArray[np.float64]) -> NDArray[np.float64]:
    rows = bounds / times[:, None]
    sizes = np.maximum(np.linalg.norm(rows, axis=0), 1e-30)
    solved, _ = module("scipy.optimize").nnls(rows / sizes, np.ones(len(rows)))
    return np.asarray(solved / sizes, np.float64)
