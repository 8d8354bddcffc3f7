"""The edge-parallel breadth-first search that BFS-4K and Helix are compared with.

Each level looks at every edge, a work-item each, and the host looks whether anything was found.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.studies import KERNELS
from clgraph.device import Memory, load, wait
from clgraph.primitives import group_size

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph import Device, Graph

__all__ = ["EdgeParallel", "Searched"]


@dataclass(frozen=True)
class Searched:
    """Outcome of one search; it is its own stats.

    Attributes
    ----------
    distances : int32 [n]
        In hops, -1 where there is no path.
    kernel_ms : float
        Device time of all levels together, without what the host does between them.
    total_ms : float
        Host wall clock.
    expanded_edges : int64 [levels]
        Edges that each level looked at: all.
    edges_traversed : int
        Out-edges of reached vertices.
    per_level : structured array
        Of each level the direction.
    """

    distances: NDArray[np.int32]
    kernel_ms: float
    total_ms: float
    expanded_edges: NDArray[np.int64]
    edges_traversed: int
    per_level: NDArray[Any]

    @property
    def stats(self) -> Searched:
        """Itself."""
        return self


class EdgeParallel:
    """An edge-parallel search compiled for one graph and device.

    Parameters
    ----------
    graph : Graph
        What is searched.
    predecessors : bool
        Must be false: it labels no tree.
    device : Device
        Where.
    """

    def __init__(self, graph: Graph, *, predecessors: bool = False, device: Device) -> None:
        if predecessors:
            raise ValueError("the edge-parallel search labels no tree")
        self.graph = graph
        self.device = device
        size = group_size(device.traits)
        program = load(device, "edge_parallel.cl", folders=(KERNELS,), group_size=size)
        self._kernel, memory = program.kernel("edge_parallel"), Memory(device)
        sources = np.repeat(np.arange(graph.n, dtype=np.uint32), graph.degrees)
        self._sources = memory.upload("sources", sources)
        self._targets = memory.upload("targets", np.asarray(graph.indices).astype(np.uint32))
        self._distances = memory.allocate("distances", graph.n, np.int32)
        self._found = memory.allocate("found", 1, np.uint32)
        most = device.traits.compute_units * max(device.traits.threads_per_unit, 16 * size)
        self._sizes = (max(min(-(-graph.m // size) * size, most // size * size), size), size)

    def run(self, source: int) -> Searched:
        """Search from one vertex."""
        began, ms, level = time.perf_counter(), 0.0, 0
        start = np.full(self.graph.n, -1, np.int32)
        start[source] = 0
        self._distances.write(start)
        while True:
            self._found.write(np.zeros(1, np.uint32))
            event = self._kernel.launch(
                *self._sizes,
                self._sources,
                self._targets,
                np.uint64(self.graph.m),
                np.int32(level),
                self._distances,
                self._found,
            )
            wait(event)
            ms += (event.profile.end - event.profile.start) * 1e-6
            level += 1
            if not self._found.read()[0]:
                break
        distances = self._distances.read()
        directions = np.zeros(level, [("direction", "U4")])
        directions["direction"] = "edge"
        return Searched(
            distances=distances,
            kernel_ms=ms,
            total_ms=1e3 * (time.perf_counter() - began),
            expanded_edges=np.full(level, self.graph.m, np.int64),
            edges_traversed=int(self.graph.degrees[distances >= 0].sum()),
            per_level=directions,
        )
