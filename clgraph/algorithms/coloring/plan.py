"""Greedy colouring: each vertex gets the least colour that no neighbour before it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from clgraph.algorithms.coloring.result import ColoringResult
from clgraph.device import load
from clgraph.documented import documented
from clgraph.engine.arguments import only_auto
from clgraph.engine.launch_stats import RoundStats
from clgraph.engine.plan import Plan, Turn
from clgraph.engine.resident import offsets_dtype, resident, wide_offsets
from clgraph.engine.rounds import Rounds
from clgraph.engine.sweeps import Sweeper, SweepLog
from clgraph.errors import InvalidArgumentError, InvalidGraphError, VerificationError
from clgraph.graph import as_graph
from clgraph.graph.arguments import flags, whole
from clgraph.graph.arrays import argument_array
from clgraph.graph.csr import row_ids
from clgraph.progress import report_progress

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from clgraph.device import Allocation, Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = ["ORDERS", "Coloring", "greedy_color"]

Order = Literal["largest_first", "random_sequential"]
ORDERS = {"largest_first": "degree", "random_sequential": "hash"}
MOST_VERTICES = 2**31
ABREAST = 4  # neighbours that a lane looks at side by side


@documented(Plan)
class Coloring(Plan):
    """Greedy colouring, compiled for one graph, order and device.

    Parameters
    ----------
    graph : Graph or scipy.sparse matrix
        Undirected; weights and self-loops are ignored.
    order : {"largest_first", "random_sequential"} or array_like [n]
        Which vertices come first: those with most neighbours, among equals by a hash of number and
        seed; by the hash alone; or all vertices in their order.

    Raises
    ------
    InvalidGraphError
        If the graph is directed, or has 2**31 vertices or more.
    InvalidArgumentError
        If there is no such order, or not all vertices are in it once.

    Notes
    -----
    The colours are those that one gets by going through the vertices in their order, at most one
    more than a vertex has neighbours: so they depend on graph, order and seed alone. A vertex does
    not wait for neighbours that can no longer get the colour that it wants, which takes about as
    many rounds as there are colours. Takes 20 bytes per vertex and 4.13 per edge beside the graph,
    and 4 per vertex for every result that has not been read. A plan serves one thread at a time;
    others wait.

    References
    ----------
    .. [1] M. T. Jones, P. E. Plassmann, "A parallel graph coloring heuristic", SIAM Journal on
           Scientific Computing 14(3), 1993.
    .. [2] G. Alabandi, E. Powers, M. Burtscher, "Increasing the parallelism of graph coloring via
           shortcutting", PPoPP 2020.
    """

    graph: Graph

    def __init__(
        self,
        graph: Graph,
        *,
        order: Order | ArrayLike = "largest_first",
        device: Device | str | None = None,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(as_graph(graph), device)
        n, m, lanes = self.graph.n, self.graph.m, self.device.traits.lanes
        if self.graph.directed:
            raise InvalidGraphError(
                "colouring needs an undirected graph; pass graph.symmetrized()."
            )
        if n >= MOST_VERTICES:
            raise InvalidGraphError(
                f"the graph has {n} vertices, but colours are kept in 31 bits; use fewer than "
                f"{MOST_VERTICES}."
            )
        by, ranks = _order(order, n)
        self._vertices, self._edges = Sweeper(self.device, n), Sweeper(self.device, m)
        self.config: dict[str, Any] = {
            "group_size": self._vertices.group_size,
            "shared_lists": lanes > 1,
            "abreast": 1 if lanes == 1 else ABREAST,
            "wide_offsets": wide_offsets(m),
            "order": by,
        }
        program = load(self.device, "coloring/coloring.cl", **self.config)
        self.source_hash = program.source_hash
        names = ("orient", "round", "finish")
        self._kernels = {name: program.kernel(f"color_{name}") for name in names}
        if n:
            with self._counted():
                self._allocate(ranks, progress)

    def _allocate(self, ranks: NDArray[np.uint32] | None, progress: Progress | None) -> None:
        n, m, memory = self.graph.n, self.graph.m, self._memory
        held = resident(self.graph, self.device, progress)
        self._rows = (held.indptr, held.indices, np.uint32(n), offsets_dtype(m).type(m))
        self._ranks = [] if ranks is None else [memory.upload("ranks", ranks)]
        self._counts = memory.allocate("counts", n, np.uint32)
        self._before = memory.allocate("neighbours_before", m, np.uint32)
        self._used = memory.allocate("used_colors", m // 32 + n + 1, np.uint32)
        self._statuses = memory.allocate("statuses", n, np.uint32)
        self._lists = [memory.allocate(f"open_{i}", n, np.uint32) for i in (0, 1)]
        self._most = memory.allocate("color_count", 1, np.uint32)
        self._rounds = Rounds(memory)

    @flags
    def run(
        self, seed: int = 0, *, verify: bool = False, progress: Progress | None = None
    ) -> ColoringResult:
        """Colour the vertices.

        Parameters
        ----------
        seed : int
            Of the hash: 0 to 2**64 - 1.
        verify : bool
            Whether to check on the host that no neighbours have the same colour, and every smaller
            colour is that of a neighbour.
        progress : callable or True, optional
            Called with how many vertices have their final colour.

        Returns
        -------
        ColoringResult
            ``colors`` int32 [n], 0 .. count - 1; ``count``; ``sizes``; ``stats``.

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
        colors: Allocation | None = None
        count = 0
        with Turn() as turn, self._lock:
            if n:
                colors = self._memory.allocate("colors", n, np.int32)
                rounds = [n, *self._run(log, number, colors, progress)]
                count = int(self._most.read()[0])
        report_progress(progress, 1, 1, "colouring")
        stats = self._stats_of(RoundStats, log, turn, rounds=rounds, config=self.config)
        result = ColoringResult(colors, count, stats, names=self.graph.labels)
        if verify:
            _verify(self.graph, result)
        return result

    def _run(
        self, log: SweepLog, seed: np.uint64, colors: Allocation, progress: Progress | None
    ) -> list[int]:
        n = self.graph.n
        for array in (self._counts, self._used, self._statuses, self._most):
            array.clear()
        self._edges.launch(
            log,
            self._kernels["orient"],
            *self._rows,
            seed,
            *self._ranks,
            self._counts,
            self._before,
        )

        def enqueue(number: int, slot: np.uint32) -> None:
            vertices, after = self._lists[number % 2], self._lists[(number + 1) % 2]
            self._vertices.launch(
                log,
                self._kernels["round"],
                self._rows[0],
                self._rows[2],
                np.uint32(number == 0),
                slot,
                vertices,
                self._counts,
                self._before,
                self._used,
                self._statuses,
                after,
                self._rounds.lengths,
            )

        def finish() -> None:
            self._vertices.launch(
                log, self._kernels["finish"], self._rows[2], self._statuses, colors, self._most
            )

        return self._rounds.run(
            log,
            enqueue,
            lambda left: report_progress(progress, n - left, n, "colouring"),
            behind=finish,
        )


