"""What rankings compute in, and how many they take at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.ranking.row_shares import most_columns
from clgraph.errors import InvalidArgumentError
from clgraph.graph.arguments import element

if TYPE_CHECKING:
    from clgraph.device import Device

__all__ = ["REALS", "column_blocks", "real_type"]

REALS = {np.dtype(np.float32): "float", np.dtype(np.float64): "double"}


def real_type(dtype: Any, device: Device) -> np.dtype[Any]:
    """Give the floating-point type asked for, or the most precise of the device.

    Raises
    ------
    InvalidArgumentError
        If it is not one of the two, or the device has no double precision.
    """
    if dtype is None:
        return np.dtype(np.float64 if device.traits.fp64 else np.float32)
    wanted = element(dtype, "float32", "float64")
    if wanted == np.float64 and not device.traits.fp64:
        raise InvalidArgumentError(f"{device.name} has no double precision; use dtype='float32'.")
    return wanted


def column_blocks(count: int, device: Device) -> tuple[int, list[slice]]:
    """Give how many of `count` columns are taken at once, a power of two, and the blocks."""
    width = min(1 << max(count - 1, 0).bit_length(), most_columns(device))
    return width, [slice(first, min(first + width, count)) for first in range(0, count, width)]
