"""Minimum spanning forest: for every component the lightest edges that join it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.components.number import Numbering
from clgraph.algorithms.spanning_forest.config import SpanningForestConfig
from clgraph.algorithms.spanning_forest.keys import band_limits, order_keys
from clgraph.algorithms.spanning_forest.result import SpanningForestResult
from clgraph.algorithms.spanning_forest.verify import verify_spanning_forest
from clgraph.device import load
from clgraph.device.hardware.measured import ONE_BAND_DEGREE
from clgraph.device.programs.asked import asking
from clgraph.documented import documented
from clgraph.engine.launch_stats import RoundStats
from clgraph.engine.plan import Plan, Turn
from clgraph.engine.resident import resident
from clgraph.engine.rounds import Rounds
from clgraph.engine.sweeps import Sweeper, SweepLog
from clgraph.errors import ClgraphError, InvalidArgumentError, InvalidGraphError
from clgraph.graph import as_graph
from clgraph.graph.arguments import flags
from clgraph.progress import report_progress

if TYPE_CHECKING:
    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = ["SpanningForest", "minimum_spanning_forest"]

MOST_EDGES = 2**32 - 1
MOST_VERTICES = 2**31 - 1
SKEWED = 100  # times the mean degree that a hub has


@documented(Plan)
class SpanningForest(Plan):
    """Minimum spanning forest, compiled for one graph, configuration and device.

    Parameters
    ----------
    graph : Graph or scipy.sparse matrix
        Directed or undirected; directions are ignored, and so are self-loops. Of a graph without
        weights the forest has the edges that are stored first.
    config : SpanningForestConfig or str, optional
        A configuration or the name of a preset; default "auto".

    Raises
    ------
    InvalidGraphError
        If the graph has 2**31 - 1 vertices or more, or 2**32 - 1 edges.
    InvalidArgumentError
        If the configuration is not legal, or not on this device.

    Notes
    -----
    Edges are compared by weight, and by their places where weights are equal: so there is one
    minimum spanning forest, and it is found on every device and with every configuration. At most
    O(m log n) work. Takes 28 bytes per vertex and 4 per edge beside the graph, and 32 per edge of
    the largest band, of undirected edges once. 64-bit weights that 32 bits do not tell apart are
    sorted on the host. A plan serves one thread at a time; others wait.

    References
    ----------
    .. [1] O. Boruvka, "O jistem problemu minimalnim", 1926.
    .. [2] A. Fallin, A. Gonzalez, J. Seo, M. Burtscher, "A high-performance MST implementation for
           GPUs", SC 2023.
    """

    graph: Graph

    @asking
    def __init__(
        self,
        graph: Graph,
        *,
        config: SpanningForestConfig | str | None = None,
        device: Device | str | None = None,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(as_graph(graph, weighted=True), device)
        asked = SpanningForestConfig.of(config)
        n, m = self.graph.n, self.graph.m
        if n >= MOST_VERTICES or m >= MOST_EDGES:
            raise InvalidGraphError(
                f"the graph has {n} vertices and {m} edges, but forests are found of fewer than "
                f"{MOST_VERTICES} vertices and {MOST_EDGES} edges."
            )
        traits = self.device.traits
        minimum = asked.minimum or ("packed" if traits.int64_atomics else "stepwise")
        if minimum == "packed" and not traits.int64_atomics:
            raise InvalidArgumentError(
                f"minimum='packed' needs 64-bit atomics, which {self.device.name} has not; use "
                "minimum='stepwise'."
            )
        bands = asked.bands or (1 if m <= ONE_BAND_DEGREE.on(self.device.traits) * n else 2)
        is_skewed = self.graph.max_degree >= SKEWED * self.graph.mean_degree
        light = asked.light or (1 if is_skewed else 4)
        self.config = SpanningForestConfig(
            bands=bands, light=light, minimum=minimum, origin=asked.origin
        )
        self._packed = minimum == "packed"
        self._vertices, self._edges = Sweeper(self.device, n), Sweeper(self.device, m)
        program = load(
            self.device,
            "spanning_forest/spanning_forest.cl",
            group_size=self._edges.group_size,
            packed=self._packed,
            directed=self.graph.directed,
            unweighted=self.graph.weights is None,
        )
        self.source_hash = program.source_hash
        names = ["begin", "collect", "offer", "join", *([] if self._packed else ["settle"])]
        self._kernels = {name: program.kernel(f"forest_{name}") for name in names}
        if n:
            with self._counted():
                self._allocate(progress)

    def _allocate(self, progress: Progress | None) -> None:
        graph, memory = self.graph, self._memory
        n, m = graph.n, graph.m
        keys = None if graph.weights is None else order_keys(graph.weights)
        self._bands: list[tuple[int, int, int]] = []
        if m:
            share = min(
                (self.config.light or 1) * n / (m if graph.directed else max(m // 2, 1)), 1.0
            )
            self._bands = band_limits(keys, m, self.config.bands or 1, share)
        held = resident(graph, self.device, progress)
        self._rows = [held.indptr, held.indices]
        if keys is not None:
            self._rows.append(memory.upload("keys", keys, progress=progress))
        self._capacity = max((count for *_, count in self._bands), default=0)
        if not graph.directed:
            # Stored twice, with the same key unless that is the place, and listed once.
            half = m // 2
            self._capacity = min(self._capacity, half) if keys is None else self._capacity // 2
        self._lists = [memory.allocate(f"list_{i}", 4 * self._capacity, np.uint32) for i in (0, 1)]
        self._bids = [memory.allocate(f"bids_{i}", n, np.uint64) for i in (0, 1)]
        self._parent = memory.allocate("parents", n, np.uint32)
        self._rounds = Rounds(memory)
        self._hub = np.uint32(np.argmax(graph.degrees))
        self._chosen_length = memory.allocate("chosen_length", 1, np.uint32)
        self._numbering = Numbering(self.device, memory, n, smallest=True)

    @flags
    @asking
    def run(
        self, *, verify: bool = False, progress: Progress | None = None
    ) -> SpanningForestResult:
        """Find the forest.

        Parameters
        ----------
        verify : bool
            Whether to check, outside the times in the stats, that the edges join what the graph
            joins, and that every other edge is the heaviest of the cycle that it closes.
        progress : callable or True, optional
            Called with how many edges have been chosen, of one fewer than vertices.

        Returns
        -------
        SpanningForestResult
            ``edges`` int64 [n - count], places in ``indices``; ``weight``, their sum; ``mask`` bool
            [m]; ``labels`` int32 [n], the trees; ``count``; ``stats``.

        Raises
        ------
        VerificationError
            If the result was to be checked and is wrong.
        KernelTimeoutError
            If the device does not finish.
        DeviceMemoryError
            If there is no room for the result.
        """
        n = self.graph.n
        log = SweepLog()
        rounds: list[int] = []
        chosen = labels = None
        count = 0
        with Turn() as turn, self._lock:
            if n:
                chosen = self._result_memory.take("forest_edges", n, np.uint32)
                labels = self._result_memory.take("labels", n, np.int32)
                rounds = self._grow(log, chosen, labels, progress)
                count = self._numbering.count()
                if self._found != n - count:
                    raise ClgraphError(
                        f"{self.device.name} has chosen {self._found} edges for {count} trees of "
                        f"{n} vertices; it has lost writes, or the graph changed meanwhile."
                    )
        report_progress(progress, 1, 1, "joining")
        stats = self._stats_of(RoundStats, log, turn, rounds=rounds, config=self.config.as_dict())
        result = SpanningForestResult(self.graph, chosen, labels, count, stats)
        if verify:
            verify_spanning_forest(self.graph, result, self.device)
        return result

    def _grow(
        self, log: SweepLog, chosen: Any, labels: Any, progress: Progress | None
    ) -> list[int]:
        """Choose edges, a band at a time, and number the trees; give how many each round listed."""
        listed: list[int] = []
        self._found = 0
        self._chosen_length.clear()

        def number_trees() -> None:
            self._begin(log, first=not self._bands)  # roots of all
            self._numbering.run(log, self._parent, labels)

        is_last = False
        for place in range(len(self._bands)):
            is_last = place == len(self._bands) - 1
            listed += self._rounds.run(
                log,
                partial(self._round, log, chosen, place),
                partial(self._look, progress),
                behind=number_trees if is_last else None,
                part=place,
            )
            if self._found == self.graph.n - 1:
                break
        if not is_last:
            number_trees()
            log.wait()
        return listed

    def _look(self, progress: Progress | None, _left: int) -> None:
        self._found = int(self._chosen_length.read()[0])
        report_progress(progress, min(self._found, self.graph.n - 1), self.graph.n, "joining")

    def _begin(self, log: SweepLog, *, first: bool) -> None:
        n = np.uint32(self.graph.n)
        self._vertices.launch(
            log, self._kernels["begin"], n, np.uint32(first), self._parent, *self._bids
        )

    def _round(self, log: SweepLog, chosen: Any, place: int, number: int, at: np.uint32) -> None:
        """Enqueue a round of a band: the first finds its edges in the graph."""
        launch, kernels = self._edges.launch, self._kernels
        bids, next_bids = self._bids[number % 2], self._bids[(number + 1) % 2]
        edges, before = self._lists[number % 2], self._lists[(number + 1) % 2]
        capacity, lengths = np.uint32(self._capacity), self._rounds.lengths
        out = (self._hub, self._parent, bids, edges, lengths)
        if number == 0:
            self._begin(log, first=place == 0)
            n, m = np.uint32(self.graph.n), np.uint32(self.graph.m)
            ends = tuple(np.uint32(end) for end in self._bands[place][:2])
            launch(log, kernels["collect"], *self._rows, n, m, *ends, capacity, *out)
        else:
            launch(log, kernels["offer"], before, at, capacity, *out)
        if not self._packed:
            settled = (self._hub, lengths, self._parent, bids)
            launch(log, kernels["settle"], edges, at, capacity, *settled)
        launch(
            log,
            kernels["join"],
            edges,
            at,
            capacity,
            np.uint32(self.graph.n),
            self._hub,
            lengths,
            bids,
            next_bids,
            self._parent,
            chosen,
            self._chosen_length,
        )


@documented(SpanningForest, SpanningForest.run)
@flags
@asking
def minimum_spanning_forest(
    graph: Graph,
    *,
    config: SpanningForestConfig | str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> SpanningForestResult:
    """Find the lightest edges that join whatever the graph joins.

    Notes
    -----
    Of equal weights the edge that is stored first counts as lighter: so the result is the same in
    every run and on every device. O(m log n) work at most. To find it again and again, make a
    `SpanningForest` and `run` it.

    Examples
    --------
    >>> import clgraph as cg
    >>> graph = cg.from_edges([0, 1, 2], [1, 2, 0], [5, 1, 3], n=4, symmetrize=True)
    >>> forest = cg.minimum_spanning_forest(graph)
    >>> forest.weight, forest.count, forest.labels.tolist()
    (4, 2, [0, 0, 0, 1])
    """
    plan = SpanningForest(graph, config=config, device=device, progress=progress)
    return plan.run(verify=verify, progress=progress)
