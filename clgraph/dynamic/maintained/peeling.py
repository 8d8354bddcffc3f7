"""Trusses by deleting edges from a dynamic graph, batch by batch."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from clgraph.algorithms.truss.searching import truss_order
from clgraph.device import Memory
from clgraph.dynamic.maintained.following import Follower, check_rows
from clgraph.engine.sweeps import LazyKernels, SweepLog
from clgraph.engine.workspace import Workspace
from clgraph.errors import InvalidArgumentError, VerificationError
from clgraph.graph.arguments import flags, one_of
from clgraph.primitives.scanning import Scan
from clgraph.progress import report_progress

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.device import Allocation
    from clgraph.device.memory.allocation import Progress
    from clgraph.dynamic.graph import DynamicGraph
    from clgraph.dynamic.maintained.following import Change
    from clgraph.dynamic.parts import Batch, Steps
    from clgraph.dynamic.storage.store import Store

__all__ = ["EdgeSupports", "PeeledEdges", "peel_trusses"]

METHODS = ("subtract", "recount")
LEAST_LEVEL = 3  # the search for the greatest k begins there


@dataclass(frozen=True, slots=True)
class _Supports:
    values: Allocation  # by place in the pool, where an edge's smaller end has it
    n: int


class EdgeSupports(Follower):
    """How many triangles each edge of an undirected dynamic graph is in, while edges leave it.

    Parameters
    ----------
    graph : DynamicGraph
        Undirected, with sorted rows; self-loops are in no triangle.
    method : {"subtract", "recount"}
        What follows a batch of deletions: the triangles that it destroyed are taken from the
        supports of the others, or all are counted anew on the same rows. After insertions they are
        counted anew.
    verify : bool
        Whether every answer is compared with supports that are counted anew.

    Notes
    -----
    Subtraction costs the rows of the batch's ends, whatever the size of the graph, and a look at
    every stored edge to bring its support along.

    Examples
    --------
    >>> import clgraph as cg
    >>> graph = cg.DynamicGraph(cg.generate.complete(4), directed=False)
    >>> supports = cg.dynamic.EdgeSupports(graph)
    >>> supports.supports.tolist()
    [2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]
    >>> done = graph.delete_edges([0], [1])
    >>> supports.supports.tolist(), supports.updates
    ([1, 1, 1, 1, 1, 1, 2, 1, 1, 2], 1)
    """

    by_place = True

    @flags
    def __init__(
        self,
        graph: DynamicGraph,
        *,
        method: Literal["subtract", "recount"] = "subtract",
        verify: bool = False,
    ) -> None:
        check_rows(graph, undirected=True)
        one_of("method", method, METHODS)
        self.method = method
        self._memory = Memory(graph.device)
        self._work = Workspace(graph.device, growing=True)
        self._scan = Scan(graph.device, np.uint32)
        self._supports = LazyKernels(
            graph.device,
            {"supports": ("truss/supports.cl", {}), "batch": ("truss/batch.cl", {})},
        )
        super().__init__(graph, verify=verify)

    @property
    def supports(self) -> NDArray[np.uint32]:
        """Triangles of each stored edge as it is now: uint32 [m], in the order of `to_graph`."""
        with self.graph.lock:
            values = self.state.values.read()
            store = self.graph.rows
            held = self.graph.to_graph()
            sources = np.repeat(np.arange(held.n), held.degrees)
            targets = held.indices
            begins = store.pointer.read(store.n).astype(np.int64)
            nth = np.arange(held.m) - np.repeat(held.indptr[:-1], held.degrees)
            mine: NDArray[np.uint32] = values[begins[sources] + nth]
            # The smaller end of an edge has its support; both ends are sorted the same way.
            up, down = np.flatnonzero(sources < targets), np.flatnonzero(sources > targets)
            mine[down[np.lexsort((sources[down], targets[down]))]] = mine[up]
            return mine

    def _rows(self, log: SweepLog, store: Store) -> tuple[Any, ...]:
        """Give the arguments that kernels about all rows begin with."""
        sums = self._work.array("sums", store.n + 1, np.uint32)
        self._supports.launch(log, "batch_rows", store.n + 1, store.used, np.uint32(store.n), sums)
        self._scan.enqueue(log, sums, store.n + 1, sums)
        return sums, np.uint32(store.n), np.uint32(store.m)

    def removed_rows(self, log: SweepLog, batch: Batch, bits: int, n: int) -> Allocation:
        """Find where the keys of each vertex begin: with them, the graph of a batch."""
        first = self._work.array("first", n + 1, np.uint32)
        given = (batch.keys, np.uint32(batch.count), np.uint32(bits), np.uint32(n), first)
        self._supports.launch(log, "supports_first", n + 1, *given)
        return first

    def advanced(self, steps: Steps, state: _Supports, change: Change) -> _Supports | None:
        """Take away what a batch that leaves destroys."""
        before, after = change.before, change.after
        if change.joins or self.method == "recount" or after.parallel or not _narrow(after):
            return None
        log = steps["supports"]
        values = self._memory.allocate("supports", max(after.entries, 1), np.uint32)
        if after.m:
            old = (before.pointer, before.used, before.pools[0], state.values)
            now = (after.pointer, after.pools[0], values)
            self._supports.launch(
                log, "supports_carry", after.m, *self._rows(log, after), *old, *now
            )
            first = self.removed_rows(log, change.batch, change.bits, after.n)
            items = change.batch.count * self.graph.device.traits.lanes
            rows = (after.pointer, after.used, after.pools[0], values)
            self._supports.launch(log, "supports_subtract", items, *change.keys, first, *rows)
        return _Supports(values, after.n)

    def _pays(self, change: Change) -> bool:
        """Whether to subtract: always, so that the two methods can be compared."""
        return not change.joins

    def found(self) -> _Supports:
        """Count all on the rows as they are."""
        store = self.graph.rows
        if not _narrow(store):
            raise InvalidArgumentError(
                "supports are kept of graphs with 32-bit places; use cg.truss_numbers(to_graph())."
            )
        values = self._memory.allocate("supports", max(store.entries, 1), np.uint32)
        if store.m:
            log = SweepLog()
            rows = (store.pointer, store.used, store.pools[0], values)
            self._supports.launch(log, "supports_count", store.m, *self._rows(log, store), *rows)
            log.wait()
        return _Supports(values, store.n)

    def check(self, state: _Supports) -> None:
        """Compare with supports that are counted anew."""
        log, store = SweepLog(), self.graph.rows
        fresh = self.found()
        if not store.m:
            return
        kept, counted = (self._of_edges(log, store, each) for each in (state, fresh))
        if not np.array_equal(kept, counted):
            raise VerificationError("supports that were kept are not those of the graph.")

    def _of_edges(self, log: SweepLog, store: Store, state: _Supports) -> NDArray[np.uint32]:
        """Read supports row after row."""
        rows = self._rows(log, store)
        log.wait()
        begins = store.pointer.read(store.n).astype(np.int64)
        lengths = np.diff(rows[0].read(store.n + 1).astype(np.int64))
        nth = np.arange(store.m) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        values: NDArray[np.uint32] = state.values.read()[np.repeat(begins, lengths) + nth]
        return values

    def under(self, least: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Give both ends of the edges that are in fewer triangles."""
        with self.graph.lock:
            state, store = self.state, self.graph.rows
            if not store.m:
                return np.zeros(0, np.uint32), np.zeros(0, np.uint32)
            log = SweepLog()
            edges = store.m
            src, dst = (self._work.array(name, edges, np.uint32) for name in ("src", "dst"))
            found = self._work.upload("found", np.zeros(1, np.uint32))
            where = (store.pointer, store.pools[0], state.values, np.uint32(least))
            self._supports.launch(
                log, "supports_under", store.m, *self._rows(log, store), *where, src, dst, found
            )
            log.wait()
            count = int(found.read(1)[0])
            return src.read(count), dst.read(count)


