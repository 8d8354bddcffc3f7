"""What a ranking is asked for: shares of vertices, weights that leave them, and when it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from clgraph.apart import apart
from clgraph.errors import InvalidArgumentError, InvalidGraphError
from clgraph.graph.arguments import one_of, real, whole
from clgraph.graph.arrays import real_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.graph import Graph

__all__ = [
    "CONVENTIONS",
    "Convention",
    "check_scale",
    "ends_of",
    "host_matrix",
    "longest_product",
    "spread_of",
    "weights_out",
]

Convention = Literal["networkx", "gap", "graphalytics"]
CONVENTIONS = ("networkx", "gap", "graphalytics")


def weights_out(graph: Graph, real: np.dtype[Any], *, weighted: bool) -> NDArray[np.float64]:
    """Give the weight that leaves each vertex, which `real` has to hold."""
    if weighted:
        weights = np.asarray(graph.weights, np.float64)
        if weights.size and weights.min() < 0:
            raise InvalidGraphError(
                f"edge weights are as low as {weights.min():g}, but ranks flow along weights from "
                "0 on; pass weights=False."
            )
        leaving = np.zeros(graph.n)
        full = np.flatnonzero(graph.degrees)
        if full.size:
            begins = np.asarray(graph.indptr)[full]
            leaving[full] = apart(
                np.errstate(over="ignore")(lambda: np.add.reduceat(weights, begins))
            )
        check_scale(leaving.min(initial=np.inf, where=leaving > 0), leaving.max(initial=0), real)
        return leaving
    return graph.degrees.astype(np.float64)


def check_scale(small: float, large: float, real: np.dtype[Any], powers: int = 1) -> None:
    """Refuse weights from `small` to `large` of which products of so many do not fit a type.

    Scores would be 0, or no numbers, without a word.
    """
    info = np.finfo(real)
    least, most = (float(end) ** (1 / powers) for end in (info.tiny, info.max))
    if large and not least <= small <= large <= most:
        raise InvalidGraphError(
            f"edge weights, or sums of them, of {small:g} to {large:g} are out of the range of "
            f"{real.name}, in which they may be {least:.0e} to {most:.0e} here; multiply all by "
            "one number, which changes no score, or pass weights=False."
        )


def host_matrix(graph: Graph, *, weighted: bool) -> Any:
    """Give the matrix float64 [n, n] on the host, for checks; each parallel edge counts."""
    matrix = graph.to_scipy()
    if not weighted:  # before the type changes: that adds parallel edges up
        matrix.data = np.ones(graph.m)
    return matrix.astype(np.float64)


def longest_product(matrix: Any) -> float:
    """Give a length that no product of a matrix and a vector of length 1 exceeds."""
    rows, columns = (float(abs(matrix).sum(axis=axis).max()) for axis in (1, 0))
    return float(np.sqrt(rows * columns))


def ends_of(convention: str, tol: Any, max_iter: Any, n: int) -> tuple[float, int]:
    """Give the change at which iterations end, and how many there may be.

    Raises
    ------
    InvalidArgumentError
        If the convention is unknown, or a number is out of range.
    """
    one_of("convention", convention, CONVENTIONS)
    if tol is None:
        tol = {"networkx": 1e-6, "gap": 1e-4, "graphalytics": 0.0}[convention]
    default = 10 if convention == "graphalytics" else 100
    most = default if max_iter is None else whole("max_iter", max_iter)
    return real("tol", tol, 0) * (n if convention == "networkx" else 1), most


def spread_of(
    name: str, value: Any, n: int, *, rows: bool = False
) -> tuple[NDArray[np.float64] | None, bool]:
    """Give shares float64 [k, n] with sum 1 in every row, and whether there may be several.

    Raises
    ------
    InvalidArgumentError
        If a share is negative or not finite, all are 0, a vertex is unknown, or the shape is wrong.
    """
    if value is None:
        return None, False
    if hasattr(value, "items"):
        array = np.zeros(n)
        for vertex, share in value.items():
            if isinstance(vertex, bool) or not isinstance(vertex, int | np.integer):
                raise InvalidArgumentError(f"{name} names {vertex!r}, which is no vertex number.")
            if not 0 <= vertex < n:
                raise InvalidArgumentError(f"{name} names vertex {vertex}, but n = {n}.")
            array[vertex] = share
    else:
        array = real_numbers(name, value)
    several = rows and array.ndim == 2
    table = array if several else array[None] if array.ndim == 1 else array
    if table.ndim != 2 or table.shape[1] != n or not (several or array.ndim == 1):
        shapes = f"({n},) or (k, {n})" if rows else f"({n},)"
        raise InvalidArgumentError(f"{name} has shape {array.shape}; pass {shapes}.")
    if not np.isfinite(table).all() or (table < 0).any():
        raise InvalidArgumentError(f"{name} must hold finite numbers from 0 on.")
    totals = table.sum(axis=1, keepdims=True)
    if n and not (np.isfinite(totals).all() and (totals > 0).all()):
        raise InvalidArgumentError(f"{name} needs a positive number in every ranking.")
    return np.divide(table, totals, where=totals > 0, out=np.zeros_like(table)), several
