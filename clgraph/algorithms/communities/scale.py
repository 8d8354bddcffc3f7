"""Weights as whole numbers, so that sums of them are the same in whatever order they are taken."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.apart import apart
from clgraph.errors import InvalidGraphError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.graph import Graph

__all__ = ["MOST_RESOLUTION", "Scale", "whole_weights"]

MOST_RESOLUTION = 1 << 10  # beyond, products would be rounded to more than the least weight
NARROW = 1 << 32  # totals below fit 32 bits
WIDE_BITS = 40  # of the total of weights that are not whole numbers
LEAST_EXPONENT = -1074  # of a float; all are whole multiples of it


@dataclass(frozen=True, slots=True)
class Scale:
    """How kernels compute what a move gains; see ``kernels_cl/communities/level.mako``.

    Attributes
    ----------
    total : int
        Of all strengths.
    resolution : float
        Of the modularity.
    shift : int
        What weights are multiplied by, as a power of two, so that nothing overflows.
    up, down : int
        Shifts of factors and products.
    factor : int
        The resolution over the total.
    """

    total: int
    resolution: float
    shift: int
    up: int
    down: int
    factor: int

    @classmethod
    def of(cls, total: int, resolution: float) -> Scale:
        """Give the scale for a positive total of strengths."""
        gamma = Fraction(resolution)
        above = max(math.floor(gamma).bit_length(), 1)  # resolution < 2 ** above
        bits = 61 - above
        shift = bits - total.bit_length()
        shifted = total << shift
        # share = 2 ** (63 - above) * resolution * strength / total, a number of 64 bits
        factor = math.floor(gamma * (1 << (63 - above + bits)) / shifted)
        return cls(total, resolution, shift, 64 - bits, above + 1, factor)

    @property
    def arguments(self) -> tuple[Any, ...]:
        """Give what kernels take."""
        return (
            np.uint32(self.shift),
            np.uint32(self.up),
            np.uint32(self.down),
            np.uint64(self.factor),
        )

    @property
    def unit(self) -> int:
        """What a gain in modularity of one is, as kernels count gains: half of all weights."""
        return self.total << self.shift >> 1


def whole_weights(graph: Graph, *, weighted: bool) -> tuple[NDArray[Any] | None, bool, float]:
    """Give the weights of edges as whole numbers.

    Parameters
    ----------
    graph : Graph
        With weights from 0 on, or none.
    weighted : bool
        Whether weights count.

    Returns
    -------
    weights : uint32 or uint64 array [m], or None
        None where every edge weighs 1.
    wide : bool
        Whether sums of them take 64 bits.
    unit : float
        What one of these units is in the graph's own.

    Raises
    ------
    InvalidGraphError
        If a weight is negative or not finite.
    """
    if not weighted or graph.weights is None:
        return None, False, 1.0
    given = np.asarray(graph.weights)
    if given.size == 0:
        return None, False, 1.0
    least = given.min()
    summed = apart(np.errstate(over="ignore")(lambda: given.sum(dtype=np.float64)))
    total = 2.0 * float(summed)  # self-loops count twice
    if not least >= 0:
        raise InvalidGraphError(
            f"edge weights are as low as {least:g}, but communities need weights from 0 on; pass "
            "weights=False."
        )
    if not math.isfinite(total):
        raise InvalidGraphError(
            f"edge weights of up to {given.max():g} have no finite sum, which communities need; "
            "divide all by one number, which changes no community, or pass weights=False."
        )
    if given.dtype.kind in "iub" and total < NARROW:
        return given.astype(np.uint32), False, 1.0
    if given.dtype.kind in "iub" and total < 2.0**WIDE_BITS:
        return given.astype(np.uint64), True, 1.0
    # The highest bit of the total is where arithmetic on gains has room for it.
    _, exponent = math.frexp(total)
    unit = math.ldexp(1.0, max(exponent - WIDE_BITS, LEAST_EXPONENT))
    return np.rint(given.astype(np.float64) / unit).astype(np.uint64), True, unit
