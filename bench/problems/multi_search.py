"""Many searches at once as the runner measures them: one run is a batch of 256."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph import MultiSearch, MultiSearchConfig, State
from clgraph.algorithms.multi_search.ms_bfs import BitParallel
from clgraph.algorithms.multi_search.state import library_snippets

from ..peers.components import weak_labels
from ..peers.reference import bfs_reference
from ..runner.problem import Least, Problem, pick_sources, refuse_differences
from .bfs import EdgeCounts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from clgraph import Device, Graph
    from clgraph.device import Allocation

    from ..runner.graphs import Loaded
    from ..runner.records import Record

__all__ = ["PROBLEM", "Batches"]

SEARCHES = 256  # as the paper that defines the abstraction measures it
BATCHES = 4
BITS = "bit-parallel"
CHECKED = 4  # searches of a batch, each compared whole
MEMORY_SHARE = 8


class _Bits:
    """Searches that share one traversal, with the interface of a plan."""

    def __init__(self, graph: Graph, device: Device, count: int) -> None:
        self._plan = BitParallel(graph, device, "distances", count)
        self._n = graph.n
        self.width = self._plan.width

    def run(self, sources: Sequence[int]) -> Any:
        """Search in one pass; the distances stay on the device."""
        began, before_ms = time.perf_counter(), self._plan.kernel_ms
        found = self._plan.search(np.array(sources, np.int64))
        stats = SimpleNamespace(
            kernel_ms=self._plan.kernel_ms - before_ms,
            total_ms=1e3 * (time.perf_counter() - began),
            mode="launches",
        )
        return _Kept(found, len(sources), self._n, stats)

    def describe(self) -> Record:
        """Give the configuration as decided."""
        return {"config": asdict(self._plan.config), "source_hash": self._plan.source_hash}


@dataclass(frozen=True, slots=True)
class _Kept:
    """Distances that are copied when they are asked for."""

    found: Allocation
    count: int
    n: int
    stats: Any

    def __getitem__(self, name: str) -> NDArray[np.int32]:
        return self.found.read(self.count * self.n).reshape(self.count, self.n)


class Batches(Problem):
    """`clgraph.MultiSearch` for hop distances from drawn sources; a preset is its configuration.

    The preset "bit-parallel" is another method, that of `clgraph.apsp` for many sources.
    """

    kind = "multi-search"
    presets = (*MultiSearchConfig.presets(), BITS)

    def __init__(self, loaded: Loaded, device: Device, config: str) -> None:
        super().__init__(loaded, device, config)
        room = device.traits.global_bytes // MEMORY_SHARE // (4 * max(self.graph.n, 1))
        self._count = int(min(SEARCHES, max(room, 1)))
        self._edges: NDArray[np.int64] | None = None
        self._bits: _Bits | None = None
        if config == BITS:
            self._bits = _Bits(self.graph, device, self._count)
            self._count = min(self._count, self._bits.width)
            return
        self.plan = MultiSearch(
            self.graph,
            state={"distances": State(np.int32, fill=-1)},
            **library_snippets("distances"),
            config=config,
            device=device,
        )

    def inputs(self, count: int) -> list[int]:
        """Give numbers of batches, a few; each draws its own sources."""
        return list(range(min(count, BATCHES))) if self.graph.degrees.any() else []

    def far_inputs(self, count: int, _reach: int) -> list[int]:
        """Give the same: a batch is of many sources, and has some of every component."""
        return self.inputs(count)

    def sources(self, given: int) -> list[int]:
        """Draw the sources of a batch: vertices that have edges."""
        return pick_sources(self.graph.degrees, self._count, f"{self.loaded.name} {given}")

    def run(self, given: int) -> Any:
        """Run all searches of a batch."""
        run = self.plan.run if self._bits is None else self._bits.run
        return run(self.sources(given))

    def describe(self) -> Record:
        """Give the configuration as decided."""
        return super().describe() if self._bits is None else self._bits.describe()

    def count(self, result: Any, given: int) -> dict[str, float]:
        """Count searches, and the out-edges of what each of them reaches, added up."""
        sources = self.sources(given)
        if self.graph.directed:
            counts = EdgeCounts(self.graph)
            rows = zip(result["distances"], sources, strict=True)
            edges = sum(counts.of(row >= 0, source) for row, source in rows)
        else:
            edges = int(self._edges_of_components()[sources].sum())
        return {"edges": edges, "sources": len(sources)}

    def _edges_of_components(self) -> NDArray[np.int64]:
        """Edges of each vertex's component, which are those that a search from it traverses."""
        if self._edges is None:
            labels = weak_labels(self.graph)
            self._edges = np.bincount(labels, self.graph.degrees)[labels].astype(np.int64)
        return self._edges

    def values(self, result: Any) -> Any:
        """Give the distances of all searches [k, n]."""
        return result["distances"]

    def check(self, givens: Sequence[int]) -> Record:
        """Compare some searches of each batch whole, with another's."""
        name, search = bfs_reference(self.graph)
        for given in givens:
            found, sources = self.values(self.run(given)), self.sources(given)
            for place in {*range(0, len(sources), -(-len(sources) // CHECKED)), len(sources) - 1}:
                refuse_differences(
                    found[place],
                    search(sources[place]),
                    what=f"distances from {sources[place]}",
                    against=name,
                )
        return {"against": name, "batches": list(givens), "searches_of_each": CHECKED}

    def least(self, columns: Mapping[str, NDArray[np.float64]]) -> Least:
        """Count a distance written per search and vertex, a row's start and an edge per vertex.

        Searches may share what they read; nothing must be waited for by the whole device.
        """
        n, searches = self.graph.n, columns["sources"]
        return Least(
            bytes=4.0 * n * searches + 8.0 * n,
            barriers=0.0 * searches,
            bytes_plain=4.0 * n * searches * 2 + 4.0 * columns["edges"],
        )


PROBLEM = Batches
