"""Shortest paths by weight from many sources: one after the other, or a work-group for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.multi_search.config import MultiSearchConfig, resolve_search
from clgraph.algorithms.multi_search.plan import MultiSearch
from clgraph.algorithms.multi_search.result import Totals
from clgraph.algorithms.multi_search.state import State, library_snippets
from clgraph.algorithms.multi_search.totals import blocks_of, check_method, together
from clgraph.algorithms.sssp.method_plans import core_hops
from clgraph.algorithms.sssp.plan import SSSP
from clgraph.algorithms.sssp.weights import Weights
from clgraph.device.hardware.measured import WEIGHTED_SINGLE_SIZE
from clgraph.errors import InvalidArgumentError
from clgraph.progress import part_of, report_progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = ["WeightedSearcher"]

BOUND = 16  # elements of a bound, so that those of two groups are in different cache lines


class WeightedSearcher:
    """Searches from many sources of one graph, by the weights of its edges.

    Parameters
    ----------
    graph : Graph
        With weights.
    device : Device
        Where.
    method : {"auto", "single", "multi-search"}
        `SSSP` for one search after the other, which has the whole device, or a work-group for each.
    config : MultiSearchConfig or str, optional
        How the latter are run.

    Attributes
    ----------
    unreached : NumPy scalar
        Stands for the length of no path.

    Raises
    ------
    InvalidArgumentError
        If the graph has no weights, there is no such method, or a work-group for each search is
        asked for where weights are negative or lengths might not fit their type.

    Notes
    -----
    A work-group runs near-far, the algorithm of Bellman and Ford with a frontier that a bound on
    lengths holds back, in O(n m) at worst; lengths are the same in both ways, bit by bit, since
    rounding is monotonic.
    """

    def __init__(
        self,
        graph: Graph,
        device: Device,
        method: str = "auto",
        config: MultiSearchConfig | str | None = None,
    ) -> None:
        check_method(method, config)
        if method == "bit-parallel":
            raise InvalidArgumentError(
                "method='bit-parallel' is not for weights, since it counts hops; leave it out, or "
                "choose single or multi-search."
            )
        self.graph = graph
        self.device = device
        self._method = method
        self._config = config
        self._weights = Weights(graph)
        self.unreached = self._weights.unreached
        if method == "multi-search" and not self._groups_can():
            raise InvalidArgumentError(
                "method='multi-search' needs weights that are not negative, lengths that fit their "
                "type, and a device that exchanges numbers of that size; leave it out."
            )
        self._plan_of_one: SSSP | None = None
        self._plan_of_many: MultiSearch | None = None

    def distances(
        self, sources: NDArray[np.int64], progress: Progress | None = None
    ) -> NDArray[Any]:
        """Lengths [k, n] in the type of the weights; inf, or its largest integer, for no path."""
        shape = (sources.size, self.graph.n)
        return together(self._rows(sources, progress), shape, self._weights.dtype)

    def totals(self, sources: NDArray[np.int64], progress: Progress | None = None) -> Totals:
        """Sum up each search without keeping its distances."""
        figures = np.zeros((4, sources.size))
        place = 0
        for rows in self._rows(sources, progress):
            for row in rows:
                known = row[row != self.unreached].astype(np.float64)
                apart = known[known != 0]
                figures[:, place] = (known.size, known.sum(), known.max(), (1 / apart).sum())
                place += 1
        return Totals(figures[0].astype(np.int64), *figures[1:])

    def _rows(
        self, sources: NDArray[np.int64], progress: Progress | None
    ) -> Iterator[NDArray[Any]]:
        """Lengths [j, n] of some searches at a time, in order."""
        if self._shares_device(sources.size):
            if self._plan_of_many is None:
                self._plan_of_many = self._many()
            itemsize, done = self._weights.dtype.itemsize, 0
            for block in blocks_of(self.device, self.graph.n, sources, itemsize):
                within = part_of(progress, done, 1, sources.size)
                yield self._plan_of_many.run(block, progress=within)["lengths"]
                done += block.size
            return
        for done, source in enumerate(sources.tolist(), 1):
            if self._plan_of_one is None:
                self._plan_of_one = SSSP(self.graph, device=self.device)
            yield self._plan_of_one.run(source).distances[np.newaxis]
            report_progress(progress, done, sources.size, "searches")

    def _shares_device(self, searches: int) -> bool:
        """Whether each search is run by a work-group, several at the same time."""
        if self._method != "auto" or self._config not in (None, "auto"):
            return self._method == "multi-search"
        traits = self.device.traits
        size = self.graph.n + self.graph.m
        return (
            traits.lanes == 1
            and searches >= traits.compute_units
            and size <= WEIGHTED_SINGLE_SIZE.on(traits)
            and self._groups_can()
        )

    def _groups_can(self) -> bool:
        """Whether lengths only become less, fit their type, and can be exchanged."""
        weights, traits = self._weights, self.device.traits
        wide = weights.dtype.itemsize == 8
        return not (weights.negative or weights.keys.guarded or (wide and not traits.int64_atomics))

    def _many(self) -> MultiSearch:
        values, traits = self._weights.values, self.device.traits
        state = {"lengths": State(values.dtype, fill=self.unreached)}
        arguments = {"weights": values if values.size else np.zeros(1, values.dtype)}
        config = MultiSearchConfig.of(self._config)
        chosen = resolve_search(config, traits, self.graph, keep_levels=False)
        if chosen.queued:
            bound = State(values.dtype, size=BOUND, per="group", fill=self.unreached)
            state |= {"queued": State(np.uint32, per="group")}
            state |= {"high": bound, "low": bound, "least": bound}
            # It rises by what one work-item has enough to do with, for each of a group.
            hops = core_hops(self.graph, traits) * chosen.group_size
            delta = values.dtype.type(self._weights.step(None, hops))
            arguments |= {"delta": delta, "unreached": self.unreached}
        return MultiSearch(
            self.graph,
            state=state,
            arguments=arguments,
            **library_snippets("lengths" if chosen.queued else "lengths_in_rounds"),
            config=self._config,
            device=self.device,
        )
