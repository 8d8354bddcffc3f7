"""Searches from many sources in one pass over the edges, a bit for each: what MS-BFS does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.multi_search.long_rows import launch_by_rows, upload_long_rows
from clgraph.algorithms.multi_search.ms_bfs_config import (
    FOUND_WORDS,
    OUTPUTS,
    most_words,
    ms_bfs_config,
)
from clgraph.algorithms.multi_search.result import Totals
from clgraph.algorithms.multi_search.run import fill
from clgraph.device import Memory, Mirror, load, wait
from clgraph.engine.resident import resident
from clgraph.graph.arguments import one_of
from clgraph.progress import report_progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyopencl as cl
    from numpy.typing import NDArray

    from clgraph.device import Allocation, Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = ["BitParallel"]


class BitParallel:
    """Breadth-first searches that share one traversal, compiled for a graph, a device and a result.

    Parameters
    ----------
    graph : Graph
        What is searched.
    device : Device
        Where.
    output : {"distances", "marks", "targets", "sources"}
        Distances or marks of every search, or sums per vertex over all searches, or per search.
    searches : int
        How many there will be; more than fit a row of bits are searched in passes.
    transpose : Graph, optional
        The transpose of `graph`, where it is at hand.

    Attributes
    ----------
    most : int
        Searches of the widest pass on this device.
    passes, levels : int
        Passes so far, and levels of the last one.
    kernel_ms : float
        Device time of all passes.

    Notes
    -----
    A level reads, for each vertex that some search has not seen, the rows of its in-neighbours
    that were reached last: up to 1,024 searches for one read of an edge. A directed graph needs its
    transpose. Uses 40 bytes per vertex for every 32 searches of a pass.

    References
    ----------
    .. [1] M. Then et al., "The more the merrier: efficient multi-source graph traversal", PVLDB 8
           (2014).
    """

    def __init__(
        self,
        graph: Graph,
        device: Device,
        output: str,
        searches: int,
        *,
        transpose: Graph | None = None,
    ) -> None:
        one_of("output", output, OUTPUTS)
        self.graph = graph
        self.device = device
        self._transpose = graph.transpose() if transpose is None else transpose
        self._memory = Memory(device)
        most = most_words(graph, device.traits, output, self._memory.free_bytes)
        words = min(1 << (-(-max(searches, 1) // 32) - 1).bit_length(), most)
        self.most = 32 * most
        self.config = ms_bfs_config(graph, device.traits, output, words)
        filling = load(device, "multi_search/ms_bfs.cl", config=self.config)
        settling = load(device, "multi_search/ms_bfs_settle.cl", config=self.config)
        self.source_hash = filling.source_hash
        self._kernels = {
            step: filling.kernel(f"ms_bfs_{step}") for step in ("gather", "clear", "start", "renew")
        }
        self._kernels["settle"] = settling.kernel("ms_bfs_settle")
        self._arrays: dict[str, Allocation] = {}
        self._prepared = False
        self._nothing = self._memory.allocate("counts", 1, np.uint32)
        self.passes = self.levels = 0
        self.kernel_ms = 0.0

    @property
    def width(self) -> int:
        """Searches of a pass."""
        return 32 * self.config.row_words

    def distances(
        self, sources: NDArray[np.int64], progress: Progress | None = None
    ) -> NDArray[np.int32]:
        """Hop distances int32 [k, n], -1 where there is no path."""
        return self._rows(sources, np.int32, progress)

    def marks(
        self, sources: NDArray[np.int64], progress: Progress | None = None
    ) -> NDArray[np.bool_]:
        """Whether each vertex is reached, bool [k, n]."""
        return self._rows(sources, np.uint8, progress).view(np.bool_)

    def totals(self, sources: NDArray[np.int64], progress: Progress | None = None) -> Totals:
        """Add up the distances to every target, or those from every source."""
        if self.config.output == "targets":
            return self._totals_of_targets(sources, progress)
        reached = np.empty(sources.size, np.int64)
        total, farthest = reached.copy(), reached.copy()
        harmonic = np.empty(sources.size, np.float64)
        for part in self._passes(sources, progress):
            count = part.stop - part.start
            arrays = self._sum_arrays(count, 2 * count)
            self._search(sources[part], *arrays)
            out, counts, reciprocals = (array.read() for array in arrays)
            total[part], harmonic[part] = out, reciprocals
            reached[part], farthest[part] = counts[:count].astype(np.int64) + 1, counts[count:]
        return Totals(reached, total, farthest, harmonic)

    def _passes(self, sources: NDArray[np.int64], progress: Progress | None) -> Iterator[slice]:
        """Give the places of each pass's sources, and report it once it has been made."""
        for begin in range(0, sources.size, self.width):
            end = min(begin + self.width, sources.size)
            yield slice(begin, end)
            report_progress(progress, end, sources.size, "searches")

    def _totals_of_targets(self, sources: NDArray[np.int64], progress: Progress | None) -> Totals:
        n = self.graph.n
        arrays = self._sum_arrays(n, 2 * n)
        for part in self._passes(sources, progress):
            self._search(sources[part], *arrays)
        out, counts, harmonic = (array.read() for array in arrays)
        reached = counts[:n].astype(np.int64) + np.bincount(sources, minlength=n)
        farthest = counts[n:].astype(np.int64)
        return Totals(reached, out.astype(np.int64), farthest, harmonic.astype(np.float64))

    def _sum_arrays(self, size: int, counters: int) -> tuple[Allocation, Allocation, Allocation]:
        real = np.float64 if self.config.real == "double" else np.float32
        arrays = (
            self._memory.allocate("sums", size, np.uint64),
            self._memory.allocate("counts", counters, np.uint32),
            self._memory.allocate("harmonic", size, real),
        )
        for array in arrays:
            fill(self.device, array, np.uint8(0))
        return arrays

    def _rows(
        self, sources: NDArray[np.int64], dtype: Any, progress: Progress | None
    ) -> NDArray[Any]:
        n = self.graph.n
        result = np.empty((sources.size, n), dtype)
        if not result.size:
            return result
        for part in self._passes(sources, progress):
            count = part.stop - part.start
            result[part] = self.search(sources[part]).read(count * n).reshape(count, n)
        return result

    def search(self, sources: NDArray[np.int64]) -> Allocation:
        """Search from at most `width` sources; distances or marks stay on the device.

        Returns
        -------
        Allocation
            [k, n] in its first elements, as long as no other search is run.
        """
        size = min(self.width, sources.size) * self.graph.n
        out = self._arrays.get("out")
        if out is None or out.count < size:
            self._arrays.pop("out", None)
            dtype = np.int32 if self.config.output == "distances" else np.uint8
            out = self._arrays["out"] = self._memory.allocate(self.config.output, size, dtype)
        self._search(sources, out, self._nothing, self._nothing)
        return out

    def _prepare(self) -> None:
        if self._prepared:
            return
        graph, config, memory = self.graph, self.config, self._memory
        back = self._transpose
        self._back = resident(back, self.device)
        words = graph.n * config.row_words
        slots = config.kept_slots
        self._arrays["seen"] = memory.allocate("seen", words, np.uint32)
        self._arrays["rows"] = memory.allocate("rows", slots * words, np.uint32)
        self._arrays["actives"] = memory.allocate("actives", slots * graph.n, np.uint8)
        found = self._arrays["found"] = memory.allocate("found", FOUND_WORDS, np.uint32)
        self._mirror = Mirror(self.device, found, 0, FOUND_WORDS)
        self._long, self._parts, _ = upload_long_rows(memory, back, config.part_edges)
        self._prepared = True

    def _search(
        self,
        sources: NDArray[np.int64],
        out: Allocation,
        counts: Allocation,
        harmonic: Allocation,
    ) -> None:
        """One pass: at most `width` searches, level after level."""
        if not self.graph.n:
            return
        self._prepare()
        n, searches = np.uint32(self.graph.n), np.uint32(sources.size)
        given = self._memory.upload("sources", sources.astype(np.uint32))
        seen, rows, actives, found = (
            self._arrays[name] for name in ("seen", "rows", "actives", "found")
        )
        graph = (self._back.indptr, self._back.indices, *self._parts)
        results = (out, counts, harmonic)
        first = self._launch("clear", n, searches, given, seen, rows, actives, found)
        self._launch("start", searches, given, seen, rows, actives)
        level = 0
        while True:
            begin = np.uint32(level + 1 if level else 0)
            last = self._launch("renew", *self._long, rows, actives, n, np.uint32(level), found)
            for _ in range(self.config.kept_levels):
                level += 1
                self._launch("gather", *graph, seen, rows, actives, n, np.uint32(level), found)
            state = (searches, begin, seen, rows, actives)
            if self.config.output != "marks":
                last = self._launch("settle", *state, *results, n, np.uint32(level), found)
            self._mirror.refresh()
            if not self._mirror.words[level % FOUND_WORDS]:
                break
        if self.config.output == "marks":
            last = self._launch("settle", *state, *results, n, np.uint32(level), found)
            wait(last)
        self.passes += 1
        self.levels = level
        self.kernel_ms += (last.profile.end - first.profile.start) / 1e6

    def _launch(self, step: str, *args: Any) -> cl.Event:
        return launch_by_rows(self._kernels[step], self.config.group_size, *args)
