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


def sorted_by(device: Device, n: int, src: Array, dst: Array) -> tuple[Array, Array] | None:
    """Make rows of edges without weights, each row ascending.

    Parameters
    ----------
    device : Device
        A processor.
    n : int
        Vertices.
    src, dst : int32 array [m]
        Ends of the edges, in [0, n).

    Returns
    -------
    (indptr, indices) or None
        Integers [n + 1] and [m]; None where edges are few, vertices too many for keys of 32 bits,
        or the device fails.
    """
    m, bits = len(src), max((n - 1).bit_length(), 1)
    bucket_bits = min((m // BUCKET_EDGES).bit_length(), MOST_BUCKET_BITS, bits)
    if m < LEAST_EDGES or 2 * bits - bucket_bits > KEY_BITS:
        return None
    if index_dtype(m) is not np.int32 or src.nbytes > device.traits.max_alloc_bytes:
        return None
    if any(ends.dtype != np.int32 or not ends.flags.c_contiguous for ends in (src, dst)):
        return None
    try:
        return _sorted(device, n, src, dst, bits, bits - bucket_bits)
    except OutOfBoundsError:  # of a checked kernel, whose user wants to know
        raise
    except BaseException as error:
        device.queue.finish()  # kernels look at arrays of the host
        if not isinstance(error, ClgraphError):
            raise
        log.info("%s: edges are sorted without a kernel: %s", device.name, error)
        return None


def _sorted(
    device: Device, n: int, src: Array, dst: Array, bits: int, shift: int
) -> tuple[Array, Array]:
    count, scatter, sort = bucket_kernels(device)
    m, items = len(src), ITEMS_PER_UNIT * device.traits.compute_units
    buckets, width = ((n - 1) >> shift) + 1, -(-bits // 2)
    size, about = np.uint32(m), (np.uint32(shift), np.uint32(bits), np.uint32(buckets))
    # Arrays as they are: to copy them would take as long as to sort them.
    given = [_lent(device, ends) for ends in (src, dst)]
    counts = np.empty((items, buckets), np.uint32)
    held = _lent(device, counts)
    wait(count.launch(items, 1, given[0], size, about[0], about[2], held))
    _give_back(device, held, counts)
    firsts = counts.T.cumsum(dtype=np.uint32).reshape(buckets, items) - counts.T
    places, begins = np.ascontiguousarray(firsts.T), np.append(firsts[:, 0], size)
    keys, room = np.empty(m, np.uint32), np.empty(items * ((2 << width) + (1 << shift)), np.uint32)
    indptr, indices = np.empty(n + 1, np.int32), np.empty(m, np.int32)
    between, *found = (_lent(device, array) for array in (keys, indptr, indices))
    shared = scatter.launch(items, 1, *given, size, *about, _lent(device, places), between)
    shape = (_lent(device, begins), np.uint32(n), *about, np.uint32(width), _lent(device, room))
    wait((shared, sort.launch(items, 1, between, *shape, *found)))
    for buffer, array in zip(found, (indptr, indices), strict=True):
        _give_back(device, buffer, array)
    return indptr, indices


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
