"""Device memory that a plan keeps from one run to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device import Memory
from clgraph.device.lazy import cl
from clgraph.device.memory.copying import copied, finish_copy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import DTypeLike, NDArray

    from clgraph.device import Allocation, Device

__all__ = ["Workspace"]

TOGETHER_BYTES = 1 << 20  # of an array whose copy is not waited for by itself
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

    def upload_all(self, values: Mapping[str, NDArray[Any]]) -> dict[str, Allocation]:
        """Give arrays that begin with these values; those that are small are waited for together.

        To wait for each of a dozen took a CPU longer than the shorter phases of a query.
        """
        arrays, events = {}, []
        for name, array in values.items():
            held = arrays[name] = self.array(name, array.size, array.dtype)
            if not 0 < array.nbytes <= TOGETHER_BYTES:
                held.write(array)
                continue
            queue, source = self._memory.device.queue, np.ascontiguousarray(array)
            event = cl.enqueue_copy(queue, held.buffer, source, is_blocking=False)
            events.append(copied(event, source.nbytes))
        finish_copy(*events)
        return arrays

    def read_all(self, wanted: Iterable[tuple[Allocation, int]]) -> list[NDArray[Any]]:
        """Copy so many elements of each array to the host, as `upload_all` does the other way."""
        device = self._memory.device
        found, events = [], []
        for held, count in wanted:
            if not 0 < count * held.dtype.itemsize <= TOGETHER_BYTES:
                found.append(held.read(count))
                continue
            values = device.host_arrays.empty(count, held.dtype)
            event = cl.enqueue_copy(device.queue, values, held.buffer, is_blocking=False)
            events.append(copied(event, values.nbytes))
            found.append(values)
        finish_copy(*events)
        return found

    def release(self) -> None:
        """Let go of all."""
        self._arrays = {}

    @property
    def size_bytes(self) -> int:
        """Bytes of all."""
        return sum(array.size_bytes for array in self._arrays.values())
