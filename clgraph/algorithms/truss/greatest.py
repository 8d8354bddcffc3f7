"""The greatest truss, searched for in smaller graphs that hold it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from clgraph.algorithms.triangles.orient import BUCKETS
from clgraph.algorithms.truss.narrowing import FEW_TRIANGLES, SHARES, Narrowing, Supports
from clgraph.algorithms.truss.peeling import NO_LEVEL, Peeled, Peeling
from clgraph.algorithms.truss.searching import ABOVE, LEAST_K, Found, bisected
from clgraph.algorithms.truss.shape import lists_claimed
from clgraph.algorithms.truss.tightening import Tightening
from clgraph.device.hardware.measured import TIGHTENED
from clgraph.device.memory.copying import finish_copy
from clgraph.engine.resident import wide_offsets

if TYPE_CHECKING:
    from collections.abc import Callable

    from clgraph.algorithms.truss.config import TrussConfig
    from clgraph.algorithms.truss.edges import Edges
    from clgraph.algorithms.truss.incidence import Incidence
    from clgraph.algorithms.truss.searching import Asked
    from clgraph.device import Allocation, Device, Memory
    from clgraph.engine.sweeps import SweepLog
    from clgraph.graph import Graph

__all__ = ["Greatest"]

# Of a tightened bound: h-indices of six rounds gave 24 where 22 was true, and 39 where 36 was.
SLACK = 1 / 8


class Greatest:
    """The search for the greatest truss of a graph whose edges' triangles are counted.

    A k is guessed from the supports; the graph that holds the trusses from there on is made on the
    device, its triangles listed, and it is peeled level by level from that k on, or k bisected for
    in it where the configuration says so. Where that graph has no such truss the
    guess is lowered, so the result is exact whatever the guess.

    Parameters
    ----------
    config : TrussConfig
        What was asked for.
    edges : Edges
        Of the graph.
    device : Device
        Where.
    memory : Memory
        What to allocate from.
    results : callable
        Gives an array of uint32 [m] of the graph that no result has.
    """

    def __init__(
        self,
        config: TrussConfig,
        edges: Edges,
        device: Device,
        memory: Memory,
        results: Callable[[], Allocation],
    ) -> None:
        self._config, self._edges = config, edges
        self._device, self._memory, self._results = device, memory, results
        self._narrowing = Narrowing(edges, device, memory)
        self._claimed = lists_claimed(config, device.traits, edges.graph.max_degree)
        self._peeling: Peeling | None = None
        self._most: Callable[[], int] = lambda: 0
        self._supports: Callable[[], Supports] = lambda: Supports(np.zeros(BUCKETS, np.uint32))
        self._tightening: Tightening | None = None

    @staticmethod
    def may_run(config: TrussConfig, simple: Graph) -> bool:
        """Whether the configuration leaves it open how the greatest k is found, and places fit."""
        return (
            config.triangles != "rows"
            and config.search != "bottom-up"
            and not wide_offsets(simple.m)
        )

    @property
    def source_hash(self) -> str:
        """Hash of what peels; empty before it has."""
        return "" if self._peeling is None else self._peeling.source_hash

    def run(self, asked: Asked, simple: Graph) -> Found | None:
        """Search; None where a smaller graph would not pay, or its lists do not fit."""
        whole, most = self._edges, simple.max_degree + 1
        buckets = whole.bucketed(asked.log)
        # The host reads them while triangles are being listed.
        copying = buckets.enqueue()

        @cache
        def known() -> Supports:
            finish_copy(copying)
            return Supports(buckets.words)

        self._most, self._supports = lambda: known().bound(most), known
        if 0 < whole.triangles <= FEW_TRIANGLES:  # from a run before: nobody waits for buckets yet
            return None
        supports = known()
        self._bound(supports.bound(most))
        if supports.triangles <= FEW_TRIANGLES:
            return None
        for share in SHARES:
            edges_most = share * whole.count
            k = min(supports.least(edges_most), self.most())
            if k == LEAST_K or supports.kept(k) > edges_most:
                continue
            with asked.part("narrow") as part:
                edges, bound = self._narrowing.run(part, supports, k, self.most())
            if edges is not None:
                if not edges.may_list(claimed=self._claimed):
                    return None
                found = self._searched(asked, edges, (k - 1, bound), simple)
                if found is not None:
                    return found
            self._bound(k - 1)
        return None

    def most(self) -> int:
        """Bound k, by what the last run has found; waits for what it has only enqueued."""
        return self._most()

    def bounds(self, log: SweepLog, incidence: Incidence) -> tuple[int, int]:
        """Give a k for all triangles to be peeled from, and what k cannot pass; waits.

        Bounds by supports are far too high where a few edges are in many triangles of edges that
        are in few, and each guess that has no truss costs a peeling.
        """
        most = self.most()
        tightens = incidence.kind == "lists" and TIGHTENED.on(self._device.traits)
        if most <= LEAST_K + 2 or not tightens or self._supports().cliquish(most):
            return most, most
        if self._tightening is None:
            self._tightening = Tightening(self._device, self._memory, self._edges.count)
        most = self._tightening.run(log, self._edges.supports, incidence, most)
        return most - int(most * SLACK), most

    def _bound(self, most: int) -> None:
        self._most = lambda: most

    def _searched(
        self, asked: Asked, edges: Edges, bounds: tuple[int, int], simple: Graph
    ) -> Found | None:
        """List the triangles of a smaller graph and bisect; None where it has no such truss."""
        log, progress, peeling = asked.log, asked.progress, self._peeling
        with asked.part("list") as part:
            incidence = edges.lists(part, claimed=self._claimed)
        shape = edges.count, incidence.total
        if peeling is None or (peeling.items, peeling.incidence.total) != shape:
            self._peeling = None  # gives its memory back before the next takes some
            peeling = Peeling(
                self._config, self._device, self._memory, edges.count, incidence, ABOVE - 1
            )
        peeling.incidence, self._peeling = incidence, peeling
        tried: list[tuple[int, Peeled]] = []
        low, numbers = bounds[0], 0
        if self._config.search == "bisection":
            # Who is left has got no number.
            k, left, tried = bisected(log, peeling, edges.supports, self._memory, bounds, progress)
            peeled = [one for _, one in tried]
        else:
            levels = low + 1 - ABOVE, NO_LEVEL
            found = peeling.run(
                log, edges.supports, left=peeling.items, levels=levels, progress=progress
            )
            peeled, k = [found], found.level + ABOVE - 1
            numbers = k
        if k == low:
            return None
        marks = self._results()
        log.add(marks.clear())
        edges.mark(log, peeling.numbers, numbers, simple, marks)
        if numbers:
            left = peeling.removed_at(k + 1 - ABOVE, peeled[0])
        probes = [(each, one.left > 0) for each, one in tried]
        return Found(k, left, lambda: marks.read() != 0, peeled, probes, incidence.kind)
