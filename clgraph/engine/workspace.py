"""Device memory that a plan keeps from one run to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clgraph.device import Memory

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from clgraph.device import Allocation, Device

__all__ = ["Workspace"]

SMALL = 1024  # elements, below which nothing is taken in advance


class Workspace:
    """Scratch arrays by name, each as large as it was ever asked for.

    Parameters
    ----------
    device : Device
        Whose memory it is.
    growing : bool
        Whether to take half as much again of larger arrays, which spares most allocations where
        each request is a little larger than the one before.

    Notes
    -----
    Taking an array costs a command that commits it, and its pages when they are first touched: for
    a run of a few milliseconds often more than its kernels.
    """

    def __init__(self, device: Device, *, growing: bool = False) -> None:
        self._memory = Memory(device)
        self._growing = growing
        self._arrays: dict[str, Allocation] = {}

    def array(self, name: str, count: int, dtype: DTypeLike) -> Allocation:
        """Give an array of at least so many elements, with undefined contents.

        Raises
        ------
        DeviceMemoryError
            If there is no room for it.
        """
        held = self._arrays.get(name)
        if held is None or held.count < count or held.dtype != dtype:
            self._arrays.pop(name, None)
            held = None  # free before the next one is taken
            room = count if count < SMALL or not self._growing else count + count // 2
            held = self._memory.allocate(name, room, dtype)
            self._arrays[name] = held
        return held

    def upload(self, name: str, values: NDArray[Any]) -> Allocation:
        """Give an array that begins with these values."""
        held = self.array(name, values.size, values.dtype)
        held.write(values)
        return held

    def release(self) -> None:
        """Let go of all."""
        self._arrays = {}

    @property
    def size_bytes(self) -> int:
        """Bytes of all."""
        return sum(array.size_bytes for array in self._arrays.values())
