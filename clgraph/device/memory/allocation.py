"""Arrays in device memory, each with an owner."""

from __future__ import annotations

import importlib
import operator
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device.forks import check_process
from clgraph.device.lazy import cl
from clgraph.device.memory.copying import copied, finish_copy
from clgraph.device.waiting import wait
from clgraph.errors import DeviceMemoryError, InvalidArgumentError
from clgraph.progress import Progress, report_progress

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray
    from pyopencl.array import Array

    from clgraph.device.discovery import Device
    from clgraph.device.memory.budget import Booking

__all__ = ["Allocation", "Progress", "address_of", "allocated_bytes"]

WORD_BYTES, POINTER_BYTES = 4, 8
# A copy longer than this goes in pieces, between which Ctrl-C is answered.
PIECE_BYTES = 64 << 20


class Allocation:
    """A named one-dimensional array in device memory, freed with its owner; made by `Memory`.

    Attributes
    ----------
    name : str
        What the array is for; errors quote it.
    count : int
        Elements; may be 0.
    dtype : numpy.dtype
        Their type.
    size_bytes : int
        Bytes taken on the device: at least one element, in whole words.
    token : object
        Changes when the memory behind this object does.
    address : bytes
        Of the OpenCL object, as kernels take it; empty after `release`.
    """

    __slots__ = (
        "__weakref__",
        "_booking",
        "_buffer",
        "_device",
        "address",
        "count",
        "dtype",
        "name",
        "size_bytes",
        "token",
    )

    def __init__(
        self,
        device: Device,
        name: str,
        count: int,
        dtype: np.dtype[Any],
        held: tuple[Booking | None, cl.Buffer],
    ) -> None:
        self.name = name
        self.count = count
        self.dtype = dtype
        self.size_bytes = allocated_bytes(count, dtype)
        self.token = object()
        self._device = device
        self._booking: Booking | None
        self._buffer: cl.Buffer | None
        self._booking, self._buffer = held
        self.address = address_of(held[1])

    @property
    def buffer(self) -> cl.Buffer:
        """The OpenCL object.

        Raises
        ------
        InvalidArgumentError
            After `release`.
        """
        check_process()
        if self._buffer is None:
            raise InvalidArgumentError(f"{self.name!r} has been released; allocate it again.")
        return self._buffer

    def read(
        self, count: int | None = None, into: NDArray[Any] | None = None, *, begin: int = 0
    ) -> NDArray[Any]:
        """Copy elements to the host, after everything that was enqueued before.

        Parameters
        ----------
        count : int, optional
            How many; default all from `begin` on.
        into : numpy.ndarray, optional
            Contiguous array of `count` elements of `dtype` to copy to; default a new one.
        begin : int
            The first of them.

        Returns
        -------
        numpy.ndarray
            Of `count` elements of `dtype`.

        Raises
        ------
        InvalidArgumentError
            If there are not so many, or after `release`.
        """
        count = self.count - begin if count is None else operator.index(count)
        self._check(begin + count, "read", "from")
        array = self._device.host_arrays.empty(count, self.dtype) if into is None else into
        queue = self._device.queue
        step = max(PIECE_BYTES // self.dtype.itemsize, 1)
        for first in range(0, count, step):
            piece = array[first : first + step]
            offset = (begin + first) * self.dtype.itemsize
            event = cl.enqueue_copy(queue, piece, self.buffer, src_offset=offset, is_blocking=False)
            finish_copy(copied(event, piece.nbytes))
        return array

    def read_later(self, count: int) -> Callable[[], NDArray[Any]]:
        """Enqueue copying a few elements, from the first, to the host.

        Returns
        -------
        callable
            Waits for the copy, and gives the array.
        """
        self._check(count, "read", "from")
        array = np.empty(count, self.dtype)
        queue = self._device.queue
        event = cl.enqueue_copy(queue, array, self.buffer, is_blocking=False)
        copied(event, array.nbytes)

        def waited() -> NDArray[Any]:
            finish_copy(event)
            return array

        return waited

    def duplicate(self) -> Array:
        """Copy everything to an array of the device's that is the caller's own.

        Returns
        -------
        pyopencl.array.Array
            [count] of `dtype`, on the device's queue; not counted in the budget.

        Raises
        ------
        DeviceMemoryError
            If there is no room for it.
        """
        arrays = importlib.import_module("pyopencl.array")  # which takes long to import
        queue = self._device.queue
        try:
            array: Array = arrays.empty(queue, self.count, self.dtype)
            if self.count:
                size = self.count * self.dtype.itemsize
                buffer: Any = array.data
                wait(cl.enqueue_copy(queue, buffer, self.buffer, byte_count=size))
        except cl.Error as error:
            raise DeviceMemoryError(
                f"there is no room for a copy of {self.name!r} on {self._device.name} ({error}); "
                "release plans and graphs, or copy it to the host."
            ) from error
        return array

    def write(self, array: ArrayLike, *, progress: Progress | None = None) -> None:
        """Copy a host array over the first elements.

        Parameters
        ----------
        array : array_like
            At most `count` elements; converted to `dtype` if that loses nothing by kind.
        progress : callable, optional
            Called with bytes copied, bytes in all, and what is copied, every 64 MiB.

        Raises
        ------
        InvalidArgumentError
            If there are too many, or after `release`.
        TypeError
            If the elements cannot be converted safely.
        """
        given = np.asarray(array)
        source = np.ascontiguousarray(given.astype(self.dtype, casting="same_kind", copy=False))
        source = source.reshape(-1)
        self._check(source.size, "write", "to")

        def report(done: int) -> None:
            report_progress(progress, done, source.nbytes, f"copying {self.name} to the device")

        staging = self._device.staging
        if staging is not None and source.nbytes >= PIECE_BYTES:
            staging.write(self.buffer, source.view(np.uint8), report)
            report(source.nbytes)
            return
        queue = self._device.queue
        step = max(PIECE_BYTES // self.dtype.itemsize, 1)
        for first in range(0, source.size, step):
            piece = source[first : first + step]
            offset = first * self.dtype.itemsize
            event = cl.enqueue_copy(queue, self.buffer, piece, dst_offset=offset, is_blocking=False)
            finish_copy(copied(event, piece.nbytes))
            report(offset + piece.nbytes)

    def clear(self) -> cl.Event:
        """Enqueue setting every byte to 0.

        Returns
        -------
        pyopencl.Event
            Give it to `wait`, or to nobody: the queue keeps its order.
        """
        zero = np.zeros(1, np.uint32)
        return cl.enqueue_fill_buffer(self._device.queue, self.buffer, zero, 0, self.size_bytes)

    def another(self) -> Allocation:
        """Give another object for the same memory, which stays as long as one of them."""
        same = Allocation.__new__(Allocation)
        # First the buffer: it may have been released.
        same._buffer, same._booking = self.buffer, self._booking  # noqa: SLF001
        same._device = self._device  # noqa: SLF001
        same.name, same.count, same.dtype = self.name, self.count, self.dtype
        same.size_bytes, same.address, same.token = self.size_bytes, self.address, self.token
        return same

    def release(self) -> None:
        """Free the device memory now; repeating it is harmless, using the array is an error."""
        self.token = object()
        self.address = b""
        self._buffer = None
        self._booking = None

    def _check(self, count: int, what: str, preposition: str) -> None:
        if not 0 <= count <= self.count:
            raise InvalidArgumentError(
                f"cannot {what} {count} elements {preposition} {self.name!r}, which has "
                f"{self.count}."
            )


def address_of(buffer: cl.Buffer) -> bytes:
    """Give the address of an OpenCL object as kernels take it."""
    return int(buffer.int_ptr).to_bytes(POINTER_BYTES, sys.byteorder)


def allocated_bytes(count: int, dtype: np.dtype[Any]) -> int:
    """Bytes taken for an array: at least one element, in whole words."""
    return -(-max(count, 1) * dtype.itemsize // WORD_BYTES) * WORD_BYTES
