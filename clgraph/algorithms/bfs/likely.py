"""The in-neighbours of each vertex that pulling tries first: its likeliest parents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph.device import Memory, load
from clgraph.device.waiting import wait
from clgraph.engine.blocks import rows_in_blocks, rows_of

if TYPE_CHECKING:
    from clgraph.device import Allocation, Device, Program
    from clgraph.device.memory.allocation import Progress
    from clgraph.device.programs.kernel import Argument
    from clgraph.engine.blocks import BlockRows
    from clgraph.graph import Graph

__all__ = ["LOOKED_AT", "likely_among", "likely_in_place", "likely_parents"]

ITEMS_PER_UNIT = 2048
# In-neighbours of a vertex that are looked at, the first ones.
LOOKED_AT = 64


def likely_parents(
    graph: Graph | BlockRows,
    back: Graph | BlockRows,
    kept: int,
    device: Device,
    progress: Progress | None = None,
) -> Allocation:
    """Give the in-neighbours of most out-edges of each vertex, on a device.

    Parameters
    ----------
    graph, back : Graph or BlockRows
        What is searched, and its transpose, or itself where it is undirected, as in blocks it is.
    kept : int
        How many of each vertex, at most `LOOKED_AT`.
    device : Device
        Where.
    progress : callable, optional
        Called with bytes uploaded, bytes in all, and what is uploaded.

    Returns
    -------
    Allocation
        uint32 [n * kept], those of one vertex side by side; the same one for the same arguments, as
        long as the graph lives. A vertex of fewer in-neighbours has itself for the missing ones.

    Raises
    ------
    DeviceMemoryError
        If 4 * kept bytes per vertex more do not fit.

    Notes
    -----
    O(n * LOOKED_AT) at most. A frontier that is worth pulling holds vertices with many edges, so
    most vertices find a parent without a look at their rows.
    """
    held: dict[tuple[Device, int], Allocation] = graph.kept.setdefault(likely_parents, {})
    if (device, kept) not in held:
        rows, in_rows = (rows_of(which, device, progress) for which in (graph, back))
        blocks = rows_in_blocks(graph)
        likely = Memory(device).allocate("likely", graph.n * kept, np.uint32)
        layout = "packed" if blocks is None else "blocks"
        program = _program(device, rows.indptr, kept, layout)
        lengths = () if blocks is None else (blocks.store.used,)
        arrays = (rows.indptr, *lengths, in_rows.indptr, in_rows.indices)
        numbers = (np.uint32(graph.n), np.uint32(LOOKED_AT))
        kernel = program.kernel("bfs_likely")
        wait(kernel.launch(*_sizes(device), *arrays, *numbers, likely))
        held[device, kept] = likely
    return held[device, kept]


def likely_among(
    in_indptr: Allocation, in_indices: Allocation, first: int, n: int, kept: int, device: Device
) -> Allocation:
    """Give the same of the vertices of a part, by the out-edges that lead to these.

    Parameters
    ----------
    in_indptr, in_indices : Allocation
        In-edges of the part's vertices; sources are numbered as in the whole graph.
    first : int
        Number of the part's first vertex in the whole graph.
    n : int
        Vertices of the whole graph.
    kept : int
        How many of each vertex.
    device : Device
        Where, with the queue that is to have it.

    Returns
    -------
    Allocation
        uint32, as of `likely_parents`, numbered as in the whole graph.

    Raises
    ------
    DeviceMemoryError
        If that, and beside it for a while 4 bytes for each vertex of the graph, do not fit.

    Notes
    -----
    A part knows the degrees of its own vertices only; of the edges of others about as large a share
    leads here as of all, and edges that do not are of no use here.
    """
    memory, count = Memory(device), in_indptr.count - 1
    likely = memory.allocate("likely", count * kept, np.uint32)
    out_edges = memory.allocate("out_edges", n, np.uint32)
    out_edges.clear()
    program = _program(device, in_indptr, kept, "part")
    sizes, m = _sizes(device), np.uint64(in_indices.count)
    program.kernel("bfs_in_neighbours").launch(*sizes, in_indices, m, out_edges)
    numbers = (np.uint32(count), np.uint32(LOOKED_AT))
    arrays = (out_edges, np.uint32(first), in_indptr, in_indices)
    wait(program.kernel("bfs_likely").launch(*sizes, *arrays, *numbers, likely))
    return likely


def likely_in_place(
    indptr: Allocation, indices: Argument, kept: int, device: Device, *, addressed: bool
) -> Allocation:
    """Give the same of an undirected graph whose rows are in host memory.

    Parameters
    ----------
    indptr : Allocation
        Offsets of its rows.
    indices : Buffer or uint64
        The rows, or where they are.
    kept : int
        How many of each vertex.
    device : Device
        Where, with the queue that is to have it.
    addressed : bool
        Whether `indices` is an address.

    Returns
    -------
    Allocation
        uint32, as of `likely_parents`.

    Raises
    ------
    DeviceMemoryError
        If that does not fit.
    """
    n = indptr.count - 1
    likely = Memory(device).allocate("likely", n * kept, np.uint32)
    program = _program(device, indptr, kept, "packed", addressed=addressed)
    numbers = (np.uint32(n), np.uint32(LOOKED_AT))
    arrays = (indptr, indptr, indices)
    wait(program.kernel("bfs_likely").launch(*_sizes(device), *arrays, *numbers, likely))
    return likely


def _program(
    device: Device, indptr: Allocation, kept: int, layout: str, *, addressed: bool = False
) -> Program:
    return load(
        device,
        "bfs/likely.cl",
        wide_offsets=indptr.dtype.itemsize == 8,
        kept=kept,
        layout=layout,
        addressed=addressed,
    )


def _sizes(device: Device) -> tuple[int, int]:
    group = min(64, device.traits.max_group_size)
    return device.traits.compute_units * ITEMS_PER_UNIT, group
