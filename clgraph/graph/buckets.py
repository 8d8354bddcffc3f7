"""Rows of many edges in no order, sorted by a processor that is open anyway."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np

from clgraph.device import Memory, load
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
BUCKET_EDGES = 1 << 12  # what a bucket is to hold, as far as there may be as many
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
    (count, scatter, sort), memory = bucket_kernels(device), Memory(device)
    m, items = len(src), ITEMS_PER_UNIT * device.traits.compute_units
    buckets = ((n - 1) >> shift) + 1
    width = -(-bits // 2)
    size, about = np.uint32(m), (np.uint32(shift), np.uint32(bits), np.uint32(buckets))
    # Arrays as they are: to copy them would take as long as to sort them.
    indices = np.empty(m, np.int32)
    flags = cl.mem_flags
    given = [
        cl.Buffer(device.context, flags.READ_ONLY | flags.USE_HOST_PTR, hostbuf=ends)
        for ends in (src, dst)
    ]
    out = cl.Buffer(device.context, flags.READ_WRITE | flags.USE_HOST_PTR, hostbuf=indices)
    places = memory.allocate("bucket_places", items * buckets, np.uint32)
    keys = memory.allocate("bucket_keys", m, np.uint32)
    indptr = memory.allocate("indptr", n + 1, np.uint32)
    room = memory.allocate("bucket_counts", items * ((2 << width) + (1 << shift)), np.uint32)
    wait(count.launch(items, 1, given[0], size, about[0], about[2], places))
    counts = places.read().reshape(items, buckets).T.ravel()
    begins = (np.cumsum(counts, dtype=np.uint32) - counts).reshape(buckets, items)
    places.write(begins.T.ravel())
    begins = memory.upload("bucket_begins", np.append(begins[:, 0], size))
    wait(scatter.launch(items, 1, *given, size, *about, places, keys))
    shape = (begins, np.uint32(n), *about, np.uint32(width), room)
    wait(sort.launch(items, 1, keys, *shape, indptr, out))
    seen, event = cl.enqueue_map_buffer(
        device.queue, out, cl.map_flags.READ, 0, indices.shape, indices.dtype, is_blocking=False
    )
    wait(event)
    wait(seen.base.release(device.queue))
    return indptr.read().view(np.int32), indices


def bucket_kernels(device: Device) -> list[Kernel]:
    """Build what counts edges, what shares them out, and what sorts buckets."""
    program = load(device, "edges/buckets.cl")
    return [program.kernel(f"buckets_{name}") for name in ("count", "scatter", "sort")]
