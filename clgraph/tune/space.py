"""The points that a search may try: branches of a tree, each with axes of its own."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import numpy as np

__all__ = ["Branch", "Space", "Values", "key_of"]

# Parameters by dotted names; what is left out is chosen by rules.
Values: TypeAlias = "Mapping[str, Any]"


def key_of(values: Values) -> tuple[tuple[str, Any], ...]:
    """Give what tells points apart."""
    return tuple(sorted(values.items()))


@dataclass(frozen=True, slots=True)
class Branch:
    """Points that have some parameters in common.

    Attributes
    ----------
    fixed : mapping
        What they have in common.
    axes : mapping of str to tuple
        Values of every other parameter, numbers ascending; None for what rules choose.
    """

    fixed: Values
    axes: Mapping[str, tuple[Any, ...]]

    def at(self, places: tuple[Any, ...]) -> dict[str, Any]:
        """Give the point with one value of each axis."""
        chosen = zip(self.axes, places, strict=True)
        return {**self.fixed, **{name: value for name, value in chosen if value is not None}}

    def has(self, values: Values) -> bool:
        """Whether a point is of this branch."""
        fixed = all(values.get(name) == value for name, value in self.fixed.items())
        return fixed and all(
            name in self.fixed or value in self.axes.get(name, ()) for name, value in values.items()
        )


@dataclass(frozen=True, slots=True)
class Space:
    """All legal points of some branches.

    Parameters
    ----------
    branches : tuple of Branch
        In the order of their promise; their first points are tried early.
    legal : callable
        Raises `InvalidArgumentError` for a point that is no configuration.
    """

    branches: tuple[Branch, ...]
    legal: Callable[[Values], object]

    def has(self, values: Values) -> bool:
        """Whether a point is of a branch, and legal."""
        return any(branch.has(values) for branch in self.branches) and self._is_legal(values)

    def _is_legal(self, values: Values) -> bool:
        try:
            self.legal(values)
        except InvalidArgumentError:
            return False
        return True

    def __len__(self) -> int:
        """How many combinations there are, the illegal ones counted; `points` leaves those out."""
        return sum(
            math.prod(len(axis) for axis in branch.axes.values()) for branch in self.branches
        )

    def points(self) -> Iterator[dict[str, Any]]:
        """Give every legal point once."""
        seen = set()
        for branch in self.branches:
            for places in itertools.product(*branch.axes.values()):
                values = branch.at(places)
                if key_of(values) not in seen and self._is_legal(values):
                    seen.add(key_of(values))
                    yield values

    def drawn(self, rng: np.random.Generator, count: int) -> Iterator[dict[str, Any]]:
        """Give legal ones of `count` combinations drawn by chance, branches alike."""
        for _ in range(count):
            branch = self.branches[int(rng.integers(len(self.branches)))]
            places = tuple(axis[int(rng.integers(len(axis)))] for axis in branch.axes.values())
            values = branch.at(places)
            if self._is_legal(values):
                yield values

    def heads(self) -> Iterator[dict[str, Any]]:
        """Give one point of every branch: with what rules choose, where they may."""
        for branch in self.branches:
            for places in itertools.product(*branch.axes.values()):
                values = branch.at(places)
                if self._is_legal(values):
                    yield values
                    break

    def neighbours(self, values: Values) -> Iterator[dict[str, Any]]:
        """Give points that differ in one axis: by a step where it has numbers, else in any way."""
        for branch in self.branches:
            if not branch.has(values):
                continue
            for name, axis in branch.axes.items():
                for other in _beside(axis, values.get(name)):
                    changed = {**values, name: other}
                    if other is None:
                        del changed[name]
                    if self._is_legal(changed):
                        yield changed


def _beside(axis: tuple[Any, ...], now: Any) -> Iterator[Any]:
    numbers = [value for value in axis if value is not None]
    ordered = all(isinstance(value, int | float) and value is not True for value in numbers)
    for place, value in enumerate(axis):
        if value == now:
            continue
        far = ordered and None not in {now, value} and abs(place - axis.index(now)) > 1
        if not far:
            yield value