def _order(order: Any, n: int) -> tuple[str, NDArray[np.uint32] | None]:
    """Give how vertices are ordered, and their places where that was given."""
    if isinstance(order, str):
        if order not in ORDERS:
            raise InvalidArgumentError(
                f"order={order!r} is not one of {', '.join(ORDERS)}, nor a list of the vertices."
            )
        return ORDERS[order], None
    vertices = argument_array("order", order)
    if vertices.shape != (n,) or (n and vertices.dtype.kind not in "iu"):
        raise InvalidArgumentError(
            f"order needs the numbers of all {n} vertices; got {vertices.dtype} of shape "
            f"{vertices.shape}."
        )
    if not np.array_equal(np.sort(vertices), np.arange(n)):
        raise InvalidArgumentError(f"order has not every vertex from 0 to {n - 1} once.")
    ranks = np.empty(n, np.uint32)
    ranks[vertices] = np.arange(n, dtype=np.uint32)
    return "given", ranks


def _verify(graph: Graph, result: ColoringResult) -> None:
    """Check that the colouring is one, and greedy.

    Raises
    ------
    VerificationError
        If two neighbours have the same colour, or one has a larger colour than it needs.
    """
    colors = result.colors.astype(np.int64)
    sources = row_ids(graph.indptr)
    other = sources != graph.indices
    of_sources, of_targets = colors[sources], colors[graph.indices]
    same = np.flatnonzero(other & (of_sources == of_targets))
    if same.size:
        edge = int(same[0])
        raise VerificationError(
            f"vertices {sources[edge]} and {graph.indices[edge]} are neighbours and both of colour "
            f"{of_sources[edge]}."
        )
    smaller = other & (of_targets < of_sources)
    pairs = np.unique(
        sources[smaller].astype(np.int64) * max(result.count, 1) + of_targets[smaller]
    )
    seen = np.bincount(pairs // max(result.count, 1), minlength=graph.n)
    wasteful = np.flatnonzero(seen != colors)
    if wasteful.size:
        vertex = int(wasteful[0])
        raise VerificationError(
            f"vertex {vertex} has colour {colors[vertex]}, and not all smaller ones are those of "
            "neighbours."
        )


@documented(Coloring, Coloring.run, only_auto)
@flags
def greedy_color(
    graph: Graph,
    *,
    order: Order | ArrayLike = "largest_first",
    seed: int = 0,
    config: str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> ColoringResult:
    """Colour the vertices so that neighbours differ, with few colours.

    Notes
    -----
    Each vertex in turn gets the least colour that no neighbour before it has. The same seed gives
    the same colours in every run and on every device. To colour a graph several times, make a
    `Coloring` and `run` it.

    Examples
    --------
    >>> import clgraph as cg
    >>> cg.greedy_color(cg.generate.complete(4)).count
    4
    """
    only_auto(config)
    plan = Coloring(graph, order=order, device=device, progress=progress)
    return plan.run(seed, verify=verify, progress=progress)
