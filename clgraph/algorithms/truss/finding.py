"""What finds the trusses of a graph that has edges: all numbers, one truss, or the greatest."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.truss.edges import Edges
from clgraph.algorithms.truss.greatest import Greatest
from clgraph.algorithms.truss.peeling import Peeled, Peeling
from clgraph.algorithms.truss.searching import ABOVE, LEAST_K, Asked, Found, bisected, raised
from clgraph.algorithms.truss.shape import lists_claimed
from clgraph.device.hardware.measured import BISECTED_TRIANGLES
from clgraph.engine.sweeps import SweepLog
from clgraph.errors import DeviceMemoryError

if TYPE_CHECKING:
    from collections.abc import Callable

    from clgraph.algorithms.truss.config import TrussConfig
    from clgraph.device import Allocation, Device, Memory
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = ["Trusses"]


class Trusses:
    """The trusses of a graph: its edges by number, and what peels them.

    Parameters
    ----------
    graph : Graph
        Undirected, with edges, without self-loops and parallel edges.
    config : TrussConfig
        What was asked for.
    device : Device
        Where.
    memory : Memory
        What to allocate from.
    results : callable
        Gives an array of uint32 [m] that no result has.
    ordered : bool
        Whether the order is noted that edges are removed in.
    progress : callable, optional
        Called while the graph is uploaded.

    Attributes
    ----------
    edges : Edges
        Of the graph.
    peeling : Peeling or None
        What peels them, once that was asked for and if there are triangles.
    listed_fills : int
        Of the edges, whose triangles that knows.
    """

    def __init__(
        self,
        graph: Graph,
        config: TrussConfig,
        device: Device,
        memory: Memory,
        results: Callable[[], Allocation],
        *,
        ordered: bool,
        progress: Progress | None = None,
    ) -> None:
        self._graph, self._config, self._device = graph, config, device
        self._memory, self._results, self._ordered = memory, results, ordered
        self._claimed = lists_claimed(config, device.traits, graph.max_degree) and not ordered
        self.edges = Edges(graph, device, memory, progress)
        self.peeling: Peeling | None = None
        self.listed_fills = -1
        self._greatest: Greatest | None = None

    @property
    def source_hash(self) -> str:
        """Hash of the rendered source of what peels, or counts if nothing did."""
        built = (each.source_hash for each in (self.peeling, self._greatest, self.edges) if each)
        return next(filter(None, built), "")

    def find(self, asked: Asked, *, prepare: bool = False) -> Found:
        """Find what is asked for, by stored edge, and wait until it is there.

        Parameters
        ----------
        asked : Asked
            What that is, and where it is noted what was launched.
        prepare : bool
            Whether to turn edges and count triangles although an earlier run has.
        """
        with self.edges.alone:
            found = self._found(asked, prepare=prepare)
            asked.log.wait()
            self.edges.finish()
        return found

    def spread(self, name: str) -> Allocation | None:
        """Bring what peeling noted of edges to both places of each; None without triangles."""
        with self.edges.alone:
            if self.peeling is None:
                return None
            if self.listed_fills != self.edges.fills:  # another plan has numbered edges anew
                self.find(Asked())
            values = getattr(self.peeling, name)
            if values is None:
                return None
            log = SweepLog()
            held = self._memory.allocate(name, self._graph.m, np.uint32)
            self.edges.spread(log, values, held)
            log.wait()
            return held

    def _found(self, asked: Asked, *, prepare: bool) -> Found:
        edges, graph = self.edges, self._graph
        if prepare or edges.stale:
            with asked.part("count") as part:
                edges.fill(part, anew=prepare, counted=asked.greatest)
        if asked.greatest and not edges.bare and Greatest.may_run(self._config, graph):
            if self._greatest is None:
                self._greatest = Greatest(
                    self._config, edges, self._device, self._memory, self._results
                )
            smaller = self._greatest.run(asked, graph)
            if smaller is not None:
                return smaller
        peeling = self._listed(asked)
        if peeling is None:
            left = edges.count if asked.k in {None, LEAST_K} else 0
            value: Any = np.uint32(LEAST_K) if asked.numbers else np.bool_(left)
            max_k = LEAST_K if asked.k is None else None
            return Found(max_k, left, partial(np.full, graph.m, value), method="none")
        if asked.numbers or (asked.greatest and not self._bisects()):
            found = self._all(asked, peeling)
        else:
            found = self._peeled_to(asked, peeling)
        return found._replace(method=peeling.incidence.kind)

    def _all(self, asked: Asked, peeling: Peeling) -> Found:
        """Find the numbers of all edges, or from them which edges have the greatest."""
        edges, log, held = self.edges, asked.log, self._results()
        then = partial(edges.spread, values=peeling.numbers, target=held)
        bounds = None
        if asked.greatest and self._greatest is not None:
            bounds = self._greatest.bounds(log, peeling.incidence)
        max_k, left, tried = raised(
            log, peeling, edges.supports, bounds=bounds, then=then, progress=asked.progress
        )
        peeled = [one for _, one in tried]
        if asked.numbers:
            return Found(max_k, edges.count, held.read, peeled)
        wanted = 0 if left else max_k  # who is left has got no number
        count = left or peeling.removed_at(max_k + 1 - ABOVE, peeled[-1])
        probes = [(k, k <= max_k) for k, _ in tried] if bounds else []
        return Found(max_k, count, lambda: held.read() == wanted, peeled, probes)

    def _peeled_to(self, asked: Asked, peeling: Peeling) -> Found:
        """Peel down to one truss, or to the greatest, by bisection."""
        edges, graph, log, k = self.edges, self._graph, asked.log, asked.k
        tried: list[tuple[int, Peeled]] = []
        max_k, left = None, 0
        if k is None:
            most = graph.max_degree + 1 if self._greatest is None else self._greatest.most()
            bounds = LEAST_K, most
            max_k, left, tried = bisected(
                log, peeling, edges.supports, self._memory, bounds, asked.progress
            )
        elif k == LEAST_K:
            peeling.begin(log, edges.supports)
            left = peeling.items
        elif k <= graph.max_degree + 1:
            level = k - ABOVE
            found = peeling.run(
                *(log, edges.supports),
                left=peeling.items,
                levels=(level, level),
                progress=asked.progress,
            )
            tried, left = [(k, found)], found.left
        peeled = [one for _, one in tried]
        probes = [] if k is not None else [(each, one.left > 0) for each, one in tried]
        if not left:
            return Found(max_k, 0, partial(np.zeros, graph.m, np.bool_), peeled, probes)
        held = self._results()
        edges.spread(log, peeling.numbers, held)
        # Who is left has got no number.
        return Found(max_k, left, lambda: held.read() == 0, peeled, probes)

    def _bisects(self) -> bool:
        """Whether the greatest k is bisected for, rather than found with all numbers."""
        if self._config.search is None:
            return self.edges.triangles >= BISECTED_TRIANGLES.on(self._device.traits)
        return self._config.search == "bisection"

    def _listed(self, asked: Asked) -> Peeling | None:
        """Give what peels, triangles listed; None where there are none."""
        edges, held, claimed = self.edges, self.peeling, self._claimed
        if not edges.triangles:
            asked.log.wait()  # how much room lists need has to be known, but only once
            edges.finish()
        if not edges.triangles or (held is not None and self.listed_fills == edges.fills):
            return held if edges.triangles else None
        wanted = self._config.triangles
        if held is not None:
            lists = held.incidence.kind == "lists"
        else:
            lists = wanted == "lists" or (wanted is None and edges.may_list(claimed=claimed))
        if lists and not edges.may_number():
            raise DeviceMemoryError(
                f"lists of {edges.triangles} triangles cannot be numbered with 32 bits; use "
                "triangles='rows'."
            )
        self.listed_fills = -1
        with asked.part("list") as part:
            incidence = edges.lists(part, claimed=claimed) if lists else edges.rows(part)
        if held is None:
            what = (self._config, self._device, self._memory, edges.count, incidence, ABOVE - 1)
            held = self.peeling = Peeling(*what, ordered=self._ordered)
        held.incidence, self.listed_fills = incidence, edges.fills
        return held
