"""Maximal independent sets: no two are neighbours, and no vertex can be added."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.independent_set.result import IndependentSetResult
from clgraph.device import load
from clgraph.documented import documented
from clgraph.engine.arguments import only_auto
from clgraph.engine.launch_stats import RoundStats
from clgraph.engine.plan import Plan, Turn
from clgraph.engine.resident import resident, wide_offsets
from clgraph.engine.rounds import Rounds
from clgraph.engine.sweeps import Sweeper, SweepLog
from clgraph.errors import InvalidGraphError, VerificationError
from clgraph.graph import as_graph
from clgraph.graph.arguments import flags, whole
from clgraph.graph.csr import row_ids
from clgraph.progress import report_progress

if TYPE_CHECKING:
    from clgraph.device import Allocation, Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = ["IndependentSet", "maximal_independent_set"]

LONG_ROW_LANES = 1  # rows of so many edges per lane are finished by all lanes
FIRST_AHEAD = 6  # rounds that few graphs need more than
NO_LONG_ROW = 2**32 - 1
ABREAST = 4  # neighbours that a lane looks at side by side
TURNS = 3  # that lanes give a vertex before it is put on the list of the next round
IN = 255


@documented(Plan)
class IndependentSet(Plan):
    """Maximal independent sets, compiled for one graph and device.

    Parameters
    ----------
    graph : Graph or scipy.sparse matrix
        Undirected; weights and self-loops are ignored.

    Raises
    ------
    InvalidGraphError
        If the graph is directed.

    Notes
    -----
    Vertices with few neighbours come first, those with as many by a hash of number and seed; a
    vertex is taken if none of its neighbours was before it. So the set depends on graph and seed
    alone. A vertex that has to wait for a neighbour goes on there in the next round, and looks at
    each of its edges once: O(n + m) work, in about log(n) rounds on most graphs. Takes 17 bytes per
    vertex beside the graph, and 1 for every result that has not been read. A plan serves one thread
    at a time; others wait.

    References
    ----------
    .. [1] M. Luby, "A simple parallel algorithm for the maximal independent set problem", SIAM
           Journal on Computing 15(4), 1986.
    .. [2] M. Burtscher, S. Devale, S. Azimi, J. Jaiganesh, E. Powers, "A high-quality and fast
           maximal independent set implementation for GPUs", ACM TOPC 5(2), 2018.
    """

    graph: Graph

    def __init__(
        self,
        graph: Graph,
        *,
        device: Device | str | None = None,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(as_graph(graph), device)
        if self.graph.directed:
            raise InvalidGraphError(
                "independent sets need an undirected graph; pass graph.symmetrized()."
            )
        n, lanes = self.graph.n, self.device.traits.lanes
        self._sweeper = Sweeper(self.device, n)
        self.config: dict[str, Any] = {
            "group_size": self._sweeper.group_size,
            "long_row": NO_LONG_ROW if lanes == 1 else LONG_ROW_LANES * lanes,
            "turns": 1 if lanes == 1 else TURNS,
            "abreast": 1 if lanes == 1 else ABREAST,
            "wide_offsets": wide_offsets(self.graph.m),
        }
        program = load(self.device, "independent_set/independent_set.cl", **self.config)
        self.source_hash = program.source_hash
        self._kernels = {name: program.kernel(f"independent_{name}") for name in ("begin", "round")}
        if n:
            with self._counted():
                held = resident(self.graph, self.device, progress)
                self._rows = (held.indptr, held.indices, np.uint32(n))
                self._lists = [
                    self._memory.allocate(f"undecided_{i}", 2 * n, np.uint32) for i in (0, 1)
                ]
                self._rounds = Rounds(self._memory, FIRST_AHEAD)

    @flags
    def run(
        self, seed: int = 0, *, verify: bool = False, progress: Progress | None = None
    ) -> IndependentSetResult:
        """Find a set.

        Parameters
        ----------
        seed : int
            Which of several sets: 0 to 2**64 - 1.
        verify : bool
            Whether to check on the host that no two are neighbours and none can be added.
        progress : callable or True, optional
            Called with how many vertices are decided.

        Returns
        -------
        IndependentSetResult
            ``mask`` bool [n], ``vertices`` int64 [count], ``count``, ``stats``.

        Raises
        ------
        InvalidArgumentError
            If `seed` is not such a number.
        VerificationError
            If the result was to be checked and is wrong.
        KernelTimeoutError
            If the device does not finish.
        DeviceMemoryError
            If there is no room for the result.
        """
        number = np.uint64(whole("seed", seed, least=0, most=2**64 - 1))
        n = self.graph.n
        log = SweepLog()
        rounds: list[int] = []
        statuses: Allocation | None = None
        with Turn() as turn, self._lock:
            if n:
                statuses = self._memory.allocate("independent_set", n, np.uint8)
                rounds = [n, *self._run(log, number, statuses, progress)]
        report_progress(progress, 1, 1, "deciding")
        stats = self._stats_of(RoundStats, log, turn, rounds=rounds, config=self.config)
        result = IndependentSetResult(statuses, IN, stats, names=self.graph.labels)
        if verify:
            _verify(self.graph, result)
        return result

    def _run(
        self, log: SweepLog, seed: np.uint64, statuses: Allocation, progress: Progress | None
    ) -> list[int]:
        n = self.graph.n
        mean = np.uint32(max(round(self.graph.mean_degree), 1))

        def enqueue(number: int, slot: np.uint32) -> None:
            if number == 0:
                begin = self._kernels["begin"]
                self._sweeper.launch(log, begin, self._rows[0], self._rows[2], mean, statuses)
            undecided, after = self._lists[number % 2], self._lists[(number + 1) % 2]
            self._sweeper.launch(
                log,
                self._kernels["round"],
                *self._rows,
                seed,
                np.uint32(number == 0),
                slot,
                undecided,
                statuses,
                after,
                self._rounds.lengths,
            )

        return self._rounds.run(
            log, enqueue, lambda left: report_progress(progress, n - left, n, "deciding")
        )


def _verify(graph: Graph, result: IndependentSetResult) -> None:
    """Check the two conditions.

    Raises
    ------
    VerificationError
        If one does not hold.
    """
    mask = result.mask
    sources = row_ids(graph.indptr)
    chosen = mask[graph.indices]
    both = np.flatnonzero(chosen & mask[sources] & (sources != graph.indices))
    if both.size:
        edge = int(both[0])
        raise VerificationError(
            f"vertices {sources[edge]} and {graph.indices[edge]} are neighbours and both in the "
            "set."
        )
    covered = mask.copy()
    covered[sources[chosen]] = True
    if not covered.all():
        vertex = int(np.flatnonzero(~covered)[0])
        raise VerificationError(f"vertex {vertex} is not in the set, and no neighbour of it is.")


@documented(IndependentSet, IndependentSet.run, only_auto)
@flags
def maximal_independent_set(
    graph: Graph,
    *,
    seed: int = 0,
    config: str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> IndependentSetResult:
    """Find vertices none of which are neighbours, to which none can be added.

    Notes
    -----
    Vertices with few neighbours are preferred, which makes large sets. The same seed gives the same
    set in every run and on every device. O(n + m) work. To find several sets of a graph, make an
    `IndependentSet` and `run` it.

    Examples
    --------
    >>> import clgraph as cg
    >>> cg.maximal_independent_set(cg.generate.star(5)).vertices.tolist()
    [1, 2, 3, 4]
    """
    only_auto(config)
    plan = IndependentSet(graph, device=device, progress=progress)
    return plan.run(seed, verify=verify, progress=progress)
