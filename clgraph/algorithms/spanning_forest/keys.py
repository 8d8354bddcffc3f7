"""Weights as 32-bit numbers in the same order, and where bands of them end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.apart import apart

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MOST_KEY", "band_limits", "order_keys"]

MOST_KEY = 2**32 - 1
SAMPLE = 1 << 16
_SIGN = np.uint32(1 << 31)


def order_keys(weights: NDArray[Any]) -> NDArray[np.uint32]:
    """Give numbers that compare as weights do.

    Parameters
    ----------
    weights : array [m]
        Finite, of a type that graphs keep.

    Returns
    -------
    uint32 array [m]
        Of 32-bit weights their bits, rearranged; of others too where nothing is lost by that, else
        their ranks, for which they are sorted.
    """
    kind = weights.dtype
    if kind == np.uint32:
        return weights
    if kind == np.int32:
        return weights.view(np.uint32) ^ _SIGN
    if kind == np.float32:
        return _float_keys(weights)
    if kind == np.float64:
        narrow = apart(np.errstate(over="ignore")(lambda: weights.astype(np.float32)))
        if np.array_equal(narrow.astype(np.float64), weights):
            return _float_keys(narrow)
    elif weights.size:
        least = int(weights.min())
        if int(weights.max()) - least <= MOST_KEY:
            return (weights - least).astype(np.uint32)
    return np.unique(weights, return_inverse=True)[1].astype(np.uint32).reshape(weights.shape)


def _float_keys(weights: NDArray[np.float32]) -> NDArray[np.uint32]:
    # Adding 0 makes the two zeros one. Of negative numbers all bits are turned, of others the sign.
    bits = (weights + np.float32(0)).view(np.uint32)
    turned: NDArray[np.uint32] = bits ^ np.where(bits & _SIGN, np.uint32(MOST_KEY), _SIGN)
    return turned


def band_limits(
    keys: NDArray[np.uint32] | None, m: int, bands: int, share: float
) -> list[tuple[int, int, int]]:
    """Cut the range of keys into bands, the first of about a `share` of the edges.

    Parameters
    ----------
    keys : uint32 array [m], optional
        None if every edge's key is its place.
    m : int
        Edges, at least one.
    bands : int
        How many at most: fewer where many keys are the same.
    share : float
        Of the first band, in (0, 1]; the others grow by the same factor.

    Returns
    -------
    list of (least, most, count)
        Ascending ranges of keys, both ends within, and how many edges have such; none of them has
        no edges, and together they have all.
    """
    shares = [share ** (1 - place / max(bands - 1, 1)) for place in range(bands - 1)]
    if keys is None:
        ends = [min(max(int(m * each), 1), m) - 1 for each in shares]
    else:
        sample = np.sort(keys[:: max(m // SAMPLE, 1)])
        ends = [int(sample[min(int(len(sample) * each), len(sample) - 1)]) for each in shares]
    found, least, before = [], 0, 0
    for end in sorted({*ends, MOST_KEY}):
        upto = min(end + 1, m) if keys is None else int(np.count_nonzero(keys <= end))
        if upto > before:
            found.append((least, end, upto - before))
            least, before = end + 1, upto
    # Whatever lies above the last edge has none.
    return [*found[:-1], (found[-1][0], MOST_KEY, found[-1][2])]
