"""Device memory of results, used again when nobody has them any more."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

import numpy as np

from clgraph.device.memory.allocation import allocated_bytes

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from clgraph.device.memory.allocation import Allocation
    from clgraph.device.memory.allocator import Memory

__all__ = ["ResultMemory"]

# Larger arrays are made anew and freed with their result: that takes little beside filling them,
# and a plan that kept them would leave others without room.
MOST_BYTES = 256 << 20


class ResultMemory:
    """Arrays that the runs of a plan write their results to.

    Fresh memory is committed by a write that is waited for, which takes longer than many a run. So
    the array of a result that is gone, or has been read, is kept for the next one.

    Parameters
    ----------
    memory : Memory
        Where to allocate.

    Notes
    -----
    One thread at a time. A result has an object of its own for its array, and whether that is gone
    is all there is to know: a run that an exception ends has nothing to give back.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._kept: dict[str, list[tuple[Allocation, weakref.ref[Allocation]]]] = {}

    def spare(self, name: str, count: int, dtype: DTypeLike) -> Allocation | None:
        """Give an array of this name and shape that no result has; let go of all others like it."""
        found, used = None, []
        for pair in self._kept.get(name, ()):
            array, user = pair
            if user() is not None:
                used.append(pair)
            elif found is None and array.count == count and array.dtype == dtype:
                found = array
        self._kept[name] = used
        return None if found is None else self._lend(found)

    def take(self, name: str, count: int, dtype: DTypeLike) -> Allocation:
        """Give an array that no result has, a new one where there is none.

        Raises
        ------
        DeviceMemoryError
            As `Memory.allocate`.
        """
        array = self.spare(name, count, dtype)
        if array is not None:
            return array
        made = self._memory.allocate(name, count, dtype)
        if allocated_bytes(count, np.dtype(dtype)) > MOST_BYTES:
            return made
        return self._lend(made)

    def _lend(self, array: Allocation) -> Allocation:
        lent = array.another()
        self._kept.setdefault(array.name, []).append((array, weakref.ref(lent)))
        return lent
