"""Truss numbers of a dynamic graph, kept up to date."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from clgraph.algorithms.truss.config import TrussConfig
from clgraph.algorithms.truss.plan import Truss
from clgraph.device import Memory
from clgraph.dynamic.maintained.following import Follower, check_rows
from clgraph.dynamic.maintained.maintaining import Followed, Keys, Maintenance, Span
from clgraph.dynamic.maintained.odds import Odds
from clgraph.engine.sweeps import SweepLog
from clgraph.errors import InvalidArgumentError, InvalidGraphError, VerificationError
from clgraph.graph.arguments import flags

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.algorithms.truss.result import TrussResult
    from clgraph.device import Allocation
    from clgraph.dynamic.graph import DynamicGraph
    from clgraph.dynamic.maintained.following import Change
    from clgraph.dynamic.parts import Steps

__all__ = ["TrussNumbers"]

# Of the elements of all edges' shorter rows, which a recount goes through several times.
SHARE = 0.1
LARGEST_BATCH = 8  # arcs of the graph for each of a batch, below which numbers are found anew


class TrussNumbers(Follower):
    """Truss numbers of the edges of an undirected dynamic graph, kept up to date.

    Parameters
    ----------
    graph : DynamicGraph
        Undirected, with sorted rows. Self-loops have the number 0.
    share : float
        How much may be looked at for a batch before the numbers are found anew when somebody asks,
        of what the shorter rows of all edges have. A batch whose own rows let expect more than that
        is not tried.
    config : TrussConfig or str, optional
        How they are found anew, and how stages are launched.
    verify : bool
        Whether every answer is compared with numbers that are found anew.

    Attributes
    ----------
    last : Followed or None
        What the last batch that was followed did.

    Raises
    ------
    InvalidArgumentError
        If the graph is directed or its rows do not ascend, or `share` is negative.

    Notes
    -----
    Truss numbers are the greatest for which every edge of number k is in k - 2 triangles of edges
    that have at least k. After deletions the old numbers are not too small, and edges with too few
    such triangles give up one after the other. After insertions edges that might be raised by one
    are, and give it up again where it cannot be kept, until nobody keeps one; which edges these are
    is known from an order in which peeling removes edges, which is kept too. Both cost what is
    reached, and a look at every stored edge to bring its number along; where a batch changes most
    of a dense graph's numbers, they are found anew. 8 bytes of device memory for each entry of the
    pool, twice, 12 more of scratch, and 12 for each edge. Numbers do not depend on the order of
    atomics.

    References
    ----------
    .. [1] X. Huang, H. Cheng, L. Qin, W. Tian, J. X. Yu, "Querying k-truss community in large and
           dynamic graphs", SIGMOD 2014.
    .. [2] A. E. Sariyuce, C. Seshadhri, A. Pinar, "Local algorithms for hierarchical dense subgraph
           discovery", VLDB 2018.
    .. [3] Y. Zhang, J. X. Yu, "Unboundedness and efficiency of truss maintenance in evolving
           graphs", SIGMOD 2019.

    Examples
    --------
    >>> import clgraph as cg
    >>> graph = cg.DynamicGraph(cg.generate.complete(4), directed=False)
    >>> trusses = cg.dynamic.TrussNumbers(graph)
    >>> trusses.max_k
    4
    >>> done = graph.delete_edges([0], [1])
    >>> trusses.numbers.tolist(), trusses.recounts
    ([3, 3, 3, 3, 3, 3, 3, 3, 3, 3], 1)
    """

    by_place = True

    @flags
    def __init__(
        self,
        graph: DynamicGraph,
        *,
        share: float = SHARE,
        config: TrussConfig | str | None = None,
        verify: bool = False,
    ) -> None:
        check_rows(graph, undirected=True)
        if not share >= 0:
            raise InvalidArgumentError(f"share={share!r} is not a number of at least 0.")
        self._odds = Odds(float(share))
        self._config = TrussConfig.of(config)
        self._maintenance = Maintenance(graph.device, self._config)
        self._memory = Memory(graph.device)
        self._arrays: list[Allocation] = []
        self.last: Followed | None = None
        super().__init__(graph, verify=verify)

    @property
    def numbers(self) -> NDArray[np.uint32]:
        """Truss number of each stored edge as it is now: uint32 [m], as ``graph.to_graph()``."""
        with self.graph.lock:
            return self._read(self.state)

    @property
    def max_k(self) -> int:
        """The greatest of them; 0 without edges."""
        return int(self.numbers.max(initial=0))

    def _read(self, state: Keys) -> NDArray[np.uint32]:
        store = self.graph.rows
        if not store.m:
            return np.zeros(0, np.uint32)
        log = SweepLog()
        packed = self._maintenance.packed(log, store, state.values)
        log.wait()
        values: NDArray[np.uint32] = packed.read(store.m)
        return values

    def _anew(self, *, ordered: bool = False) -> tuple[Truss, TrussResult]:
        """Find all numbers anew."""
        graph, device = self.graph.to_graph(), self.graph.device
        made = partial(Truss, graph, config=self._config, device=device, ordered=ordered)
        try:
            plan = made()
        except InvalidGraphError:  # self-loops or parallel edges, which the host takes out
            plan = made(clean=True)
        return plan, plan.run()

    def _other(self, count: int, state: Keys | None) -> Allocation:
        """Give an array that the state is not in: of a version that is no more, or a new one."""
        held = None if state is None else state.values
        self._arrays = [one for one in self._arrays if one is held or one.count >= count]
        for one in self._arrays:
            if one is not held and one.count >= count:
                return one
        fresh = self._memory.allocate("truss_keys", max(count, 1), np.uint64)
        self._arrays.append(fresh)
        return fresh

    def found(self) -> Keys:
        """Find all numbers anew."""
        store = self.graph.rows
        values = self._other(store.entries, None)
        if not store.m:
            return Keys(values, Span.of_removals(0), store.n, 0)
        plan, result = self._anew(ordered=True)
        known = plan.on_device()
        if known is None:
            made = (np.asarray(result.numbers, np.uint32), plan.removals())
            known = (self._memory.upload("numbers", made[0]), self._memory.upload("order", made[1]))
        return self._maintenance.unpacked(SweepLog(), store, *known, values)

    def check(self, state: Keys) -> None:
        """Compare with numbers that are found anew."""
        kept, fresh = self._read(state), np.asarray(self._anew()[1].numbers)
        if not np.array_equal(kept, fresh):
            wrong = np.flatnonzero(kept != fresh)
            raise VerificationError(
                f"{len(wrong)} truss numbers are not those of the graph; stored edge {wrong[0]} "
                f"was kept at {kept[wrong[0]]}, but has {fresh[wrong[0]]}."
            )

    def _pays(self, change: Change) -> bool:
        """Whether the batch is small beside the graph; what it costs is seen on the way."""
        return change.batch.count * LARGEST_BATCH <= max(change.before.m, 4096)

    def advanced(self, steps: Steps, state: Keys, change: Change) -> Keys | None:
        """Bring numbers along, and change those that the batch changes."""
        after = change.after
        if (
            after.parallel
            or after.pointer.dtype != np.uint32
            or not after.m
            or not state.span.roomy
        ):
            return None
        values = self._other(after.entries, state)
        log = steps["trusses"]
        self.last = last = self._maintenance.follow(log, change, state, values, self._odds)
        return Keys(values, last.span, after.n, last.work) if last.complete else None
