"""Checks of what a caller passes to a search."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.errors import InvalidArgumentError
from clgraph.graph.arguments import among, shown
from clgraph.graph.arrays import argument_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "NO_LIMIT",
    "depth_limit",
    "only_auto",
    "output_array",
    "vertex_number",
    "vertex_numbers",
]

NO_LIMIT = np.uint32(2**31 - 2)  # a depth that no graph has


def vertex_number(source: Any, n: int, name: str = "source") -> int:
    """Give argument `name` as a vertex of a graph with `n` vertices.

    Raises
    ------
    InvalidArgumentError
        If it is not an integer in [0, n).
    """
    try:
        number: Any = None if isinstance(source, bool) else source
        vertex = operator.index(number)
    except TypeError:
        raise InvalidArgumentError(
            f"{name}={shown(source)} is not a vertex number; pass an integer in [0, {n})."
        ) from None
    if not 0 <= vertex < n:
        raise InvalidArgumentError(
            f"{name}={vertex} is not a vertex of this graph; it has {n} vertices, numbered from 0."
        )
    return vertex


def depth_limit(max_depth: Any) -> np.uint32:
    """Give `max_depth` as kernels take it, `NO_LIMIT` for None.

    Raises
    ------
    InvalidArgumentError
        If it is neither None nor an integer that is not negative.
    """
    if max_depth is None:
        return NO_LIMIT
    try:
        number: Any = None if isinstance(max_depth, bool) else max_depth
        depth = operator.index(number)
    except TypeError:
        raise InvalidArgumentError(
            f"max_depth={shown(max_depth)} is not a number of hops; pass an integer or None."
        ) from None
    if depth < 0:
        raise InvalidArgumentError(f"max_depth={depth} is negative; pass 0 or more, or None.")
    return np.uint32(min(depth, int(NO_LIMIT)))


def vertex_numbers(source: Any, n: int) -> tuple[tuple[int, ...], int | tuple[int, ...]]:
    """Give `source`, one vertex or a sequence of them, ascending without repeats and as it was.

    Raises
    ------
    InvalidArgumentError
        If one is not an integer in [0, n), or there are none.
    """
    if isinstance(source, int) or (given := argument_array("source", source)).ndim == 0:
        vertex = vertex_number(source, n)
        return (vertex,), vertex
    several = tuple(vertex_number(each, n) for each in given)
    if not several:
        raise InvalidArgumentError("source is empty; pass at least one vertex.")
    return tuple(sorted(set(several))), several


def only_auto(config: Any) -> None:
    """Refuse the configuration of what can be computed in one way only.

    Parameters
    ----------
    config : {"auto"}, optional
        There is one way to compute it.

    Raises
    ------
    InvalidArgumentError
        If it is neither None nor "auto".
    """
    if config is not None and not among(config, ("auto",)):
        raise InvalidArgumentError(
            f'config={shown(config)}: there is one way to compute this; pass "auto" or leave it '
            "out."
        )


def output_array(out: Any, n: int, dtype: Any) -> NDArray[Any] | None:
    """Give `out` as an array that distances of `n` vertices can be copied into; None for None.

    Raises
    ------
    InvalidArgumentError
        If it is not a contiguous, writeable array [n] of `dtype`.
    """
    if out is None:
        return None
    wanted = np.dtype(dtype)
    good = isinstance(out, np.ndarray) and out.shape == (n,) and out.dtype == wanted
    if not (good and out.flags.c_contiguous and out.flags.writeable):
        raise InvalidArgumentError(
            f"out must be a contiguous, writeable array of {n} {wanted.name}; make it by "
            f"numpy.empty({n}, numpy.{wanted.name}), or leave it out."
        )
    array: NDArray[Any] = out
    return array
