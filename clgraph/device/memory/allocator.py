"""Taking device memory: within a budget, committed at once, and refused in a sentence."""

from __future__ import annotations

import gc
import math
import operator
import os
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np

from clgraph.device.forks import check_process
from clgraph.device.lazy import cl
from clgraph.device.memory.allocation import WORD_BYTES, Allocation, allocated_bytes
from clgraph.device.memory.copying import finish_copy
from clgraph.device.memory.huge import LEAST_BYTES, advise_huge_pages
from clgraph.device.waiting import wait
from clgraph.errors import ClgraphError, DeviceMemoryError, InvalidArgumentError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray
    from pyopencl.array import Array

    from clgraph.device.discovery import Device
    from clgraph.progress import Progress

__all__ = ["Memory"]


class Memory:
    """Allocator of one device; all of them for the same device share one budget.

    Parameters
    ----------
    device : Device
        Whose memory to hand out.

    Notes
    -----
    The budget is the device's memory, less a reserve of 1/32 (512 MiB at most) and what
    this process holds already. ``CLGRAPH_MEMORY_LIMIT``, a number of bytes, lowers it. A device
    that shares the host's memory also stops at what the host has available. ``CLGRAPH_POISON``, a
    number of 32 bits, is what fresh memory is full of; without it, whatever was there.
    """

    def __init__(self, device: Device) -> None:
        self.device = device

    @property
    def free_bytes(self) -> int:
        """Bytes of the budget that are free."""
        return self.device.ledger.free_bytes

    def allocate(self, name: str, count: int, dtype: DTypeLike) -> Allocation:
        """Take device memory for an array.

        Parameters
        ----------
        name : str
            What it is for; errors quote it.
        count : int
            Elements; 0 is allowed and takes the room of one.
        dtype : dtype_like
            Their type.

        Returns
        -------
        Allocation
            Its first word is 0, the rest is undefined.

        Raises
        ------
        DeviceMemoryError
            If the array is larger than one allocation may be, the budget is spent, or the driver
            has no room: it is made to commit the memory here, so that it does not fail in a kernel.
        """
        check_process()
        count, element = operator.index(count), np.dtype(dtype)
        if count < 0:
            raise InvalidArgumentError(f"{name!r} cannot have {count} elements.")
        size_bytes, poison = allocated_bytes(count, element), _poison()
        largest = self.device.traits.max_alloc_bytes
        if size_bytes > largest:
            self._refuse(
                name,
                size_bytes,
                f"one allocation there may have {largest} bytes; use a smaller graph or a device "
                "with more memory",
            )
        ledger = self.device.ledger
        booking = ledger.take(size_bytes)
        if booking is None:
            # Plans and graphs that refer to each other wait for the collector.
            gc.collect()
            booking = ledger.take(size_bytes)
            if booking is None:
                self._refuse(name, size_bytes, "release plans and graphs or use a smaller graph")
        try:
            buffer = self._commit(size_bytes)
            if poison is not None and size_bytes > WORD_BYTES:
                # A system gives fresh pages as zeros, which hides a use of what nobody has written.
                rest, queue = size_bytes - WORD_BYTES, self.device.queue
                wait(cl.enqueue_fill_buffer(queue, buffer, poison, WORD_BYTES, rest))
        except BaseException as error:
            booking = None  # which the traceback would keep
            if isinstance(error, (cl.Error, ClgraphError)):
                self._refuse(name, size_bytes, f"the driver has no room ({error})", error)
            raise
        return Allocation(self.device, name, count, element, (booking, buffer))

    def upload(
        self, name: str, array: ArrayLike, *, progress: Progress | None = None
    ) -> Allocation:
        """Take device memory for a host array and copy it there.

        Parameters
        ----------
        name : str
            What it is for.
        array : array_like
            Any shape; stored flat, in C order, with its own dtype.
        progress : callable, optional
            As for `Allocation.write`.

        Returns
        -------
        Allocation
            Holding a copy.

        Raises
        ------
        DeviceMemoryError
            As `allocate`.
        """
        source = np.asarray(array)
        allocation = self.allocate(name, math.prod(source.shape), source.dtype)
        allocation.write(source, progress=progress)
        return allocation

    def borrow(self, name: str, array: Array) -> Allocation | None:
        """Use an array of the device's where it lies; it stays its owner's.

        Parameters
        ----------
        name : str
            As for `allocate`.
        array : pyopencl.array.Array
            One-dimensional, of elements of whole words; what is enqueued for it on other queues is
            waited for.

        Returns
        -------
        Allocation
            The same memory, which counts in no budget and is kept as long as this, or a copy of
            a part of an array; None for an array of another context, or that is not contiguous.
        """
        if array.context != self.device.context or array.dtype.itemsize % WORD_BYTES:
            return None
        if array.ndim != 1 or not array.flags.c_contiguous:
            return None
        queue, whole = self.device.queue, cast("Any", array.base_data)
        array.finish()
        if array.queue not in (None, queue):
            wait(cl.enqueue_marker(array.queue))
        if array.size and not array.offset:
            return Allocation(self.device, name, array.size, array.dtype, (None, whole))
        made = self.allocate(name, array.size, array.dtype)
        if array.size:
            size, begin = array.nbytes, array.offset
            wait(cl.enqueue_copy(queue, made.buffer, whole, byte_count=size, src_offset=begin))
        return made

    def _commit(self, size_bytes: int) -> cl.Buffer:
        device = self.device
        buffer = cl.Buffer(device.context, cl.mem_flags.READ_WRITE, size_bytes)
        try:
            if device.is_simulator:
                # It never fails late, but takes a buffer of which the host wrote a part for one
                # that kernels never initialise.
                zeros = np.zeros(size_bytes, np.uint8)
                finish_copy(cl.enqueue_copy(device.queue, buffer, zeros, is_blocking=False))
            else:
                if device.traits.is_cpu and size_bytes >= LEAST_BYTES:
                    advise_huge_pages(device.queue, buffer, size_bytes)
                zero = np.zeros(1, np.uint32)
                wait(cl.enqueue_fill_buffer(device.queue, buffer, zero, 0, WORD_BYTES))
        except BaseException:
            buffer.release()  # a traceback would keep it
            raise
        return buffer

    def _refuse(
        self, name: str, size_bytes: int, why: str, cause: BaseException | None = None
    ) -> NoReturn:
        raise DeviceMemoryError(
            f"{name!r} needs {size_bytes} bytes on {self.device.name}, where {self.free_bytes} are "
            f"free: {why}."
        ) from cause


def _poison() -> NDArray[np.uint32] | None:
    """Give the word that fresh memory is filled with, if that is asked for."""
    text = os.environ.get("CLGRAPH_POISON")
    if not text:
        return None
    try:
        word = int(text, 0)
    except ValueError:
        word = -1
    if not 0 <= word < 1 << 32:
        raise InvalidArgumentError(
            f"CLGRAPH_POISON is {text!r}; it must be a number below 2**32, such as 0xA5A5A5A5."
        )
    return np.array([word], np.uint32)
