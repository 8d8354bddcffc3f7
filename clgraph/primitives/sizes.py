"""Sizes of the items of an expansion: what they may be, and their moments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["LARGEST_SIZE", "MOST_ITEMS", "checked_sizes", "size_moments"]

MOST_ITEMS = 2**31
LARGEST_SIZE = 2**32 - 2**16  # loops over one item step past its end


def size_moments(sizes: NDArray[Any]) -> tuple[float, float]:
    """Compute mean and standard deviation of sizes.

    Parameters
    ----------
    sizes : integer array
        Any length.

    Returns
    -------
    mean, deviation : float
        0 for no sizes; exact up to the rounding of the last operations.
    """
    if sizes.size == 0:
        return 0.0, 0.0
    mean = float(sizes.sum(dtype=np.uint64)) / sizes.size
    spread = sizes.astype(np.float64) - mean
    return mean, float(np.sqrt(np.dot(spread, spread) / sizes.size))


def checked_sizes(sizes: ArrayLike) -> NDArray[np.uint32]:
    """Give sizes as 32-bit numbers.

    Raises
    ------
    InvalidArgumentError
        If they are not a list of integers, too many, or one is out of range.
    """
    try:
        array = np.asarray(sizes)
    except ValueError as error:  # as of lists of different lengths
        raise InvalidArgumentError(
            f"sizes must be a one-dimensional array of integers; {error}"
        ) from None
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InvalidArgumentError(
            f"sizes must be a one-dimensional array of integers; got {array.dtype} of shape "
            f"{array.shape}."
        )
    if array.size >= MOST_ITEMS:
        raise InvalidArgumentError(
            f"{array.size} items are too many; use fewer than 2**31, in several calls."
        )
    if array.size and (array.min() < 0 or array.max() >= LARGEST_SIZE):
        wrong = int(np.flatnonzero((array < 0) | (array >= LARGEST_SIZE))[0])
        raise InvalidArgumentError(
            f"sizes[{wrong}]={array[wrong]} is out of range; sizes are at least 0 and below "
            "2**32 - 2**16."
        )
    return array.astype(np.uint32)
