"""What a peeling reports: numbers, what is left of the graph, and what it took."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from clgraph.engine.findings import Later
from clgraph.engine.launch_stats import Shown
from clgraph.graph import Graph, from_edges
from clgraph.graph.csr import row_ids

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from clgraph.algorithms.truss.peeling import Peeled
    from clgraph.engine.sweeps import SweepLog

__all__ = [
    "CoresResult",
    "DenseSubgraph",
    "PeelingResult",
    "PeelingStats",
    "TrussNumbers",
    "TrussResult",
]


class PeelingStats(Shown):
    """Times, counts and configuration of one run.

    Attributes
    ----------
    total_ms : float
        Host wall clock of ``run``.
    kernel_ms : float
        Device time from the first launch's start to the last one's end, preparation included where
        this run prepared.
    prepare_ms : float
        Of that, counting triangles, narrowing the graph and listing triangles; 0 where an earlier
        run of the plan has done it.
    parts : dict of float
        Milliseconds of these, "count" (turning the edges included), "narrow" (to the last smaller
        graph that the greatest truss was searched in) and "list" (or what rows need), where this
        run has done them.
    launches : int
        Kernel launches.
    mode : {"persistent", "stepped"}
        How the rounds were run.
    method : str
        What items are part of: "neighbours", "lists" or "rows"; "none" without triangles.
    config : dict
        What was asked for, where that differs from the defaults.
    triangles : int or None
        Triangles of the graph; None for cores.
    visited : int
        Triangles of edges, or elements of rows, that were looked at in all rounds.
    rounds : structured array
        ``k`` whose truss or core the round led to, how many items it ``removed``, and its
        ``milliseconds`` (NaN on devices without a clock that kernels can read). The first
        16,384 steps are kept. Where SIMD groups go on by themselves a step is several rounds, and
        their number differs from run to run.
    probes : list of (int, bool)
        Each k that a search for the greatest one tried, and whether there was one such truss.
    device_bytes : int
        Device memory of the plan.
    energy : object or None
        Filled in by whoever measured the run.
    """

    def __init__(  # noqa: PLR0913 - all but three by keyword
        self,
        log: SweepLog,
        parts: Mapping[str, SweepLog],
        total_ms: float,
        *,
        peeled: Sequence[Peeled],
        above: int,
        method: str,
        config: dict[str, Any],
        device_bytes: int,
        triangles: int | None = None,
        probes: Sequence[tuple[int, bool]] = (),
    ) -> None:
        self.total_ms = total_ms
        self.kernel_ms = log.kernel_ms
        self.parts = {name: each.kernel_ms for name, each in parts.items() if each.launches}
        self.prepare_ms = sum(self.parts.values())
        self.launches = log.launches
        self.mode = peeled[-1].mode if peeled else "launches"
        self.method = method
        self.config = config
        self.triangles = triangles
        self.visited = sum(each.visited for each in peeled)
        kind = [("k", np.uint32), ("removed", np.uint32), ("milliseconds", np.float64)]
        known = [each.rounds for each in peeled]
        self.rounds = np.zeros(sum(map(len, known)), kind)
        if known:
            self.rounds["k"] = np.concatenate([each["level"] for each in known]) + above
            for name in ("removed", "milliseconds"):
                self.rounds[name] = np.concatenate([each[name] for each in known])
        self.probes = list(probes)
        self.device_bytes = device_bytes
        self.energy: Any = None

    @property
    def levels(self) -> NDArray[Any]:
        """For each k: its ``rounds``, the items they ``removed`` and their ``milliseconds``."""
        ks, where = np.unique(self.rounds["k"], return_inverse=True)
        kind = [("k", np.uint32), ("rounds", np.int64), ("removed", np.int64)]
        levels = np.zeros(len(ks), [*kind, ("milliseconds", np.float64)])
        levels["k"] = ks
        levels["rounds"] = np.bincount(where, minlength=len(ks))
        for name in ("removed", "milliseconds"):
            levels[name] = np.bincount(where, self.rounds[name], minlength=len(ks))
        return levels


class DenseSubgraph(Graph):
    """A k-truss or a k-core of another graph; made by `k_truss`, `max_truss` and `k_core`.

    Attributes
    ----------
    k : int
        Which one.
    mask : bool array [edges of the original graph]
        Which of its stored edges are in this one.
    original : int array [n]
        The vertices of the original graph that these are; ``labels`` are their labels there, or
        these numbers where it has none.
    """

    k: int
    mask: NDArray[np.bool_]
    original: NDArray[Any]

    @property
    def max_k(self) -> int:
        """The same as `k`: of the truss that `max_truss` gives it is the greatest there is."""
        return self.k

    @classmethod
    def of(
        cls,
        graph: Graph,
        mask: NDArray[np.bool_],
        within: NDArray[np.bool_],
        k: int,
        *,
        clean: bool,
    ) -> DenseSubgraph:
        """Give some edges of a graph and some vertices, among them all ends of these edges.

        Parameters
        ----------
        graph : Graph
            Of whatever kind, if `clean`; otherwise undirected and simple.
        mask : bool array [m]
            Which edges; none is a self-loop.
        within : bool array [n]
            Which vertices.
        k : int
            What truss or core it is.
        clean : bool
            Whether edges may go one way only, or be there more than once; weights are dropped then.
        """
        vertices = np.flatnonzero(within)
        number = np.cumsum(within) - 1
        labels = vertices if graph.labels is None else graph.labels[vertices]
        if clean:
            ends = number[row_ids(graph.indptr)[mask]], number[graph.indices[mask]]
            made = from_edges(*ends, n=len(vertices), directed=False, symmetrize=True, dedup=True)
            return cls.made((made.indptr, made.indices, None), labels, (mask, vertices, k))
        sums = np.concatenate([[0], np.cumsum(mask)])[graph.indptr]
        indptr = np.concatenate([[0], np.cumsum(np.diff(sums)[vertices])])
        indices = number[graph.indices[mask]].astype(graph.indices.dtype)
        weights = None if graph.weights is None else graph.weights[mask]
        arrays = (indptr.astype(graph.indptr.dtype), indices, weights)
        return cls.made(arrays, labels, (mask, vertices, k))

    @classmethod
    def made(
        cls, arrays: tuple[Any, Any, Any], labels: NDArray[Any] | None, more: tuple[Any, Any, int]
    ) -> DenseSubgraph:
        """Give the graph of CSR arrays that are known to be right, and its attributes."""
        made = cast("DenseSubgraph", cls.trusted(arrays, directed=False, labels=labels))
        made.mask, made.original, made.k = more
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle the host arrays; device copies stay behind."""
        more = (self.mask, self.original, self.k)
        rebuild = partial(DenseSubgraph.made, labels=self.labels, more=more)
        return rebuild, ((self.indptr, self.indices, self.weights),)


