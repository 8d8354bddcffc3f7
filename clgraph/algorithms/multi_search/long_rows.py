"""Rows by SIMD groups, of which those with many edges are cut in parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.engine.resident import offsets_dtype

if TYPE_CHECKING:
    import pyopencl as cl
    from numpy.typing import NDArray

    from clgraph.device import Kernel, Memory
    from clgraph.device.programs.kernel import Argument
    from clgraph.graph import Graph

__all__ = ["launch_by_rows", "upload_long_rows"]


def launch_by_rows(kernel: Kernel, size: int, *args: Argument) -> cl.Event:
    """Launch a kernel in as many groups of so many work-items as are resident, or a few a core."""
    traits = kernel.device.traits
    groups = traits.compute_units * (4 if traits.is_cpu else max(2048 // size, 1))
    return kernel.launch(groups * size, size, *args)


def upload_long_rows(
    memory: Memory, graph: Graph, part_edges: int
) -> tuple[tuple[Any, ...], tuple[Any, ...], NDArray[np.uint32]]:
    """Cut rows longer than `part_edges` into parts of that many edges, and upload what these are.

    Returns
    -------
    long_rows : (count, vertices)
        As kernels take them.
    parts : (count, vertices, begins)
        As kernels take them: whose each is, and its first edge.
    owners : uint32 array
        For each part, which of the long rows it is of.
    """
    long_rows = np.flatnonzero(graph.degrees > part_edges).astype(np.uint32)
    pieces = -(-graph.degrees[long_rows].astype(np.int64) // part_edges)
    owners = np.repeat(np.arange(long_rows.size, dtype=np.uint32), pieces)
    places = np.arange(owners.size) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    begins = graph.indptr[long_rows[owners]].astype(np.int64) + places * part_edges
    vertices = memory.upload("part_vertices", long_rows[owners])
    first_edges = memory.upload("part_begins", begins.astype(offsets_dtype(graph.m)))
    return (
        (np.uint32(long_rows.size), memory.upload("long_vertices", long_rows)),
        (np.uint32(owners.size), vertices, first_edges),
        owners,
    )
