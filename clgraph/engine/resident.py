"""A graph's arrays in device memory, uploaded once and shared by every plan on that device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device import Memory
from clgraph.errors import InvalidGraphError
from clgraph.graph.csr import unsigned

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.device import Allocation, Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = [
    "FEWEST_WIDE",
    "ResidentGraph",
    "offsets_dtype",
    "resident",
    "unreachable_words",
    "wide_offsets",
]

# From so many edges on their places take 64 bits: loops step past their end, by at most what all
# work-items of a launch take at once, and would begin anew where 32 bits have no place for that.
FEWEST_WIDE = 2**32 - 2**24


@dataclass(frozen=True, slots=True)
class ResidentGraph:
    """CSR arrays on one device.

    Attributes
    ----------
    indptr : Allocation
        uint32 [n + 1], or uint64, see `wide_offsets`.
    indices : Allocation
        uint32 [m].
    """

    indptr: Allocation
    indices: Allocation


def wide_offsets(m: int) -> bool:
    """Report whether places of `m` edges, and what loops step to behind them, take 64 bits."""
    return m >= FEWEST_WIDE


def offsets_dtype(m: int) -> np.dtype[Any]:
    """Type of row offsets on a device for `m` edges."""
    return np.dtype(np.uint64 if wide_offsets(m) else np.uint32)


def resident(graph: Graph, device: Device, progress: Progress | None = None) -> ResidentGraph:
    """Give `graph` on `device`, uploading it on first use.

    Parameters
    ----------
    graph : Graph
        What to give.
    device : Device
        Where.
    progress : callable, optional
        Called with bytes uploaded, bytes in all, and what is uploaded.

    Returns
    -------
    ResidentGraph
        The same one for the same graph and device, as long as the graph lives.

    Raises
    ------
    DeviceMemoryError
        If it does not fit, before anything is copied.
    """
    if graph.n >= 2**32 - 64:
        raise InvalidGraphError(
            f"the graph has {graph.n} vertices, but kernels number vertices with 32 bits; "
            f"use fewer than {2**32 - 64}."
        )
    held: dict[Device, ResidentGraph] = graph.kept.setdefault(resident, {})
    if device not in held:
        memory = Memory(device)
        indptr = memory.upload(
            "indptr",
            unsigned(graph.indptr, offsets_dtype(graph.m)),
            progress=progress,
        )
        indices = memory.upload("indices", unsigned(graph.indices), progress=progress)
        held[device] = ResidentGraph(indptr, indices)
    return held[device]


def unreachable_words(in_degrees: NDArray[Any], word_bits: int) -> NDArray[Any]:
    """Bitmap of vertices that no edge leads to, with the bits beyond the last vertex set.

    Parameters
    ----------
    in_degrees : integer array [n]
        In-degree of each vertex.
    word_bits : {32, 64}
        Bits in a word; vertex v is bit ``v % word_bits`` of word ``v // word_bits``.

    Returns
    -------
    uint32 or uint64 array [ceil(n / word_bits)]
    """
    n = in_degrees.size
    bits = np.ones(-(-n // word_bits) * word_bits, bool)
    np.equal(in_degrees, 0, out=bits[:n])
    return np.packbits(bits, bitorder="little").view(f"<u{word_bits // 8}")
