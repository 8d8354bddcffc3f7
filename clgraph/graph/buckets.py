"""Rows of many edges in no order, sorted by a processor that is open anyway."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np

from clgraph.device import load
from clgraph.device.lazy import cl
from clgraph.device.waiting import wait
from clgraph.errors import ClgraphError, OutOfBoundsError
from clgraph.graph.csr import index_dtype

if TYPE_CHECKING:
    from clgraph.device import Device
    from clgraph.device.programs.kernel import Kernel
    from clgraph.graph.csr import Array

__all__ = ["bucket_kernels", "sorted_by"]

LEAST_EDGES = 1 << 20  # SciPy takes 20 ms for them
BUCKET_EDGES = 1 << 13  # what a bucket is to hold, as far as there may be as many
MOST_BUCKET_BITS = 12  # or edges would go to more places than a cache has lines
KEY_BITS = 32
ITEMS_PER_UNIT = 4

log = logging.getLogger("clgraph")


def sorted_by(
    device: Device, n: int, src: Array, dst: Array, *, spare: bool = False
) -> tuple[Array, Array] | None:
    """Make rows of edges without weights, each row ascending.

    Parameters
    ----------
    device : Device
        A processor.
    n : int
        Vertices.
    src, dst : int32 array [m]
        Ends of the edges, in [0, n).
    spare : bool
        Whether nobody wants `src` afterwards: indices may take its memory, which is cheaper than
        fresh pages.

    Returns
    -------
    (indptr, indices) or None
        Integers [n + 1] and [m]; None where edges are few, vertices too many for keys of 32 bits,
        or the device fails, and `src` is as it was.

    Raises
    ------
    ClgraphError
        If the device fails when `src` has been written to.
    """
    m, bits = len(src), max((n - 1).bit_length(), 1)
    bucket_bits = min((m // BUCKET_EDGES).bit_length(), MOST_BUCKET_BITS, bits)
    if m < LEAST_EDGES or 2 * bits - bucket_bits > KEY_BITS:
        return None
    if index_dtype(m) is not np.int32 or src.nbytes > device.traits.max_alloc_bytes:
        return None
    if any(ends.dtype != np.int32 or not ends.flags.c_contiguous for ends in (src, dst)):
        return None
    is_spare, is_whole = spare and src.flags.writeable, True
    try:
        sorting = _Sorting(device, n, m, bits, bits - bucket_bits)
        sorting.share_out(src, dst)
        is_whole = not is_spare
        indices = src if is_spare else np.empty(m, np.int32)
        return sorting.rows(indices), indices
    except OutOfBoundsError:  # of a checked kernel, whose user wants to know
        raise
    except BaseException as error:
        device.queue.finish()  # kernels look at arrays of the host
        if not (is_whole and isinstance(error, ClgraphError)):
            raise
        log.info("%s: edges are sorted without a kernel: %s", device.name, error)
        return None


class _Sorting:
    """What sorts `m` edges by way of buckets of sources that are alike but for `shift` bits."""

    def __init__(self, device: Device, n: int, m: int, bits: int, shift: int) -> None:
        self._device, self._n, self._shift = device, n, shift
        self._count, self._scatter, self._sort = bucket_kernels(device)
        self._items = ITEMS_PER_UNIT * device.traits.compute_units
        self._buckets, self._width = ((n - 1) >> shift) + 1, -(-bits // 2)
        self._about = (np.uint32(shift), np.uint32(bits), np.uint32(self._buckets))
        self._keys = np.empty(m, np.uint32)
        self._between = _lent(device, self._keys)

    def share_out(self, src: Array, dst: Array) -> None:
        """Have a key of each edge in its bucket; nobody looks at the edges afterwards."""
        device, items, size = self._device, self._items, np.uint32(len(src))
        # Arrays as they are: to copy them would take as long as to sort them.
        given = [_lent(device, ends) for ends in (src, dst)]
        counts = np.empty((items, self._buckets), np.uint32)
        held = _lent(device, counts)
        few = self._about[0], self._about[2]
        wait(self._count.launch(items, 1, given[0], size, *few, held))
        _give_back(device, held, counts)
        firsts = counts.T.cumsum(dtype=np.uint32).reshape(self._buckets, items) - counts.T
        places, self._begins = np.ascontiguousarray(firsts.T), np.append(firsts[:, 0], size)
        about = (size, *self._about, _lent(device, places), self._between)
        wait(self._scatter.launch(items, 1, *given, *about))

    def rows(self, indices: Array) -> Array:
        """Sort each bucket into `indices`; gives where rows begin."""
        device, items = self._device, self._items
        room = np.empty(items * ((2 << self._width) + (1 << self._shift)), np.uint32)
        indptr = np.empty(self._n + 1, np.int32)
        found = [_lent(device, array) for array in (indptr, indices)]
        about = (np.uint32(self._n), *self._about, np.uint32(self._width), _lent(device, room))
        begins = _lent(device, self._begins)
        wait(self._sort.launch(items, 1, self._between, begins, *about, *found))
        for buffer, array in zip(found, (indptr, indices), strict=True):
            _give_back(device, buffer, array)
        return indptr


def _lent(device: Device, array: Array) -> cl.Buffer:
    """Have kernels work on an array of the host, until it is given back."""
    access = cl.mem_flags.READ_WRITE if array.flags.writeable else cl.mem_flags.READ_ONLY
    return cl.Buffer(device.context, access | cl.mem_flags.USE_HOST_PTR, hostbuf=array)


def _give_back(device: Device, buffer: cl.Buffer, array: Array) -> None:
    """Have the host see what kernels have written to an array."""
    seen, event = cl.enqueue_map_buffer(
        device.queue, buffer, cl.map_flags.READ, 0, array.shape, array.dtype, is_blocking=False
    )
    wait(event)
    wait(seen.base.release(device.queue))


def bucket_kernels(device: Device) -> list[Kernel]:
    """Build what counts edges, what shares them out, and what sorts buckets."""
    program = load(device, "edges/buckets.cl")
    return [program.kernel(f"buckets_{name}") for name in ("count", "scatter", "sort")]
