"""Device memory with a budget and an owner for every buffer."""

from __future__ import annotations

import math
import os
import threading
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from clgraph.device.opencl import cl
from clgraph.device.waiting import wait
from clgraph.errors import DeviceMemoryError, InvalidArgumentError

if TYPE_CHECKING:
    from clgraph.device.discovery import Device

__all__ = ["Allocation", "Memory"]


class Ledger:
    """Bytes that this process holds on one device."""

    def __init__(self, total_bytes: int) -> None:
        self.total_bytes = total_bytes
        self.used_bytes = 0
        self.lock = threading.Lock()

    def reserve(self, size_bytes: int) -> bool:
        """Book bytes if the budget has them."""
        with self.lock:
            if self.used_bytes + size_bytes > self.total_bytes:
                return False
            self.used_bytes += size_bytes
            return True

    def release(self, size_bytes: int) -> None:
        """Give booked bytes back."""
        with self.lock:
            self.used_bytes -= size_bytes

    @property
    def free_bytes(self) -> int:
        """Bytes of the budget that are not booked."""
        return max(self.total_bytes - self.used_bytes, 0)


class Allocation:
    """A named one-dimensional array in device memory, freed with its owner.

    Attributes
    ----------
    name : str
        What the array is for; errors quote it.
    buffer : pyopencl.Buffer
        The OpenCL object, for kernel arguments.
    count : int
        Elements that were asked for; may be 0.
    dtype : numpy.dtype
        Type of the elements.
    size_bytes : int
        Bytes taken on the device, at least one element.
    """

    __slots__ = ("__weakref__", "_device", "_finalizer", "buffer", "count", "dtype", "name", "size_bytes")

    def __init__(
        self, device: Device, name: str, count: int, dtype: np.dtype[Any], ledger: Ledger
    ) -> None:
        self._device = device
        self.name = name
        self.count = count
        self.dtype = dtype
        self.size_bytes = max(count, 1) * dtype.itemsize
        self.buffer = cl.Buffer(device.context, cl.mem_flags.READ_WRITE, self.size_bytes)
        self._finalizer = weakref.finalize(self, _free, self.buffer, ledger, self.size_bytes)

    def read(self, count: int | None = None) -> NDArray[Any]:
        """Copy the first `count` elements (all of them by default) to the host."""
        count = self.count if count is None else count
        if not 0 <= count <= self.count:
            raise InvalidArgumentError(
                f"cannot read {count} elements of {self.name!r}, which holds {self.count}."
            )
        array = np.empty(count, self.dtype)
        if count:
            wait(cl.enqueue_copy(self._device.queue, array, self.buffer, is_blocking=False))
        return array

    def write(self, array: NDArray[Any]) -> None:
        """Copy a host array over the first elements."""
        source = np.ascontiguousarray(array, dtype=self.dtype).reshape(-1)
        if source.size > self.count:
            raise InvalidArgumentError(
                f"cannot write {source.size} elements to {self.name!r}, which holds {self.count}."
            )
        if source.size:
            wait(cl.enqueue_copy(self._device.queue, self.buffer, source, is_blocking=False))

    def release(self) -> None:
        """Free the device memory now; later uses of the buffer are errors. Harmless when repeated."""
        self._finalizer()


def _free(buffer: cl.Buffer, ledger: Ledger, size_bytes: int) -> None:
    buffer.release()
    ledger.release(size_bytes)


class Memory:
    """Allocator of one device; every instance for the same device shares its budget.

    Parameters
    ----------
    device : Device
        Whose memory to hand out.
    """

    def __init__(self, device: Device) -> None:
        self.device = device

    @property
    def free_bytes(self) -> int:
        """Bytes that can still be allocated within the budget."""
        return self.device.ledger.free_bytes

    def allocate(self, name: str, count: int, dtype: DTypeLike) -> Allocation:
        """Reserve device memory for `count` elements; their values are undefined."""
        element = np.dtype(dtype)
        size_bytes = max(int(count), 1) * element.itemsize
        ledger = self.device.ledger
        if size_bytes > self.device.traits.max_alloc_bytes or not ledger.reserve(size_bytes):
            raise DeviceMemoryError(
                f"{name!r} needs {size_bytes} bytes on {self.device.name}; {ledger.free_bytes} are free."
            )
        return Allocation(self.device, name, int(count), element, ledger)

    def upload(self, name: str, array: NDArray[Any]) -> Allocation:
        """Allocate and fill an array from the host."""
        allocation = self.allocate(name, math.prod(array.shape), array.dtype)
        allocation.write(array)
        return allocation


def budget_bytes(global_bytes: int) -> int:
    """Bytes that clgraph allows itself on a device."""
    limit = os.environ.get("CLGRAPH_MEMORY_LIMIT")
    return min(global_bytes, int(limit)) if limit else global_bytes
