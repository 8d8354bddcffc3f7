"""Joining within tiles of neighbouring vertices first, and what lies between tiles afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph.device import load
from clgraph.primitives import group_size

if TYPE_CHECKING:
    from clgraph.device import Allocation, Device, Memory
    from clgraph.engine.sweeps import SweepLog
    from clgraph.graph import Graph

__all__ = ["Tiles", "tile_of"]

# Vertices of a tile: the most whose words leave room for several groups in the local memory of a
# compute unit, and fewer as long as some compute units would have none.
MOST_VERTICES, LEAST_VERTICES = 1 << 13, 1 << 10
SPARE_BYTES = 1 << 10  # of a group's local memory
# Work-items, and twice as many where compute units have fewer groups: a mesh took 0.165 ms instead
# of 0.170, a geometric graph 0.162 instead of 0.207; but road, of more groups, 0.190 and not 0.181.
GROUP, ENOUGH_GROUPS = 512, 3
# Every link between tiles is followed, where most are left out once a sample is joined: so they are
# for graphs that have few.
MOST_OUTSIDE = 0.5  # links between tiles, per vertex
MOST_DEGREE = 16  # in the mean: a work-item follows a row by itself
SAMPLED_ROWS = 1 << 10


def tile_of(graph: Graph, device: Device) -> int:
    """Decide how many vertices a tile of a graph without hubs is to have; 0 for no tiles.

    None on a CPU, where joining in global memory is as near: a mesh took twice the processor time.
    """
    if device.traits.is_cpu or not 0 < graph.m <= MOST_DEGREE * graph.n:
        return 0
    traits = device.traits
    tile = MOST_VERTICES
    while 4 * tile + SPARE_BYTES > traits.local_bytes:
        tile //= 2
    while tile > LEAST_VERTICES and tile * traits.compute_units > graph.n:
        tile //= 2
    rows = np.unique(np.linspace(0, graph.n - 1, SAMPLED_ROWS).astype(np.int64))
    begin, past = graph.indptr[rows].astype(np.int64), graph.indptr[rows + 1].astype(np.int64)
    degrees = past - begin
    places = np.repeat(past - np.cumsum(degrees), degrees) + np.arange(degrees.sum())
    outside = np.count_nonzero(graph.indices[places] // tile != np.repeat(rows, degrees) // tile)
    links = outside if graph.directed else outside / 2
    return tile if links <= MOST_OUTSIDE * rows.size else 0


class Tiles:
    """Launches that join everything, tile by tile and then between them.

    Parameters
    ----------
    device : Device
        Where.
    memory : Memory
        What to allocate from.
    n : int
        Vertices, at least one.
    tile : int
        How many of them are in a tile, as `tile_of` gives it.
    wide_offsets : bool
        Whether places of edges take 64 bits.
    both_ways : bool
        Whether every edge is stored both ways.

    Attributes
    ----------
    source_hash : str
        Of the kernels.
    """

    def __init__(
        self,
        device: Device,
        memory: Memory,
        n: int,
        tile: int,
        *,
        wide_offsets: bool,
        both_ways: bool,
    ) -> None:
        traits = device.traits
        on_cpu = traits.is_cpu or traits.emulated
        self._groups = -(-n // tile)
        few = self._groups < ENOUGH_GROUPS * traits.compute_units
        self._size = group_size(traits) if on_cpu else traits.group_of(2 * GROUP if few else GROUP)
        program = load(
            device,
            "components/tiles.cl",
            group_size=self._size,
            tile=tile,
            wide_offsets=wide_offsets,
        )
        self.source_hash = program.source_hash
        names = ("tiles", "borders", "settle")
        self._kernels = {name: program.kernel(f"components_{name}") for name in names}
        self._both_ways = np.uint32(both_ways)
        self._counts = memory.allocate("outside_counts", self._groups, np.uint32)

    def run(
        self,
        log: SweepLog,
        rows: tuple[Allocation, Allocation, np.uint32],
        parent: Allocation,
        outside: Allocation,
        stamp: object,
    ) -> None:
        """Enqueue everything for `rows`, and more is to follow; `outside` [n] is written over.

        The `stamp` is of `rows` and `parent`, as `Kernel.launch_bound` has it.
        """
        n, graph = rows[-1], (*rows, self._both_ways)
        of_all = (*graph, parent, outside, self._counts)
        self._launch(log, "tiles", *of_all, bound=((5,), stamp))
        self._launch(log, "borders", *of_all, bound=((5,), stamp))
        self._launch(log, "settle", n, parent, bound=((), stamp))

    def _launch(
        self,
        log: SweepLog,
        name: str,
        *args: Allocation | np.generic,
        bound: tuple[tuple[int, ...], object] | None = None,
    ) -> None:
        size = self._groups * self._size
        log.launch(self._kernels[name], size, self._size, args, bound, followed=True)
