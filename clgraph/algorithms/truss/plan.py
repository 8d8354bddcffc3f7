"""Trusses of undirected graphs: the truss number of every edge, one k-truss, and the greatest k."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from clgraph.algorithms.triangles.plan import Triangles
from clgraph.algorithms.triangles.simple import as_stored, simple_graph
from clgraph.algorithms.truss.config import TrussConfig
from clgraph.algorithms.truss.finding import Trusses
from clgraph.algorithms.truss.result import PeelingStats, TrussResult
from clgraph.algorithms.truss.searching import ABOVE, Asked, Found, truss_order
from clgraph.documented import documented
from clgraph.engine.plan import Plan, Turn
from clgraph.errors import InvalidArgumentError, VerificationError
from clgraph.graph import as_graph
from clgraph.graph.arguments import flags
from clgraph.progress import report_progress

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.device import Allocation, Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = ["Truss"]


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

    @flags
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
        self.config = TrussConfig.of(config)
        self.method = ""
        self._before = self.device.ledger.used_bytes
        self.simple = simple_graph(self.graph, self.device, clean=clean, progress=progress)
        results = partial(self._result_memory.take, "truss_numbers", self.simple.m, np.uint32)
        self._trusses: Trusses | None = None
        if self.simple.m:
            what = (self.simple, self.config, self.device, self._memory, results)
            self._trusses = Trusses(*what, ordered=ordered, progress=progress)

    @flags
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
        asked, trusses = Asked(k, greatest, progress), self._trusses
        with Turn() as turn, self._lock:
            found = self._found(asked, prepare=prepare)
            self.device_bytes = self.device.ledger.used_bytes - self._before
        report_progress(progress, 1, 1, "peeling")
        stats = PeelingStats(
            asked.log,
            asked.parts,
            turn.total_ms,
            peeled=found.peeled,
            above=ABOVE,
            method=self.method,
            config=self.config.as_dict(),
            device_bytes=self.device_bytes,
            triangles=trusses.edges.triangles if trusses else 0,
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
        with self._lock:
            return self._trusses.spread(name) if self._trusses else None

    def _found(self, asked: Asked, *, prepare: bool) -> Found:
        """Find what is asked for, by stored edge of the graph that was given."""
        trusses, kind = self._trusses, np.uint32 if asked.numbers else np.bool_
        if trusses is None:
            found = Found(None if asked.k else 0, 0, partial(np.zeros, 0, kind))
        else:
            found = trusses.find(asked, prepare=prepare)
            self.method, self.source_hash = found.method, trusses.source_hash
        return found._replace(read=lambda: as_stored(found.read(), self.simple, self.graph))

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
