"""Arrays that results are in until they are read or forgotten."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from clgraph.device import Allocation, Memory

__all__ = ["Lender", "Lent"]


class Lent:
    """What a result holds of an array: it is nobody else's as long as this is there."""

    __slots__ = ("__weakref__", "array")

    def __init__(self, array: Allocation) -> None:
        self.array = array

    def read(self) -> NDArray[Any]:
        """Copy it to the host."""
        return self.array.read()


class Lender:
    """An array that is lent to one result after the other, and a new one if that before is kept.

    Taking memory and having the driver commit it would take as long as six launches.

    Parameters
    ----------
    memory : Memory
        Where to allocate.
    name, count, dtype
        As for `Memory.allocate`.
    """

    def __init__(self, memory: Memory, name: str, count: int, dtype: DTypeLike) -> None:
        self._memory, self._what = memory, (name, count, dtype)
        self._array: Allocation | None = None
        self._lent: weakref.ref[Lent] | None = None

    def lend(self) -> Lent:
        """Give an array that no living result needs; what is in it is undefined."""
        if self._array is None or (self._lent is not None and self._lent() is not None):
            self._array = None  # the result's alone from now on
            self._array = self._memory.allocate(*self._what)
        lent = Lent(self._array)
        self._lent = weakref.ref(lent)
        return lent
