"""Host memory that copies from a device go to: pinned, and used again."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device.lazy import cl
from clgraph.errors import ClgraphError, DeviceMemoryError

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from clgraph.device.opened import Opened

__all__ = ["HostArrays", "Pinned"]

# Smaller arrays cost the same wherever they are; blocks are of so many bytes at least.
LEAST_BYTES = 64 << 10
# What all blocks of a device may have together, those that nobody uses included.
MOST_BYTES = 1 << 30
# A block may be used for an array that leaves so much of it unused.
SLACK = 2


class Pinned:
    """An array in host memory that does not move, so that copies need nobody's help.

    Parameters
    ----------
    device : Opened
        Whose copies it is for.
    count : int
        Elements, at least 1.
    dtype : data type
        Of the elements.

    Attributes
    ----------
    array : numpy.ndarray
        Of `dtype` [count].

    Raises
    ------
    DeviceMemoryError
        If the system pins no more.

    Notes
    -----
    A driver reads into pinned memory behind a running kernel; into ordinary memory it makes the
    caller wait, which cost some 25 us for each look on an H200.
    """

    def __init__(self, device: Opened, count: int, dtype: DTypeLike) -> None:
        element = np.dtype(dtype)
        size_bytes = element.itemsize * count
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.ALLOC_HOST_PTR
        try:
            self._buffer = cl.Buffer(device.context, flags, size_bytes)
            mapped = cl.enqueue_map_buffer(
                device.queue,
                self._buffer,
                cl.map_flags.WRITE,
                0,
                (count,),
                element,
                is_blocking=True,
            )
        except cl.Error as error:
            raise DeviceMemoryError(
                f"the driver pins no {size_bytes} bytes of the host's memory ({error}); release "
                "plans and graphs, or raise what may be locked."
            ) from error
        self.array: NDArray[Any] = mapped[0]


class _Lease:
    """Bytes of a block for one array and its views; the block is free again when this is gone."""

    __slots__ = ("__array_interface__", "__weakref__", "_block")

    def __init__(self, block: NDArray[np.uint8], size_bytes: int) -> None:
        self._block = block
        self.__array_interface__ = {
            "data": (block.ctypes.data, False),
            "shape": (size_bytes,),
            "typestr": "|u1",
            "version": 3,
        }


class HostArrays:
    """Arrays that a device's results are copied into, in memory that is used again.

    Fresh memory costs more than the copy: its pages are made one by one, and a GPU copies into
    pinned memory several times as fast. To pin it takes longer than one copy, so the first array of
    a size is an ordinary one; memory for the next ones is kept, and given to another array when
    an array and all its views are gone.

    Parameters
    ----------
    device : Opened
        Whose copies they are for.

    Notes
    -----
    At most 1 GiB is kept for a device; arrays beyond it are ordinary ones.
    """

    def __init__(self, device: Opened) -> None:
        self._device = device
        self._lock = threading.RLock()  # reentrant: a collection may end up here again
        self._asked: set[int] = set()
        self._free: list[NDArray[np.uint8]] = []
        self._lent: dict[weakref.ref[_Lease], NDArray[np.uint8]] = {}
        # Filled by a callback that is not Python: in one that is, Ctrl-C would get lost.
        self._ended: deque[weakref.ref[_Lease]] = deque()

    @property
    def kept_bytes(self) -> int:
        """Bytes of all blocks, whether an array is in them or not."""
        with self._lock:
            return sum(map(len, [*self._free, *self._lent.values()]))

    def empty(self, count: int, dtype: DTypeLike) -> NDArray[Any]:
        """Give an array of `count` elements of `dtype` whose contents are undefined."""
        element = np.dtype(dtype)
        size_bytes = count * element.itemsize
        if size_bytes < LEAST_BYTES:
            return np.empty(count, element)
        with self._lock:
            block = self._block(size_bytes)
            if block is None:
                return np.empty(count, element)
            lease = _Lease(block, size_bytes)
            self._lent[weakref.ref(lease, self._ended.append)] = block
        return np.asarray(lease).view(element)

    def _block(self, size_bytes: int) -> NDArray[np.uint8] | None:
        while self._ended:
            block = self._lent.pop(self._ended.popleft(), None)
            if block is not None:
                self._free.append(block)
        wanted = -(-size_bytes // LEAST_BYTES) * LEAST_BYTES
        # Noted whether there is room or not: what another size left serves one array, not the next.
        is_first = wanted not in self._asked
        self._asked.add(wanted)
        fitting = [block for block in self._free if size_bytes <= len(block) <= SLACK * size_bytes]
        if fitting:
            block = min(reversed(fitting), key=len)  # what was used last may be in a cache
            self._free = [other for other in self._free if other is not block]
            return block
        if is_first:
            return None
        # Room that arrays of other sizes left is given up before this one goes without.
        while self._free and self.kept_bytes + wanted > MOST_BYTES:
            self._free.pop(0)
        return self._made(wanted) if self.kept_bytes + wanted <= MOST_BYTES else None

    def _made(self, size_bytes: int) -> NDArray[np.uint8] | None:
        if self._device.traits.is_cpu:
            return np.empty(size_bytes, np.uint8)
        try:
            pinned: NDArray[np.uint8] = Pinned(self._device, size_bytes, np.uint8).array
        except (cl.Error, ClgraphError):
            return None  # the system pins no more
        return pinned
