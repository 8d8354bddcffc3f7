"""Where the shares of vertices are kept: those that many edges read lie together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device import Memory, load
from clgraph.engine.sweeps import Sweeper, SweepLog
from clgraph.primitives.radix import DIGIT_BITS, RadixSort, digit_passes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.device import Allocation, Device

__all__ = ["placed_rows", "places_of"]

# What the cache of a compute unit holds, and of what is read so much has to come from there.
NEAR_BYTES, NEAR_PORTION = 1 << 17, 0.25
MOST_EDGES = 2**31
SORTED_BYTES = 2 * 8 + 4  # of an edge, while rows are sorted and after


def placed_on(device: Device) -> bool:
    """Whether compute units have a small cache of their own and nothing else to go by."""
    return not device.traits.is_cpu


def places_of(
    references: NDArray[Any] | None, m: int, device: Device, real: np.dtype[Any]
) -> NDArray[np.uint32] | None:
    """Give where shares are to be, those that most rows read first; None where it does not pay.

    Parameters
    ----------
    references : integer array [n], optional
        How many rows each vertex is in; None where nobody counted.
    m : int
        Edges.
    device : Device
        Where.
    real : numpy.dtype
        Of shares, and of weights if there are any.
    """
    if references is None or not placed_on(device) or m >= MOST_EDGES:
        return None
    near = NEAR_BYTES // real.itemsize
    needed = m * (SORTED_BYTES + 2 * real.itemsize)
    if len(references) <= near or needed > device.ledger.free_bytes // 2:
        return None
    order = np.argsort(-references.astype(np.int64), kind="stable")
    if references[order[:near]].sum() < NEAR_PORTION * references.sum():
        return None
    places = np.empty(len(order), np.uint32)
    places[order] = np.arange(len(order), dtype=np.uint32)
    return places


def placed_rows(
    device: Device, memory: Memory, rows: tuple[Allocation, ...], places: Allocation, m: int
) -> tuple[Allocation, ...]:
    """Give rows that name places, in their order: work-items beside each other read what is near.

    Parameters
    ----------
    device : Device
        Where.
    memory : Memory
        What to allocate from.
    rows : tuple of Allocation
        indptr, indices and perhaps weights, which are sorted where they are.
    places : Allocation
        uint32 [n].
    m : int
        Edges.
    """
    indptr, indices, *weights = rows
    n, log = places.count, SweepLog()
    sweeper = Sweeper(device, m)
    program = load(device, "ranking/place.cl", group_size=sweeper.group_size)
    bits = max((n - 1).bit_length(), 1)
    words = Memory(device).allocate("edge_words", m, np.uint64)
    placed = memory.allocate("placed_indices", m, np.uint32)
    number, width = np.uint32(m), np.uint32(bits)
    name = program.kernel("place_name")
    sweeper.launch(log, name, indptr, indices, places, np.uint32(n), number, width, words)
    # Weights come back to where they were after an even number of passes.
    sorted_bits = 2 * bits + DIGIT_BITS * (digit_passes(2 * bits) % 2)
    sort = RadixSort(device, np.uint64, weights[0].dtype if weights else None)
    words, _ = sort.enqueue(log, words, m, *weights, bits=sorted_bits)
    sweeper.launch(log, program.kernel("place_keep"), number, width, words, placed)
    log.wait()
    return (indptr, placed, *weights)
