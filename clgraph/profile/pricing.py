"""Prices of a device: how many seconds a second of each bound comes to, fitted on a corpus.

Ceilings are what microbenchmarks reach that do one thing; kernels reach less, or wait for less.
Prices are found on kernels that were timed, and kept for the device beside the weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clgraph.errors import InvalidArgumentError
from clgraph.graph.modules import module
from clgraph.profile.bounds import CHAIN, PARTS, SOFTNESS, THROUGHPUT
from clgraph.profile.kept import load_kept, save_kept
from clgraph.profile.quality import weights_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from clgraph.device import Device

__all__ = ["Prices", "Timed", "device_prices", "fitted", "left_out_errors", "prices_file"]

SCHEMA = "clgraph-prices/1"
# Of a price's logarithm: what kernels say nothing of stays at 1. Of 0.1, 0.3 and 1 the one by which
# a corpus of 107 kernels of an H200 foretold its own plans best, each left out of the fit.
RIDGE = 1.0
DOUBTFUL = 0.3  # errors above count less than by their square: some kernels do what nobody counts
MOST = 4.0  # of a price's logarithm
LEAST_S = 1e-12
_ADDED = tuple(PARTS.index(name) for name in (*CHAIN, "waiting", "launch"))
_SHARED = tuple(PARTS.index(name) for name in THROUGHPUT)


class Timed(NamedTuple):
    """A kernel that was timed: what it belongs to, its bounds without prices, and its time."""

    name: str
    parts: Mapping[str, float]
    time_s: float


@dataclass(frozen=True, slots=True)
class Prices:
    """How many seconds a second of each part of the bounds comes to.

    Attributes
    ----------
    values : dict of str to float
        By part, as `clgraph.profile.bounds.PARTS` has them; 1 for those that are missing.
    device : str
        What they were fitted on.
    error, left_out_error : float or None
        Median error of times on the corpus, and where each name was left out of the fit.
    """

    values: Mapping[str, float]
    device: str = ""
    error: float | None = None
    left_out_error: float | None = None

    def __post_init__(self) -> None:
        """Refuse parts that there are not, and prices that are none."""
        if unknown := set(self.values) - set(PARTS):
            raise InvalidArgumentError(
                f"there is no part {', '.join(sorted(unknown))}; use {', '.join(PARTS)}."
            )
        if any(not 0 < price < math.inf for price in self.values.values()):
            raise InvalidArgumentError("a price is not above 0 or no number.")

    @classmethod
    def load(cls, path: str | Path) -> Prices:
        """Read a file that `save` wrote.

        Raises
        ------
        InvalidArgumentError
            If it is no such file.
        """

        def about(record: Mapping[str, Any]) -> tuple[str, list[float | None]]:
            errors = [record["error"], record["left_out_error"]]
            known = [None if error is None else float(error) for error in errors]
            return str(record["device"]), known

        values, (device, known) = load_kept(path, SCHEMA, "prices", about)
        return cls(values, device, *known)

    def save(self, path: str | Path) -> None:
        """Write them as JSON."""
        errors = {"error": self.error, "left_out_error": self.left_out_error}
        save_kept(path, SCHEMA, device=self.device, prices=dict(self.values), **errors)


def fitted(corpus: Sequence[Timed], *, device: str = "") -> Prices:
    """Fit prices to the times of kernels.

    Parameters
    ----------
    corpus : sequence of Timed
        None of which need be a kernel whose time is to be foretold.
    device : str
        What they ran on.

    Returns
    -------
    Prices
        With their errors.

    Raises
    ------
    InvalidArgumentError
        If there is none, or a time is not positive.

    Notes
    -----
    Least squares of the logarithms of predicted over measured times, with a ridge that keeps at 1
    what the corpus says nothing of.
    """
    if not corpus:
        raise InvalidArgumentError("no kernel was timed; give a larger corpus.")
    if any(not timed.time_s > 0 for timed in corpus):
        raise InvalidArgumentError("a kernel took no time; leave it out.")
    table, times = _table(corpus)
    solved = _solve(table, times)
    errors = np.abs(_predicted(solved, table) / times - 1.0)
    held_out = left_out_errors(corpus)
    return Prices(
        dict(zip(PARTS, np.exp(solved).tolist(), strict=True)),
        device,
        float(np.median(errors)),
        float(np.median(np.abs(held_out))) if len(held_out) else None,
    )


def left_out_errors(
    targets: Sequence[Timed], corpus: Sequence[Timed] | None = None
) -> NDArray[np.float64]:
    """Judge prices by kernels that they were not fitted on.

    Parameters
    ----------
    targets : sequence of Timed
        Whose times are foretold.
    corpus : sequence of Timed, optional
        What prices are fitted on, those of a target's name left out; default are the targets.

    Returns
    -------
    ndarray of float64
        Predicted over measured time of each target, less 1; none where nothing would be left.
    """
    rest = targets if corpus is None else corpus
    names = {timed.name for timed in targets}
    if not targets or any(all(timed.name == name for timed in rest) for name in names):
        return np.zeros(0)
    table, times = _table(rest)
    wanted, measured = _table(targets)
    errors = np.zeros(len(targets))
    for name in names:
        keep = np.array([timed.name != name for timed in rest])
        out = np.array([timed.name == name for timed in targets])
        solved = _solve(table[keep], times[keep])
        errors[out] = _predicted(solved, wanted[out]) / measured[out] - 1.0
    return errors


def _table(timed: Sequence[Timed]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    table = [[one.parts.get(name, 0.0) for name in PARTS] for one in timed]
    return np.array(table, np.float64), np.array([one.time_s for one in timed])


def _predicted(logarithms: NDArray[np.float64], table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give what `Bounds.time_s` says of each row."""
    seconds = np.exp(logarithms) * table
    shared = (seconds[:, _SHARED] ** SOFTNESS).sum(axis=1) ** (1 / SOFTNESS)
    return np.asarray(shared + seconds[:, _ADDED].sum(axis=1), np.float64)


def _solve(table: NDArray[np.float64], times: NDArray[np.float64]) -> NDArray[np.float64]:
    def misses(logarithms: NDArray[np.float64]) -> NDArray[np.float64]:
        said = np.maximum(_predicted(logarithms, table), LEAST_S)
        return np.concatenate([np.log(said / times), RIDGE * logarithms])

    found = module("scipy.optimize").least_squares(
        misses, np.zeros(len(PARTS)), loss="soft_l1", f_scale=DOUBTFUL, bounds=(-MOST, MOST)
    )
    return np.asarray(found.x, np.float64)


def prices_file(device: Device) -> Path:
    """Say where the prices of a device with its driver are kept."""
    path = weights_file(device)
    return path.with_name(path.name.replace("-weights.json", "-prices.json"))


def device_prices(device: Device) -> Prices | None:
    """Give the prices that `clgraph.profile.corpus.calibrate` kept for a device; None without."""
    try:
        return Prices.load(prices_file(device))
    except (OSError, InvalidArgumentError):
        return None