def _narrow(store: Store) -> bool:
    return bool(store.pointer.dtype == np.uint32)


@dataclass(frozen=True, slots=True)
class PeeledEdges:
    """What left a dynamic graph, and when.

    Attributes
    ----------
    src, dst : uint32 array
        Both ends of the edges that left, each once, in the order of rounds.
    numbers : uint32 array
        Their truss numbers.
    max_k : int or None
        The greatest of all; None where one k was asked for.
    rounds : structured array
        ``k``, ``removed`` and ``milliseconds`` of each batch.
    """

    src: NDArray[np.uint32]
    dst: NDArray[np.uint32]
    numbers: NDArray[np.uint32]
    max_k: int | None
    rounds: NDArray[Any]


def peel_trusses(
    graph: DynamicGraph,
    k: int | None = None,
    *,
    method: Literal["subtract", "recount"] = "subtract",
    progress: Progress | None = None,
) -> PeeledEdges:
    """Delete from a dynamic graph all edges that are not in its k-truss, or of all k in turn.

    Parameters
    ----------
    graph : DynamicGraph
        Undirected, with sorted rows and without parallel edges and self-loops. What is left in it
        is the k-truss; pass ``graph.snapshot()`` to keep the graph.
    k : int, optional
        Which truss is wanted, at least 2; default are all, from 3 on until no edge is left.
    method : {"subtract", "recount"}
        As for `EdgeSupports`: the seed's Delta and Iterative, on the same store.
    progress : callable or True, optional
        Called with how many edges have left.

    Returns
    -------
    PeeledEdges
        What left, with its truss numbers, and rounds.

    Raises
    ------
    InvalidArgumentError
        If `k` is less than 2, the method is unknown, or the graph is directed or unsorted.

    Notes
    -----
    Each round is one batch of deletions, after which rows are sorted as before. For numbers alone
    `clgraph.truss_numbers` is the faster way: its rounds are all in one launch.

    References
    ----------
    .. [1] O. Green, J. Fox, E. Kim, F. Busato, N. Bombieri, K. Lakhotia, S. Zhou, S. Singapura,
           H. Zeng, R. Kannan, V. Prasanna, D. Bader, "Quickly finding a truss in a haystack",
           HPEC 2017.

    Examples
    --------
    >>> import clgraph as cg
    >>> graph = cg.DynamicGraph(cg.generate.complete(5), directed=False)
    >>> done = graph.insert_edges([4], [5])
    >>> peeled = cg.dynamic.peel_trusses(graph)
    >>> peeled.max_k, peeled.rounds["k"].tolist(), peeled.rounds["removed"].tolist(), graph.m
    (5, [3, 6], [1, 10], 0)
    """
    if k is not None:
        k = truss_order(k)
    supports = EdgeSupports(graph, method=method)
    ends: list[tuple[NDArray[np.uint32], NDArray[np.uint32]]] = []
    rounds: list[tuple[int, int, float]] = []
    total, level = graph.m // 2, LEAST_LEVEL if k is None else k
    try:
        while graph.m:
            began = time.perf_counter()
            src, dst = supports.under(level - 2)
            if not len(src):
                if k is not None:
                    break
                level += 1
                continue
            graph.delete_edges(src, dst)
            ends.append((src, dst))
            rounds.append((level, len(src), 1e3 * (time.perf_counter() - began)))
            report_progress(progress, total - graph.m // 2, total, "peeling")
    finally:
        supports.close()
    kind = [("k", np.uint32), ("removed", np.uint32), ("milliseconds", np.float64)]
    history = np.array(rounds, kind)
    sources, targets = (
        np.concatenate([pair[end] for pair in ends]) if ends else np.zeros(0, np.uint32)
        for end in (0, 1)
    )
    numbers = np.repeat(history["k"] - 1, history["removed"]).astype(np.uint32)
    max_k = int(numbers.max(initial=0)) if k is None else None
    return PeeledEdges(sources, targets, numbers, max_k, history)
