"""Weights of a search for shortest paths: which type they have, and how kernels order lengths."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.errors import InvalidArgumentError
from clgraph.graph.arguments import shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.graph import Graph

__all__ = ["OPENCL_TYPES", "Keys", "Weights"]

OPENCL_TYPES = {
    "int32": "int",
    "int64": "long",
    "uint32": "uint",
    "float32": "float",
    "float64": "double",
}

FINE = 64.0  # of a mean weight, what makes no difference to the order of work


@dataclass(frozen=True, slots=True)
class Keys:
    """What templates/visited/keys.mako is rendered with; see there."""

    weight: str
    bits: int
    real: bool
    signed: bool
    guarded: bool
    sign: int
    none: int
    least: int


class Weights:
    """The weights of one graph, checked for a search.

    Parameters
    ----------
    graph : Graph
        With weights.

    Attributes
    ----------
    values : array [m]
        int32, int64, uint32, float32 or float64.
    dtype : numpy.dtype
        Their type, and that of distances.
    least, largest : scalar
        Smallest and largest; 0 without edges.
    negative : bool
        Whether any is below zero.

    Raises
    ------
    InvalidArgumentError
        If there are none, one is not a number, or an undirected edge is negative.
    """

    def __init__(self, graph: Graph) -> None:
        if graph.weights is None:
            raise InvalidArgumentError(
                "the graph has no weights; use bfs for distances in hops, or give it some: "
                "Graph(g.indptr, g.indices, weights)."
            )
        self._graph: Any = graph
        self.values = graph.weights
        self.dtype = self.values.dtype
        if self.dtype.name not in OPENCL_TYPES:
            raise InvalidArgumentError(
                f"weights of type {self.dtype} cannot be added up here; use one of "
                f"{', '.join(OPENCL_TYPES)}."
            )
        self.least = self.values.min(initial=0)
        self.largest = self.values.max(initial=0)
        if self.real and not (math.isfinite(self.least) and math.isfinite(self.largest)):
            source, target, weight = self._edge(int(np.flatnonzero(~np.isfinite(self.values))[0]))
            raise InvalidArgumentError(
                f"edge {source} -> {target} has weight {weight}; every weight must be a finite "
                "number, so drop the edge or replace it."
            )
        self.negative = bool(self.least < 0)
        if self.negative and not graph.directed:
            source, target, weight = self.least_edge
            raise InvalidArgumentError(
                f"edge {source} - {target} of this undirected graph has weight {weight}: walked "
                "there and back it makes every path shorter; build the graph with directed=True "
                "and a weight for each direction."
            )

    @property
    def real(self) -> bool:
        """Whether they are floating-point numbers."""
        return self.dtype.kind == "f"

    @property
    def least_edge(self) -> tuple[int, int, Any]:
        """An edge with the smallest weight: source, target, weight."""
        return self._edge(int(self.values.argmin()))

    def _edge(self, edge: int) -> tuple[int, int, Any]:
        graph = self._graph
        source = int(np.searchsorted(graph.indptr, edge, side="right")) - 1
        return source, int(graph.indices[edge]), self.values[edge]

    @cached_property
    def unreached(self) -> Any:
        """What stands for no path: infinity, or the largest integer."""
        return self.dtype.type(np.inf if self.real else np.iinfo(self.dtype).max)

    @cached_property
    def keys(self) -> Keys:
        """How kernels keep lengths."""
        bits = 8 * self.dtype.itemsize
        sign = 1 << (bits - 1)
        none, least = int(self.unreached.view(f"u{bits // 8}")), 0
        if self.negative:
            none ^= sign
            if self.real:
                least = ~int(self.dtype.type(-np.inf).view(f"u{bits // 8}")) & ((1 << bits) - 1)
        return Keys(
            weight=OPENCL_TYPES[self.dtype.name],
            bits=bits,
            real=self.real,
            signed=self.negative,
            guarded=self._may_overflow,
            sign=sign,
            none=none,
            least=least,
        )

    @cached_property
    def last_key(self) -> int:
        """Key of the largest length that is a distance."""
        return self.keys.none - 1

    @property
    def _may_overflow(self) -> bool:
        # Of n edges: beyond a path of n - 1 one more is looked at, and its sum must not wrap.
        if self.real:
            return bool(float(self.largest) * self._graph.n >= float(np.finfo(self.dtype).max))
        return bool(int(self.largest) * self._graph.n >= np.iinfo(self.dtype).max)

    def key(self, length: Any) -> int:
        """Give a length that is not NaN, in the type of the weights, as its key."""
        bits = self.keys.bits
        pattern = int(self.dtype.type(length).view(f"u{bits // 8}"))
        if not self.keys.signed:
            return pattern
        if not self.real or pattern < self.keys.sign:
            return pattern ^ self.keys.sign
        return ~pattern & ((1 << bits) - 1)

    def lengths(self, keys: NDArray[Any]) -> NDArray[Any]:
        """Give what `key` made keys of, or kernels; that of no path is `unreached`."""
        sign = keys.dtype.type(self.keys.sign)
        if self.keys.signed:
            turned = ~keys if self.real else keys ^ sign
            keys = np.where(keys & sign, keys ^ sign, turned)
        return np.ascontiguousarray(keys).view(self.dtype)

    def lengths_of_cells(self, cells: NDArray[Any]) -> NDArray[Any]:
        """Give what kernels keep of vertices in the middle of a search: keys, or stages too."""
        bits = self.keys.bits
        words = cells.view(np.uint64 if bits == 64 else np.uint32)
        return self.lengths(words[1::2] if cells.dtype.itemsize * 8 > bits else words)

    @cached_property
    def mean(self) -> float:
        """Mean weight; 1 without edges."""
        if not self.values.size:
            return 1.0
        if self.dtype != np.float64:
            return float(self.values.mean(dtype=np.float64))
        # The sum of doubles may be none.
        scale = float(np.abs(self.values).max()) or 1.0
        return float((self.values / scale).mean()) * scale

    @property
    def unit(self) -> float:
        """The least difference of lengths that counts: 1 for integers, else a small one."""
        if not self.real:
            return 1.0
        return max(self.mean / FINE, float(np.finfo(self.dtype).tiny))

    def length(self, key: int) -> float:
        """Give the length of a key that is one, of weights that are not negative."""
        pattern = np.array(key, f"u{self.keys.bits // 8}")
        return float(pattern.view(self.dtype)[()])

    def step(self, delta: float | None, hops: float) -> float:
        """Give what the bound of near and far rises by: a positive number of the weights' type.

        Parameters
        ----------
        delta : float or None
            As it was asked for; None is `hops` times the mean weight over the mean degree.
        hops : float
            How many edges out of a vertex should be as long as that, about.
        """
        if delta is None:
            delta = hops * self.mean / max(self._graph.mean_degree, 1.0)
        if self.real:
            tiny, most = np.finfo(self.dtype).tiny, np.finfo(self.dtype).max
            return float(min(max(delta, float(tiny)), float(most)))
        return float(min(max(math.ceil(delta), 1), np.iinfo(self.dtype).max >> 1))

    def limit_key(self, max_distance: Any) -> int:
        """Give the key of the largest distance that is wanted; `last_key` is that of any.

        Raises
        ------
        InvalidArgumentError
            If it is not a number, or negative where no distance is.
        """
        last = self.last_key
        try:
            number = max_distance.__index__()  # all digits of a large integer
        except (AttributeError, TypeError):
            number = _real_number(max_distance)
        if not (number >= 0 or (self.negative and number < 0)):  # nor is NaN either
            raise InvalidArgumentError(
                f"max_distance={max_distance} must be a number that is not negative, or None."
            )
        if self.real:
            most = float(np.finfo(self.dtype).max)
            length = self.dtype.type(-np.inf if number < -most else min(number, most))
            if float(length) > number:  # rounded up
                length = np.nextafter(length, self.dtype.type(-np.inf))
            return min(self.key(length), int(last))
        info = np.iinfo(self.dtype)
        if number >= int(info.max):
            return last
        return self.key(int(info.min) if number < int(info.min) else math.floor(number))


def _real_number(value: Any) -> float:
    """Give what calls itself a number as one; float() alone would read a text too."""
    try:
        return float(value.__float__())
    except (AttributeError, TypeError, ValueError):
        raise InvalidArgumentError(
            f"max_distance={shown(value)} is not a number; pass one, or None."
        ) from None
