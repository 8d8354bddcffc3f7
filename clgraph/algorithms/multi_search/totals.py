"""What library functions ask of many searches, answered in whichever way is best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.bfs.plan import BFS
from clgraph.algorithms.multi_search.config import MultiSearchConfig
from clgraph.algorithms.multi_search.ms_bfs import BitParallel
from clgraph.algorithms.multi_search.plan import MultiSearch
from clgraph.algorithms.multi_search.result import Totals
from clgraph.algorithms.multi_search.state import State, library_snippets
from clgraph.device.hardware.measured import LEVEL_SEARCHES, SHARED_SIZE, SINGLE_SIZE
from clgraph.errors import InvalidArgumentError
from clgraph.graph.arguments import one_of
from clgraph.progress import report_progress

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import DTypeLike, NDArray

    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = ["Searcher", "blocks_of", "check_method", "together"]

METHODS = ("auto", "multi-search", "bit-parallel", "single")
BLOCK_SHARE = 0.4  # of the free memory, for the distances of a block of sources
MOST_BLOCK = 4096
LEAST_SHARED, LEAST_SHARED_ALONE = 32, 10  # sources, for searches that share bits; on one lane
WIDTH, WORD = 512, 32  # searches of a pass, roughly, and of one word of its rows
LEVEL_WORDS = 2  # words of a row that what a level costs at any width would be
LOOK_COST = 2  # of looking at a row of bits, in edges of a search of its own


def check_method(method: str, config: MultiSearchConfig | str | None) -> None:
    """Refuse what is no method or configuration, whatever will run the searches."""
    one_of("method", method, METHODS)
    MultiSearchConfig.of(config)


class Searcher:
    """Searches from many sources of one graph.

    Parameters
    ----------
    graph : Graph
        What is searched.
    device : Device
        Where.
    method : {"auto", "multi-search", "bit-parallel", "single"}
        A work-group for each search, all searches in the bits of one, or `BFS` for one after the
        other.
    config : MultiSearchConfig or str, optional
        How the former are run.
    transpose : Graph, optional
        The transpose of `graph`, where it is at hand.
    """

    def __init__(
        self,
        graph: Graph,
        device: Device,
        method: str = "auto",
        config: MultiSearchConfig | str | None = None,
        *,
        transpose: Graph | None = None,
    ) -> None:
        check_method(method, config)
        self.graph = graph
        self.device = device
        self._method = method
        self._config = config
        self._transpose = transpose
        self._plans: dict[str, MultiSearch] = {}
        self._bit_plans: dict[str, BitParallel] = {}
        self._plan_of_one: BFS | None = None

    def totals(self, sources: NDArray[np.int64], progress: Progress | None = None) -> Totals:
        """Sum up each search without keeping its distances."""
        if self._shares_bits(sources):
            everyone = np.array_equal(sources, np.arange(self.graph.n))
            # From or to a vertex is the same in an undirected graph, and the latter costs less.
            output = "targets" if everyone and not self.graph.directed else "sources"
            return self._bits(output, sources.size).totals(sources, progress)
        return self._own_totals(sources, progress)

    def totals_of_targets(self, progress: Progress | None = None) -> Totals:
        """Sum up the distances towards each vertex, from all vertices, in shared bits."""
        everyone = np.arange(self.graph.n, dtype=np.int64)
        return self._bits("targets", everyone.size).totals(everyone, progress)

    def shares_bits(self) -> bool:
        """Whether searches from all vertices share the bits of words."""
        return self._shares_bits(np.arange(self.graph.n, dtype=np.int64))

    def distances(
        self, sources: NDArray[np.int64], progress: Progress | None = None
    ) -> NDArray[np.int32]:
        """Hop distances int32 [k, n], -1 where there is no path."""
        if self._shares_bits(sources):
            return self._bits("distances", sources.size).distances(sources, progress)
        if self._one_by_one():
            rows = np.empty((sources.size, self.graph.n), np.int32)
            for place, row in enumerate(self._rows(sources, progress)):
                rows[place] = row
            return rows
        plan = self._plan("distances", {"distances": State(np.int32, fill=-1)})
        found: NDArray[np.int32] = plan.run(sources, progress=progress)["distances"]
        return found

    def marks(
        self, sources: NDArray[np.int64], progress: Progress | None = None
    ) -> NDArray[np.bool_]:
        """Whether each vertex is reached, bool [k, n]."""
        if self._shares_bits(sources):
            return self._bits("marks", sources.size).marks(sources, progress)
        if self._one_by_one():
            return self.distances(sources, progress) >= 0
        plan = self._plan("marks", {"marks": State(np.uint8)})
        return plan.run(sources, progress=progress)["marks"].view(np.bool_)

    def _rows(
        self, sources: NDArray[np.int64], progress: Progress | None
    ) -> Iterator[NDArray[np.int32]]:
        """Distances of one search after the other."""
        if self._plan_of_one is None:
            self._plan_of_one = BFS(self.graph, device=self.device)
        for done, source in enumerate(sources.tolist(), 1):
            yield self._plan_of_one.run(source).distances
            report_progress(progress, done, sources.size, "searches")

    def _totals_one_by_one(self, sources: NDArray[np.int64], progress: Progress | None) -> Totals:
        figures = np.zeros((3, sources.size), np.int64)
        harmonic = np.zeros(sources.size)
        for place, row in enumerate(self._rows(sources, progress)):
            sizes = np.bincount(row + 1)[1:]
            hops = np.arange(sizes.size)
            figures[:, place] = (sizes.sum(), (sizes * hops).sum(), sizes.size - 1)
            harmonic[place] = (sizes[1:] / hops[1:]).sum()
        return Totals(figures[0], figures[1], figures[2], harmonic)

    def _own_totals(self, sources: NDArray[np.int64], progress: Progress | None = None) -> Totals:
        """Sum up searches that each have a traversal of their own."""
        if self._one_by_one():
            return self._totals_one_by_one(sources, progress)
        real = np.float64 if self.device.traits.fp64 else np.float32
        state = {"totals": State(np.uint64, size=3), "harmonic": State(real, size=1)}
        found = self._plan("totals", state).run(sources, progress=progress)
        totals = found["totals"].astype(np.int64)
        harmonic = found["harmonic"][:, 0].astype(np.float64)
        return Totals(totals[:, 0], totals[:, 1], totals[:, 2], harmonic)

    def _shares_bits(self, sources: NDArray[np.int64]) -> bool:
        """Decide between the two ways.

        A pass of shared bits looks at every vertex in every level, a search of its own only at what
        it reaches: deep graphs need many sources before sharing pays. How deep this one is, a
        search from its busiest vertex reports.
        """
        if self._method != "auto":
            return self._method == "bit-parallel" and self.graph.n > 0
        traits = self.device.traits
        if sources.size < (LEAST_SHARED_ALONE if traits.lanes == 1 else LEAST_SHARED):
            return False
        graph = self.graph
        passes = -(-sources.size // WIDTH)
        if traits.lanes == 1:
            return passes * (self.depth() + 1) * self._level_searches(sources.size) < sources.size
        looks = LOOK_COST * passes * (self.depth() + 1) * graph.n
        return bool(looks < sources.size * (graph.n + graph.m))

    def _level_searches(self, searches: int) -> float:
        """Give how many searches of its own cost as much as a level of a pass, on one lane.

        Narrow rows cost less. Of large graphs a search of its own, which pulls, looks at few edges
        of many, and a pass at most of them.
        """
        graph, traits = self.graph, self.device.traits
        full = LEVEL_SEARCHES.on(traits)
        if graph.n + graph.m > SHARED_SIZE.on(traits):
            return full
        words = -(-min(searches, WIDTH) // WORD)
        return full * (words + LEVEL_WORDS) / (WIDTH // WORD + LEVEL_WORDS)

    def _one_by_one(self) -> bool:
        """Decide how searches are run that share no bits."""
        if self._method != "auto" or self._config not in (None, "auto"):
            return self._method == "single"
        graph = self.graph
        traits = self.device.traits
        return traits.lanes == 1 and graph.n + graph.m > SINGLE_SIZE.on(traits)

    def depth(self) -> int:
        """Report how deep a search from the busiest vertex is; searched for once a graph."""
        depth: int | None = self.graph.kept.get(Searcher.depth)
        if depth is None:
            busiest = np.array([np.argmax(self.graph.degrees)])
            depth = self.graph.kept[Searcher.depth] = int(self._own_totals(busiest).farthest[0])
        return depth

    def _bits(self, output: str, searches: int) -> BitParallel:
        """Give a plan wide enough, or as wide as they get."""
        plan = self._bit_plans.get(output)
        if plan is None or plan.width < min(searches, plan.most):
            plan = self._bit_plans[output] = BitParallel(
                self.graph, self.device, output, searches, transpose=self._transpose
            )
        return plan

    def blocks(
        self, sources: NDArray[np.int64], itemsize: int, size: int | None = None
    ) -> Iterator[NDArray[np.int64]]:
        """Cut sources into blocks whose results fit the device, or of a given size."""
        yield from blocks_of(self.device, self.graph.n, sources, itemsize, size)

    def _plan(self, name: str, state: dict[str, State]) -> MultiSearch:
        if name not in self._plans:
            self._plans[name] = MultiSearch(
                self.graph,
                state=state,
                **library_snippets(name),
                config=self._config,
                device=self.device,
            )
        return self._plans[name]


def blocks_of(
    device: Device, n: int, sources: NDArray[np.int64], itemsize: int, size: int | None = None
) -> Iterator[NDArray[np.int64]]:
    """Cut sources into blocks whose results [k, n] fit a device, or of a given size."""
    if size is None:
        size = int(BLOCK_SHARE * device.ledger.free_bytes) // (max(n, 1) * itemsize)
        size = max(min(size, MOST_BLOCK), 1)
    for first in range(0, sources.size, size):
        yield sources[first : first + size]


def together(
    parts: Iterable[NDArray[Any]],
    shape: tuple[int, int],
    dtype: DTypeLike,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Give rows that come in parts as one array: `out`, or that of a part if it is the only one."""
    whole, done = out, 0
    for rows in parts:
        if whole is None and len(rows) == shape[0]:
            return rows
        if whole is None:
            whole = np.empty(shape, dtype)
        whole[done : done + len(rows)] = rows
        done += len(rows)
    return np.empty(shape, dtype) if whole is None else whole


def narrow(distances: NDArray[np.int32], dtype: DTypeLike) -> NDArray[Any]:
    """Give distances in another integer type, or say that one does not fit."""
    element = np.dtype(dtype)
    if element == distances.dtype:
        return distances
    limit = np.iinfo(element).max
    if distances.size and int(distances.max()) > limit:
        raise InvalidArgumentError(
            f"a distance of {int(distances.max())} does not fit dtype={element}, whose largest "
            f"number is {limit}; use int32."
        )
    return distances.astype(element)
