"""Shortest paths by weight, and optionally a tree of them, from one or several sources."""

from __future__ import annotations

import time
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.sssp.block_weights import BlockWeights
from clgraph.algorithms.sssp.buffers import in_place, level_capacity, table_of
from clgraph.algorithms.sssp.choose import resolve_paths
from clgraph.algorithms.sssp.classes import has_parallel_edges
from clgraph.algorithms.sssp.config import SSSPConfig
from clgraph.algorithms.sssp.cycle import (
    FIRST_ROUNDS,
    UNSETTLED,
    check_overflow,
    check_rooted,
    most_rounds,
    refuse_tree,
    settle,
)
from clgraph.algorithms.sssp.result import PathFindings, PathStats, SSSPResult
from clgraph.algorithms.sssp.stages import FLAG_BEYOND, kernel_parameters, stages_of
from clgraph.algorithms.sssp.trace import TunedFindings, TunedStats
from clgraph.algorithms.sssp.tuning import Tuning
from clgraph.algorithms.sssp.verify import verify_paths
from clgraph.algorithms.sssp.weights import Weights
from clgraph.algorithms.sssp.wishes import Wish
from clgraph.device.programs.asked import asking
from clgraph.documented import documented
from clgraph.engine.arguments import output_array
from clgraph.engine.blocks import BlockRows, is_changing
from clgraph.engine.outcome import Outcome
from clgraph.engine.plan import Plan, SearchPlan
from clgraph.engine.resident import resident
from clgraph.errors import InvalidArgumentError
from clgraph.graph.arguments import flags, truth

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from clgraph.algorithms.sssp.resolved import ResolvedPaths
    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.dynamic.graph import DynamicGraph
    from clgraph.energy.target import PowerTarget
    from clgraph.engine.findings import SearchBuffers
    from clgraph.graph import Graph

__all__ = ["SSSP"]


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
    _asked_set_point: float | None = None

    @flags
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
        super().__init__(graph, device, needs, weighted=True, progress=progress)

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
        decided, keys = self.config.of_any_weights, self._weights.keys
        parallel = "source" in decided.method.edge_classes and has_parallel_edges(self.graph)
        self._ready(
            table,
            (decided, keys, parallel),
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
            if self._asked_set_point is not None:  # which is of the plan, not of its rows
                self._tuned.set_point = self._asked_set_point
        self._in_place = in_place(self.config, self._weights)
        # By negative weights it is checked on the host whether there is a tree.
        if self._tuned is None and not self._weights.negative:
            self._keep_warm()

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
        DistanceOverflowError
            If a shortest path is longer than the integer type of the weights holds.
        ClgraphError
            If weights of a cycle add up to so nearly zero that rounding makes paths shorter around
            it, for ever or so that no tree can be given.
        KernelTimeoutError
            If the device does not finish.
        VerificationError
            If the result was to be checked and is wrong.
        """
        verify = verify is not False and truth("verify", verify)
        began = time.perf_counter()
        with self._searched.alone, self._lock:
            if self._searched.changed:
                self._follow()
            graph, weights, tuned = self.graph, self._weights, self._tuned
            n = graph.n
            wish = Wish.of(n, weights, source, target, max_distance)
            if weights.negative and max_distance is not None:
                refuse_tree(max_distance, wanted=self.with_predecessors or verify)
            out = output_array(out, n, weights.dtype)
            buffers = self._pool.take()
            given = self._arguments(wish, buffers)
            control = tuned.begin(self._stages.table, weights) if tuned else None
            started = self._stages.start(given)
            # Made while the device is at work, so that little is left when it has ended.
            outcome = Outcome()
            made: Any = (TunedFindings, TunedStats) if tuned else (PathFindings, PathStats)
            found = made[0](graph, buffers, outcome, weights.unreached)
            stats = made[1](found, outcome, self.config)
            stats.ran_on(self.device)
            result = SSSPResult(found, stats, wish.source, wish.target)
            self._stages.finish(
                started,
                outcome,
                order=control.order(self._stages.places) if control else (),
                between=tuned.follow if tuned else None,
            )
            if outcome.status_flags & UNSETTLED:
                settle(self._stages, given, outcome, graph, weights)
            buffers.owner = weakref.ref(found)
            if control:
                found.host_rows, stats.control_ms = control.rows, 1e3 * control.seconds
            if out is not None:
                found.read_into(out)
            stats.total_ms = 1e3 * (time.perf_counter() - began)
            # Before another search can want these buffers.
            beyond = bool(outcome.status_flags & FLAG_BEYOND)
            packed: Any = graph
            if (beyond or verify) and isinstance(packed, BlockRows):
                packed = self._searched.as_graph()
                weights = Weights(packed)
            # A limit above what the type holds does not say what is beyond it from what is near.
            if beyond and (max_distance is None or max_distance >= self.unreached):
                check_overflow(packed, weights, found.is_reached, wish.target)
            if self.with_predecessors and weights.negative and weights.real:
                check_rooted(found.is_reached, found.predecessors)
            if verify:
                verify_paths(
                    self.device,
                    resident(packed, self.device),
                    weights,
                    buffers.distances,
                    buffers.predecessors,
                    sources=np.array(wish.sources, np.uint32),
                    limit=wish.reach(found, weights),
                )
        return result

    @property
    def power(self) -> PowerTarget | None:
        """What moves the set-point after ``power_target``: its windows, watts and set-points."""
        return self._tuned.power if self._tuned else None

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
        self._asked_set_point = self._tuning.set_point

    def _arguments(self, wish: Wish, buffers: SearchBuffers) -> dict[str, Any]:
        """Give the arguments of a run that are not those of most."""
        given = wish.arguments(self._weights) | buffers.arguments
        if len(wish.sources) > 1:
            given |= self._several(wish.sources)
        if self._in_place:
            given["cells"] = buffers.distances
        if self._weights.negative:
            given["max_rounds"] = most_rounds(FIRST_ROUNDS, self.graph)
        return given

    def _several(self, sources: tuple[int, ...]) -> dict[str, Any]:
        """Copy sources to the device; gives the argument that says how many there are."""
        table, count = self._stages.table, len(sources)
        if table["sources"].count < count:
            table["sources"] = self._memory.allocate("sources", count, np.uint32)
        table["sources"].write(np.array(sources, np.uint32))
        return {"source_count": np.uint32(count)}
