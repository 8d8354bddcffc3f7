"""Shortest paths by weight, and optionally a tree of them, from one or several sources."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.sssp.block_weights import BlockWeights
from clgraph.algorithms.sssp.buffers import in_place, level_capacity, table_of
from clgraph.algorithms.sssp.choose import resolve_paths
from clgraph.algorithms.sssp.classes import has_parallel_edges
from clgraph.algorithms.sssp.config import SSSPConfig
from clgraph.algorithms.sssp.cycle import (
    check_overflow,
    check_rooted,
    refuse_cycle,
    refuse_shorter,
    refuse_tree,
)
from clgraph.algorithms.sssp.result import PathFindings, PathStats, SSSPResult
from clgraph.algorithms.sssp.stages import (
    FLAG_BELOW,
    FLAG_BEYOND,
    FLAG_ROUNDS,
    kernel_parameters,
    stages_of,
)
from clgraph.algorithms.sssp.trace import TunedFindings, TunedStats
from clgraph.algorithms.sssp.tuning import HostControl, Tuning
from clgraph.algorithms.sssp.verify import verify_paths
from clgraph.algorithms.sssp.weights import Weights
from clgraph.device.programs.asked import asking
from clgraph.documented import documented
from clgraph.engine.arguments import output_array, vertex_number, vertex_numbers
from clgraph.engine.blocks import BlockRows, Searched, is_changing
from clgraph.engine.plan import Plan, SearchPlan
from clgraph.engine.resident import resident
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from clgraph.algorithms.sssp.resolved import ResolvedPaths
    from clgraph.device import Device, Mirror
    from clgraph.device.memory.allocation import Progress
    from clgraph.dynamic.graph import DynamicGraph
    from clgraph.energy.target import PowerTarget
    from clgraph.engine.driver import Outcome
    from clgraph.engine.findings import SearchBuffers
    from clgraph.graph import Graph

__all__ = ["SSSP"]

# Relax stages after which a search with negative weights looks for a cycle, and how much later it
# does so again: the search is run anew, which costs a seventh more at most.
FIRST_ROUNDS, MORE_ROUNDS = 256, 8


@documented(Plan)
class SSSP(SearchPlan):
    """A search for shortest paths compiled for one graph, configuration and device.

    Parameters
    ----------
    graph : Graph, DynamicGraph or scipy.sparse matrix
        With weights: int32, int64, uint32, float32 or float64. Negative ones need a directed graph.
        Of a dynamic graph every run searches what it holds then, in the blocks where its rows are;
        packed where weights are negative, or the method needs edges in another order.
    predecessors : bool
        Whether to label a tree too; costs one more pass over the edges of reached vertices.
    config : SSSPConfig or str, optional
        A configuration or the name of a preset; default "auto".

    Attributes
    ----------
    config : ResolvedPaths
        Every dimension as decided.

    Raises
    ------
    InvalidArgumentError
        If there are no weights, one is not finite, an undirected edge is negative, or the
        configuration is not legal for these weights or on this device.

    Notes
    -----
    Compiles and uploads once; `run` only launches. Uses 8 to 12 bytes per edge (weights of 64 bits:
    12 to 20) and 24 to 60 bytes per vertex of device memory, by buckets 32 to 64 more. A plan
    serves one thread at a time; others wait.

    References
    ----------
    .. [1] F. Busato, N. Bombieri, "An efficient implementation of the Bellman-Ford algorithm for
           Kepler GPU architectures", IEEE TPDS 27(8), 2016.
    .. [2] A. Davidson, S. Baxter, M. Garland, J. Owens, "Work-efficient parallel GPU methods for
           single-source shortest paths", IPDPS 2014.
    .. [3] U. Meyer, P. Sanders, "Delta-stepping: a parallelizable shortest path algorithm",
           Journal of Algorithms 49, 2003.
    """

    config: ResolvedPaths

    @asking
    def __init__(
        self,
        graph: Graph | DynamicGraph,
        predecessors: bool = False,
        config: SSSPConfig | str | None = None,
        device: Device | str | None = None,
        *,
        progress: Progress | None = None,
    ) -> None:
        self.with_predecessors = bool(predecessors)
        self._asked_for = config
        needs = ""
        if is_changing(graph):
            held = graph.rows.pools[1].dtype if graph.weighted else None
            needs = SSSPConfig.needs_packed(config, held)
        self._searched = Searched(graph, device, needs, weighted=True)
        with self._searched.still():
            super().__init__(self._searched.now(), self._searched.device)
            self._prepare(progress)

    def _prepare(self, progress: Progress | None) -> None:
        """Build the kernels, and take memory for the rows that there are now."""
        self._weights = self._weighed()
        self._wanted = SSSPConfig.on(self._asked_for, "sssp", self.graph, self.device)
        self.config = resolve_paths(self._wanted, self.device.traits, self.graph, self._weights)
        table = table_of(
            self.graph,
            self._weights,
            self.config,
            self.device,
            predecessors=self.with_predecessors,
            progress=progress,
        )
        decided, keys = self.config, self._weights.keys
        parallel = "source" in decided.method.edge_classes and has_parallel_edges(self.graph)
        self._ready(
            table,
            (decided, keys),
            level_capacity=level_capacity(self.graph, decided),
            dtype=self._weights.dtype,
            file="sssp/sssp.cl",
            entry="sssp",
            stages=stages_of(decided, predecessors=self.with_predecessors),
            render=lambda names: kernel_parameters(
                decided,
                keys,
                names,
                predecessors=self.with_predecessors,
                parallel_edges=parallel,
                undirected=not self.graph.directed,
            ),
        )
        self._tuned: Tuning | None = None
        if self.config.method.name == "self-tuning" and self.graph.n:
            self._tuned = Tuning(table["set_point"], self.graph, self.config, self.device)
        self._mirror: Mirror | None = None
        self._in_place = in_place(self.config, self._weights)
        if self.graph.n:
            for name, value in self._usual().items():
                table[name] = value
        self._searched.now_seen()

    def _usual(self) -> dict[str, Any]:
        """Give what a run takes whose caller asks for all distances from one source."""
        weights, keys, n = self._weights, self._weights.keys, self.graph.n
        stepwise = self.config.method.name != "bellman-ford"
        all_of_them = keys.none - 1
        high = weights.limit_key(self.config.delta) if stepwise else all_of_them
        return {
            "source_count": np.uint32(1),
            "target": np.uint32(n),
            "limit": np.uint64(all_of_them),
            "last_key": np.uint64(all_of_them),
            "first_high": np.uint64(high),
            "delta": weights.dtype.type(0 if self._tuned else self.config.delta),
            "finish": np.uint32(self.with_predecessors or not self._in_place),
            "max_rounds": np.uint32(2**32 - 1),
        }

    def _weighed(self) -> Weights:
        """Look at the weights; where they are not for searches in blocks, pack the rows."""
        rows: Any = self.graph
        if isinstance(rows, BlockRows):
            weights = BlockWeights(rows, self.device)
            if weights.finite and not weights.negative:
                return weights
            self._searched.pack("weights are negative or not finite")
            self.graph = self._searched.now()
        return Weights(self.graph)

    @property
    def unreached(self) -> Any:
        """What stands for no path in the type of the weights: infinity, or the largest integer."""
        return self._weights.unreached

    def run(
        self,
        source: int | Sequence[int],
        *,
        target: int | None = None,
        max_distance: float | None = None,
        verify: bool = False,
        out: NDArray[Any] | None = None,
    ) -> SSSPResult:
        """Search from one vertex, or from several at once.

        Parameters
        ----------
        source : int or sequence of int
            Where paths may begin: vertices in [0, n).
        target : int, optional
            Stop as soon as this vertex's distance is known; whatever is farther stays unreached.
            With negative weights the search goes on to the end.
        max_distance : float, optional
            Vertices farther than this stay unreached. Where weights are negative, paths may lead
            through those, so there is no tree then.
        verify : bool
            Whether to check the result on the device, outside the times in its stats.
        out : numpy.ndarray, optional
            Contiguous array [n] of the distances' type to copy them into; `distances` is it then.

        Returns
        -------
        SSSPResult
            ``distances`` [n] in the type and unit of the weights, infinity or the largest integer
            where there is no path; ``predecessors`` int32 [n] or None; ``stats``.

        Raises
        ------
        InvalidArgumentError
            If a vertex or the distance is not one, or `out` is no such array.
        NegativeCycleError
            If a source leads to a cycle of negative weight; it names one.
        OverflowError
            If a shortest path is longer than the integer type of the weights holds.
        ClgraphError
            If weights of a cycle add up to so nearly zero that rounding makes paths shorter around
            it, for ever or so that no tree can be given.
        KernelTimeoutError
            If the device does not finish.
        VerificationError
            If the result was to be checked and is wrong.
        """
        began = time.perf_counter()
        with self._searched.still() as changed, self._lock:
            if changed:
                self._follow()
            n = self.graph.n
            sources, given = vertex_numbers(source, n)
            end = None if target is None else vertex_number(target, n, "target")
            last = self._weights.limit_key(max_distance)
            if self._weights.negative and max_distance is not None:
                refuse_tree(max_distance, wanted=self.with_predecessors or verify)
            out = output_array(out, n, self._weights.dtype)
            buffers = self._pool.take()
            control = self._host_control() if self._tuned else None
            order = control.order(self._stages.places) if control else ()
            outcome = self._relax(sources, end, last, buffers, order)
            found = self._findings(buffers, outcome, control)
            found.read_into(out)
            weights = self._weights
            beyond = bool(outcome.status_flags & FLAG_BEYOND)
            packed: Any = self.graph
            if (beyond or verify) and isinstance(packed, BlockRows):
                packed = self._searched.as_graph()
                weights = Weights(packed)
            there = resident(packed, self.device) if verify else None
        total_ms = 1e3 * (time.perf_counter() - began)
        # A limit above what the type holds does not say what is beyond it from what is near.
        if beyond and (max_distance is None or max_distance >= self.unreached):
            check_overflow(packed, weights, found.is_reached, end)
        if self.with_predecessors and weights.negative and weights.real:
            check_rooted(found.is_reached, found.predecessors)
        if there is not None:
            verify_paths(
                self.device,
                there,
                weights,
                buffers.distances,
                buffers.predecessors,
                sources=np.array(sources, np.uint32),
                limit=self._reach(found, end, last),
            )
        stats: PathStats
        if isinstance(found, TunedFindings):
            control_ms = 1e3 * control.seconds if control else None
            stats = TunedStats(found, outcome, total_ms, self.config, control_ms)
        else:
            stats = PathStats(found, outcome, total_ms, self.config)
        stats.ran_on(self.device, outcome.groups)
        return SSSPResult(found, stats, given, end)

    @property
    def power(self) -> PowerTarget | None:
        """What moves the set-point after ``power_target``: its windows, watts and set-points."""
        return self._tuned.power if self._tuned else None

    def _host_control(self) -> HostControl | None:
        if self.config.method.controller != "host":
            return None
        control_block = self._stages.table["control_block"]
        if self._mirror is None:
            self._mirror = HostControl.mirror_of(self.device, control_block)
        return HostControl(control_block, self._mirror, self._weights, self._tuning)

    def _findings(
        self, buffers: SearchBuffers, outcome: Outcome, control: HostControl | None
    ) -> PathFindings:
        kept = self.graph, buffers, outcome.depth, self._weights.unreached
        if self._tuned:
            return TunedFindings(*kept, control.rows if control else None)
        return PathFindings(*kept)

    @property
    def _tuning(self) -> Tuning:
        if self._tuned is None:
            raise InvalidArgumentError(
                f"method={self.config.method.name!r} has no set-point; use config='self-tuning'."
            )
        return self._tuned

    @property
    def set_point(self) -> float:
        """Edges that each step should look at, where the plan's searches tune themselves.

        Can be set at any time, by another thread too: a search that is under way takes it over in
        its next step where the host controls it, else with its next launch.
        """
        return self._tuning.set_point

    @set_point.setter
    def set_point(self, value: float) -> None:
        self._tuning.set_point = value

    def _relax(
        self,
        sources: tuple[int, ...],
        target: int | None,
        last: int,
        buffers: SearchBuffers,
        order: Iterable[int] = (),
    ) -> Outcome:
        """Search until it is done, or a cycle of negative weight is found."""
        weights, keys, n = self._weights, self._weights.keys, self.graph.n
        follow = self._tuned.follow if self._tuned else None
        given: dict[str, Any] = {"source": np.uint32(sources[0]), **buffers.arguments}
        rounds = FIRST_ROUNDS
        if len(sources) > 1:
            given["source_count"] = self._several(sources)
        if self._in_place:
            given["cells"] = buffers.distances
        # By negative weights, whatever is farther than a target may still lead to it, and a sum
        # that is not worth keeping to one that is.
        if last != keys.none - 1:
            given["last_key"] = np.uint64(last)
            if not keys.signed:
                given["limit"] = given["last_key"]
        if target is not None and not keys.signed:
            given["target"], given["finish"] = np.uint32(target), np.uint32(1)
        while True:
            if keys.signed:
                given["max_rounds"] = np.uint32(min(rounds, n + 3, 2**32 - 1))
            if follow:
                follow()
            outcome = self._stages.run(given, order=order, between=follow)
            if not outcome.status_flags & (FLAG_ROUNDS | FLAG_BELOW):
                return outcome
            refuse_cycle(self.graph, weights, self._lengths_so_far(buffers))
            refuse_shorter(
                weights, below=bool(outcome.status_flags & FLAG_BELOW), proven=rounds > n + 3
            )
            rounds *= MORE_ROUNDS

    def _several(self, sources: tuple[int, ...]) -> np.uint32:
        """Copy where paths begin to the device, and give how many these are."""
        table, count = self._stages.table, len(sources)
        if table["sources"].count < count:
            table["sources"] = self._memory.allocate("sources", count, np.uint32)
        table["sources"].write(np.array(sources, np.uint32))
        return np.uint32(count)

    def _lengths_so_far(self, buffers: SearchBuffers) -> NDArray[Any]:
        """Give distances in the middle of a search that did not end, in the weights' type [n]."""
        held = buffers.distances if self._in_place else self._stages.table["cells"]
        cells, keys = held.read(), self._weights.keys
        words = cells.view(np.uint64 if keys.bits == 64 else np.uint32)
        if cells.dtype.itemsize * 8 > keys.bits:
            words = words[1::2]
        return self._weights.lengths(words)

    def _reach(self, found: PathFindings, target: int | None, last: int) -> int:
        """Key of the largest distance that the search was to give."""
        if target is None or self._weights.negative or not found.is_reached[target]:
            return last
        return min(last, self._weights.key(found.distances[target]))
