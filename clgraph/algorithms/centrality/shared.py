"""Betweenness from many sources in one traversal, for graphs of few levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.multi_search.long_rows import launch_by_rows, upload_long_rows
from clgraph.algorithms.multi_search.run import fill
from clgraph.device import Memory, Mirror, load, wait
from clgraph.engine.resident import resident, wide_offsets
from clgraph.progress import report_progress

if TYPE_CHECKING:
    import pyopencl as cl
    from numpy.typing import NDArray

    from clgraph.device import Allocation, Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = ["MOST_LEVELS", "SharedBetweenness", "fits"]

MOST_LEVELS = 250  # depths are bytes, of which two values mean something else
FOUND_WORDS = 64
MEMORY_SHARE = 0.9
# Sources of a lane, a vector read at once; PoCL 3 miscompiles vectors wider than a register.
WIDTH = 4
GROUP_SIZE = 256


@dataclass(frozen=True, slots=True)
class SharedConfig:
    """What the kernels are rendered with; see `clgraph.algorithms.multi_search.ms_bfs`."""

    lanes: int
    group_size: int
    wide_offsets: bool
    width: int
    real: str
    part_edges: int
    tile: int
    batch: int
    found_words: int = FOUND_WORDS


def fits(graph: Graph, device: Device, dtype: np.dtype[Any]) -> bool:
    """Report whether the rows of a batch of sources fit the device."""
    traits = device.traits
    places = graph.n * traits.lanes * WIDTH
    together = places * (1 + 2 * dtype.itemsize) + 8 * (graph.n + graph.m)
    return (
        places * dtype.itemsize <= traits.max_alloc_bytes
        and together <= MEMORY_SHARE * device.ledger.free_bytes
    )


class SharedBetweenness:
    """Sums of Brandes' dependencies over sources that share a traversal.

    Parameters
    ----------
    graph : Graph
        Without parallel edges.
    device : Device
        Where.
    dtype : dtype
        float64 or float32, of path counts and scores.

    Attributes
    ----------
    kernel_ms : float
        Device time of all batches.

    Notes
    -----
    A level reads the row of depths of every neighbour, a byte for each source, and path counts only
    where they count: neighbouring sources are neighbours in memory. 17 bytes per vertex and source
    of a batch in float64; a batch has four sources for each lane of a SIMD group.

    References
    ----------
    .. [1] A. E. Sariyuce et al., "Betweenness centrality on GPUs and heterogeneous architectures",
           GPGPU-6 (2013).
    """

    def __init__(self, graph: Graph, device: Device, dtype: np.dtype[Any]) -> None:
        self.graph = graph
        self.device = device
        self._memory = memory = Memory(device)
        traits = device.traits
        one_lane = traits.lanes == 1
        self.config = SharedConfig(
            lanes=traits.lanes,
            group_size=traits.usual_group(GROUP_SIZE),
            wide_offsets=wide_offsets(graph.m),
            width=WIDTH,
            real="double" if dtype == np.float64 else "float",
            part_edges=1 << 16 if one_lane else 512,
            tile=64 if one_lane else 1,
            batch=1 if one_lane or traits.emulated else 2,
        )
        program = load(device, "centrality/betweenness.cl", config=self.config)
        self._kernels = {
            step: program.kernel(f"betweenness_{step}")
            for step in ("clear", "start", "forward", "settle_forward", "back", "settle_back")
        }
        self.width = traits.lanes * self.config.width
        self.kernel_ms = 0.0
        places = graph.n * self.width
        self._depths = memory.allocate("depths", places, np.uint8)
        self._paths = memory.allocate("paths", places, dtype)
        self._coefs = memory.allocate("coefs", places, dtype)
        self._scores = memory.allocate("scores", graph.n, dtype)
        self._active = [memory.allocate(name, graph.n, np.uint8) for name in ("even", "odd")]
        self._found = memory.allocate("found", FOUND_WORDS, np.uint32)
        self._flags = memory.allocate("flags", 2, np.uint32)
        self._mirror = Mirror(device, self._found, 0, FOUND_WORDS)
        self._forward = self._rows(graph.transpose(), dtype)
        self._backward = self._rows(graph, dtype) if graph.directed else self._forward

    def _rows(self, graph: Graph, dtype: np.dtype[Any]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Give what a sweep needs of a graph's rows, and what settling needs of the long ones."""
        held = resident(graph, self.device)
        long_rows, parts, owners = upload_long_rows(self._memory, graph, self.config.part_edges)
        partial = self._memory.allocate("partial", max(int(long_rows[0]), 1) * self.width, dtype)
        fill(self.device, partial, dtype.type(0))
        of = self._memory.upload("part_rows", owners)
        return (
            (held.indptr, held.indices, np.uint32(graph.n), *parts, of, partial),
            (*long_rows, partial),
        )

    def run(
        self, sources: NDArray[np.int64], progress: Progress | None = None
    ) -> NDArray[Any] | None:
        """Add up the dependencies of all sources.

        Returns
        -------
        numpy.ndarray or None
            [n]; None where the graph is too deep or has too many paths for this way.
        """
        fill(self.device, self._scores, self._scores.dtype.type(0))
        for begin in range(0, sources.size, self.width):
            part = sources[begin : begin + self.width]
            if not self._batch(part):
                return None
            report_progress(progress, begin + part.size, sources.size, "searches")
        return self._scores.read()

    def _batch(self, sources: NDArray[np.int64]) -> bool:
        n, searches = np.uint32(self.graph.n), np.uint32(sources.size)
        given = self._memory.upload("sources", sources.astype(np.uint32))
        active, following = self._active
        state = (self._depths, self._paths)
        marks = (self._found, self._flags)
        first = self._launch("clear", n, searches, self._depths, active, *marks)
        last = self._launch("start", searches, given, *state, active)
        rows, long_rows = self._forward
        level = 0
        while True:
            for _ in range(2):
                level += 1
                depth = np.uint32(level)
                tail = (*state, active, following, *marks)
                self._launch("forward", *rows, depth, *tail)
                last = self._launch("settle_forward", *long_rows, depth, *state, following, *marks)
                active, following = following, active
            self._mirror.refresh()
            if not self._mirror.words[level % FOUND_WORDS]:
                break
            if level + 2 > MOST_LEVELS:
                return False
        if self._flags.read()[1]:
            return False
        rows, long_rows = self._backward
        whole = (*state, self._coefs, self._scores)
        for back_level in range(level, 0, -1):
            depth = np.uint32(back_level)
            self._launch("back", *rows, depth, *whole)
            last = self._launch("settle_back", *long_rows, depth, *whole)
        wait(last)
        self.kernel_ms += (last.profile.end - first.profile.start) / 1e6
        return True

    def _launch(self, step: str, *args: Allocation | np.generic) -> cl.Event:
        return launch_by_rows(self._kernels[step], self.config.group_size, *args)