class TrussNumbers(np.ndarray[Any, Any]):
    """Truss numbers of stored edges: an array of uint32 that also knows the greatest of them.

    Attributes
    ----------
    max_k : int
        The greatest number; 0 without edges. Of a part of such an array, too.
    stats : PeelingStats or None
        What finding them took; None for a part or a copy.
    """

    stats: PeelingStats | None = None

    @classmethod
    def of(cls, numbers: NDArray[np.uint32], stats: PeelingStats) -> TrussNumbers:
        """Give an array what it takes."""
        made = numbers.view(cls)
        made.stats = stats
        return made

    @property
    def max_k(self) -> int:
        """The greatest number; 0 without edges."""
        return int(np.asarray(self).max(initial=0))


class PeelingResult:
    """Numbers of items, or which of them are left; copied from the device on first access.

    Attributes
    ----------
    k : int or None
        Which truss or core was asked for, or found to be the greatest; None for all numbers.
    max_k : int or None
        The greatest k for which there is one; None where one k was asked for.
    count : int
        Edges of that truss, each once, or vertices of that core; of all numbers, all there are.
    stats : PeelingStats
        Times, counts and the configuration that ran.
    """

    def __init__(
        self,
        read: Callable[[], NDArray[Any]],
        *,
        k: int | None,
        max_k: int | None,
        count: int,
        stats: PeelingStats,
    ) -> None:
        self._values = Later(read)
        self.k, self.max_k, self.count, self.stats = k, max_k, count, stats

    def __repr__(self) -> str:
        """Report which truss or core, and how much it has."""
        return f"{type(self).__name__}(k={self.k}, max_k={self.max_k}, count={self.count})"

    def same(self, other: PeelingResult) -> bool:
        """Report whether another result says the same of every item."""
        found, expected = self._values.values, other._values.values
        return (self.k, self.max_k) == (other.k, other.max_k) and np.array_equal(found, expected)

    @property
    def numbers(self) -> NDArray[np.uint32] | None:
        """The number of each item, uint32; None where one truss or core was asked for."""
        return self._values.values if self.k is None else None

    @property
    def mask(self) -> NDArray[np.bool_] | None:
        """Which items are in the truss or core that was asked for; None for all numbers."""
        return None if self.k is None else self._values.values


class TrussResult(PeelingResult):
    """Truss numbers, or one truss: items are stored edges, both directions of which are alike."""


class CoresResult(PeelingResult):
    """Core numbers, or one core: items are vertices."""
