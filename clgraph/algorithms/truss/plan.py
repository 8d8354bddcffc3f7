"""Trusses of undirected graphs: the truss number of every edge, one k-truss, and the greatest k."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.triangles.plan import Triangles
from clgraph.algorithms.triangles.simple import as_stored, simple_graph
from clgraph.algorithms.truss.config import TrussConfig
from clgraph.algorithms.truss.edges import Edges
from clgraph.algorithms.truss.greatest import Found, Greatest
from clgraph.algorithms.truss.lending import Lender
from clgraph.algorithms.truss.peeling import Peeled, Peeling
from clgraph.algorithms.truss.result import PeelingStats, TrussResult
from clgraph.algorithms.truss.searching import ABOVE, LEAST_K, bisected, raised, truss_order
from clgraph.algorithms.truss.shape import lists_claimed
from clgraph.device.hardware.measured import BISECTED_TRIANGLES
from clgraph.documented import documented
from clgraph.engine.plan import Plan
from clgraph.engine.sweeps import SweepLog
from clgraph.errors import DeviceMemoryError, InvalidArgumentError, VerificationError
from clgraph.graph import as_graph
from clgraph.progress import report_progress

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from clgraph.device import Allocation, Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = ["Truss"]


def _parts() -> dict[str, SweepLog]:
    """Give what notes each part of what is prepared."""
    return {name: SweepLog() for name in ("count", "narrow", "list")}


@documented(Triangles)
class Truss(Plan):
    """Trusses, compiled for one graph, configuration and device.

    Parameters
    ----------
    graph : Graph or scipy.sparse matrix
        Undirected, without self-loops and parallel edges; weights are ignored.
    config : TrussConfig or str, optional
        A configuration or the name of a preset; default "auto".
    ordered : bool
        Whether runs note the order that edges are removed in, for `removals`.

    Attributes
    ----------
    simple : Graph
        What is computed on: the graph that was given, or that cleaned.
    config : TrussConfig
        What was asked for.
    method : str
        Whether triangles are listed ("lists") or looked up ("rows"), or there are none ("none");
        known after the first run.

    Notes
    -----
    The k-truss is the largest subgraph in which every edge is in k - 2 triangles at least; an
    edge's truss number is the greatest k whose truss it is in. Triangles are counted by the first
    run and, where they fit, listed by edge: O(m^1.5) work and 24 bytes for each (36 where SIMD
    groups drift). Peeling then looks at each triangle three times, in as many rounds as there are,
    all in one launch on devices that allow it. Without lists it takes O(sum over edges of the
    lesser degree, times a logarithm). Numbers are deterministic, whatever the order of atomics. A
    plan serves one thread at a time, and so do all plans of a graph on one device together; others
    wait.

    References
    ----------
    .. [1] J. Cohen, "Trusses: cohesive subgraphs for social network analysis", 2008.
    .. [2] O. Green, J. Fox, E. Kim, F. Busato, N. Bombieri, K. Lakhotia, S. Zhou, S. Singapura,
           H. Zeng, R. Kannan, V. Prasanna, D. Bader, "Quickly finding a truss in a haystack",
           HPEC 2017.
    """

    def __init__(
        self,
        graph: Graph,
        *,
        config: TrussConfig | str | None = None,
        device: Device | str | None = None,
        clean: bool = False,
        ordered: bool = False,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(as_graph(graph), device)
        self._ordered = ordered
        self.config = TrussConfig.of(config)
        self.method = ""
        self._peeling: Peeling | None = None
        self._listed_fills = -1  # of the edges, whose triangles are listed
        self._greatest: Greatest | None = None
        self._before = self.device.ledger.used_bytes
        self.simple = simple_graph(self.graph, self.device, clean=clean, progress=progress)
        drifts = lists_claimed(self.config, self.device.traits, self.simple.max_degree)
        self._claimed = drifts and not ordered
        self._results = Lender(self._memory, "truss_numbers", self.simple.m, np.uint32)
        if self.simple.m:
            self._edges = Edges(self.simple, self.device, self._memory, progress)

    def run(
        self,
        k: int | None = None,
        *,
        greatest: bool = False,
        prepare: bool = False,
        progress: Progress | None = None,
        verify: bool = False,
    ) -> TrussResult:
        """Find all truss numbers, one truss, or the greatest one.

        Parameters
        ----------
        k : int, optional
            Which truss is wanted, at least 2; default are the numbers of all edges.
        greatest : bool
            Whether the truss of the greatest k is wanted that there is one for.
        prepare : bool
            Whether to turn edges and count triangles anew although an earlier run has, for its
            time.
        progress : callable or True, optional
            Called with how many edges have been removed, wherever the device pauses.
        verify : bool
            Whether to find the same in another way and compare.

        Returns
        -------
        TrussResult
            ``numbers`` uint32 [m], or ``mask`` bool [m], by stored edge; ``k``, ``max_k``,
            ``count`` and ``stats``.

        Raises
        ------
        InvalidArgumentError
            If `k` is less than 2, or given though the greatest is wanted.
        VerificationError
            If the result was to be checked and is wrong.
        KernelTimeoutError
            If the device does not finish.
        DeviceMemoryError
            If there is no room for the triangles or the result.
        """
        if k is not None:
            k = truss_order(k)
            if greatest:
                raise InvalidArgumentError(
                    f"k={k} and greatest=True are two wishes; leave one out."
                )
        log, parts = SweepLog(), _parts()
        with self._turn() as turn:
            found = self._run(log, parts, k, greatest=greatest, prepare=prepare, told=progress)
            self.device_bytes = self.device.ledger.used_bytes - self._before
        report_progress(progress, 1, 1, "peeling")
        stats = PeelingStats(
            log,
            parts,
            turn.total_ms,
            peeled=found.peeled,
            above=ABOVE,
            method=self.method,
            config=self.config.as_dict(),
            device_bytes=self.device_bytes,
            triangles=self._edges.triangles if self.simple.m else 0,
            probes=found.probes,
        )
        which = found.max_k if greatest else k
        result = TrussResult(found.read, k=which, max_k=found.max_k, count=found.left, stats=stats)
        if verify:
            self._verify(result, k, greatest=greatest)
        return result

    def removals(self) -> NDArray[np.uint32]:
        """Give an order in which edges can be peeled off one by one, after a run for all numbers.

        Returns
        -------
        uint32 array [m]
            By stored edge. Of its triangles with edges of greater numbers, or of its own that are
            not before it, an edge of number k has k - 2 at most. Any such order may be given.
        """
        held = self._spread("removals")
        if held is None:  # nothing is in any triangle
            return np.zeros(self.graph.m, np.uint32)
        return as_stored(held.read(), self.simple, self.graph)

    def on_device(self) -> tuple[Allocation, Allocation] | None:
        """Give numbers and `removals` where they are, after a run for all numbers.

        Returns
        -------
        pair of Allocation, or None
            uint32 [m] each. None where they have to be made on the host: of a graph that had to be
            cleaned, or that has no triangles.
        """
        if self.simple is not self.graph:
            return None
        numbers, removals = self._spread("numbers"), self._spread("removals")
        return None if numbers is None or removals is None else (numbers, removals)

    def _spread(self, name: str) -> Allocation | None:
        """Bring what peeling noted of edges to both places of each; None without triangles."""
        with self._turn(), self._edges.alone if self.simple.m else nullcontext():
            if self._peeling is None or self.method == "none":
                return None
            if self._listed_fills != self._edges.fills:  # another plan has numbered edges anew
                anew = SweepLog(), _parts(), None
                self._run(*anew, greatest=False, prepare=False, told=None)
            values = getattr(self._peeling, name)
            if values is None:
                return None
            log = SweepLog()
            held = self._memory.allocate(name, self.simple.m, np.uint32)
            self._edges.spread(log, values, held)
            log.wait()
            return held

    def _run(
        self,
        log: SweepLog,
        parts: dict[str, SweepLog],
        k: int | None,
        *,
        greatest: bool,
        **options: Any,
    ) -> Found:
        if not self.simple.m:
            kind = np.uint32 if k is None and not greatest else np.bool_
            return Found(0 if k is None else None, 0, partial(np.zeros, self.graph.m, kind))
        with self._edges.alone:
            found = self._found(log, parts, k, greatest=greatest, **options)
            log.wait()
            self._edges.finish()
        built = (each.source_hash for each in (self._peeling, self._greatest, self._edges) if each)
        self.source_hash = next(filter(None, built), "")  # of what peels, if anything did
        return found

    def _found(
        self,
        log: SweepLog,
        parts: dict[str, SweepLog],
        k: int | None,
        *,
        greatest: bool,
        prepare: bool,
        told: Progress | None,
    ) -> Found:
        """Find what was asked for in a graph with edges."""
        edges, simple = self._edges, self.simple
        if prepare or edges.stale:
            edges.fill(parts["count"], anew=prepare, counted=greatest)
            log.add_all(parts["count"])
        if greatest and not edges.bare and Greatest.may_run(self.config, simple):
            if self._greatest is None:
                self._greatest = Greatest(
                    self.config, edges, self.device, self._memory, self._results
                )
            smaller = self._greatest.run(log, parts, simple, told)
            if smaller is not None:
                self.method = smaller.method
                return smaller._replace(read=self._stored(smaller.read))
        peeling = self._listed(log, parts)
        if peeling is None:
            left = edges.count if k is None or k == LEAST_K else 0
            value = np.uint32(LEAST_K) if k is None and not greatest else np.bool_(left)
            read = partial(np.full, simple.m, value)
            return Found(LEAST_K if k is None else None, left, self._stored(read))
        if k is None and not (greatest and self._bisects()):
            return self._all(log, peeling, greatest=greatest, told=told)
        held = self._results.lend()
        peeled: list[Peeled] = []
        probes: list[tuple[int, bool]] = []
        max_k = None
        if k is None:
            searched = self._greatest
            bounds = LEAST_K, simple.max_degree + 1 if searched is None else searched.most()
            max_k, left, tried = bisected(log, peeling, edges.supports, self._memory, bounds, told)
            peeled = [one for _, one in tried]
            probes = [(each, one.left > 0) for each, one in tried]
        else:
            left = self._one(log, peeling, k, peeled, told)
        if not left:
            return Found(max_k, 0, partial(np.zeros, self.graph.m, np.bool_), peeled, probes)
        edges.spread(log, peeling.numbers, held.array)
        # Who is left has got no number.
        return Found(max_k, left, self._stored(lambda: held.read() == 0), peeled, probes)

    def _all(
        self, log: SweepLog, peeling: Peeling, *, greatest: bool, told: Progress | None
    ) -> Found:
        """Find the numbers of all edges, or from them which edges have the greatest."""
        edges = self._edges
        held = self._results.lend()
        then = partial(edges.spread, values=peeling.numbers, target=held.array)
        bounds = None
        if greatest and self._greatest is not None:
            bounds = self._greatest.bounds(log, peeling.incidence)
        max_k, left, tried = raised(
            log, peeling, edges.supports, bounds=bounds, then=then, progress=told
        )
        peeled = [one for _, one in tried]
        if not greatest:
            return Found(max_k, edges.count, self._stored(held.read), peeled)
        wanted = 0 if left else max_k  # who is left has got no number
        count = left or peeling.removed_at(max_k + 1 - ABOVE, peeled[-1])
        probes = [(k, k <= max_k) for k, _ in tried] if bounds else []
        return Found(max_k, count, self._stored(lambda: held.read() == wanted), peeled, probes)

    def _stored(self, read: Callable[[], NDArray[Any]]) -> Callable[[], NDArray[Any]]:
        """Give what reads by stored edge of the graph what is read by that of the simple one."""
        return lambda: as_stored(read(), self.simple, self.graph)

    def _bisects(self) -> bool:
        """Whether the greatest k is bisected for, rather than found with all numbers."""
        if self.config.search is None:
            return self._edges.triangles >= BISECTED_TRIANGLES.on(self.device.traits)
        return self.config.search == "bisection"

    def _listed(self, log: SweepLog, parts: dict[str, SweepLog]) -> Peeling | None:
        """Give what peels, triangles listed; None where there are none."""
        edges, held = self._edges, self._peeling
        if not edges.triangles:
            log.wait()  # how much room lists need has to be known, but only once
            edges.finish()
        if not edges.triangles:
            self.method = "none"
            return None
        if held is not None and self._listed_fills == edges.fills:
            self.method = held.incidence.kind
            return held
        wanted, claimed = self.config.triangles, self._claimed
        if held is not None:
            lists = held.incidence.kind == "lists"
        else:
            lists = wanted == "lists" or (wanted is None and edges.may_list(claimed=claimed))
        if lists and not edges.may_number():
            raise DeviceMemoryError(
                f"lists of {edges.triangles} triangles cannot be numbered with 32 bits; use "
                "triangles='rows'."
            )
        self._listed_fills = -1
        listing = parts["list"] = SweepLog()
        incidence = edges.lists(listing, claimed=claimed) if lists else edges.rows(listing)
        log.add_all(listing)
        self.method = incidence.kind
        if held is None:
            held = Peeling(
                self.config,
                self.device,
                self._memory,
                edges.count,
                incidence,
                ABOVE - 1,
                ordered=self._ordered,
            )
        held.incidence = incidence
        self._peeling, self._listed_fills = held, edges.fills
        return held

    def _one(
        self,
        log: SweepLog,
        peeling: Peeling,
        k: int,
        peeled: list[Peeled],
        progress: Progress | None,
    ) -> int:
        """Peel down to one truss; give its edges."""
        if k == LEAST_K:
            peeling.begin(log, self._edges.supports)
            return peeling.items
        if k > self.simple.max_degree + 1:
            return 0
        peeled.append(
            peeling.run(
                log,
                self._edges.supports,
                left=peeling.items,
                levels=(k - ABOVE, k - ABOVE),
                progress=progress,
            )
        )
        return peeled[-1].left

    def _verify(self, result: TrussResult, k: int | None, *, greatest: bool) -> None:
        """Find the same by counting all supports anew, or by subtraction where that was done.

        Raises
        ------
        VerificationError
            If that gives something else.
        """
        removal = "subtract" if self.config.removal == "recount" else "recount"
        config = TrussConfig(triangles="rows", removal=removal, search="bottom-up")
        plan = Truss(
            self.graph, config=config, device=self.device, clean=self.simple is not self.graph
        )
        if not result.same(plan.run(k, greatest=greatest)):
            raise VerificationError("the trusses are not those that are found in another way.")
